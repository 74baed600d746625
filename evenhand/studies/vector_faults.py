"""How many of the faults made by rule a set of vectors separates, besides the variants that it was made for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evenhand.conform.vectors.targets import Candidate, Outcome, first_apart, outcome_of
from evenhand.conform.vectors.verifying import candidate_of
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.grouping import grouped
from evenhand.evidence.vector import Vector
from evenhand.processes.group import Ended
from evenhand.studies.by_rule import decide, names
from evenhand.studies.walking import everywhere
from evenhand.variants.automatic import PREFIX, mutated, sources


@dataclass(frozen=True)
class Separating:
    """The mutants made by rule that vectors separate, those that they do not, and those that took too long."""

    separated: tuple[str, ...]
    left: tuple[str, ...]
    unfinished: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return their number, and one by one those that were not separated."""
        made = len(self.separated) + len(self.left) + len(self.unfinished)
        return {
            "made": made,
            "separated": len(self.separated),
            "left": list(self.left),
            "unfinished": list(self.unfinished),
        }


def separating(
    bundle: Bundle,
    vectors: Sequence[Vector],
    count: int,
    *,
    seed: int = 0,
    workers: int = 1,
    progress: Callable[[str], None] = lambda _name: None,
) -> Separating:
    """Make up to `count` mutants by rule, drawn by `seed`, and run the vectors of their systems on each.

    The mutants are those of `evenhand mutants --automatic` with the same seed.
    """
    drawn = names(everywhere(bundle), count, seed)
    candidates = [candidate_of(bundle, vector) for vector in vectors]
    known = [(one, outcome_of(bundle, one.reference(bundle), one.scenario)) for one in candidates]
    found: dict[str, Ended] = {}
    decide(drawn, _Trial(bundle, known), found, workers=workers, progress=progress)
    by_answer = grouped((found[name].answer, name) for name in drawn)
    return Separating(*(tuple(by_answer.get(answer, ())) for answer in (True, False, None)))


class _Trial:
    """Decides by name whether some vector has another outcome on a mutant."""

    def __init__(self, bundle: Bundle, known: Sequence[tuple[Candidate, Outcome]]) -> None:
        self.bundle, self.known = bundle, known

    def __call__(self, name: str) -> bool:
        function = name.removeprefix(PREFIX).rpartition(":")[0]
        for candidate, outcome in self.known:
            system = candidate.reference(self.bundle)
            if function not in sources(system).functions:
                continue
            mutant = mutated(system, name)
            if first_apart(self.bundle, mutant, candidate.scenario.config, candidate.scenario, outcome) is not None:
                return True
        return False
