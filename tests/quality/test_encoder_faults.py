"""Planted faults of the encoder: comparing theory and model catches each, and the table names the part that does.

A fault is put into the theory, into the view or into an axiom; every other part stays unchanged.  `every`: the small
situations that are listed in full; `corner`: cases that a solver makes, one for each word and axiom; `drawn`: worlds
that Hypothesis draws.  Run with `-s` to see the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from evenhand.model.cud.mutants import arbitration, authority
from evenhand.model.cud.protocol import CUD
from evenhand.proofs.cud.definitions import FAULTS as MUTANTS
from evenhand.proofs.cud.definitions import word
from evenhand.proofs.cud.epoch import EPOCH
from evenhand.proofs.cud.samples import WORLDS
from evenhand.proofs.cud.vocabulary import (
    ACT,
    AGENT,
    AUTH,
    KEY,
    VALUE,
    active,
    by,
    cites,
    early,
    exits,
    forbids,
    holder,
    permits,
    reads,
    scope,
    submitted,
    wants,
)
from evenhand.smt.conformance import Conformance
from evenhand.smt.differential import agree
from evenhand.smt.logic import (
    FALSE,
    Definition,
    Formula,
    conjunction,
    differ,
    exists,
    forall,
    same,
    variables,
)
from evenhand.smt.registry import theorems
from evenhand.smt.structure import Structure
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Axiom, Theory

r, s, t = variables(ACT, "r s t")
k, j = variables(KEY, "k j")
a = AUTH("a")
v = VALUE("v")
x, y = variables(AGENT, "x y")

FEWER = replace(WORLDS.fewer(3, 2), sampled_readings={})
FEWEST = replace(WORLDS.fewer(12, 6), sampled_readings={})
PLAIN = next(theorem for theorem in theorems("cud") if theorem.name == "executed_never_interfere")


def _with(theory: Theory) -> Theorem:
    return replace(PLAIN, theory=theory, mutants=(), samples=FEWER)


def _wrong(name: str, body: Formula) -> Theorem:
    meaning = EPOCH.meanings[name]
    return _with(EPOCH.redefined([Definition(meaning.relation, meaning.variables, body)]))


def _axiom(name: str, formula: Formula) -> Theorem:
    return _with(replace(EPOCH, name=f"cud_{name}", axioms=(*EPOCH.axioms, Axiom(name, formula))))


def _seen(change: Callable[[Structure], Structure]) -> Theorem:
    def view(step: object) -> Structure | None:
        found = PLAIN.view(step)
        return None if found is None else change(found)

    return replace(_with(EPOCH), view=view)


def _swapped(one: str, other: str) -> Callable[[Structure], Structure]:
    def change(found: Structure) -> Structure:
        relations = {**found.relations, one: found.relations[other], other: found.relations[one]}
        return Structure(found.universe, relations, found.functions)

    return change


def _lost(found: Structure) -> Structure:
    """The view drops the last tuple of `cites`."""
    kept = frozenset(sorted(found.relations["cites"])[:-1])
    return Structure(found.universe, {**found.relations, "cites": kept}, found.functions)


_third = exists([s, t], conjunction([differ(r, s), differ(r, t), differ(s, t), word("contends", s)]))
_rival = exists([s], differ(r, s) & word("contends", s) & word("interferes", r, s))
_held = conjunction([early(a), permits(a), same(holder(a), by(r))])
_common = exists([k], scope(r, k) & scope(s, k))


FAULTS: dict[str, Theorem] = {
    "a DENY counts only for its holder": _wrong(
        "vetoed",
        exists([a, k], early(a) & forbids(a) & same(holder(a), by(r)) & scope(r, k) & word("concerns", a, r, k)),
    ),
    "two readers collide": _wrong("interferes", _common),
    "a reader never collides": _wrong("interferes", ~reads(r) & ~reads(s) & _common),
    "an id that no artefact has is no stray citation": _wrong(
        "stray", exists([a], cites(r, a) & ~(early(a) & same(holder(a), by(r))))
    ),
    "artefacts count whenever they were made": _with(EPOCH.redefined(MUTANTS[authority.late_authority_honoured])),
    "a held ALLOW need not be cited": _wrong(
        "covered",
        forall(
            [k],
            scope(r, k) >> exists([a], _held & word("concerns", a, r, k)),
        ),
    ),
    "one covered key is enough": _wrong("covered", exists([k], scope(r, k) & word("entitled", r, k))),
    "a write of what is there already is a change": _wrong("puts", wants(r, k, v)),
    "three are not refused where two are": _wrong("collides", word("contends", r) & _rival & ~_third),
    "pass 2 is over whatever was submitted": _wrong("contends", submitted(r)),
    "exit takes effect one epoch later": _wrong("stays", active(x)),
    "nothing ever changes": _wrong("becomes", FALSE),
    "axiom: nobody is refused twice": _axiom(
        "one_collision", forall([r, s], (word("collides", r) & word("collides", s)) >> same(by(r), by(s)))
    ),
    "axiom: nobody leaves": _axiom("nobody_leaves", forall([x], ~exits(x))),
    "axiom: one key is declared": _axiom("one_key", forall([r, k, j], (scope(r, k) & scope(r, j)) >> same(k, j))),
    "view: ALLOW of READ and of WRITE exchanged": _seen(_swapped("over_read", "over_write")),
    "view: the last citation is lost": _seen(_lost),
    "view: token and failure exchanged": _seen(_swapped("gets_done", "gets_failure")),
}


@cache
def _linked(name: str) -> Conformance:
    mutants = (arbitration.last_writer_wins, arbitration.reads_never_collide)
    theorem = FAULTS[name] if name else _with(EPOCH)
    return agree(theorem, CUD.systems[theorem.system], mutants)


def caught_by(name: str) -> tuple[str, ...]:
    """Return the parts of the comparison that notice the fault."""
    return tuple(origin for origin, _ in _linked(name).caught)


def test_without_a_fault_nothing_is_caught() -> None:
    """Every corner case of a word is a step of the model, and no step denies an axiom."""
    honest = _linked("")
    assert not honest.because and not honest.caught
    assert honest.reached >= 80 and honest.reached + honest.denied == honest.boundary_cases and not honest.unreached


QUICK = (
    "a DENY counts only for its holder",
    "two readers collide",
    "a held ALLOW need not be cited",
    "artefacts count whenever they were made",
    "a write of what is there already is a change",
    "exit takes effect one epoch later",
    "axiom: nobody is refused twice",
    "view: the last citation is lost",
)
"""One of each kind (a veto, a collision, an entitlement, time, a change, an exit, an axiom, the view).

Every run of the tests plants these, on fewer situations and without mutants.
"""


@cache
def _quickly(name: str) -> Conformance:
    theorem = replace(FAULTS[name] if name else _with(EPOCH), samples=FEWEST)
    return agree(theorem, CUD.systems[theorem.system], ())


def test_few_situations_without_a_fault_catch_nothing() -> None:
    """So the quick comparison's findings come from the fault."""
    assert not _quickly("").caught


@pytest.mark.slow
def test_one_fault_of_each_kind_is_caught(capsys: pytest.CaptureFixture[str]) -> None:
    """Each by some part, named in the table; and each part notices one that another misses."""
    found = {name: tuple(origin for origin, _ in _quickly(name).caught) for name in QUICK}
    with capsys.disabled():
        print(_table(found))
    assert [name for name, parts in found.items() if not parts] == []
    _all_worth_having(found)


def test_a_corner_case_that_nothing_can_reach_is_proved_to_be_one() -> None:
    """Planted: a word without a witness; the report separates it from cases that were merely not reached."""
    honest, planted = _quickly(""), _quickly("nothing ever changes")
    assert "becomes" in planted.impossible and "becomes" not in (*honest.impossible, *honest.unreached)
    assert "unreachable, proved: becomes" in planted.sentence and "becomes" not in honest.sentence


def _table(found: dict[str, tuple[str, ...]]) -> str:
    lines = [f"\n{'planted fault':52} " + " ".join(f"{origin:7}" for origin in PARTS)]
    for name, parts in found.items():
        lines.append(f"{name:52} " + " ".join(f"{'yes' if origin in parts else '-':7}" for origin in PARTS))
    return "\n".join(lines)


def _all_worth_having(found: dict[str, tuple[str, ...]]) -> None:
    for origin in PARTS:
        others = [set(parts) for parts in found.values() if origin in parts]
        assert others, f"{origin} catches nothing"
        assert any(set(PARTS) - parts for parts in others), f"{origin} never sees what another misses"


PARTS = ("every", "corner", "drawn")


@pytest.mark.deep
@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_caught(name: str) -> None:
    """By at least one of the three."""
    assert caught_by(name), "nobody noticed"
    assert _linked(name).because.startswith("theory and model disagree")


@pytest.mark.deep
def test_each_part_is_worth_having(capsys: pytest.CaptureFixture[str]) -> None:
    """For each part there is a fault that it notices and some other part misses."""
    table = {name: caught_by(name) for name in FAULTS}
    with capsys.disabled():
        print(_table(table))
    _all_worth_having(table)
