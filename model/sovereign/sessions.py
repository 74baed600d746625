"""Run a condition: cycles one after another, the reason they end, and their log (12, 13.4 to 13.10).

A run is a value: the steps taken, and how it ended; its texts have come before it begins.  This module calls no model:
calibration asks a function of the prompt, and a `TransportFailure` from it invalidates the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from evenhand.core.records import dataclass, replace
from evenhand.core.system import Step
from evenhand.model.sovereign.canonicalizer import canonicalize
from evenhand.model.sovereign.conditions import CycleInput, cycles
from evenhand.model.sovereign.kernel import Rules
from evenhand.model.sovereign.paths import lexical, roots, under
from evenhand.model.sovereign.state import ABORTED, SESSION_BUDGET_EXHAUSTED, Config, Cycle
from evenhand.model.sovereign.step import REFERENCE, SovereignStep, initial, session_step
from evenhand.model.sovereign.vocabulary import ACTION, READ_LOCAL, REFUSE, WRITE_LOCAL, Candidate, field

MODEL_DRIFT_DETECTED, TRANSPORT_FAILURE = "MODEL_DRIFT_DETECTED", "TRANSPORT_FAILURE"
FLOORS = {"A": Fraction(0), "L-A": Fraction(1, 5)}
"""The least share of ACTION in a condition (A: some; L-A: at least a fifth, 13.10)."""


class TransportFailure(Exception):
    """The model could not be reached: the run is invalid (13.10)."""


@dataclass(frozen=True)
class Ran:
    """One condition's run: its inputs and steps, and why it ended before its last cycle (empty: it did not)."""

    condition: str
    inputs: tuple[CycleInput, ...]
    steps: tuple[SovereignStep, ...]
    ended: str = ""
    tokens: int = 0

    @property
    def decisions(self) -> tuple[str, ...]:
        """ACTION, REFUSE, EXIT, in order."""
        return tuple(one.shown.decision.kind for one in self.steps if one.shown.decision is not None)

    def rate(self, kind: str) -> Fraction:
        """Return the share of a kind of decision; 0 of nothing."""
        return Fraction(self.decisions.count(kind), len(self.decisions)) if self.decisions else Fraction(0)


def run(config: Config, inputs: Iterable[CycleInput], *, rules: Rules = REFERENCE, tokens: int = 0) -> Ran:
    """Run the cycles of one condition, with `tokens` already spent in the session, until it ends."""
    fed: list[CycleInput] = []
    steps: list[SovereignStep] = []
    (start,) = initial(config)
    state = replace(start, tokens=tokens)
    for one in inputs:
        action = Cycle(one.observations, one.candidates)
        after, shown = session_step(rules, config, state, action)
        fed.append(one)
        steps.append(Step(config, state, action, shown, after))
        state = after
        if state.over:
            break
    return Ran(config.condition, tuple(fed), tuple(steps), state.over, state.tokens)


def run_all(config: Config, conditions: Iterable[str], seed: str, count: int) -> tuple[Ran, ...]:
    """Run several conditions in one session; an abort ends its condition only.

    The session's budget, an EXIT or an unmet floor ends the session.
    """
    found: list[Ran] = []
    tokens = 0
    for condition in conditions:
        ran = run(replace(config, condition=condition), cycles(condition, seed, count), tokens=tokens)
        tokens = ran.tokens
        found.append(ran)
        stops = ran.ended and ran.ended != ABORTED
        if stops or ran.ended == SESSION_BUDGET_EXHAUSTED or not floor_met(ran):
            break
    return tuple(found)


def floor_met(ran: Ran) -> bool:
    """Return whether a condition is inhabited: A needs some ACTION, L-A a fifth; the others have no floor."""
    floor = FLOORS.get(ran.condition)
    if floor is None:
        return True
    return ran.rate(ACTION) >= floor and ACTION in ran.decisions


def calibrate(ask: Callable[[str], str], prompt: str = "calibrate", rounds: int = 3) -> str:
    """Send one prompt three times; return "" if the canonical hashes agree (13.4), else why not to begin."""
    try:
        hashes = {canonicalize(ask(prompt)).canonical_hash for _ in range(rounds)}
    except TransportFailure:
        return TRANSPORT_FAILURE
    return "" if len(hashes) == 1 and "" not in hashes else MODEL_DRIFT_DETECTED


def always_refuse(_config: Config, inputs: Iterable[CycleInput]) -> tuple[str, ...]:
    """The first baseline: every cycle is refused (12.4)."""
    return tuple(REFUSE for _ in inputs)


def always_admit(config: Config, inputs: Iterable[CycleInput]) -> tuple[str, ...]:
    """The second baseline: the first candidate within the closed types and the allow-list; nothing is executed."""
    return tuple(
        ACTION if any(_allowed(config, candidate) for candidate in one.candidates) else REFUSE for one in inputs
    )


def _allowed(config: Config, candidate: Candidate) -> bool:
    request, io = candidate.request, config.constitution.io
    if config.constitution.action_type(request.action_type) is None:
        return False
    if request.action_type not in (READ_LOCAL, WRITE_LOCAL):
        return True
    path = field(request.fields, "path")
    place = lexical(path) if isinstance(path, str) else None
    allowed = io.read_paths if request.action_type == READ_LOCAL else io.write_paths
    return place is not None and under(place, roots(allowed))
