"""Generators of `apcm`: the configurations and rules that are drawn, and the coverage floors of rare events.

Drawn at random, hardly any artefact compiles and almost none permits a violation.  So one rule writes a good agent's
artefact, one weakens that in one place, one draws anything; hostile artefacts, precedents and selections have rules of
their own.  Configurations go beyond every scope that is searched: up to five actions, four preferences.
"""

from __future__ import annotations

from typing import Any

from evenhand.core.generator import Draw, Event, Generator, Rule, st
from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.apcm.generators import artifact_of
from evenhand.model.apcm.menus import (
    action_names,
    entry,
    hostile_artifacts,
    hostile_situations,
    preference_names,
)
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.vocabulary import (
    BYPASS,
    CONDITIONS,
    MAINTAIN,
    MVRA,
    REVISE,
    Act,
    Config,
    Fields,
    Select,
    Situation,
    State,
    Submit,
    parts_of,
)
from evenhand.properties.apcm.predicates import (
    ApcmStep,
    awaiting,
    blocked,
    compiles,
    covering,
    facts,
    minimal_sets,
    permits,
    published,
    said,
    submits,
    violations,
)

SCRAMBLED = ("swap", "turn", "silence", "unlink", "garble")


@st.composite
def _situations(draw: Any, actions: tuple[str, ...], preferences: tuple[str, ...]) -> Situation:
    kind = draw(st.sampled_from(("single", "single", "any", "any", "hostile", "empty")))
    if kind == "hostile":
        odd: Situation = draw(st.sampled_from(tuple(hostile_situations(actions, preferences))))
        return odd
    if kind == "empty":
        return Situation((), ())
    feasible = draw(st.lists(st.sampled_from(actions), unique=True, min_size=1))
    least = 1 if kind == "single" else 0
    most = 1 if kind == "single" else len(preferences)
    sets = st.frozensets(st.sampled_from(preferences), min_size=least, max_size=most)
    return Situation(
        tuple(sorted(feasible)), tuple((action, entry(preferences, draw(sets))) for action in sorted(feasible))
    )


def _configs(*, steps: int | None, most: int, generators: tuple[str, ...] = ("",), registry: int = 4) -> Any:
    @st.composite
    def made(draw: Any, readings: Readings) -> Config:
        actions = action_names(draw(st.integers(1, 5)))
        preferences = preference_names(draw(st.integers(1, registry)))
        many = draw(st.lists(_situations(actions, preferences), min_size=1, max_size=most))
        return Config(
            actions,
            preferences,
            tuple(many),
            condition=draw(st.sampled_from(CONDITIONS)) if generators[0] and steps != 1 else MVRA,
            generator=draw(st.sampled_from(generators)),
            selector=draw(st.sampled_from(("any", "any", "first", "last"))) if generators[0] else "any",
            scramble=draw(st.sampled_from(SCRAMBLED)),
            steps=steps,
            readings=readings,
        )

    def strategy(_scope: Scope, readings: Readings) -> st.SearchStrategy[Config]:
        return made(readings)

    return strategy


# Rules.


def _said(draw: Draw, config: Config, state: State) -> Fields:
    """A good agent's fields: a minimal violation set, everything else required, a truthful pair if there is one."""
    violates = violations(config.published(state))
    least = sorted(map(sorted, minimal_sets(violates))) or [[]]
    av = tuple(draw(st.sampled_from(least)))
    rp = tuple(p for p in config.preferences if p not in av)
    pairs = sorted(tuple(sorted(pair)) for pair in covering(config, violates))
    if not av or not pairs:
        return Fields(av, rp, ())
    chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=2, unique=True))
    return Fields(av, rp, tuple(sorted(pair if len(pair) == 2 else pair * 2 for pair in chosen)))


def _necessary(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    return Submit(artifact_of(_said(draw, config, state), state.previous))


def _subset(draw: Draw, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if draw(st.booleans()))


def _weakened(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    """One place changed: fewer preservations, a violation more, a pair fewer, or a false pair more."""
    said = _said(draw, config, state)
    match draw(st.sampled_from(("rp", "av", "pairs", "false"))):
        case "rp":
            said = replace(said, rp=_subset(draw, said.rp))
        case "av":
            more = draw(st.sampled_from(config.preferences))
            said = replace(said, av=tuple(sorted({*said.av, more})))
        case "pairs":
            said = replace(said, pairs=said.pairs[:-1])
        case _:
            if len(config.preferences) > 1:
                said = replace(said, pairs=tuple(sorted({*said.pairs, config.preferences[:2]})))
    return Submit(artifact_of(said, state.previous))


def _anything(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    names = config.preferences
    pairs = [(p, q) for place, p in enumerate(names) for q in names[place + 1 :]]
    declared = tuple(pair for pair in pairs if draw(st.integers(0, 2)) == 0)
    fields = Fields(_subset(draw, names), _subset(draw, names), declared)
    return Submit(artifact_of(fields, state.previous, draw(st.sampled_from((REVISE, REVISE, MAINTAIN)))))


def _maintain(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    """The previous fields again, now and then with one changed."""
    kept = parts_of(state.previous) or Fields((), (), ())
    if draw(st.integers(0, 3)) == 0:
        kept = replace(kept, rp=_subset(draw, config.preferences))
    return Submit(artifact_of(kept, state.previous, MAINTAIN))


def _hostile(draw: Draw, config: Config, _scope: Scope, state: State) -> Act:
    unlinked = artifact_of(_said(draw, config, state), None)
    return Submit(draw(st.sampled_from((unlinked, *hostile_artifacts(config.preferences, state.previous)))))


def _generate(_draw: Draw, _config: Config, _scope: Scope, _state: State) -> Act:
    return Submit()


def _select(draw: Draw, _config: Config, _scope: Scope, state: State) -> Act:
    return Select(draw(st.sampled_from(state.offered)))


def _select_anything(draw: Draw, config: Config, _scope: Scope, _state: State) -> Act:
    return Select(draw(st.sampled_from((*config.actions, "a_unknown"))))


def _submits(_config: Config, state: State) -> bool:
    return not state.over and not state.offered


def _selects(_config: Config, state: State) -> bool:
    return bool(state.offered)


_SELECTIONS = (
    Rule("select", _select, _selects),
    Rule("select again", _select, _selects),
    Rule("select anything", _select_anything, lambda _config, state: not state.over, hostile=True),
)
_SUBMISSIONS = (
    Rule("say what is necessary", _necessary, awaiting),
    Rule("say it and weaken it", _weakened, awaiting),
    Rule("say anything", _anything, _submits),
    Rule("send what no agent would", _hostile, _submits, hostile=True),
    Rule("submit out of turn", _anything, _selects, hostile=True),
)


# Events.


def _vacuous(step: ApcmStep) -> bool:
    known = facts(step) if compiles(step) else None
    return known is not None and bool(known.av) and bool(known.violates) and not known.keepers


def _in_a_block(step: ApcmStep) -> bool:
    return submits(step) and not step.shown.invalid and blocked(step.config, published(step))


def _maintained(step: ApcmStep) -> bool:
    return compiles(step) and step.shown.mode == MAINTAIN and said(step).equal is True


def _bypassed(step: ApcmStep) -> bool:
    return step.config.condition == BYPASS and step.shown.compile_ok is False


def _coded(code: str, floor: int) -> Event:
    return Event(code, lambda step: any([error.code == code for error in step.shown.errors]), floor)


_COMMON = (
    Event(
        "a necessary violation is permitted", lambda step: compiles(step) and bool(said(step).av) and permits(step), 40
    ),
    Event("a violation is executed", lambda step: bool(step.shown.selected_violates), 20),
    Event("a compile gridlocks", lambda step: compiles(step) and step.shown.gridlock, 20),
    Event("nothing is feasible", lambda step: submits(step) and not published(step).feasible, 20),
    Event("the environment is improper", lambda step: bool(step.shown.invalid), 20),
)
_COMPILED = (
    *_COMMON,
    Event("necessity is vacuous", _vacuous, 5),
    Event("a situation is blocked", _in_a_block, 20),
    _coded("E_SCHEMA_TYPE", 20),
    _coded("E_UNKNOWN_MODE", 5),
    _coded("E_UNKNOWN_PREFERENCE", 5),
    _coded("E_PAIR_ARITY", 5),
    _coded("E_DIGEST_MISMATCH", 5),
    _coded("E_AV_WITHOUT_COLLISION", 20),
    _coded("E_GRATUITOUS_VIOLATION", 40),
    _coded("E_FALSE_COLLISION", 40),
    _coded("E_PRECEDENT_VIOLATION", 10),
)

GENERATORS: tuple[Generator, ...] = (
    Generator("universe", _configs(steps=1, most=1), (*_SUBMISSIONS, *_SELECTIONS), _COMPILED),
    Generator(
        "run",
        _configs(steps=None, most=3, registry=3),
        (*_SUBMISSIONS, Rule("maintain", _maintain, _submits), *_SELECTIONS),
        (*_COMPILED, Event("a precedent is maintained", _maintained, 20)),
    ),
    Generator(
        "agents",
        _configs(steps=1, most=1, generators=("complete", "single_pair")),
        (Rule("generate", _generate, _submits), *_SELECTIONS),
        _COMMON,
    ),
    Generator(
        "conditions",
        _configs(steps=8, most=4, generators=("complete", "single_pair", "lazy")),
        (Rule("generate", _generate, _submits), *_SELECTIONS),
        (*_COMMON, Event("a bypassed compile fails", _bypassed, 20)),
    ),
)
"""One generator for each system that is sampled; the repaired system is only searched."""
