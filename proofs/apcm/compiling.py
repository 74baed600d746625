"""The theory of one compile, for any number of feasible actions, preferences and declared collisions.

Sorts: actions of the inventory, preferences, collisions (`Pair`).  The definitions of the compiler (`rule_1`, `keeps`,
`gratuitous`, `false_pair`, `compiles`, `permitted` …) can be replaced by mutants; the predicates of the claims
(`wrong`, `keeping`, `clean` …) cannot.

GENERAL does not fix the number of members of a collision, so its theorems hold under the repaired rules.  TEXT adds
that a collision is a pair of two different preferences.
"""

from __future__ import annotations

from dataclasses import replace

from evenhand.smt.logic import Function, Sort, conjunction, differ, exists, forall, iff, same, variables
from evenhand.smt.preludes import Declarations, ordered
from evenhand.smt.theory import Axiom, Theory

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

rule_1 = SAID.word(
    "rule_1",
    (a,),
    feasible(a) & exists([p], violates(a, p) & (rp(p) | ~av(p))),
    "6.1: violates a required preservation, or something not authorised",
)
keeps = SAID.word(
    "keeps", (a,), feasible(a) & forall([p], violates(a, p) >> ~rp(p)), "6.4: A_ok, the actions that keep RP"
)
unlinked = SAID.word("unlinked", (), ~linked(), "3.2: a digest that is not the previous artefact's")
uncollided = SAID.word(
    "uncollided", (), exists([p], av(p)) & forall([g], ~declared(g)), "6.4 step 1: authorised without a collision"
)
gratuitous = SAID.word(
    "gratuitous",
    (p,),
    av(p) & exists([a], keeps(a) & ~violates(a, p)),
    "6.4 step 2: authorised, and avoided by an action of A_ok",
)
false_pair = SAID.word(
    "false_pair",
    (g,),
    declared(g) & exists([a], feasible(a) & forall([p], member(g, p) >> ~violates(a, p))),
    "6.2: declared, and some feasible action violates no member",
)
changed = SAID.word(
    "changed",
    (),
    exists([p], ~iff(av(p), old_av(p)) | ~iff(rp(p), old_rp(p))) | exists([g], ~iff(declared(g), old_declared(g))),
    "6.3: AV, RP or the collisions are not the previous ones",
)
unprecedented = SAID.word(
    "unprecedented", (), maintain() & (~has_precedent() | changed()), "6.3: MAINTAIN without a precedent, or not of it"
)
compiles = SAID.word(
    "compiles",
    (),
    conjunction(
        [~unlinked(), ~uncollided(), forall([p], ~gratuitous(p)), forall([g], ~false_pair(g)), ~unprecedented()]
    ),
    "6: no rule fails",
)
forbidden = SAID.word("forbidden", (a,), compiles() & rule_1(a), "7: the mask of a successful compile")
permitted = SAID.word("permitted", (a,), compiles() & feasible(a) & ~forbidden(a), "7: default allow")
offered = SAID.word("offered", (a,), permitted(a), "11.6: the selector that leaves every choice open")
gridlock = SAID.word(
    "gridlock", (), compiles() & forall([a], feasible(a) >> forbidden(a)), "7: compiled, and everything is forbidden"
)

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
