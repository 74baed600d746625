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
from evenhand.model.cud.kernel import REFERENCE, Finding, Moment, Rules
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
    FALSE,
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
    Sort,
    Term,
    Var,
    variables,
)
from evenhand.source.expressions import Given
from evenhand.source.frames import Frame, only
from evenhand.source.reading import source_of
from evenhand.source.refusal import refuse
from evenhand.source.simplify import all_of, any_of, equal, every, negation, numbered, replaced, simply_rebuilt, some
from evenhand.source.statements import Translator
from evenhand.source.values import (
    FRESH,
    Cases,
    Const,
    Elem,
    Fixed,
    Group,
    Item,
    Listing,
    Other,
    Places,
    Record,
    Truth,
    Value,
    as_group,
    equals,
    gathered,
    leaf,
    truth,
)
from evenhand.source.values import known as constant
from evenhand.source.world import World

r, s = variables(ACT, "r s")


_FORMED, _STRAY, _COVERED, _VETOED, _PASSES, _STRUCK, _CONTENDS = (
    Relation(name, (ACT,)) for name in ("formed", "stray", "covered", "vetoed", "passes", "struck", "contends")
)
_INTERFERES = Relation("interferes", (ACT, ACT))


# The arguments of the rules.


def _made(sort: Sort, make: Callable[[Var], tuple[Formula, Value]], **more: Any) -> Group:
    """The list of one value for each element of a sort, where its guard is true."""

    def items() -> list[Item]:
        fresh = FRESH(sort)
        return [Item((fresh,), *make(fresh))]

    return Group("list", items, gathered(items, "list").has, more=Listing(**more) if more else None)


def _a(term: Term) -> Value:
    return leaf(Elem(term))


_UNKNOWN = leaf(Const(Other()))
"""A text or value that is no element."""
_FIRST = _a(first_key())


def _request(act: Term) -> Record:
    def delta() -> list[Item]:
        key, value = FRESH(KEY), FRESH(VALUE)
        return [
            Item((key, value), wants(act, key, value), Fixed((_a(key), _a(value)))),
            Item((), odd_value(act), Fixed((_FIRST, leaf(Const(Opaque("nan")))))),
            Item((), misshapen(act), Fixed((_UNKNOWN, _UNKNOWN))),
        ]

    def cited() -> list[Item]:
        auth = FRESH(AUTH)
        return [Item((auth,), cites(act, auth), _a(auth)), Item((), cites_stranger(act), _UNKNOWN)]

    plain = all_of((negation(reads(act)), negation(odd_type(act))))
    kinds = ((reads(act), model.READ), (plain, model.WRITE), (odd_type(act), Other(*model.OPERATIONS)))
    fields: dict[str, Value] = {
        "action_type": Cases(tuple((guard, Const(one)) for guard, one in kinds)),
        "declared_scope": _made(KEY, lambda key: (scope(act, key), _a(key)), first=_a(head(act)), repeats=doubled(act)),
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
    return Cases(((negation(forged), Const(None)), (forged, Const(Other(None)))))


def authority(auth: Term, held_by: Term) -> Record:
    """Return an artefact as a record that this agent holds."""

    def atoms() -> list[Item]:
        pairs = ((over_read, model.READ), (over_write, model.WRITE))
        return [
            Item(((key := FRESH(KEY)),), over(auth, key), Fixed((_a(key), leaf(Const(operation)))))
            for over, operation in pairs
        ]

    fields: dict[str, Value] = {
        "authority_id": _a(auth),
        "commitment": Cases(((permits(auth), Const(model.ALLOW)), (forbids(auth), Const(model.DENY)))),
        "holder_agent_id": _a(held_by),
        "scope": gathered(atoms, "list"),
        "epoch": Cases(((early(auth), Const(0)), (negation(early(auth)), Const(1)))),
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
        return known(one), Fixed((_a(one), _UNKNOWN))

    fields: dict[str, Value] = {
        "agents": _made(AGENT, lambda who: (member(who), _a(who))),
        "world": _made(KEY, key, first=Fixed((_FIRST, _UNKNOWN))),
        "authorities": _made(AUTH, lambda auth: (TRUE, authority(auth, holder(auth)))),
        "readings": constant(readings),
    }
    return Record(model.Config, fields)


_NOW = Record(Moment, {"active": _made(AGENT, lambda who: (active(who), _a(who)))})


# Reading.


class _Order(World):
    """The orders that rules may look at: of names, and of submission."""

    def before(self, one: Term, other: Term) -> Formula:
        orders = {AGENT: ahead, ACT: sooner}
        if one.sort != other.sort or one.sort not in orders:
            raise refuse("an order of other things than agents and requests", "compare names or places")
        return orders[one.sort](one, other)


def _is_of(given: Sequence[Value]) -> Value:
    """`isinstance` of a value of a delta: elements of Value are atoms."""
    value, cls = given[0], only(given[1])
    if not isinstance(value, Cases) or cls is not Opaque:
        raise refuse("isinstance", "ask it of a value of the delta")
    return Truth(any_of(g for g, one in value.parts if isinstance(one, Const) and isinstance(one.value, cls)))


_GIVEN: Mapping[Any, Given] = {model.target: lambda given: given[0], isinstance: _is_of}


def _called(function: Any, *given: Value, instead: Mapping[Any, Given] | None = None) -> Value:
    """Return what a rule gives for these arguments.  Raises Unreadable."""
    translator = Translator(_Order(object, {}, {}), {**_GIVEN, **(instead or {})})
    found = translator.invoked(function, given, {}, Frame(source_of(REFERENCE.token), {}))
    if any(_settled(one) != FALSE for one in translator.errors.found):
        raise refuse(f"{function.__name__} may raise", "let it return something")
    return found


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


def _refused_one(refused: Group, act: Term) -> Formula:
    """Return whether a request is among those whose agents were refused."""
    parts: list[Formula] = []
    for one in refused.items():
        who = next((v for v in one.variables if v.sort == ACT and one.value == _a(by(v))), None)
        if who is None:
            raise refuse("refused is somebody else than a request's agent", "return agents of contenders")
        rest = [v for v in one.variables if v != who]
        parts.append(some(rest, replaced(one.guard, {who: act})))
    return any_of(parts)


def _says(formula: Formula, _given: Sequence[Value]) -> Value:
    return Truth(formula)


class _Reading:
    """Reads the rules of one kernel."""

    def __init__(self, rules: Rules, readings: Readings, in_force: Group | None) -> None:
        self.rules = rules
        self.config = _config(readings)
        self.made: list[tuple[Value, Term]] = []
        self.authorities = in_force or as_group(_called(rules.in_force, self.config, _NOW))

    def bound(self, act: Term) -> Value:
        """The request bound to its submitter."""
        request = _request(act)
        self.made.append((request, act))
        agent = _a(by(act))
        return _called(self.rules.bind, agent, agent, request)

    def collide(self, given: Sequence[Value]) -> Value:
        """Whether two requests interfere: the word, where they are as submitted."""
        terms = [act for value in given for one, act in self.made if one is value]
        if len(terms) == 2:
            return Truth(_INTERFERES(*terms))
        return _called(self.rules.interfere, *given)

    def finding(self) -> Value:
        """What `examine` gives, in the words of its parts."""
        words = {"malformed": negation(_FORMED(r)), "foreign": _STRAY(r), "covers": _COVERED(r), "vetoed": _VETOED(r)}
        record = Record(Rules, {name: leaf(Const(name)) for name in words})
        instead: dict[Any, Given] = {name: partial(_says, formula) for name, formula in words.items()}
        return _called(kernel.examine, record, self.config, self.authorities, self.bound(r), instead=instead)

    def contends(self) -> Formula:
        rest = negation(any_of((_PASSES(r), _STRUCK(r))))
        verdicts = ((_PASSES(r), kernel.ADMITTED), (_STRUCK(r), kernel.STRUCTURE), (rest, kernel.PASS_ONE))
        finding = {"bound": self.bound(r), "verdict": Cases(tuple((g, Const(one)) for g, one in verdicts))}
        return truth(_called(self.rules.contends, Record(Finding, finding)))

    def refused(self) -> Formula:
        """Whether pass 2 refuses a request that takes part in it."""

        places = Places(ACT, lambda act: _CONTENDS(act), self.bound)
        contenders = _made(ACT, lambda act: (_CONTENDS(act), self.bound(act)), places=places)
        collide, instead = leaf(Const("interfere")), {"interfere": self.collide}
        resolved = _called(self.rules.resolve, self.config, contenders, collide, instead=instead)
        refused = _called(self.rules.refuse, self.config, _NOW, resolved, collide, instead=instead)
        return _refused_one(as_group(refused), r)


FATES = {
    (kernel.STRUCTURE, kernel.MALFORMED_REQUEST): "struck",
    (kernel.STRUCTURE, kernel.INVALID_CAPABILITY_CLAIM): "struck",
    (kernel.ADMITTED, kernel.SCOPE_VIOLATION): "violation",
    (kernel.ADMITTED, ""): "executed",
    (kernel.PASS_TWO, ""): "collides",
    (kernel.PASS_ONE, ""): "fails",
}
"""Verdict and fault → what became of a request."""

_TOLD = {model.DONE: "gets_done", model.FAILURE: "gets_failure", model.FAULT: "gets_fault"}


def told(rules: Rules) -> Mapping[str, frozenset[str]]:
    """Return which fates of a request get each token: `gets_done` and so on, and `gets_more` for other tokens.

    The rule `token` has so few arguments that it is run on all of them.  Raises Unreadable where it looks at more.
    """
    unseen: Any = Other()
    try:
        tokens = [(fate, rules.token(Finding(unseen, *verdict))) for verdict, fate in FATES.items()]
    except AttributeError as error:
        raise refuse(f"a token that depends on more than the verdict: {error}", "tell by verdict") from None
    found = {(fate, _TOLD.get(token, "gets_more")) for fate, token in tokens}
    if len(found) > len(set(FATES.values())):
        raise refuse("two requests of one fate get two tokens", "tell them apart by verdict")
    return {name: frozenset(fate for fate, one in found if one == name) for name in (*_TOLD.values(), "gets_more")}


def _formed(reading: _Reading) -> Formula:
    malformed = _called(reading.rules.malformed, reading.config, reading.bound(r))
    return all_of((submitted(r), equals(malformed, leaf(Const("")))))


def _verdict(verdict: str, reading: _Reading) -> Formula:
    finding = reading.finding()
    assert isinstance(finding, Record)
    return all_of((submitted(r), equals(finding.fields["verdict"], leaf(Const(verdict)))))


def _examined(rule: str, reading: _Reading) -> Formula:
    return truth(_called(getattr(reading.rules, rule), reading.authorities, reading.bound(r)))


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
        lambda reading: truth(_called(reading.rules.interfere, _request(r), _request(s))),
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
