"""Submissions on which theory and model are compared: what a good agent says, and ways to say it a little wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

from evenhand.model.apcm.generators import artifact_of
from evenhand.model.apcm.menus import action_names, preference_names, situation
from evenhand.model.apcm.step import ApcmStep
from evenhand.model.apcm.vocabulary import MAINTAIN, REVISE, Act, Config, Fields, Situation, State, Submit
from evenhand.model.system import System

__all__ = ["samples", "samples_in_groups", "samples_of_precedents"]

_TWO, _THREE = preference_names(2), preference_names(3)
_SITUATIONS: tuple[tuple[tuple[str, ...], Situation], ...] = (
    (_TWO, situation(_TWO, a1="P1", a2="P2")),
    (_TWO, situation(_TWO, a1="", a2="P1")),
    (_TWO, situation(_TWO, a1="P1", a2="P1 P2")),
    (_TWO, situation(_TWO, a1="P2", a2="P1 P2")),
    (_TWO, situation(_TWO, a1="P1", a2="P1")),
    (_TWO, situation(_TWO, a1="", a2="")),
    (_THREE, situation(_THREE, a1="P1 P2", a2="P3")),
    (_THREE, situation(_THREE, a1="P1", a2="P2", a3="P3")),
)
_PAST = (Fields(("P1",), (), (("P1", "P2"),)), Fields((), ("P1",), ()))
"""Previous artefacts."""


def _told(preferences: tuple[str, ...], published: Situation) -> Iterator[Fields]:
    """For each feasible action what would permit it, and that with one thing taken away or added."""
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
    for preferences, published in _SITUATIONS:
        config = Config(action_names(3), preferences, (published,), steps=2)
        said = tuple(dict.fromkeys(_told(preferences, published)))
        found += [(config, State(), Submit(artifact_of(fields, None))) for fields in said]
        for old in _PAST if published is _SITUATIONS[0][1] else ():
            state = State(1, old)
            for mode in (REVISE, MAINTAIN):
                for fields in (old, replace(old, rp=("P2",)), replace(old, av=()), replace(old, pairs=())):
                    found.append((config, state, Submit(artifact_of(fields, old, mode))))
            found.append((config, state, Submit(artifact_of(old, None, MAINTAIN))))
        found.append((config, State(), Submit(artifact_of(said[0], None, MAINTAIN))))
        found.append((config, State(), Submit(replace(artifact_of(said[0], None), previous_artifact_digest="none"))))
    return tuple(found)


def samples(system: System[Any, Any, Any, Any, Any]) -> Iterator[ApcmStep]:
    """The samples, as steps of any variant of the system."""
    for config, state, action in _starts():
        yield system.take(config, state, action)


def samples_in_groups(system: System[Any, Any, Any, Any, Any]) -> Iterator[ApcmStep]:
    """A third of the samples, and those with a collision of all preferences, which the repaired rules allow."""
    yield from islice(samples(system), 0, None, 3)
    for preferences, published in _SITUATIONS:
        config = Config(action_names(3), preferences, (published,), steps=2)
        for fields in dict.fromkeys(_told(preferences, published)):
            if fields.pairs:
                yield system.take(config, State(), Submit(artifact_of(replace(fields, pairs=(preferences,)), None)))


def samples_of_precedents(system: System[Any, Any, Any, Any, Any]) -> Iterator[ApcmStep]:
    """The same submission after each of several previous artefacts, by the right digest or a wrong one."""
    precedents = (*_PAST, Fields(("P1",), ("P2",), (("P1", "P2"),)), Fields((), (), ()))
    for preferences, published in _SITUATIONS[:3]:
        config = Config(action_names(3), preferences, (published,), steps=2)
        for fields in dict.fromkeys((*_told(preferences, published), *precedents)):
            for old in precedents:
                for mode in (REVISE, MAINTAIN):
                    yield system.take(config, State(1, old), Submit(artifact_of(fields, old, mode)))
                wrong = replace(artifact_of(fields, old), previous_artifact_digest="none")
                yield system.take(config, State(1, old), Submit(wrong))
