"""The executor on a real disk shows the same as the model; a fault planted in it is found by the same machine."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.codec import encode
from evenhand.core.kernel import Initial, Unsupported
from evenhand.model.sovereign.adapter import DiskExecutor, factory, trusting
from evenhand.model.sovereign.menus import TREE, candidate, usual
from evenhand.model.sovereign.paths import Place, dir_, file_, link_
from evenhand.model.sovereign.state import Check, Config, Decide, Swap, Use
from evenhand.model.sovereign.systems import SYSTEMS
from evenhand.model.sovereign.vocabulary import READ_LOCAL, WRITE_LOCAL
from tests.deep import rest_slow
from tests.front.conftest import Command

D = ("repo", "workspace", "d")


def scenario(config: Config) -> Initial:
    """Return the initial data in their wire format."""
    (start,) = SYSTEMS["agent"].initial(config)
    return {"protocol": "sovereign", "system": "agent", "config": encode(config), "start": encode(start)}


def first_difference(make: Callable[[Any], Any], seed: int, runs: int, steps: int) -> list[Any]:
    """Return the actions up to the first observation that differs from the model; empty without a difference."""
    system = SYSTEMS["agent"].at(proposals=3, executors=2)
    draw = random.Random(seed)
    (config,) = system.all_configs()
    for _ in range(runs):
        (state,) = system.initial(config)
        kernel = make(scenario(config))
        taken: list[Any] = []
        for _ in range(steps):
            offered = list(system.enabled(config, state))
            if not offered:
                break
            busy = [one for one in offered if isinstance(one, Use | Swap)]
            action = draw.choice(busy if draw.random() < 0.5 else offered)
            taken.append(action)
            step = system.take(config, state, action)
            state = step.after
            if kernel.step(encode(action)) != encode(step.shown):
                return taken
    return []


def test_the_disk_does_what_the_model_does() -> None:
    """Links swapped to and fro, warrants replayed, executors restarted."""
    assert first_difference(factory, 1, 12, 40) == []


def _attack() -> list[Any]:
    """Warrant and check a write, turn its directory into a link out of the repository, and use the warrant."""
    seen = usual()
    one = candidate(seen, WRITE_LOCAL, path="workspace/d/secret")
    system = SYSTEMS["agent"]
    config = Config(tree=TREE)
    (state,) = system.initial(config)
    step = system.take(config, state, Decide(seen, (one,)))
    assert step.shown.decision is not None and step.shown.decision.warrant is not None
    warrant = step.shown.decision.warrant
    return [Decide(seen, (one,)), Check("first", warrant, one.request), Swap(D, link_("../../etc")), Use("first")]


@pytest.mark.parametrize(("make", "text"), [(factory, "s"), (trusting, "m")])
def test_a_link_swapped_between_check_and_use(make: Callable[[Any], Any], text: str) -> None:
    """The honest executor leaves the outside file alone; the trusting one overwrites it, on the real disk."""
    kernel = make(scenario(Config(tree=TREE)))
    assert isinstance(kernel, DiskExecutor)
    shown = [kernel.step(encode(action)) for action in _attack()]
    assert Path(kernel.disk.root, "etc", "secret").read_text("utf-8") == text
    assert bool(shown[-1]["effects"]) == (make is trusting)
    kernel.close()
    assert not kernel.disk.root.exists()


def test_other_systems_are_not_supported() -> None:
    """They execute nothing step by step."""
    with pytest.raises(Unsupported):
        factory({**scenario(Config(tree=TREE)), "system": "lists"})


def test_what_lies_below_no_directory_comes_back_with_it() -> None:
    """Something is put below a file, below a link and below nothing; it shows when a directory stands there again."""
    work: Place = ("repo", "workspace")
    seen = usual()
    one = candidate(seen, READ_LOCAL, path="workspace/x")
    system = SYSTEMS["agent"]
    config = Config(tree=TREE)
    (state,) = system.initial(config)
    kernel = factory(scenario(config))
    shown: list[Any] = []
    for hiding in (file_("new"), link_("/etc")):
        swaps = (Swap(work, hiding), Swap((*work, "x"), file_("kept")), Swap((*work, "y", "z"), file_("nowhere")))
        for action in (*swaps, Swap(work, dir_()), Decide(seen, (one,))):
            step = system.take(config, state, action)
            state = step.after
            assert kernel.step(encode(action)) == encode(step.shown)
        (warrant,) = [made for made in state.issued if not made.age]
        for used in (Check("first", warrant, one.request), Use("first")):
            step = system.take(config, state, used)
            state = step.after
            shown.append(kernel.step(encode(used)))
            assert shown[-1] == encode(step.shown)
    assert [bool(one["effects"]) for one in shown] == [False, True, False, True]


def test_a_tree_that_no_disk_has_is_not_supported() -> None:
    """An entry whose directory is missing."""
    odd = replace(Config(tree=TREE), tree=tuple(entry for entry in TREE if entry[0] != ("repo",)))
    with pytest.raises(Unsupported, match="no directory that holds it"):
        factory(scenario(odd))


ADAPTER = "evenhand.model.sovereign.adapter"


@pytest.mark.parametrize(
    ("name", "code", "failed"), rest_slow([("factory", 0, "0 failed"), ("trusting", 1, "1 failed")])
)
def test_the_vectors_tell_the_honest_disk_from_the_trusting_one(
    name: str, code: int, failed: str, cli: Command
) -> None:
    """Frozen vectors of the agent, on a real disk."""
    told = cli("vectors", "sovereign", "verify", "--adapter", f"{ADAPTER}:{name}")
    assert told.code == code and failed in told.out, told.out


@pytest.mark.deep
@pytest.mark.parametrize(("name", "code"), [("factory", 0), ("trusting", 1)])
def test_the_checking_machine_tells_them_apart(name: str, code: int, cli: Command) -> None:
    """The same command as for any kernel, at a small effort; the full check is deep."""
    few = ("--transitions", "100", "--examples", "5")
    told = cli("check", "sovereign", "--adapter", f"{ADAPTER}:{name}", "--system", "agent", *few)
    assert told.code == code, told.out
    assert "not supported" not in told.out


@pytest.mark.deep
def test_the_whole_check_finds_nothing_in_the_honest_disk(cli: Command) -> None:
    """At the default effort."""
    told = cli("check", "sovereign", "--adapter", f"{ADAPTER}:factory", "--system", "agent")
    assert told.code == 0, told.out
    assert "nothing found" in told.out
