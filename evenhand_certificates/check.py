"""Check a certificate: that its assertions have no model.

A certificate is a JSON object of the format `evenhand/certificate`, version 1:

    sorts, functions, relations   the symbols, as `formulas.Bank` takes them
    nodes                         formulas and terms, each made of earlier ones
    assertions                    [name, place of a node]: what is refuted, all of it
    atoms                         [term, term]: equalities that occur in lemmas alone
    steps                         instances [q, [term, …]] and witnesses [q] of quantified formula q, in order
    lemmas                        [literal, …]: clauses that are true by equality
          or                      {"clause": [literal, …], "sums": [[[factor, …, "1/2"], …], …]}: see `arithmetic`
    refutation                    [[literal, …], [hint, …]], ending in the empty clause

A term of a step is ["app", name, term, …], ["any", sort], or ["wit", s, i]: constant i of the witness of step s.
"""

# SPDX-License-Identifier: MIT
# What is read may be anything, so its parts have no known type until they are looked at.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evenhand_certificates.arithmetic import is_numeric_lemma
from evenhand_certificates.clauses import Clause, Clauses
from evenhand_certificates.equality import is_lemma
from evenhand_certificates.errors import Invalid, Work
from evenhand_certificates.formulas import Bank, read_nodes
from evenhand_certificates.refutation import check_refutation

FORMAT = "evenhand/certificate"
VERSION = 1

KEYS = ("sorts", "functions", "relations", "nodes", "assertions", "steps", "atoms", "lemmas", "refutation")


@dataclass(frozen=True)
class Checked:
    """What was checked: the names of the assertions, and how many steps, lemmas and clauses it took."""

    assertions: tuple[str, ...]
    steps: int
    lemmas: int
    clauses: int


def check(certificate: Any) -> Checked:
    """Check a certificate read from JSON.  Raises Invalid with the place and the reason."""
    names, clauses, work = clauses_of(certificate)
    check_refutation(clauses, certificate["refutation"], work)
    return Checked(names, len(certificate["steps"]), len(certificate["lemmas"]), len(clauses))


def clauses_of(certificate: Any) -> tuple[tuple[str, ...], list[Clause], Work]:
    """Return the names of the assertions, the clauses that follow from them, and the work that is left.

    Raises Invalid.  What the refutation refutes are these clauses, so that other programs can check it as well.
    """
    if not isinstance(certificate, Mapping) or (certificate.get("format"), certificate.get("version")) != (
        FORMAT,
        VERSION,
    ):
        raise Invalid(f"it is not of the format {FORMAT}, version {VERSION}")
    for key in KEYS:
        if not isinstance(certificate.get(key), list):
            raise Invalid(f"it has no list called {key!r}")
    bank = Bank(certificate["sorts"], certificate["functions"], certificate["relations"])
    places = read_nodes(bank, certificate["nodes"])
    made = Clauses(bank)
    names: list[str] = []
    for entry in certificate["assertions"]:
        match entry:
            case [str(name), place] if type(place) is int and 0 <= place < len(places):
                names.append(name)
                made.assume(places[place])
            case _:
                raise Invalid("an assertion is not [name, place of a node]")
    witnesses = _take_steps(made, certificate["steps"])

    def read_term(term: Any) -> int:
        return _term(bank, witnesses, term)

    for number, atom in enumerate(certificate["atoms"]):
        match atom:
            case [left, right]:
                made.atom(bank.add(("=", read_term(left), read_term(right))))
            case _:
                raise Invalid(f"atom {number} is not an equality of two terms")
    clauses = list(made.clauses)
    for number, lemma in enumerate(certificate["lemmas"]):
        clauses.append(_lemma(made, lemma, number, read_term))
    return tuple(names), clauses, bank.work


def _take_steps(made: Clauses, steps: list[Any]) -> dict[int, tuple[int, ...]]:
    witnesses: dict[int, tuple[int, ...]] = {}
    for number, step in enumerate(steps):
        match step:
            case [place, *terms] if type(place) is int and 0 <= place < len(made.quantified) and len(terms) <= 1:
                quantified = made.quantified[place]
            case _:
                raise Invalid(f"step {number} is not [quantified formula] or [quantified formula, terms]")
        if not terms:
            witnesses[number] = made.witness(quantified)
        elif isinstance(terms[0], list):
            made.instance(quantified, tuple(_term(made.bank, witnesses, term) for term in terms[0]))
        else:
            raise Invalid(f"step {number}: its terms are no list")
    return witnesses


def _term(bank: Bank, witnesses: Mapping[int, tuple[int, ...]], term: Any, depth: int = 0) -> int:
    match term:
        case ["app", str(name), *parts] if depth < 100:
            return bank.add(("app", name, *(_term(bank, witnesses, part, depth + 1) for part in parts)))
        case ["any", str(sort)]:
            return bank.add(("any", sort))
        case ["wit", step, place] if type(step) is int and type(place) is int:
            if step in witnesses and 0 <= place < len(witnesses[step]):
                return witnesses[step][place]
        case _:
            pass
    raise Invalid(f"{str(term)[:80] if isinstance(term, str | int) else type(term).__name__} is no closed term")


def _lemma(made: Clauses, lemma: Any, number: int, term: Callable[[Any], int]) -> Clause:
    sums = lemma.get("sums") if isinstance(lemma, dict) and set(lemma) == {"clause", "sums"} else None
    clause = lemma if isinstance(lemma, list) else lemma["clause"] if isinstance(sums, list) else None
    if not isinstance(clause, list) or any(type(literal) is not int for literal in clause):
        raise Invalid(f"lemma {number} has no known form")
    by_equality = sums is None and is_lemma(made.bank, made.atoms, clause)
    if not by_equality and (sums is None or not is_numeric_lemma(made.bank, made.atoms, clause, sums, term)):
        raise Invalid(f"lemma {number} is not true by {'equality alone' if sums is None else 'its sums'}")
    return tuple(clause)
