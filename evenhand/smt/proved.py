"""The result of a proof: one of five statuses, and everything it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from evenhand.core.canonical import Json
from evenhand.core.verdict import Verdict
from evenhand.smt.conformance import Conformance
from evenhand.smt.countermodel import Outcome
from evenhand.smt.portfolio import Answered, ProofText
from evenhand.smt.record import record_digest
from evenhand.smt.theorem import Mutation, Stated


class ProofStatus(Enum):
    """The status of a theorem or invariant.

    VACUOUS: the proof goes through, but proves nothing.  DISAGREEMENT: the solvers contradict each other.  Both
    are UNDECIDED as verdicts.
    """

    HOLDS = "HOLDS"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"
    VACUOUS = "VACUOUS"
    DISAGREEMENT = "DISAGREEMENT"


@dataclass(frozen=True)
class Killed:
    """The result for one mutant of the theory: whether it is as declared, and its verdict on the executable mutant."""

    mutation: Mutation
    answered: Answered
    outcome: Outcome | None
    as_declared: bool
    verdict: Verdict


@dataclass(frozen=True)
class Proved:
    """The verdict on a theorem or an invariant, with everything it rests on.

    `queries` are (name, answers) in the order of asking; `outcome` is that of a countermodel of the theorem itself;
    `record` is canonical JSON without clock readings; `proofs` are the solvers' own proofs by query, where requested.
    """

    theorem: Stated
    status: ProofStatus
    verdict: Verdict
    queries: tuple[tuple[str, Answered], ...]
    mutants: tuple[Killed, ...] = ()
    conformance: Conformance | None = None
    outcome: Outcome | None = None
    fragments: Mapping[str, str] = field(default_factory=dict[str, str])
    record: Mapping[str, Json] = field(default_factory=dict[str, Json])
    proofs: Mapping[str, ProofText] = field(default_factory=dict[str, ProofText])

    @property
    def green(self) -> bool:
        """Whether it HOLDS under all conditions."""
        return self.status is ProofStatus.HOLDS

    @property
    def digest(self) -> str:
        """The digest of the record."""
        return record_digest(self.record)

    @property
    def seconds(self) -> Mapping[str, float]:
        """CPU seconds of each solver (all its options together) over all queries; never part of a record."""
        spent: dict[str, float] = {}
        for _, answered in self.queries:
            for answer in answered.answers:
                name = answer.solver.split()[0]
                spent[name] = spent.get(name, 0.0) + answer.seconds
        return spent
