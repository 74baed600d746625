"""What is queued, kept in queues and delivered, for any number of agents, patterns and marks (P49, P50, P52, P55)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

from evenhand.core.system import AnySystem
from evenhand.model.markspace.composing import initial
from evenhand.model.markspace.composing_vocabulary import (
    ComposingAct,
    ComposingConfig,
    ComposingState,
    ComposingStep,
    Get,
    Pattern,
    Publish,
    Subscribe,
    Unsubscribe,
)
from evenhand.model.markspace.marks import Kind
from evenhand.model.markspace.mutants import layers
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.stating import theorem
from evenhand.properties.markspace import composing
from evenhand.properties.markspace.composing_predicates import fits as matches
from evenhand.smt.ends import End, Ends, end_at, ends_along
from evenhand.smt.logic import Formula, Function, Relation, Sort, differ, exists, iff, same, variables
from evenhand.smt.preludes import Faults, Twice, define, mutation, ordered, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import beside, line, structure
from evenhand.smt.theory import Axiom, Theory

# Matching: a mark may supersede another, which patterns fitted or did not.

AGENT, PATTERN = Sort("Agent"), Sort("Pattern")
a, pattern = AGENT("a"), PATTERN("pattern")
writer = Function("writer", (), AGENT)
watches = Relation("watches", (AGENT, PATTERN))
fits, fits_old = relations("fits fits_old", PATTERN)
"""The pattern fits the mark that is written, or the one that it supersedes."""
first = Relation("first", ())
"""Nothing was written before: no pattern and no mark says so."""


def _queued(how: Formula) -> dict[str, Formula]:
    return {"queued": differ(a, writer()) & exists([pattern], watches(a, pattern) & how)}


MATCHING = Theory.of(
    "markspace_matching",
    first,
    fits_old,
    definitions=(define("queued", (a,), _queued(fits(pattern))["queued"], "13.1, 13.4"),),
)
MATCHING_TWICE = Twice.apart(MATCHING, first.name)
_MATCHES = Faults.of(
    MATCHING,
    {
        layers.matcher_counts: _queued(fits(pattern) & first()),
        layers.old_watchers_are_told: _queued(fits(pattern) | fits_old(pattern)),
        layers.own_writes_queued: {"queued": exists([pattern], watches(a, pattern) & fits(pattern))},
    },
)


def view_matching(taken: ComposingStep) -> Structure | None:
    """Return a mark that is written among subscribers, as a structure."""
    act, config, before, after = taken.action, taken.config, taken.before, taken.after
    if not isinstance(act, Publish) or len(after.marks) != len(before.marks) + 1:
        return None
    subscribed = {(name, one) for name, held in zip(config.names, before.patterns, strict=True) for one in held or ()}
    names = {one: "/".join((one.scope, one.kind, one.subject)) for _, one in subscribed}
    old = before.marks[act.supersedes - 1] if act.supersedes else None
    grown = zip(config.names, before.queues, after.queues, strict=True)
    told = {
        "watches": [(name, names[one]) for name, one in subscribed],
        "fits": [said for one, said in names.items() if matches(one, after.marks[-1])],
        "fits_old": [said for one, said in names.items() if old is not None and matches(one, old)],
        "first": not before.marks,
        "queued": [name for name, old, new in grown if len(new) > len(old)],
        "writer": act.agent,
    }
    return structure({"Agent": config.names, "Pattern": sorted(names.values())}, told)


view_matched_twice = beside(view_matching, "first", "queued")
"""One mark and the same subscriptions, after more and after less was written."""


_AGENTS = ComposingConfig((("alice", None), ("bob", None)), Readings(), capacity=3)


@Ends
def samples_of_matching(system: AnySystem) -> Iterator[End]:
    """Yield marks that supersede or do not, written by either of two agents, for several patterns, by any variant."""
    held = ((Pattern("a"),), (Pattern("a/b"), Pattern("c")), (Pattern("a", subject="y"), Pattern("", "need")), ())
    drafts = [("a", Kind.OBSERVATION), ("ab", Kind.OBSERVATION), ("c", Kind.NEED)]
    for one, two in product(held, held):
        acts = [*map(Subscribe, _AGENTS.names, (one, two))]
        for author, (place, kind), old in product(_AGENTS.names, drafts, (None, 0, 1)):
            before = [] if old is None else [Publish("alice", "a/b")]
            last = Publish(author, place, kind, supersedes=old or 0)
            yield ends_along(system, _AGENTS, initial(_AGENTS)[0], *acts, *before, last)[-1]


_matching = partial(
    theorem,
    system="composing",
    scope="any number of agents and patterns",
    samples=samples_of_matching,
    variables=(a,),
)

FITTING = _matching(
    claim=composing.watch_subset_p50,
    theory=MATCHING,
    view=view_matching,
    assumes=MATCHING.word("queued", a),
    goal=exists([pattern], watches(a, pattern) & fits(pattern)),
    witness=exists([pattern], fits_old(pattern) & ~fits(pattern)),
    mutants=(
        *_MATCHES.refuted(layers.old_watchers_are_told),
        _MATCHES.unseen(layers.own_writes_queued, "an agent hears of its own marks, and they match"),
    ),
)
"""P50."""

PURE = _matching(
    claim=composing.pattern_match_purity_p55,
    theory=MATCHING_TWICE.theory,
    view=view_matched_twice,
    goal=MATCHING_TWICE.alike("queued", a),
    witness=first() & ~MATCHING_TWICE.second("first") & exists([a], MATCHING.word("queued", a)),
    mutants=MATCHING_TWICE.mutants(
        *_MATCHES.refuted(layers.matcher_counts),
        _MATCHES.unseen(layers.own_writes_queued, "who hears it is wrong, and no less determined"),
    ),
)
"""P55."""

# Queues: an agent subscribes, or polls.

MARK = Sort("Mark")
m, n, o = variables(MARK, "m n o")
by = Function("by", (), AGENT)
subscribes, polls, clears = relations("subscribes polls clears")
(queued,) = relations("waits", AGENT, MARK)
(written_before,) = relations("written_before", MARK, MARK)
watched, superseded = relations("watched superseded", MARK)
"""The marks that the new patterns match; those that another one supersedes.  Mutants go by both."""
(delivered,) = relations("delivered", MARK)
_mine = queued(by(), m)
_kept = queued(a, m) & ~(polls() & clears() & same(a, by()))
QUEUES = Theory.of(
    "markspace_queues",
    watched,
    superseded,
    axioms=(
        Axiom("writes_are_ordered", ordered(written_before, m, n, o), "P32"),
        Axiom("one_operation", ~(subscribes() & polls()), "13.4"),
    ),
    definitions=(
        define("kept", (a, m), _kept, "13.3, 13.4: what is queued afterwards"),
        define("delivered", (m,), polls() & _mine, "13.4"),
        define("sooner", (m, n), delivered(m) & delivered(n) & written_before(m, n), "P52"),
    ),
)
_PAST: dict[str, Formula] = {"kept": _kept | (subscribes() & same(a, by()) & watched(m))}
_LATEST: dict[str, Formula] = {"sooner": delivered(m) & delivered(n) & written_before(n, m)}
_AGAIN: dict[str, Formula] = {"kept": queued(a, m)}
_PEEKED: dict[str, Formula] = {"kept": queued(a, m) & ~(polls() & same(a, by()))}
_LOST: dict[str, Formula] = {"delivered": polls() & _mine & ~superseded(m)}


def view(taken: ComposingStep) -> Structure | None:
    """Return a subscription or a poll of an agent of the system, as a structure."""
    act, config, before, after = taken.action, taken.config, taken.before, taken.after
    if not isinstance(act, Subscribe | Get) or act.agent not in config.names or config.readings != Readings():
        return None
    if not before.marks:
        return None
    names = {mark.number: f"mark:{mark.number}" for mark in before.marks}
    shown = [names[mark.number] for mark in taken.shown.delivered or ()]
    patterns = act.patterns if isinstance(act, Subscribe) else ()

    def queues(state: ComposingState) -> list[tuple[str, str]]:
        pairs = zip(config.names, state.queues, strict=True)
        return [(name, names[number]) for name, queue in pairs for number in queue]

    told = {
        "subscribes": isinstance(act, Subscribe),
        "polls": isinstance(act, Get),
        "clears": isinstance(act, Get) and act.clear,
        "waits": queues(before),
        "written_before": line(list(names.values())),
        "watched": [names[mark.number] for mark in before.marks if any(matches(one, mark) for one in patterns)],
        "superseded": [names[mark.supersedes] for mark in before.marks if mark.supersedes],
        "kept": queues(after),
        "delivered": shown,
        "sooner": line(shown),
        "by": act.agent,
    }
    return structure({"Agent": config.names, "Mark": names.values()}, told)


_ACTS: tuple[ComposingAct, ...] = (
    Publish("alice", "a"),
    Publish("alice", "c", supersedes=1),
    Publish("bob", "a/b"),
    Subscribe("bob", (Pattern("c"), Pattern("a"))),
    Unsubscribe("bob"),
    Get("bob", True),
)
_LAST: tuple[ComposingAct, ...] = (
    Subscribe("bob", (Pattern("a"),)),
    Subscribe("alice", (Pattern("c"),)),
    Get("bob", True),
    Get("bob", False),
    Get("alice", True),
)


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield subscriptions and polls after every run of three operations, by any variant."""
    begun = Subscribe("bob", (Pattern("a"), Pattern("c"))), Subscribe("alice", (Pattern("a"),))
    for acts in product(_ACTS, repeat=3):
        way, taken = ends_along(system, _AGENTS, initial(_AGENTS)[0], *begun, *acts)[-1]
        yield from (end_at(system, way, taken.after, act) for act in _LAST)


_theorem = partial(
    theorem,
    system="composing",
    scope="any number of agents and marks",
    theory=QUEUES,
    view=view,
    samples=samples,
)
_says = QUEUES.word

PROSPECTIVE = _theorem(
    claim=composing.subscription_prospective_p49,
    variables=(a, m),
    assumes=subscribes(),
    goal=iff(_says("kept", a, m), queued(a, m)),
    witness=exists([m], watched(m) & ~queued(by(), m)),
    mutants=(
        mutation(QUEUES, layers.retroactive_subscription, _PAST),
        mutation(QUEUES, layers.delivered_again, _AGAIN, "it is about polls"),
        mutation(QUEUES, layers.peeking_consumes, _PEEKED, "it is about polls"),
    ),
)
IN_ORDER = _theorem(
    claim=composing.write_order_delivery_p52,
    variables=(m, n),
    assumes=_says("delivered", m) & _says("delivered", n) & written_before(m, n),
    goal=_says("sooner", m, n) & ~_says("sooner", n, m),
    needs=("writes_are_ordered",),
    mutants=(
        mutation(QUEUES, layers.latest_first, _LATEST),
        mutation(QUEUES, layers.superseded_marks_are_lost, _LOST, "what is delivered comes in order"),
    ),
)
