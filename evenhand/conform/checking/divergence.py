"""Examine one run of a kernel: compare it with the model, and evaluate the claims on it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import cached_property, lru_cache
from typing import Any, cast

from evenhand.conform.adapters.kernels import KernelRequest, KernelResponse
from evenhand.conform.adapters.wire import UNKNOWN, ChangedMessage, Fault, text
from evenhand.conform.checking.claims import Basis, Judge, KernelStep, Violation
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.comparing import Difference, Names, differences, failure, normal, shape, words_of
from evenhand.conform.checking.duties import SUBJECTS, What
from evenhand.conform.checking.withholding import decode_with_gaps, is_withheld
from evenhand.conform.checking.words import Dictionary, Malformed, Reading, choices, gaps
from evenhand.core.canonical import Json
from evenhand.core.codec import decode, field_hints
from evenhand.core.system import AnyStep
from evenhand.core.trace import AnyScenario, AnyTrace


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
    repeat for ever.  `behind` counts the earlier steps in which the kernel differs too.  The first `own` steps of
    `expected` are the model's own run; behind them it went on from what the kernel told.  `tells`: the kernel tells its
    state in every step, or parts of it.  `raw` changes a message of the run.  `said`: its answer, in its own words.
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
    own: int | None = None
    tells: bool = False
    raw: ChangedMessage | None = None
    said: KernelResponse | None = field(default=None, compare=False, repr=False)

    @property
    def sure(self) -> tuple[Violation, ...]:
        """The violations that do not rest on the model's own state after the step."""
        return tuple(one for one in self.violations if one.basis is not Basis.AFTER)

    @property
    def subject(self) -> str:
        """The claim to report: violated on the surest basis, else the duty of every kernel.

        What rests on the model's own state after the step accuses nobody: it is a remark.
        """
        if self.sure:
            return min(self.sure, key=lambda one: (one.basis, one.step)).claim.name
        return SUBJECTS[self.what]

    @property
    def slow(self) -> bool:
        """Whether the kernel took long for its last step, as it will again."""
        waited = self.said is not None and 0 < self.said.slow == self.length
        return waited or self.fault in (Fault.HUNG, Fault.MEMORY, Fault.TOO_LONG)

    @property
    def length(self) -> int:
        """Number of actions."""
        return len(self.scenario.actions)

    @property
    def taken(self) -> str:
        """The kind of the last action."""
        return kind_of(self.scenario.actions[-1]) if self.scenario.actions else ""


def kind_of(action: Any) -> str:
    """The class of an action and, where one class has several kinds, its kind."""
    if isinstance(action, Enum):
        return action.name
    kind = type(action).__name__
    if not is_dataclass(action) or isinstance(action, type):
        return kind
    first = next((getattr(action, name) for name in field_hints(type(action))), None)
    return f"{kind} {first.name}" if isinstance(first, Enum) else kind


def as_told(coder: Coder, trace: AnyTrace, said: KernelResponse, beside: frozenset[str] = frozenset()) -> bool:
    """Return whether a kernel answered just what a model shows in a run, as far as it told; `coder` is the model's.

    In the last step differences of the kinds `beside` may stand beside it.
    """
    run, last = _Run(coder, trace, coder.request(trace), said), len(trace.steps)
    if any(place + 1 < last or not beside for place in run.differing) or run.illegal is not None:
        return False
    return not run.differing or run.divergence(last, "differs", origin="").kinds <= beside


def wavering(divergence: Divergence, again: Sequence[Json]) -> Divergence:
    """Return the finding that a kernel answered the same run differently."""
    return replace(
        divergence,
        what="non-deterministic",
        kinds=frozenset({"non-deterministic"}),
        violations=(),
        differences=(),
        again=tuple(again),
        fault=None,
        shape="",
        why="the same actions from the same start were answered differently the second time",
    )


@dataclass
class Examiner:
    """Examines runs of one system; with `claims_only` a kernel may differ from the model if it violates no claim."""

    coder: Coder
    judge: Judge
    claims_only: bool = False
    _last: _Run | None = None

    def _run(self, trace: AnyTrace, request: KernelRequest, response: KernelResponse) -> _Run:
        """The run, with all that was found out about it if it is the last one."""
        if self._last is None or self._last.response is not response:
            self._last = _Run(self.coder, trace, request, response)
        return self._last

    def examine(
        self,
        trace: AnyTrace,
        request: KernelRequest,
        response: KernelResponse,
        origin: str,
        *,
        judged: bool = True,
    ) -> Divergence | None:
        """Return the first fault of a run; None if there is none.  If not `judged`, no claims are evaluated on it."""
        if response.as_expected or (response.unsupported and not response.refused):
            return None
        run = self._run(trace, request, response)
        found = [*_faulty(run), *self._differing(run), *self._objecting(run), *_mutating(run)]
        if not found:
            return None
        first = min(found, key=lambda one: one[0])
        return run.divergence(*first, origin=origin, judge=self.judge if judged else None, guess=not self.claims_only)

    def later(
        self, trace: AnyTrace, request: KernelRequest, response: KernelResponse, origin: str, *, judged: bool = True
    ) -> Iterator[Divergence]:
        """Yield each difference behind the first one, as if the kernel had shown the right thing before.

        What raises is told too.  If not `judged`, no claims are evaluated on them, which takes most of the time.
        """
        run, raised = self._run(trace, request, response.on or response), len(response.shown)
        if self.claims_only or run.illegal is not None:
            return
        places = sorted({*run.differing, *((raised,) if response.on else ())})
        for number, place in enumerate(places[1:], start=1):
            if response.on and place == raised:
                found = _Run(self.coder, trace, request, response).divergence(place + 1, "fails", origin=origin)
            else:
                found = run.divergence(place + 1, "differs", origin=origin, judge=self.judge if judged else None)
            here = tuple(one for one in found.violations if one.step == place + 1 and one.basis is Basis.SHOWN)
            yield replace(found, behind=number, violations=here)

    def agreed(self, trace: AnyTrace, request: KernelRequest, response: KernelResponse) -> int:
        """Return how many steps precede the first difference from the model, or the end of the run."""
        if response.as_expected:
            return len(trace.steps)
        run = self._run(trace, request, response)
        return next(iter(run.differing), min(len(response.shown), len(trace.steps)))

    def answers(self, trace: AnyTrace, request: KernelRequest, response: KernelResponse) -> tuple[Json, ...]:
        """Return all answers of a run in the model's words, those that are the model's included."""
        run = self._run(trace, request, response)
        return tuple(run.got(place) for place in range(len(response.shown)))

    def reported(self, trace: AnyTrace, request: KernelRequest, response: KernelResponse) -> list[KernelStep]:
        """Return the steps of a run for the claims, as far as they decode."""
        if response.unsupported and not response.refused:
            return []
        if response.as_expected:
            return [KernelStep(step, step.shown, False) for step in trace.steps]
        return self._run(trace, request, response).reported()

    def _differing(self, run: _Run) -> Iterator[tuple[int, What]]:
        if self.claims_only:
            return
        for place in run.differing[:1]:
            yield place + 1, "differs"

    def _objecting(self, run: _Run) -> Iterator[tuple[int, What]]:
        """Evaluate the claims on the whole run if the model does not count, or the kernel tells its state."""
        if self.claims_only or run.response.states:
            violations = self.judge.violations(run.config, run.reported(), guess=False)
            if violations:
                yield min(one.step for one in violations), "violates"


def _faulty(run: _Run) -> Iterator[tuple[int, What]]:
    illegal = run.illegal
    if illegal is not None:
        yield illegal + 1, "fails"
    if run.response.fault is not None:
        at = 0 if run.response.at_start else len(run.response.shown) + (run.response.fault is not Fault.TWICE)
        yield min(at, len(run.trace.steps)), "fails"


def _mutating(run: _Run) -> Iterator[tuple[int, What]]:
    if run.response.mutated:
        yield run.response.changed_at, "mutates"


@lru_cache(maxsize=256)
def _names_of(initial: bytes) -> tuple[Json, Names]:
    """The configuration of a request, and its names."""
    config = json.loads(b"{" + initial)["config"]
    return config, Names(config)


class _Run:
    """One run; its parts are decoded on demand."""

    def __init__(self, coder: Coder, trace: AnyTrace, request: KernelRequest, response: KernelResponse) -> None:
        self.coder, self.trace, self.request, self.response = coder, trace, request, response
        self.config = trace.scenario.config
        self._wrong: str = ""
        self.facts: dict[int, Reading] = {}
        self._observables: dict[int, Any] = {}
        self.steps: list[AnyStep] = list(trace.steps)

    def expected(self, place: int) -> Json:
        """Return the model's observation at `place`, from where the kernel says that it was."""
        return json.loads(self.coder.shown(self.steps[place])) if self._is_astray(place) else self._expected[place]

    @cached_property
    def _expected(self) -> list[Json]:
        return [json.loads(one) for one in self.request.expected]

    @cached_property
    def _actions(self) -> list[Json]:
        return [json.loads(one) for one in self.request.actions]

    def got(self, place: int) -> Json:
        """Return the kernel's observation at `place` in the model's words, or as it is if it has no meaning."""
        read = self.readings[place] if place < len(self.readings) else None
        if read is not None:
            return read.told
        said = self.response.shown[place]
        return self.expected(place) if said is None or place < len(self.readings) else said

    @cached_property
    def readings(self) -> list[Reading | None]:
        """The observations up to the first without a meaning; None for one that is the model's, byte by byte."""
        made: list[Reading | None] = []
        reader, known = self.coder.reader, Dictionary()
        for place, said in enumerate(self.response.shown):
            try:
                astray = self._is_astray(place)
                if said is None and astray:
                    said = self._expected[place]
                expected = self.coder.shown(self.steps[place]) if astray else self.request.expected[place]
                made.append(None if said is None else reader.known_reading(said, expected, known))
                told = self._told_facts(place)
                if told is not None:
                    facts = text(self._all_facts(place, told)).encode()
                    self.facts[place] = reader.known_reading(told, facts, known)
                if astray or self._differs(place, made[-1]):
                    self._resynchronise(place)
            except (Malformed, RecursionError) as error:
                self._wrong = str(error) if isinstance(error, Malformed) else "nested too deeply"
                del made[place:]
                break
        return made

    def _is_astray(self, place: int) -> bool:
        """Whether the kernel told another state than the model's before this step."""
        return self.steps[place] is not self.trace.steps[place]

    def _resynchronise(self, place: int) -> None:
        """After a difference, have the model go on from the state that the kernel tells, so that later steps compare.

        What is not told of it is the model's.
        """
        if place + 1 == len(self.steps):
            return
        following = self.trace.steps[place + 1]
        try:
            after = self._told_state(place)
            if after != following.before:
                self.steps[place + 1] = self.coder.system.take(self.config, after, following.action)
        except Exception:  # this is no state of the model: it goes on as if the step were right
            return

    def _told_state(self, place: int) -> Any:
        """The state after a step as far as the kernel tells it, the rest as in the model.  Raises for no state."""
        after, types = self.steps[place].after, self.coder.system.types
        if self._tells_state(place):
            told = self.coder.told(self.response.states[place], after)
            return told if type(told) is type(after) else after
        if place not in self.facts or self.facts[place].agrees or not is_dataclass(after):
            return after
        read = self.facts[place]
        known, facts = (cast("dict[str, Json]", normal(one)) for one in (read.expected, read.told))
        names = [one.name for one in fields(after) if facts.get(one.name) != known.get(one.name)]
        return replace(cast("Any", after), **{name: decode(facts[name], *types) for name in names})

    def _told_facts(self, place: int) -> Json:
        """What the kernel tells of its state without telling it all; None for nothing.  Raises Malformed."""
        facts = self.response.facts.get(place)
        state = self.response.states[place] if place < len(self.response.states) else None
        partly = state if self._is_partial(place) else None
        if facts is not None and not isinstance(facts, dict):
            raise Malformed("facts: an object with fields of the state is told")
        if isinstance(facts, dict) and isinstance(partly, dict):
            return {**cast("dict[str, Json]", partly), **cast("dict[str, Json]", facts)}
        return cast("Json", facts) if isinstance(facts, dict) else partly

    def _is_partial(self, place: int) -> bool:
        """Whether the told state has gaps: markers, or fields of the model's that it lacks."""
        if place >= len(self.response.states):
            return False
        state = self.response.states[place]
        if gaps(state):
            return True
        after = self.trace.steps[place].after
        names = {one.name for one in fields(after)} if is_dataclass(after) else set[str]()
        return isinstance(state, dict) and bool(names - cast("dict[str, Json]", state).keys())

    def _all_facts(self, place: int, told: Json) -> Json:
        """The facts of the model, those that were told.  Raises Malformed for one that the model has not."""
        known = self.coder.facts(self.steps[: place + 1])
        if isinstance(known, dict) and isinstance(told, dict):
            there, mine = cast("dict[str, Json]", known), cast("dict[str, Json]", told)
            if more := sorted(mine.keys() - there.keys() - {"$unknown"}):
                names = ", ".join(sorted(there.keys() - {"$"}))
                raise Malformed(f"facts: the state has no field {', '.join(more):.80}; it has: {names}")
        return cast("Json", known)

    @cached_property
    def differing(self) -> tuple[int, ...]:
        """The places at which the kernel showed something else than the model, or told other facts."""
        return tuple(place for place, read in enumerate(self.readings) if self._differs(place, read))

    def _differs(self, place: int, read: Reading | None) -> bool:
        facts = self.facts.get(place)
        return (read is not None and not read.agrees) or (facts is not None and not facts.agrees)

    def wrong_facts(self, place: int) -> Iterator[Difference]:
        """Yield the differences of the told facts from the model's."""
        if place in self.facts:
            facts = self.facts[place]
            yield from differences(normal(facts.expected), normal(facts.told), "facts")

    @cached_property
    def illegal(self) -> int | None:
        """The first place whose answer does not decode; `_wrong` says why."""
        differing = set(self.differing)
        for place in range(len(self.response.shown)):
            if place >= len(self.readings):
                return place
            try:
                if place in differing:
                    self._observable(place)
                read = self.readings[place]
                if read and read.seen is not read.told and choices(self.response.shown[place], self._actions[place]):
                    self._chosen(place)
                if self._tells_state(place):
                    self.coder.told(self.response.states[place], self.steps[place].after)
            except ValueError as error:
                self._wrong = str(error)
                return place
        return None

    def _tells_state(self, place: int) -> bool:
        return place < len(self.response.states) and not self._is_partial(place)

    def _tells_change(self, place: int) -> bool:
        """Whether the kernel tells each field of the state that the step changes; in others it may have gone astray."""
        before, after, told = self.steps[place].before, self.steps[place].after, self._told_facts(place)
        if not is_dataclass(after) or not isinstance(told, dict):
            return False
        changed = [one.name for one in fields(after) if getattr(before, one.name) != getattr(after, one.name)]
        return all(cast("dict[str, Json]", told).get(name, UNKNOWN) != UNKNOWN for name in changed)

    def _observable(self, place: int) -> Any:
        """The shown value, which must be of the class that the model shows; what was not shown is withheld."""
        if place not in self._observables:
            self._observables[place] = self._read(place)
        return self._observables[place]

    def _read(self, place: int) -> Any:
        read, shown = self.readings[place], self.steps[place].shown
        if read is None:
            return shown
        said = decode_with_gaps(read.seen, self.coder.system.types)
        if not is_withheld(said) and not issubclass(type(said), type(shown)):  # with gaps it is of a subclass
            raise ValueError(f"{type(shown).__name__} is to be shown, not {type(said).__name__}")
        return said

    def reported(self) -> list[KernelStep]:
        """Return the steps for the claims, as far as they decode."""
        differing, end = set(self.differing), self.illegal
        made: list[KernelStep] = []
        before, known = self.trace.scenario.start, True
        for place, step in enumerate(self.trace.steps[: len(self.response.shown) if end is None else end]):
            read = self.readings[place]
            partial = read is not None and read.partial
            differs = place in differing or self._is_astray(place)
            shown = self._observable(place) if differs or partial else step.shown
            tells = self._tells_state(place)
            own = tells and known
            after = self.coder.told(self.response.states[place], self.steps[place].after) if tells else None
            told = self.got(place) if differs else None
            of = choices(self.response.shown[place]) if partial else frozenset[str]()
            pick = self._chosen(place) if of else None
            made.append(KernelStep(step, shown, differs, before if own else None, after, own, partial, told, of, pick))
            before, known = after, tells
        return made

    def _chosen(self, place: int) -> Any:
        """The shown value with what the kernel chose."""
        read = self.coder.choices.reading(self.response.shown[place], self.expected(place), Dictionary())
        return decode_with_gaps(read.seen, self.coder.system.types)

    def divergence(
        self, at: int, what: What, *, origin: str, judge: Judge | None = None, guess: bool = False
    ) -> Divergence:
        """Return the run cut after step `at`, with all that is wrong there; without a judge no claims are evaluated."""
        (config, of_config), told = _names_of(self.request.initial), self._actions[:at]
        names = Names(config, told, words_of(self.coder.system.types))
        actions = self.trace.scenario.actions[:at]
        got = tuple(self.got(place) for place in range(min(at, len(self.response.shown))))
        expected = tuple(self.expected(place) for place in range(at))
        own = next((place for place in range(at) if self._is_astray(place)), None)
        found: tuple[Difference, ...] = ()
        if what == "differs":
            found = (*differences(normal(expected[-1]), normal(got[-1])), *self.wrong_facts(at - 1))
        violations: tuple[Violation, ...] = ()
        if judge is not None and what in ("differs", "violates"):
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
            "fails": frozenset({failure(fault, names.without(why))}),
            "mutates": frozenset({why}),
        }.get(what, frozenset({what}))
        return Divergence(
            replace(self.trace.scenario, actions=actions),
            origin,
            what,
            kinds,
            shape(told[-1] if told else None, of_config),
            expected,
            got,
            found,
            fault,
            why,
            violations,
            own=own,
            tells=all(place in self.facts or self._tells_state(place) for place in range(len(got)))
            and all(self._tells_state(one) or self._tells_change(one) for one in self.differing if one < at - 1),
            said=self._said(at),
        )

    def _said(self, steps: int) -> KernelResponse:
        """The first answers, each in full."""
        answered = self.response
        said = tuple(self._expected[place] if one is None else one for place, one in enumerate(answered.shown[:steps]))
        facts = {place: told for place, told in answered.facts.items() if place < steps}
        return KernelResponse(said, answered.states[:steps], facts=facts, slow=answered.slow)
