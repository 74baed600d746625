"""Submissions on which theory and model are compared: those of a correct agent, and slightly wrong variants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice, product
from typing import Any

from hypothesis import strategies as st

from evenhand.core.system import System
from evenhand.model.apcm.generators import artifact_of
from evenhand.model.apcm.menus import action_names, entry, preference_names, situation, subsets
from evenhand.model.apcm.step import ApcmStep
from evenhand.model.apcm.vocabulary import MAINTAIN, REVISE, Act, Config, Fields, Situation, State, Submit
from evenhand.proofs.apcm.compiling import ACT, TEXT, feasible
from evenhand.smt.logic import Formula, Var, conjunction
from evenhand.smt.samples import Event, Samples, draw, steps_of

_TWO, _THREE = preference_names(2), preference_names(3)
SITUATIONS: tuple[tuple[tuple[str, ...], Situation], ...] = (
    (_TWO, situation(_TWO, a1="P1", a2="P2")),
    (_TWO, situation(_TWO, a1="", a2="P1")),
    (_TWO, situation(_TWO, a1="P1", a2="P1 P2")),
    (_TWO, situation(_TWO, a1="P2", a2="P1 P2")),
    (_TWO, situation(_TWO, a1="P1", a2="P1")),
    (_TWO, situation(_TWO, a1="", a2="")),
    (_THREE, situation(_THREE, a1="P1 P2", a2="P3")),
    (_THREE, situation(_THREE, a1="P1", a2="P2", a3="P3")),
)
PAST = (Fields(("P1",), (), (("P1", "P2"),)), Fields((), ("P1",), ()))
"""Previous artefacts."""


def _told(preferences: tuple[str, ...], published: Situation) -> Iterator[Fields]:
    """Yield fields that would permit each feasible action, and variants with one field changed."""
    pair = preferences[:2]
    for action in published.feasible:
        av = tuple(sorted(published.violates(action)))
        rp = tuple(p for p in preferences if p not in av)
        good = Fields(av, rp, (pair,) if av else ())
        yield good
        yield replace(good, rp=())
        yield replace(good, rp=preferences)
        yield replace(good, pairs=())
        yield replace(good, pairs=(pair,))
        yield replace(good, av=preferences)
        yield replace(good, av=())
    yield Fields((), (), ())
    yield Fields(preferences, preferences, (pair,))
    yield Fields(preferences[:1], (), (preferences[-2:],))


@cache
def _starts() -> tuple[tuple[Config, State, Act], ...]:
    found: list[tuple[Config, State, Act]] = []
    for preferences, published in SITUATIONS:
        config = Config(action_names(3), preferences, (published,), steps=2)
        said = tuple(dict.fromkeys(_told(preferences, published)))
        found += [(config, State(), Submit(artifact_of(fields, None))) for fields in said]
        for old in PAST if published is SITUATIONS[0][1] else ():
            state = State(1, old)
            for mode in (REVISE, MAINTAIN):
                for fields in (old, replace(old, rp=("P2",)), replace(old, av=()), replace(old, pairs=())):
                    found.append((config, state, Submit(artifact_of(fields, old, mode))))
            found.append((config, state, Submit(artifact_of(old, None, MAINTAIN))))
        found.append((config, State(), Submit(artifact_of(said[0], None, MAINTAIN))))
        found.append((config, State(), Submit(replace(artifact_of(said[0], None), previous_artifact_digest="none"))))
    return tuple(found)


samples = steps_of(_starts)
"""The samples, as steps of any variant of the system."""


def samples_in_groups(system: System[Any, Any, Any, Any, Any]) -> Iterator[ApcmStep]:
    """Return a third of the samples, and those with a collision of all preferences, which the repaired rules allow."""
    yield from islice(samples(system), 0, None, 3)
    for preferences, published in SITUATIONS:
        config = Config(action_names(3), preferences, (published,), steps=2)
        for fields in dict.fromkeys(_told(preferences, published)):
            if fields.pairs:
                yield system.take(config, State(), Submit(artifact_of(replace(fields, pairs=(preferences,)), None)))


def samples_of_precedents(system: System[Any, Any, Any, Any, Any]) -> Iterator[ApcmStep]:
    """Return the same submission after several previous artefacts, by the right digest or a wrong one."""
    precedents = (*PAST, Fields(("P1",), ("P2",), (("P1", "P2"),)), Fields((), (), ()))
    for preferences, published in SITUATIONS[:3]:
        config = Config(action_names(3), preferences, (published,), steps=2)
        for fields in dict.fromkeys((*_told(preferences, published), *precedents)):
            for old in precedents:
                for mode in (REVISE, MAINTAIN):
                    yield system.take(config, State(1, old), Submit(artifact_of(fields, old, mode)))
                wrong = replace(artifact_of(fields, old), previous_artifact_digest="none")
                yield system.take(config, State(1, old), Submit(wrong))


# Every small submission, and drawn ones.


def _every(_readings: Any) -> tuple[tuple[Config, State, Act], ...]:
    """Return all submissions of two actions and two preferences: every APCM, each with every REVISE artefact."""
    actions = action_names(2)
    found: list[tuple[Config, State, Act]] = []
    for violated in product(subsets(_TWO), repeat=2):
        apcm = tuple((name, entry(_TWO, ids)) for name, ids in zip(actions, violated, strict=True))
        config = Config(actions, _TWO, (Situation(actions, apcm),), steps=2)
        for av, rp, pairs in product(subsets(_TWO), subsets(_TWO), ((), (_TWO,))):
            found.append((config, State(), Submit(artifact_of(Fields(av, rp, pairs), None))))
    return tuple(found)


@st.composite
def _submission(draw_: st.DrawFn, precedent: bool) -> tuple[Config, State, Act]:
    """Draw fields that would permit some action of a drawn situation, mostly with one field changed."""
    actions = action_names(3)
    sets = st.sets(st.sampled_from(_THREE), max_size=2).map(lambda ids: tuple(sorted(ids)))
    shared = draw_(st.sampled_from(_THREE))
    violated = {name: draw_(sets) or (shared,) for name in actions}
    published = Situation(actions, tuple((name, entry(_THREE, violated[name])) for name in actions))
    config = Config(actions, _THREE, (published,), steps=2)
    av = violated[draw_(st.sampled_from(actions))]
    pairs = ((_THREE[0], _THREE[1]), (_THREE[0], _THREE[2]), (_THREE[1], _THREE[2]))
    good = Fields(av, tuple(p for p in _THREE if p not in av), (draw_(st.sampled_from(pairs)),) if av else ())
    wrong = (replace(good, av=draw_(sets)), replace(good, rp=draw_(sets)), replace(good, pairs=()))
    changed = draw_(st.sampled_from((good, good, *wrong)))
    if not precedent:
        return config, State(), Submit(artifact_of(changed, None))
    mode = draw_(st.sampled_from((MAINTAIN, MAINTAIN, REVISE)))
    old = draw_(st.sampled_from((good, good, Fields((), _THREE[:1], ()))))
    said = artifact_of(draw_(st.sampled_from((old, changed))), old, mode)
    if draw_(st.integers(0, 4)) == 0:
        said = replace(said, previous_artifact_digest="none")
    return config, State(1, old), Submit(said)


def _drawn(_readings: Any) -> tuple[tuple[Config, State, Act], ...]:
    strategies = {"first": _submission(False), "with a precedent": _submission(True)}
    return (*_starts(), *draw(strategies, 40))


def _code(name: str) -> Callable[[ApcmStep], bool]:
    return lambda step: any(error.code == name for error in step.shown.errors)


_EVENTS: dict[str, Event] = {
    "permits an action": (lambda step: bool(step.shown.permitted), 10),
    "gridlock": (lambda step: step.shown.gridlock, 5),
    "compiles under MAINTAIN": (lambda step: step.shown.compile_ok is True and step.shown.artifact.mode == MAINTAIN, 2),
    **{
        f"fails with {name}": (_code(name), 3)
        for name in (
            "E_FALSE_COLLISION",
            "E_GRATUITOUS_VIOLATION",
            "E_AV_WITHOUT_COLLISION",
            "E_PRECEDENT_VIOLATION",
            "E_DIGEST_MISMATCH",
        )
    },
}


def _visible(bound: tuple[Var, ...]) -> Formula:
    """Return that the action is feasible, because a step shows violations of feasible actions only."""
    return conjunction(feasible(variable) for variable in bound if variable.sort == ACT)


WORLDS = Samples(
    every=_every,
    upto="2 actions x 2 preferences with every REVISE artefact",
    drawn=_drawn,
    events=_EVENTS,
    restrictions=frozenset({"precedent_had_a_collision", "collisions_are_pairs"}),
    thin=3,
    whole=TEXT,
    visible=_visible,
)
"""Samples for theorems about single compiles; precedents that never compiled, and what is no pair, lie outside."""
