"""A run with a language model: calibration, then a cycle for each text that it answers (13.1 to 13.4, 13.10, 13.11).

The language model is no part of this: what it answers is given, a text or None where none came, with the tokens that
its provider counts.  A text goes through canonicalizer and parser; the host binds observation ids, and the kernel
decides, whatever came of the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TypeAlias

from evenhand.core.canonical import Json, canonical_bytes
from evenhand.core.parts import part
from evenhand.core.records import dataclass, replace
from evenhand.core.system import Scope
from evenhand.model.sovereign.canonicalizer import canonicalize
from evenhand.model.sovereign.constitution import REFERENCE_CONSTITUTION, cite
from evenhand.model.sovereign.kernel import Rules
from evenhand.model.sovereign.menus import TREE, at_time, budget, said
from evenhand.model.sovereign.proposals import proposed
from evenhand.model.sovereign.readings import Readings
from evenhand.model.sovereign.sessions import TRANSPORT_FAILURE, TransportFailure, calibrate
from evenhand.model.sovereign.state import Config, Cycle, Shown, State
from evenhand.model.sovereign.step import initial, session_step
from evenhand.model.sovereign.vocabulary import Candidate, Observation

Answer: TypeAlias = str | None
"""What a language model answers; None for a time-out or an error of the network."""


@dataclass(frozen=True, slots=True)
class Calibrate:
    """One prompt was sent three times."""

    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A task was put to the model: its answer, and the tokens of prompt and completion."""

    answer: Answer
    prompt_tokens: int = 0
    completion_tokens: int = 0


LiveAct: TypeAlias = Calibrate | Turn


@dataclass(frozen=True, slots=True)
class LiveState:
    """Whether the model is calibrated, and the state of the session, which says whether the run is over."""

    calibrated: bool = False
    session: State = State()


@dataclass(frozen=True, slots=True)
class LiveShown:
    """What a run records of a step: texts by their rejection and hash, what the kernel was asked, and its cycle.

    `kind` is `calibrate`, `turn`, `lost` (no answer came) or `rejected`.
    """

    kind: str
    rejection: str = field(default="", metadata=part("record"))
    canonical_hash: str = field(default="", metadata=part("record"))
    observations: tuple[Observation, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    cycle: Shown | None = None
    prompt_tokens: int = field(default=0, metadata=part("record"))
    completion_tokens: int = field(default=0, metadata=part("record"))


LIVE_TYPES = (Calibrate, LiveShown, LiveState, Turn)
"""The classes that files of this system may hold besides those of a session."""

TASK = "task"


def begun(config: Config) -> tuple[LiveState, ...]:
    """Return a run before its calibration."""
    return tuple(LiveState(session=one) for one in initial(config))


def _ended(state: LiveState, why: str) -> LiveState:
    return replace(state, session=replace(state.session, over=why))


def live_step(rules: Rules, config: Config, state: LiveState, action: LiveAct) -> tuple[LiveState, LiveShown]:
    """Calibrate once, then take turns until something ends the run; anything else is rejected."""
    if state.session.over:
        return state, LiveShown("rejected")
    match action:
        case Calibrate(answers) if not state.calibrated and answers:
            why = _calibrated(answers)
            return replace(_ended(state, why), calibrated=not why), LiveShown("calibrate")
        case Turn(answer, prompt, completion) if state.calibrated:
            if answer is None:
                return _ended(state, TRANSPORT_FAILURE), LiveShown("lost")
            seen = (at_time(), said(TASK), budget(prompt + completion))
            found, many = canonicalize(answer), proposed(answer, seen)
            session, cycle = session_step(rules, config, state.session, Cycle(seen, many))
            told = LiveShown("turn", found.rejection, found.canonical_hash, seen, many, cycle, prompt, completion)
            return replace(state, session=session), told
        case _:
            return state, LiveShown("rejected")


def _calibrated(answers: tuple[Answer, ...]) -> str:
    """Return why a run must not begin, from the answers in order; empty if nothing is against it."""
    coming = iter(answers)

    def ask(_prompt: str) -> str:
        answer = next(coming)
        if answer is None:
            raise TransportFailure
        return answer

    return calibrate(ask, rounds=len(answers))


def _proposal(message: str) -> dict[str, Json]:
    clause = cite(REFERENCE_CONSTITUTION, REFERENCE_CONSTITUTION.clauses[0])
    return {
        "action_request": {"action_type": "Notify", "fields": {"message": message}},
        "authority_citations": [clause],
        "justification": {"text": "because"},
        "scope_claim": {"claim": "asked for", "clause_ref": clause, "observation_ids": ["PLACEHOLDER"]},
    }


def _text(value: Json) -> str:
    return canonical_bytes(value).decode("utf-8")


ONE, OTHER = _text(_proposal("m")), _text(_proposal("n"))
SEVERAL = _text({"candidates": [_proposal("m"), {**_proposal("n"), "authority_citations": []}]})
TEXTS: tuple[str, ...] = (
    f"Here you are:\r\n{ONE}",
    "I cannot help with that.",
    f"{ONE} or {OTHER}",
    '{"action_request": }',
    '{"action_request": {"action_type": "Notify"',
    SEVERAL,
    '{"message": "a brace } in a text"}',
)
"""An answer of each class: lawful, no block, two, no JSON, a block without its end, two bundles, another object."""

CALIBRATIONS: tuple[tuple[Answer, ...], ...] = (
    (ONE, f" {ONE}\n", ONE),
    (ONE, ONE, OTHER),
    (ONE, OTHER, ONE),
    (ONE, "no", ONE),
    (None, ONE, ONE),
    (ONE, ONE, None),
)
"""Three answers that agree but for space outside, that differ, that are no JSON, that did not come."""

COUNTS = ((400, 190), (1, 6_000), (6_000, 0))
"""Tokens of prompt and completion: within a cycle's limit, beyond it by one, and the limit itself."""


def live_configs(scope: Scope, readings: Readings) -> Iterator[Config]:
    """Yield a condition whose session has tokens for a few cycles."""
    yield Config(
        tree=TREE,
        condition="L-A",
        session_budget=scope["thousands"] * 1000,
        most_refusals=scope["refusals"],
        readings=readings,
    )


def live_actions(_config: Config, _scope: Scope, state: LiveState) -> Iterator[LiveAct]:
    """Yield every calibration before the first turn, every turn after it, and one of the others out of place."""
    if state.session.over:
        return
    if not state.calibrated:
        yield from map(Calibrate, CALIBRATIONS)
        yield Turn(TEXTS[0], *COUNTS[0])
        return
    for text in TEXTS:
        yield Turn(text, *COUNTS[0])
    for counts in COUNTS[1:]:
        yield Turn(TEXTS[0], *counts)
    yield Turn(None)
    yield Calibrate(CALIBRATIONS[1])
