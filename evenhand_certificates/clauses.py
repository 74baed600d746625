"""From closed formulas to clauses: definitions of connectives, and instances of quantified formulas.

A literal is a number or its negative; every closed formula that is met has one.  The literal of a connective is defined
by clauses; atoms and *quantified formulas* are left undefined.  Two kinds of step say what a quantified formula means:

- an *instance*: `all x. f` implies `f[t]`, and `f[t]` implies `some x. f`, for any closed terms t of the right sorts;
- a *witness*: `f[w]` implies `all x. f`, and `some x. f` implies `f[w]`, where w are new constants that belong to this
  quantified formula.  A model without them is extended by choosing an element that refutes (that makes true) the body
  if there is one, and any element if not; the formula itself holds only constants that were chosen before.

So these clauses have a model if the assertions have one.  Numbers are given in the order in which formulas are met,
hence equal certificates give equal clauses.
"""

# SPDX-License-Identifier: MIT

from __future__ import annotations

from evenhand_certificates.errors import Invalid
from evenhand_certificates.formulas import Bank

Clause = tuple[int, ...]


class Clauses:
    """The clauses of some assertions and of steps that are added; `quantified` are the formulas that steps may open."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank
        self.clauses: list[Clause] = []
        self.quantified: list[int] = []
        self.atoms: dict[int, int] = {}
        self._literals: dict[int, int] = {}
        self._last = 0

    def assume(self, formula: int) -> None:
        """Add an assertion.  Raises Invalid for one that is not closed or not well-sorted."""
        self.bank.check_formula(formula)
        self.clauses.append((self.literal(formula),))

    def instance(self, quantified: int, terms: tuple[int, ...]) -> None:
        """Add the instance of a quantified formula for closed terms.  Raises Invalid for terms of other sorts."""
        tag, sorts, _ = self.bank.nodes[quantified]
        if tuple(self.bank.sort(term) for term in terms) != sorts:
            raise Invalid("an instance with terms of other sorts than the variables")
        whole, body = self.literal(quantified), self.literal(self.bank.instance(quantified, terms))
        self.clauses.append((-whole, body) if tag == "all" else (whole, -body))

    def witness(self, quantified: int) -> tuple[int, ...]:
        """Add the witness of a quantified formula, and return its constants."""
        tag, sorts, _ = self.bank.nodes[quantified]
        terms = tuple(self.bank.add(("wit", quantified, place)) for place in range(len(sorts)))
        whole, body = self.literal(quantified), self.literal(self.bank.instance(quantified, terms))
        self.clauses.append((whole, -body) if tag == "all" else (-whole, body))
        return terms

    def atom(self, equality: int) -> int:
        """Return the literal of an equality, which no clause defines.  Raises Invalid for terms of two sorts."""
        self.bank.check_formula(equality)
        return self.literal(equality)

    def literal(self, formula: int) -> int:
        """Return the literal of a closed formula; the clauses that define it are added when it is new."""
        found = self._literals.get(formula)
        if found is None:
            node = self.bank.nodes[formula]
            found = -self.literal(node[1]) if node[0] == "not" else self._define(formula)
            self._literals[formula] = found
        return found

    def _define(self, formula: int) -> int:
        tag, *rest = self.bank.nodes[formula]
        parts = [self.literal(part) for part in rest] if tag in ("and", "or", "=>", "iff", "ite") else []
        self._last += 1
        own = self._last
        match tag:
            case "and":
                self._conjunction(own, parts)
            case "or":
                self._conjunction(-own, [-part for part in parts])
            case "=>":
                self._conjunction(-own, [parts[0], -parts[1]])
            case "iff":
                one, other = parts
                self.clauses += [(-own, -one, other), (-own, one, -other), (own, one, other), (own, -one, -other)]
            case "ite":
                test, then, other = parts
                self.clauses += [(-own, -test, then), (-own, test, other), (own, -test, -then), (own, test, -other)]
            case "all" | "some":
                self.quantified.append(formula)
            case _:
                self.atoms[own] = formula
        return own

    def _conjunction(self, own: int, parts: list[int]) -> None:
        self.clauses += [(-own, part) for part in parts]
        self.clauses.append((own, *(-part for part in parts)))
