"""Safety of an epoch: no execution without right, no undeclared change, no unrequested outcome.

Each claim is about one step seen from outside: its submissions, tokens, diff and log.
"""

from __future__ import annotations

from evenhand.core.plan import holds, refuted
from evenhand.core.property import each_step
from evenhand.model.cud.vocabulary import FAULT, IDLE, WRITE
from evenhand.properties.cud.predicates import (
    ADMITTED,
    EPOCHS,
    FAULTS,
    INVALID_CAPABILITY_CLAIM,
    MALFORMED_REQUEST,
    PASS_ONE,
    PASS_TWO,
    SCOPE_VIOLATION,
    EpochStep,
    RunStep,
    active_agents,
    facts,
    interfering,
    is_over,
    some_asked,
    true_id,
    undeclared,
    violates,
)

_EXECUTING = (*EPOCHS, "free")
"""The systems whose step shows tokens and the structural diff, with or without a log."""


def _some_executed(step: RunStep) -> bool:
    return bool(facts(step).done)


def _some_written(step: EpochStep) -> bool:
    return any(ask.request.action_type == WRITE for ask in facts(step).done)


@each_step(
    "No two executed actions of one epoch interfere.",
    source="FQ4, FQ10, D13",
    systems=EPOCHS,
    when=lambda step: len(facts(step).done) > 1,
)
def executed_never_interfere(step: RunStep) -> bool:
    """Compares the submitted requests, so that a kernel that rewrites requests is caught."""
    done = facts(step).done
    return not any(interfering(one.request, other.request) for i, one in enumerate(done) for other in done[i + 1 :])


@each_step(
    "Whoever is executed cites and holds an ALLOW for every declared key.",
    source="FQ27, FQ33, FQ34",
    systems=EPOCHS,
    when=_some_executed,
)
def executed_has_capability(step: RunStep) -> bool:
    """Capabilities are those of epoch 0, whichever agents have left since."""
    return all([ask.standing.covered for ask in facts(step).done])


@each_step(
    "Nothing is executed on a (key, operation) that a DENY governs, whoever holds the DENY.",
    source="FQ27, FQ34",
    systems=EPOCHS,
    when=_some_executed,
)
def no_veto_overridden(step: RunStep) -> bool:
    """A veto is global."""
    return not any([ask.standing.vetoed for ask in facts(step).done])


@each_step(
    "A key changes only as an executed WRITE that declared it proposed.",
    source="C10, FQ3",
    systems=_EXECUTING,
    when=lambda step: bool(step.shown.effects),
    expected=(
        refuted("the violator's write stays: that is what the reading says", scope_check="after_keep"),
        holds(
            "free agents declare every key that they write, so there is no violator",
            system="free",
            scope_check="after_keep",
        ),
        refuted(
            "an undeclared write of a key that another request declares, if only to read it, is in the epoch's scope",
            scope_check="joint_diff",
        ),
        holds(
            "free agents declare every key that they write, so nothing hides behind another's scope",
            system="free",
            scope_check="joint_diff",
        ),
    ),
)
def only_own_scope_changes(step: EpochStep) -> bool:
    """Whether every entry of the diff has an executed author that declared the key and proposed the value."""
    done = facts(step).done
    return all(
        any(
            ask.request.action_type == WRITE
            and effect.key in ask.request.declared_scope
            and (effect.key, effect.after) in ask.request.proposed_delta
            for ask in done
        )
        for effect in step.shown.effects
    )


@each_step(
    "An epoch in which no WRITE is executed leaves the world alone: READ, refusal, fault and silence change nothing.",
    source="B6, FQ10, D13",
    systems=EPOCHS,
    when=lambda step: not _some_written(step),
    expected=(refuted("an action that ends as a fault has changed the world", scope_check="after_keep"),),
)
def non_executed_changes_nothing(step: RunStep) -> bool:
    """Whether the diff is empty and the world the same."""
    return not step.shown.effects and step.after.world == step.before.world


@each_step(
    "What an executed WRITE proposes for its declared keys is what those keys hold after the epoch.",
    source="B6, FQ4",
    systems=_EXECUTING,
    when=_some_written,
    expected=(
        refuted(
            "a kept violation of another value overwrites a declared write that ran before it",
            engine="fuzz",
            scope_check="after_keep",
        ),
        holds(
            "free agents declare every key that they write, so no violation is kept",
            system="free",
            scope_check="after_keep",
        ),
        refuted(
            "corrected: first registered for the machine alone; a condition of our own (scope-check-deliberate) is "
            "made to show it",
            system="conditions",
            scope_check="after_keep",
        ),
        refuted(
            "an undeclared write that another's scope hides overwrites the declared one before it",
            system="run",
            engine="fuzz",
            scope_check="joint_diff",
        ),
    ),
)
def executed_writes_take_effect(step: EpochStep) -> bool:
    """Whether each executed WRITE takes effect and nothing overwrites it in the same epoch."""
    after = dict(step.after.world)
    return all(
        after[key] == dict(ask.request.proposed_delta)[key]
        for ask in facts(step).done
        if ask.request.action_type == WRITE
        for key, _ in ask.request.proposed_delta
        if key in ask.request.declared_scope
    )


@each_step("The structural diff lists exactly the keys whose value changed.", source="C10", systems=EPOCHS)
def diff_is_true(step: RunStep) -> bool:
    """Whether the diff lists key, old and new value of each changed key in order, and no key appears or vanishes."""
    before, after, effects = step.before.world, step.after.world, step.shown.effects
    if before == after:
        return not effects
    if [key for key, _ in before] != [key for key, _ in after]:
        return False
    changed = [(key, old, new) for (key, old), (_, new) in zip(before, after, strict=True) if old != new]
    return changed == [(effect.key, effect.before, effect.after) for effect in effects]


@each_step(
    "Everyone in the run who does not exit gets one token, NO_ACTION exactly if it submitted nothing; nobody else "
    "gets one, and the log has one entry for each request and no other.",
    source="FQ5, FQ24",
    systems=EPOCHS,
)
def no_outcome_unasked(step: RunStep) -> bool:
    """Whether tokens and log entries match the submissions one to one, and every remaining agent has a token."""
    known = facts(step)
    tokens, shown = known.tokens, step.shown
    if [entry.agent_id for entry in shown.log] != sorted([ask.agent for ask in known.asks]):
        return False
    if is_over(step.config, step.before):
        return not shown.tokens and not shown.log and not shown.exits
    submitted = [ask.agent for ask in known.asks]
    expected = 0
    for agent in active_agents(step.config, step.before):
        if agent in shown.exits:
            continue
        expected += 1
        token = tokens.get(agent)
        if token is None or (token == IDLE) == (agent in submitted):
            return False
    return expected == len(shown.tokens) == len(tokens)


@each_step(
    "Exactly those leave who say so: nobody is removed, and exit is irrevocable.",
    source="FQ24",
    systems=EPOCHS,
)
def exit_is_voluntary_and_final(step: RunStep) -> bool:
    """Whether those are shown as exited who chose it, and the active flags are those before the epoch, less them."""
    first: dict[str, bool] = {}
    for agent, choice in step.action.choices:
        first.setdefault(agent, choice.exits)
    over = is_over(step.config, step.before)
    left = [name for name in active_agents(step.config, step.before) if first.get(name, False) and not over]
    return sorted(step.shown.exits) == sorted(left) and all(
        after.active == (before.active and (over or not first.get(name, False)))
        for name, before, after in zip(step.config.agents, step.before.agents, step.after.agents, strict=True)
    )


@each_step(
    "A request is a MALFORMED_REQUEST fault exactly if it breaks the action grammar.",
    source="C8, FQ2, FQ12, FQ13",
    systems=EPOCHS,
    when=some_asked,
)
def malformed_is_a_fault(step: RunStep) -> bool:
    """Both directions: no malformed request gets further, and no well-formed one is called malformed."""
    known = facts(step)
    if len(step.shown.log) != len(known.asks):
        return False
    called = [entry.agent_id for entry in step.shown.log if entry.fault == MALFORMED_REQUEST]
    return all(
        ask.standing.malformed == (ask.agent in called)
        and (not ask.standing.malformed or known.tokens.get(ask.agent) == FAULT)
        for ask in known.asks
    )


@each_step(
    "A well-formed request that cites an authority its submitter does not hold is an INVALID_CAPABILITY_CLAIM fault "
    "(under `failure_first` only if it would pass pass 1 otherwise), and no other request is.",
    source="FQ33",
    systems=EPOCHS,
    when=some_asked,
)
def foreign_citation_is_a_fault(step: RunStep) -> bool:
    """Both directions, under the reading `fault_precedence`."""
    known = facts(step)
    failure_first = step.config.readings.fault_precedence == "failure_first"
    called = [entry.agent_id for entry in step.shown.log if entry.fault == INVALID_CAPABILITY_CLAIM]
    for ask in known.asks:
        stands = ask.standing
        fails = failure_first and (not stands.covered or stands.vetoed)
        expected = stands.foreign and not stands.malformed and not fails
        if expected != (ask.agent in called) or (expected and known.tokens.get(ask.agent) != FAULT):
            return False
    return True


@each_step(
    "A request that passes both passes is a SCOPE_VIOLATION fault exactly if it changes what it does not declare, "
    "as the reading `scope_check` compares; no other request is.",
    source="C10, FQ3",
    systems=EPOCHS,
    when=lambda step: any([ask.standing.passes and undeclared(ask.request) for ask in facts(step).asks]),
)
def scope_violation_is_a_fault(step: RunStep) -> bool:
    """Where the order of execution decides too, only the implication is checked."""
    known = facts(step)
    called = [entry.agent_id for entry in step.shown.log if entry.fault == SCOPE_VIOLATION]
    for ask in known.asks:
        reached = ask.standing.passes and ask.agent not in known.contested
        expected = violates(step.config, step.before, ask.request, known) if reached else False
        found = ask.agent in called
        if (expected is not None and expected != found) or (found and known.tokens.get(ask.agent) != FAULT):
            return False
    return True


@each_step(
    "A request is bound to the agent that submitted it, under the deterministic id, whatever its own fields say.",
    source="FQ1, FQ33",
    systems=EPOCHS,
    when=some_asked,
)
def submitter_is_bound(step: RunStep) -> bool:
    """Whether the log names the true submitter and the true id, and keeps the request as submitted."""
    epoch = step.before.epoch
    asks = {ask.agent: ask.request for ask in facts(step).asks}
    for entry in step.shown.log:
        submitted = asks.get(entry.agent_id)
        # Mostly the same object; the identity test saves the comparison.
        if submitted is not entry.request and submitted != entry.request:
            return False
        if entry.action_id != true_id(entry.agent_id, epoch):
            return False
    return True


@each_step(
    "The log tells the truth: the token, the fault's sub-code, and the pass that refused.",
    source="FQ4, FQ11",
    systems=EPOCHS,
    when=some_asked,
)
def log_names_the_true_pass(step: RunStep) -> bool:
    """PASS_ONE if the capability is missing or vetoed, PASS_TWO for a collision, ADMITTED for the rest."""
    known = facts(step)
    stands = {ask.agent: ask.standing for ask in known.asks}
    for entry in step.shown.log:
        if entry.outcome != known.tokens.get(entry.agent_id) or (entry.outcome == FAULT) != (entry.fault in FAULTS):
            return False
        if entry.fault in (MALFORMED_REQUEST, INVALID_CAPABILITY_CLAIM):
            continue
        its = stands.get(entry.agent_id)
        if its is None:
            return False
        expected = PASS_TWO if entry.agent_id in known.contested else ADMITTED if its.passes else PASS_ONE
        if entry.verdict != expected:
            return False
    return True
