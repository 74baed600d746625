"""Faults of doing too much, or nothing: dead executors, restarts that restore, gates too strict, logs of logs."""

from __future__ import annotations

from evenhand.core.records import replace
from evenhand.model.sovereign.kernel import Observations, path_of
from evenhand.model.sovereign.mutants.deciding import warrant_for_another_type
from evenhand.model.sovereign.mutants.declare import ALONE, PLAIN, SESSION, TYPES, declare, fault
from evenhand.model.sovereign.mutants.executor_and_log import request_changed_after_issue
from evenhand.model.sovereign.paths import Place
from evenhand.model.sovereign.state import Config, State
from evenhand.model.sovereign.step import REFERENCE
from evenhand.model.sovereign.vocabulary import STREAMS, Candidate, Record, Request


@fault("permitted", "2.2", SESSION)
def nothing_permitted(_config: Config, _request: Request, _where: Place | None) -> bool:
    """The executor does nothing at all."""
    return False


@fault("restart", "2.2", ALONE)
def restart_restores_the_tree(config: Config, state: State, who: str) -> State:
    """A restart undoes what was written."""
    return replace(REFERENCE.restart(config, state, who), tree=config.tree)


@fault("trace_log", "7 A55, A58", ALONE)
def logs_its_logs(_config: Config, logged: tuple[Record, ...]) -> tuple[Record, ...]:
    """A log commit owes a log line."""
    # Whose commit owes a line in turn.
    return (Record(STREAMS[4], 160, 160),) if logged else ()


executor_trusts_the_host = declare(
    "executor_trusts_the_host",
    "The warrant names one action, the host hands over another, the executor does that.",
    "4 INV-1",
    SESSION,
    {"valid": request_changed_after_issue.rules.valid, "issue": warrant_for_another_type.rules.issue},
)


@fault("completeness", "6", TYPES)
def field_limit_ignored(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """What an action carries is not limited."""
    limits = replace(config.constitution.limits, max_chars_per_field=None)
    return REFERENCE.completeness(
        replace(config, constitution=replace(config.constitution, limits=limits)), observations, candidate, origin
    )


@fault("io_allowlist", "6", SESSION)
def leading_dot_refused(config: Config, observations: Observations, candidate: Candidate, origin: str) -> bool:
    """`./workspace/x` is refused."""
    # A path that begins with a dot counts as one that climbs.
    path = path_of(candidate.request) or ""
    return path.startswith(".") or REFERENCE.io_allowlist(config, observations, candidate, origin)


@fault("failed_gate", "6", PLAIN)
def stage_reported_as_gate(_config: Config, trace: tuple[tuple[str, str], ...]) -> str:
    """A refusal names no gate of the five but the stage of admission."""
    return "admission" if trace else ""
