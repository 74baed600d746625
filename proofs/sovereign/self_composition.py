"""Theorems about two decisions: effects of order, copies, inadmissible candidates and token counts.

Order, copies and inadmissible candidates decide nothing; more tokens never help.  Each theory is the theory of a
decision and a second copy of it; common symbols are shared, not equated.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from evenhand.model.sovereign.mutants import deciding, gates
from evenhand.model.sovereign.step import SovereignStep
from evenhand.proofs.sovereign.deciding import DECISION, FAULTS, PLACED, word
from evenhand.proofs.sovereign.encoding import structure_of
from evenhand.proofs.sovereign.rules import CAND, KEY, OBS, budget, count, key, lacks, le, present, readable
from evenhand.proofs.sovereign.samples import samples_of_pairs
from evenhand.proofs.sovereign.theorems import SCOPE
from evenhand.properties.sovereign import selecting
from evenhand.smt.logic import Function, exists, forall, iff, same, variables
from evenhand.smt.preludes import Twice
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, called, doubled, line, rank
from evenhand.smt.theorem import Lemma, Theorem
from evenhand.smt.theory import Axiom

o = OBS("o")
c, d = variables(CAND, "c d")
k = KEY("k")

_LISTED = replace(DECISION, axioms=(*DECISION.axioms, PLACED))
"""The theory with places, for mutants that depend on them."""


_TWO = Twice.apart(DECISION, "present", "before")


def _merged(one: Structure, two: Structure) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return universe and functions of two cycles with the same observations, each fact once."""
    universe: dict[str, Any] = {}
    spare = {"cand:none", "cite:none", "obs:none", "none"}
    for sort in one.universe:
        every = dict.fromkeys((*one.universe[sort], *two.universe[sort]))
        real = [name for name in every if name not in spare]
        universe[sort] = tuple(real) or tuple(every)[:1]
    kept = {name for names in universe.values() for name in names}
    functions: dict[str, Any] = {}
    for name in one.functions:
        both = {**two.functions[name], **one.functions[name]}
        functions[name] = {told: value for told, value in both.items() if all(part in kept for part in told)}
    return universe, functions


def _total(names: tuple[str, ...], rows: Rows, here: frozenset[str]) -> Rows:
    """Return an order of all elements: those of the cycle in their order, then the others."""
    place = rank(rows, here)
    behind = [name for name in names if name not in here]
    return line([*sorted(here, key=lambda name: (place[name], name)), *behind])


def view_pair(case: tuple[Any, SovereignStep, SovereignStep]) -> Structure | None:
    """Return two cycles with the same observations as one structure of the doubled theory."""
    _, step, other = case
    one, two = structure_of(step), structure_of(other)
    if one is None or two is None or step.action.observations != other.action.observations:  # type: ignore[union-attr]
        return None
    names = _renamed_citations(step, other)
    two = called(two, lambda one: names.get(one, one))
    universe, functions = _merged(one, two)
    universe["Key"] = tuple(sorted(universe["Key"]))
    if functions["key"] and set(functions["key"].values()) - set(universe["Key"]):
        return None
    cands, shared = tuple(universe["Cand"]), [name for name in one.relations if name in _TWO.shared]
    here, there = (
        _total(cands, each.relations["before"], frozenset(row[0] for row in each.relations["present"]))
        for each in (one, two)
    )
    relations: dict[str, Rows] = {
        **doubled(one, two, _TWO.shared).relations,
        **{name: one.relations[name] | two.relations[name] for name in shared},
        **{"less": line(universe["Key"]), "before": here, "before2": there},
    }
    return Structure(universe, relations, functions)


def _citations(step: SovereignStep) -> list[str]:
    action: Any = step.action
    offered = [one for one in action.candidates if one.request.action_type != "Exit"]
    return list(dict.fromkeys(citation for one in offered for citation in one.citations))


def _renamed_citations(step: SovereignStep, other: SovereignStep) -> dict[str, str]:
    """Return the first cycle's names of the second cycle's citations."""
    mine = {citation: f"cite:{place}" for place, citation in enumerate(_citations(step))}
    names: dict[str, str] = {}
    for place, citation in enumerate(_citations(other)):
        names[f"cite:{place}"] = mine.setdefault(citation, f"cite:{len(mine)}")
    return names


_of_pairs = partial(
    Theorem,
    protocol="sovereign",
    system="lists",
    view=view_pair,
    samples=samples_of_pairs,
    scope=SCOPE,
)
_two = _TWO.second
_same_outcome = _TWO.alike("acts") & forall([k], _TWO.alike("wins", k))
_two_win = exists([c, d], word("admitted", c) & word("admitted", d) & ~same(key(c), key(d)))

_ONE_TIME = Lemma("the_same_observations", _TWO.alike("judging"))
_GATES_ASKED = ("admitted", "admitted2", "judging", "judging2")
"""Definitions that stay opaque in the last step of a proof, because lemmas provide the facts about them."""

ORDER = _of_pairs(
    claim=selecting.order_of_candidates_decides_nothing,
    source="13.6 step 6",
    theory=Twice(_LISTED, _TWO.shared).extended(
        "sovereign_orders",
        Axiom("the_same_candidates", forall([c], _TWO.alike("present", c)), "two orders of one list"),
    ),
    goal=_same_outcome,
    needs=("the_same_candidates",),
    witness=_two_win,
    mutants=_TWO.mutants(*FAULTS.refuted(deciding.first_candidate_wins, deciding.last_candidate_wins)),
)

_added, _origin = Function("added", (), CAND), Function("origin", (), CAND)
_COPIED = _TWO.extended(
    "sovereign_copies",
    Axiom(
        "one_is_new",
        forall([c], iff(_two("present", c), present(c) | same(c, _added()))) & ~present(_added()),
        "a candidate more",
    ),
    Axiom(
        "what_is_new_is_a_copy",
        present(_origin()) & same(key(_added()), key(_origin())) & iff(lacks(_added()), lacks(_origin())),
        "it says what another one says, and lacks what that lacks: gate 1 looks at authors, the hash does not",
    ),
    functions=(_added, _origin),
)


def _view_copy(case: tuple[Any, SovereignStep, SovereignStep]) -> Structure | None:
    """Return two cycles; the second has one more candidate, a copy of one in the first."""
    found = view_pair(case)
    if found is None:
        return None
    new = sorted(found.relations["present2"] - found.relations["present"])
    if len(new) != 1 or not found.relations["present"] <= found.relations["present2"]:
        return None
    says, lacking = found.functions["key"], found.relations["lacks"]
    old = [
        row
        for row in sorted(found.relations["present"])
        if says[row] == says[new[0]] and (row in lacking) == (new[0] in lacking)
    ]
    if not old:
        return None
    return replace(found, functions={**found.functions, "added": {(): new[0][0]}, "origin": {(): old[0][0]}})


COPIES = _of_pairs(
    claim=selecting.duplicates_decide_nothing,
    theory=_COPIED,
    goal=_same_outcome,
    needs=("one_is_new", "what_is_new_is_a_copy"),
    witness=_two_win,
    lemmas=(
        _ONE_TIME,
        Lemma("what_passed_passes", forall([c], word("admitted", c) >> _two("admitted", c))),
        Lemma(
            "what_passes_passed",
            forall([c], _two("admitted", c) >> (word("admitted", c) | same(c, _added()) & word("admitted", _origin()))),
        ),
    ),
    opaque=_GATES_ASKED,
    view=_view_copy,
    mutants=_TWO.mutants(*FAULTS.refuted(deciding.several_candidates_are_none)),
)

FEWER = Axiom("nothing_new", forall([c], _two("present", c) >> present(c)), "the second cycle lacks candidates")

INADMISSIBLE = _of_pairs(
    claim=selecting.inadmissible_candidates_decide_nothing,
    theory=_TWO.extended(
        "sovereign_inadmissible",
        FEWER,
        Axiom(
            "what_is_gone_is_inadmissible",
            forall([c], (present(c) & ~_two("present", c)) >> ~word("deserves", c)),
            "the second cycle lacks inadmissible candidates",
        ),
    ),
    goal=_same_outcome,
    needs=("what_is_gone_is_inadmissible",),
    witness=_two_win,
    lemmas=(_ONE_TIME, Lemma("the_same_pass", forall([c], _TWO.alike("admitted", c)))),
    opaque=_GATES_ASKED,
    mutants=_TWO.mutants(*FAULTS.refuted(gates.completeness_dropped, gates.authority_dropped, gates.io_dropped)),
)

MORE = _of_pairs(
    claim=selecting.more_candidates_never_stop_an_action,
    theory=_TWO.extended("sovereign_more_candidates", FEWER),
    assumes=_two("acts"),
    goal=word("acts"),
    needs=("nothing_new",),
    mutants=_TWO.mutants(*FAULTS.refuted(deciding.several_candidates_are_none)),
)

# More tokens: the second cycle reports larger counts.

_OF_OBSERVATIONS = ("amounts_are_ordered", "kinds_exclude_each_other")
_COUNTED = Twice.apart(
    replace(DECISION, axioms=tuple(one for one in DECISION.axioms if one.name in _OF_OBSERVATIONS)), "count"
)
SPENDING = _COUNTED.extended(
    "sovereign_spending",
    Axiom(
        "larger_counts",
        forall([o], (budget(o) & readable(o)) >> le(count(o), _COUNTED.function(count)(o))),
        "more is reported",
    ),
)


def view_counts(case: tuple[Any, SovereignStep, SovereignStep]) -> Structure | None:
    """Return two cycles that differ in a reported count: observations are matched by place, candidates left out."""
    _, step, other = case
    one, two = structure_of(step), structure_of(other)
    if one is None or two is None or step.action.candidates or len(one.universe["Obs"]) != len(two.universe["Obs"]):  # type: ignore[union-attr]
        return None
    match = dict(zip(two.universe["Obs"], one.universe["Obs"], strict=True))
    amounts = tuple(sorted({*one.universe["Amount"], *two.universe["Amount"]}, key=int))
    relations = {**one.relations, "exhausted2": two.relations["exhausted"]}
    relations["le"] = frozenset((a, b) for place, a in enumerate(amounts) for b in amounts[place:])
    for name in ("timestamp", "proper", "failure", "budget", "readable"):
        if frozenset((match[row[0]],) for row in two.relations[name]) != one.relations[name]:
            return None
    functions: dict[str, Any] = {
        **one.functions,
        "count2": {(match[told[0]],): value for told, value in two.functions["count"].items()},
    }
    return Structure({**one.universe, "Amount": amounts}, relations, functions)


TOKENS = _of_pairs(
    claim=selecting.more_tokens_never_help,
    theory=SPENDING,
    assumes=word("exhausted"),
    goal=_COUNTED.second("exhausted"),
    needs=("larger_counts",),
    view=view_counts,
    mutants=_COUNTED.mutants(*FAULTS.refuted(deciding.budget_inverted)),
)
