"""Equivariance: a kernel that is independent of names treats renamed agents, keys and authorities alike."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, ClassVar

from evenhand.core.property import TwoRun
from evenhand.model.cud.free_system import FreeShown, FreeState, rename_free_shown, rename_free_state
from evenhand.model.cud.renaming import Renaming, rename_action, rename_config, rename_shown, rename_state
from evenhand.model.cud.vocabulary import Config, Partition, State
from evenhand.properties.cud.predicates import EpochState, EpochStep


def _swapped(names: tuple[str, ...]) -> Iterator[tuple[tuple[str, str], ...]]:
    for one, other in itertools.pairwise(names):
        yield ((one, other), (other, one))


def _made_renamings(config: Config) -> Iterator[Renaming]:
    """Exchanges of neighbours, which generate all permutations, and one renaming to fresh names in reverse order.

    The fresh names catch a kernel with hard-coded names.
    """
    for swap in _swapped(config.agents):
        yield Renaming(swap, ())
    for swap in _swapped(config.keys):
        yield Renaming((), swap)
    ids = sorted({one.authority_id for one in config.authorities})
    yield Renaming(
        _fresh("member", config.agents), _fresh("slot", config.keys), tuple(zip(ids, reversed(ids), strict=True))
    )


def _fresh(word: str, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name, f"{word}_{len(names) - place}") for place, name in enumerate(names))


class _Images:
    """Cache of the last configuration's renamings and of its and the last state's images, shared by all actions."""

    config: Config | None = None
    renamings: tuple[Renaming, ...] = ()
    configs: ClassVar[dict[int, Config]] = {}
    state: State | None = None
    states: ClassVar[dict[int, State]] = {}


def _renamings(config: Config, _state: Any, _action: Any) -> tuple[Renaming, ...]:
    if _Images.config is not config:
        _Images.config, _Images.renamings = config, tuple(_made_renamings(config))
        _Images.configs, _Images.state, _Images.states = {}, None, {}
    return _Images.renamings


def _renamed_config(w: Renaming, config: Config) -> Config:
    if _Images.config is not config or not any(w is one for one in _Images.renamings):
        return rename_config(w, config)
    found = _Images.configs.get(id(w))
    if found is None:
        found = _Images.configs[id(w)] = rename_config(w, config)
    return found


def _renamed_state(w: Renaming, config: Config, state: EpochState) -> EpochState:
    if isinstance(state, FreeState):
        return rename_free_state(w, config, state)
    if _Images.config is not config or not any(w is one for one in _Images.renamings):
        return rename_state(w, config, state)
    if _Images.state is not state:
        _Images.state, _Images.states = state, {}
    found = _Images.states.get(id(w))
    if found is None:
        found = _Images.states[id(w)] = rename_state(w, config, state)
    return found


def _equivariant(w: Renaming, step: EpochStep, other: EpochStep | None) -> bool:
    if other is None:
        return False
    # The graph of free agents keeps less of an epoch and has renaming functions of its own.
    shown, config, after = step.shown, step.config, step.after
    renamed = rename_free_shown(w, shown) if isinstance(shown, FreeShown) else rename_shown(w, shown)
    if renamed != other.shown:
        return False
    image = rename_free_state(w, config, after) if isinstance(after, FreeState) else rename_state(w, config, after)
    return image == other.after


equivariance = TwoRun(
    name="equivariance",
    sentence="Rename agents, keys and authority ids everywhere, and what is shown and what comes of it are the same, "
    "renamed.",
    source="D12, FQ19, FQ26",
    systems=("run", "universe"),
    # I.b's roles are hashes of names: a convention of the agents, meant to change under renaming (FQ30).
    applies=lambda config: not any(isinstance(one, Partition) for one in config.strategies),
    twins=_renamings,
    config=_renamed_config,
    state=_renamed_state,
    other=lambda w, action: (rename_action(w, action),),
    agree=_equivariant,
)
