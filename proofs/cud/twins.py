"""The two theorems that compare two epochs: equivariance under renaming, and blindness to the pass that refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evenhand.model.trace import Pair
from evenhand.proofs.cud import words
from evenhand.proofs.cud.epoch import (
    ACT,
    AGENT,
    AUTH,
    EPOCH,
    KEY,
    VALUE,
    active,
    by,
    cites,
    early,
    exits,
    forbids,
    holder,
    member,
    over_read,
    over_write,
    puts,
    reads,
    scope,
)
from evenhand.proofs.cud.link import SHARED, scene, view_renamed, view_vetoed
from evenhand.proofs.cud.samples import samples, some_samples
from evenhand.proofs.cud.words import word
from evenhand.proofs.smt.logic import (
    Definition,
    Formula,
    Function,
    Relation,
    Sort,
    Term,
    conjunction,
    forall,
    iff,
    ite,
    same,
    variables,
)
from evenhand.proofs.smt.structure import Structure
from evenhand.proofs.theorem import Lemma, Mutation, Theorem
from evenhand.proofs.theory import Axiom, Theory
from evenhand.properties.verdict import Evidence

__all__ = ["EQUIVARIANCE", "TOKEN_BLINDNESS", "unseen", "usual"]

KEY2, AGENT2 = Sort("Key2"), Sort("Agent2")
r, s = variables(ACT, "r s")
k, k2 = KEY("k"), KEY2("k")
x, y = variables(AGENT, "x y")
a = AUTH("a")
v = VALUE("v")


def usual(name: str, *definitions: Definition) -> Mutation:
    """A mutant that the theorem must be seen to refute."""
    return Mutation(mutant=name, definitions=definitions)


def unseen(name: str, *definitions: Definition, because: str) -> Mutation:
    """A mutant that this theorem cannot see, `because` of what it is about."""
    return Mutation(mutant=name, definitions=definitions, expected="proved", because=because)


def _left(structure: Structure) -> Evidence | None:
    """The first of the two epochs; the judge makes the second from it."""
    first = scene(structure)
    return None if first is None else Pair(first, first, "twin")


class _Copies:
    """The second copy's symbols and words, by the names of the first."""

    def __init__(self, theory: Theory) -> None:
        self._functions = {function.name: function for function in theory.functions}
        self._relations = {relation.name: relation for relation in theory.relations}
        self._relations |= {name: definition.relation for name, definition in theory.meanings.items()}

    def function(self, one: Function) -> Function:
        """The second copy of a function."""
        return self._functions[f"{one.name}2"]

    def holds(self, name: str, *arguments: Term) -> Formula:
        """The second copy of a relation or word, of these things."""
        return self._relations[f"{name}2"](*arguments)


def _doubled(
    theory: Theory, definitions: Sequence[Definition], *, sorts: dict[Sort, Sort], shared: Sequence[str]
) -> tuple[Definition, ...]:
    """A mutant's words for both copies."""
    twice = EPOCH.redefined(definitions).twice("2", shared=shared, sorts=sorts)
    names = {d.name for d in definitions} | {f"{d.name}2" for d in definitions}
    return tuple(d for d in twice.definitions if d.name in names and d.name in theory.meanings)


# Renaming: requests, artefacts and values are shared, keys and agents stand in sorts of their own.

_SORTS = {KEY: KEY2, AGENT: AGENT2}
_TWICE = EPOCH.twice("2", shared=SHARED, sorts=_SORTS)
_two = _Copies(_TWICE)

TO_KEY, FROM_KEY = Function("to_key", (KEY,), KEY2), Function("from_key", (KEY2,), KEY)
TO_AGENT = Function("to_agent", (AGENT,), AGENT2)


def _image(relation: Relation, *arguments: Term) -> Formula:
    """The second copy holds of the images of these things exactly where the first holds of the things."""
    moved = {KEY: TO_KEY, AGENT: TO_AGENT}
    images = [moved[term.sort](term) if term.sort in moved else term for term in arguments]
    return iff(_two.holds(relation.name, *images), relation(*arguments))


RENAMED = replace(
    _TWICE,
    name="cud_renamed",
    functions=(*_TWICE.functions, TO_KEY, FROM_KEY, TO_AGENT),
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
                    forall([r], same(_two.function(by)(r), TO_AGENT(by(r)))),
                    forall([r, k], _image(scope, r, k)),
                    forall([r, k, v], _image(puts, r, k, v)),
                    *(forall([x], _image(relation, x)) for relation in (active, exits, member)),
                ]
            ),
            "the second epoch has the requests of the first under new names",
        ),
        Axiom(
            "same_authorities_renamed",
            conjunction(
                [
                    forall([a], same(_two.function(holder)(a), TO_AGENT(holder(a)))),
                    *(forall([a, k], _image(relation, a, k)) for relation in (over_read, over_write)),
                ]
            ),
            "the second epoch has the authorities of the first under new names",
        ),
        *(axiom for axiom in _TWICE.axioms if axiom.name == "names_are_ordered2"),
    ),
)


def _alike(name: str) -> Formula:
    """A word of requests holds in both epochs or in neither."""
    return forall([r], iff(word(name, r), _two.holds(name, r)))


_OPAQUE = ("passes", "interferes", "passes2", "interferes2")


def _renamed(name: str, *definitions: Definition) -> Mutation:
    return usual(name, *_doubled(RENAMED, definitions, sorts=_SORTS, shared=SHARED))


EQUIVARIANCE = Theorem(
    name="equivariance",
    claim="equivariance",
    sentence="Rename agents and keys everywhere, and every request ends in the same way, told the same, with the same "
    "effects under the new names.",
    source="D12, FQ19, FQ26",
    protocol="cud",
    system="universe",
    theory=RENAMED,
    goal=conjunction(
        [
            *(_alike(name) for name in ("executed", "gets_failure", "gets_fault", "passes", "collides")),
            *(_alike(name) for name in ("gets_done", "gets_more", "tells_two")),
            forall([k, v], iff(word("becomes", k, v), _two.holds("becomes", TO_KEY(k), v))),
            forall([x], iff(word("stays", x), _two.holds("stays", TO_AGENT(x)))),
        ]
    ),
    lemmas=(
        Lemma("passes_alike", _alike("passes")),
        Lemma("stray_alike", _alike("stray")),
        Lemma("interferes_alike", forall([r, s], iff(word("interferes", r, s), _two.holds("interferes", r, s)))),
        Lemma("collides_alike", _alike("collides"), ("passes_alike", "interferes_alike"), _OPAQUE),
    ),
    opaque=("passes", "passes2", "stray", "stray2", "collides", "collides2"),
    view=lambda case: view_renamed(*case),
    realise=_left,
    samples=some_samples,
    needs=("keys_one_to_one", "same_requests_renamed", "same_authorities_renamed", "agents_one_to_one"),
    mutants=(
        _renamed("tie_break_by_name", words.FIRST_NAME_WINS),
        _renamed("one_key_exempt", words.KEY_EXEMPT),
        unseen(
            "reader_beats_writer",
            *_doubled(RENAMED, (words.READER_BEATS_WRITER,), sorts=_SORTS, shared=SHARED),
            because="who wins by operation wins under every name: equivariance alone does not say 'no arbitration'",
        ),
        unseen(
            "receipt_names_the_pass",
            *_doubled(RENAMED, words.RECEIPT_NAMES_THE_PASS, sorts=_SORTS, shared=SHARED),
            because="the receipt says too much, but the same under every name",
        ),
    ),
    quotient="renaming",
)

# Blindness: the second epoch is the first with one more DENY in force, aimed at one request.

_ALL_BUT_EARLY = (
    *(function.name for function in EPOCH.functions),
    *(relation.name for relation in EPOCH.relations if relation != early),
)
_AGAIN = EPOCH.twice("2", shared=_ALL_BUT_EARLY)
_then = _Copies(_AGAIN)
TOLD, VETO = Function("told", (), ACT), Function("veto", (), AUTH)

VETOED = replace(
    _AGAIN,
    name="cud_vetoed",
    functions=(*_AGAIN.functions, TOLD, VETO),
    axioms=(
        *EPOCH.axioms,
        Axiom(
            "one_veto_more",
            conjunction(
                [
                    ~early(VETO()) & forbids(VETO()),
                    forall([a], iff(_then.holds("early", a), early(a) | same(a, VETO()))),
                    forall([r], ~cites(r, VETO())),
                    forall(
                        [k],
                        iff(scope(TOLD(), k), ite(reads(TOLD()), over_read(VETO(), k), over_write(VETO(), k))),
                    ),
                ]
            ),
            "the two epochs differ only in why one request is refused",
        ),
    ),
)


def _vetoed(name: str, *definitions: Definition) -> Mutation:
    return usual(name, *_doubled(VETOED, definitions, sorts={}, shared=_ALL_BUT_EARLY))


TOKEN_BLINDNESS = Theorem(
    name="token_blindness",
    claim="token_blindness",
    sentence="An agent refused in pass 2 is handed what it would be handed if pass 1 had refused the same request.",
    source="FQ4, FQ11",
    protocol="cud",
    system="universe",
    theory=VETOED,
    assumes=word("contested", TOLD()),
    goal=conjunction(
        [
            word("gets_failure", TOLD()) & _then.holds("gets_failure", TOLD()),
            *(iff(word(name, TOLD()), _then.holds(name, TOLD())) for name in ("gets_more", "tells_two")),
            forall([x], iff(word("hears_of", TOLD(), x), _then.holds("hears_of", TOLD(), x))),
        ]
    ),
    needs=("one_veto_more",),
    view=lambda case: view_vetoed(*case),
    realise=_left,
    samples=samples,
    mutants=(
        _vetoed("token_tells_the_pass", *words.TOLD_THE_PASS),
        _vetoed("collision_told_as_fault", *words.COLLISION_AS_FAULT),
        _vetoed("refusing_agent_named", *words.NAMES_THE_OTHER),
        _vetoed("receipt_names_the_pass", *words.RECEIPT_NAMES_THE_PASS),
    ),
)
