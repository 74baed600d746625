"""The extent of a comparison of theory and model, and whether it suffices for a proof."""

from __future__ import annotations

from dataclasses import dataclass

ORIGINS = ("every", "corner", "drawn", "replayed")
"""Every situation of a stated size, solver-made boundary cases, drawn samples, replayed countermodels."""


@dataclass(frozen=True)
class Conformance:
    """The counts of a comparison of theory and model.

    `cases` were compared, `outside` of them lie outside the theory; the others gave `structures` different structures
    of at most `size` elements per sort, with the claim true on `true` cases and false on `false`.  `words` counts
    comparisons of defined relations, `mutants` the mutants compared.  `disagreements` holds the first few, `silent`
    the relations of the formula that were observed with one value only.  `untested` are axioms, each with its symbols
    that have one value in all compared structures of the reference: these would not show that it is false.
    `every` situations of the size `upto` were listed and `drawn` others drawn.  Of the `boundary_cases` that the
    solver could make, `reached` are steps of the model and `unreached` names the others; `denied` counts axioms
    that no made step breaks, `lifted` names intended restrictions that one breaks; `impossible` names boundary
    cases proved unreachable.  `caught` counts disagreements by origin; `events` counts what the drawn samples show,
    `short` names events below their floor.
    """

    cases: int = 0
    outside: int = 0
    structures: int = 0
    size: int = 0
    true: int = 0
    false: int = 0
    words: int = 0
    mutants: int = 0
    disagreements: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    untested: tuple[tuple[str, tuple[str, ...]], ...] = ()
    every: int = 0
    upto: str = ""
    drawn: int = 0
    boundary_cases: int = 0
    reached: int = 0
    unreached: tuple[str, ...] = ()
    denied: int = 0
    lifted: tuple[str, ...] = ()
    impossible: tuple[str, ...] = ()
    caught: tuple[tuple[str, int], ...] = ()
    events: tuple[tuple[str, int], ...] = ()
    short: tuple[str, ...] = ()

    @property
    def because(self) -> str:
        """Why the conformance does not suffice for a proof; empty if it does."""
        if self.disagreements:
            return f"theory and model disagree: {self.disagreements[0]}"
        if not self.structures:
            return "the theory was compared on no step of the model"
        if not self.true or not self.false:
            return f"the claim was never seen {'true' if not self.true else 'false'} on a step inside the theory"
        if self.silent:
            return f"a symbol of the formula was observed with one value only: {', '.join(self.silent)}"
        if self.short:
            return f"the drawn samples show too little: {', '.join(self.short)}"
        return ""

    @property
    def _beyond(self) -> str:
        """The unreached and impossible boundary cases."""
        said = [f"unreached: {', '.join(self.unreached)}"] if self.unreached else []
        said += [f"unreachable, proved: {', '.join(self.impossible)}"] if self.impossible else []
        return f" ({'; '.join(said)})" if said else ""

    @property
    def sentence(self) -> str:
        """The conformance in one line, as reports print it."""
        share = 100 * self.outside // self.cases if self.cases else 0
        parts = [f"compared on {self.structures} structures up to size {self.size}"]
        if self.upto:
            parts += [
                f"every one of {self.upto} ({self.every})",
                f"{self.reached + self.denied + len(self.lifted)} of {self.boundary_cases} boundary cases"
                f"{self._beyond}",
            ]
            seen = (
                f"; {len(self.events)} events, the rarest {min(n for _, n in self.events)} times" if self.events else ""
            )
            parts.append(f"{self.drawn} drawn samples{seen}")
        rest = (
            f"{self.mutants} mutants; claim true on {self.true}, false on {self.false}; "
            f"{share}% of {self.cases} sampled cases lie outside the theory"
        )
        untested = ", ".join(f"{axiom} ({', '.join(symbols)})" for axiom, symbols in self.untested)
        assumed = f"; assumed, for no sample has another value of a symbol: {untested}" if untested else ""
        return f"{', '.join(parts)} ({rest}{assumed})"
