"""Prophecy variables of refinements, and the fairness that a refinement keeps.

The second definition tries every prophecy at the end of every run, and computes those before it backwards.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import pytest

import evenhand

EARLY = evenhand.system(
    "early",
    initial=[("begins", None)],
    actions=lambda at: ["heads", "tails"] if at[0] == "begins" else ["show"] if at[0] == "thrown" else [],
    step=lambda at, action: ("shown", at[1]) if action == "show" else ("thrown", action),
    shows=False,
    ends=True,
)
"""The coin is thrown, and shown later."""


def late(*, twice: bool = False) -> Any:
    """The coin decides when it is shown; a fault shows it again."""
    shown = ["heads", "tails"] if twice else []
    return evenhand.system(
        "late",
        initial=["begins"],
        actions=lambda at: {"begins": ["throw"], "thrown": ["heads", "tails"]}.get(at, shown),
        step=lambda at, action: "thrown" if action == "throw" else action,
        ends=True,
    )


def as_early(_config: Any, at: str, _past: Any, future: str) -> Any:
    """What is in the air is what will be shown."""
    return ("begins", None) if at == "begins" else ("thrown", future) if at == "thrown" else ("shown", at)


def foreseen(step: Any, later: str) -> str:
    """What will be shown."""
    return step.action if step.action in ("heads", "tails") else later


def test_a_choice_that_falls_late_refines_one_that_falls_early() -> None:
    """With a prophecy; a guess that never changes is refuted, and so is a coin that is shown twice."""
    by: dict[str, Any] = {"abstract": EARLY, "values": ("heads", "tails"), "foretell": foreseen}
    claim = evenhand.refines("It is thrown, and then shown.", **by)(as_early)
    found = evenhand.explore(late(), [claim])
    assert found.holds, found.verdicts
    assert evenhand.fuzz(late(), [claim], examples=50, seed=1).verdicts[0].evidence is None
    (shown_twice,) = evenhand.explore(late(twice=True), [claim]).verdicts
    assert shown_twice.status is evenhand.Status.REFUTED and "early has no step from" in shown_twice.because
    blind = evenhand.refines("It is heads.", abstract=EARLY, values=("heads",))(as_early)
    (guess,) = evenhand.explore(late(), [blind]).verdicts
    assert guess.status is evenhand.Status.REFUTED


VALUES = (0, 1, 2)


def drawn(seed: int) -> tuple[dict[int, list[int]], dict[int, list[int]], dict[Any, int], dict[Any, int]]:
    """Two graphs, an image for each node and prophecy, and a prophecy for each edge and the one after it."""
    random = Random(seed)
    lower = {node: random.sample(range(4), random.randint(1, 2)) for node in range(4)}
    upper = {node: random.sample(range(4), random.randint(1, 3)) for node in range(4)}
    image = {(node, value): random.randrange(4) for node in range(4) for value in VALUES}
    told = {(node, after, value): random.choice(VALUES) for node in lower for after in lower[node] for value in VALUES}
    return lower, upper, image, told


def some_prophecy_does(run: list[int], upper: Any, image: Any, told: Any) -> bool:
    """Whether one value at the end, followed backwards, makes every step one of the upper graph, or none."""
    for last in VALUES:
        values = [last]
        for before, after in reversed(list(pairwise(run))):
            values.append(told[before, after, values[-1]])
        images = [image[node, value] for node, value in zip(run, reversed(values), strict=True)]
        if images[0] in (0, 1) and all(one == other or other in upper[one] for one, other in pairwise(images)):
            return True
    return False


@pytest.mark.parametrize("seed", range(80))
def test_the_second_definition_agrees(seed: int) -> None:
    """On every run of up to six steps."""
    lower, upper, image, told = drawn(seed)
    claim = evenhand.refines(
        "It does.",
        abstract=graph("upper", upper, [0, 1]),
        values=VALUES,
        foretell=lambda step, later: told[step.before, step.after, later],
    )(lambda config, node, past, future: image[node, future])
    (verdict,) = evenhand.explore(graph("lower", lower, [0]), [claim], depth=6).verdicts
    runs = [[0]]
    broken = not some_prophecy_does([0], upper, image, told)
    for _ in range(6):
        runs = [[*run, after] for run in runs for after in lower[run[-1]]]
        broken = broken or not all(some_prophecy_does(run, upper, image, told) for run in runs)
    assert (verdict.status is evenhand.Status.REFUTED) == broken, verdict.because


def test_the_random_refinements_are_of_both_kinds() -> None:
    """A few hold on all runs of six steps."""
    kinds = list[bool]()
    for seed in range(80):
        lower, upper, image, told = drawn(seed)
        runs = [[0]]
        for _ in range(6):
            runs = [[*run, after] for run in runs for after in lower[run[-1]]]
        kinds.append(all(some_prophecy_does(run, upper, image, told) for run in runs))
    assert 8 <= sum(kinds) <= 72


def graph(name: str, edges: Any, initial: list[int]) -> Any:
    """A graph as a system."""
    return evenhand.system(
        name, initial=initial, actions=lambda at: edges[at], step=lambda _at, action: action, ends=True
    )


RELIABLE = evenhand.system(
    "reliable",
    initial=[(0, 0)],
    actions=lambda at: ["send"] * (at[0] == at[1] and at[0] < 2) + ["arrive"] * (at[1] < at[0]),
    step=lambda at, action: (at[0] + 1, at[1]) if action == "send" else (at[0], at[1] + 1),
    shows=False,
    ends=True,
    fair={"arrives": evenhand.Fairness("weak", lambda at, action: action == "arrive")},
)


def lossy(*, gives_up: bool = False) -> Any:
    """A channel that loses and sends again: sent, received, on its way."""

    def actions(at: tuple[int, int, bool]) -> list[str]:
        sent, received, flying = at
        if flying:
            return ["deliver", "lose"]
        again = ["retry"] if sent > received and not (gives_up and sent == 2) else []
        return [*(["send"] if sent == received and sent < 2 else []), *again]

    def step(at: tuple[int, int, bool], action: str) -> tuple[int, int, bool]:
        sent, received, _ = at
        match action:
            case "send":
                return (sent + 1, received, True)
            case "retry":
                return (sent, received, True)
            case "deliver":
                return (sent, received + 1, False)
            case _:
                return (sent, received, False)

    takes = {"retry": evenhand.Fairness("weak", does("retry")), "deliver": evenhand.Fairness("strong", does("deliver"))}
    return evenhand.system("lossy", initial=[(0, 0, False)], actions=actions, step=step, fair=takes, ends=True)


def does(name: str) -> Any:
    """A step of that name."""
    return lambda _state, action: action == name


@evenhand.refines("What is sent arrives.", abstract=RELIABLE)
def is_reliable(at: tuple[int, int, bool]) -> tuple[int, int]:
    """What is on its way does not count."""
    return at[:2]


def status(system: Any, claim: Any) -> str:
    """The status of one claim."""
    return str(evenhand.explore(system, [claim]).verdicts[0].status.value)


def test_a_refinement_keeps_fairness_where_it_is_given() -> None:
    """With retries and a channel that does not lose for ever; not without one of the two, nor if it gives up."""
    assert status(lossy(), is_reliable) == "HOLDS"
    both = evenhand.keeps_fairness(is_reliable, fairness=("retry", "deliver"))
    assert both.name == "is_reliable_keeps_fairness" and "arrives" in both.sentence
    assert status(lossy(), both) == "HOLDS"
    assert status(lossy(), evenhand.keeps_fairness(is_reliable, fairness=("retry",))) == "REFUTED"
    assert status(lossy(), evenhand.keeps_fairness(is_reliable)) == "REFUTED"
    assert status(lossy(), evenhand.keeps_fairness(is_reliable, fairness=("deliver",), stutter=True)) == "REFUTED"
    assert status(lossy(gives_up=True), is_reliable) == "HOLDS"
    (verdict,) = evenhand.explore(lossy(gives_up=True), [both]).verdicts
    assert verdict.status is evenhand.Status.REFUTED and isinstance(verdict.evidence, evenhand.Scenario)


@pytest.mark.parametrize("kind", ["weak", "strong"])
def test_fairness_is_that_of_tla_over_steps_that_change(kind: Any) -> None:
    """A step of the other system that changes nothing neither serves nor enables; strong asks more than weak."""
    toggles = evenhand.system(
        "toggles",
        initial=[0],
        actions=lambda at: ["stay", "go"] if at == 0 else ["back"],
        step=lambda at, action: 1 if action == "go" else 0,
        ends=False,
        fair={"goes": evenhand.Fairness(kind, lambda at, action: action in ("go", "stay"))},
    )
    idle = evenhand.system("idle", initial=[0], actions=lambda at: ["stay"], step=lambda at, action: 0, ends=False)
    there = evenhand.refines("It does.", abstract=toggles, name="there")(lambda at: 0)
    assert status(idle, evenhand.keeps_fairness(there)) == "REFUTED"
    flips = evenhand.system("flips", initial=[0], actions=lambda at: ["flip"], step=lambda at, _: 1 - at, ends=False)
    as_is = evenhand.refines("It does.", abstract=toggles, name="as_is")(lambda at: at)
    assert status(flips, evenhand.keeps_fairness(as_is)) == "HOLDS"


def test_strong_asks_more_than_weak() -> None:
    """An assumption that is enabled again and again, and not always."""

    def upper(kind: Any) -> Any:
        return evenhand.system(
            "upper",
            initial=[0],
            actions=lambda at: {0: ["turn", "leave"], 1: ["turn"]}.get(at, []),
            step=lambda at, action: 2 if action == "leave" else 1 - at,
            ends=True,
            fair={"leaves": evenhand.Fairness(kind, lambda at, action: action == "leave")},
        )

    turns = evenhand.system("turns", initial=[0], actions=lambda at: ["turn"], step=lambda at, _: 1 - at, ends=False)
    for kind, wanted in (("weak", "HOLDS"), ("strong", "REFUTED")):
        claim = evenhand.refines("It does.", abstract=upper(kind), name="as_is")(lambda at: at)
        assert status(turns, evenhand.keeps_fairness(claim)) == wanted


def test_wrong_uses_are_refused() -> None:
    """With one sentence each."""
    with pytest.raises(ValueError, match="assumes no fairness"):
        evenhand.keeps_fairness(evenhand.refines("It does.", abstract=EARLY, name="x")(lambda at: at))
    with_past = evenhand.refines("It does.", abstract=RELIABLE, start=lambda _config: 0, name="y")(lambda at: at)
    with pytest.raises(ValueError, match="put it into the state"):
        evenhand.keeps_fairness(with_past)
    with pytest.raises(TypeError, match="takes a claim that `refines` made"):
        evenhand.keeps_fairness(evenhand.always("True.", name="z")(lambda at: True))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="lists what may come"):
        evenhand.refines("It does.", abstract=EARLY, values=(), name="w")(lambda at: at)
