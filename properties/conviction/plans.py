"""Which engine runs which system at which scope under which budget.

Two agents are searched with everything that can be rejected, with a cycle, with late agents, with a tap, over two
Issues; three agents without READY.  Each reading that is not the default is searched alone where it matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evenhand.model.conviction.readings import Readings
from evenhand.model.conviction.vocabulary import REJECTIONS
from evenhand.model.system import reading_values
from evenhand.properties.conviction.identity import IDENTITY
from evenhand.properties.conviction.points import POINTS
from evenhand.properties.conviction.proposing import PROPOSING
from evenhand.properties.conviction.reach import EVERYWHERE, UNDER_A_READING, rejection_claim
from evenhand.properties.conviction.staking import STAKING
from evenhand.properties.conviction.ticking import TICKING
from evenhand.properties.conviction.winning import WINNING
from evenhand.properties.property import Commute, Property, TwoRun
from evenhand.properties.registry import Plan

__all__ = ["plans"]

LONG = ("standard", "deep")
_ALL: tuple[Property, ...] = (*POINTS, *PROPOSING, *STAKING, *WINNING, *TICKING, *IDENTITY)
_GRANTS = ("balances_stay_below_the_maximum", "grants_respect_the_maximum")
_CYCLE = (
    "feedback_is_lawful_and_paid",
    "feedback_is_refused_for_cause",
    "an_unchanged_text_costs_nothing",
    "a_revision_costs_at_most_the_self_stake",
    "a_revision_costs_its_share",
    "the_tap_takes_the_deficit",
    "the_tap_is_tried_first",
    "revision_cost_is_monotone",
)
"""What only a cycle shows."""
_REJECTED = ("rejected_actions_change_nothing",)
_ROUNDS = ("saturation_reaches_the_target",)
"""What needs as many rounds as saturate."""
_STAKES = (
    "stakes_change_from_round_two",
    "added_stake_begins_at_zero",
    "moved_stake_begins_at_zero",
    "moves_take_as_read",
    "add_and_move_commute_for_one_agent",
    "outsiders_decide_nothing",
)
_CLOCK = ("ticks_keep_the_order_of_stake_ticks",)
"""What needs a phase that outlasts a tick."""
_TWICE = tuple(claim.name for claim in _ALL if isinstance(claim, TwoRun | Commute))
"""What compares two runs, and so costs a multiple."""


def _names(*, but: Iterable[str]) -> tuple[str, ...]:
    gone = set(but)
    return tuple(claim.name for claim in _ALL if claim.name not in gone)


def plans() -> tuple[Plan, ...]:
    """The runs of this protocol."""
    return tuple(_plans())


def _plans() -> Iterator[Plan]:
    everything = {"hostile": 1, "strangers": 1, "outsiders": 1, "agents": 1, "cycles": 1, "texts": 2, "budget": 3}
    rejections = tuple(rejection_claim(name) for name in REJECTIONS if name not in UNDER_A_READING)
    yield Plan("issue", "explore", scope=everything, claims=(*rejections, *_names(but=(*_ROUNDS, *_CLOCK, *_TWICE))))
    yield Plan(
        "issue",
        "explore",
        LONG,
        scope={"cycles": 1, "texts": 1},
        claims=(*EVERYWHERE, *_names(but=(*_ROUNDS, *_CLOCK, *_GRANTS, *_TWICE))),
    )
    yield Plan("issue", "explore", LONG, scope={"budget": 2, "texts": 2, "cycles": 1}, claims=_CYCLE)
    yield Plan(
        "issue", "explore", LONG, scope={"think": 2, "texts": 0}, claims=_names(but=(*_ROUNDS, *_GRANTS, *_CYCLE))
    )
    yield Plan("issue", "explore", LONG, scope={"rounds": 3, "texts": 0, "budget": 2}, claims=_ROUNDS)
    yield Plan("trio", "explore", LONG, scope={"texts": 0, "budget": 2}, claims=("outsiders_decide_nothing",))
    yield Plan("series", "explore", claims=_names(but=(*_ROUNDS, *_CLOCK, *_GRANTS, *_CYCLE)))
    yield from _readings()
    yield Plan("run", "fuzz", LONG, examples=150, steps=60)


_SCOPES: Mapping[str, Mapping[str, int]] = {}


def _readings() -> Iterator[Plan]:
    """Every reading that is not a default, where it can matter."""
    for name, values in reading_values(Readings()).items():
        for value in values[1:]:
            yield _reading(name, value)


def _reading(name: str, value: Any) -> Plan:
    return Plan("issue", "explore", LONG, readings={name: value}, scope=_SCOPES.get(name, {}))
