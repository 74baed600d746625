"""The theorems about two compiles: names decide nothing, preservations and actions only narrow, precedents and masks
matter by what they say alone.

Each theory is the theory of a compile and a second copy of it; what the two have in common is shared, not equated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evenhand.core.trace import Pair
from evenhand.core.verdict import Evidence
from evenhand.model.apcm.renaming import Renaming, rename_shown, rename_state
from evenhand.model.apcm.step import ApcmStep
from evenhand.model.apcm.vocabulary import Shown
from evenhand.proofs.apcm.compiling import (
    ACT,
    GENERAL,
    OBSERVED,
    PAIR,
    PREF,
    TEXT,
    av,
    declared,
    feasible,
    has_precedent,
    maintain,
    named,
    old_av,
    old_declared,
    old_rp,
    rp,
)
from evenhand.proofs.apcm.definitions import FAULTS, word
from evenhand.proofs.apcm.encoding import Rows, act, pair, pref, scene, structure_of
from evenhand.proofs.apcm.samples import samples, samples_in_groups, samples_of_precedents
from evenhand.smt.logic import (
    Definition,
    Formula,
    Function,
    Term,
    conjunction,
    exists,
    forall,
    iff,
    same,
    variables,
)
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Mutation, Theorem
from evenhand.smt.theory import Axiom, Theory

__all__ = ["TWINS"]

SCOPE = "any number of actions, preferences and collisions"
a, b = variables(ACT, "a b")
p = PREF("p")
g = PAIR("g")


def _left(structure: Structure) -> Evidence | None:
    """The first of the two runs; the judge makes the second from it."""
    first_run = scene(structure)
    return None if first_run is None else Pair(first_run, first_run, "twin")


def _second(theory: Theory) -> Callable[..., Formula]:
    """The second copy's relation or word of a name, applied."""
    known = {relation.name: relation for relation in theory.relations}
    known |= {name: definition.relation for name, definition in theory.meanings.items()}

    def holds(name: str, *arguments: Term) -> Formula:
        return known[f"{name}2"](*arguments)

    return holds


def _doubled(base: Theory, twice: Theory, names: Sequence[str], shared: Sequence[str]) -> tuple[Mutation, ...]:
    """Mutants in both copies."""

    def both(definitions: tuple[Definition, ...]) -> tuple[Definition, ...]:
        doubled = base.redefined(definitions).twice("2", shared=shared)
        wanted = {name for one in definitions for name in (one.name, f"{one.name}2")}
        return tuple(one for one in doubled.definitions if one.name in wanted and one.name in twice.meanings)

    return tuple(Mutation(mutant=name, definitions=both(FAULTS[name])) for name in names)


def _all_but(theory: Theory, *names: str) -> tuple[str, ...]:
    """The names of all symbols that are not defined, but these."""
    every = [one.name for one in theory.functions] + [one.name for one in theory.relations]
    return tuple(name for name in every if name not in names)


def _words(structure: Structure, suffix: str) -> dict[str, Rows]:
    return {f"{name}{suffix}": structure.relations[name] for name in OBSERVED}


# More preservations: the second artefact requires one preference more.

_SAME_BUT_RP = _all_but(TEXT, "rp")
_RP_TWICE = TEXT.twice("2", shared=_SAME_BUT_RP)
_rp_two = _second(_RP_TWICE)
ADDED = Function("added", (), PREF)

PRESERVING = replace(
    _RP_TWICE,
    name="apcm_preserving",
    functions=(*_RP_TWICE.functions, ADDED),
    axioms=(
        *TEXT.axioms,
        Axiom(
            "one_preservation_more",
            ~rp(ADDED()) & forall([p], iff(_rp_two("rp", p), rp(p) | same(p, ADDED()))),
            "the artefacts differ in one required preservation",
        ),
    ),
)


def _view_pair(changed: str, constant: str, element: Callable[[str], str]) -> Callable[[Any], Structure | None]:
    """A step and its twin that differ in one relation, by one thing that `constant` names."""

    def view(case: tuple[str, ApcmStep, ApcmStep]) -> Structure | None:
        w, step, other = case
        one, two = structure_of(step), structure_of(other)
        if one is None or two is None or not one.functions:
            return None
        relations = {**one.relations, **_words(two, "2"), f"{changed}2": two.relations[changed]}
        return Structure(one.universe, relations, {**one.functions, constant: {(): element(w)}})

    return view


MORE_PRESERVATIONS = Theorem(
    name="more_preservations_never_permit_more",
    claim="more_preservations_never_permit_more",
    sentence="Of two artefacts that compile, the one that requires a preference more permits no more.",
    source="6.1",
    protocol="apcm",
    system="universe",
    theory=PRESERVING,
    variables=(a,),
    assumes=word("compiles") & _rp_two("compiles") & _rp_two("permitted", a),
    goal=word("permitted", a),
    view=_view_pair("rp", "added", pref),
    realise=_left,
    samples=samples,
    needs=("one_preservation_more",),
    witness=exists([b], word("permitted", b)),
    mutants=_doubled(TEXT, _RP_TWICE, ("rule_1_inverted",), _SAME_BUT_RP),
    scope=SCOPE,
)

# More actions: the second situation lacks one feasible action.

_SAME_BUT_FEASIBLE = _all_but(TEXT, "feasible")
_FEASIBLE_TWICE = TEXT.twice("2", shared=_SAME_BUT_FEASIBLE)
_feasible_two = _second(_FEASIBLE_TWICE)
GONE = Function("gone", (), ACT)

FEWER = replace(
    _FEASIBLE_TWICE,
    name="apcm_fewer_actions",
    functions=(*_FEASIBLE_TWICE.functions, GONE),
    axioms=(
        *TEXT.axioms,
        Axiom(
            "one_action_fewer",
            feasible(GONE()) & forall([a], iff(_feasible_two("feasible", a), feasible(a) & ~same(a, GONE()))),
            "the situations differ in one feasible action",
        ),
    ),
)


MORE_ACTIONS = Theorem(
    name="more_actions_never_make_necessity_pass",
    claim="more_actions_never_make_necessity_pass",
    sentence="A violation that is gratuitous without some feasible action is gratuitous with it.",
    source="6.4",
    protocol="apcm",
    system="universe",
    theory=FEWER,
    variables=(p,),
    assumes=_feasible_two("gratuitous", p),
    goal=word("gratuitous", p),
    view=_view_pair("feasible", "gone", act),
    realise=_left,
    samples=samples,
    needs=("one_action_fewer",),
    mutants=_doubled(TEXT, _FEASIBLE_TWICE, ("necessity_for_some_action",), _SAME_BUT_FEASIBLE),
    scope=SCOPE,
)

# Precedents: two previous artefacts that are alike in being equal to the fields or not, and linked or not.

_OLD = ("has_precedent", "old_av", "old_rp", "old_declared")
_SAME_BUT_OLD = _all_but(TEXT, *_OLD)
_OLD_TWICE = TEXT.twice("2", shared=_SAME_BUT_OLD)
_old_two = _second(_OLD_TWICE)
_equal_1 = conjunction(
    [forall([p], iff(av(p), old_av(p)) & iff(rp(p), old_rp(p))), forall([g], iff(declared(g), old_declared(g)))]
)
_equal_2 = conjunction(
    [
        forall([p], iff(av(p), _old_two("old_av", p)) & iff(rp(p), _old_two("old_rp", p))),
        forall([g], iff(declared(g), _old_two("old_declared", g))),
    ]
)

PRECEDENTS = replace(
    _OLD_TWICE,
    name="apcm_precedents",
    axioms=(
        *_OLD_TWICE.axioms,
        Axiom(
            "alike_by_equality",
            iff(has_precedent(), _old_two("has_precedent")) & iff(_equal_1, _equal_2),
            "both previous artefacts equal this one, or neither does",
        ),
    ),
)


def _view_precedents(case: tuple[ApcmStep, ApcmStep]) -> Structure | None:
    step, other = case
    one, two = structure_of(step), structure_of(other)
    if one is None or two is None or not one.functions or not two.functions:
        return None
    pairs = tuple(sorted({*one.universe["Pair"], *two.universe["Pair"]}))
    universe = {**one.universe, "Pair": pairs}
    relations = {**one.relations, **_words(two, "2"), **{f"{name}2": two.relations[name] for name in _OLD}}
    relations["member"] = one.relations["member"] | two.relations["member"]
    functions = {name: {**one.functions[name], **two.functions[name]} for name in ("first", "second")}
    return Structure(universe, relations, functions)


def _realise_precedents(structure: Structure) -> Evidence | None:
    second_run = {name: structure.relations[f"{name}2"] for name in _OLD}
    left = scene(structure)
    right = scene(Structure(structure.universe, {**structure.relations, **second_run}, structure.functions))
    return None if left is None or right is None else Pair(left, right, "precedent_matters_by_equality_alone")


_RESULTS = ("unlinked", "uncollided", "unprecedented", "compiles", "gridlock")

PRECEDENT = Theorem(
    name="precedent_matters_by_equality_alone",
    claim="precedent_matters_by_equality_alone",
    sentence="Whatever two previous artefacts are: if both or neither equal the fields, and the digest is right for "
    "both or neither, the compile is the same.",
    source="5, 6.3",
    protocol="apcm",
    system="run",
    theory=PRECEDENTS,
    goal=conjunction(
        [
            *(iff(word(name), _old_two(name)) for name in _RESULTS),
            forall([p], iff(word("gratuitous", p), _old_two("gratuitous", p))),
            forall([g], iff(word("false_pair", g), _old_two("false_pair", g))),
            forall([a], iff(word("forbidden", a), _old_two("forbidden", a))),
            forall([a], iff(word("permitted", a), _old_two("permitted", a))),
        ]
    ),
    view=_view_precedents,
    realise=_realise_precedents,
    samples=samples_of_precedents,
    needs=("alike_by_equality",),
    witness=maintain() & word("compiles") & exists([p], av(p)),
    mutants=_doubled(TEXT, _OLD_TWICE, ("maintain_binds_av_only",), _SAME_BUT_OLD),
    scope=SCOPE,
)

# Selector blindness: two submissions that have nothing in common but the permitted set.

_NAMES = ("before_act", "before_pref", "member", "first", "second")
_NAMED_TEXT = replace(named(TEXT, preferences=False), name="apcm_named_pairs")
_BLIND_TWICE = _NAMED_TEXT.twice("2", shared=_NAMES)
_blind_two = _second(_BLIND_TWICE)

MASKED = replace(
    _BLIND_TWICE,
    name="apcm_masked",
    axioms=(
        *_BLIND_TWICE.axioms,
        Axiom(
            "same_permitted_set",
            forall([a], iff(word("permitted", a), _blind_two("permitted", a))),
            "the two submissions permit the same actions",
        ),
    ),
)


def _view_masked(case: tuple[ApcmStep, ApcmStep]) -> Structure | None:
    one, two = structure_of(case[0]), structure_of(case[1])
    if one is None or two is None or not one.functions or not two.functions:
        return None
    universe = {sort: tuple(sorted({*one.universe[sort], *two.universe[sort]})) for sort in ("Act", "Pref", "Pair")}
    relations = dict(one.relations)
    relations |= {f"{name}2": rows for name, rows in two.relations.items() if name not in _NAMES}
    relations |= {
        "member": one.relations["member"] | two.relations["member"],
        "before_act": _all_before(universe["Act"]),
        "before_pref": _all_before(universe["Pref"]),
    }
    functions = {name: {**one.functions[name], **two.functions[name]} for name in ("first", "second")}
    return Structure(universe, relations, functions)


def _all_before(elements: tuple[str, ...]) -> Rows:
    return frozenset((x, y) for place, x in enumerate(elements) for y in elements[place + 1 :])


def _realise_masked(structure: Structure) -> Evidence | None:
    base = {relation.name for relation in GENERAL.relations}
    again = {name: structure.relations[f"{name}2"] for name in sorted(base) if f"{name}2" in structure.relations}
    left = scene(structure)
    right = scene(Structure(structure.universe, {**structure.relations, **again}, structure.functions))
    return None if left is None or right is None else Pair(left, right, "selection_depends_on_the_mask_alone")


BLIND = Theorem(
    name="selection_depends_on_the_mask_alone",
    claim="selection_depends_on_the_mask_alone",
    sentence="Whatever else two submissions differ in, if they permit the same actions the selector offers the same.",
    source="1, 11.6",
    protocol="apcm",
    system="universe",
    theory=MASKED,
    goal=forall([a], iff(word("offered", a), _blind_two("offered", a))),
    view=_view_masked,
    realise=_realise_masked,
    samples=samples,
    needs=("same_permitted_set",),
    witness=exists([a], word("permitted", a)),
    mutants=_doubled(_NAMED_TEXT, _BLIND_TWICE, ("selector_peeks_at_av",), _NAMES),
    scope=SCOPE,
)

# Renaming.  A structure knows its elements by what is said of them, never by what they are called; so the second
# submission has the first one's elements and relations, and only the order of the names is another.


def _moved(rows: Rows, names: Mapping[str, str]) -> Rows:
    return frozenset(tuple(names.get(element, element) for element in row) for row in rows)


def _view_renamed(case: tuple[Renaming, ApcmStep, ApcmStep]) -> Structure | None:
    """A step and its image, the image's elements called as the step's.

    None outside the theory, where the image is not the same submission under other names, and where the two differ
    in what the theory does not speak of.
    """
    w, step, other = case
    one, two = structure_of(step), structure_of(other)
    if one is None or two is None or _differs_elsewhere(w, step, other):
        return None
    back = {act(w.of(x)): act(x) for x in step.config.actions}
    back |= {pref(w.of(x)): pref(x) for x in step.config.preferences}
    for e in one.universe["Pair"]:
        back[pair(sorted(str(w.of(name)) for name in e.removeprefix("pair:").split("+")))] = e
    if any(e not in back for elements in two.universe.values() for e in elements):
        return None
    copy = {name: _moved(rows, back) for name, rows in two.relations.items()}
    if any(copy[name] != rows for name, rows in one.relations.items() if name not in (*OBSERVED, *_ORDERS)):
        return None
    again = {f"{name}2": copy[name] for name in (*OBSERVED, *_ORDERS)}
    return Structure(one.universe, {**one.relations, **again}, one.functions)


def _differs_elsewhere(w: Renaming, step: ApcmStep, other: ApcmStep) -> bool:
    """Whether the twin does not do what the step does, renamed, and in nothing that the theory speaks of."""
    shown = rename_shown(w, step.config, step.shown)

    def spoken(one: Shown) -> Any:
        return one.compile_ok, frozenset(one.errors), one.forbidden, one.permitted, one.offered, one.gridlock

    if spoken(shown) != spoken(other.shown):
        return False
    return shown != other.shown or rename_state(w, step.config, step.after) != other.after


_ORDERS = ("before_act", "before_pref")


def _equivariance(system: str, base: Theory, paired: bool) -> Theorem:
    ordered = replace(named(base), name=f"{base.name}_renamed")
    shared = _all_but(ordered, *_ORDERS)
    theory = ordered.twice("2", shared=shared)
    two = _second(theory)
    words = {"gratuitous": p, "false_pair": g, "forbidden": a, "permitted": a, "offered": a}

    def view(case: tuple[Renaming, ApcmStep, ApcmStep]) -> Structure | None:
        found = _view_renamed(case)
        if found is None or not paired:
            return None if found is None else Structure(found.universe, found.relations)
        return found if found.functions else None

    return Theorem(
        name="equivariance" if system == "universe" else f"equivariance_{system}",
        claim="equivariance",
        sentence="Rename actions and preferences everywhere: the same errors, the same mask, the same offer, renamed.",
        source="5, 6",
        protocol="apcm",
        system=system,
        theory=theory,
        goal=conjunction(
            [
                *(iff(_word(theory, name), two(name)) for name in _RESULTS),
                *(forall([x], iff(_word(theory, name, x), two(name, x))) for name, x in words.items()),
            ]
        ),
        view=view,
        realise=_left,
        samples=samples if paired else samples_in_groups,
        witness=exists([a], _word(theory, "permitted", a)),
        mutants=_doubled(ordered, theory, ("first_permitted_wins",), shared) if paired else (),
        scope=SCOPE,
        quotient="renaming",
    )


def _word(theory: Theory, name: str, *arguments: Term) -> Formula:
    return theory.meanings[name].relation(*arguments)


EQUIVARIANCE = _equivariance("universe", TEXT, True)
EQUIVARIANCE_REPAIRED = _equivariance("repaired", GENERAL, False)

TWINS: tuple[Theorem, ...] = (
    EQUIVARIANCE,
    MORE_PRESERVATIONS,
    MORE_ACTIONS,
    PRECEDENT,
    BLIND,
    EQUIVARIANCE_REPAIRED,
)
"""The theorems about two compiles."""
