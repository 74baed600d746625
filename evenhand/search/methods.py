"""The methods of search: run `step` on every action, or learn tables from what is observed.

*Explicit* search is the reference and runs any model.  It goes on from tables that it learns, which is *compiled*
search, where the search is large and tables can follow the model; asked for by name, compiled search learns from the
first state on.  *Symmetric* search serves claims about states, single steps, histories and runs without fairness, of
systems whose actions are joint choices, under a licensed quotient.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evenhand.core.lookup import UnknownName
from evenhand.core.methods import MethodName
from evenhand.core.property import Property
from evenhand.core.system import AnySystem
from evenhand.search.steps import Method
from evenhand.search.witness import LicenceMissing, NotLearned

if TYPE_CHECKING:
    from evenhand.search.symmetric.group import AnyQuotient
    from evenhand.search.symmetric.method import Orbits

CONSTRAINED = "constraints are asked of each state and step"


def chosen_method(
    system: AnySystem,
    wanted: str | None,
    claims: Sequence[Property],
    configs: Sequence[Any],
    quotient: AnyQuotient | None = None,
) -> tuple[Method | Orbits, str]:
    """Return the method to explore with, of all three, and the reason.

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
        return method_for(system, wanted)
    from evenhand.search.symmetric.method import Orbits, reason_against  # with numpy, for few searches

    against = reason_against(system, claims if wanted is None else ())
    if not configs:
        against = "there is no configuration"
    if not against:
        below = None if wanted == "symmetric" else method_for(system, None)[0]
        chosen = Orbits(system, quotient, below)
        try:
            return chosen, chosen.why(configs[0])
        except NotLearned as error:
            against = str(error)
    if wanted == "symmetric":
        raise ValueError(f"symmetric search cannot explore {system.label}: {against}; leave the method out")
    lower, why = method_for(system, None)
    return lower, f"{why}; not symmetric search, for {against}"


def method_for(system: AnySystem, wanted: str | None) -> tuple[Method, str]:
    """Return the method and the reason.  Raises ValueError for one that the system rules out."""
    if wanted == "explicit":
        return Method(system), "explicit search was asked for"
    if system.constrained:
        if wanted == "compiled":
            raise ValueError(f"compiled search cannot explore {system.label}: {CONSTRAINED}; leave the method out")
        return Method(system), CONSTRAINED
    if wanted == "compiled":
        return Method(system, "only"), "compiled search was asked for"
    return Method(system, "perhaps"), "the search ended before tables were tried"
