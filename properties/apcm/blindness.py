"""Independence: names, orders, `satisfies`, history and the selector's inputs decide nothing; monotonicity."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from functools import lru_cache

from evenhand.core.plan import refuted
from evenhand.core.property import TwoRun, determined_by
from evenhand.core.records import replace
from evenhand.model.apcm.renaming import Renaming, rename_action, rename_config, rename_shown, rename_state
from evenhand.model.apcm.vocabulary import BYPASS, Act, Config, Entry, Fields, Situation, State, Submit
from evenhand.properties.apcm.predicates import (
    ARTIFICIAL,
    FREE,
    ONE_STEP,
    ApcmStep,
    apcm_faults,
    facts,
    permits,
    published,
    said,
    submits,
)


def _swaps(names: tuple[str, ...]) -> Iterator[tuple[tuple[str, str], ...]]:
    for one, other in itertools.pairwise(names):
        yield ((one, other), (other, one))


def _renamings(config: Config, state: State, _action: Act) -> tuple[Renaming, ...]:
    """Exchanges of neighbours, which generate all permutations, and one renaming to fresh names in reverse order.

    The fresh names catch a compiler with hard-coded names.
    """
    return _linked(config.actions, config.preferences, state.previous, config.readings.pair_order == "ordered")


@lru_cache(maxsize=64)
def _linked(
    actions: tuple[str, ...], preferences: tuple[str, ...], previous: Fields | None, ordered: bool
) -> tuple[Renaming, ...]:
    fresh = [
        (old, f"{word}{len(names) - place}")
        for word, names in (("deed", actions), ("Law", preferences))
        for place, old in enumerate(names)
    ]
    every = (*_swaps(actions), *_swaps(preferences), tuple(fresh))
    return tuple(Renaming(names).linked(previous, ordered) for names in every)


equivariance = TwoRun(
    name="equivariance",
    sentence="Rename actions and preferences everywhere: the same happens under the new names.",
    source="5, 6",
    systems=FREE,
    twins=_renamings,
    config=rename_config,
    state=rename_state,
    other=lambda w, action: (rename_action(w, action),),
    agree=lambda w, step, other: (
        other is not None
        and rename_shown(w, step.config, step.shown) == other.shown
        and rename_state(w, step.config, step.after) == other.after
    ),
)


def _reversed(_w: str, config: Config) -> Config:
    return replace(
        config,
        actions=config.actions[::-1],
        preferences=config.preferences[::-1],
        situations=tuple(Situation(one.feasible[::-1], one.apcm[::-1]) for one in config.situations),
    )


def _unrepeated(config: Config) -> bool:
    """Whether each action has at most one entry: of several, the order decides which counts, and the run is invalid."""
    return all(len({name for name, _ in one.apcm}) == len(one.apcm) for one in config.situations)


order_independence = TwoRun(
    name="order_independence",
    sentence="In whatever order actions and preferences are listed, the same is shown and the same state follows.",
    source="5, 6",
    systems=ONE_STEP,
    applies=_unrepeated,
    twins=lambda _config, _state, _action: ("reversed",),
    config=_reversed,
    state=lambda _w, _config, state: state,
    other=lambda _w, action: (action,),
    agree=lambda _w, step, other: other is not None and (other.shown, other.after) == (step.shown, step.after),
)


def _unsatisfied(_w: str, config: Config) -> Config:
    situations = tuple(
        replace(one, apcm=tuple((name, Entry(made.violates)) for name, made in one.apcm)) for one in config.situations
    )
    return replace(config, situations=situations)


satisfies_decides_nothing = TwoRun(
    name="satisfies_decides_nothing",
    sentence="What actions satisfy decides nothing: no rule reads it.",
    source="2.1, 6",
    systems=ONE_STEP,
    applies=lambda config: (
        config.readings.satisfies == "free" and not any(apcm_faults(config, one) for one in config.situations)
    ),
    twins=lambda _config, _state, _action: ("satisfying nothing",),
    config=_unsatisfied,
    state=lambda _w, _config, state: state,
    other=lambda _w, action: (action,),
    agree=lambda _w, step, other: other is not None and (other.shown, other.after) == (step.shown, step.after),
)


def _unpreserved(config: Config, _state: State, action: Act) -> Iterator[str]:
    if isinstance(action, Submit) and action.artifact is not None and not config.generator:
        required = action.artifact.required_preservations
        if isinstance(required, frozenset):
            yield from (p for p in config.preferences if p not in required)


def _preserving(w: str, action: Act) -> tuple[Act, ...]:
    artifact = action.artifact if isinstance(action, Submit) else None
    assert artifact is not None and isinstance(artifact.required_preservations, frozenset)
    return (Submit(replace(artifact, required_preservations=artifact.required_preservations | {w})),)


def _permits_no_more(_w: str, step: ApcmStep, other: ApcmStep | None) -> bool:
    if other is None or not (step.shown.compile_ok and other.shown.compile_ok):
        return other is not None
    return set(other.shown.permitted) <= set(step.shown.permitted)


more_preservations_never_permit_more = TwoRun(
    name="more_preservations_never_permit_more",
    sentence="Of two artefacts that compile, the one that requires more preservations permits no more.",
    source="6.1",
    systems=FREE,
    twins=_unpreserved,
    config=lambda _w, config: config,
    state=lambda _w, _config, state: state,
    other=_preserving,
    agree=_permits_no_more,
)


def _failures_stay_failures(_w: str, step: ApcmStep, other: ApcmStep | None) -> bool:
    return other is not None and (step.shown.compile_ok is not False or not other.shown.permitted)


more_preservations_never_permit_more_than_a_failure = replace(
    more_preservations_never_permit_more,
    name="more_preservations_never_permit_more_than_a_failure",
    sentence="Requiring more preservations never turns a failing compile into one that permits an action.  (Stated to "
    "be refuted: necessity is relative to what is preserved.)",
    source="6.1, 6.4",
    agree=_failures_stay_failures,
    expected=(
        refuted("6.4: necessity is relative to RP; Sophie's artefact fails with RP empty and permits with RP = {P2}"),
    ),
)


def _removable(config: Config, state: State, action: Act) -> Iterator[str]:
    if isinstance(action, Submit) and not config.generator and len(config.situations) == 1:
        yield from sorted(set(config.published(state).feasible))


def _with_fewer(w: str, config: Config) -> Config:
    situations = tuple(
        Situation(tuple(a for a in one.feasible if a != w), tuple(pair for pair in one.apcm if pair[0] != w))
        for one in config.situations
    )
    return replace(config, situations=situations)


def _gratuitous(step: ApcmStep) -> frozenset[tuple[str, ...]]:
    return frozenset(one.culprit for one in step.shown.errors if one.code == "E_GRATUITOUS_VIOLATION")


more_actions_never_make_necessity_pass = TwoRun(
    name="more_actions_never_make_necessity_pass",
    sentence="A violation that is gratuitous among some feasible actions is gratuitous among more of them.",
    source="6.4",
    systems=FREE,
    applies=lambda config: not any(apcm_faults(config, one) for one in config.situations),
    twins=_removable,
    config=_with_fewer,
    state=lambda _w, _config, state: state,
    other=lambda _w, action: (action,),
    agree=lambda _w, step, other: other is not None and _gratuitous(other) <= _gratuitous(step),
)


@determined_by(
    "What the selector leaves is a function of the permitted set, whatever the APCM and the artefact were.",
    source="1, 11.6",
    systems=ARTIFICIAL,
    key=lambda step: (step.config.selector, step.shown.permitted),
    when=permits,
)
def selection_depends_on_the_mask_alone(step: ApcmStep) -> Hashable:
    """The actions offered, and those that may be selected next."""
    return (step.shown.offered, step.after.offered)


def _compile_key(step: ApcmStep) -> tuple[Hashable, ...]:
    config = step.config
    return (
        (config.actions, config.preferences, config.readings, config.condition == BYPASS),
        published(step),
        step.shown.artifact,
        step.before.previous,
    )


def _compiled(step: ApcmStep) -> bool:
    return submits(step) and step.shown.compile_ok is not None


def _readable(step: ApcmStep) -> bool:
    return facts(step) is not None


def _precedent_key(step: ApcmStep) -> Hashable:
    known = said(step)
    return (_compile_key(step)[:2], known.fields, known.mode, known.equal, known.links)


def _result(step: ApcmStep) -> Hashable:
    shown = step.shown
    return (shown.compile_ok, shown.errors, shown.forbidden, shown.permitted, shown.halt, shown.gridlock)


@determined_by(
    "A compile is a function of the artefact, the inventory, the feasible actions with their APCM and the previous "
    "artefact: no randomness, no history, no clock.",
    source="5",
    systems=("run", "conditions"),
    key=_compile_key,
    when=_compiled,
)
def compile_is_a_function_of_its_inputs(step: ApcmStep) -> Hashable:
    """Result, errors, mask."""
    return _result(step)


@determined_by(
    "Of the previous artefact, a compile depends on nothing but whether the fields equal its fields and the digest is "
    "its digest.",
    source="5, 6.3",
    systems=("run",),
    key=_precedent_key,
    when=_readable,
)
def precedent_matters_by_equality_alone(step: ApcmStep) -> Hashable:
    """The result; because of this claim, previous artefacts need not be enumerated."""
    return _result(step)
