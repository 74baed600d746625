"""The predicates of the claims of `conviction`, computed from configuration, states, actions and events.

Written independently of the model's functions: changed tokens by another recursion, the weight of a stake from the
closed form, the phases from a list, the ranking function from the bounds of section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from evenhand.core.plan import Expectation, undecided
from evenhand.core.system import Step
from evenhand.model.conviction.exact import Amount, Surd, theta
from evenhand.model.conviction.readings import settled
from evenhand.model.conviction.texts import Text
from evenhand.model.conviction.vocabulary import (
    CLOSED,
    FEEDBACK,
    FINALIZE,
    IDLE,
    PROPOSE,
    REVISE,
    STAKE,
    Act,
    Config,
    Event,
    Issue,
    Revise,
    Seat,
    Shown,
    State,
    Tick,
)

OPEN = (PROPOSE, FEEDBACK, REVISE, STAKE)
"""The phases in which agents act."""


RunStep: TypeAlias = Step[Config, State, Act, Shown]
"""A step of any of the systems, which differ only in size."""

Kind = TypeVar("Kind", bound=Act)


def left_out(because: str) -> Expectation:
    """Expect UNDECIDED in `run` because no plan checks the claim there under some budget."""
    return undecided(because, system="run", engine="plan")


BESIDE = left_out("another run beside every drawn one costs a multiple: drawn under the standard and the deep budget")
"""The expectation of claims that compare two runs."""


def on_configs(test: Callable[[Config], bool]) -> Callable[[Config], bool]:
    """A test of configurations unchanged, so that a lambda gets a type."""
    return test


def on_values(test: Callable[[Config, Any], bool]) -> Callable[[Config, Any], bool]:
    """A test of a state or of a monitor's value unchanged, so that a lambda gets a type."""
    return test


def act(step: RunStep, kind: type[Kind]) -> Kind:
    """The action as one of this kind; the caller's antecedent ensures it."""
    assert isinstance(step.action, kind)
    return step.action


def actor(action: Act) -> str:
    """The agent that acts; empty for a tick."""
    return "" if isinstance(action, Tick) else action.agent


def accepted(step: RunStep, *kinds: type) -> bool:
    """Whether the action is of one of these kinds and was not rejected."""
    return isinstance(step.action, kinds) and not step.shown.rejected


def ticking(step: RunStep) -> bool:
    """Whether this is a tick inside a phase in which agents act."""
    return accepted(step, Tick) and step.before.phase in OPEN


def is_open(_config: Config, state: State) -> bool:
    """Whether an Issue is open."""
    return state.phase not in (IDLE, CLOSED)


def finalizes(step: RunStep) -> bool:
    """Whether an Issue is finalized."""
    return any(event.kind == "Finalize" for event in step.shown.events)


def events(shown: Shown, *kinds: str) -> Iterator[Event]:
    """The events of these kinds."""
    return (event for event in shown.events if event.kind in kinds)


def seat_of(state: State, agent: str) -> Seat:
    """The seat of an agent that has one."""
    return next(seat for seat in state.seats if seat.agent == agent)


def balance(state: State, agent: str) -> Amount:
    """An agent's liquid points."""
    return seat_of(state, agent).balance


def owned(state: State, agent: str, proposal: str) -> dict[int, Amount]:
    """An agent's stake on a proposal, by rounds held."""
    return {one.held: one.amount for one in state.entries if (one.owner, one.proposal) == (agent, proposal)}


def total(amounts: Iterable[Amount]) -> Amount:
    """The exact sum."""
    return sum(amounts, 0)


def stakes_on(state: State) -> dict[tuple[str, str], Amount]:
    """The stake by owner and proposal."""
    found: dict[tuple[str, str], Amount] = {}
    for one in state.entries:
        found[one.owner, one.proposal] = found.get((one.owner, one.proposal), 0) + one.amount
    return found


# Revisions


@lru_cache(maxsize=8_192)
def _kept(old: tuple[str, ...], new: tuple[str, ...]) -> int:
    """The number of tokens that stay: the longest common subsequence, by recursion from the far end."""
    if not old or not new:
        return 0
    if old[-1] == new[-1]:
        return 1 + _kept(old[:-1], new[:-1])
    return max(_kept(old[:-1], new), _kept(old, new[:-1]))


def _words(text: Text) -> tuple[str, ...]:
    return tuple(" ".join(part or "" for part in (text.title, text.action, text.rationale)).split())


def changed(config: Config, old: Text, new: Text) -> Fraction:
    """The share of tokens changed, counted as the reading says."""
    before, after = _words(old), _words(new)
    if not before and not after:
        return Fraction(0)
    kept, longer = _kept(before, after), max(len(before), len(after))
    replaced = longer - kept
    counted = replaced + min(len(before), len(after)) - kept
    twice = config.readings.diff_ratio == "insertions_plus_deletions"
    return Fraction(counted if twice else replaced, longer)


def price(step: RunStep) -> Amount | None:
    """The cost in an accepted revision's event; None for any other step."""
    if not accepted(step, Revise):
        return None
    cost: Amount = next(events(step.shown, "Revision")).get("cost")
    return cost


# Weights


def weight(config: Config, rounds: int) -> Surd:
    """Return 16.7 from its closed form: 1 + (Max - 1) * (1 - theta**r)."""
    c = config.constants
    r = rounds + (1 if config.readings.rounds_from == "one" else 0)
    if config.readings.multiplier_cap == "saturation_rounds" and r > c.saturation:
        r = c.saturation
    one = theta(1 - c.fraction, c.saturation, 0)
    grown = one + theta(1 - c.fraction, c.saturation, r).times(-1)
    return one + grown.times(c.greatest - 1)


# The clock


def done(config: Config, state: State, seat: Seat) -> bool:
    """Whether the agent is complete in the sense of 9.1."""
    if state.phase == PROPOSE:
        return seat.proposal != ""
    return seat.signal == "ready" or (seat.signal == "acted" and acting_is_enough(config, state))


def acting_is_enough(config: Config, state: State) -> bool:
    """Whether an agent that took one optional action in this tick is complete (9.1, B 16.1.1)."""
    in_stake = state.phase == STAKE and same_readings(config, completes="staking_action")
    return in_stake or same_readings(config, completes="any_payload")


def phases(config: Config, issue: Issue) -> list[tuple[str, int]]:
    """Return every phase of an Issue in order, with its turn (12, 16.1)."""
    loop = [(phase, turn) for turn in range(1, issue.cycles + 1) for phase in (FEEDBACK, REVISE)]
    rounds = [(STAKE, turn) for turn in range(1, config.rounds + 1)]
    return [(PROPOSE, 0), *loop, *rounds, (FINALIZE, 0)]


def phase_ends(config: Config, state: State) -> bool:
    """Whether a tick now ends the phase: all are done, or the timer of an agent that is not gets full (9.1)."""
    if config.readings.phase_end == "never_stated":
        return False
    inside = [seat for seat in state.seats if seat.assigned]
    late = [seat for seat in inside if not done(config, state, seat)]
    return not late or any(seat.timer + 1 >= config.constants.think_ticks for seat in late)


def _longest_phase(config: Config, issue: Issue, phase: str) -> int:
    """The largest number of ticks of a phase.

    With T = MaxThinkTicks, PROPOSE takes at most T, because a late agent stays late.  Elsewhere READY holds for one
    tick, so agents may be late by turns: each of n can miss T - 1 ticks before one agent misses one too many.
    """
    if phase == FINALIZE:
        return 1
    most, people = config.constants.think_ticks, len(issue.assigned)
    if not people or config.readings.clock != "free_running":
        return 1
    return most if phase == PROPOSE else people * (most - 1) + 1


def longest_issue(config: Config, issue: Issue) -> int:
    """The most ticks from the one that opens an Issue to the one that finalizes it, both counted."""
    return 1 + sum(_longest_phase(config, issue, phase) for phase, _ in phases(config, issue))


def ticks_left(config: Config, state: State) -> int:
    """The ranking function: a bound on the ticks until every Issue is finalized, whatever agents do."""
    if state.phase == CLOSED:
        return 0
    rest = sum(longest_issue(config, issue) for issue in config.issues[state.issue + 1 :])
    issue = config.issues[state.issue]
    if state.phase == IDLE:
        return rest + longest_issue(config, issue)
    order = phases(config, issue)
    if (state.phase, state.turn) not in order:
        return rest + 1  # no phase of this Issue: `phases_come_in_order` refutes that
    place = order.index((state.phase, state.turn))
    later = sum(_longest_phase(config, issue, phase) for phase, _ in order[place + 1 :])
    if state.phase == FINALIZE:
        return rest + 1
    inside = [seat for seat in state.seats if seat.assigned]
    spare = [config.constants.think_ticks - 1 - seat.timer for seat in inside]
    if config.readings.clock != "free_running":
        return rest + later + 1
    if state.phase == PROPOSE:
        # Every agent without a proposal has missed every tick so far.
        here = 1 + min((s for s, seat in zip(spare, inside, strict=True) if not seat.proposal), default=0)
    else:
        here = 1 + sum(max(s, 0) for s in spare)
    return rest + later + max(here, 1)


def same_readings(config: Config, **wanted: Any) -> bool:
    """Whether the configuration's readings, with the preset applied, have these values."""
    mine = settled(config.readings)
    return all(getattr(mine, name) == value for name, value in wanted.items())
