"""Refinements of the literature hold, and each is broken by a planted fault; told with the abstract state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

import evenhand
from evenhand.core.property import Property
from evenhand.evidence.judge import refutes
from tests.deep import rest_slow
from tests.known import sync_termination
from tests.known.gallery import SYSTEMS

MESSAGES = 3


@evenhand.refines("Two-phase commit is transaction commit.", abstract=SYSTEMS["transaction_commit"].transaction_commit)
def is_commit(state: Any) -> Any:
    """The states of the resource managers."""
    return state.rms


@evenhand.refines("Termination is detected as if messages took no time.", abstract=sync_termination.detection(3))
def is_synchronous(state: Any) -> Any:
    """A node to which a message is on its way is as good as active."""
    active = tuple(one or coming for one, coming in zip(state.active, state.pending, strict=True))
    return sync_termination.State(active, SYSTEMS["ewd998"].detected(state))


class Link(NamedTuple):
    """The message being sent, the number received, and the bits on their way: of a message, of an answer."""

    sending: int = 0
    received: int = 0
    message: int | None = None
    answer: int | None = None


def lossy(name: str, *, compares: bool) -> Any:
    """Return a channel that loses messages and answers, with retries and an alternating bit."""

    def actions(link: Link) -> Iterator[str]:
        if link.sending < MESSAGES and link.message is None:
            yield "send"
        if link.message is not None:
            yield from ("lose message", "deliver")
        if link.answer is not None:
            yield from ("lose answer", "hear")

    def step(link: Link, action: str) -> Link:
        match action:
            case "send":
                return link._replace(message=link.sending % 2)
            case "lose message":
                return link._replace(message=None)
            case "lose answer":
                return link._replace(answer=None)
            case "deliver":
                new = not compares or link.message == link.received % 2
                return link._replace(message=None, answer=link.message, received=link.received + new)
            case _:
                return link._replace(answer=None, sending=link.sending + (link.answer == link.sending % 2))

    def bounded(link: Link) -> list[str]:
        return [one for one in actions(link) if link.received <= MESSAGES]

    return evenhand.system(name, initial=[Link()], actions=bounded, step=step, ends=True)


reliable = evenhand.system(
    "reliable",
    initial=[(0, 0)],
    actions=lambda state: (
        ["send"] * (state[0] == state[1] and state[0] < MESSAGES) + ["receive"] * (state[1] < state[0])
    ),
    step=lambda state, action: (state[0] + 1, state[1]) if action == "send" else (state[0], state[1] + 1),
    shows=False,
    ends=True,
)


@evenhand.refines(
    "What is sent arrives once, in order.",
    abstract=reliable,
    start=lambda config: 0,
    update=lambda begun, step: max(begun, step.before.sending + 1) if step.action == "send" else begun,
)
def is_reliable(link: Link, begun: int) -> tuple[int, int]:
    """How many messages were ever begun is history."""
    return begun, link.received


PAIRS: dict[str, tuple[Property, Any, Any]] = {
    "commit": (is_commit, SYSTEMS["two_phase"].two_phase, SYSTEMS["two_phase"].hasty),
    "channel": (is_reliable, lossy("lossy", compares=True), lossy("careless_receiver", compares=False)),
    "termination": (is_synchronous, SYSTEMS["ewd998"].ewd998, SYSTEMS["ewd998"].forgetful_998),
}


@pytest.mark.parametrize(("claim", "right", "wrong"), rest_slow(PAIRS.values(), 2), ids=PAIRS.keys())
def test_a_refinement_holds_and_a_fault_breaks_it(claim: Any, right: Any, wrong: Any) -> None:
    """A plain loop over the pairs of states agrees; the story names the step that the other system lacks."""
    found = evenhand.explore(right, [claim], max_states=100_000)
    assert (found.complete, found.holds) == (True, True), found.verdicts
    assert plainly_refines(claim, right)
    (verdict,) = evenhand.explore(wrong, [claim], max_states=100_000).verdicts
    assert verdict.status is evenhand.Status.REFUTED and not plainly_refines(claim, wrong)
    assert f"{claim.abstract.name} has no step from" in verdict.because


def going_on(system: Any) -> Any:
    """The system under weak fairness of all steps that change its state, as WF_vars(Next) in TLA+."""
    step = system.step.__plain__
    fair: dict[str, Any] = {"goes on": evenhand.Fairness("weak", lambda state, action: step(state, action) != state)}

    def assumed(_config: None) -> dict[str, Any]:
        return fair

    return replace(system, fair=assumed)


TWO_PHASE, EWD998 = SYSTEMS["two_phase"], SYSTEMS["ewd998"]


@evenhand.refines("Two-phase commit decides as surely as commit.", abstract=going_on(is_commit.abstract))
def is_sure(state: Any) -> Any:
    """The states of the resource managers."""
    return state.rms


def two_phase_that(step: Any) -> Any:
    """Two-phase commit with this step, under the same assumption."""
    known = TWO_PHASE.two_phase
    made = evenhand.system(
        "two_phase", initial=list(known.initial(None)), actions=known.actions.__plain__, step=step, ends=True
    )
    return going_on(made)


def says_nothing(state: Any, action: Any) -> Any:
    """A transaction manager that decides, and tells nobody."""
    after = TWO_PHASE.step(state, action)
    return replace(after, sent=state.sent) if action[0] in ("commit", "abort") else after


def token_moves(_state: Any, action: Any) -> bool:
    """The token is started or passed on."""
    return action[0] in ("start", "pass")


def ring_that(step: Any) -> Any:
    """The ring of EWD 998 with this step; the token does not rest for ever."""
    fair = {"token": evenhand.Fairness("weak", token_moves)}
    actions = EWD998.actions
    start = list(EWD998.ewd998.initial(None))
    return evenhand.system("ewd998", initial=start, actions=actions, step=step, fair=fair, ends=True)


def keeps_counting(state: Any, action: Any) -> Any:
    """A node that does not count what it receives."""
    after = EWD998.ewd998.step.__plain__(state, action)
    return replace(after, count=state.count) if action[0] == "receive" else after


LIVE: dict[str, tuple[Any, str, Any, Any]] = {
    "commit": (is_sure, "goes on", two_phase_that(TWO_PHASE.step), two_phase_that(says_nothing)),
    "termination": (is_synchronous, "token", ring_that(EWD998.ewd998.step.__plain__), ring_that(keeps_counting)),
}


@pytest.mark.parametrize(("claim", "assumption", "right", "stuck"), rest_slow(LIVE.values()), ids=LIVE.keys())
def test_a_refinement_keeps_what_must_happen(claim: Any, assumption: str, right: Any, stuck: Any) -> None:
    """Under its assumption, stuttering or not; not without it, and not in a twin that is as safe but stays still."""
    live = evenhand.keeps_fairness(claim, fairness=(assumption,), stutter=True)
    lazy = evenhand.keeps_fairness(claim, stutter=True, name="lazy")
    safe, kept, without = evenhand.explore(right, [claim, live, lazy], max_states=100_000).verdicts
    assert (safe.status, kept.status) == (evenhand.Status.HOLDS, evenhand.Status.HOLDS), kept.because
    assert without.status is evenhand.Status.REFUTED
    safe, broken = evenhand.explore(stuck, [claim, live], max_states=100_000).verdicts
    assert (safe.status, broken.status) == (evenhand.Status.HOLDS, evenhand.Status.REFUTED), broken.because
    assert broken.evidence is not None and refutes(stuck, live, broken.evidence)


def plainly_refines(claim: Any, system: Any) -> bool:
    """Walk states with their history, with the functions of the two systems alone."""
    waiting = [(state, claim.start(None)) for state in system.initial(None)]
    starts = list(claim.abstract.initial(None))
    if any(claim.mapping(None, state, past, None) not in starts for state, past in waiting):
        return False
    seen = set(waiting)
    while waiting:
        state, past = waiting.pop()
        image = claim.mapping(None, state, past, None)
        answers = [claim.abstract.step.__plain__(image, action) for action in claim.abstract.actions.__plain__(image)]
        for action in system.actions.__plain__(state):
            after = system.step.__plain__(state, action)
            later = claim.update(past, evenhand.Step(None, state, action, None, after))
            if claim.mapping(None, after, later, None) not in (image, *answers):
                return False
            if (after, later) not in seen:
                seen.add((after, later))
                waiting.append((after, later))
    return True


def test_an_initial_state_without_a_counterpart_is_found_even_where_it_ends() -> None:
    """No step leaves the second initial state."""
    system = evenhand.system(
        "two_starts", initial=[0, 7], actions=lambda state: ["up"] * (state < 3), step=lambda state, _: state + 1
    )

    @evenhand.refines(
        "It counts from nought.",
        abstract=evenhand.system(
            "counts", initial=[0], actions=lambda state: ["up"], step=lambda state, _: (state + 1) % 8
        ),
    )
    def as_is(state: int) -> int:
        return state

    (verdict,) = evenhand.explore(system, [as_is]).verdicts
    assert verdict.status is evenhand.Status.REFUTED and "7 is no initial state" in verdict.because


@pytest.mark.slow
def test_random_runs_break_it_too_and_a_refinement_that_never_moves_shows_nothing() -> None:
    """The state machine judges by the same automaton; a constant image is vacuous."""
    assert not evenhand.fuzz(SYSTEMS["two_phase"].hasty, [is_commit], examples=400, seed=1).verdicts[0].holds

    @evenhand.refines("Nothing happens.", abstract=SYSTEMS["transaction_commit"].transaction_commit)
    def constant(state: Any) -> Any:
        return ("working",) * 3

    (verdict,) = evenhand.explore(SYSTEMS["two_phase"].two_phase, [constant]).verdicts
    assert verdict.status is evenhand.Status.UNDECIDED


def test_a_mapping_and_the_other_system_are_checked_at_once() -> None:
    """One sentence each."""

    def of_five(first: Any, _second: Any, _third: Any, _fourth: Any, _fifth: Any) -> Any:
        return first

    with pytest.raises(TypeError, match="takes one of"):
        evenhand.refines("It does.", abstract=reliable)(of_five)
    with pytest.raises(TypeError, match="is a system, not"):
        evenhand.refines("It does.", abstract="reliable", name="x")(lambda state: state)  # type: ignore[arg-type]
