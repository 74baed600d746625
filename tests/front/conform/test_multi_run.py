"""Claims that no single run refutes, checked on outside kernels: each kind objects to a planted defect."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from evenhand.conform.checking.causes import alone, causes
from evenhand.conform.checking.files import save_finding
from evenhand.conform.checking.finding import finding_in_words, finding_json, load_finding, recheck
from evenhand.conform.checking.liveness import SILENT
from evenhand.conform.checking.loop import FALSE, CheckEffort, SystemChecked, check_system
from evenhand.core.property import (
    Commute,
    DeadlockFree,
    DeterminedBy,
    Eventually,
    LeadsTo,
    LivelockFree,
    Property,
    Reachable,
    TwoRun,
)
from evenhand.core.registry import find
from evenhand.core.system import Fairness
from evenhand.report.forms.checked import finding_page
from tests.front.conform.in_process import InProcess


def swapped(state: Any) -> Any:
    """Return the state with the two agents exchanged."""
    return replace(state, inside=tuple(1 - agent for agent in state.inside))


ALIKE = TwoRun(
    name="agents_are_alike",
    sentence="Exchange the two agents, and the answers are the same.",
    twins=lambda _config, _state, _action: ("swap",),
    config=lambda _w, config: config,
    state=lambda _w, _config, state: swapped(state),
    other=lambda _w, action: (replace(action, agent=1 - action.agent),),
    agree=lambda _w, step, other: other is not None and step.shown == other.shown,
)
LEAVING = Commute(
    name="leaving_commutes",
    sentence="Whoever leaves first, the latch is held by the same agents after both left.",
    pairs=lambda _config, _state, enabled: [
        (one, two) for one in enabled for two in enabled if one.verb == two.verb == "leave" and one.agent < two.agent
    ],
    same=lambda _config, one, two: one.after == two.after,
)
BY_STATE = DeterminedBy(
    name="answers_are_determined",
    sentence="The answer depends on who is inside and on the action.",
    key=lambda step: (step.before.inside, step.action),
    value=lambda step: step.shown,
)
BY_WORDS = DeterminedBy(
    name="leaving_is_answered_alike",
    sentence="The answer to leaving depends on nothing.",
    key=lambda step: step.action.verb,
    value=lambda step: step.shown,
    when=lambda step: step.action.verb == "leave",
)
EMPTIES = DeadlockFree(
    name="the_latch_can_be_freed",
    sentence="While somebody is inside, some continuation frees the latch.",
    wants=lambda _config, state: bool(state.inside),
    completes=lambda step: bool(step.before.inside) and not step.after.inside,
)
TAKES_TURNS = LivelockFree(
    name="nobody_takes_for_ever",
    sentence="The latch is not taken again and again while nobody leaves.",
    attempts=lambda step: step.shown == "taken",
    progress=lambda step: step.action.verb == "leave",
)
COMES_FREE = LeadsTo(
    name="the_latch_comes_free",
    sentence="Where those inside leave in the end, the latch that was taken comes free.",
    trigger=lambda step: step.shown == "taken",
    goal=lambda step: not step.after.inside,
    fairness=("those inside leave",),
)
GETS_IN = Eventually(
    name="somebody_gets_in",
    sentence="Where it is tried again and again, somebody gets in.",
    goal=lambda step: step.shown == "taken",
    fairness=("somebody tries",),
)
TAKEN = Reachable(name="taken", sentence="The latch can be taken.", goal=lambda step: step.shown == "taken")
CLAIMS: tuple[Property, ...] = (ALIKE, LEAVING, BY_STATE, BY_WORDS, EMPTIES, TAKES_TURNS, COMES_FREE, GETS_IN, TAKEN)


def system() -> Any:
    """Return the latch, with fairness."""
    leaves: Fairness[Any, Any] = Fairness("weak", served)
    tries: Fairness[Any, Any] = Fairness("weak", lambda _state, action: action.verb == "take")

    def fair(_config: Any) -> dict[str, Fairness[Any, Any]]:
        return {"those inside leave": leaves, "somebody tries": tries}

    return replace(find("latch").model.systems["latch"], fair=fair)


def served(state: Any, action: Any) -> bool:
    """Some agent inside leaves."""
    return action.verb == "leave" and action.agent in state.inside


class Latch:
    """A latch that tells its state; `take` and `leave` return the agents inside after the step."""

    def __init__(self, take: Callable[..., Any] | None = None, leave: Callable[..., Any] | None = None) -> None:
        self.inside: list[int] = []
        self.take, self.leave = take, leave

    def step(self, action: Any) -> Any:
        """Take or leave."""
        agent = action["agent"]
        if action["verb"] == "leave":
            self.inside = [one for one in self.inside if one != agent] if not self.leave else self.leave(self, agent)
            return "left"
        if self.take is not None:
            return self.take(self, agent)
        if self.inside:
            return "refused"
        self.inside.append(agent)
        return "taken"


class Open(Latch):
    """The same, telling its state."""

    def state(self) -> Any:
        """The encoded state."""
        return {"$": "State", "inside": list(self.inside)}


def anew(made: Callable[[], Any], _initial: Any) -> Any:
    """Return a factory."""
    return made()


def checked(made: Callable[[], Any], *, claims_only: bool = True) -> SystemChecked:
    """Check every claim of this file on a kernel; with `claims_only` nothing else counts against it."""
    source = InProcess(partial(anew, made))
    effort = CheckEffort(examples=4, steps=6)
    return check_system("latch", (system(),), CLAIMS, source, claims_only=claims_only, effort=effort)


def found(result: SystemChecked) -> dict[str, tuple[int, str]]:
    """Return the claims that object, with the length of the run and the basis."""
    divergences = [defect.divergence for defect in result.defects]
    return {one.subject: (one.length, one.violations[0].basis.words) for one in divergences}


def again_taken(latch: Latch, agent: int) -> str:
    """The holder may take the latch again, and the answer says so."""
    if latch.inside not in ([], [agent]):
        return "refused"
    latch.inside = [agent]
    return "taken"


def one_is_favoured(latch: Latch, agent: int) -> str:
    """Agent 1 gets the latch even when it is taken."""
    if latch.inside and agent != 1:
        return "refused"
    latch.inside = [agent]
    return "taken"


def never(_latch: Latch, _agent: int) -> str:
    """A dead latch is safe."""
    return "refused"


def first_leaves_alone(latch: Latch, agent: int) -> list[int]:
    """After agent 1 left, agent 0 is inside."""
    return [0] if agent == 1 else [one for one in latch.inside if one != agent]


def nobody_leaves(latch: Latch, _agent: int) -> list[int]:
    """Agents inside stay inside."""
    return latch.inside


def in_turn(latch: Latch, agent: int) -> list[int]:
    """An agent that leaves lets the other in: each agent leaves again and again, and the latch never comes free."""
    return [1 - agent] if agent in latch.inside else latch.inside


class Resentful(Latch):
    """An agent that left once is not let in again, and no state shows it."""

    def __init__(self) -> None:
        super().__init__()
        self.gone: set[int] = set()

    def step(self, action: Any) -> Any:
        """Take or leave."""
        if action["verb"] == "leave":
            self.gone.add(action["agent"])
        elif action["agent"] in self.gone:
            return "refused"
        return super().step(action)


class Rude(Latch):
    """Agent 1 gets a wrong answer when it leaves the latch empty."""

    def step(self, action: Any) -> Any:
        """Take or leave."""
        answer = super().step(action)
        return "taken" if answer == "left" and not self.inside and action["agent"] == 1 else answer


def test_an_honest_kernel_has_nothing_against_it() -> None:
    """Every claim judges an open kernel; two-run claims that need no state after the step judge a silent one."""
    result = checked(Open)
    assert found(result) == {} and dict(result.not_judged) == {}
    assert set(result.judged) == {claim.name for claim in CLAIMS}
    silent = checked(Latch)
    assert found(silent) == {}
    assert set(silent.not_judged.values()) == {SILENT}
    assert set(silent.not_judged) == {claim.name for claim in (EMPTIES, TAKES_TURNS, COMES_FREE, GETS_IN, TAKEN)}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: Open(take=one_is_favoured), {ALIKE.name: (2, "own state")}),
        (lambda: Latch(take=one_is_favoured), {ALIKE.name: (2, "state before")}),
        (lambda: Open(leave=first_leaves_alone), {LEAVING.name: (2, "own state")}),
        (lambda: Open(leave=nobody_leaves), {EMPTIES.name: (1, "own state")}),
        (lambda: Open(take=again_taken), {TAKES_TURNS.name: (2, "own state")}),
        (lambda: Open(leave=in_turn), {COMES_FREE.name: (3, "own state")}),
        (lambda: Open(take=never), {GETS_IN.name: (1, "own state")}),
        (lambda: Open(take=never), {TAKEN.name: (1, "own state")}),
    ],
    ids=[
        "two_run, open",
        "two_run, silent",
        "commute",
        "deadlock_free",
        "livelock_free",
        "leads_to",
        "eventually",
        "reachable",
    ],
)
def test_each_kind_objects(made: Callable[[], Any], expected: dict[str, tuple[int, str]]) -> None:
    """Each objects to the kernel with its defect, in the fewest possible steps."""
    assert expected.items() <= found(checked(made)).items()


def test_two_broken_liveness_claims_are_two_findings() -> None:
    """Of one system or two: they may have one cause, but nothing in their runs says so."""
    defects = [one for one in checked(lambda: Open(take=never)).defects if one.divergence.what == "liveness"]
    assert {one.divergence.subject for one in defects} == {GETS_IN.name, TAKEN.name}
    other = replace(system(), name="another")
    for listed in ([(system(), defects)], [(system(), defects[:1]), (other, defects[1:])]):
        assert {one.headline for one in causes(listed)} == {GETS_IN.name, TAKEN.name}
    assert len(causes([(system(), defects), (other, defects)])) == 2


def test_a_loop_that_keeps_a_promise_open_is_shown_as_one() -> None:
    """The latch alternates between the agents: one step in, then a fair loop of two; no shorter loop is fair."""
    (defect,) = (
        one for one in checked(lambda: Open(leave=in_turn)).defects if one.divergence.subject == COMES_FREE.name
    )
    data = finding_json("latch", alone(system(), defect), CLAIMS, claims_only=True, kernel="here")
    taken, *loop = data["run"]["actions"]
    assert taken["verb"] == "take" and data["loop"] == len(loop) == 2
    # Each agent leaves while it is inside, so agents inside do leave; a loop of one step would leave one agent out.
    assert [one["verb"] for one in loop] == ["leave", "leave"] and {one["agent"] for one in loop} == {0, 1}
    assert loop[0]["agent"] == taken["agent"]


def test_without_fairness_the_same_promise_is_held_against_nobody() -> None:
    """The honest latch refutes it too, by never leaving: a claim that the model refutes shows no fault of a kernel."""
    unfair = replace(COMES_FREE, fairness=())
    source = InProcess(partial(anew, lambda: Open(leave=in_turn)))
    result = check_system(
        "latch", (system(),), (unfair,), source, claims_only=True, effort=CheckEffort(examples=4, steps=6)
    )
    assert COMES_FREE.name not in found(result)


def test_what_is_stated_to_be_false_is_held_against_nobody() -> None:
    """A claim that the model refutes shows no fault of a kernel that refutes it."""
    source = InProcess(partial(anew, lambda: Latch(take=one_is_favoured)))
    effort = CheckEffort(examples=4, steps=6)
    result = check_system(
        "latch", (system(),), CLAIMS, source, claims_only=True, expected_false=[ALIKE.name], effort=effort
    )
    assert ALIKE.name not in found(result)
    assert result.not_judged[ALIKE.name] == FALSE


def test_determined_by_compares_all_runs() -> None:
    """Two steps with one key and two values: by the state before, and by the observation alone."""
    assert found(checked(Resentful))[BY_STATE.name][1] == "state before"
    assert found(checked(Rude))[BY_WORDS.name] == (1, "shown")


@pytest.mark.parametrize("claims_only", [True, False])
def test_runs_in_which_a_state_violates_a_claim_are_paired_too(claims_only: bool) -> None:
    """No run is without a fault, as both agents are told to be inside; yet all that is shown agrees."""

    class Both(Open):
        told = (0, 1)

        def step(self, action: Any) -> Any:
            """The state tells of another step whether agent 1 left."""
            self.told = (1, 0) if (action["verb"], action["agent"]) == ("leave", 1) else (0, 1)
            return super().step(action)

        def state(self) -> Any:
            """Both are inside."""
            return {"$": "State", "inside": list(self.told)}

    source, effort = InProcess(partial(anew, Both)), CheckEffort(examples=4, steps=6)
    claims = (*find("latch").claims, LEAVING, BY_STATE)
    result = check_system("latch", (system(),), claims, source, claims_only=claims_only, effort=effort)
    assert found(result).keys() == {"one_inside", LEAVING.name, BY_STATE.name}


def test_what_a_known_defect_explains_is_told_with_it() -> None:
    """Where the model judges, the pair with the same difference is one more objection to the same defect."""
    judged = check_system(
        "latch",
        (system(),),
        (*find("latch").claims, ALIKE),
        InProcess(lambda _initial: Latch(take=one_is_favoured)),
        effort=CheckEffort(examples=4, steps=6),
    )
    (objected,) = [one for one in judged.defects if one.claims]
    assert objected.divergence.subject == "taken_when_free" and ALIKE.name in objected.claims
    # Nobody is sure of the other direction, which only some runs show, so nothing brings both together.
    assert len(judged.defects) <= 2


def test_a_state_that_is_not_all_of_it_decides_nothing() -> None:
    """The graph of a kernel that hides a counter is incomplete: its claims are left open, not refuted."""

    class Tired(Open):
        takes = 0

        def step(self, action: Any) -> Any:
            """After four actions no agent gets in."""
            self.takes += 1
            return "refused" if action["verb"] == "take" and self.takes > 4 else super().step(action)

    result = checked(Tired)
    assert not {TAKES_TURNS.name, COMES_FREE.name, EMPTIES.name} & set(found(result))


def test_findings_about_several_runs_are_kept_and_asked_again(tmp_path: Path) -> None:
    """The schema allows the record, and it fails with the defective kernel and with no other."""
    for made, claim, beside, loop in (
        (lambda: Latch(take=one_is_favoured), ALIKE, True, 0),
        (lambda: Open(take=again_taken), TAKES_TURNS, False, 1),
        (lambda: Open(leave=in_turn), COMES_FREE, False, 2),
        (lambda: Open(leave=first_leaves_alone), LEAVING, True, 0),
        (Rude, BY_WORDS, True, 0),
    ):
        result = checked(made)
        (defect,) = (one for one in result.defects if one.divergence.subject == claim.name)
        data = finding_json("latch", alone(system(), defect), CLAIMS, claims_only=True, kernel="here")
        assert ("beside" in data, data.get("loop", 0)) == (beside, loop)
        path = save_finding(data, tmp_path, "module:factory")
        assert load_finding(path).claim == claim.name
        with claims_of_the_latch():
            page = finding_page(finding_in_words(path)).decode()
            assert ("Beside:" in page) == beside and ("go round for ever" in page) == bool(loop)
            assert not recheck(path, InProcess(partial(anew, made))).ok
            assert recheck(path, InProcess(lambda _initial: Open())).ok


@contextmanager
def claims_of_the_latch() -> Generator[None]:
    bundle = find("latch")
    mine = replace(
        bundle,
        claims=CLAIMS,
        expected=(),
        plans=(),
        profile=(),
        model=replace(bundle.model, systems={"latch": system()}),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenhand.conform.checking.finding.found_within", {"latch": mine}.__getitem__)
        yield
