"""Compare two readings, or a mutant and the reference, in every system of a protocol.

Each system is searched breadth-first over pairs of states for a shortest scenario; without one, the two are equal in
that scope.  If a bound is hit, runs are drawn.  Compared is what steps show, what the protocol's observers read, and
the next action where strategies leave no choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from msgspec import to_builtins

from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json
from evenhand.core.codec import encode
from evenhand.core.grouping import grouped
from evenhand.core.lookup import UnknownName, named
from evenhand.core.system import AnySystem, Scope
from evenhand.core.text import changes, inert
from evenhand.evidence.record import encode_run
from evenhand.evidence.story import trace_lines
from evenhand.jobs.plan import chosen_readings
from evenhand.search.estimate import estimate
from evenhand.variants.separate import Separation, separate

MAX_STEPS = 20_000
"""Steps compared in each system before drawing takes over."""


@dataclass(frozen=True)
class Sides:
    """Two variants of one system to compare, and their names."""

    left: AnySystem
    right: AnySystem
    left_name: str
    right_name: str


@dataclass(frozen=True)
class Compared:
    """The result of a comparison in one system, at one scope."""

    sides: Sides
    found: Separation

    @property
    def system(self) -> str:
        """The system's name."""
        return self.sides.left.name

    @property
    def scope(self) -> Scope:
        """The sizes of the comparison."""
        return self.sides.left.scope

    @property
    def where(self) -> str:
        """The system, and its sizes if it has any."""
        return f"{self.system} at {self.scope}" if self.scope else self.system


@dataclass(frozen=True)
class Comparison:
    """The result of a comparison: `places` in the order of the search, smallest first."""

    protocol: str
    left: str
    right: str
    places: tuple[Compared, ...]

    @property
    def best(self) -> Compared | None:
        """The place with the shortest separating scenario, the first of several; None without one."""
        apart = [place for place in self.places if place.found.separated]
        return min(apart, key=lambda place: place.found.length or 0) if apart else None

    @property
    def equal(self) -> bool:
        """Whether every place was searched completely and none separates the two."""
        return bool(self.places) and all(place.found.equal for place in self.places)

    @property
    def exit_code(self) -> int:
        """0 for an answer, separated or equal in scope; 3 if neither is known."""
        return 0 if self.best is not None or self.equal else 3

    def sentence(self) -> str:
        """Return the answer in one sentence, with its bound."""
        best = self.best
        if best is not None:
            sure = "no shorter one in" if best.found.minimal else "drawn, perhaps not the shortest, in"
            return f"separated in {_actions(best.found.length)} ({sure} {best.where})"
        where = ", ".join(place.where for place in self.places if place.found.equal)
        if self.equal:
            return f"equal in {where}; beyond that scope nothing is known: no theorem says so"
        open_ = ", ".join(f"{p.where} ({p.found.steps:,} steps)" for p in self.places if not p.found.equal)
        return f"not known: no difference found in {open_}" + (f"; equal in {where}" if where else "")

    def to_json(self) -> dict[str, Json]:
        """Return the comparison as JSON; `scenario` is None unless separated."""
        best = self.best
        return {
            "format": "evenhand/comparison",
            "version": 1,
            "protocol": self.protocol,
            "left": self.left,
            "right": self.right,
            "separated": best is not None,
            "equal": self.equal,
            "length": None if best is None else best.found.length,
            "minimal": best is not None and best.found.minimal,
            "scenario": None if best is None else _scenario(best),
            "answer": inert(self.sentence()),
            "places": [_place(place) for place in self.places],
        }


def _actions(count: int | None) -> str:
    return f"{count} action{'' if count == 1 else 's'}"


def _scenario(place: Compared) -> dict[str, Json]:
    found, sides = place.found, place.sides
    assert found.scenario is not None and found.shown is not None
    read = found.read or ({}, {})
    return {
        "system": place.system,
        "scope": dict(place.scope),
        "run": to_builtins(encode_run(found.scenario)),
        "differs_in": found.by,
        "left": {"shown": encode(found.shown[0]), "read": {name: encode(value) for name, value in read[0].items()}},
        "right": {"shown": encode(found.shown[1]), "read": {name: encode(value) for name, value in read[1].items()}},
        "trace": list(trace_lines(sides.left, found.scenario)),
    }


def _place(place: Compared) -> dict[str, Json]:
    found = place.found
    names = ("separated", "equal", "same_state", "length", "minimal", "states", "steps")
    own = {name: getattr(found, name) for name in names}
    return {"system": place.system, "scope": dict(place.scope), "differs_in": found.by, **own}


def sides_of(
    bundle: Bundle,
    *,
    readings: Sequence[str] = (),
    mutant: str = "",
    system: str = "",
    scope: Scope | None = None,
) -> tuple[Sides, ...]:
    """Return one pair to compare for each system (or for `system`), readings written as on the command line.

    A reading given once is compared with its default (with a mutant: holds on both sides); given twice, its two values
    are compared.  A mutant is compared where it is a fault.  Raises UnknownName or ValueError for an unknown name,
    nothing to compare, or a reading given three times.
    """
    systems = bundle.model.systems
    if system:
        named(f"system of {bundle.name}:", system, systems)
    if mutant:
        return (_of_mutant(bundle, mutant, readings, system, scope),)
    if scope and not system and not any(set(scope) <= set(base.scope) for base in systems.values()):
        known = {name for base in systems.values() for name in base.scope}
        for name in scope:
            if name not in known:
                raise UnknownName("scope field", name, known)
        raise ValueError(f"no system of {bundle.name} has all of {', '.join(scope)}; name one with --system")
    first, second = _two_choices(readings)
    found: list[Sides] = []
    for name, base in systems.items():
        if system in ("", name):
            at = base.at(**dict(scope or {})) if scope and (system or set(scope) <= set(base.scope)) else base
            left, right = (at.under(**dict(chosen_readings(base, chosen))) for chosen in (first, second))
            if left.readings == right.readings:
                raise ValueError(f"{' '.join(readings)} is the default: name another value, or two")
            found.append(Sides(left, right, _named(first), _named(second)))
    return tuple(found)


def _of_mutant(bundle: Bundle, name: str, readings: Sequence[str], system: str, scope: Scope | None) -> Sides:
    mutant = bundle.mutant(name, system)
    base = bundle.model.systems[mutant.system].at(**{**dict(mutant.scope), **dict(scope or {})})
    left = base.under(**dict(mutant.readings)).under(**dict(chosen_readings(base, readings)))
    return Sides(left, replace(left, rules=mutant.rules, variant=name), "reference", name)


def _two_choices(readings: Sequence[str]) -> tuple[list[str], list[str]]:
    """The readings of either side: one given once goes to the second side, one given twice to both."""
    if not readings:
        raise ValueError("nothing to compare: give --reading NAME=VALUE (once or twice) or --mutant NAME")
    given = grouped((text.partition("=")[0], text) for text in readings)
    first: list[str] = []
    second: list[str] = []
    for name, texts in given.items():
        if len(texts) > 2:
            raise ValueError(f"--reading {name} is given {len(texts)} times; two values are compared at a time")
        first += texts[:-1]
        second += texts[-1:]
    return first, second


def _named(chosen: Sequence[str]) -> str:
    return " ".join(chosen) or "default"


def compare(
    bundle: Bundle,
    sides: Iterable[Sides],
    *,
    max_steps: int = MAX_STEPS,
    examples: int = 200,
    steps: int = 20,
    seed: int = 0,
    progress: Callable[[str, int], None] = lambda _words, _steps: None,
) -> Comparison:
    """Search for the smallest scenario that separates the two sides, system by system, smallest search first.

    `max_steps` bounds the steps in each system; if none separates, `examples` runs of `steps` actions are drawn in
    those not searched completely.  Raises ValueError for no sides.
    """
    ordered = sorted(sides, key=lambda one: _size(one.left))
    if not ordered:
        raise ValueError("nothing to compare")
    places: list[Compared] = []
    for one in ordered:
        progress(one.left.name, 1)
        found = separate(
            one.left,
            one.right,
            observers=bundle.observers_of(one.left.name),
            forced=True,
            max_steps=max_steps,
            examples=0,
        )
        places.append(Compared(one, found))
        if found.length == 1:  # nothing is shorter
            break
    if examples and not any(place.found.separated for place in places):
        places = [_drawn(bundle, place, examples, steps, seed) for place in places]
    return Comparison(bundle.name, ordered[0].left_name, ordered[0].right_name, tuple(places))


def _size(system: AnySystem) -> int:
    about = estimate(system)
    return 10**18 if about is None else about


def _drawn(bundle: Bundle, place: Compared, examples: int, steps: int, seed: int) -> Compared:
    """The same place after drawing, unless it was searched completely."""
    if place.found.equal:
        return place
    sides = place.sides
    found = separate(
        sides.left,
        sides.right,
        observers=bundle.observers_of(place.system),
        forced=True,
        max_states=1,
        max_steps=1,
        generator=bundle.generator_of(place.system),
        examples=examples,
        steps=steps,
        seed=seed,
    )
    before = place.found
    states, total = before.states, before.steps + found.steps
    return replace(place, found=replace(found, minimal=False, states=states, steps=total, complete=False))


def written(comparison: Comparison) -> list[str]:
    """Return the answer as lines: one sentence, then the scenario step by step."""
    lines = [f"{comparison.left} and {comparison.right}: {comparison.sentence()}"]
    best = comparison.best
    if best is None or best.found.scenario is None or best.found.shown is None:
        return lines
    lines += [f"  {line}" for line in trace_lines(best.sides.left, best.found.scenario)]
    lines.append(f"  where they differ in the last step, {comparison.left} → {comparison.right}:")
    if best.found.by == "observed" and best.found.read is not None:
        lines.append("    both show the same")
        lines += [f"    {line}" for line in changes(*best.found.read)]
    else:
        lines += [f"    {line}" for line in changes(*best.found.shown)]
    return lines
