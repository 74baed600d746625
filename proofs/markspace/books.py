"""What an agent was sent and what it was told before, for any number of agents, marks and warnings (P48, P51, P60).

Both machines run beside the record that a claim keeps: what is due to each agent, and which warnings were written.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from evenhand.core.trace import Scenario, replay
from evenhand.model.markspace import budget
from evenhand.model.markspace.composing import initial
from evenhand.model.markspace.composing_vocabulary import (
    ComposingAct,
    ComposingConfig,
    ComposingState,
    Get,
    Pattern,
    Publish,
    Subscribe,
    Unsubscribe,
)
from evenhand.model.markspace.layers_vocabulary import Layer, LayersConfig, Op, Operation, World
from evenhand.model.markspace.mutants import layers as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.budgets import ACCOUNT, KINDS, mine, rounds, x
from evenhand.proofs.markspace.delivering import (
    AGENT,
    MARK,
    PATTERN,
    a,
    by,
    clears,
    m,
    pattern,
    polls,
    subscribes,
    superseded,
)
from evenhand.proofs.markspace.stating import invariant
from evenhand.properties.markspace import composing, limits
from evenhand.properties.markspace.composing_predicates import fits as matches
from evenhand.smt.ends import drawn_runs
from evenhand.smt.logic import FALSE, TRUE, Function, differ, exists, forall, iff, same
from evenhand.smt.preludes import define, mutation, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theorem import Lemma
from evenhand.smt.transitions.invariant import Steps, around
from evenhand.smt.transitions.machine import Machine, Turn

# Queues.

queued, due = relations("queued due", AGENT, MARK)
watches, booked = relations("watches booked", AGENT, PATTERN)
given, fits = relations("given fits", PATTERN)
"""The patterns that are subscribed to; those that fit the mark that is written."""
unsubscribes, publishes, more, less = relations("unsubscribes publishes more less")
"""A poll delivered what was not due; it did not deliver all that was."""
new = Function("new", (), MARK)

_WORDS = (
    define("hears", (a,), differ(a, by()), "13.4: own writes are not queued"),
    define("taken", (pattern,), given(pattern), "P48: the patterns afterwards"),
    define("emptied", (), clears(), "P51"),
    define("left_out", (m,), FALSE, "13.4"),
)
hears, taken, emptied, left_out = (word.relation for word in _WORDS)
_delivered = queued(by(), m) & ~left_out(m)
_his = same(a, by())
_more = exists([m], _delivered & ~due(by(), m))
_less = exists([m], due(by(), m) & ~_delivered)
BOOKS = Machine.of(
    "markspace_books",
    (queued(a, m), due(a, m), watches(a, pattern), booked(a, pattern), more(), less()),
    Turn(
        subscribes(),
        {
            watches: (_his, taken(pattern)),
            booked: (_his, given(pattern)),
        },
    ),
    Turn(
        unsubscribes(),
        {one: one(a, of) & ~_his for one, of in ((queued, m), (due, m), (watches, pattern), (booked, pattern))},
    ),
    Turn(
        publishes(),
        {
            queued: queued(a, m) | (same(m, new()) & hears(a) & exists([pattern], watches(a, pattern) & fits(pattern))),
            due: due(a, m) | (same(m, new()) & differ(a, by()) & exists([pattern], booked(a, pattern) & fits(pattern))),
        },
    ),
    Turn(
        polls(),
        {
            queued: queued(a, m) & ~(_his & emptied()),
            due: due(a, m) & ~(_his & clears()),
            more: _more,
            less: ~_more & _less,
        },
    ),
    usual={more: FALSE, less: FALSE},
    init=forall([a, m], ~queued(a, m) & ~due(a, m))
    & forall([a, pattern], ~watches(a, pattern) & ~booked(a, pattern))
    & ~more()
    & ~less(),
    definitions=_WORDS,
    more=(superseded,),
)

# Conformance.

_BOOKS = composing.subscription_idempotency_p48


def view(run: Steps, number: int) -> Structure | None:
    """Return step `number` of a run of the composing system with the claim's record; None under other readings."""
    step = run[number]
    config: ComposingConfig = step.config
    if config.readings != Readings():
        return None
    act: ComposingAct = step.action
    who = getattr(act, "agent", "")
    done = who in config.names and not step.shown.refused
    names = [f"mark:{place}" for place in range(len(run[-1].after.marks) + 1)]
    patterns: set[Pattern] = set()
    for held in (held for seen in run for held in (*seen.before.patterns, *seen.after.patterns)):
        patterns |= {*(held or ())}
    patterns |= {one for seen in run if isinstance(seen.action, Subscribe) for one in seen.action.patterns}
    called = {one: f"{one.scope} {one.kind} {one.subject}" for one in sorted(patterns)}
    here = len(step.before.marks)
    written = step.after.marks[here:]
    wanted: tuple[Pattern, ...] = act.patterns if isinstance(act, Subscribe) else ()

    def named(number: int) -> str:
        return names[number - 1]

    def rows(held: Sequence[Sequence[Any] | None], named: Callable[[Any], str]) -> list[tuple[str, str]]:
        return [(name, named(one)) for name, many in zip(config.names, held, strict=True) for one in many or ()]

    def told(state: ComposingState, memory: Any) -> dict[str, Any]:
        held, owed, wrong = memory
        return {
            "queued": rows(state.queues, named),
            "due": rows(owed, named),
            "watches": rows(state.patterns, called.__getitem__),
            "booked": rows(held, called.__getitem__),
            "more": wrong == "more",
            "less": wrong == "less",
        }

    return structure(
        {"Agent": config.names, "Mark": names, "Pattern": called.values()},
        {
            "subscribes": done and isinstance(act, Subscribe),
            "unsubscribes": done and isinstance(act, Unsubscribe),
            "publishes": done and isinstance(act, Publish),
            "polls": done and isinstance(act, Get),
            "clears": isinstance(act, Get) and act.clear,
            "given": [called[one] for one in wanted],
            "fits": [called[one] for one in called if any(matches(one, mark) for mark in written)],
            "superseded": [named(mark.supersedes) for mark in step.before.marks if mark.supersedes],
            "by": who if who in config.names else config.names[0],
            "new": names[here],
            **around(run, number, told, _BOOKS),
        },
    )


_AGENTS = ComposingConfig((("alice", None), ("bob", None)), Readings(), capacity=9)
_MENU: tuple[ComposingAct, ...] = (
    *(Publish(who, place) for who in _AGENTS.names for place in ("a", "c")),
    *(Subscribe(who, (Pattern(place),)) for who in _AGENTS.names for place in ("a", "c", "a")),
    *(Get(who, clear) for who in _AGENTS.names for clear in (True, False)),
    Unsubscribe("bob"),
)


_AGAIN_SUBSCRIBED = (
    Subscribe("bob", (Pattern("a"),)),
    Subscribe("bob", (Pattern("c"),)),
    Publish("alice", "a"),
    Get("bob", True),
)


def samples(system: Any) -> Iterator[Steps]:
    """Yield a run with a second subscription, and seeded runs of two agents that write, subscribe and poll."""

    def pick(choose: random.Random, state: ComposingState) -> ComposingAct:
        again = Publish(choose.choice(_AGENTS.names), "c", supersedes=1)
        return again if 0 < len(state.marks) < 3 and choose.random() < 0.25 else choose.choice(_MENU)

    yield tuple(replay(system, Scenario(_AGENTS, initial(_AGENTS)[0], _AGAIN_SUBSCRIBED)).steps)
    yield from drawn_runs(system, _AGENTS, "books", 24, 9, pick)


_invariant = partial(
    invariant,
    system="composing",
    machine=BOOKS,
    lemmas=(
        Lemma("queues_are_as_booked", forall([a, m], iff(queued(a, m), due(a, m)))),
        Lemma("patterns_are_as_booked", forall([a, pattern], iff(watches(a, pattern), booked(a, pattern)))),
        Lemma("nothing_was_wrong", ~more() & ~less()),
    ),
    witness=exists([a, m], queued(a, m)) & polls(),
    view=view,
    samples=samples,
    memory=("due", "booked", "more", "less"),
    reach=5,
    scope="any number of agents, patterns and marks",
)
_AGAIN = mutation(BOOKS.theory, faulty.delivered_again, {"emptied": FALSE})

IDEMPOTENT = _invariant(
    claim=_BOOKS,
    always=~more(),
    mutants=(
        _AGAIN,
        mutation(BOOKS.theory, faulty.subscriptions_pile_up, {"taken": given(pattern) | watches(by(), pattern)}),
        mutation(BOOKS.theory, faulty.own_writes_queued, {"hears": TRUE}),
    ),
)
ONCE = _invariant(
    claim=composing.at_most_once_delivery_p51,
    always=~(more() | less()),
    mutants=(
        _AGAIN,
        mutation(BOOKS.theory, faulty.peeking_consumes, {"emptied": TRUE}),
        mutation(BOOKS.theory, faulty.superseded_marks_are_lost, {"left_out": superseded(m)}),
    ),
)

# Warnings of the budget.

warned, written = relations("warned written", ACCOUNT)
(over,) = relations("over", ACCOUNT)
"""Usage is beyond the warning fraction once the round is counted."""
(fit,) = relations("fit")
"""No warning was written twice, and none that blocks."""
_WARNING = (
    define("noted", (), TRUE, "9.10: that it was warned is remembered"),
    define("blocks", (), FALSE, "9.10: the warning is not blocking"),
)
noted, blocks = (word.relation for word in _WARNING)
_due = rounds() & mine(x) & over(x)
_new = _due & ~warned(x)
WARNINGS = Machine.of(
    "markspace_warnings_of_budgets",
    (warned(x), written(x), fit()),
    Turn(
        TRUE,
        {
            warned: warned(x) | (_due & noted()),
            written: written(x) | _new,
            fit: fit() & ~exists([x], _new & (written(x) | blocks())),
        },
    ),
    init=fit() & forall([x], ~warned(x) & ~written(x)),
    definitions=_WARNING,
)
_WARNED = limits.budget_warning_threshold_p60
_SPENDING = LayersConfig(frozenset({Layer.BUDGET}), ("alice", "bob"), Readings(), budget=(5, 5))


def view_warnings(run: Steps, number: int) -> Structure | None:
    """Return step `number` of a run of a deployment whose only layer is the budget, with the warnings so far."""
    step = run[number]
    config: LayersConfig = step.config
    if config.layers != _SPENDING.layers or config.readings != Readings():
        return None
    act: Operation = step.action
    accounts = [(who, place, kind) for place, who in enumerate(config.agents) for kind in (0, 1)]
    called = {(who, kind): f"{who}/{KINDS[kind]}" for who, _, kind in accounts}
    used, ceiling = step.after.budget.used, step.before.budget.ceiling

    def told(state: World, said: Any) -> dict[str, Any]:
        assert state.budget is not None
        pairs = [one[:2] for one in said]
        return {
            "warned": [called[who, kind] for who, place, kind in accounts if state.budget.warned[place][kind]],
            "written": [f"{who}/{about}" for who, about in pairs],
            "fit": len({*pairs}) == len(pairs) and not any(one[2] for one in said),
        }

    happens = {
        "rounds": act.op is Op.ROUND and step.shown.accepted,
        "mine": [called[who, kind] for who, _, kind in accounts if who == act.agent],
        "over": [
            called[who, kind]
            for who, place, kind in accounts
            if budget.warns(used[place][kind], ceiling[place][kind], config.fraction)
        ],
    }
    return structure({"Account": called.values()}, {**happens, **around(run, number, told, _WARNED)})


def samples_of_warnings(system: Any) -> Iterator[Steps]:
    """Return seeded runs of rounds, by any variant."""

    def pick(choose: random.Random, _state: World) -> Operation:
        tokens = choose.choice([(4, 0), (0, 4), (0, 0), (5, 1)])
        return Operation(Op.ROUND, choose.choice(_SPENDING.agents), tokens=tokens)

    return drawn_runs(system, _SPENDING, "warnings", 8, 6, pick)


WARNED_ONCE = invariant(
    claim=_WARNED,
    system="layers",
    machine=WARNINGS,
    always=fit(),
    lemmas=(Lemma("who_was_warned_is_remembered", forall([x], written(x) >> warned(x))),),
    witness=exists([x], warned(x)),
    view=view_warnings,
    samples=samples_of_warnings,
    memory=("written", "fit"),
    scope="any number of agents, kinds of tokens and rounds",
    mutants=(
        mutation(WARNINGS.theory, faulty.warns_every_round, {"noted": FALSE}),
        mutation(WARNINGS.theory, faulty.budget_warning_blocks, {"blocks": TRUE}),
    ),
)
