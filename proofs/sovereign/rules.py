"""The kernel's rules as formulas, read from the functions of `model/sovereign` and of its mutants.

Here stands what their arguments are in logic: a candidate is an element of Cand, of one of three kinds (a LogAppend, of
an undeclared type, any other), its citations the citations x with `cites(c, x)`.  What the theory has no words for is
given: times, integrity events, totals of tokens, scopes and paths of the reference are words, and a rule that looks at
more of them than that is refused.  The selector is not read.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from evenhand.model.sovereign import kernel
from evenhand.model.sovereign import vocabulary as model
from evenhand.model.sovereign.constitution import REFERENCE_CONSTITUTION, cite, resolves
from evenhand.model.sovereign.kernel import Rules
from evenhand.model.sovereign.state import Config
from evenhand.smt.logic import FALSE, TRUE, Formula, Relation, Sort, Term, differ, exists, forall, same, variables
from evenhand.smt.preludes import Declarations
from evenhand.source.constants import known
from evenhand.source.expressions import Given
from evenhand.source.frames import only
from evenhand.source.refusal import refuse
from evenhand.source.rules import Orders, Other, Reader, each, giving, one_of
from evenhand.source.simplify import all_of, any_of, choice, negation, numbered, replaced, some
from evenhand.source.values import (
    Const,
    Fixed,
    Group,
    Places,
    Record,
    Truth,
    Value,
    as_group,
    element,
    equals,
    leaf,
    thing,
    truth,
)

OBS, CAND, CITE, KEY, AMOUNT = Sort("Obs"), Sort("Cand"), Sort("Cite"), Sort("Key"), Sort("Amount")
SAID = Declarations()

timestamp = SAID.relation("timestamp", OBS)
proper = SAID.relation("proper", OBS)
failure = SAID.relation("failure", OBS)
budget = SAID.relation("budget", OBS)
readable = SAID.relation("readable", OBS)
le = SAID.relation("le", AMOUNT, AMOUNT)
present = SAID.relation("present", CAND)
"""The candidate is proposed in this cycle: two cycles may share candidates."""

lacks = SAID.relation("lacks", CAND)
log_append = SAID.relation("log_append", CAND)
cites = SAID.relation("cites", CAND, CITE)
resolving = SAID.relation("resolving", CITE)
unscoped = SAID.relation("unscoped", CAND)
undeclared = SAID.relation("undeclared", CAND)
outside = SAID.relation("outside", CAND)
before = SAID.relation("before", CAND, CAND)
"""The first candidate stands before the second: the honest kernel ignores it."""

less = SAID.relation("less", KEY, KEY)
key = SAID.function("key", CAND, KEY)
count = SAID.function("count", OBS, AMOUNT)
limit = SAID.function("limit", AMOUNT)

o, p = variables(OBS, "o p")
c = CAND("c")

_ASKED = dict(zip(model.GATES, ("incomplete", "uncited", "misclaims", "unknown", "escapes"), strict=True))
"""Gate → the word for those that fail it."""

_CONFIG = known(Config())
_SEEN = each(OBS, lambda one: (TRUE, Record(model.Observation, {})))
_TYPES = tuple(one.name for one in REFERENCE_CONSTITUTION.action_types)
_KINDS: Mapping[Any, str] = {model.LOG_APPEND: model.KERNEL, Other(*_TYPES): model.USER, model.WRITE_LOCAL: model.USER}
"""The types of candidates, one for each kind, and who wrote them: only of a LogAppend does it matter."""


def _is(name: str, *of: Term) -> Formula:
    return Relation(name, tuple(one.sort for one in of))(*of)


def _candidate(one: Term, kind: Value, author: Value) -> Record:
    request = Record(model.Request, {"action_type": kind, "author": author})
    said = {name: Record(cls, {"text": known("said"), "author": known(model.USER)}) for name, cls in _PARTS.items()}
    cited = each(CITE, lambda x: (cites(one, x), thing(x)))
    return Record(model.Candidate, {"request": request, **said, "citations": cited})


_PARTS = {"scope": model.ScopeClaim, "justification": model.Justification}


def _of_kinds(one: Term) -> Record:
    """A candidate of any kind."""
    rest = all_of((~log_append(one), ~undeclared(one)))
    guards = (log_append(one), undeclared(one), rest)
    kinds, authors = (tuple(zip(guards, values, strict=True)) for values in (_KINDS, _KINDS.values()))
    return _candidate(one, one_of(*kinds), one_of(*authors))


def _resolves(given: Sequence[Value]) -> Value:
    citation = element(given[1])
    if citation is None:
        raise refuse("whether another text resolves", "ask it of a citation")
    return Truth(resolving(citation))


def _of_reference(value: Value, given: Sequence[Value]) -> Value:
    """What a function of the reference gives for the cycle's own configuration and observations."""
    if given[0] is not _CONFIG or given[1] is not _SEEN:
        raise refuse("another configuration, or other observations", "ask about those of the cycle")
    return value


_FAILS = some([o], failure(o))
_TIMELY = exists([o], proper(o) & forall([p], timestamp(p) >> same(o, p)))
_OVERSPENT = exists([o], budget(o) & (~readable(o) | ~le(count(o), limit()))) | exists(
    [o, p], budget(o) & budget(p) & differ(o, p)
)
_CALLED = Reader(
    Orders({}),
    {
        resolves: _resolves,
        cite: giving(known("a citation")),
        kernel._well_formed: giving(Truth(~lacks(c))),  # pyright: ignore[reportPrivateUsage]
        kernel.scope_claim: partial(_of_reference, Truth(unscoped(c))),
        kernel.io_allowlist: partial(_of_reference, Truth(outside(c))),
        kernel.integrity: partial(_of_reference, one_of((_FAILS, model.INTEGRITY_EVENTS[0]), (negation(_FAILS), ""))),
        kernel.issue: giving(Record(model.Warrant, {})),
        kernel.cycle_time: partial(_of_reference, one_of((_TIMELY, "now"), (negation(_TIMELY), None))),
        kernel.overspent: partial(_of_reference, Truth(_OVERSPENT)),
    },
)


@cache
def _fails(rule: kernel.Gate) -> Formula:
    """Whether a candidate fails a gate, kind by kind."""
    candidates = [_candidate(c, leaf(Const(kind)), known(author)) for kind, author in _KINDS.items()]
    found = [truth(_CALLED(rule, _CONFIG, _SEEN, one, _REFLECTION)) for one in candidates]
    return choice(log_append(c), found[0], choice(undeclared(c), found[1], found[2]))


_REFLECTION = known(model.REFLECTION)


def _offered(offer: Any) -> Formula:
    """Whether a candidate reaches the gates."""
    made: list[tuple[Value, Term]] = []

    def bound(one: Term) -> Value:
        made.append((_of_kinds(one), one))
        return made[-1][0]

    listed = each(CAND, lambda one: (present(one), bound(one)), apart=True)
    parts: list[Formula] = []
    for item in as_group(_CALLED(offer, _CONFIG, listed)).items():
        who = next((v for v in item.variables for one, term in made if one is item.value and term == v), None)
        if who is None:
            raise refuse("something else than a candidate is offered", "offer candidates")
        rest = [v for v in item.variables if v != who]
        parts.append(some(rest, replaced(item.guard, {who: c})))
    return any_of(parts)


@cache
def _verdicts(order: Any, offer: Any) -> Mapping[str, Formula]:
    """Which gate is reported of a candidate, if the gates are asked."""
    record = Record(Rules, {"order": known(order), **{name: known(name) for name in _ASKED}})
    instead: dict[Any, Given] = {name: giving(Truth(_is(word, c))) for name, word in _ASKED.items()}
    gate = _CALLED(kernel.judged, record, _CONFIG, _SEEN, _of_kinds(c), _REFLECTION, instead=instead)
    asked = (_is("judging"), _offered(offer))
    names = {**{name: f"at_{place}" for place, name in enumerate(model.GATES, 1)}, "": "admitted"}
    return {word: all_of((*asked, equals(gate, known(name)))) for name, word in names.items()}


@cache
def _decisions(issue: Any, on_exit: Any, stamp: Any) -> Mapping[tuple[bool, ...], Record]:
    """What is decided, for each answer to: is there a time, an integrity event, too much spent, somebody admitted?"""

    def listed(there: Formula) -> Group:
        places = Places(CAND, lambda _: there, _of_kinds)
        return each(CAND, lambda one: (there, _of_kinds(one)), first=_of_kinds(c), places=places)

    read = {"issue": known(issue), "on_exit": known(on_exit), "stamp": known(stamp)}
    names = ("offer", "cycle_time", "integrity", "overspent", "select", "hashed", "failed_gate")
    record = Record(Rules, {**read, **{name: known(name) for name in names}})
    found: dict[tuple[bool, ...], Record] = {}
    for timely, fails, overspent, admits in itertools.product((True, False), repeat=4):
        said: dict[Any, Value] = {
            "offer": listed(TRUE if admits else FALSE),
            "cycle_time": known("now" if timely else None),
            "integrity": known("event" if fails else ""),
            "overspent": known(overspent),
            **{"select": _of_kinds(c), "hashed": known("hash"), "failed_gate": known("gate")},
            kernel._judged: Fixed((known("hash"), known(""))),  # pyright: ignore[reportPrivateUsage]
        }
        instead: dict[Any, Given] = {name: giving(value) for name, value in said.items()}
        made = _CALLED(kernel.decide, record, _CONFIG, _SEEN, listed(TRUE), instead=instead)
        assert isinstance(made, Record)
        found[timely, fails, overspent, admits] = made
    return found


def _outcome(rules: Rules) -> Mapping[str, Formula]:
    """Which decision there is, why, and whether it has a warrant, in the words of the answers."""
    decisions = _decisions(rules.issue, rules.on_exit, rules.stamp)
    kinds = {row: only(one.fields["kind"]) for row, one in decisions.items()}
    warrants = {(kinds[row], truth(one.fields["warrant"])) for row, one in decisions.items()}
    if len(warrants) > len(set(kinds.values())):
        raise refuse("whether two decisions of one kind are warranted", "tell them apart by kind")

    def where(test: Callable[[tuple[bool, ...]], bool], atoms: tuple[Formula, ...], *row: bool) -> Formula:
        if len(row) == len(atoms):
            return TRUE if test(row) else FALSE
        return choice(atoms[len(row)], where(test, atoms, *row, True), where(test, atoms, *row, False))

    def reason(row: tuple[bool, ...]) -> Any:
        refusal = decisions[row].fields["refusal"]
        return only(refusal.fields["reason"]) if isinstance(refusal, Record) else None

    event = truth(_CALLED(rules.integrity, _CONFIG, _SEEN))
    somebody = some([c], _is("admitted", c))
    atoms = (_is("timely"), _is("exits"), _is("overspent"), somebody)
    return {
        "exits": where(lambda row: kinds[row] == model.EXIT, (_is("timely"), event, *atoms[2:])),
        "acts": where(lambda row: kinds[row] == model.ACTION, atoms),
        "untimely": where(lambda row: reason(row) == model.MISSING_REQUIRED_OBSERVATION, atoms),
        "exhausted": where(lambda row: reason(row) == model.BUDGET_EXHAUSTED, atoms),
        "warranted": any_of(_is(_KIND[kind]) for kind, there in sorted(warrants, key=repr) if there != FALSE),
    }


_KIND = {model.ACTION: "acts", model.REFUSE: "refuses", model.EXIT: "exits"}


def read(rules: Rules) -> Mapping[str, Formula]:
    """Return the words of a decision with their meanings under these rules, over c.  Raises Unreadable."""
    found = {
        "timely": truth(_CALLED(rules.cycle_time, _CONFIG, _SEEN)),
        "overspent": truth(_CALLED(rules.overspent, _CONFIG, _SEEN)),
        **{word: _fails(getattr(rules, gate)) for gate, word in _ASKED.items()},
        **_verdicts(rules.order, rules.offer),
        **_outcome(rules),
    }
    return {name: numbered(formula) for name, formula in found.items()}
