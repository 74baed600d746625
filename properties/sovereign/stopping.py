"""Stopping: structural deadlock (Type III), endless refusals, the 25th refusal, the session's budget."""

from __future__ import annotations

from evenhand.core.plan import Expectation, refuted
from evenhand.core.property import Property, deadlock_free, determined_by, each_step, livelock_free, reachable
from evenhand.model.sovereign.constitution import ActionType
from evenhand.model.sovereign.state import ABORTED, SESSION_BUDGET_EXHAUSTED, Config, State
from evenhand.model.sovereign.vocabulary import ACTION, ACTION_TYPES, EXIT, REFUSE, field
from evenhand.properties.sovereign.predicates import KernelStep, decided, decides, decision_of, fed, offered

NEVER_REFUSED = ("A", "E")
"""Conditions whose every cycle has an admissible candidate."""


def can_ever_be_admitted(config: Config, kind: ActionType) -> bool:
    """Return the closed form: whether some candidate of a declared type passes the gates in some cycle.

    Kernel-only types never do; Exit only where the host offers it; a type with text needs a limit above zero, a type
    with a path needs an allowed directory.  Requirements can always be met, because the document itself can be cited.
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
    """Return the closed form: whether no bundle can be admitted although there is an action space."""
    kinds = config.constitution.action_types
    return bool(kinds) and not any(can_ever_be_admitted(config, kind) for kind in kinds)


def _wants(config: Config, state: State) -> bool:
    return not state.over and bool(config.constitution.action_types)


def _proposes(step: KernelStep) -> bool:
    return decides(step) and bool(fed(step)[1])


@deadlock_free(
    "Wherever there is an action space, some bundle can be admitted.  (Stated to be refuted.)",
    source="13.8 Type III, 14.8",
    systems=("constitutions",),
    wants=_wants,
    expected=(refuted("14.8: an action space of kernel-only types admits nothing"),),
)
def every_action_space_admits_something(step: KernelStep) -> bool:
    """An ACTION; a structural deadlock has none, for any prompt and any model."""
    return decided(step, ACTION)


@livelock_free(
    "Proposing goes on without an ACTION for ever only if somebody stops proposing what is lawful.  (Stated to be "
    "refuted.)",
    source="13.10, 14.9",
    systems=("constitutions",),
    attempts=_proposes,
    fairness=tuple(f"{name} is proposed" for name in ACTION_TYPES),
    expected=(refuted("the constitutions that deadlock loop however patient one is"),),
)
def patient_proposers_get_an_action(step: KernelStep) -> bool:
    """An ACTION, where every declared type is proposed, well formed, again and again."""
    return decided(step, ACTION)


@livelock_free(
    "Proposing never goes on without an ACTION for ever.  (Stated to be refuted.)",
    source="13.10",
    systems=("constitutions",),
    attempts=_proposes,
    expected=(refuted("13.10: the end of a refusal loop is the harness's, not the constitution's"),),
)
def refusals_end_by_themselves(step: KernelStep) -> bool:
    """An ACTION; nothing else in a constitution ends a refusal loop."""
    return decided(step, ACTION)


def _lawful_proposal(step: KernelStep) -> bool:
    """A single candidate in a plain cycle: exactly one time, no tokens spent, a message of at most one character."""
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
def admissible_types_are_as_computed(step: KernelStep) -> bool:
    """So the constitutions that deadlock are those of the closed form, at every size."""
    config = step.config
    one = fed(step)[1][0]
    kind = config.constitution.action_type(one.request.action_type)
    assert kind is not None
    return decided(step, ACTION) == (can_ever_be_admitted(config, kind) and bool(offered(config, (one,))))


@each_step(
    "Under conditions A and E nothing is refused.",
    source="12.2",
    systems=("session",),
    when=lambda step: decides(step) and step.config.condition in NEVER_REFUSED,
)
def inhabited_conditions_are_never_refused(step: KernelStep) -> bool:
    """So these conditions have no refusal loop."""
    return decided(step, ACTION)


@each_step(
    "A condition is aborted by its last permitted refusal in a row, and by nothing else.",
    source="13.10 Q57",
    systems=("session", "constitutions"),
    when=decides,
)
def conditions_abort_after_so_many_refusals(step: KernelStep) -> bool:
    """The limit is `most_refusals` (25 in the text; 0: none); an ACTION resets the count."""
    limit = step.config.most_refusals
    counts = decided(step, REFUSE) and limit > 0
    if step.after.refusals != (step.before.refusals + 1 if counts else 0):
        return False
    if step.after.over == SESSION_BUDGET_EXHAUSTED:
        return True
    return (step.after.over == ABORTED) == (counts and step.after.refusals >= limit)


@each_step(
    "A session ends exactly when its reported tokens exceed its budget, or reach it as read, if no EXIT ends it.",
    source="13.7, 13.10 Q58",
    systems=("session",),
    when=lambda step: decides(step) and not decided(step, EXIT) and step.config.session_budget is not None,
)
def sessions_end_when_their_tokens_are_spent(step: KernelStep) -> bool:
    """B2 belongs to the host, not to the kernel."""
    told = [field(one.payload, "llm_output_token_count") for one in fed(step)[0] if one.kind == "budget"]
    tokens = step.before.tokens + sum(one for one in told if isinstance(one, int) and one > 0)
    assert step.config.session_budget is not None
    left = step.config.session_budget - tokens
    spent = left < 0 or (left == 0 and step.config.readings.session_budget == "reached")
    return step.after.tokens == tokens and (step.after.over == SESSION_BUDGET_EXHAUSTED) == spent


@determined_by(
    "Refusals in a row, tokens spent and whether a session is over follow from those before the cycle, its "
    "observations and the kind of its decision: a replay counts them anew.",
    source="7 A33, 8.D",
    systems=("session",),
    key=lambda step: (
        step.config.most_refusals,
        step.config.session_budget,
        step.config.readings,
        (step.before.refusals, step.before.tokens),
        (fed(step)[0], decision_of(step).kind),
    ),
    when=decides,
)
def counts_follow_from_what_is_logged(step: KernelStep) -> tuple[int, int, str]:
    """Nothing of the tree or of the candidates enters them, nor which condition runs."""
    return step.after.refusals, step.after.tokens, step.after.over


def _aborts(condition: str, *expected: Expectation) -> Property:
    @reachable(
        f"Condition {condition} can be aborted for refusals in a row.",
        name=f"refusal_loop_in_{condition.lower().replace('-', '_')}",
        source="13.10",
        systems=("session",),
        expected=expected,
    )
    def aborted(step: KernelStep) -> bool:
        return step.config.condition == condition and step.after.over == ABORTED

    return aborted


LOOPS = (
    _aborts("A", refuted("12.2: every template is well formed")),
    _aborts("B"),
    _aborts("C"),
    _aborts("D"),
    _aborts("E", refuted("12.2: every cycle has admissible bundles")),
    _aborts("L-A"),
    _aborts("L-B"),
    _aborts("L-C"),
    _aborts(
        "L-D", refuted("13.10: 25 refusals of about 6,000 tokens cost more than the session's budget in this scope")
    ),
    _aborts("L-E"),
)
"""Which conditions have the 25-refusal loop, by their expectations."""
