"""The kernel's rules as formulas, read from the functions of `model/cud` (and of its mutants) themselves.

Here stands what their arguments are in logic: a request is an element of Act, its declared scope the keys k with
`scope(r, k)`, an artefact an element of Auth.  What the functions make of them is read by `evenhand.source`, and
`comparison` compares the result with the functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from evenhand.core.atoms import Opaque
from evenhand.model.cud import kernel
from evenhand.model.cud import vocabulary as model
from evenhand.model.cud.kernel import Finding, Moment, Rules
from evenhand.model.cud.readings import Readings
from evenhand.proofs.cud.vocabulary import (
    ACT,
    AGENT,
    AUTH,
    KEY,
    VALUE,
    active,
    ahead,
    by,
    cites,
    cites_stranger,
    doubled,
    early,
    first_key,
    forbids,
    forged_agent,
    forged_id,
    head,
    holder,
    known,
    member,
    misshapen,
    odd_type,
    odd_value,
    over_read,
    over_write,
    permits,
    reads,
    scope,
    sooner,
    submitted,
    wants,
)
from evenhand.smt.logic import (
    TRUE,
    And,
    Apply,
    Equal,
    Exists,
    Forall,
    Formula,
    Holds,
    Not,
    Or,
    Relation,
    Term,
    Var,
    variables,
)
from evenhand.source.constants import known as constant
from evenhand.source.expressions import Given
from evenhand.source.frames import only
from evenhand.source.refusal import refuse
from evenhand.source.rules import Orders, Other, Reader, each, giving, one_of, unchanged
from evenhand.source.simplify import all_of, any_of, equal, every, negation, numbered, replaced, simply_rebuilt, some
from evenhand.source.values import (
    FRESH,
    Cases,
    Const,
    Fixed,
    Group,
    Item,
    Listing,
    Places,
    Record,
    Truth,
    Value,
    as_group,
    equals,
    gathered,
    leaf,
    thing,
    truth,
)

r, s = variables(ACT, "r s")


_FORMED, _STRAY, _COVERED, _VETOED, _PASSES, _STRUCK, _CONTENDS = (
    Relation(name, (ACT,)) for name in ("formed", "stray", "covered", "vetoed", "passes", "struck", "contends")
)
_INTERFERES = Relation("interferes", (ACT, ACT))


# The arguments of the rules.


_UNKNOWN = leaf(Const(Other()))
"""A text or value that is no element."""
_FIRST = thing(first_key())


def _request(act: Term) -> Record:
    def delta() -> list[Item]:
        key, value = FRESH(KEY), FRESH(VALUE)
        return [
            Item((key, value), wants(act, key, value), Fixed((thing(key), thing(value)))),
            Item((), odd_value(act), Fixed((_FIRST, leaf(Const(Opaque("nan")))))),
            Item((), misshapen(act), Fixed((_UNKNOWN, _UNKNOWN))),
        ]

    def cited() -> list[Item]:
        auth = FRESH(AUTH)
        return [Item((auth,), cites(act, auth), thing(auth)), Item((), cites_stranger(act), _UNKNOWN)]

    plain = all_of((negation(reads(act)), negation(odd_type(act))))
    fields: dict[str, Value] = {
        "action_type": one_of(
            (reads(act), model.READ), (plain, model.WRITE), (odd_type(act), Other(*model.OPERATIONS))
        ),
        "declared_scope": each(
            KEY, lambda key: (scope(act, key), thing(key)), first=thing(head(act)), repeats=doubled(act)
        ),
        # A delta that names a key twice is `misshapen`, as one that names an unknown key.
        "proposed_delta": Group(
            "list", delta, gathered(delta, "list").has, more=Listing(repeats=negation(TRUE), twice=negation(TRUE))
        ),
        "authorities_cited": gathered(cited, "list"),
        "agent_id": _perhaps(forged_agent(act)),
        "action_id": _perhaps(forged_id(act)),
    }
    return Record(model.Request, fields)


def _perhaps(forged: Formula) -> Value:
    """None, or a text that is none of those it should be."""
    return one_of((negation(forged), None), (forged, Other(None)))


def authority(auth: Term, held_by: Term) -> Record:
    """Return an artefact as a record that this agent holds."""

    def atoms() -> list[Item]:
        pairs = ((over_read, model.READ), (over_write, model.WRITE))
        return [
            Item(((key := FRESH(KEY)),), over(auth, key), Fixed((thing(key), leaf(Const(operation)))))
            for over, operation in pairs
        ]

    fields: dict[str, Value] = {
        "authority_id": thing(auth),
        "commitment": one_of((permits(auth), model.ALLOW), (forbids(auth), model.DENY)),
        "holder_agent_id": thing(held_by),
        "scope": gathered(atoms, "list"),
        "epoch": one_of((early(auth), 0), (negation(early(auth)), 1)),
    }
    return Record(model.Authority, fields)


def holding(guard: Callable[[Var, Var], Formula]) -> Group:
    """Return the artefacts as held by the agents for which the guard is true."""

    def items() -> list[Item]:
        auth, who = FRESH(AUTH), FRESH(AGENT)
        return [Item((auth, who), guard(auth, who), authority(auth, who))]

    return gathered(items, "list")


def _config(readings: Readings) -> Record:
    def key(one: Var) -> tuple[Formula, Value]:
        return known(one), Fixed((thing(one), _UNKNOWN))

    fields: dict[str, Value] = {
        "agents": each(AGENT, lambda who: (member(who), thing(who))),
        "world": each(KEY, key, first=Fixed((_FIRST, _UNKNOWN))),
        "authorities": each(AUTH, lambda auth: (TRUE, authority(auth, holder(auth)))),
        "readings": constant(readings),
    }
    return Record(model.Config, fields)


_NOW = Record(Moment, {"active": each(AGENT, lambda who: (active(who), thing(who)))})


# Reading.


def _is_of(given: Sequence[Value]) -> Value:
    """`isinstance` of a value of a delta: elements of Value are atoms."""
    value, cls = given[0], only(given[1])
    if not isinstance(value, Cases) or cls is not Opaque:
        raise refuse("isinstance", "ask it of a value of the delta")
    return Truth(any_of(g for g, one in value.parts if isinstance(one, Const) and isinstance(one.value, cls)))


def _settled(formula: Formula) -> Formula:
    """Return a formula with what the axioms make the same.

    One request has one agent, the first key is known, and a READ is of the enum.
    """
    match formula:
        case Equal(Apply(one, (left,)), Apply(other, (right,))) if one == other == by:
            return equal(left, right)
        case Holds(relation, (Apply(function, ()),)) if relation == known and function.name == "first_key":
            return TRUE
        case Exists((one,), Holds(relation, (other,))) if relation == known and one == other:
            return TRUE
        case Exists(bound, body):
            return some(bound, _settled(body))
        case Forall(bound, body):
            return every(bound, _settled(body))
        case Equal() | Holds():
            return formula
        case Or((Holds(relation, (act,)) as one, And((Not(other), Not(Holds(odd, _)) as rest)))) if (
            relation == reads and one == other and odd == odd_type and rest == negation(odd_type(act))
        ):
            return rest
        case _:
            return simply_rebuilt(formula, _settled)


_CALLED = Reader(
    Orders({AGENT: ahead, ACT: sooner}),
    {model.target: unchanged, isinstance: _is_of},
    _settled,
)
"""Calls of rules, which may look at the orders of names and of submission."""


def _refused_one(refused: Group, act: Term) -> Formula:
    """Return whether a request is among those whose agents were refused."""
    parts: list[Formula] = []
    for one in refused.items():
        who = next((v for v in one.variables if v.sort == ACT and one.value == thing(by(v))), None)
        if who is None:
            raise refuse("refused is somebody else than a request's agent", "return agents of contenders")
        rest = [v for v in one.variables if v != who]
        parts.append(some(rest, replaced(one.guard, {who: act})))
    return any_of(parts)


class _Reading:
    """Reads the rules of one kernel."""

    def __init__(self, rules: Rules, readings: Readings, in_force: Group | None) -> None:
        self.rules = rules
        self.config = _config(readings)
        self.made: list[tuple[Value, Term]] = []
        self.authorities = in_force or as_group(_CALLED(rules.in_force, self.config, _NOW))

    def bound(self, act: Term) -> Value:
        """The request bound to its submitter."""
        request = _request(act)
        self.made.append((request, act))
        agent = thing(by(act))
        return _CALLED(self.rules.bind, agent, agent, request)

    def collide(self, given: Sequence[Value]) -> Value:
        """Whether two requests interfere: the word, where they are as submitted."""
        terms = [act for value in given for one, act in self.made if one is value]
        if len(terms) == 2:
            return Truth(_INTERFERES(*terms))
        return _CALLED(self.rules.interfere, *given)

    def finding(self) -> Value:
        """What `examine` gives, in the words of its parts."""
        words = {"malformed": negation(_FORMED(r)), "foreign": _STRAY(r), "covers": _COVERED(r), "vetoed": _VETOED(r)}
        record = Record(Rules, {name: leaf(Const(name)) for name in words})
        instead: dict[Any, Given] = {name: giving(Truth(formula)) for name, formula in words.items()}
        return _CALLED(kernel.examine, record, self.config, self.authorities, self.bound(r), instead=instead)

    def contends(self) -> Formula:
        rest = negation(any_of((_PASSES(r), _STRUCK(r))))
        verdict = one_of((_PASSES(r), kernel.ADMITTED), (_STRUCK(r), kernel.STRUCTURE), (rest, kernel.PASS_ONE))
        return truth(_CALLED(self.rules.contends, Record(Finding, {"bound": self.bound(r), "verdict": verdict})))

    def refused(self) -> Formula:
        """Whether pass 2 refuses a request that takes part in it."""

        places = Places(ACT, lambda act: _CONTENDS(act), self.bound)
        contenders = each(ACT, lambda act: (_CONTENDS(act), self.bound(act)), places=places)
        collide, instead = leaf(Const("interfere")), {"interfere": self.collide}
        resolved = _CALLED(self.rules.resolve, self.config, contenders, collide, instead=instead)
        refused = _CALLED(self.rules.refuse, self.config, _NOW, resolved, collide, instead=instead)
        return _refused_one(as_group(refused), r)


_EXECUTED, _FAULTY, _REFUSED, _COLLIDES = (
    Relation(name, (ACT,))(r) for name in ("executed", "faulty", "refused", "collides")
)
FATES: Mapping[tuple[str, str], Formula] = {
    (kernel.ADMITTED, ""): _EXECUTED,
    (kernel.STRUCTURE, kernel.MALFORMED_REQUEST): _STRUCK(r),
    (kernel.STRUCTURE, kernel.INVALID_CAPABILITY_CLAIM): _STRUCK(r),
    (kernel.ADMITTED, kernel.SCOPE_VIOLATION): _FAULTY & ~_STRUCK(r),
    (kernel.PASS_TWO, ""): _COLLIDES,
    (kernel.PASS_ONE, ""): _REFUSED & ~_COLLIDES,
}
"""Verdict and fault → what became of a request."""

_TOLD = {model.DONE: "gets_done", model.FAILURE: "gets_failure", model.FAULT: "gets_fault"}


def told(rules: Rules) -> Mapping[str, Formula]:
    """Return which requests get each token: `gets_done` and so on, and `gets_more` for other tokens.

    Raises Unreadable where the rule `token` looks at more than verdict and fault.
    """
    found: dict[tuple[Formula, str], None] = {}
    for (verdict, fault), fate in FATES.items():
        token = _CALLED(rules.token, Record(Finding, {"verdict": constant(verdict), "fault": constant(fault)}))
        found[fate, _TOLD.get(only(token), "gets_more")] = None
    if len(found) > len(set(FATES.values())):
        raise refuse("two requests of one fate get two tokens", "tell them apart by verdict")
    return {name: any_of(fate for fate, one in found if one == name) for name in (*_TOLD.values(), "gets_more")}


def _formed(reading: _Reading) -> Formula:
    malformed = _CALLED(reading.rules.malformed, reading.config, reading.bound(r))
    return all_of((submitted(r), equals(malformed, leaf(Const("")))))


def _verdict(verdict: str, reading: _Reading) -> Formula:
    finding = reading.finding()
    assert isinstance(finding, Record)
    return all_of((submitted(r), equals(finding.fields["verdict"], leaf(Const(verdict)))))


def _examined(rule: str, reading: _Reading) -> Formula:
    return truth(_CALLED(getattr(reading.rules, rule), reading.authorities, reading.bound(r)))


def _contends(reading: _Reading) -> Formula:
    found = reading.contends()
    return found if found == _PASSES(r) else all_of((submitted(r), found))


def _collides(reading: _Reading) -> Formula:
    passed = [] if reading.contends() == _PASSES(r) else [_PASSES(r)]
    return all_of((_CONTENDS(r), *passed, reading.refused()))


_WORDS: Mapping[str, tuple[tuple[str, ...], Callable[[_Reading], Formula]]] = {
    "formed": (("malformed",), _formed),
    "stray": (("in_force", "foreign"), partial(_examined, "foreign")),
    "covered": (("in_force", "covers"), partial(_examined, "covers")),
    "vetoed": (("in_force", "vetoed"), partial(_examined, "vetoed")),
    "passes": ((), partial(_verdict, kernel.ADMITTED)),
    "struck": ((), partial(_verdict, kernel.STRUCTURE)),
    "contends": (("contends",), _contends),
    "interferes": (
        ("interfere",),
        lambda reading: truth(_CALLED(reading.rules.interfere, _request(r), _request(s))),
    ),
    "collides": (("contends", "resolve", "refuse", "interfere"), _collides),
}
"""Word → the rules that it is read from, beside `bind`, and how."""

_READ: dict[tuple[Any, ...], Formula] = {}
"""Words by the functions from which they were read: most mutants share most of them."""

_USUAL = Readings()


def read(
    rules: Rules,
    readings: Readings = _USUAL,
    *,
    in_force: Group | None = None,
) -> Mapping[str, Formula]:
    """Return the words of the two passes with their meanings under these rules, over the request r (and s).

    `in_force` are the artefacts that count, where the rule that says so is not readable.  Raises Unreadable.
    """
    reading = _Reading(rules, readings, in_force)
    found: dict[str, Formula] = {}
    for name, (asked, word) in _WORDS.items():
        key = (name, readings, in_force, *(getattr(rules, one) for one in ("bind", *asked)))
        if key not in _READ:
            _READ[key] = numbered(_settled(word(reading)))
        found[name] = _READ[key]
    return found
