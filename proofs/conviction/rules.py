"""The rules as formulas, read from the functions of `model/conviction` and of its mutants.

Here stands what their arguments are in logic: a proposal is an element, its score a number of which only the order is
looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from evenhand.model.conviction import scoring
from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.exact import Surd
from evenhand.model.conviction.readings import Readings
from evenhand.model.conviction.rules import Rules
from evenhand.smt.arithmetic import NUMBER, below, number, times
from evenhand.smt.logic import FALSE, TRUE, Formula, Relation, Sort, Term
from evenhand.smt.preludes import numbers, relations
from evenhand.source.comprehensions import places_of
from evenhand.source.expressions import Given
from evenhand.source.frames import only
from evenhand.source.rules import Orders, Reader, each
from evenhand.source.simplify import assumed, numbered, some
from evenhand.source.values import (
    Cases,
    Const,
    Fixed,
    Group,
    Kept,
    Num,
    Places,
    Record,
    Value,
    element,
    equals,
    known,
    leaf,
    thing,
)

PROPOSAL = Sort("Proposal")
p = PROPOSAL("p")
score, age = numbers("score age", PROPOSAL)
"""The sum of the effective stakes on a proposal; the age of its LastStakeTick: a greater age is an earlier tick, and a
proposal without one is older than any."""
(never,) = relations("never", PROPOSAL)
"""The proposal has no LastStakeTick."""
(named_before,) = relations("named_before", PROPOSAL, PROPOSAL)
"""The first's name comes before the second's."""
top, first = relations("top first", PROPOSAL)
"""The highest score; the earliest LastStakeTick of those."""

_CONFIG = Record(model.Config, {"readings": known(Readings())})


def _scaled(given: Sequence[Value]) -> Value:
    term, factor = element(given[0]), only(given[1])
    assert term is not None and isinstance(factor, int)
    return leaf(Kept(times(number(factor), term), Surd))


def _listed(there: Callable[[Term], Formula], at: Callable[[Term], Value]) -> Group:
    return each(PROPOSAL, lambda one: (there(one), at(one)), apart=True, places=Places(PROPOSAL, there, at))


def _scored(one: Term) -> Fixed:
    last = Cases(((never(one), Const(None)), (~never(one), Num(age(one)))))
    return Fixed((thing(one), leaf(Kept(score(one), Surd)), last))


@cache
def ranked(rules: Rules) -> Mapping[str, Formula]:
    """Return which proposal wins and why, under these rules, as words over p.  Raises Unreadable."""
    scores = _listed(lambda _: TRUE, _scored)
    said: dict[str, Formula] = {"top": FALSE}

    def settled(formula: Formula) -> Formula:
        """Of finitely many proposals one has the highest score."""
        return assumed(numbered(formula), numbered(some([p], said["top"])))

    def named(word: Relation, function: Any) -> tuple[Any, Given]:
        """The function's list is that of the proposals of which the word is true."""

        def given(arguments: Sequence[Value]) -> Value:
            places = places_of(calling(function, *arguments))
            assert places is not None
            said[word.name] = places.there(p)
            return _listed(word, places.at)

        return function, given

    calling = Reader(Orders({PROPOSAL: named_before, NUMBER: below}), {Surd.times: _scaled}, settled)
    instead = dict((named(top, scoring.highest), named(first, scoring.earliest)))
    shown = calling(rules.winner, _CONFIG, Record(model.State, {}), scores, instead=instead)
    assert isinstance(shown, Fixed)
    who, why = shown.parts
    said["wins"] = equals(who, thing(p))
    for word, reason in (("by_tick", "earliest LastStakeTick"), ("full_tie", "full tie")):
        said[word] = equals(why, known(reason))
    return {word: numbered(formula) for word, formula in said.items()}
