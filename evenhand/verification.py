"""`evenhand.verify`: every claim of a system, by every engine that can read it, in one call.

    assert evenhand.verify(lock, [mutual_exclusion]).holds

For a system of your own there is nothing to subclass and nothing to register.  Where something does not
hold, the report goes to standard error as text (pytest shows it with the failing test): the shortest trace,
step by step, and what reproduces it.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenhand.counterexamples.record import Record
from evenhand.counterexamples.replay import replay_record
from evenhand.counterexamples.store import is_record, load
from evenhand.counterexamples.store import save as save_record
from evenhand.engines import findings_of, run, verdicts_of
from evenhand.fixtures import replay_findings
from evenhand.model.system import Protocol, System
from evenhand.plan import Budget, Effort, Job, plan
from evenhand.properties.generator import Generator
from evenhand.properties.property import Property
from evenhand.properties.registry import Bundle, find
from evenhand.properties.verdict import Status
from evenhand.report.finding import Finding
from evenhand.report.report import Report
from evenhand.report.trace import steps_of
from evenhand.versions import versions

__all__ = ["BOUNDS", "VARIABLE", "verify"]

VARIABLE = "EVENHAND_BUDGET"
"""Names the budget of every `verify` that does not name its own."""

AnySystem = System[Any, Any, Any, Any, Any]

BOUNDS: Mapping[Budget, Effort] = {
    Budget.quick: Effort(max_states=20_000, finishable=0, examples=40, steps=20),
    Budget.standard: Effort(max_states=100_000, finishable=0, examples=100, steps=20),
    Budget.deep: Effort(max_states=5_000_000, finishable=0, examples=2_000, steps=40),
}
"""The bounds of a system that comes without plans, as in a team's own test file."""


def verify(
    subject: AnySystem | Bundle | str,
    claims: Property | Iterable[Property] = (),
    *,
    generator: Generator | None = None,
    theorems: Sequence[Any] = (),
    budget: str | None = None,
    max_states: int | None = None,
    depth: int | None = None,
    examples: int | None = None,
    steps: int | None = None,
    seed: int = 0,
    save: str | Path | None = None,
    quiet: bool = False,
) -> Report:
    """Check claims of a system, or everything about a protocol.

    `subject` is a system (with `claims`), a protocol's name, or a `Bundle`.  A system is explored
    exhaustively up to `max_states` (and `depth`, if given), then driven at random for `examples` runs of at
    most `steps` actions, by `generator` or by its own actions; `theorems` are proved.  A protocol is run as
    `evenhand verify` would under `budget`; ask its report for `as_stated`, since some claims are stated as
    refuted.

    `budget` (`quick`, `standard`, `deep`) sets the numbers that are not given: `BOUNDS` has them.  Without one,
    `pytest --evenhand-budget` or the variable EVENHAND_BUDGET decides, and else it is `standard`.

    With `save` every refutation of a system is written to that folder, and the refutations already there are
    replayed first (`types` of the system must name its classes).  Where something does not hold (or is not
    as stated) the report is printed to standard error, unless `quiet`.

    Raises UnknownName for an unknown protocol, TypeError or ValueError for claims that are none, BadRecord for
    a saved refutation that does not fit the system any more, NotWritten where `save` cannot be written to.
    """
    chosen = _budget(budget)
    if isinstance(subject, System):
        bounds = BOUNDS[chosen]
        report = _system(
            subject,
            _checked(claims),
            Job(subject.name, "explore", subject.name, max_states=max_states or bounds.max_states, depth=depth),
            Job(
                subject.name,
                "fuzz",
                subject.name,
                examples=bounds.examples if examples is None else examples,
                steps=bounds.steps if steps is None else steps,
                seed=seed,
            ),
            generator,
            theorems,
            None if save is None else Path(save),
        )
    else:
        report = _protocol(find(subject) if isinstance(subject, str) else subject, chosen, seed)
    if not quiet and not (report.holds if isinstance(subject, System) else report.as_stated):
        print(report, file=sys.stderr)
    return report


def _budget(given: str | None) -> Budget:
    written = given or os.environ.get(VARIABLE, "standard")
    if written not in set(Budget):
        source = "budget" if given else VARIABLE
        raise ValueError(f"{source}: {written!r} is no budget; there is: {', '.join(Budget)}")
    return Budget(written)


def _checked(claims: Property | Iterable[Property]) -> tuple[Property, ...]:
    found = (claims,) if isinstance(claims, Property) else tuple(claims)
    for claim in found:
        if not isinstance(claim, Property):
            raise TypeError(f"{claim!r} is no claim; decorate a predicate, as in `@evenhand.always('At most one …')`")
    names = [claim.name for claim in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"two claims are called {twice!r}; verdicts and counterexamples go by the name")
    if not found:
        raise ValueError("no claims to check; pass at least one")
    return found


def _system(
    system: AnySystem,
    claims: tuple[Property, ...],
    explore: Job,
    fuzz: Job,
    generator: Generator | None,
    theorems: Sequence[Any],
    save: Path | None,
) -> Report:
    generators = () if generator is None else (replace(generator, system=system.name),)
    bundle = Bundle(Protocol(system.name, system.name, "", {system.name: system}), claims, generators)
    remembered = tuple(_remembered(bundle, save)) if save is not None else ()
    found = [
        finding
        for job in (explore, fuzz)
        for finding in findings_of(bundle, job, system, verdicts_of(bundle, job, system), keep=save is not None)
    ]
    kept = _keep_shortest(found, save) if save is not None else {}
    found = [
        replace(finding, command=_again(system, finding, kept.get(finding.claim))) if finding.command else finding
        for finding in found
    ]
    if theorems:
        from evenhand.proving import prove_all

        found += prove_all(bundle, theorems)
    return Report((*remembered, *found), {"system": system.name, "seed": fuzz.seed}, versions())


def _keep_shortest(findings: Sequence[Finding], folder: Path) -> dict[str, Path]:
    """Save the shortest refutation of each claim that can be written down; the files by claim."""
    best: dict[str, Finding] = {}
    for finding in findings:
        known = best.get(finding.claim)
        if finding.record is not None and (known is None or (finding.length or 0) < (known.length or 0)):
            best[finding.claim] = finding
    return {claim: save_record(Record.from_json(finding.record), folder) for claim, finding in best.items()}


def _remembered(bundle: Bundle, folder: Path) -> Iterator[Finding]:
    """What became of the refutations of this system that were saved before: each must not refute any more."""
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        if is_record(path) and (record := load(path)).protocol == bundle.name:
            result = replay_record(record, bundle, origin=str(path))
            for finding in replay_findings(path.name, record, result):
                yield replace(finding, expected=Status.HOLDS, command=f"saved in {path}")


def _protocol(bundle: Bundle, budget: Budget, seed: int) -> Report:
    from evenhand.proving import theorem_names

    jobs = plan(bundle, budget, seed=seed, theorems=theorem_names(bundle.name))
    found = tuple(finding for job in jobs for finding in run(bundle, job))
    return Report(found, {"protocols": [bundle.name], "budget": budget.value, "seed": seed}, versions())


def _again(system: AnySystem, finding: Finding, kept: Path | None) -> str:
    """What reproduces a refutation in a test file: the test itself, and the run as Python."""
    lines: list[str] = []
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if test:
        lines.append(shlex.join(["pytest", test]))
    for scenario in steps_of(finding.evidence) if finding.evidence is not None else ():
        written = f"{scenario.config!r}, {scenario.start!r}, {scenario.actions!r}"
        text = f"evenhand.replay(system, evenhand.Scenario({written}))"
        if " at 0x" not in text:
            lines.append(text)
    lines += [f"saved in {kept}, which is replayed first from now on"] if kept is not None else []
    return "\n".join(lines)
