"""Equivariance: a kernel that knows no names treats renamed agents, keys and authorities alike."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, ClassVar

from evenhand.core.property import AnyStep, TwoRun
from evenhand.model.cud.free_system import FreeShown, FreeState, rename_free_shown, rename_free_state
from evenhand.model.cud.renaming import Renaming, rename_action, rename_config, rename_shown, rename_state
from evenhand.model.cud.vocabulary import Config, Epoch, Partition, State

__all__ = ["equivariance"]


def _no_partition(config: Config) -> bool:
    """I.b's roles are hashes of names: a convention of the agents, meant to change under renaming (FQ30)."""
    return not any(isinstance(one, Partition) for one in config.strategies)


def _swapped(names: tuple[str, ...]) -> Iterator[tuple[tuple[str, str], ...]]:
    """The exchanges of neighbours, which generate every permutation."""
    for one, other in itertools.pairwise(names):
        yield ((one, other), (other, one))


def _made_renamings(config: Config) -> Iterator[Renaming]:
    """Neighbours exchanged, and everything renamed at once to fresh names whose order is reversed.

    The exchanges generate all permutations; the fresh names catch a kernel that knows names by heart.
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
    """The renamings of the last configuration, and its and the last state's images: the same for all its actions."""

    config: Any = None
    renamings: tuple[Renaming, ...] = ()
    configs: ClassVar[dict[int, Config]] = {}
    state: Any = None
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


def _renamed_state(w: Renaming, config: Config, state: Any) -> Any:
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


def _renamed(w: Renaming, action: Epoch) -> tuple[Epoch]:
    return (rename_action(w, action),)


def _equivariant(w: Renaming, step: AnyStep, other: AnyStep | None) -> bool:
    if other is None:
        return False
    # The graph of free agents keeps less of an epoch, and is renamed by itself.
    shown: Any = rename_free_shown if isinstance(step.shown, FreeShown) else rename_shown
    state: Any = rename_free_state if isinstance(step.after, FreeState) else rename_state
    return bool(shown(w, step.shown) == other.shown and state(w, step.config, step.after) == other.after)


equivariance = TwoRun(
    name="equivariance",
    sentence="Rename agents, keys and authority ids everywhere, and what is shown and what comes of it are the same, "
    "renamed.",
    source="D12, FQ19, FQ26",
    systems=("run", "universe"),
    proved=True,
    applies=_no_partition,
    twins=_renamings,
    config=_renamed_config,
    state=_renamed_state,
    other=_renamed,
    agree=_equivariant,
)
