"""Hand the kernel JSON values that no type admits: a list for a text, null for an object, a key too few.

The model has no word for these, so they stand in the kernel's own messages, which an adapter sends through its method
`pass_on`.  In a run on which kernel and model agree one message is changed in one place.  Of a kernel is demanded:

- that it answers, then and later: whatever else `pass_on` raises than Unsupported accuses it;
- where it refuses (Unsupported), that the message as it was is answered as if nothing had been sent before.

What a kernel takes such a value for where it does not refuse it, no text says: "1" may be 1, and null nothing at all.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

from msgspec import UNSET

from evenhand.conform.adapters.kernels import KernelRequest, KernelResponse
from evenhand.conform.adapters.wire import ChangedMessage, Fault, RawValue, text, with_raw
from evenhand.conform.checking.divergence import Divergence, Examiner, kind_of
from evenhand.conform.checking.ordering import MANY_WAYS, Defect
from evenhand.conform.checking.phase import Phase
from evenhand.conform.checking.spelling import Words
from evenhand.core.canonical import Json
from evenhand.core.system import AnyStep
from evenhand.core.trace import AnyTrace

RAW = "raw"

VALUES = ("null", "[]", "7", "{}", '""', "[null]", "true", '{"x":1}', "0", "[[]]", '"1"', "false", "-1.5", "[7]")
"""JSON texts; in one place stand those of another type than the value there."""

LIMITS = ("1e999", "1e308", "1.5", "-1e308")
"""Numbers in place of a number: one that is none to some readers, the largest, and one between two."""

NO_KEY = "no such key"

WHOLE, FIXED = "a whole message", ", which is the same in all messages"
"""How a message itself is called, and a word in it that an adapter seems to write: the envelope of what agents write.

A kernel in another process that fails there is one finding, however it does, since it may be the host's to get right.
"""

ENVELOPE = "the envelope of a message"

RUNS, FIRST, BATCH = 12, 4, 16
"""Runs whose messages are looked at, those that show if there are any, and changed messages that are sent ahead."""

NEAR = 6
"""Steps, the earliest, among which the one is chosen whose message is changed: steps that change the state.

One is another: a kernel that refuses an action for its time or its author may not look at the rest.
"""

AFTER, ITEMS = 2, 2
"""Steps behind the changed message; entries of a list, the first ones, that are changed."""

DOUBTS = 3
"""Faults of one place that did not show again in a new process, after which it is left alone."""

_TYPES: dict[type, str] = {
    type(None): "null", bool: "flag", str: "text", int: "number", float: "number", list: "list", dict: "object"
}  # fmt: skip

_LINE = re.compile(r"\([^()]+, line \d+[^()]*\)$")


def with_change(plain: KernelRequest, raw: ChangedMessage) -> KernelRequest:
    """Return the request for a run with a changed message."""
    actions = (with_raw(one, raw.change) if at == raw.step else one for at, one in enumerate(plain.actions, start=1))
    return replace(plain, actions=tuple(actions))


def judged(
    raw: ChangedMessage, examiner: Examiner, trace: AnyTrace, request: KernelRequest, response: KernelResponse
) -> Divergence | None:
    """Return the fault that a changed message brings out in a run that agrees without it."""
    told, steps = response.raw.get(raw.step - 1), len(response.shown)
    taken = isinstance(told, dict) and bool(cast("dict[str, Json]", told).get("taken"))
    if response.fault is not None and steps >= raw.step - 1:
        response = replace(response, shown=(None,) * steps, states=(), facts={}, mutated="")
    elif response.unsupported or told is None or taken:
        return None
    found = examiner.examine(trace, request, response, RAW, judged=False)
    if found is None or found.length < raw.step:
        return None
    located = found.fault is Fault.RAISED and _LINE.search(found.why)
    kinds = found.kinds if located else frozenset(f"{raw.place}: {kind}" for kind in found.kinds)
    handed = f"it was handed {raw.change.text}" if isinstance(raw.change.text, str) else "nothing was there"
    why = found.why or "it refused a value, and yet something else follows than without it"
    return replace(found, kinds=kinds, why=f"{why}; {handed} for {raw.place}", raw=raw)


@dataclass(frozen=True)
class _Site:
    """A value in a message of a run: the step, the number of the message, and the way to it."""

    trace: AnyTrace
    step: int
    message: int
    at: tuple[str | int, ...]
    value: Json


_Waiting: TypeAlias = tuple[AnyTrace, ChangedMessage, tuple[str, str, int]]


@dataclass
class Raw:
    """Changes messages of runs on which kernel and model agree; equal seed and runs give equal changes.

    What is in `sent`, a place with the type of the value there and the number of the other one, is not sent again.
    The kernel is `closed` if no message was seen, though the time sufficed to look.
    """

    phase: Phase
    seed: int
    sent: set[tuple[str, str, int]]
    passed_on: bool = False
    closed: bool = False
    _found: dict[frozenset[str], tuple[Divergence, int]] = field(default_factory=dict[Any, Any])
    _failed: set[str] = field(default_factory=set[str])
    _doubts: Counter[str] = field(default_factory=Counter[str])

    def __post_init__(self) -> None:
        self.examiner, self.source = self.phase.examiner, self.phase.source

    def run(self, bases: Sequence[AnyTrace]) -> None:
        """Send changed messages until all were sent or the time is over."""
        pick = random.Random(self.seed)
        chosen = _various(pick.sample(bases, len(bases)))[:RUNS]
        sites: dict[tuple[str, str], list[_Site]] = {}
        for runs in (chosen[:FIRST], chosen[FIRST:]):
            for site, place in self._sites(runs):
                sites.setdefault((place, _type(site.value)), []).append(site)
            if not self.passed_on:
                self.closed = not self.phase.over()
                return
        sites = {(f"{place}{FIXED}" if _is_fixed(some) else place, kind): some for (place, kind), some in sites.items()}
        for key, found in sites.items():
            some = sorted(found, key=lambda one: one.step)
            sites[key] = [*[one for one in some if _counts(one.trace.steps[one.step])][:NEAR], *some[:1]]
        queue = (
            (key, pick.choice(some), rank)
            for rank in range(len(VALUES) + len(LIMITS) + 4)
            for key, some in sites.items()
        )
        waiting: list[_Waiting] = []
        for key, site, rank in queue:
            values = list(_values(site))
            if rank < len(values) and (*key, rank) not in self.sent and self._open(key[0]):
                waiting.append((*self._changed(key[0], site, *values[rank]), (*key, rank)))
            if len(waiting) == BATCH:
                self._send(waiting)
                waiting = []
            if self.phase.over():
                return
        self._send(waiting)

    def _open(self, place: str) -> bool:
        return place not in self._failed and self._doubts[place] < DOUBTS

    def defects(self) -> Iterator[Defect]:
        """Yield one defect for each cause; what fails in one way nearly anywhere is one, or around agents' words."""
        alike: dict[tuple[str, ...], list[tuple[Divergence, int]]] = {}
        for one, count in self._found.values():
            place = "" if one.raw is None else one.raw.place
            key = place.rpartition(".")[2]
            ways = sorted(kind.removeprefix(f"{place}: ").replace(f"'{key}'", "its key") for kind in one.kinds)
            alike.setdefault((one.what, *ways), []).append((one, count))
        around = list[tuple[Divergence, int]]()
        for group in alike.values():
            if len(group) >= MANY_WAYS:
                yield _joined(group, frozenset(kind for one, _ in group for kind in one.kinds))
                continue
            around += (some for some in group if _is_around(some[0]))
            yield from (Defect(*some) for some in group if not _is_around(some[0]))
        if around:
            yield _joined(around, frozenset({ENVELOPE}))

    def _sites(self, bases: Sequence[AnyTrace]) -> Iterator[tuple[_Site, str]]:
        """Yield every value in the messages of some runs, and how its place is called."""
        requests = [self.examiner.coder.request(base) for base in bases]
        asked = [replace(one, actions=tuple(with_raw(action, None) for action in one.actions)) for one in requests]
        for base, response in zip(bases, self._asked(asked), strict=False):
            names = frozenset(Words(base.scenario.config, self.examiner.coder.system.readings).texts)
            for step, told in response.raw.items():
                messages = cast("dict[str, Any]", told).get("messages") if isinstance(told, dict) else None
                for number, message in enumerate(cast("list[Json]", messages or ())):
                    if message is None:  # no JSON, or nothing
                        continue
                    self.passed_on = True
                    for at, value in _walk(message):
                        yield _Site(base, step, number, at, value), _called(message, at, names)

    def _asked(self, requests: Sequence[KernelRequest]) -> Iterator[KernelResponse]:
        for response in self.source.ask(requests):
            self.phase.count(RAW, response)
            yield response

    def _changed(
        self, place: str, site: _Site, at: tuple[str | int, ...], said: str | None
    ) -> tuple[AnyTrace, ChangedMessage]:
        """A run that begins and ends near the changed message."""
        scenario, step = site.trace.scenario, site.trace.steps[site.step]
        first = site.step if step.before == scenario.start else 0
        actions = scenario.actions[first : site.step + 1 + AFTER]
        raw = RawValue(site.message, [*at], UNSET if said is None else said)
        trace = self.examiner.coder.trace(replace(scenario, actions=actions))
        named = place if at == site.at else f"{NO_KEY} of {place}"
        return trace, ChangedMessage(site.step - first + 1, named, raw)

    def _send(self, waiting: Sequence[_Waiting]) -> None:
        """Send changed messages; each fault counts only if it shows again in a new process, and not without them."""
        plain = [self.examiner.coder.request(trace) for trace, _, _ in waiting]
        asked = [with_change(request, one) for (_, one, _), request in zip(waiting, plain, strict=True)]
        responses = list(self._asked(asked))
        self.sent.update(key for _, _, key in waiting)
        for (trace, one, _), request, response in zip(waiting, plain, responses, strict=True):
            found = judged(one, self.examiner, trace, request, response)
            if found is None or not self._open(one.place):
                continue
            known = self._found.get(found.kinds)
            if known is not None or self._again(trace, one, request, found.kinds):
                self._failed.add(one.place)
                shorter = found if known is None else min(known[0], found, key=lambda one: one.length)
                self._found[found.kinds] = shorter, 1 if known is None else known[1] + 1
            else:
                self._doubts[one.place] += 1

    def _again(self, trace: AnyTrace, one: ChangedMessage, plain: KernelRequest, kinds: frozenset[str]) -> bool:
        self.source.renew()
        without, changed = self._asked([plain, with_change(plain, one)])
        agrees = self.examiner.examine(trace, plain, without, RAW, judged=False) is None and not without.unsupported
        found = judged(one, self.examiner, trace, plain, changed)
        self.source.renew()
        return agrees and found is not None and found.kinds == kinds


def _joined(group: Sequence[tuple[Divergence, int]], kinds: frozenset[str]) -> Defect:
    best = min((one for one, _ in group), key=lambda one: one.length)
    return Defect(replace(best, kinds=kinds), sum(count for _, count in group))


def _is_around(found: Divergence) -> bool:
    """Whether a kernel fails, in no line that is known, at a message itself or at a word that is the same in all."""
    place = "" if found.raw is None else found.raw.place
    unknown = found.what == "fails" and any(kind.startswith(f"{place}: ") for kind in found.kinds)
    return unknown and (place.startswith(WHOLE) or place.endswith(FIXED))


def _is_fixed(sites: Sequence[_Site]) -> bool:
    """Whether one word stands at a place, right within a message, in all messages."""
    words = {one.value if isinstance(one.value, str) else None for one in sites}
    return len(sites[0].at) == 1 and len(sites) > 1 and len(words) == 1 and None not in words


def _counts(step: AnyStep) -> bool:
    return bool(step.after != step.before)


def _various(bases: Sequence[AnyTrace]) -> list[AnyTrace]:
    """The runs, first those that take an action of a kind, to some effect or none, that those before do not take."""
    seen, first, rest = set[Any](), list[AnyTrace](), list[AnyTrace]()
    for base in bases:
        kinds = {(kind_of(step.action), _counts(step)) for step in base.steps}
        (rest if kinds <= seen else first).append(base)
        seen |= kinds
    return [*first, *rest]


def _walk(value: Json, at: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    yield at, value
    if isinstance(value, dict):
        for key, one in cast("dict[str, Json]", value).items():
            yield from _walk(one, (*at, key))
    elif isinstance(value, list):
        for number, one in enumerate(cast("list[Json]", value)[:ITEMS]):
            yield from _walk(one, (*at, number))


def _called(message: Json, at: Sequence[str | int], names: frozenset[str]) -> str:
    """The way to a value in words, without names and numbers; a whole message by its keys."""
    if not at:
        named = [*cast("dict[str, Json]", message)] if isinstance(message, dict) else [_type(message)]
        keys = [key for key in named if key not in names]
        return f"{WHOLE} ({', '.join(keys)})"
    return "".join("[]" if isinstance(key, int) else f".{'*' if key in names else key}" for key in at)


def _type(value: Json) -> str:
    """The JSON type of a value."""
    return _TYPES[type(value)]


def _values(site: _Site) -> Iterator[tuple[tuple[str | int, ...], str | None]]:
    """Yield what may stand in a place instead: where it is put, and its JSON text; None if nothing."""
    at, value = site.at, site.value
    kind, said = _type(value), text(value)
    others = [one for one in VALUES if _type(json.loads(one)) != kind]
    if kind in ("text", "number"):
        yield at, f"[{said}]" if kind == "text" else f'"{said}"'
    if at and isinstance(at[-1], str):
        yield at, None
    yield from ((at, one) for one in others[:3])
    yield from ((at, one) for one in LIMITS if kind == "number")
    if isinstance(value, list):
        yield from ((at, text(one)) for one in cast("list[Json]", value)[:1])
    if kind == "object":
        yield (*at, NO_KEY), "null"
    yield from ((at, one) for one in others[3:])
