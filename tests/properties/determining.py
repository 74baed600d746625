"""Decide by search whether claims determine a system's steps, and find the claims that each are needed for it.

Take a step of the reference.  A *rival* has the same configuration, state and action, but shows something else or leads
elsewhere: any combination of values that its fields take in steps of the same configuration.  Claims determine the step
if every rival violates one of them.  A claim is *needed* if some rival violates it alone.  If the needed claims
determine every step by themselves, they are the one smallest set that does.

Rivals are not listed one by one: a claim is asked about a rival of which no field is chosen yet, and a field gets a
value only when a claim reads it.  A claim that is false before it has read the rest refutes all rivals that agree so
far.  Claims that remember a run, and those that compare runs, are left out: one step does not refute them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeAlias, cast

from evenhand.core.answers import ModelError, Signal
from evenhand.core.freedom import freedom_of
from evenhand.core.kinds import Property, Safety
from evenhand.core.system import AnyStep

PARTS = ("shown", "after")
Place: TypeAlias = tuple[str, str]
"""A part of a step and the name of a field of it; no name for a part that is no record."""

Values: TypeAlias = Mapping[Place, Sequence[Any]]
Chosen: TypeAlias = dict[Place, Any]
Kept: TypeAlias = dict[Place, tuple[int, int]]


@dataclass(frozen=True)
class Rival:
    """A step that is not the reference's: the fields that a claim read, where it differs, the claim that it violates.

    A field that no claim read may have any value.
    """

    step: AnyStep
    chosen: tuple[tuple[Place, Any], ...]
    differs: tuple[Place, ...]
    violates: str | None


@dataclass(frozen=True)
class Determined:
    """What was looked at, the rivals that violate no claim, and one rival for each claim that it violates alone."""

    steps: int
    open: tuple[Rival, ...]
    needed: Mapping[str, Rival]

    @property
    def left_open(self) -> tuple[str, ...]:
        """The fields in which some rival that violates no claim differs, such as `after.place`."""
        return tuple(sorted({".".join(filter(None, place)) for one in self.open for place in one.differs}))


class Unread(Signal):
    """A claim reads a field that has no value yet."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.place = place


def determined(
    claims: Sequence[Property], steps: Sequence[AnyStep], every: int = 1, *, needs: bool = True
) -> Determined:
    """Return whether the claims determine every `every`-th of these steps of one configuration.

    The values of each field are those of all the steps.  Without `needs` the needed claims are not looked for, which is
    faster.
    """
    asked = [one for one in claims if isinstance(one, Safety) and one.reads != "histories"]
    values = values_of(steps)
    done = set[str]() if needs else {one.name for one in asked}
    looked, found, needed, kept = steps[::every], list[Rival](), dict[str, Rival](), Kept()
    for step in looked:
        speaking = [one for one in asked if one.applies(step.config) and one.at(step.config, None, step) is not False]
        for rival in rivals(speaking, step, values, done, kept):
            if rival.violates is None:
                found.append(rival)
            else:
                done.add(rival.violates)
                needed[rival.violates] = rival
    return Determined(len(looked), tuple(found), needed)


def values_of(steps: Iterable[AnyStep]) -> Values:
    """Return the values of each field in these steps, one for each content that the text tells apart."""
    steps = list(steps)
    found: dict[Place, dict[Any, Any]] = {}
    for part in PARTS:
        records = [getattr(step, part) for step in steps]
        kinds: set[Any] = {type(one) for one in records}
        whole = len(kinds) > 1 or not is_dataclass(records[0])
        for record in records:
            for name in ("",) if whole else tuple(one.name for one in fields(record)):
                value = getattr(record, name) if name else record
                found.setdefault((part, name), {}).setdefault(_content(type(record), name, value), value)
    return {place: tuple(values.values()) for place, values in found.items()}


def _content(kind: Any, name: str, value: Any) -> Hashable:
    """What of a value the text determines: whether a free text is empty, how often entries occur in a free order."""
    freedom = freedom_of(kind).get(name) if name else None
    if freedom is None or value in freedom.named:
        return cast("Hashable", value)
    return frozenset[Any](Counter[Any](value).items()) if freedom.free == "orders" else bool(value)


def rivals(
    claims: Sequence[Safety], step: AnyStep, values: Values, done: Collection[str], kept: Kept
) -> Iterator[Rival]:
    """Yield the rivals of a step that violate no claim, or one alone that is not in `done`; fields that nobody read are
    left out.

    `kept` remembers from step to step how many values of each field were left when it was chosen.
    """
    waiting: list[tuple[Chosen, Sequence[Safety], str | None]] = [({}, claims, None)]
    while waiting:
        chosen, pending, violated = waiting.pop()
        rival = _partial(step, chosen, values)
        wanted, later = dict[Place, None](), list[Safety]()
        alive = violated not in done
        for claim in pending if alive else ():
            try:
                if not _kept(claim, rival):
                    alive = violated is None and claim.name not in done
                    violated = claim.name
            except Unread as unread:
                wanted[unread.place] = None
                later.append(claim)
            if not alive:
                break
        _count(kept, chosen, alive)
        if not alive:
            continue
        if not wanted:
            differs = tuple(place for place in values if _differs(step, place, chosen, values[place]))
            if differs:
                yield Rival(rival, tuple(chosen.items()), differs, violated)
            continue
        place = min(wanted, key=lambda one: _branches(kept, one, len(values[one])))
        waiting += [({**chosen, place: value}, later, violated) for value in values[place]]


def _count(kept: Kept, chosen: Chosen, alive: bool) -> None:
    if chosen:
        place = next(reversed(chosen))
        tried, left = kept.get(place, (0, 0))
        kept[place] = tried + 1, left + alive


def _branches(kept: Kept, place: Place, count: int) -> float:
    """About how many of `count` values of a field some claim leaves, by what was seen so far."""
    tried, left = kept.get(place, (0, 0))
    return count * (left + 1) / (tried + 1)


def _kept(claim: Safety, rival: AnyStep) -> bool:
    """Whether a claim is not false; one that cannot be evaluated on a rival tells it apart as well."""
    try:
        return claim.at(rival.config, None, rival) is not False
    except ModelError:
        return False


def _differs(step: AnyStep, place: Place, chosen: Chosen, values: Sequence[Any]) -> bool:
    part, name = place
    record = getattr(step, part)
    own = _content(type(record), name, getattr(record, name) if name else record)
    return len(values) > 1 if place not in chosen else _content(type(record), name, chosen[place]) != own


def _partial(step: AnyStep, chosen: Chosen, values: Values) -> AnyStep:
    """The step with the chosen fields alone."""
    made: dict[str, Any] = {}
    for part in PARTS:
        if (part, "") not in values:
            own = {name: value for (of, name), value in chosen.items() if of == part}
            made[part] = _unknown(cast("type[Any]", type(getattr(step, part))), part, own)
        elif (part, "") in chosen:
            made[part] = chosen[part, ""]
    if len(made) == len(PARTS):
        return replace(step, **made)
    given = {one.name: getattr(step, one.name) for one in fields(step) if one.name not in PARTS}
    return cast("AnyStep", _unknown(type(step), "", {**given, **made}))


def _unknown(kind: type[Any], part: str, chosen: Mapping[str, Any]) -> Any:
    made: Any = object.__new__(_unknown_kind(cast("Any", kind), part))
    object.__setattr__(made, "_chosen", chosen)
    return made


@cache
def _unknown_kind(kind: type[Any], part: str) -> type[Any]:
    """A class whose records pass for those of `kind`, and raise Unread where a field without a value is read."""
    known = fields(cast("Any", kind))
    names = frozenset(one.name for one in known)
    compared = [one.name for one in known if one.compare]

    class Unknown(kind):  # type: ignore[misc]
        __slots__ = ("_chosen",)

        def __getattribute__(self, name: str) -> Any:
            if name == "__class__":
                return kind
            if name in names:
                chosen = object.__getattribute__(self, "_chosen")
                if name not in chosen:
                    raise Unread((part, name) if part else (name, ""))
                return chosen[name]
            return object.__getattribute__(self, name)

        def __eq__(self, other: object) -> bool:
            if other.__class__ is not kind:
                return NotImplemented
            chosen = object.__getattribute__(self, "_chosen")
            if any(name in chosen and chosen[name] != getattr(other, name) for name in compared):
                return False  # whatever the rest is
            return all(getattr(self, name) == getattr(other, name) for name in compared)

        __hash__ = kind.__hash__

    return Unknown
