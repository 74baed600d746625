"""Lemmas of equality: clauses that are true in every structure because equal things are alike.

A lemma is checked by congruence closure: with all its literals false, two terms are forced to be equal that are said to
differ, or a relation is said to hold and not to hold of equal terms.
"""

# SPDX-License-Identifier: MIT

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from evenhand_certificates.formulas import Bank


class Classes:
    """Classes of equal terms, closed under congruence."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._leader: dict[int, int] = {}

    def add(self, term: int) -> None:
        """Add a closed term with its parts."""
        waiting = [term]
        while waiting:
            one = waiting.pop()
            if one not in self._leader:
                self._leader[one] = one
                node = self._bank.nodes[one]
                waiting += node[2:] if node[0] == "app" else ()

    def of(self, term: int) -> int:
        """Return the leader of a term's class."""
        while self._leader[term] != term:
            self._leader[term] = self._leader[self._leader[term]]
            term = self._leader[term]
        return term

    def merge(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Make the terms of each pair equal, and whatever follows by congruence."""
        for one, other in pairs:
            self._leader[self.of(one)] = self.of(other)
        changed = True
        while changed:
            changed = False
            self._bank.work.spend(4 * len(self._leader))
            seen: dict[tuple[object, ...], int] = {}
            for term in self._leader:
                node = self._bank.nodes[term]
                if node[0] != "app" or len(node) == 2:
                    continue
                twin = seen.setdefault((node[1], *(self.of(part) for part in node[2:])), term)
                if self.of(twin) != self.of(term):
                    self._leader[self.of(twin)] = self.of(term)
                    changed = True


def is_lemma(bank: Bank, atoms: Mapping[int, int], clause: Sequence[int]) -> bool:
    """Return whether a clause of atoms (relations of terms, equalities) is true by equality alone."""
    if any(abs(literal) not in atoms for literal in clause):
        return False
    facts = [(bank.nodes[atoms[abs(literal)]], literal < 0) for literal in clause]  # all literals false
    classes = Classes(bank)
    for node, _ in facts:
        for term in node[1:] if node[0] == "=" else node[2:]:
            classes.add(term)
    classes.merge((node[1], node[2]) for node, holds in facts if node[0] == "=" and holds)
    said: dict[tuple[object, ...], bool] = {}
    for node, holds in facts:
        if node[0] == "=":
            if not holds and classes.of(node[1]) == classes.of(node[2]):
                return True
        elif said.setdefault((node[1], *(classes.of(term) for term in node[2:])), holds) != holds:
            return True
    return False
