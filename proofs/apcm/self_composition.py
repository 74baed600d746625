"""Theorems about two compiles: effects of names, preservations, actions, precedents and masks.

Names decide nothing; more preservations or fewer actions only narrow the permitted set; precedents and masks matter
only by their content.  Each theory is the theory of a compile and a second copy of it; common symbols are shared, not
equated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from evenhand.model.apcm.mutants import inputs_and_views as views
from evenhand.model.apcm.mutants import rules
from evenhand.model.apcm.renaming import Renaming, rename_shown, rename_state
from evenhand.model.apcm.step import ApcmStep
from evenhand.model.apcm.vocabulary import Shown
from evenhand.proofs.apcm.compiling import (
    ACT,
    FAULTS,
    GENERAL,
    OBSERVED,
    PAIR,
    PREF,
    TEXT,
    av,
    declared,
    feasible,
    maintain,
    named,
    rp,
    word,
)
from evenhand.proofs.apcm.encoding import pair, scene, structure_of
from evenhand.proofs.apcm.samples import samples, samples_in_groups, samples_of_precedents
from evenhand.properties.apcm import blindness
from evenhand.smt.logic import Formula, Function, Var, conjunction, exists, forall, iff, same, variables
from evenhand.smt.preludes import Twice, both_runs, first_of_twins
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, called, line
from evenhand.smt.theorem import Lemma, Theorem
from evenhand.smt.theory import Axiom, Theory

SCOPE = "any number of actions, preferences and collisions"
a, b = variables(ACT, "a b")
p = PREF("p")
g = PAIR("g")


def _words(structure: Structure, suffix: str) -> dict[str, Rows]:
    return {f"{name}{suffix}": structure.relations[name] for name in OBSERVED}


def _beside(case: tuple[ApcmStep, ApcmStep], *apart: str) -> Structure | None:
    """Return two steps as one structure, in which the second has its own `apart` relations, and its own words."""
    one, two = structure_of(case[0]), structure_of(case[1])
    if one is None or two is None or not one.functions or not two.functions:
        return None
    universe = {sort: tuple(sorted({*elements, *two.universe[sort]})) for sort, elements in one.universe.items()}
    relations = {**one.relations, **_words(two, "2"), **{f"{name}2": two.relations[name] for name in apart}}
    relations |= {
        "member": one.relations["member"] | two.relations["member"],
        "before_act": line(universe["Act"]),
        "before_pref": line(universe["Pref"]),
    }
    functions = {name: {**one.functions[name], **two.functions[name]} for name in ("first", "second")}
    return Structure(universe, relations, functions)


# More preservations: the second artefact requires one more preference.

_REQUIRING = Twice.apart(TEXT, "rp")
ADDED = Function("added", (), PREF)


def _view_pair(changed: str, constant: str) -> Callable[[Any], Structure | None]:
    """Return the view of a step and its second trace that differ in one relation, by the thing named `constant`."""

    def view(case: tuple[str, ApcmStep, ApcmStep]) -> Structure | None:
        found = _beside(case[1:], changed)
        if found is None:
            return None
        return Structure(found.universe, found.relations, {**found.functions, constant: {(): case[0]}})

    return view


_of_pairs = partial(
    Theorem, protocol="apcm", system="universe", realise=first_of_twins(scene), samples=samples, scope=SCOPE
)

MORE_PRESERVATIONS = _of_pairs(
    claim=blindness.more_preservations_never_permit_more,
    theory=_REQUIRING.extended(
        "apcm_preserving",
        Axiom(
            "one_preservation_more",
            ~rp(ADDED()) & forall([p], iff(_REQUIRING.second("rp", p), rp(p) | same(p, ADDED()))),
            "the artefacts differ in one required preservation",
        ),
        functions=(ADDED,),
    ),
    variables=(a,),
    assumes=word("compiles") & _REQUIRING.second("compiles") & _REQUIRING.second("permitted", a),
    goal=word("permitted", a),
    view=_view_pair("rp", "added"),
    needs=("one_preservation_more",),
    witness=exists([b], word("permitted", b)),
    mutants=_REQUIRING.mutants(*FAULTS.refuted(rules.rule_1_inverted)),
)

# More actions: the second situation lacks one feasible action.

_FEASIBLE = Twice.apart(TEXT, "feasible")
GONE = Function("gone", (), ACT)

MORE_ACTIONS = _of_pairs(
    claim=blindness.more_actions_never_make_necessity_pass,
    theory=_FEASIBLE.extended(
        "apcm_fewer_actions",
        Axiom(
            "one_action_fewer",
            feasible(GONE()) & forall([a], iff(_FEASIBLE.second("feasible", a), feasible(a) & ~same(a, GONE()))),
            "the situations differ in one feasible action",
        ),
        functions=(GONE,),
    ),
    variables=(p,),
    assumes=_FEASIBLE.second("gratuitous", p),
    goal=word("gratuitous", p),
    view=_view_pair("feasible", "gone"),
    needs=("one_action_fewer",),
    mutants=_FEASIBLE.mutants(*FAULTS.refuted(rules.necessity_for_some_action)),
)

# Precedents: two previous artefacts that agree on equality with the fields and on the link.

_OLD = ("has_precedent", "old_av", "old_rp", "old_declared")
_PRECEDENTS = Twice.apart(TEXT, *_OLD)


def _equal(old: Callable[..., Formula]) -> Formula:
    """Return that the fields equal those of the previous artefact, which `old` gives."""
    same_sets = forall([p], iff(av(p), old("old_av", p)) & iff(rp(p), old("old_rp", p)))
    return same_sets & forall([g], iff(declared(g), old("old_declared", g)))


def _view_precedents(case: tuple[ApcmStep, ApcmStep]) -> Structure | None:
    return _beside(case, *_OLD)


_RESULTS = ("unlinked", "uncollided", "unprecedented", "compiles", "gridlock")


def _same_results(two: Twice, **words: Var) -> Formula:
    """Return that both compiles have the same result and agree on these predicates."""
    results = [two.alike(name) for name in _RESULTS]
    return conjunction([*results, *(forall([one], two.alike(name, one)) for name, one in words.items())])


PRECEDENT = _of_pairs(
    claim=blindness.precedent_matters_by_equality_alone,
    sentence="Whatever two previous artefacts are: if both or neither equal the fields, and the digest is right for "
    "both or neither, the compile is the same.",
    system="run",
    theory=_PRECEDENTS.extended(
        "apcm_precedents",
        Axiom(
            "alike_by_equality",
            _PRECEDENTS.alike("has_precedent") & iff(_equal(_PRECEDENTS.first), _equal(_PRECEDENTS.second)),
            "both previous artefacts equal this one, or neither does",
        ),
    ),
    goal=_same_results(_PRECEDENTS, gratuitous=p, false_pair=g, forbidden=a, permitted=a),
    view=_view_precedents,
    realise=both_runs(scene, "precedent_matters_by_equality_alone"),
    samples=samples_of_precedents,
    needs=("alike_by_equality",),
    # One step a word that reads the previous artefact; the other words mean the same in both copies.
    lemmas=(
        Lemma("unprecedented_alike", _PRECEDENTS.alike("unprecedented")),
        Lemma(
            "compiles_alike",
            _PRECEDENTS.alike("compiles"),
            ("unprecedented_alike",),
            ("unprecedented", "unprecedented2"),
        ),
    ),
    opaque=("compiles", "compiles2"),
    witness=maintain() & word("compiles") & exists([p], av(p)),
    mutants=_PRECEDENTS.mutants(*FAULTS.refuted(rules.maintain_binds_av_only)),
)

# Selector blindness: two submissions that share only the permitted set.

_NAMES = ("before_act", "before_pref", "member", "first", "second")
_NAMED_TEXT = replace(named(TEXT, preferences=False), name="apcm_named_pairs")
_BLIND = Twice(_NAMED_TEXT, _NAMES)


def _view_masked(case: tuple[ApcmStep, ApcmStep]) -> Structure | None:
    return _beside(case, *(one.name for one in _NAMED_TEXT.relations if one.name not in _NAMES))


BLIND = _of_pairs(
    claim=blindness.selection_depends_on_the_mask_alone,
    sentence="Whatever else two submissions differ in, if they permit the same actions the selector offers the same.",
    theory=_BLIND.extended(
        "apcm_masked",
        Axiom(
            "same_permitted_set",
            forall([a], _BLIND.alike("permitted", a)),
            "the two submissions permit the same actions",
        ),
    ),
    goal=forall([a], _BLIND.alike("offered", a)),
    view=_view_masked,
    realise=both_runs(scene, "selection_depends_on_the_mask_alone"),
    needs=("same_permitted_set",),
    witness=exists([a], word("permitted", a)),
    mutants=_BLIND.mutants(*FAULTS.refuted(views.selector_peeks_at_av)),
)

# Renaming.  Elements of a structure have no names, only facts; so the second
# submission has the first one's elements and relations, and only the order of the names differs.


def _view_renamed(case: tuple[Renaming, ApcmStep, ApcmStep]) -> Structure | None:
    """Return a step and its image as one structure, with the step's elements in both.

    None outside the theory, where the image is not the same submission under other names, and where the two differ in
    something that the theory does not cover.
    """
    w, step, other = case
    one, two = structure_of(step), structure_of(other)
    if one is None or two is None or _differs_elsewhere(w, step, other):
        return None
    back = {w.of(x): x for x in (*step.config.actions, *step.config.preferences)}
    for e in one.universe["Pair"]:
        back[pair(sorted(str(w.of(name)) for name in e.split("+")))] = e
    if any(e not in back for elements in two.universe.values() for e in elements):
        return None
    copy = called(two, back.__getitem__).relations
    if any(copy[name] != rows for name, rows in one.relations.items() if name not in (*OBSERVED, *_ORDERS)):
        return None
    again = {f"{name}2": copy[name] for name in (*OBSERVED, *_ORDERS)}
    return Structure(one.universe, {**one.relations, **again}, one.functions)


def _differs_elsewhere(w: Renaming, step: ApcmStep, other: ApcmStep) -> bool:
    """Return whether the second trace differs from the renamed step in something that the theory does not cover."""
    shown = rename_shown(w, step.config, step.shown)

    def spoken(one: Shown) -> Any:
        return one.compile_ok, frozenset(one.errors), one.forbidden, one.permitted, one.offered, one.gridlock

    if spoken(shown) != spoken(other.shown):
        return False
    return shown != other.shown or rename_state(w, step.config, step.after) != other.after


_ORDERS = ("before_act", "before_pref")


def _equivariance(system: str, base: Theory, paired: bool) -> Theorem:
    ordered = replace(named(base), name=f"{base.name}_renamed")
    two = Twice.apart(ordered, *_ORDERS)

    def view(case: tuple[Renaming, ApcmStep, ApcmStep]) -> Structure | None:
        found = _view_renamed(case)
        if found is None or not paired:
            return None if found is None else Structure(found.universe, found.relations)
        return found if found.functions else None

    return _of_pairs(
        name="" if system == "universe" else f"equivariance_{system}",
        claim=blindness.equivariance,
        sentence="Rename actions and preferences everywhere: the same errors, the same mask, the same offer, renamed.",
        system=system,
        theory=two.theory,
        goal=_same_results(two, gratuitous=p, false_pair=g, forbidden=a, permitted=a, offered=a),
        view=view,
        samples=samples if paired else samples_in_groups,
        witness=exists([a], word("permitted", a)),
        mutants=two.mutants(*FAULTS.refuted(views.first_permitted_wins)) if paired else (),
        quotient="renaming",
    )


EQUIVARIANCE = _equivariance("universe", TEXT, True)
EQUIVARIANCE_REPAIRED = _equivariance("repaired", GENERAL, False)
