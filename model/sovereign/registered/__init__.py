"""The run conditions of 12.2 and 13.5 as preregistered data: the input of each cycle, and its expected outcome.

The expectations were worked out by hand, except the hashes of winners, which were computed apart from the model.
`manifest.json` freezes the files: one whose canonical SHA-256 is not the registered one is refused, so that an
expectation cannot follow the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from evenhand.core.canonical import Json
from evenhand.core.lookup import UnknownName
from evenhand.core.records import dataclass
from evenhand.core.registered import VectorBroken, as_registered, shipped
from evenhand.model.sovereign.canonicalizer import canonicalize
from evenhand.model.sovereign.conditions import CONDITIONS, INTENTS, LIVE, CycleInput, hour
from evenhand.model.sovereign.kernel import Rules
from evenhand.model.sovereign.menus import TREE, at_time, budget, said
from evenhand.model.sovereign.metrics import (
    gate_histogram,
    intent_matches,
    lc_outcome,
    recovery_ratio,
    refusal_types,
    token_summary,
)
from evenhand.model.sovereign.proposals import bind, candidates_from, proposed
from evenhand.model.sovereign.sessions import Ran, always_admit, floor_met, run
from evenhand.model.sovereign.state import Config
from evenhand.model.sovereign.step import REFERENCE, SovereignStep
from evenhand.model.sovereign.vocabulary import ACTION, DECISIONS, REFUSE

__all__ = ["CYCLE_FIELDS", "FIELDS", "Condition", "VectorBroken", "condition", "conditions", "load", "observed", "play"]

FORMAT, MANIFEST = "evenhand/sovereign-condition", "evenhand/sovereign-condition-manifest"
FIELDS = (
    "cycles",
    "expected",
    "format",
    "most_refusals",
    "name",
    "session_budget",
    "source",
    "title",
    "version",
)
"""The fields of a condition's file, all required."""

CYCLE_FIELDS = ("expected", "intent", "times", "tokens", "user")
"""The fields of a cycle, besides `candidates` (dry) or `text` (live)."""


@dataclass(frozen=True)
class Condition:
    """One preregistered condition: configuration, inputs, the expected outcome of each cycle and of the run."""

    name: str
    title: str
    source: str
    config: Config
    inputs: tuple[CycleInput, ...]
    cycles: tuple[Mapping[str, Json], ...]
    run: Mapping[str, Json]


def load(texts: Mapping[str, str], manifest: str) -> tuple[Condition, ...]:
    """Return the conditions of these files (name without `.json` -> text), checked against their manifest, in order.

    Raises VectorBroken: a file that the manifest lacks, or the reverse; a file that is not the registered one; a
    file of another shape.
    """
    return tuple(_condition(name, value) for name, value in as_registered(texts, manifest, MANIFEST).items())


def _condition(name: str, value: dict[str, Any]) -> Condition:
    if tuple(sorted(value)) != FIELDS:
        raise VectorBroken(f"{name}.json: the fields must be {', '.join(FIELDS)}")
    if (value["format"], value["version"], value["name"]) != (FORMAT, 1, name) or name not in CONDITIONS:
        raise VectorBroken(f"{name}.json is not {FORMAT} version 1 of a condition called {name!r}")
    try:
        fed = list(_fed(value["cycles"], "text" if name in LIVE else "candidates"))
        run = dict(value["expected"])
    except (ValueError, KeyError, TypeError) as error:
        raise VectorBroken(f"{name}.json: {error}") from error
    config = Config(
        tree=TREE,
        condition=name,
        session_budget=value["session_budget"],
        most_refusals=value["most_refusals"],
    )
    return Condition(
        name, value["title"], value["source"], config, tuple(one for one, _ in fed), tuple(told for _, told in fed), run
    )


def _fed(cycles: list[dict[str, Any]], source: str) -> Iterator[tuple[CycleInput, Mapping[str, Json]]]:
    """Yield each cycle `times` times, a second apart, with its expected outcome."""
    number = 0
    for place, one in enumerate(cycles):
        if sorted(one) != sorted((*CYCLE_FIELDS, source)):
            raise ValueError(f"cycle {place}: the fields must be {', '.join((*CYCLE_FIELDS, source))}")
        if one["intent"] and one["intent"] not in INTENTS:
            raise ValueError(f"cycle {place}: intent {one['intent']!r}; there is: {', '.join(INTENTS)}")
        for _ in range(one["times"]):
            seen = (at_time(hour(number)), said(one["user"]), budget(one["tokens"]))
            text = one.get("text", "")
            many = (
                proposed(text, seen) if source == "text" else bind(candidates_from({"candidates": one[source]}), seen)
            )
            yield CycleInput(seen, many, text, one["intent"], not one["intent"]), dict(one["expected"])
            number += 1


@cache
def conditions() -> tuple[Condition, ...]:
    """Return the registered conditions.  Raises VectorBroken when a file was changed."""
    return load(*shipped(__name__))


def condition(name: str) -> Condition:
    """Return the condition called `name`.  Raises UnknownName."""
    known = {one.name: one for one in conditions()}
    if name not in known:
        raise UnknownName("condition", name, known)
    return known[name]


def play(one: Condition, rules: Rules = REFERENCE) -> Ran:
    """Return the run of a condition, until something ends it."""
    return run(one.config, one.inputs, rules=rules)


def observed(one: Condition, rules: Rules = REFERENCE) -> tuple[list[dict[str, Json]], dict[str, Json]]:
    """Return the outcome of each cycle of a condition, and of the run, in the form of its file."""
    ran = play(one, rules)
    return [_cycle(fed, step) for fed, step in zip(ran.inputs, ran.steps, strict=True)], _run(ran)


def _cycle(fed: CycleInput, step: SovereignStep) -> dict[str, Json]:
    decision = step.shown.decision
    assert decision is not None
    alone = Ran(step.config.condition, (fed,), (step,))
    told = {kind: count for kind, count in _types(alone).items() if count}
    admitted = [c for c, (_, gate) in zip(fed.candidates, decision.trace, strict=False) if not gate]
    attack = step.config.condition == "L-C"
    return {
        "decision": decision.kind,
        "reason": decision.refusal.reason if decision.refusal is not None else "",
        "failed_gate": decision.refusal.failed_gate if decision.refusal is not None else "",
        "winner": decision.winner,
        "effects": [[made.action_type, list(made.place), made.text] for made in step.shown.effects],
        "refusal_type": next(iter(told), ""),
        "rejection": canonicalize(fed.text).rejection if step.config.condition in LIVE else "",
        "outcome": lc_outcome(fed, step) if attack else "",
        "intent_match": bool(fed.intent) and intent_matches(step.config, fed, admitted),
    }


def _types(ran: Ran) -> Mapping[str, int]:
    """Return refusals by type; under the constitution of these runs a lawful candidate always exists."""
    return refusal_types(ran, lambda _step: True)


def _run(ran: Ran) -> dict[str, Json]:
    refused = ran.decisions.count(REFUSE)
    config = ran.steps[0].config
    return {
        "cycles": len(ran.steps),
        "ended": ran.ended,
        "decisions": {kind: ran.decisions.count(kind) for kind in DECISIONS},
        "gates": dict(gate_histogram(ran)),
        "types": dict(_types(ran)),
        "recovery": {"count": int(recovery_ratio(ran) * refused), "of": refused},
        "tokens": token_summary(ran).total,
        "always_admit": always_admit(config, ran.inputs).count(ACTION),
        "floor_met": floor_met(ran),
    }
