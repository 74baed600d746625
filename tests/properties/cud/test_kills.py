"""Every claim of cud is refuted somewhere: on a mutant kernel if one breaks it, else on a kernel broken here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from evenhand.core.atoms import Atom
from evenhand.core.property import Property
from evenhand.core.registry import find
from evenhand.core.system import AnySystem
from evenhand.core.verdict import Status
from evenhand.evidence.judge import refutes
from evenhand.model.cud.kernel import PASS_TWO, REFERENCE, Execution, Finding
from evenhand.model.cud.protocol import CUD
from evenhand.model.cud.run_system import TAKEN
from evenhand.model.cud.vocabulary import DONE, FAILURE, FAULT, IDLE, NO_CHOICE, OPERATIONS, deny
from evenhand.search import explore
from tests.deep import rest_deep, rest_slow

BUNDLE = find("cud")
CLAIMS: dict[str, Property] = {claim.name: claim for claim in BUNDLE.claims}
MUTANTS = {mutant.name: mutant for mutant in CUD.mutants}

BY_MUTANT = {
    "executed_never_interfere": "last_writer_wins",
    "outcomes_are_those_of_the_text": "tie_break_by_name",
    "executed_has_capability": "open_world_allow",
    "no_veto_overridden": "veto_ignored",
    "only_own_scope_changes": "scope_not_checked",
    "non_executed_changes_nothing": "violation_stays",
    "executed_writes_take_effect": "lost_update",
    "malformed_is_a_fault": "empty_scope_passes",
    "foreign_citation_is_a_fault": "foreign_citation_no_fault",
    "scope_violation_is_a_fault": "scope_not_checked",
    "submitter_is_bound": "resolver_rewrites",
    "log_names_the_true_pass": "pass_two_over_all",
    "no_winner": "reader_beats_writer",
    "no_over_refusal": "readers_collide",
    "equivariance": "tie_break_by_name",
    "order_independence": "tie_break_by_submission_order",
    "final_world_is_a_function_of_the_requests": "tie_break_by_submission_order",
    "history_independence": "most_refused_wins",
    "epoch_independence": "relaxed_after_k",
    "value_independence": "tie_break_by_value",
    "pass_one_refusals_are_inert": "pass_two_over_all",
    "verdict_determined": "relaxed_after_k",
    "bare_tokens": "refusing_agent_named",
    "token_blindness": "token_tells_the_pass",
    "observation_is_own_only": "other_agents_outcome_seen",
    "only_ones_own_is_ever_observed": "message_delivered_at_once",
    "changed_key_reveals_pass_one": "tie_break_by_name",
    "messages_one_epoch_later": "message_delivered_at_once",
    "sender_is_true": "forged_sender_accepted",
    "messages_are_lawful": "any_text_is_a_message",
    "orphaning_is_permanent": "orphan_reclaimed",
    "exit_is_harmless": "exit_keeps_a_lock",
    "deadlock_is_stable": "pass_one_skipped",
    "livelock_counter_is_faithful": "livelock_never_resets",
    "collisions_need_rivals": "pass_two_over_all",
    "rivals_collide_for_ever": "last_writer_wins",
    "whoever_may_act_completes_alone": "deny_blocks_both_operations",
    "kernel_passes": "hidden_priority",
    "mutual_refusal_happens": "tie_break_by_name",
    "veto_happens": "veto_ignored",
}
"""Claim → a mutant that it kills in the mutant's own system and scope."""


def _nobody(*_: Any) -> bool:
    return False


def _everybody(*_: Any) -> bool:
    return True


def _idle_kernel(_config: Any, world: Any, _admitted: Any) -> Execution:
    return Execution(world)


def _meddling(_config: Any, world: Any, _admitted: Any) -> Execution:
    """The kernel itself writes every key, with alternating values."""
    one, other = Atom("str", "tick"), Atom("str", "tock")
    return Execution(tuple((key, other if value == one else one) for key, value in world))


def _swapped_token(finding: Finding | None) -> str:
    """Silence is reported as a refusal, and execution as silence."""
    token = REFERENCE.token(finding)
    return {IDLE: FAILURE, DONE: IDLE}.get(token, token)


def _collision_is_a_fault(finding: Finding | None) -> str:
    return FAULT if finding is not None and finding.verdict == PASS_TWO else REFERENCE.token(finding)


def _squeamish(authorities: Any, bound: Any) -> bool:
    """A capability that depends on the value written."""
    return REFERENCE.covers(authorities, bound) and all(value != TAKEN for _, value in bound.request.proposed_delta)


def _vetoes_later(config: Any, moment: Any) -> Any:
    """From epoch 1 on every request is denied."""
    held = REFERENCE.in_force(config, moment)
    return (*held, deny(998, *((key, op) for key in config.keys for op in OPERATIONS))) if moment.epoch else held


def _never_down(config: Any, before: int, happened: Any) -> int:
    return max(before, REFERENCE.count(config, before, happened))


def _always_done(_finding: Finding | None) -> str:
    return DONE


def _lost(*_: Any) -> tuple[str, str]:
    return "", "lost"


def _no_count(*_: Any) -> int:
    return 0


def _no_fault(*_: Any) -> str:
    return ""


def _refuse_everyone(_config: Any, _moment: Any, contenders: Any, _collide: Any) -> tuple[str, ...]:
    return tuple(bound.agent for bound in contenders)


def _harness_alone(config: Any, moment: Any) -> Any:
    """Authorities that an agent issued are not in force."""
    return tuple(one for one in REFERENCE.in_force(config, moment) if one.issuer_agent_id == "harness")


BROKEN: dict[str, tuple[str, dict[str, int], dict[str, Any]]] = {
    "no_outcome_unasked": ("run", {"keys": 1, "epochs": 1}, {"token": _swapped_token}),
    "issuer_independence": ("run", {"keys": 1, "epochs": 1}, {"in_force": _harness_alone}),
    "passes_ignore_values": ("run", {"keys": 2, "epochs": 1}, {"covers": _squeamish}),
    "orphaned_key_keeps_its_value": ("run", {"keys": 1, "epochs": 2}, {"execute": _meddling}),
    "roles_converge": ("conditions", {}, {"refuse": _refuse_everyone}),
    "partition_converges": ("conditions", {}, {"refuse": _refuse_everyone}),
    "convergence_assumption_is_exact": ("conditions", {}, {"refuse": _refuse_everyone}),
    "static_colliders_are_classified": ("conditions", {}, {"token": _collision_is_a_fault}),
    "refusal_after_success_reveals_pass_two": ("run", {"keys": 1, "epochs": 2}, {"in_force": _vetoes_later}),
    "deadlock_xor_livelock": ("run", {"keys": 1, "epochs": 2}, {"vetoed": _nobody}),
    "deadlock_free": ("free", {"keys": 1}, {"covers": _nobody}),
    "livelock": ("free", {"keys": 1}, {"interfere": _nobody}),
    "one_terminal_class": ("run", {"keys": 1, "epochs": 1}, {"token": _always_done}),
    "no_livelock_with_progress": ("free", {"keys": 1}, {"count": _never_down}),
    "static_colliders_are_livelocked": ("free", {"keys": 1}, {"count": _no_count}),
    "execution_happens": ("run", {"keys": 1, "epochs": 1}, {"execute": _idle_kernel}),
    "two_executions_happen": ("run", {"keys": 1, "epochs": 1}, {"interfere": _everybody}),
    "pass_one_refusal_happens": ("run", {"keys": 1, "epochs": 1}, {"covers": _everybody, "vetoed": _nobody}),
    "reader_and_writer_collide": ("run", {"keys": 1, "epochs": 1}, {"interfere": _nobody}),
    "malformed_happens": ("run", {"keys": 1, "epochs": 1}, {"malformed": _no_fault}),
    "foreign_citation_happens": ("universe", {"agents": 1, "keys": 1}, {"foreign": _nobody}),
    "scope_violation_happens": ("run", {"keys": 2, "epochs": 1}, {"execute": _idle_kernel}),
    "delivery_happens": ("run", {"keys": 1, "epochs": 2}, {"seal": _lost}),
    "deadlock_happens": ("run", {"keys": 1, "epochs": 2}, {"token": _always_done}),
}
"""Claim → system, scope, and the rules to break, for claims that no mutant breaks (or none so plainly)."""

UNTOUCHED = {
    "exit_ends_no_run": "about the reading `orphan_ends_run`: false under `at_once` (`test_expected.py`)",
    "agent_can_tell_the_pass": "stated to be refuted: the honest kernel refutes it",
    "livelock_free": "stated to be refuted: the honest kernel refutes it; a kernel that executes colliders keeps it",
    "exit_is_voluntary_and_final": "`step` takes exits from the choices, no rule can change them",
    "epochs_are_counted": "`step` counts epochs, no rule can change that",
    "exited_are_gone": "`step` asks only agents in the run, no rule can change that",
    "inference_is_bounded": "`step` makes the agents' state from token and request alone",
    "the_last_outcome_is_the_token": "`step` makes the agents' state from token and request alone",
    "log_rebuilds_run": "`step` writes log and state from the same values",
    "diff_is_true": "`step` takes the diff of the two worlds itself",
    "static_agents_ignore_history": "about strategies, not the kernel",
    "livelock_is_counted_from_what_happened": "free epochs count from the outcomes themselves (`test_free_epochs.py`)",
    "exit_happens": "`step` takes exits from the choices",
    "collapse_happens": "`step` takes exits from the choices",
    "orphaning_happens": "`step` takes exits from the choices",
}
"""Claim → the reason why no rules of the kernel can break it; the tests below refute each on a broken system."""


def test_every_claim_is_in_one_table() -> None:
    """Every claim has a killer or a reason."""
    assert set(CLAIMS) == set(BY_MUTANT) | set(BROKEN) | set(UNTOUCHED)


def _verdict(system: AnySystem, claim: Property) -> Any:
    (verdict,) = explore(system, (claim,)).verdicts
    return verdict


@pytest.mark.parametrize("name", rest_slow(rest_deep(sorted(BY_MUTANT), 16), 4))
def test_claim_kills_a_mutant(name: str) -> None:
    """The claim holds on the reference and is refuted on the mutant, with evidence that replays."""
    claim, mutant = CLAIMS[name], MUTANTS[BY_MUTANT[name]]
    broken = mutant.of(CUD.systems)
    verdict = _verdict(broken, claim)
    assert verdict.status is Status.REFUTED
    honest = replace(broken, rules=CUD.systems[mutant.system].rules, variant="reference")
    assert _verdict(honest, claim).status is not Status.REFUTED
    if verdict.evidence is not None:
        assert refutes(broken, claim, verdict.evidence)
        assert not refutes(honest, claim, verdict.evidence)


def _at(system: str, scope: dict[str, int]) -> AnySystem:
    return CUD.systems[system].at(**scope)


@pytest.mark.parametrize("name", rest_slow(sorted(BROKEN), 3))
def test_claim_kills_a_kernel_broken_here(name: str) -> None:
    """The claim is refuted on the broken kernel and not on the reference."""
    where, scope, rules = BROKEN[name]
    honest = _at(where, scope)
    broken = replace(honest, rules=replace(REFERENCE, **rules), variant="broken")
    assert _verdict(broken, CLAIMS[name]).status is Status.REFUTED
    assert _verdict(honest, CLAIMS[name]).status is not Status.REFUTED


Step = Callable[[Any, Any, Any, Any], tuple[Any, Any]]


def _stepping(change: Callable[[Any, Any, Any], tuple[Any, Any]], **scope: int) -> AnySystem:
    """Return `run` with a step whose outcome `change(before, after, shown)` spoils."""
    honest = _at("run", scope)

    def spoilt(rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        return change(state, *honest.step(rules, config, state, action))

    return replace(honest, step=spoilt, separated=None, variant="broken")


def _kicked(_before: Any, after: Any, shown: Any) -> tuple[Any, Any]:
    """The first agent is removed."""
    return replace(after, agents=(replace(after.agents[0], active=False), *after.agents[1:])), shown


def _hasty(_before: Any, after: Any, shown: Any) -> tuple[Any, Any]:
    """Time passes twice as fast."""
    return replace(after, epoch=after.epoch + 1), shown


def _haunted(before: Any, after: Any, shown: Any) -> tuple[Any, Any]:
    """Exited agents get tokens."""
    gone = [f"agent_{place}" for place, one in enumerate(before.agents, start=1) if not one.active]
    return after, replace(shown, tokens=(*shown.tokens, *((name, IDLE) for name in gone)))


def _gossiping(_before: Any, after: Any, shown: Any) -> tuple[Any, Any]:
    """The first agent remembers the tokens of all agents."""
    return replace(after, agents=(replace(after.agents[0], memory=str(shown.tokens)), *after.agents[1:])), shown


def _forgetful(before: Any, after: Any, shown: Any) -> tuple[Any, Any]:
    """Agents keep what they knew."""
    kept = [replace(new, last=old.last) for old, new in zip(before.agents, after.agents, strict=True)]
    return replace(after, agents=tuple(kept)), shown


def _expelled(_before: Any, after: Any, shown: Any) -> tuple[Any, Any]:
    """An agent that stays is shown as exited, without a token."""
    return after, replace(shown, exits=("agent_1",), tokens=shown.tokens[1:])


def _unlogged(_before: Any, after: Any, shown: Any) -> tuple[Any, Any]:
    """The log is lost."""
    return after, replace(shown, log=())


def _undiffed(_before: Any, after: Any, shown: Any) -> tuple[Any, Any]:
    """The diff is lost."""
    return after, replace(shown, effects=())


@pytest.mark.parametrize(
    ("name", "change", "scope"),
    rest_slow(
        [
            ("exit_is_voluntary_and_final", _kicked, {"keys": 1, "epochs": 2}),
            ("epochs_are_counted", _hasty, {"keys": 1, "epochs": 1}),
            ("exited_are_gone", _haunted, {"keys": 1, "epochs": 2}),
            ("inference_is_bounded", _gossiping, {"keys": 1, "epochs": 1}),
            ("exit_is_voluntary_and_final", _expelled, {"keys": 1, "epochs": 1}),
            ("the_last_outcome_is_the_token", _forgetful, {"keys": 1, "epochs": 1}),
            ("log_rebuilds_run", _unlogged, {"keys": 1, "epochs": 1}),
            ("diff_is_true", _undiffed, {"keys": 1, "epochs": 1}),
        ],
        2,
    ),
)
def test_claim_about_the_harness_is_seen_false(name: str, change: Any, scope: dict[str, int]) -> None:
    """Claims that no rule of the kernel can break are broken in the step itself."""
    assert name in UNTOUCHED
    assert _verdict(_stepping(change, **scope), CLAIMS[name]).status is Status.REFUTED
    assert _verdict(_at("run", scope), CLAIMS[name]).status is not Status.REFUTED


@pytest.mark.parametrize("name", ["exit_happens", "collapse_happens", "orphaning_happens"])
def test_without_exits_nobody_leaves(name: str) -> None:
    """A menu without exits refutes claims that need them."""
    honest = _at("run", {"keys": 1, "epochs": 1})
    joint = honest.joint
    assert joint is not None
    choices = joint.choices

    def staying(*where: Any) -> Any:
        return [choice for choice in choices(*where) if not choice.exits]

    assert _verdict(replace(honest, joint=replace(joint, choices=staying)), CLAIMS[name]).status is Status.REFUTED
    assert _verdict(honest, CLAIMS[name]).status is Status.HOLDS


def test_a_static_agent_that_learns_is_noticed() -> None:
    """Scripts that stop after a refusal are not static."""
    honest = CUD.systems["conditions"]
    joint = honest.joint
    assert joint is not None
    choices = joint.choices

    def sulking(config: Any, scope: Any, state: Any, agent: str) -> Any:
        refused = state.agents[config.agents.index(agent)].last == FAILURE
        return (NO_CHOICE,) if refused else choices(config, scope, state, agent)

    claim = CLAIMS["static_agents_ignore_history"]
    broken = replace(honest, joint=replace(joint, choices=sulking), separated=None)
    assert _verdict(broken, claim).status is Status.REFUTED
    assert _verdict(honest, claim).status is Status.HOLDS


@pytest.mark.slow
def test_what_is_stated_to_be_refuted_can_hold() -> None:
    """Claims that are refuted on the honest kernel hold on dishonest kernels."""
    honest = _at("universe", {"keys": 1})
    assert _verdict(honest, CLAIMS["agent_can_tell_the_pass"]).status is Status.REFUTED
    telling = replace(honest, rules=MUTANTS["token_tells_the_pass"].rules)
    assert _verdict(telling, CLAIMS["agent_can_tell_the_pass"]).status is Status.HOLDS
    free = _at("free", {"keys": 1})
    assert _verdict(free, CLAIMS["livelock_free"]).status is Status.REFUTED
    obliging = replace(free, rules=replace(REFERENCE, interfere=_nobody))
    assert _verdict(obliging, CLAIMS["livelock_free"]).status is not Status.REFUTED
