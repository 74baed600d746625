"""Examine one run of a kernel: compare it with the model, and evaluate the claims on it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from evenhand.conform.adapters.kernels import KernelRequest, KernelResponse
from evenhand.conform.adapters.wire import Fault, text
from evenhand.conform.checking.claims import Basis, Judge, KernelStep, Violation
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.comparing import Difference, Names, differences, normal, shape
from evenhand.core.canonical import Json
from evenhand.core.codec import decode
from evenhand.core.trace import AnyScenario, AnyTrace, Scenario

What = Literal["differs", "fails", "violates", "mutates", "non-deterministic", "relates", "liveness"]
"""The fault of a run.

In this order: it shows something else; it does not answer; it violates a claim although it shows the same, or is not
compared; it wrote to its input; it is non-deterministic; two runs together violate a claim; it violates a liveness
claim.
"""


DISAGREES = "kernel_agrees_with_model"
SENTENCES: Mapping[str, str] = {
    DISAGREES: "The kernel shows in every step what the model shows.",
    "kernel_answers": "The kernel answers every action, once and in time, in the protocol's own words.",
    "kernel_keeps_its_input": "The kernel changes nothing in the data that it is handed.",
    "kernel_is_deterministic": "The kernel answers the same actions from the same start in the same way.",
}
"""The duties of every kernel under any protocol."""

SUBJECTS: Mapping[What, str] = {
    "differs": DISAGREES,
    "violates": DISAGREES,
    "fails": "kernel_answers",
    "mutates": "kernel_keeps_its_input",
    "non-deterministic": "kernel_is_deterministic",
    "relates": DISAGREES,
    "liveness": DISAGREES,
}


@dataclass(frozen=True)
class SecondTrace:
    """The second of two runs that together violate a claim; fields as in `Divergence`."""

    scenario: AnyScenario
    expected: tuple[Json, ...]
    got: tuple[Json, ...]


@dataclass(frozen=True)
class Divergence:
    """One run with a fault in its last step.

    `expected` is what the model shows in each step, `got` what the kernel showed (one less if it failed to answer).
    `kinds` describes the fault without names and numbers, `shape` its last action.  `again` holds the other answers of
    a non-deterministic kernel, `beside` the other run of a pair.  The last `loop` actions of a liveness violation
    repeat for ever.  `behind` counts the earlier steps in which the kernel differs too.
    """

    scenario: AnyScenario
    origin: str
    what: What
    kinds: frozenset[str]
    shape: str
    expected: tuple[Json, ...]
    got: tuple[Json, ...]
    differences: tuple[Difference, ...] = ()
    fault: Fault | None = None
    why: str = ""
    violations: tuple[Violation, ...] = ()
    again: tuple[Json, ...] = ()
    beside: SecondTrace | None = None
    loop: int = 0
    behind: int = 0

    @property
    def subject(self) -> str:
        """The claim to report: violated on the surest basis, else the duty of every kernel.

        What rests on the model's own state after the step accuses nobody: it is a remark.
        """
        sure = [one for one in self.violations if one.basis is not Basis.AFTER]
        if sure:
            return min(sure, key=lambda one: (one.basis, one.step)).claim.name
        return SUBJECTS[self.what]

    @property
    def length(self) -> int:
        """Number of actions."""
        return len(self.scenario.actions)


@dataclass
class Examiner:
    """Examines runs of one system; with `claims_only` a kernel may differ from the model if it violates no claim."""

    coder: Coder
    judge: Judge
    claims_only: bool = False

    def examine(
        self, trace: AnyTrace, request: KernelRequest, response: KernelResponse, origin: str
    ) -> Divergence | None:
        """Return the first fault of a run; None if there is none."""
        if response.as_expected or response.unsupported:
            return None
        run = _Run(self.coder, trace, request, response)
        found = [*_faulty(run), *self._differing(run), *self._objecting(run), *_mutating(run)]
        if not found:
            return None
        return run.divergence(
            *min(found, key=lambda one: one[0]), origin=origin, judge=self.judge, guess=not self.claims_only
        )

    def later(
        self, trace: AnyTrace, request: KernelRequest, response: KernelResponse, origin: str
    ) -> Iterator[Divergence]:
        """Yield each difference behind the first one, as if the kernel had shown the right thing before."""
        run = _Run(self.coder, trace, request, response)
        if self.claims_only or run.illegal() is not None:
            return
        for number, place in enumerate(run.differing()):
            if number:
                found = run.divergence(place + 1, "differs", origin=origin, judge=self.judge, guess=False)
                here = tuple(one for one in found.violations if one.step == place + 1 and one.basis is Basis.SHOWN)
                yield replace(found, behind=number, violations=here)

    def agreed(self, trace: AnyTrace, request: KernelRequest, response: KernelResponse) -> int:
        """Return how many steps precede the first difference from the model, or the end of the run."""
        if response.as_expected:
            return len(trace.steps)
        run = _Run(self.coder, trace, request, response)
        return next(iter(run.differing()), min(len(response.shown), len(trace.steps)))

    def reported(self, trace: AnyTrace, request: KernelRequest, response: KernelResponse) -> list[KernelStep]:
        """Return the steps of a run for the claims, as far as they decode."""
        if response.unsupported:
            return []
        if response.as_expected:
            return [KernelStep(step, step.shown, False) for step in trace.steps]
        return _Run(self.coder, trace, request, response).reported()

    def _differing(self, run: _Run) -> Iterator[tuple[int, What]]:
        if self.claims_only:
            return
        for place in run.differing():
            yield place + 1, "differs"
            return

    def _objecting(self, run: _Run) -> Iterator[tuple[int, What]]:
        """Evaluate the claims on the whole run if the model does not count, or the kernel tells its state."""
        if self.claims_only or run.response.states:
            violations = self.judge.violations(run.config, run.reported(), guess=False)
            if violations:
                yield min(one.step for one in violations), "violates"


def _faulty(run: _Run) -> Iterator[tuple[int, What]]:
    illegal = run.illegal()
    if illegal is not None:
        yield illegal + 1, "fails"
    if run.response.fault is not None:
        at = 0 if run.response.at_start else len(run.response.shown) + (run.response.fault is not Fault.TWICE)
        yield min(at, len(run.trace.steps)), "fails"


def _mutating(run: _Run) -> Iterator[tuple[int, What]]:
    if run.response.mutated:
        yield run.response.changed_at, "mutates"


class _Run:
    """One run; its parts are decoded on demand."""

    def __init__(self, coder: Coder, trace: AnyTrace, request: KernelRequest, response: KernelResponse) -> None:
        self.coder, self.trace, self.request, self.response = coder, trace, request, response
        self.config = trace.scenario.config
        self._wrong: str = ""

    def expected(self, place: int) -> Json:
        """Return the model's observation at `place`."""
        return json.loads(self.request.expected[place])

    def got(self, place: int) -> Json:
        """Return the kernel's observation at `place`."""
        said = self.response.shown[place]
        return self.expected(place) if said is None else said

    def differing(self) -> Iterator[int]:
        """Yield the places at which the kernel showed something else."""
        for place, said in enumerate(self.response.shown):
            if said is not None and text(normal(said)) != text(normal(self.expected(place))):
                yield place

    def illegal(self) -> int | None:
        """Return the first place whose answer does not decode; `_wrong` says why."""
        differing = set(self.differing())
        for place in range(len(self.response.shown)):
            try:
                if place in differing:
                    self._observable(place)
                if place < len(self.response.states):
                    self._decoded(self.response.states[place])
            except ValueError as error:
                self._wrong = str(error)
                return place
        return None

    def _decoded(self, data: Json) -> Any:
        return decode(normal(data), *self.coder.system.types)

    def _observable(self, place: int) -> Any:
        """The shown value, which must be of the class that the model shows."""
        said, shown = self._decoded(self.response.shown[place]), self.trace.steps[place].shown
        if type(said) is not type(shown):
            raise ValueError(f"{type(shown).__name__} is to be shown, not {type(said).__name__}")
        return said

    def reported(self) -> list[KernelStep]:
        """Return the steps for the claims, as far as they decode."""
        differing, end = set(self.differing()), self.illegal()
        made: list[KernelStep] = []
        before = self.trace.scenario.start
        for place, step in enumerate(self.trace.steps[: len(self.response.shown) if end is None else end]):
            shown = self._observable(place) if place in differing else step.shown
            own = place < len(self.response.states)
            after = self._decoded(self.response.states[place]) if own else None
            made.append(KernelStep(step, shown, place in differing, before if own else None, after, own))
            before = after
        return made

    def divergence(self, at: int, what: What, *, origin: str, judge: Judge, guess: bool) -> Divergence:
        """Return the run cut after step `at`, with all that is wrong there."""
        names = Names(json.loads(b"{" + self.request.initial)["config"])
        actions = self.trace.scenario.actions[:at]
        expected = tuple(self.expected(place) for place in range(at))
        got = tuple(self.got(place) for place in range(min(at, len(self.response.shown))))
        found: tuple[Difference, ...] = ()
        if what == "differs":
            found = tuple(differences(normal(expected[-1]), normal(got[-1])))
        violations: tuple[Violation, ...] = ()
        if what in ("differs", "violates"):
            asked_of = self.reported()[:at]
            violations = tuple(one for one in judge.violations(self.config, asked_of, guess=guess) if one.step <= at)
        fault, why = (self.response.fault, self.response.why) if what == "fails" else (None, "")
        if what == "fails" and self._wrong and (self.response.fault is None or at <= len(self.response.shown)):
            fault, why = Fault.ILLEGAL, self._wrong
        if what == "mutates":
            why = f"it wrote to {self.response.mutated} that it was handed"
        kinds = {
            "differs": names.kinds(found),
            "violates": frozenset(one.claim.name for one in violations),
            "fails": frozenset({f"{fault.value}: {names.without(why)}" if fault else ""}),
            "mutates": frozenset({why}),
        }.get(what, frozenset({what}))
        last = json.loads(self.request.actions[at - 1]) if at else None
        start = self.trace.scenario
        return Divergence(
            Scenario(start.config, start.start, actions),
            origin,
            what,
            kinds,
            shape(last, names),
            expected,
            got,
            found,
            fault,
            why,
            violations,
        )
