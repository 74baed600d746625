"""Where it stops: structural deadlock (Type III), refusals without end, the 25th refusal, the session's budget."""

from __future__ import annotations

from dataclasses import replace

from evenhand.core.property import AnyStep, Property, deadlock_free, each_step, livelock_free, reachable
from evenhand.model.sovereign.constitution import ActionType
from evenhand.model.sovereign.state import ABORTED, SESSION_BUDGET_EXHAUSTED, Config, State
from evenhand.model.sovereign.vocabulary import ACTION, ACTION_TYPES, EXIT, REFUSE, field
from evenhand.properties.sovereign.predicates import decided, decides, fed, offered

__all__ = ["STOPPING_CLAIMS", "can_ever_be_admitted", "deadlocked"]

NEVER_REFUSED = ("A", "E")
"""Conditions whose every cycle has an admissible candidate."""


def can_ever_be_admitted(config: Config, kind: ActionType) -> bool:
    """Closed form: whether some candidate of a declared type passes the gates in some cycle.

    Kernel-only types never do; Exit where the host offers it; what carries text needs a limit above zero, what has a
    path an allowed directory.  Requirements never stand in the way: the document itself can be cited.
    """
    constitution = config.constitution
    limit = constitution.limits.max_chars_per_field
    io = constitution.io
    if kind.kernel_only:
        return False
    match kind.name:
        case "Exit":
            return config.readings.exit_candidate == "admitted_by_gates"
        case "Notify":
            return limit is None or limit > 0
        case "ReadLocal" | "WriteLocal" | "LogAppend":
            paths = io.read_paths if kind.name == "ReadLocal" else io.write_paths
            if kind.name == "LogAppend":
                return "./logs/" in paths and (limit is None or limit > 0)
            # "a/x" is the shortest path below a directory
            return any(limit is None or limit >= len(path.removeprefix("./").rstrip("/")) + 2 for path in paths)
        case _:
            return True


def deadlocked(config: Config) -> bool:
    """Closed form: whether no bundle can be admitted although there is an action space."""
    kinds = config.constitution.action_types
    return bool(kinds) and not any(can_ever_be_admitted(config, kind) for kind in kinds)


def _wants(config: Config, state: State) -> bool:
    return not state.over and bool(config.constitution.action_types)


def _proposes(step: AnyStep) -> bool:
    return decides(step) and bool(fed(step)[1])


@deadlock_free(
    "Wherever there is an action space, some bundle can be admitted.  (Stated to be refuted.)",
    source="13.8 Type III, 14.8",
    systems=("constitutions",),
    wants=_wants,
)
def every_action_space_admits_something(step: AnyStep) -> bool:
    """Structural deadlock: no prompt and no model helps."""
    return decided(step, ACTION)


@livelock_free(
    "Proposing goes on without an ACTION for ever only if somebody stops proposing what is lawful.  (Stated to be "
    "refuted.)",
    source="13.10, 14.9",
    systems=("constitutions",),
    attempts=_proposes,
    fairness=tuple(f"{name} is proposed" for name in ACTION_TYPES),
)
def patient_proposers_get_an_action(step: AnyStep) -> bool:
    """Every declared type is proposed, well formed, again and again."""
    return decided(step, ACTION)


@livelock_free(
    "Proposing never goes on without an ACTION for ever.  (Stated to be refuted.)",
    source="13.10",
    systems=("constitutions",),
    attempts=_proposes,
)
def refusals_end_by_themselves(step: AnyStep) -> bool:
    """Nothing in a constitution ends a refusal loop."""
    return decided(step, ACTION)


def _lawful_proposal(step: AnyStep) -> bool:
    """A single candidate in a plain cycle: exactly one time, words, no tokens spent, texts of ordinary length."""
    if not decides(step) or len(fed(step)[1]) != 1:
        return False
    seen, (one,) = fed(step)
    text = field(one.request.fields, "message")
    counts = [field(one.payload, "llm_output_token_count") for one in seen if one.kind == "budget"]
    times = [one for one in seen if one.kind == "timestamp"]
    return not (isinstance(text, str) and len(text) > 1) and len(times) == 1 and counts == [0]


@each_step(
    "The best candidate of a declared type is admitted exactly where the closed form says that any can be.",
    source="14.8",
    systems=("constitutions",),
    when=_lawful_proposal,
)
def admissible_types_are_as_computed(step: AnyStep) -> bool:
    """So the constitutions that deadlock are those of the closed form, at every size."""
    config = step.config
    one = fed(step)[1][0]
    kind = config.constitution.action_type(one.request.action_type)
    assert kind is not None
    return decided(step, ACTION) == (can_ever_be_admitted(config, kind) and bool(offered(config, (one,))))


def _inhabited(step: AnyStep) -> bool:
    return decides(step) and step.config.condition in NEVER_REFUSED


@each_step(
    "Under conditions A and E nothing is refused.",
    source="12.2",
    systems=("session",),
    when=_inhabited,
)
def inhabited_conditions_are_never_refused(step: AnyStep) -> bool:
    """So they have no refusal loop."""
    return decided(step, ACTION)


@each_step(
    "A condition is aborted by its last permitted refusal in a row, and by nothing else.",
    source="13.10 Q57",
    systems=("session",),
    when=decides,
)
def conditions_abort_after_so_many_refusals(step: AnyStep) -> bool:
    """25 of them; an ACTION starts the count anew."""
    refused = decided(step, REFUSE)
    if not refused and step.after.refusals:
        return False
    if refused and step.after.refusals != step.before.refusals + 1:
        return False
    if step.after.over == SESSION_BUDGET_EXHAUSTED:
        return True
    return bool((step.after.over == ABORTED) == (refused and step.after.refusals >= step.config.most_refusals))


def _spends_of_a_budget(step: AnyStep) -> bool:
    return decides(step) and not decided(step, EXIT) and step.config.session_budget is not None


@each_step(
    "A session ends exactly when its reported tokens exceed its budget, if no EXIT ends it.",
    source="13.7, 13.10 Q58",
    systems=("session",),
    when=_spends_of_a_budget,
)
def sessions_end_when_their_tokens_are_spent(step: AnyStep) -> bool:
    """B2 is the host's, not the kernel's."""
    told = [field(one.payload, "llm_output_token_count") for one in fed(step)[0] if one.kind == "budget"]
    tokens = step.before.tokens + sum(one for one in told if isinstance(one, int) and one > 0)
    spent = tokens > step.config.session_budget
    return bool(step.after.tokens == tokens and (step.after.over == SESSION_BUDGET_EXHAUSTED) == spent)


def _aborts(condition: str) -> Property:
    """That a condition can end in 25 refusals in a row."""
    name = condition.lower().replace("-", "_")

    @reachable(f"Condition {condition} can be aborted for refusals in a row.", source="13.10", systems=("session",))
    def aborted(step: AnyStep) -> bool:
        return bool(step.config.condition == condition and step.after.over == ABORTED)

    return replace(aborted, name=f"refusal_loop_in_{name}")


LOOPS: tuple[Property, ...] = tuple(
    _aborts(condition) for condition in ("A", "B", "C", "D", "E", "L-A", "L-B", "L-C", "L-D", "L-E")
)
"""Which conditions have the 25-refusal loop: the expectations say."""


STOPPING_CLAIMS: tuple[Property, ...] = (
    every_action_space_admits_something,
    patient_proposers_get_an_action,
    refusals_end_by_themselves,
    admissible_types_are_as_computed,
    inhabited_conditions_are_never_refused,
    conditions_abort_after_so_many_refusals,
    sessions_end_when_their_tokens_are_spent,
    *LOOPS,
)
"""The claims of this module."""
