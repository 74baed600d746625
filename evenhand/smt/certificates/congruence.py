"""Lemmas of equality that a truth assignment violates, each with few literals.

A union-find structure whose edges remember why two terms are equal (a stated equality, or congruence) explains each
conflict by the equalities on the way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evenhand_certificates.clauses import Clause
from evenhand_certificates.formulas import Bank

Reason = int | tuple[int, int]
"""A literal that states the equality, or two applications with equal arguments."""


class Explained:
    """Classes of equal terms with a tree of reasons."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._parent: dict[int, tuple[int, Reason] | None] = {}

    @property
    def terms(self) -> tuple[int, ...]:
        """All terms that were added, with their parts."""
        return tuple(self._parent)

    def add(self, term: int) -> None:
        """Add a closed term with its parts."""
        if term not in self._parent:
            self._parent[term] = None
            node = self._bank.nodes[term]
            for part in node[2:] if node[0] == "app" else ():
                self.add(part)

    def root(self, term: int) -> int:
        """Return the root of a term's tree."""
        while (up := self._parent[term]) is not None:
            term = up[0]
        return term

    def join(self, one: int, other: int, reason: Reason) -> bool:
        """Make two terms equal; return whether they were not."""
        if self.root(one) == self.root(other):
            return False
        step: tuple[int, Reason] | None = (other, reason)
        while step is not None:  # turn the path from `one` to its root around
            self._parent[one], up = step, self._parent[one]
            step = None if up is None else (one, up[1])
            one = one if up is None else up[0]
        return True

    def close(self) -> None:
        """Join applications of one function to equal arguments until none are left."""
        changed = True
        while changed:
            changed = False
            seen: dict[tuple[object, ...], int] = {}
            for term in self._parent:
                node = self._bank.nodes[term]
                if node[0] == "app" and len(node) > 2:
                    twin = seen.setdefault((node[1], *(self.root(part) for part in node[2:])), term)
                    changed |= self.join(term, twin, (term, twin))

    def why(self, one: int, other: int) -> set[int]:
        """Return the literals that make two terms equal."""
        found: set[int] = set()
        waiting, done = [(one, other)], set[tuple[int, int]]()
        while waiting:
            pair = waiting.pop()
            if pair in done:
                continue
            done.add(pair)
            for reason in self._between(*pair):
                if isinstance(reason, int):
                    found.add(reason)
                else:
                    left, right = (self._bank.nodes[term][2:] for term in reason)
                    waiting += zip(left, right, strict=True)
        return found

    def _between(self, one: int, other: int) -> list[Reason]:
        above = {one: list[Reason]()}
        so_far: list[Reason] = []
        term = one
        while (up := self._parent[term]) is not None:
            so_far = [*so_far, up[1]]
            term = up[0]
            above[term] = so_far
        back: list[Reason] = []
        while other not in above:
            up = self._parent[other]
            assert up is not None, "terms of one class have a common ancestor"
            back.append(up[1])
            other = up[0]
        return above[other] + back


def violated(bank: Bank, atoms: Mapping[int, int], model: set[int]) -> Iterator[Clause]:
    """Yield lemmas of equality that are false in a truth assignment (its true literals)."""
    classes = Explained(bank)
    facts = [(number, bank.nodes[formula], number in model) for number, formula in atoms.items()]
    for _, node, _ in facts:
        for term in node[1:] if node[0] == "=" else node[2:]:
            classes.add(term)
    for number, node, holds in facts:
        if node[0] == "=" and holds:
            classes.join(node[1], node[2], number)
    classes.close()
    said: dict[tuple[object, ...], tuple[int, tuple[int, ...], bool]] = {}
    for number, node, holds in facts:
        if node[0] == "=":
            if not holds and classes.root(node[1]) == classes.root(node[2]):
                yield (number, *sorted(-one for one in classes.why(node[1], node[2])))
            continue
        key = (node[1], *(classes.root(term) for term in node[2:]))
        twin, terms, held = said.setdefault(key, (number, node[2:], holds))
        if held != holds:
            why = {literal for pair in zip(terms, node[2:], strict=True) for literal in classes.why(*pair)}
            apart = (number, -twin) if held else (-number, twin)
            yield (*apart, *sorted(-one for one in why))
