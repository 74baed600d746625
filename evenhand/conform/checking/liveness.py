"""Decide claims about reachability and liveness on a kernel's own graph.

A kernel that tells its state is a system: a step replays the path to a state and takes one action more.  The exhaustive
search visits its states in small configurations, and decides deadlocks, livelocks, liveness properties and goals on the
closed graph.  A claim counts against a kernel only where the search finds it true of the model in the same
configurations.

This assumes that the told state is the whole state.  So a loop that is found is repeated twice in one run from the
start; any difference from the graph leaves the claims open.  A kernel that tells no state is not judged: no run is long
enough to show that something never happens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from evenhand.conform.checking.claims import StateNeeded
from evenhand.conform.checking.two_safety import Pairing
from evenhand.core.property import Property, Reachable
from evenhand.core.system import AnySystem
from evenhand.core.temporal import AboutRuns
from evenhand.core.trace import AnyScenario, Lasso, Scenario
from evenhand.core.verdict import Evidence, Status, Verdict
from evenhand.evidence.judge import judge
from evenhand.evidence.shrink import shrink
from evenhand.search import explore

SILENT = "the kernel tells no state, and no run is long enough to show that something never happens"

CONFIGS = 64
"""Configurations of one scope that are searched, within the bound on steps."""

TRIES = 200
"""Runs for shrinking one finding."""


class Stopped(BaseException):
    """The kernel's graph cannot be searched, and why.  Not an Exception, because the search converts those."""


@dataclass(frozen=True)
class Broken:
    """A liveness property or goal that a kernel violates: a run or a lasso, and the reason."""

    claim: Property
    evidence: Evidence
    why: str

    @property
    def run(self) -> AnyScenario:
        """The run, with one turn of the loop."""
        return self.evidence.unrolled if isinstance(self.evidence, Lasso) else self.evidence  # type: ignore[return-value]

    @property
    def loop(self) -> int:
        """How many of its last actions repeat for ever."""
        return len(self.evidence.loop) if isinstance(self.evidence, Lasso) else 0


def own_system(system: AnySystem, pairing: Pairing, steps: int) -> AnySystem:
    """Return the kernel as a system of at most `steps` steps; a step raises Stopped if the kernel cannot go on."""
    ways: dict[tuple[Any, Any], AnyScenario] = {}
    left = steps

    def step(_rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        nonlocal left
        way = ways.get((config, state))
        if way is None:
            if not any(state == start for start in system.initial(config)):
                raise Stopped("a run began in a state that the kernel was never seen in")
            way = Scenario(config, state)
        if left <= 0:
            raise Stopped(f"{steps:,} steps are too few to cover its graph")
        left -= 1
        run = replace(way, actions=(*way.actions, action))
        pairing.ask([run])
        end = pairing.end(run)
        if end is None:
            raise Stopped("it fails on the way")
        if not end.own:
            raise Stopped(SILENT)
        if end.before != state:
            raise Stopped("the same actions from the same start did not lead to the same state again")
        ways.setdefault((config, end.after), run)
        return end.after, end.shown

    return replace(system, step=step, separated=None, quotients=(), abstractions=(), variant="the kernel")


@dataclass
class LivenessClaims:
    """Evaluates claims about what can or must happen; `why_not` gives the reason for each open claim."""

    pairing: Pairing
    claims: Sequence[Property]
    steps: int
    judged: set[str] = field(default_factory=set[str])
    why_not: dict[str, str] = field(default_factory=dict[str, str])
    configs: int = 0

    @staticmethod
    def about(claims: Sequence[Property]) -> tuple[Property, ...]:
        """Return the claims of these kinds."""
        return tuple(claim for claim in claims if isinstance(claim, AboutRuns | Reachable))

    def broken(self, system: AnySystem) -> Iterator[Broken]:
        """Yield one violation for each claim violated in the first configurations of this scope."""
        kernel = own_system(system, self.pairing, self.steps)
        mine: dict[str, list[Verdict]] = {claim.name: [] for claim in self.claims}
        its: dict[str, list[Verdict]] = {claim.name: [] for claim in self.claims}
        try:
            for config in islice(system.all_configs(), CONFIGS):
                found = explore(kernel, self.claims, configs=[config], method="explicit").verdicts
                asked = explore(system, self.claims, configs=[config], method="explicit").verdicts
                self.configs += 1
                for verdict, reference in zip(found, asked, strict=True):
                    mine[verdict.claim].append(verdict)
                    its[verdict.claim].append(reference)
        except Stopped as stopped:
            why = str(stopped)
        except StateNeeded:
            why = "a claim reads what the kernel does not show"
        else:
            why = ""
        for claim in self.claims:
            if not mine[claim.name]:
                self.why_not[claim.name] = why
                continue
            one = self._never(claim, mine[claim.name], its[claim.name], why)
            if not claim.existential:
                one = self._against(kernel, claim, mine[claim.name], its[claim.name])
            if one is not None:
                yield one
            if claim.name not in self.why_not:
                decided = next((v for v in mine[claim.name] if v.status is not Status.UNDECIDED), None)
                if decided is None:
                    self.why_not[claim.name] = mine[claim.name][0].because
                else:
                    self.judged.add(claim.name)

    def _never(self, claim: Property, mine: Sequence[Verdict], its: Sequence[Verdict], why: str) -> Broken | None:
        """A goal that the model reaches and the kernel does not, in any searched configuration."""
        if not claim.existential or any(one.status is Status.HOLDS for one in mine):
            return None
        reached = next((one.evidence for one in its if one.status is Status.HOLDS), None)
        if reached is None or any(one.status is not Status.REFUTED for one in mine):
            self.why_not[claim.name] = why or "the model does not reach it in this scope either"
            return None
        return Broken(claim, reached, "the model reaches it by this run; no run of the kernel does")

    def _against(
        self, kernel: AnySystem, claim: Property, mine: Sequence[Verdict], its: Sequence[Verdict]
    ) -> Broken | None:
        """The first refutation in a configuration where the model satisfies the claim, shrunk."""
        for verdict, reference in zip(mine, its, strict=True):
            if verdict.status is not Status.REFUTED or reference.status is not Status.HOLDS:
                continue
            evidence = verdict.evidence
            assert evidence is not None
            if self.breaks(kernel, claim, evidence):
                small = shrink(kernel, evidence, lambda one: self.breaks(kernel, claim, one), limit=TRIES)
                return Broken(claim, small, judge(kernel, claim, small).reason)
            self.why_not[claim.name] = "its runs disagree with its graph: it reports only a part of its state"
        return None

    def breaks(self, kernel: AnySystem, claim: Property, evidence: Evidence) -> bool:
        """Return whether the kernel, run on this evidence again, violates the claim."""
        try:
            return judge(kernel, claim, evidence).refutes and self.real(evidence)
        except (Stopped, StateNeeded):
            return False

    def real(self, evidence: Evidence) -> bool:
        """Return whether a lasso's loop, run twice from the start, repeats the same states and answers."""
        if not isinstance(evidence, Lasso):
            return True
        twice = Scenario(evidence.config, evidence.start, (*evidence.stem, *evidence.loop, *evidence.loop))
        self.pairing.ask([twice])
        reported = self.pairing.reported(twice)
        size = len(evidence.loop)
        if len(reported) < len(twice.actions):
            return False
        first, second = reported[-2 * size : -size], reported[-size:]
        return first[0].before == second[0].before and all(
            (one.shown, one.after) == (other.shown, other.after) for one, other in zip(first, second, strict=True)
        )
