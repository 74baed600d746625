"""Steered against plain random: the same systems, seeds and numbers of steps, in pairs.

Coverage counts what a run without claims passes: distinct states, transitions, classes of step (which events it shows)
and changes of class.  A mutant is found when the first claim that is expected to hold is refuted and its run replays.
CPU seconds are those of the whole run, drawing and trying included; steps that were only tried count for nothing else.
Because steering costs time, the last figure of a cell is guided over plain of twice the steps.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean
from typing import Any, NamedTuple

from evenhand.core.bundle import Bundle
from evenhand.core.generator import Event, Generator
from evenhand.core.property import AnyStep, Property
from evenhand.core.registry import protocols
from evenhand.core.system import Mutant
from evenhand.core.verdict import Status
from evenhand.evidence.judge import judge
from evenhand.machine.fuzzing import drive
from evenhand.machine.guide import Guide
from evenhand.machine.ledger import Ledger

__all__ = ["Covered", "Hunted", "Paired", "cover", "hunt", "main", "table"]

STEPS = 20
"""Actions of an example."""


class Covered(NamedTuple):
    """The coverage of one run, and its CPU seconds."""

    states: int
    transitions: int
    classes: int
    changes: int
    cpu: float


class Paired(NamedTuple):
    """One seed: plain and guided with the same number of steps, and plain with twice as many."""

    plain: Covered
    guided: Covered
    longer: Covered


class Hunted(NamedTuple):
    """Whether a mutant was found, and the steps until then (all steps, if it was not)."""

    found: bool
    steps: int


@dataclass
class _Seen:
    """An event that never happens and remembers every step."""

    events: Sequence[Event]
    states: set[Any] = field(default_factory=set[Any])
    transitions: set[Any] = field(default_factory=set[Any])
    classes: set[Any] = field(default_factory=set[Any])
    changes: set[Any] = field(default_factory=set[Any])
    last: AnyStep | None = None

    def __call__(self, step: AnyStep) -> bool:
        self.states.add((step.config, step.after))
        self.transitions.add((step.config, step.before, step.after))
        now = tuple(event.seen(step) for event in self.events)
        # A step that does not begin where the last one ended is the first of its run.
        follows = self.last is not None and (self.last.config, self.last.after) == (step.config, step.before)
        before = tuple(event.seen(self.last) for event in self.events) if follows and self.last is not None else None
        self.classes.add(now)
        self.changes.add((before, now))
        self.last = step
        return False


def cover(system: Any, generator: Generator, *, examples: int, seed: int, guided: bool) -> Covered:
    """Return the coverage of a run of the machine without claims."""
    seen = _Seen(generator.events)
    watched = replace(generator, events=(*generator.events, Event("benchmark", seen, 0)))
    ledger = Ledger(system, (), watched)
    ledger.guide = Guide(generator.events) if guided else None
    began = time.process_time()
    drive(ledger, examples=examples, steps=STEPS, seed=seed)
    cpu = time.process_time() - began
    return Covered(len(seen.states), len(seen.transitions), len(seen.classes), len(seen.changes), cpu)


class _Hunt(Ledger):
    """A ledger that ends the drawing at the first refutation that replays."""

    found = 0

    def confront(self) -> None:
        for one in self.watches:
            if one.evidence is not None:
                if judge(self.system, one.claim, one.evidence):
                    self.found = self.counts["steps"]
                    raise KeyboardInterrupt
                one.evidence = None


def hunt(
    system: Any, claims: Sequence[Property], generator: Generator, *, examples: int, seed: int, guided: bool
) -> Hunted:
    """Run the machine with claims until one is refuted."""
    ledger = _Hunt(system, tuple(claims), generator)
    ledger.guide = Guide(generator.events) if guided else None
    drive(ledger, examples=examples, steps=STEPS, seed=seed)
    return Hunted(ledger.found > 0, ledger.found or ledger.counts["steps"])


def stated(bundle: Bundle, system: str) -> list[Property]:
    """Return the claims to hunt with: expected to hold, and about runs that can be drawn."""
    claims = (one for one in bundle.claims_of(system) if one.kind != "reachable")
    return [one for one in claims if bundle.expectation(one.name, system, "fuzz", {}).expected is Status.HOLDS]


def _faults(bundle: Bundle, system: str, most: int) -> list[Mutant[Any]]:
    """Return at most `most` of a system's mutants, spread evenly over their list."""
    every = [one for one in bundle.model.mutants if one.system == system and one.expected not in ("equivalent",)]
    return every if len(every) <= most else [every[place * len(every) // most] for place in range(most)]


def pairs(bundle: Bundle, generator: Generator, examples: int, seeds: range) -> Iterator[Paired]:
    """Yield plain, guided, and plain with twice the examples, for each seed."""
    system = bundle.model.systems[generator.system]
    for seed in seeds:
        ways = ((examples, False), (examples, True), (2 * examples, False))
        yield Paired(*(cover(system, generator, examples=many, seed=seed, guided=one) for many, one in ways))


def found(
    bundle: Bundle, generator: Generator, examples: int, seeds: range, most: int
) -> tuple[list[tuple[Hunted, Hunted]], int]:
    """Return plain and guided on each mutant and seed, and the number of mutants."""
    claims, faults = stated(bundle, generator.system), _faults(bundle, generator.system, most)
    made: list[tuple[Hunted, Hunted]] = []
    for fault in faults:
        system = fault.of(bundle.model.systems)
        for seed in seeds:
            plain, guided = (
                hunt(system, claims, generator, examples=examples, seed=seed, guided=one) for one in (False, True)
            )
            made.append((plain, guided))
    return made, len(faults)


def _ratio(each: Sequence[Paired], name: str) -> str:
    """Return the mean of plain; guided over plain: mean, least, most; guided over plain of twice the steps."""
    ratios = [getattr(one.guided, name) / max(getattr(one.plain, name), 1e-9) for one in each]
    base = mean(getattr(one.plain, name) for one in each)
    longer = "" if name == "cpu" else f", {mean(getattr(o.guided, name) / getattr(o.longer, name) for o in each):.2f}"
    told = f"{base:,.1f} s" if name == "cpu" else f"{base:,.0f}"
    return f"{told} x {mean(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}){longer}"


def row(name: str, each: Sequence[Paired], hunts: Sequence[tuple[Hunted, Hunted]], faults: int) -> str:
    """Return one line of the table."""
    cells = [_ratio(each, one) for one in ("states", "transitions", "classes", "changes", "cpu")]
    kills = "none hunted"
    if hunts:
        one, other = sum(plain.found for plain, _ in hunts), sum(guided.found for _, guided in hunts)
        only = sum(guided.found and not plain.found for plain, guided in hunts)
        lost = sum(plain.found and not guided.found for plain, guided in hunts)
        spent = " / ".join(f"{mean(pair[side].steps for pair in hunts):.0f}" for side in (0, 1))
        kills = f"{one} / {other} of {len(hunts)} ({faults} mutants; +{only} -{lost}); {spent} steps"
    return f"| {name} | " + " | ".join([*cells, kills]) + " |"


def table(rows: Sequence[str]) -> str:
    """Return the Markdown table of these lines."""
    heads = ("system", "states", "transitions", "classes", "changes", "CPU", "mutants found, plain / guided")
    return "\n".join(["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|", *rows]) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each system when it is done."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guided", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("systems", nargs="*", metavar="PROTOCOL.SYSTEM", help="only these; all with a generator")
    parser.add_argument("--examples", type=int, default=50, help=f"examples of {STEPS} steps for coverage (default 50)")
    parser.add_argument("--seeds", type=int, default=5, help="how many (default 5)")
    parser.add_argument("--mutants", type=int, default=8, help="of each system at most; 0: none (default 8)")
    parser.add_argument("--hunts", type=int, default=10, help="examples for each mutant and seed (default 10)")
    asked = parser.parse_args(arguments)
    print(table([]), end="", flush=True)
    for bundle in protocols():
        for generator in bundle.generators:
            name = f"{bundle.name}.{generator.system}"
            if asked.systems and name not in asked.systems:
                continue
            seeds = range(asked.seeds)
            each = list(pairs(bundle, generator, asked.examples, seeds))
            hunts, faults = found(bundle, generator, asked.hunts, seeds, asked.mutants) if asked.mutants else ([], 0)
            print(row(name, each, hunts, faults), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
