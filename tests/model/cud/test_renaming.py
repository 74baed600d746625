"""The universe's menus are closed under renaming; otherwise its quotient would skip choices."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

from evenhand.core.system import System
from evenhand.model.cud.renaming import every_renaming, rename_action, rename_config
from evenhand.model.cud.run_system import UNIVERSE, playing
from evenhand.model.cud.step import initial
from evenhand.model.cud.vocabulary import Config, Epoch

_CONFIGS = tuple(islice(UNIVERSE.all_configs(), 0, None, 409))


def _offered(system: System[Any, Any, Any, Any, Any], config: Config) -> set[tuple[Any, ...]]:
    return {_sorted(action) for action in system.enabled(config, initial(config)[0])}


def _sorted(action: Epoch) -> tuple[Any, ...]:
    return tuple(sorted(action.choices, key=lambda entry: entry[0]))


def _closed(system: System[Any, Any, Any, Any, Any], config: Config) -> bool:
    here = [*system.enabled(config, initial(config)[0])]
    return all(
        {_sorted(rename_action(w, action)) for action in here} == _offered(system, rename_config(w, config))
        for w in every_renaming(config)
    )


def test_menus_of_the_universe_are_closed_under_renaming() -> None:
    """The image of the menu is the menu of the image, under every sampled layout."""
    assert all(_closed(UNIVERSE, config) for config in _CONFIGS)


def test_a_menu_that_prefers_a_name_is_not_closed() -> None:
    """The check fails: `agent_1` alone may idle."""

    joint = UNIVERSE.joint
    assert joint is not None

    def menu(config: Config, agent: str) -> Any:
        choices = [*joint.choices(config, UNIVERSE.scope, initial(config)[0], agent)]
        return choices if agent == "agent_1" else choices[1:]

    biased = replace(UNIVERSE, joint=playing(menu))
    assert not any(_closed(biased, config) for config in _CONFIGS[:3])
