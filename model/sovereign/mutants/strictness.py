"""Faults of doing too much, or nothing: dead executors, restarts that restore, gates too strict, logs of logs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evenhand.core.system import Mutant
from evenhand.model.sovereign.kernel import Observations, Rules, path_of
from evenhand.model.sovereign.mutants.deciding import warrants_another
from evenhand.model.sovereign.mutants.declare import ALONE, PLAIN, SESSION, TYPES, declare
from evenhand.model.sovereign.mutants.executor_and_log import any_request
from evenhand.model.sovereign.paths import Place
from evenhand.model.sovereign.state import Config, State
from evenhand.model.sovereign.step import REFERENCE
from evenhand.model.sovereign.vocabulary import STREAMS, Candidate, Record, Request

__all__ = ["STRICTNESS_MUTANTS"]


def _nothing_permitted(_config: Config, _request: Request, _where: Place | None) -> bool:
    return False


def _restored(config: Config, state: State, who: str) -> State:
    """A restart restores the tree of the configuration, whatever was written since."""
    return replace(REFERENCE.restart(config, state, who), tree=config.tree)


def _logs_its_log(_config: Config, logged: tuple[Record, ...]) -> tuple[Record, ...]:
    """A commit owes a line, whose commit owes a line in turn."""
    return (Record(STREAMS[4], 160, 160),) if logged else ()


def _unlimited_fields(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """The limit on the text of an action is ignored."""
    limits = replace(config.constitution.limits, max_chars_per_field=None)
    return REFERENCE.completeness(
        replace(config, constitution=replace(config.constitution, limits=limits)), observations, candidate, origin
    )


def _no_dots(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """A path that begins with a dot counts as one that climbs."""
    path = path_of(candidate.request) or ""
    return path.startswith(".") or REFERENCE.io_allowlist(config, observations, candidate, origin)


def _stage(_config: Config, trace: tuple[tuple[str, str], ...]) -> str:
    return "admission" if trace else ""


def _agent(name: str, sentence: str, source: str, **functions: Any) -> Mutant[Rules]:
    return declare(name, sentence, source, "agent", ALONE, **functions)


STRICTNESS_MUTANTS: tuple[Mutant[Rules], ...] = (
    declare(
        "nothing_permitted",
        "The executor does nothing at all.",
        "2.2",
        "session",
        SESSION,
        permitted=_nothing_permitted,
    ),
    _agent("restart_restores_the_tree", "A restart undoes what was written.", "2.2", restart=_restored),
    _agent("logs_its_logs", "A log commit owes a log line.", "7 A55, A58", trace_log=_logs_its_log),
    declare(
        "executor_trusts_the_host",
        "The warrant names one action, the host hands over another, the executor does that.",
        "4 INV-1",
        "session",
        SESSION,
        valid=any_request,
        issue=warrants_another,
    ),
    declare(
        "field_limit_ignored",
        "What an action carries is not limited.",
        "6",
        "constitutions",
        TYPES,
        completeness=_unlimited_fields,
    ),
    declare("leading_dot_refused", "`./workspace/x` is refused.", "6", "session", SESSION, io_allowlist=_no_dots),
    declare(
        "stage_reported_as_gate",
        "A refusal names no gate of the five but the stage of admission.",
        "6",
        "candidates",
        PLAIN,
        failed_gate=_stage,
    ),
)
"""Faults of doing."""
