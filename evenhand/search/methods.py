"""The methods of search: run `step` on every action, do equal work once, or compile it.

*Explicit* search is the reference and runs any model.  *Memoised* search serves systems with a `separated` step; it
finds the same graph in the same order with the same multiplicities, which tests and samples compare.  *Compiled* search
serves systems that declare finite domains, and claims about states, single steps and whole runs.  *Symmetric* search
serves claims about states and single steps on such systems, under a licensed quotient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.core.methods import MethodName
from evenhand.core.property import Property
from evenhand.core.system import AnySystem, UnknownName
from evenhand.search.compiled.compiler import Unfit
from evenhand.search.compiled.labels import about_steps
from evenhand.search.compiled.method import Compiled, reason_against
from evenhand.search.memo import Memo
from evenhand.search.steps import Method
from evenhand.search.symmetric.method import Orbits
from evenhand.search.symmetric.moves import AnyQuotient
from evenhand.search.witness import LicenceMissing


def chosen_method(
    system: AnySystem,
    wanted: str | None,
    claims: Sequence[Property],
    configs: Sequence[Any],
    quotient: AnyQuotient | None = None,
) -> tuple[Method | Compiled | Orbits, str]:
    """Return the method to explore with, of all four, and the reason.

    Raises UnknownName for an unknown method, ValueError for one that system or claims do not allow, LicenceMissing for
    symmetric search without a quotient.
    """
    if wanted is not None and wanted not in set(MethodName):
        raise UnknownName("method", str(wanted), MethodName)
    if wanted == "symmetric" and quotient is None:
        raise LicenceMissing(
            f"symmetric search divides the states of {system.label} by a quotient, and none is licensed"
        )
    if quotient is None or wanted not in (None, "symmetric"):
        return _unreduced_method(system, wanted, claims, configs)
    against = reason_against(system, claims if wanted is None else (), about_steps)
    if not configs:
        against = "there is no configuration"
    if not against:
        below = None if wanted == "symmetric" else _unreduced_method(system, None, claims, ())[0]
        chosen = Orbits(system, quotient, tuple(claims), below)
        try:
            return chosen, chosen.why(configs[0])
        except Unfit as error:
            against = str(error)
    if wanted == "symmetric":
        raise ValueError(f"symmetric search cannot explore {system.label}: {against}; leave the method out")
    lower, why = _unreduced_method(system, None, claims, configs)
    return lower, f"{why}; not symmetric search, for {against}"


def _unreduced_method(
    system: AnySystem, wanted: str | None, claims: Sequence[Property], configs: Sequence[Any]
) -> tuple[Method | Compiled, str]:
    if wanted in ("explicit", "memoised") or (wanted is None and system.domains is None):
        return method_for(system, wanted)
    against = reason_against(system, claims)
    if wanted == "compiled" and against:
        raise ValueError(f"compiled search cannot explore {system.label}: {against}; leave the method out")
    below, why = method_for(system, None)
    if against:
        return below, f"{why}; not compiled search, for {against}"
    chosen = Compiled(system, claims, None if wanted == "compiled" else below)
    try:
        return chosen, chosen.why(configs[0]) if configs else "there is no configuration"
    except Unfit as error:
        if wanted == "compiled":
            raise ValueError(f"compiled search cannot explore {error}") from error
        return below, f"{why}; not compiled search, for {error}"


def method_for(system: AnySystem, wanted: str | None) -> tuple[Method, str]:
    """Return explicit or memoised search and the reason.  Raises ValueError for one that the system rules out."""
    able = system.separated is not None and system.joint is not None and not system.constrained
    if wanted == "memoised" and not able:
        raise ValueError(
            f"{system.label} has no `separated` step, or a constraint, so memoised search cannot run it; leave the "
            "method out"
        )
    if wanted == "explicit":
        return Method(system), "explicit search was asked for"
    if system.constrained:
        return Method(system), "constraints are asked of each state and step"
    if not able:
        return Method(system, learns=wanted is None), "the system does not separate judging from applying"
    return Memo(system, learns=wanted is None), (
        "the step separates: judgements are shared and equal verdicts applied once; "
        "claims that look at the action are shown every joint action"
    )
