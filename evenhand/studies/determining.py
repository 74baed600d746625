"""Decide by search whether claims determine a system's steps, and find the claims that each are needed for it.

Take a step of the reference.  A *rival* has the same configuration, state and action, but shows something else or leads
elsewhere: any combination of values that its fields take in steps of the same configuration.  Claims determine the step
if every rival violates one of them.  A claim is *needed* if some rival violates it alone.  If the needed claims
determine every step by themselves, they are the one smallest set that does.

Rivals are not listed one by one: a claim is asked about a rival of which no field is chosen yet, and a field gets a
value only when a claim reads it.  A claim that is false before it has read the rest refutes all rivals that agree so
far.  Claims that remember a run, and those that compare runs, are left out: one step does not refute them.  So are
claims that are not expected to hold.  A claim that raises on a rival refutes nothing, as with mutants.

A rival that no claim refutes is asked about once more as a plain step, with the reference's own values in the fields
that no claim read.  It counts only if every claim answers there and none is false; otherwise nothing is decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from itertools import islice
from typing import Any, TypeAlias, cast

from evenhand.core.answers import ModelError, Signal
from evenhand.core.bundle import Bundle
from evenhand.core.freedom import freedom_of
from evenhand.core.kinds import Property, Safety
from evenhand.core.system import AnyStep, AnySystem
from evenhand.core.verdict import Status

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

    steps: int = 0
    open: tuple[Rival, ...] = ()
    needed: Mapping[str, Rival] = field(default_factory=dict[str, Rival])

    @property
    def left_open(self) -> tuple[str, ...]:
        """The fields in which some rival that violates no claim differs, such as `after.place`."""
        return tuple(sorted({".".join(filter(None, place)) for one in self.open for place in one.differs}))


@dataclass(frozen=True)
class Looked:
    """What claims fix in several configurations of a system.

    `walked` steps, whose values the rivals combine; `steps` of them looked at; `complete` if these were all steps of
    the configurations.  `left_open` are the fields in which rivals differ that no claim refutes; `rival` is the first
    of them that replays as a plain step, beside the reference's.  `because` says why nothing is decided.
    """

    configs: int
    walked: int
    steps: int
    complete: bool
    left_open: tuple[str, ...]
    needed: tuple[str, ...]
    rival: tuple[AnyStep, AnyStep] | None = None
    because: str = ""

    @property
    def status(self) -> Status:
        """HOLDS: the claims determine these steps.  REFUTED: a rival replays.  UNDECIDED: none does, some are left."""
        if self.rival is not None:
            return Status.REFUTED
        return Status.UNDECIDED if self.because or not self.steps else Status.HOLDS


class Unread(Signal):
    """A claim reads a field that has no value yet."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.place = place


FIRST = 1_000
"""Steps of a configuration that are walked, breadth first."""


def first_steps(system: AnySystem, config: Any, most: int = FIRST) -> list[AnyStep]:
    """Return the first steps of one configuration, breadth first, `most` at most."""
    states = list(system.initial(config))
    known, found = set(states), list[AnyStep]()
    for state in states:
        for action in islice(system.enabled(config, state), most - len(found)):
            found.append(system.take(config, state, action))
            if found[-1].after not in known:
                known.add(found[-1].after)
                states.append(found[-1].after)
    return found


def claims_that_hold(
    bundle: Bundle, system: str, readings: Mapping[str, Any], names: Collection[str] = ()
) -> tuple[Property, ...]:
    """Return the claims of a system (those in `names`, if any) that every engine is expected to find true of it."""
    return tuple(
        one
        for one in bundle.claims_of(system)
        if (not names or one.name in names)
        and all(
            bundle.expectation(one.name, system, engine, readings).expected is Status.HOLDS
            for engine in ("explore", "fuzz", "prove")
        )
    )


def looked_at(
    system: AnySystem, claims: Sequence[Property], configs: Iterable[Any], some: int, *, needs: bool
) -> Looked:
    """Return what the claims fix of about `some` steps of each configuration, spread evenly over the first ones."""
    counts = Counter[str]()
    left, needed, rival, because, complete = set[str](), set[str](), None, "", True
    for config in configs:
        steps = first_steps(system, config, FIRST + 1)
        complete &= len(steps) <= min(FIRST, some)
        del steps[FIRST:]
        found = determined(claims, steps, max(1, len(steps) // some), needs=needs)
        counts.update(configs=1, walked=len(steps), steps=found.steps)
        left.update(found.left_open)
        needed.update(name for name, one in found.needed.items() if _false(claims, completed(one, steps)[1]) == {name})
        for one in found.open if rival is None else ():
            own, plain = completed(one, steps)
            why = _answered(claims, plain)
            because = because or why
            if not why:
                rival = own, plain
                break
    return Looked(
        counts["configs"],
        counts["walked"],
        counts["steps"],
        complete,
        tuple(sorted(left)),
        tuple(sorted(needed)),
        rival,
        because,
    )


def completed(rival: Rival, steps: Sequence[AnyStep]) -> tuple[AnyStep, AnyStep]:
    """Return the reference's step and the rival as a plain one.

    Fields that no claim read are the reference's if the rival differs elsewhere; otherwise the first of them has
    another value that occurs.
    """
    at = rival.step
    own = next(one for one in steps if (one.before, one.action) == (at.before, at.action))
    chosen = dict(rival.chosen)
    if not any(place in chosen for place in rival.differs):
        (part, name), *_ = rival.differs
        values = values_of(steps)[part, name]
        chosen[part, name] = next(
            value for value in values if _differs(own, (part, name), {(part, name): value}, values)
        )
    parts: dict[str, Any] = {"shown": own.shown, "after": own.after}
    for (part, name), value in chosen.items():
        parts[part] = replace(parts[part], **{name: value}) if name else value
    return own, replace(own, **parts)


def _speaking(claims: Sequence[Property], step: AnyStep) -> Iterator[Safety]:
    """The claims that one step can refute, where they apply."""
    return (one for one in claims if isinstance(one, Safety) and one.reads != "histories" and one.applies(step.config))


def _false(claims: Sequence[Property], step: AnyStep) -> set[str]:
    """The claims that are false of a plain step; one that raises there is not."""
    return {one.name for one in _speaking(claims, step) if not _kept(one, step)}


def _answered(claims: Sequence[Property], step: AnyStep) -> str:
    """Say which claim is false of a plain step, or cannot be evaluated; empty if there is none."""
    for claim in _speaking(claims, step):
        try:
            if claim.at(step.config, None, step) is False:
                return f"{claim.name} is false of a whole step, but cannot be evaluated on one that is known in part"
        except ModelError as error:
            return f"{claim.name} raises on a step of other values: {error}"
    return ""


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
        whole = len(kinds) != 1 or not is_dataclass(records[0])
        for record in records:
            for name in ("",) if whole else tuple(one.name for one in fields(record)):
                value = getattr(record, name) if name else record
                found.setdefault((part, name), {}).setdefault(_content(type(record), name, value), value)
    return {place: tuple(values.values()) for place, values in found.items()}


def _content(kind: Any, name: str, value: Any) -> Hashable:
    """What of a value the text determines: whether a free text is empty, how often entries occur in a free order."""
    freedom = freedom_of(kind).get(name) if name else None
    if freedom is None or freedom.beside or value in freedom.named:
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
    """Whether a claim is not false; one that raises on a rival refutes nothing."""
    try:
        return claim.at(rival.config, None, rival) is not False
    except ModelError:
        return True


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
