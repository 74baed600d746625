"""How far a theory was compared with the model, and whether that is far enough to carry a proof."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ORIGINS", "Conformance"]

ORIGINS = ("every", "corner", "drawn", "replayed")
"""Every situation of a stated size, solver-made corner cases, drawn worlds, countermodels that were followed."""


@dataclass(frozen=True)
class Conformance:
    """How far the theory was compared with the model.

    `cases` were looked at, `outside` of them the theory says nothing about; the others gave `structures` different
    structures of at most `size` elements per sort, the claim true on `true` cases and false on `false`. `words` counts
    comparisons of defined words, `mutants` the variants that were compared. `disagreements` says the first few,
    `silent` names words of the formula that were only ever observed true, or false. `every` situations of the size
    `upto` were listed and `drawn` others made; of `corners` that the solver could make, `reached` are steps of the
    model, `unreached` names the rest, `denied` axioms were denied in vain, and those in `lifted` leave out steps on
    purpose, of which one was made; `impossible` names corner cases that are proved to be unreachable; `caught` counts
    disagreements by origin; `events` counts what the drawn worlds showed, `short` names what they showed too rarely.
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
        """Why the link does not carry the proof; empty if it does."""
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
        """What became of the other corner cases."""
        said = [f"unreached: {', '.join(self.unreached)}"] if self.unreached else []
        said += [f"unreachable, proved: {', '.join(self.impossible)}"] if self.impossible else []
        return f" ({'; '.join(said)})" if said else ""

    @property
    def sentence(self) -> str:
        """The link in one line, as reports print it."""
        share = 100 * self.outside // self.cases if self.cases else 0
        parts = [f"compared on {self.structures} structures up to size {self.size}"]
        if self.upto:
            parts += [
                f"every one of {self.upto} ({self.every})",
                f"{self.reached + self.denied + len(self.lifted)} of {self.boundary_cases} boundary cases{self._beyond}",
            ]
            seen = (
                f"; {len(self.events)} events, the rarest {min(n for _, n in self.events)} times" if self.events else ""
            )
            parts.append(f"{self.drawn} drawn samples{seen}")
        rest = (
            f"{self.mutants} mutants; claim true on {self.true}, false on {self.false}; "
            f"{share}% of {self.cases} sampled cases lie outside the theory"
        )
        return f"{', '.join(parts)} ({rest})"
