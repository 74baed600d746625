"""The theory of one compile, for any number of feasible actions, preferences and declared collisions.

Sorts: actions of the inventory, preferences, collisions (`Pair`).  The compiler's words (`rule_1`, `keeps`,
`gratuitous`, `false_pair`, `compiles`, `permitted` …) are definitions, which mutants replace; the words of the claims
(`wrong`, `keeping`, `clean` …) are definitions as well, which no mutant may touch.

GENERAL leaves open how many members a collision has; so what is proved of it holds under the repaired rules.  TEXT
adds that a collision is a pair of two different preferences.
"""

from __future__ import annotations

from dataclasses import replace

from evenhand.smt.logic import (
    Definition,
    Formula,
    Function,
    Relation,
    Sort,
    Var,
    conjunction,
    differ,
    exists,
    forall,
    iff,
    same,
    variables,
)
from evenhand.smt.theory import Axiom, Theory

__all__ = [
    "ACT",
    "GENERAL",
    "OBSERVED",
    "PAIR",
    "PREF",
    "TEXT",
    "av",
    "before_act",
    "before_pref",
    "declared",
    "feasible",
    "first",
    "has_precedent",
    "linked",
    "maintain",
    "member",
    "named",
    "old_av",
    "old_declared",
    "old_rp",
    "rp",
    "second",
    "violates",
]

ACT, PREF, PAIR = Sort("Act"), Sort("Pref"), Sort("Pair")

feasible = Relation("feasible", (ACT,))
violates = Relation("violates", (ACT, PREF))
av = Relation("av", (PREF,))
rp = Relation("rp", (PREF,))
declared = Relation("declared", (PAIR,))
member = Relation("member", (PAIR, PREF))
linked = Relation("linked", ())
"""The artefact's digest is the previous artefact's."""

maintain = Relation("maintain", ())
has_precedent = Relation("has_precedent", ())
old_av = Relation("old_av", (PREF,))
old_rp = Relation("old_rp", (PREF,))
old_declared = Relation("old_declared", (PAIR,))
before_act = Relation("before_act", (ACT, ACT))
before_pref = Relation("before_pref", (PREF, PREF))
"""One name comes before another: nothing in the honest compiler looks at it."""

first = Function("first", (PAIR,), PREF)
second = Function("second", (PAIR,), PREF)

a, b, c = variables(ACT, "a b c")
p, q, r = variables(PREF, "p q r")
g = PAIR("g")

_defined: list[Definition] = []


def _define(name: str, bound: tuple[Var, ...], body: Formula, source: str) -> Relation:
    relation = Relation(name, tuple(v.sort for v in bound))
    _defined.append(Definition(relation, bound, body, source))
    return relation


rule_1 = _define(
    "rule_1",
    (a,),
    feasible(a) & exists([p], violates(a, p) & (rp(p) | ~av(p))),
    "6.1: violates a required preservation, or something not authorised",
)
keeps = _define(
    "keeps", (a,), feasible(a) & forall([p], violates(a, p) >> ~rp(p)), "6.4: A_ok, the actions that keep RP"
)
unlinked = _define("unlinked", (), ~linked(), "3.2: a digest that is not the previous artefact's")
uncollided = _define(
    "uncollided", (), exists([p], av(p)) & forall([g], ~declared(g)), "6.4 step 1: authorised without a collision"
)
gratuitous = _define(
    "gratuitous",
    (p,),
    av(p) & exists([a], keeps(a) & ~violates(a, p)),
    "6.4 step 2: authorised, and avoided by an action of A_ok",
)
false_pair = _define(
    "false_pair",
    (g,),
    declared(g) & exists([a], feasible(a) & forall([p], member(g, p) >> ~violates(a, p))),
    "6.2: declared, and some feasible action violates no member",
)
changed = _define(
    "changed",
    (),
    exists([p], ~iff(av(p), old_av(p)) | ~iff(rp(p), old_rp(p))) | exists([g], ~iff(declared(g), old_declared(g))),
    "6.3: AV, RP or the collisions are not the previous ones",
)
unprecedented = _define(
    "unprecedented", (), maintain() & (~has_precedent() | changed()), "6.3: MAINTAIN without a precedent, or not of it"
)
compiles = _define(
    "compiles",
    (),
    conjunction(
        [
            ~unlinked(),
            ~uncollided(),
            forall([p], ~gratuitous(p)),
            forall([g], ~false_pair(g)),
            ~unprecedented(),
        ]
    ),
    "6: no rule fails",
)
forbidden = _define("forbidden", (a,), compiles() & rule_1(a), "7: the mask of a successful compile")
permitted = _define("permitted", (a,), compiles() & feasible(a) & ~forbidden(a), "7: default allow")
offered = _define("offered", (a,), permitted(a), "11.6: the selector that leaves every choice open")
gridlock = _define(
    "gridlock", (), compiles() & forall([a], feasible(a) >> forbidden(a)), "7: compiled, and everything is forbidden"
)

wrong = _define(
    "wrong",
    (a,),
    feasible(a) & exists([p], violates(a, p) & (rp(p) | ~av(p))),
    "6.1: what the mask should forbid, for the claims",
)
keeping = _define("keeping", (a,), feasible(a) & forall([p], violates(a, p) >> ~rp(p)), "6.4: A_ok, for the claims")
clean = _define("clean", (a,), feasible(a) & forall([p], ~violates(a, p)), "violates nothing, for the claims")
exactly = _define("exactly", (a,), forall([p], iff(violates(a, p), av(p))), "violates exactly AV, for the claims")
minimal = _define(
    "minimal",
    (a,),
    feasible(a)
    & forall(
        [b],
        (feasible(b) & forall([p], violates(b, p) >> violates(a, p))) >> forall([q], violates(a, q) >> violates(b, q)),
    ),
    "no feasible action violates less, for the claims",
)
covers = _define(
    "covers",
    (g,),
    forall([a], feasible(a) >> exists([p], member(g, p) & violates(a, p))),
    "every feasible action violates a member, for the claims",
)

OBSERVED = (
    "unlinked",
    "uncollided",
    "gratuitous",
    "false_pair",
    "unprecedented",
    "compiles",
    "forbidden",
    "permitted",
    "offered",
    "gridlock",
)
"""The defined words of whose truth a step of the executable model tells."""


def _ordered(before: Relation, x: Var, y: Var, z: Var) -> Formula:
    return conjunction(
        [
            forall([x, y], before(x, y) >> ~before(y, x)),
            forall([x, y, z], (before(x, y) & before(y, z)) >> before(x, z)),
            forall([x, y], same(x, y) | before(x, y) | before(y, x)),
        ]
    )


GENERAL = Theory(
    name="apcm_compile",
    sorts=(ACT, PREF, PAIR),
    functions=(),
    relations=(
        feasible,
        violates,
        av,
        rp,
        declared,
        member,
        linked,
        maintain,
        has_precedent,
        old_av,
        old_rp,
        old_declared,
        before_act,
        before_pref,
    ),
    axioms=(
        Axiom(
            "precedent_had_a_collision",
            exists([p], old_av(p)) >> exists([g], old_declared(g)),
            "6.4 step 1: the previous artefact compiled",
        ),
        Axiom(
            "no_precedent_says_nothing",
            ~has_precedent() >> (forall([p], ~old_av(p) & ~old_rp(p)) & forall([g], ~old_declared(g))),
            "6.3",
        ),
    ),
    definitions=tuple(_defined),
)

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
    """The theory with names in order, for theorems whose mutants break ties by name."""
    orders = [Axiom("actions_have_names", _ordered(before_act, a, b, c), "of texts: what a mutant may break ties by")]
    if preferences:
        source = "of texts: what a mutant may break ties by"
        orders.append(Axiom("preferences_have_names", _ordered(before_pref, p, q, r), source))
    return replace(theory, axioms=(*theory.axioms, *orders))
