"""Faults planted in the search itself, and which check of the suite notices each.

| fault | what is wrong | noticed by |
|---|---|---|
| dropped_state | every third state is not expanded | random_graphs, known_sizes |
| wrong_parent | a later edge overwrites how a state was reached | larger_graphs (evidence too long) |
| multiplicity_lost | a group counts as one joint action | methods_agree (samples speak) |
| forgotten_agent | judgements leave the agent out | methods_agree (samples speak) |
| seeing_blind | a blind step hands out some action instead of raising | methods_agree |
| cross_check_off | tables are believed | cross_check_speaks |
| never_on_offer | the fairness mask says that nothing is ever on offer | random_graphs, peterson_facts |
| strong_is_weak | strong fairness is treated as weak | random_graphs, lock_fairness |
| weak_is_strong | weak fairness is treated as strong | random_graphs |
| no_refinement | a part that starves a strong assumption is given up whole | what_is_left_is_fair |
| merged_labels | edges are merged although fairness tells them apart | random_graphs, parallel_edges |
| unfair_loop | a fair part is taken for a fair loop | random_graphs (the judge refuses the evidence) |
| stuck_is_silent | deadlock means "no action on offer" | random_graphs, peterson_facts |
| amnesia | the monitor's product forgets the monitor | random_graphs |
| closed_by_decree | an open graph is called complete | open_graphs |
| no_licence | a quotient needs no licence | licences |
| orbits_of_one | an orbit counts as one configuration | licences |
| open_menus | images are not checked to be on offer | closed_menus |
| claims_fixed | every claim is taken to be fixed by the group | quotient_claims |
| vacuous | an antecedent never met is no matter | vacuity, random_graphs |
| first_values | pairs of different values are overlooked | lock_pairs |
| same_twin | every twin agrees | lock_pairs |
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evenhand.evidence import second_runs
from evenhand.search import (
    check,
    configuration,
    engine,
    graph,
    lasso,
    liveness,
    pairs,
    product,
    quotient,
    steps,
    verdicts,
    walk,
)
from evenhand.search.tables import choices, joint, joint_method
from tests.engines.search.suite import CHECKS, methods_agree, random_graphs

Plant = Callable[[pytest.MonkeyPatch], None]


def dropped_state(patch: pytest.MonkeyPatch) -> None:
    """Never expand every third state."""
    honest: Any = vars(graph)["_expand"]

    def drops(system: Any, method: Any, walk: Any, sid: int, *more: Any, **fresh: bool) -> None:
        if sid % 3 != 2:
            honest(system, method, walk, sid, *more, **fresh)

    patch.setattr(graph, "_expand", drops)


class _LastEdge(graph.Watcher):
    """Keeps the last edge into each state from a state with a smaller number."""

    name = "the fault"

    def __init__(self) -> None:
        self.last: dict[int, tuple[int, int]] = {}

    def look(self, step: Any, action: int, there: int, /) -> None:
        if self.sid < there:
            self.last[there] = (self.sid, action)


def wrong_parent(patch: pytest.MonkeyPatch) -> None:
    """Let a later edge overwrite how a state was reached."""
    honest: Any = graph.search

    def overwrites(*args: Any, **more: Any) -> Any:
        spy = _LastEdge()
        walk = honest(*args[:3], (*args[3], spy), *args[4:], **more)
        for sid, (parent, action) in spy.last.items():
            if walk.parents[sid] >= 0:
                walk.parents[sid], walk.actions[sid] = parent, action
        return walk

    patch.setattr(configuration, "search", overwrites)


def multiplicity_lost(patch: pytest.MonkeyPatch) -> None:
    """Count a group as one."""
    patch.setattr(choices.ChoiceTable, "weight", lambda _self, _members: 1)


def forgotten_agent(patch: pytest.MonkeyPatch) -> None:
    """Judge every choice as one of the first agent."""
    honest = choices.judged

    def forgets(*args: Any) -> Any:
        columns = honest(*args)
        return [[(columns[0][0][0], judgement) for _, judgement in column] for column in columns]

    patch.setattr(choices, "judged", forgets)


def seeing_blind(patch: pytest.MonkeyPatch) -> None:
    """Give an action-independent check an action."""
    patch.setattr(
        joint,
        "action_independent_step",
        lambda config, state, shown, after: steps.make_step(config, state, (), shown, after),
    )


def cross_check_off(patch: pytest.MonkeyPatch) -> None:
    """Trust tables without checking steps again."""
    patch.setattr(joint_method, "compare_classes", lambda *_all: None)


def never_on_offer(patch: pytest.MonkeyPatch) -> None:
    """Treat fairness as never on offer."""
    honest = lasso.need_of

    def masked(kind: str, served: Any, edges: Any) -> lasso.Need:
        need = honest(kind, served, edges)
        return replace(need, on_offer=np.zeros_like(need.on_offer))

    patch.setattr(liveness, "need_of", masked)


def strong_is_weak(patch: pytest.MonkeyPatch) -> None:
    """Treat strong fairness as weak."""
    honest = lasso.need_of
    patch.setattr(liveness, "need_of", lambda kind, *more: honest("weak" if kind == "strong" else kind, *more))


def weak_is_strong(patch: pytest.MonkeyPatch) -> None:
    """Treat weak fairness as strong."""
    honest = lasso.need_of
    patch.setattr(liveness, "need_of", lambda kind, *more: honest("strong" if kind == "weak" else kind, *more))


def no_refinement(patch: pytest.MonkeyPatch) -> None:
    """Give up a part that starves a strong assumption, instead of searching the rest of it."""
    honest = lasso.fair_parts

    def gives_up(edges: Any, alive: Any, needs: Any) -> list[Any]:
        whole = {tuple(part) for part in honest(edges, alive, ())}
        return [part for part in honest(edges, alive, needs) if tuple(part) in whole]

    patch.setattr(product, "fair_parts", gives_up)


def merged_labels(patch: pytest.MonkeyPatch) -> None:
    """Keep one edge between two states."""
    honest = liveness.Labels.look

    def merges(self: liveness.Labels, step: Any, action: int, there: int) -> None:
        if not any(target == there for target, _ in self.here):
            honest(self, step, action, there)

    patch.setattr(liveness.Labels, "look", merges)


def unfair_loop(patch: pytest.MonkeyPatch) -> None:
    """Take any loop of a fair part."""
    patch.setattr(lasso.Need, "met", lambda *_all: True)


def stuck_is_silent(patch: pytest.MonkeyPatch) -> None:
    """Take a state with any action for one that can complete."""

    def moves(edges: Any, _completing: Any) -> Any:
        found = np.zeros(edges.size, dtype=np.bool_)
        found[edges.source] = True
        return found

    patch.setattr(liveness, "can_complete", moves)


def amnesia(patch: pytest.MonkeyPatch) -> None:
    """Distinguish histories by their state alone."""
    honest = check.HistoryWatch.start

    class ByState(dict[Any, Any]):
        def get(self, key: Any, default: Any = None, /) -> Any:
            return super().get(key[0], default)

        def __setitem__(self, key: Any, value: Any, /) -> None:
            super().__setitem__(key[0], value)

    def forgets(self: check.HistoryWatch, initial: Any) -> None:
        self.known = ByState()
        honest(self, initial)

    patch.setattr(check.HistoryWatch, "start", forgets)


def closed_by_decree(patch: pytest.MonkeyPatch) -> None:
    """Call every graph closed."""
    patch.setattr(walk.Walk, "open", property(lambda _self: False, lambda _self, _value: None))


def no_licence(patch: pytest.MonkeyPatch) -> None:
    """Use a quotient whether or not it is licensed."""

    def takes(system: Any, *_asked: Any) -> Any:
        return system.quotients[0]

    patch.setattr(engine, "licensed", takes)


def orbits_of_one(patch: pytest.MonkeyPatch) -> None:
    """Count each orbit as one configuration."""
    patch.setattr(engine, "orbits", lambda *args: tuple((number, 1) for number, _ in quotient.orbits(*args)))


def open_menus(patch: pytest.MonkeyPatch) -> None:
    """Treat every image of an action as on offer."""
    patch.setattr(quotient, "number_of", lambda *_all: 0)


def claims_fixed(patch: pytest.MonkeyPatch) -> None:
    """Treat every claim as preserved by the group."""
    patch.setattr(engine, "doubts_under", lambda *args: [""] * len(args[-1]))


def vacuous(patch: pytest.MonkeyPatch) -> None:
    """Let every claim hold that is not violated."""
    patch.setattr(verdicts, "_undecided", lambda *_all: "")


def first_values(patch: pytest.MonkeyPatch) -> None:
    """Ignore that values differ."""
    patch.setattr(pairs, "differing", lambda _table: (0, None))
    patch.setattr(verdicts, "differing", lambda _table: (0, None))


def same_twin(patch: pytest.MonkeyPatch) -> None:
    """Let every twin agree."""
    honest = second_runs.compared
    patch.setattr(pairs, "compared", lambda *place: (one._replace(why="") for one in honest(*place)))


FAULTS: dict[Plant, tuple[str, ...]] = {
    dropped_state: ("random_graphs", "known_sizes"),
    wrong_parent: ("larger_graphs",),
    multiplicity_lost: ("methods_agree",),
    forgotten_agent: ("methods_agree",),
    seeing_blind: ("methods_agree",),
    cross_check_off: ("cross_check_speaks",),
    never_on_offer: ("random_graphs", "peterson_facts"),
    strong_is_weak: ("random_graphs", "lock_fairness"),
    weak_is_strong: ("random_graphs",),
    no_refinement: ("what_is_left_is_fair",),
    merged_labels: ("random_graphs", "parallel_edges"),
    unfair_loop: ("random_graphs",),
    stuck_is_silent: ("random_graphs", "peterson_facts"),
    amnesia: ("random_graphs",),
    closed_by_decree: ("open_graphs",),
    no_licence: ("licences",),
    orbits_of_one: ("licences",),
    open_menus: ("closed_menus",),
    claims_fixed: ("quotient_claims",),
    vacuous: ("vacuity", "random_graphs"),
    first_values: ("lock_pairs",),
    same_twin: ("lock_pairs",),
}

SHORT: dict[str, Callable[[], None]] = {
    **CHECKS,
    "methods_agree": lambda: methods_agree(range(1)),
    "random_graphs": lambda: random_graphs(range(80)),
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_fault_is_noticed(fault: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each check that the table names fails."""
    fault(monkeypatch)
    for name in FAULTS[fault]:
        with pytest.raises(Exception) as noticed:
            SHORT[name]()
        assert not isinstance(noticed.value, pytest.fail.Exception)


@pytest.mark.parametrize("name", SHORT)
def test_without_a_fault_nothing_is_noticed(name: str) -> None:
    """The checks pass on the search as it is."""
    SHORT[name]()


def test_the_table_lists_the_faults() -> None:
    """The table at the head of this file is complete."""
    listed = [line.split("|")[1].strip() for line in (__doc__ or "").splitlines() if line.startswith("| ")][1:]
    assert listed == [fault.__name__ for fault in FAULTS]
