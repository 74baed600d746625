"""Theorems about two epochs that differ in the agents present, one request, one DENY, or every name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from evenhand.proofs.cud.copies import LOGGED_WORDS, TOLD_WORDS, alike, apart, by_passes, effects, twin
from evenhand.proofs.cud.definitions import word
from evenhand.proofs.cud.encoding import CudStep, element
from evenhand.proofs.cud.epoch import EPOCH
from evenhand.proofs.cud.pairs import SHARED, view_leaving, view_pair, view_renamed, view_vetoed
from evenhand.proofs.cud.samples import FEWER, WORLDS
from evenhand.proofs.cud.vocabulary import (
    ACT,
    AGENT,
    AUTH,
    KEY,
    VALUE,
    active,
    balked,
    by,
    cites,
    early,
    exits,
    forbids,
    holder,
    known,
    later,
    locked,
    member,
    over_read,
    over_write,
    reads,
    scope,
    submitted,
)
from evenhand.properties.cud import arbitration, blindness, history, symmetry
from evenhand.smt.logic import (
    Formula,
    Function,
    Relation,
    Sort,
    Term,
    Var,
    conjunction,
    differ,
    exists,
    forall,
    iff,
    same,
    variables,
)
from evenhand.smt.preludes import Copies
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Lemma
from evenhand.smt.theory import Axiom, Theory


def _seen(view: Callable[..., Structure | None]) -> Callable[[Any], Structure | None]:
    """Return the view of a case: the witness that made the second trace, the step, its second trace."""
    return lambda case: view(*case)


def _seen_silenced(case: tuple[str, CudStep, CudStep | None]) -> Structure | None:
    dropped = element("act", case[0])
    return view_pair(*case[1:], moved=("submitted",), without=dropped, dropped=dropped)


KEY2, AGENT2 = Sort("Key2"), Sort("Agent2")
r, s = variables(ACT, "r s")
k, k2 = KEY("k"), KEY2("k")
x, y = variables(AGENT, "x y")
a = AUTH("a")
v = VALUE("v")

# Exit: the second epoch is the first without one agent.

LEAVER = Function("leaver", (), AGENT)
TRAIL = Relation("trail", (KEY,))
"""The keys that the leaver declared in the epoch before, whatever it was answered."""

_staying = apart("cud_left", ("submitted", "active", "exits", "locked", "balked"))
_LEFT = _staying.extended(
    "cud_left",
    Axiom(
        "one_agent_less",
        conjunction(
            [
                active(LEAVER()),
                ~_staying.second("active", LEAVER()) | _staying.second("exits", LEAVER()),
                forall([r], iff(_staying.second("submitted", r), submitted(r) & differ(by(r), LEAVER()))),
                forall([x], differ(x, LEAVER()) >> iff(_staying.second("active", x), active(x))),
                forall([x], differ(x, LEAVER()) >> iff(_staying.second("exits", x), exits(x))),
                forall([x], differ(x, LEAVER()) >> iff(_staying.second("balked", x), balked(x))),
                forall([k], TRAIL(k) >> (later() & known(k))),
                forall(
                    [k],
                    iff(_staying.second("locked", k), locked(k) | (TRAIL(k) & ~_staying.second("active", LEAVER()))),
                ),
            ]
        ),
        "the second epoch is the first without one agent",
    ),
    functions=(LEAVER,),
    relations=(TRAIL,),
)

EXIT = twin(
    history.exit_is_harmless,
    _LEFT,
    variables=(r,),
    assumes=differ(by(r), LEAVER()) & word("passes", r),
    goal=_staying.second("passes", r) & (_staying.second("collides", r) >> word("collides", r)),
    needs=("one_agent_less",),
    witness=exists([r], word("passes", r) & differ(by(r), LEAVER())),
    view=_seen(view_leaving),
    samples=replace(FEWER, restrictions=frozenset({"all_start_active"})),  # an agent may have left before
)

# Inertness: the second epoch is the first without one request that fails pass 1; its agent stays, and says nothing.

DROPPED = Function("dropped", (), ACT)
_without = apart("cud_silenced", ("submitted",))
_SILENCED = _without.extended(
    "cud_silenced",
    Axiom(
        "one_request_less",
        submitted(DROPPED()) & forall([r], iff(_without.second("submitted", r), submitted(r) & differ(r, DROPPED()))),
        "the second epoch is the first without one request",
    ),
    functions=(DROPPED,),
)
_ANSWERED = (*TOLD_WORDS, "gets_more", "tells_two", *LOGGED_WORDS)


def _others(name: str) -> Formula:
    """Return that a predicate of requests has the same value in both epochs for every request but that one."""
    return forall([r], differ(r, DROPPED()) >> _without.alike(name, r))


def _both(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}{copy}" for name in names for copy in ("", "2"))


_by_itself = ("stray", "covered", "vetoed", "overreaches")


INERT = twin(
    arbitration.pass_one_refusals_are_inert,
    _SILENCED,
    sentence="Where some request passes pass 1, without one that does not every other request gets the same token and "
    "log entry, and the same keys change to the same values.",
    assumes=~word("lawful", DROPPED()) & exists([r], word("lawful", r)),
    goal=conjunction(
        [
            *map(_others, _ANSWERED),
            forall([r, x], differ(r, DROPPED()) >> _without.alike("hears_of", r, x)),
            effects(_without),
        ]
    ),
    lemmas=(
        *(Lemma(f"{name}_alike", alike(_without, name)) for name in _by_itself),
        Lemma("formed_alike", _others("formed")),
        Lemma(
            "passes_alike",
            _others("passes"),
            ("stray_alike", "covered_alike", "vetoed_alike", "formed_alike"),
            _both("stray", "covered", "vetoed", "formed"),
        ),
        Lemma(
            "dropped_fails",
            word("lawful", DROPPED()) | ~(word("passes", DROPPED()) | _without.second("passes", DROPPED())),
        ),
        Lemma("interferes_alike", forall([r, s], _without.alike("interferes", r, s))),
        Lemma(
            "collides_alike",
            word("lawful", DROPPED()) | _others("collides"),
            ("passes_alike", "dropped_fails", "interferes_alike"),
            _both("passes", "interferes"),
        ),
    ),
    opaque=(*_both("stray", "formed", "passes", "collides", "overreaches"), "lawful"),
    needs=("one_request_less",),
    witness=word("struck", DROPPED()),
    view=_seen_silenced,
    samples=WORLDS.fewer(8, 1),
)

# Blindness: the second epoch is the first with one more DENY in force, aimed at one request.

_then = apart("cud_vetoed", ("early",))
TOLD, VETO = Function("told", (), ACT), Function("veto", (), AUTH)
_VETOED = _then.extended(
    "cud_vetoed",
    Axiom(
        "one_veto_more",
        conjunction(
            [
                ~early(VETO()) & forbids(VETO()),
                forall([a], iff(_then.second("early", a), early(a) | same(a, VETO()))),
                forall([r], ~cites(r, VETO())),
                forall([k], iff(over_read(VETO(), k), reads(TOLD()) & scope(TOLD(), k))),
                forall([k], iff(over_write(VETO(), k), ~reads(TOLD()) & scope(TOLD(), k))),
                ~member(holder(VETO())),
            ]
        ),
        "the two epochs differ only in why one request is refused",
    ),
    functions=(TOLD, VETO),
)

BLINDNESS = twin(
    blindness.token_blindness,
    _VETOED,
    sentence="An agent refused in pass 2 is handed what it would be handed if pass 1 had refused the same request.",
    assumes=word("contested", TOLD()),
    goal=conjunction(
        [
            word("gets_failure", TOLD()) & _then.second("gets_failure", TOLD()),
            *(_then.alike(name, TOLD()) for name in ("gets_more", "tells_two")),
            forall([x], _then.alike("hears_of", TOLD(), x)),
        ]
    ),
    needs=("one_veto_more",),
    view=_seen(view_vetoed),
    samples=WORLDS.fewer(8, 1),
)

# Renaming: requests, artefacts and values are shared; keys and agents have sorts of their own.

_SORTS = {KEY: KEY2, AGENT: AGENT2}

TO_KEY, FROM_KEY = Function("to_key", (KEY,), KEY2), Function("from_key", (KEY2,), KEY)
TO_AGENT = Function("to_agent", (AGENT,), AGENT2)


_THING: dict[Sort, Var] = {ACT: r, KEY: k, VALUE: v, AUTH: a, AGENT: x}


def _images(two: Copies, *, of_authorities: bool) -> Iterator[Formula]:
    """Yield that what relates one key or agent to requests or authorities is true of the images where it is of them."""
    moved: dict[Sort, Term] = {KEY: TO_KEY(k), AGENT: TO_AGENT(x)}
    domains = [one.domain for one in EPOCH.relations]
    for one in sorted(EPOCH.relations, key=lambda one: domains.index(one.domain)):
        if (AUTH in one.domain) == of_authorities and sum(sort in moved for sort in one.domain) == 1:
            things = [_THING[sort] for sort in one.domain]
            images = [moved.get(sort, _THING[sort]) for sort in one.domain]
            yield forall(things, iff(two.second(one.name, *images), one(*things)))


_KEPT = ("names_are_ordered2", "turns_are_ordered2", "values_are_ranked2", "one_key_heads2", "submissions_are_ordered2")


def under_new_names(name: str, shared: Sequence[str] = SHARED) -> tuple[Theory, Copies]:
    """Return an epoch and its renaming, which share these relations; and the second copy's symbols."""
    twice = EPOCH.twice("2", shared=(*shared, "mark"), sorts=_SORTS)
    two = Copies(twice)
    return replace(
        twice,
        name=name,
        functions=(*twice.functions, TO_KEY, FROM_KEY, TO_AGENT),
        axioms=(
            *EPOCH.axioms,
            Axiom(
                "keys_one_to_one",
                conjunction([forall([k], same(FROM_KEY(TO_KEY(k)), k)), forall([k2], same(TO_KEY(FROM_KEY(k2)), k2))]),
                "a renaming of keys is a bijection",
            ),
            Axiom(
                "agents_one_to_one",
                forall([x, y], same(TO_AGENT(x), TO_AGENT(y)) >> same(x, y)),
                "a renaming of agents makes no two of them one",
            ),
            Axiom(
                "same_requests_renamed",
                conjunction(
                    [
                        forall([r], same(two.function(by)(r), TO_AGENT(by(r)))),
                        *_images(two, of_authorities=False),
                    ]
                ),
                "the second epoch has the requests of the first under new names",
            ),
            Axiom(
                "same_authorities_renamed",
                conjunction(
                    [
                        forall([a], same(two.function(holder)(a), TO_AGENT(holder(a)))),
                        *_images(two, of_authorities=True),
                    ]
                ),
                "the second epoch has the authorities of the first under new names",
            ),
            *(axiom for axiom in twice.axioms if axiom.name in _KEPT),
        ),
    ), two


def alike_under_new_names(two: Copies) -> dict[str, Any]:
    """Return the goal about such a pair, with the lemmas and axioms that its proof needs."""
    interfering = forall([r, s], two.alike("interferes", r, s))
    return {
        "goal": conjunction(
            [
                *(alike(two, name) for name in (*TOLD_WORDS, "gets_more", "tells_two", *LOGGED_WORDS)),
                forall([k, v], iff(word("becomes", k, v), two.second("becomes", TO_KEY(k), v))),
                forall([x], iff(word("stays", x), two.second("stays", TO_AGENT(x)))),
            ]
        ),
        **by_passes(two, more=[Lemma("interferes_alike", interfering)]),
        "needs": ("keys_one_to_one", "same_requests_renamed", "same_authorities_renamed", "agents_one_to_one"),
    }


_RENAMED, _two = under_new_names("cud_renamed")

EQUIVARIANCE = twin(
    symmetry.equivariance,
    _RENAMED,
    quotient="renaming",
    sentence="Rename agents and keys everywhere, and every request ends in the same way, told the same, with the "
    "same effects under the new names.",
    view=_seen(view_renamed),
    samples=FEWER,
    **alike_under_new_names(_two),
)
