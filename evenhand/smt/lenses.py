"""What is known of compared cases: their structures, their values of axioms, and what words mean in them.

Theorems with one view and one set of definitions share it, so that nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeAlias

from evenhand.smt.arithmetic import NUMBER
from evenhand.smt.logic import Definition, Function, Relation
from evenhand.smt.structure import Reader, Structure
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Axiom, Theory, spoken


class Bare:
    """A structure without observed values, with what is known of it: axioms about it alone, and what words mean in it.

    Steps of the reference and of mutants share it where they differ only in what is observed.
    """

    __slots__ = ("axioms", "extensions", "structure")

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.axioms: dict[int, bool] = {}
        self.extensions: dict[str, frozenset[tuple[str, ...]]] = {}


class Look:
    """A structure that cases have, one object for equal ones; `bare` is it without the observed values.

    Outside the theory there is neither.
    """

    __slots__ = ("axioms", "bare", "structure")

    def __init__(self, structure: Structure | None = None, bare: Bare | None = None) -> None:
        self.structure, self.bare = structure, bare
        self.axioms: dict[int, bool] = {}


Words: TypeAlias = tuple[tuple[str, ...], int, frozenset[tuple[str, bool]]]


class Lens:
    """Caches of cases under a theory's definitions and a view, shared by all theorems with both."""

    def __init__(self, theorem: Theorem) -> None:
        self.definitions, self.view = theorem.theory.definitions, theorem.view
        self.meanings = theorem.theory.meanings
        self.plain = Reader(self.meanings)
        self.readers: dict[str, tuple[Mapping[str, Definition], Reader, frozenset[str]]] = {}
        self.outside = Look()
        self.seen: dict[int, tuple[Any, Look]] = {}
        self.looks: dict[Hashable, Look] = {}
        self.bares: dict[Hashable, Bare] = {}
        self.compared: dict[str, dict[Look, Words]] = {}
        self.kept: dict[int, tuple[Axiom, bool]] = {}

    def look(self, case: Any) -> Look:
        """Return the structure of a case; that of a single step is cached, because other theorems need it too."""
        known = self.seen.get(id(case))
        if known is not None and known[0] is case:
            return known[1]
        structure = self.view(case)
        found = self.outside if structure is None else self._shared(structure)
        if not isinstance(case, tuple):
            self.seen[id(case)] = case, found
        return found

    def _shared(self, structure: Structure) -> Look:
        key = structure.key
        found = self.looks.get(key)
        if found is None:
            without = structure.without(self.meanings)
            bare = self.bares.setdefault(without.key, Bare(without))
            found = self.looks[key] = Look(structure, bare)
        return found

    def broken(self, look: Look, theory: Theory) -> str:
        """Return the name of the first axiom that is false in a structure; empty if all hold."""
        assert look.structure is not None and look.bare is not None
        for axiom in theory.axioms:
            kept = self.kept.get(id(axiom))
            if kept is None:  # kept so that its id is not reused
                kept = self.kept[id(axiom)] = (axiom, axiom.relations.isdisjoint(self.meanings))
            about: Look | Bare = look.bare if kept[1] else look
            holds = about.axioms.get(id(axiom))
            if holds is None:
                assert about.structure is not None
                holds = about.axioms[id(axiom)] = self.plain.holds(axiom.formula, about.structure)
            if not holds:
                return axiom.name
        return ""

    def constant(self, axiom: Axiom, looks: Iterable[Look]) -> tuple[str, ...]:
        """Return the undefined symbols of an axiom that have one value in all these structures.

        Structures in which a symbol is always the same would not show that an axiom about it is false.
        """
        structures = [look.structure for look in looks if look.structure is not None]
        undefined = (one for one in axiom.symbols if one.name not in self.meanings)
        return tuple(one.name for one in undefined if _is_constant(one, structures))

    def words(self, variant: str, look: Look, words: Mapping[str, Definition]) -> Words:
        """Return errors of the observed relations, their number, and the truth values seen of each.

        Each structure is compared once for each set of definitions.
        """
        known = self.readers.get(variant)
        if known is None or known[0] != words:
            known = self.readers[variant] = (words, Reader(words), _affected(self.meanings, words))
            self.compared[variant] = {}
        compared = self.compared[variant]
        said = compared.get(look)
        if said is None:
            said = compared[look] = self._compared(look, *known)
        return said

    def _compared(self, look: Look, words: Mapping[str, Definition], reader: Reader, affected: frozenset[str]) -> Words:
        structure, bare = look.structure, look.bare
        assert structure is not None and bare is not None
        observed = [name for name in words if name in structure.relations]
        wrong: list[str] = []
        values: set[tuple[str, bool]] = set()
        for name in observed:
            seen = structure.relations[name]
            if name in affected:
                defined = reader.extension(words[name].relation, bare.structure)
            else:
                if name not in bare.extensions:
                    bare.extensions[name] = self.plain.extension(words[name].relation, bare.structure)
                defined = bare.extensions[name]
            if seen:
                values.add((name, True))
            if len(seen) < _places(words[name].relation, structure):
                values.add((name, False))
            if defined != seen:
                wrong.append(f"{name} is {sorted(defined)} by definition, {sorted(seen)} in fact")
        return tuple(wrong), len(observed), frozenset(values)


def _affected(before: Mapping[str, Definition], after: Mapping[str, Definition]) -> frozenset[str]:
    """Return the words whose meaning changes: redefined, or made of such words."""
    changed = {name for name, definition in after.items() if definition != before.get(name)}
    while more := {n for n, one in after.items() if n not in changed and not changed.isdisjoint(spoken(one.body))}:
        changed |= more
    return frozenset(changed)


_LENSES: dict[tuple[int, int], Lens] = {}
_MOST_LENSES = 6


def lens_of(theorem: Theorem) -> Lens:
    """Return the lens of the theorem's definitions and view; the oldest of more than a few is forgotten."""
    place = (id(theorem.theory.definitions), id(theorem.view))
    if place not in _LENSES:
        while len(_LENSES) >= _MOST_LENSES:
            _LENSES.pop(next(iter(_LENSES)))
        _LENSES[place] = Lens(theorem)
    return _LENSES[place]


def _is_constant(symbol: Function | Relation, structures: Iterable[Structure]) -> bool:
    """Whether a symbol has one value; never for a constant of a sort, as structures share no elements."""
    values = set[str]()
    for structure in structures:
        if isinstance(symbol, Relation):
            held = len(structure.relations[symbol.name])
            values |= {"holds"} if held else set()
            values |= {"fails"} if held < _places(symbol, structure) else set()
        elif symbol.codomain == NUMBER:
            values.update(structure.functions[symbol.name].values())
        elif symbol.domain:  # two values must be of one structure
            values = set(structure.functions[symbol.name].values())
        else:
            return False
        if len(values) > 1:
            return False
    return True


def _places(relation: Relation, structure: Structure) -> int:
    count = 1
    for sort in relation.domain:
        count *= len(structure.universe[sort.name])
    return count
