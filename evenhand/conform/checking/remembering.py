"""Decide whether a kernel answers a run by what earlier runs of its process did.

A kernel that keeps something in its module, class or default arguments is wrong in nearly every run after the first,
which hides all its other faults.  So a run that differs is repeated in a process of its own, and behind the runs that
came before it in a fresh process.  If the two do not agree, the shortest list of earlier runs that is needed is looked
for by halving, and both are repeated: if each repetition always says the same, the kernel remembers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evenhand.conform.adapters.kernels import KernelRequest, KernelResponse, Source
from evenhand.conform.adapters.wire import Fault
from evenhand.conform.checking.divergence import Divergence, Examiner, SecondTrace, wavering
from evenhand.core.canonical import Json
from evenhand.core.codec import encode
from evenhand.core.trace import AnyScenario, AnyTrace

SETTLED = 5
"""Repetitions that must say the same, because an answer by chance may be the same a few times."""

RELOADED = 6
"""Times that the kernel is loaded anew to repeat both."""


def remembers(examiner: Examiner, source: Source, found: Divergence, before: Sequence[AnyTrace]) -> Divergence | None:
    """Return the finding that a kernel remembers; None if the difference `found` does not show it.

    `before` are the runs that its process answered before.
    """
    asking = _Asking(examiner, source, examiner.coder.trace(found.scenario))
    once = asking.behind(())
    if once.shown[: len(found.got)] == found.got and once.fault is found.fault:
        return None
    alone = asking.settled(())
    if alone is None:
        return None
    for earlier in ((asking.trace,), tuple(before)):
        if asking.behind(earlier) == alone:
            continue
        runs = asking.fewest(earlier, alone)
        said = asking.settled(runs)
        if said is not None and said != alone and asking.stays(runs, said, alone):
            return asking.finding(found, alone, said, runs)
    return None


def lasting(examiner: Examiner, source: Source, found: Divergence) -> Divergence | None:
    """Return the finding that a kernel remembers outside of its memory, as in a file; None if it does not.

    A process that is forked finds that file too, so only a kernel that is loaded anew answers as the first one did.
    """
    asking = _Asking(examiner, source, examiner.coder.trace(found.scenario))
    first: list[_Said] = []
    for _ in range(RELOADED):
        source.renew()
        said = list(map(asking.said, source.together([asking.request, asking.request])))
        first = first or said
        if said != first or len(said) < 2 or said[0] == said[1]:
            return None
    alone, after = first
    return asking.finding(found, alone, after, [asking.trace])


def answers_by(examiner: Examiner, source: Source, run: AnyScenario, earlier: AnyScenario) -> bool:
    """Return whether a kernel answers a run otherwise after an earlier one than in a process of its own."""
    asking = _Asking(examiner, source, examiner.coder.trace(run))
    after = asking.behind([examiner.coder.trace(earlier)])
    source.renew()
    return after != asking.behind(())


@dataclass(frozen=True)
class _Said:
    """What a kernel showed in a run, and how it failed to go on."""

    shown: tuple[Json, ...]
    fault: Fault | None


class _Asking:
    """Asks one run of fresh processes, behind other runs."""

    def __init__(self, examiner: Examiner, source: Source, trace: AnyTrace) -> None:
        self.examiner, self.source, self.trace = examiner, source, trace
        self.request = examiner.coder.request(trace)

    def behind(self, runs: Sequence[AnyTrace]) -> _Said:
        """Return the answers to the run after others."""
        earlier: list[KernelRequest] = [self.examiner.coder.request(one) for one in runs]
        *_, last = self.source.together([*earlier, self.request])
        return self.said(last)

    def said(self, response: KernelResponse) -> _Said:
        """Return what a kernel showed in the run."""
        return _Said(self.examiner.answers(self.trace, self.request, response), response.fault)

    def finding(self, found: Divergence, alone: _Said, said: _Said, runs: Sequence[AnyTrace]) -> Divergence:
        """Return the finding that the run is answered otherwise after these runs than alone."""
        return replace(
            wavering(found, alone.shown),
            what="remembers",
            kinds=frozenset({"remembers"}),
            got=said.shown,
            beside=_second(runs[0]) if len(runs) == 1 else None,
            why="the same run is answered differently after an earlier run in the same process",
        )

    def settled(self, runs: Sequence[AnyTrace]) -> _Said | None:
        """Return the answers after other runs; None if they vary."""
        said = self.behind(runs)
        return said if all(self.behind(runs) == said for _ in range(SETTLED - 1)) else None

    def stays(self, runs: Sequence[AnyTrace], said: _Said, alone: _Said) -> bool:
        """Return whether the answers after other runs, and alone, are the same where the kernel is loaded anew.

        Processes that are forked from one share its source of chance, and so agree by chance.
        """
        for _ in range(RELOADED):
            self.source.renew()
            if self.behind(runs) != said or self.behind(()) != alone:
                return False
        return True

    def fewest(self, runs: Sequence[AnyTrace], alone: _Said) -> Sequence[AnyTrace]:
        """Return a part of some earlier runs that changes the answers, one run if one is enough."""
        while len(runs) > 1:
            half = len(runs) // 2
            kept = next((some for some in (runs[:half], runs[half:]) if self.behind(some) != alone), None)
            if kept is None:
                break
            runs = kept
        return runs


def _second(run: AnyTrace) -> SecondTrace:
    expected = tuple(encode(step.shown) for step in run.steps)
    return SecondTrace(run.scenario, expected, expected)
