"""The evaluator tests conditions early and searches choices apart: its answers are those of the plain definition."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping

import pytest

from evenhand.smt import logic as fol
from evenhand.smt import structure as evaluator
from evenhand.smt.logic import FALSE, TRUE, Formula, Sort, Var, exists, forall, iff, ite, same
from evenhand.smt.preludes import relations
from evenhand.smt.structure import Reader, Structure

AGENT, KEY = Sort("Agent"), Sort("Key")
red, calm = relations("red calm", AGENT)
before, beside = relations("before beside", AGENT, AGENT)
(owns,) = relations("owns", AGENT, KEY)
AGENTS = tuple(AGENT(name) for name in "xyz")
KEYS = tuple(KEY(name) for name in "km")


def _plain(formula: Formula, structure: Structure, values: Mapping[Var, str]) -> bool:
    """The value of a formula by the definition: every value of every variable, in order."""

    def of(part: Formula) -> bool:
        return _plain(part, structure, values)

    match formula:
        case fol.Holds(relation, arguments):
            return tuple(values[one] for one in arguments if isinstance(one, Var)) in structure.relations[relation.name]
        case fol.Equal(left, right):
            assert isinstance(left, Var) and isinstance(right, Var)
            return values[left] == values[right]
        case fol.Not(body):
            return not of(body)
        case fol.And(parts):
            return all(of(part) for part in parts)
        case fol.Or(parts):
            return any(of(part) for part in parts)
        case fol.Implies(left, right):
            return not of(left) or of(right)
        case fol.Iff(left, right):
            return of(left) == of(right)
        case fol.Ite(test, then, other):
            return of(then) if of(test) else of(other)
        case fol.Forall(bound, body) | fol.Exists(bound, body):
            picks = itertools.product(*(structure.universe[one.sort.name] for one in bound))
            found = [_plain(body, structure, {**values, **dict(zip(bound, pick, strict=True))}) for pick in picks]
            return all(found) if isinstance(formula, fol.Forall) else any(found)


def _formula(draw: random.Random, depth: int) -> Formula:
    one, other, key = draw.choice(AGENTS), draw.choice(AGENTS), draw.choice(KEYS)
    if depth == 0:
        atoms = (red(one), calm(one), before(one, other), beside(one, other), owns(one, key), same(one, other))
        return draw.choice((*atoms, TRUE, FALSE))
    parts = [_formula(draw, depth - 1) for _ in range(3)]
    bound = draw.sample((*AGENTS, *KEYS), draw.randint(1, 4))
    kinds: tuple[Callable[[], Formula], ...] = (
        lambda: ~parts[0],
        lambda: fol.conjunction(parts),
        lambda: fol.disjunction(parts),
        lambda: parts[0] >> parts[1],
        lambda: iff(parts[0], parts[1]),
        lambda: ite(parts[0], parts[1], parts[2]),
        lambda: forall(bound, parts[0] >> (parts[1] & parts[2])),
        lambda: forall(bound, fol.disjunction(parts)),
        lambda: exists(bound, parts[0] & (parts[1] | parts[2])),
        lambda: exists(bound, parts[0]),
    )
    return draw.choice(kinds)()


def _structure(draw: random.Random) -> Structure:
    universe = {"Agent": ("a", "b")[: draw.randint(1, 2)], "Key": ("k", "l")[: draw.randint(1, 2)]}

    def some(relation: fol.Relation) -> frozenset[tuple[str, ...]]:
        rows = itertools.product(*(universe[sort.name] for sort in relation.domain))
        return frozenset(row for row in rows if draw.random() < 0.5)

    return Structure(universe, {one.name: some(one) for one in (red, calm, before, beside, owns)})


def _differences() -> Iterator[Formula]:
    for number in range(120):
        draw = random.Random(f"evaluator {number}")
        formula = forall(KEYS, exists(AGENTS, _formula(draw, 2)))
        reader = Reader()
        for _ in range(2):
            structure = _structure(draw)
            if reader.holds(formula, structure) != _plain(formula, structure, {}):
                yield formula


def test_the_evaluator_follows_the_definition() -> None:
    """On random formulas, with variables bound twice or not needed, and random structures."""
    assert not list(_differences())


@pytest.mark.parametrize(
    ("kind", "value"), [(fol.And, True), (fol.Or, False), (fol.Implies, False)], ids=["and", "or", "implies"]
)
def test_a_lost_condition_is_seen(kind: type, value: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted faults: the last condition of those that a formula is taken apart into is forgotten."""
    honest: Callable[..., Iterator[tuple[Formula, bool]]] = getattr(evaluator, "_conditions")  # noqa: B009

    def forgetful(formula: Formula, *, wanted: bool) -> Iterator[tuple[Formula, bool]]:
        found = list(honest(formula, wanted=wanted))
        yield from found[:-1] if isinstance(formula, kind) and wanted is value else found

    monkeypatch.setattr(evaluator, "_conditions", forgetful)
    assert next(_differences(), None) is not None


def test_a_variable_that_is_tried_once_too_seldom_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: one value stands for all, also of variables that conditions speak of."""
    honest: Callable[..., Callable[[dict[str, str]], bool]] = getattr(Reader, "_single")  # noqa: B009

    def hasty(self: Reader, *tests: object, most: int | None) -> Callable[[dict[str, str]], bool]:
        return honest(self, *tests, most=1 if most is None else most)

    monkeypatch.setattr(Reader, "_single", hasty)
    assert next(_differences(), None) is not None
