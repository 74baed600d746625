"""The theory of one compile, for any number of feasible actions, preferences and declared collisions.

Sorts: actions of the inventory, preferences, collisions (`Pair`).  The words of the compiler (`rule_1`, `keeps`,
`gratuitous`, `false_pair`, `compiles`, `permitted` …) are read from the functions of `model/apcm` and of its mutants;
the predicates of the claims (`wrong`, `keeping`, `clean` …) are written here, and no mutant replaces them.

GENERAL does not fix the number of members of a collision, so its theorems hold under the repaired rules.  TEXT adds
that a collision is a pair of two different preferences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from evenhand.model.apcm import compiler
from evenhand.model.apcm import vocabulary as model
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.step import advanced, step
from evenhand.smt.logic import (
    FALSE,
    TRUE,
    And,
    Formula,
    Function,
    Relation,
    Sort,
    Term,
    differ,
    exists,
    forall,
    iff,
    same,
    variables,
)
from evenhand.smt.preludes import Declarations, ordered
from evenhand.smt.theory import Axiom, Theory
from evenhand.source.constants import known
from evenhand.source.frames import only
from evenhand.source.refusal import refuse
from evenhand.source.rules import Faults, Orders, Other, Reader, each, giving, one_of, unchanged
from evenhand.source.simplify import all_of, choice, negation, numbered
from evenhand.source.values import Fixed, Group, Record, Truth, Value, as_group, element, merged, thing, truth

ACT, PREF, PAIR = Sort("Act"), Sort("Pref"), Sort("Pair")
SAID = Declarations()

feasible = SAID.relation("feasible", ACT)
violates = SAID.relation("violates", ACT, PREF)
av = SAID.relation("av", PREF)
rp = SAID.relation("rp", PREF)
declared = SAID.relation("declared", PAIR)
member = SAID.relation("member", PAIR, PREF)
linked = SAID.relation("linked")
"""The artefact's digest is the previous artefact's."""

maintain = SAID.relation("maintain")
has_precedent = SAID.relation("has_precedent")
old_av = SAID.relation("old_av", PREF)
old_rp = SAID.relation("old_rp", PREF)
old_declared = SAID.relation("old_declared", PAIR)
before_act = SAID.relation("before_act", ACT, ACT)
before_pref = SAID.relation("before_pref", PREF, PREF)
"""The first name comes before the second: the honest compiler ignores it."""

first = Function("first", (PAIR,), PREF)
second = Function("second", (PAIR,), PREF)

a, b, c = variables(ACT, "a b c")
p, q, r = variables(PREF, "p q r")
g = PAIR("g")


# The arguments of the rules.

_WORLD = Orders({ACT: before_act, PREF: before_pref})


def _some(sort: Sort, has: Callable[[Term], Formula], value: Callable[[Term], Value] = thing) -> Group:
    """Return the tuple of some elements, sorted by name."""
    return each(sort, lambda one: (has(one), value(one)), repeats=FALSE, rising=_WORLD.before)


def _pair(one: Term) -> Group:
    return replace(_some(PREF, lambda p: member(one, p)), of=one)


def _fields(av: Relation, rp: Relation, declared: Relation) -> Record:
    parts: dict[str, Value] = {"av": _some(PREF, av), "rp": _some(PREF, rp), "pairs": _some(PAIR, declared, _pair)}
    return Record(model.Fields, parts)


_FIELDS, _OLD = _fields(av, rp, declared), _fields(old_av, old_rp, old_declared)
_SITUATION = Record(model.Situation, {"feasible": each(ACT, lambda one: (feasible(one), thing(one)), repeats=FALSE)})
"""The environment lists each feasible action once (2.1), in an order of its own."""

_MODE = one_of((maintain(), model.MAINTAIN), (~maintain(), model.REVISE))
_PLACE = known(model.State())


def _violates(given: Sequence[Value]) -> Value:
    action = element(given[1])
    if action is None:
        raise refuse("the violations of something else than an action", "ask for those of an action")
    return replace(_some(PREF, lambda p: violates(action, p)), kind="set", more=None)


def _digest(given: Sequence[Value]) -> Value:
    if given[0] is not _OLD:
        raise refuse("the digest of other fields than the previous ones", "compare the fields")
    return known("digest")


_CALLED = Reader(
    _WORLD,
    {
        model.Situation.violates: _violates,
        model.Config.published: giving(_SITUATION),
        model.digest_of: _digest,
        **dict.fromkeys((str, compiler.ranked, advanced), unchanged),
    },
)
"""Calls of rules; the order in which errors are reported, and the end of the run, are not in the theory."""


def _said(name: str, sort: Sort, value: Callable[[Term], Value] = thing) -> Group:
    """Return the tuple of those of which a word is true."""
    return _some(sort, Relation(name, (sort,)), value)


def _is(name: str) -> Formula:
    return Relation(name, ())()


# Reading.


_USUAL = Readings()


def result(compiles: Formula, masked: Relation) -> Record:
    """Return what compiling gives, where it compiles and masks these actions."""
    errors = merged(compiles, Fixed(()), Fixed((known(""),)))
    parts = {"fields": _FIELDS, "mode": _MODE, "errors": errors, "forbidden": _some(ACT, masked)}
    return Record(model.Compiled, parts)


class Compiler:
    """The rules of one compiler, each word made of words; `inventory` says which actions there are."""

    def __init__(
        self, rules: compiler.Rules, readings: Readings = _USUAL, inventory: Callable[[Term], Formula] = lambda _: TRUE
    ) -> None:
        self.functions = {one.name: known(getattr(rules, one.name)) for one in fields(rules)}
        usual = known(model.Config((), (), (), readings=readings))
        assert isinstance(usual, Record)
        self.config = Record(model.Config, {**usual.fields, "actions": _some(ACT, inventory)})

    def call(self, rule: str, *given: Value) -> Value:
        """Return what a rule gives."""
        return _CALLED(only(self.functions[rule]), *given)

    def has(self, rule: str, one: Value, *given: Value) -> Formula:
        """Return whether something is among what a rule gives."""
        return as_group(self.call(rule, *given)).has(one)

    def inside(self, function: Any, *given: Value, results: Mapping[Any, Value], **said: Value) -> Value:
        """Return what a function of rules gives, where some of the rules, and some other functions, say this."""
        record = Record(compiler.Rules, {**self.functions, **{name: known(name) for name in said}})
        instead = {one: giving(value) for one, value in {**results, **said}.items()}
        return _CALLED(function, record, self.config, *given, instead=instead)

    def after(self, test: Callable[[Value, Value], Formula]) -> Formula:
        """Return a test of the previous fields and of the artefact: where there are such fields, else where not."""
        found: list[Formula] = []
        for previous, digest in ((_OLD, "digest"), (known(None), None)):
            named = one_of((linked(), digest), (~linked(), Other(digest)))
            found.append(test(previous, Record(model.Artifact, {"previous_artifact_digest": named, "mode": _MODE})))
        return choice(has_precedent(), *found)

    def compiled(self) -> tuple[Formula, Formula]:
        """Return that it compiles, and that its mask has the action a."""
        found = self.inside(
            compiler.compiled,
            *(_SITUATION, _OLD, Record(model.Artifact, {"mode": _MODE})),
            results={},
            read=Fixed((_FIELDS, Fixed(()))),
            linked=Truth(~_is("unlinked")),
            uncollided=Truth(_is("uncollided")),
            keepers=_said("keeps", ACT),
            gratuitous=_said("gratuitous", PREF),
            overlap=_said("overlapping", PREF),
            false_pairs=_said("false_pair", PAIR, _pair),
            unprecedented=Truth(_is("unprecedented")),
            forbidden=_said("rule_1", ACT),
        )
        assert isinstance(found, Record)
        compiles = negation(truth(found.fields["errors"]))
        mask = as_group(found.fields["forbidden"]).has(thing(a))
        parts = mask.parts if isinstance(mask, And) else (mask,)
        body = numbered(compiles)
        return compiles, all_of(_is("compiles") if numbered(part) == body else part for part in parts)

    def permitted(self, compiled: Record) -> Formula:
        """Return that the action a is left, by what compiled."""
        return self.has("permit", thing(a), self.config, _SITUATION, compiled)

    def shown(self, compiled: Record, permitted: Relation) -> Mapping[str, Value]:
        """Return what a step shows, by what compiled and what is permitted."""
        submit, results = Record(model.Submit, {"artifact": known(None)}), {compiler.compiled: compiled}
        said: dict[str, Value] = {"validate": Fixed(()), "keep": _OLD, "permit": _some(ACT, permitted)}
        found = self.inside(step, _PLACE, submit, results=results, **said)
        assert isinstance(found, Fixed) and isinstance(found.parts[1], Record)
        return found.parts[1].fields

    def offered(self, compiled: Record, permitted: Relation) -> Formula:
        """Return that the action a is offered."""
        return as_group(self.shown(compiled, permitted)["offered"]).has(thing(a))


def read(rules: compiler.Rules, readings: Readings = _USUAL) -> Mapping[str, Formula]:
    """Return the words of a compile with their meanings under these rules, over a, p and g.  Raises Unreadable."""
    of, both = Compiler(rules, readings), (_SITUATION, _FIELDS)
    compiles, forbidden = of.compiled()
    said, permitted = result(_is("compiles"), Relation("forbidden", (ACT,))), Relation("permitted", (ACT,))
    found = {
        "rule_1": of.has("forbidden", thing(a), *both),
        "keeps": of.has("keepers", thing(a), *both),
        "unlinked": of.after(lambda old, artifact: negation(truth(of.call("linked", of.config, old, artifact)))),
        "uncollided": truth(of.call("uncollided", _FIELDS)),
        "gratuitous": of.has("gratuitous", thing(p), *both, _said("keeps", ACT)),
        "overlapping": of.has("overlap", thing(p), of.config, _FIELDS),
        "false_pair": of.has("false_pairs", _pair(g), *both),
        "unprecedented": of.after(lambda old, _: truth(of.call("unprecedented", of.config, old, _FIELDS, _MODE))),
        "compiles": compiles,
        "forbidden": forbidden,
        "permitted": of.permitted(said),
        "offered": of.offered(said, permitted),
        "gridlock": truth(of.shown(said, permitted)["gridlock"]),
    }
    return {name: numbered(formula) for name, formula in found.items()}


KERNEL = read(compiler.REFERENCE)
"""The words that `model/apcm` itself defines."""

for _name, _bound, _source in (
    ("rule_1", (a,), "6.1: violates a required preservation, or something not authorised"),
    ("keeps", (a,), "6.4: A_ok, the actions that keep RP"),
    ("unlinked", (), "3.2: a digest that is not the previous artefact's"),
    ("uncollided", (), "6.4 step 1: authorised without a collision"),
    ("gratuitous", (p,), "6.4 step 2: authorised, and avoided by an action of A_ok"),
    ("overlapping", (p,), "3.1, reading av_rp_overlap=error: both authorised and to be preserved"),
    ("false_pair", (g,), "6.2: declared, and some feasible action violates no member"),
    ("unprecedented", (), "6.3: MAINTAIN without a precedent, or not of it"),
    ("compiles", (), "6: no rule fails"),
    ("forbidden", (a,), "7: the mask of a successful compile"),
    ("permitted", (a,), "7: default allow"),
    ("offered", (a,), "11.6: the selector that leaves every choice open"),
    ("gridlock", (), "7: compiled, and everything is forbidden"),
):
    SAID.word(_name, _bound, KERNEL[_name], _source)

wrong = SAID.word(
    "wrong",
    (a,),
    feasible(a) & exists([p], violates(a, p) & (rp(p) | ~av(p))),
    "6.1: what the mask should forbid, for the claims",
)
keeping = SAID.word("keeping", (a,), feasible(a) & forall([p], violates(a, p) >> ~rp(p)), "6.4: A_ok, for the claims")
clean = SAID.word("clean", (a,), feasible(a) & forall([p], ~violates(a, p)), "violates nothing, for the claims")
exactly = SAID.word("exactly", (a,), forall([p], iff(violates(a, p), av(p))), "violates exactly AV, for the claims")
minimal = SAID.word(
    "minimal",
    (a,),
    feasible(a)
    & forall(
        [b],
        (feasible(b) & forall([p], violates(b, p) >> violates(a, p))) >> forall([q], violates(a, q) >> violates(b, q)),
    ),
    "no feasible action violates less, for the claims",
)
covers = SAID.word(
    "covers",
    (g,),
    forall([a], feasible(a) >> exists([p], member(g, p) & violates(a, p))),
    "every feasible action violates a member, for the claims",
)

OBSERVED = tuple(name for name in KERNEL if name not in ("rule_1", "keeps"))
"""The defined predicates whose values a step of the executable model shows."""


GENERAL = SAID.theory(
    "apcm_compile",
    *(ACT, PREF, PAIR),
    axioms=(
        Axiom(
            "precedent_had_a_collision",
            exists([p], old_av(p)) >> exists([g], old_declared(g)),
            "6.4 step 1: the previous artefact compiled",
        ),
        Axiom(
            "collisions_have_members",
            forall([g], exists([p], member(g, p))),
            "3.1, repaired: a collision is a set of one preference or more",
        ),
        Axiom(
            "no_precedent_says_nothing",
            ~has_precedent() >> (forall([p], ~old_av(p) & ~old_rp(p)) & forall([g], ~old_declared(g))),
            "6.3",
        ),
    ),
)
word = GENERAL.word

TEXT = replace(
    GENERAL,
    name="apcm_pairs",
    functions=(first, second),
    axioms=(
        *GENERAL.axioms,
        Axiom(
            "collisions_are_pairs",
            forall([g], differ(first(g), second(g)))
            & forall([g, p], iff(member(g, p), same(p, first(g)) | same(p, second(g)))),
            "3.1: conflict_attribution is a set of pairs of two preferences",
        ),
    ),
)


def named(theory: Theory, *, preferences: bool = True) -> Theory:
    """Return the theory with ordered names, for theorems whose mutants break ties by name."""
    source = "of texts: what a mutant may break ties by"
    orders = [Axiom("actions_have_names", ordered(before_act, a, b, c), source)]
    if preferences:
        orders.append(Axiom("preferences_have_names", ordered(before_pref, p, q, r), source))
    return replace(theory, axioms=(*theory.axioms, *orders))


FAULTS = Faults(TEXT, read)
"""The meanings that mutants give to words, each read from the mutant's own functions."""
