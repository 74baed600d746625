"""Phrases of every report: counts with their unit, where a finding was made, one refutation in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from evenhand.core.text import inert
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding

GIST = 160
"""Characters of a difference in a list of findings."""


def plural(count: int, thing: str) -> str:
    """Return `1 claim`, `2 claims`: the count with thousands separated."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def hold(count: int) -> str:
    """Return `1 HOLDS`, `2 HOLD`."""
    return f"{count:,} HOLD{'S' if count == 1 else ''}"


def classes(count: int) -> str:
    """Return `1 class of states`, `2 classes of states`: the count under an abstraction."""
    return f"{count:,} class{'' if count == 1 else 'es'} of states"


def short(text: str, width: int) -> str:
    """Return `text` in at most `width` characters, its end left out where it is longer."""
    return text if len(text) <= width else f"{text[: max(0, width - 1)]}…"


def some(names: Sequence[str], most: int = 6) -> str:
    """Return the first names, and how many others there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def gist(one: Mapping[str, Any]) -> str:
    """Return what is wrong, as a list of findings says it: the fault, the gravest difference, or what is violated."""
    if one["fault"]:
        return ": ".join(["The kernel " + one["fault"], *([one["why"]] if one["why"] else [])])
    said = [str(each) for each in one["differences"]] if one["what"] == "differs" else []
    if not said:
        return str(one["sentence"])
    return short(said[0], GIST) + (f"; and {plural(len(said) - 1, 'more difference')}" if said[1:] else "")


class Word(StrEnum):
    """What a verdict says, in the word that reports print.

    REFUTED is about the reference alone: its claim is false.  A mutant that a claim refutes is KILLED, which is what it
    is for; a kept counterexample that still fails as its file says is REPRODUCED.
    """

    HOLDS = "HOLDS"
    REFUTED = "REFUTED"
    KILLED = "KILLED"
    REPRODUCED = "REPRODUCED"
    UNDECIDED = "UNDECIDED"


def word(finding: Finding) -> Word:
    """Return the word for a finding; a counterexample that was mended and fails again is REFUTED, as expected of it."""
    if finding.status is not Status.REFUTED:
        return Word(finding.status.value)
    if finding.engine == "replay" and finding.expected is Status.REFUTED:
        return Word.REPRODUCED
    return Word.REFUTED if finding.variant == "reference" else Word.KILLED


def refutation(finding: Finding) -> list[str]:
    """Return the lines of one refutation: the claim, engine, place, trace, and the command that reproduces it."""
    steps = f" in {plural(finding.length, 'step')}" if finding.length is not None else ""
    lines = [
        f"{word(finding)}  {inert(finding.claim)}: {inert(finding.sentence)}",
        f"  by {finding.engine}{steps}, {inert(where(finding))}",
    ]
    lines += [f"  {inert(finding.because)}"] if finding.because else []
    lines += [f"    {inert(line)}" for line in finding.trace]
    lines += [f"  reproduce: {inert(line)}" for line in finding.command.splitlines()]
    return lines


def where(finding: Finding) -> str:
    """Return system, variant, scope and readings in one line."""
    named = both(finding.protocol, finding.system)
    variant = [] if finding.variant == "reference" else [f"variant {finding.variant}"]
    readings = [f"{name}={value}" for name, value in sorted(finding.readings.items())]
    return ", ".join([f"in {named.strip()}", *variant, *readings])


def both(protocol: str, system: str) -> str:
    """Return protocol and system, each named once: a system of one's own is named by its protocol, `FILE.py:name`."""
    if system == protocol:
        return system
    return protocol if protocol.endswith(f".py:{system}") else f"{protocol} {system}"


def counted(finding: Finding) -> str:
    """Return the coverage of an engine, as a count with its unit; empty where the engine counted nothing."""
    if "classes" in finding.coverage:
        return classes(finding.coverage["classes"])
    key, unit = {
        "explore": ("states", "state"),
        "fuzz": ("examples", "run"),
        "prove": ("linked_structures", "linked structure"),
    }.get(finding.engine, ("", ""))
    count = finding.coverage.get(key, finding.scope.get(key))
    formatted = plural(count, unit) if isinstance(count, int) else ""
    return f"for {finding.scope['proved']}, {formatted}" if finding.scope.get("proved") else formatted
