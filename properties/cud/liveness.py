"""Deadlock and livelock: which can happen, and under which reading.

Deadlock: no submitted action passes pass 1, and no alternative would (FQ34; the reading `deadlock_space` says which
alternatives count).  Livelock: three epochs in a row in which a request passes pass 1, is refused in pass 2, and the
world stays the same.  The claims about the free-agent graph never read the action, so that one evaluation covers all
joint choices with the same observation.
"""

from __future__ import annotations

import hashlib

from evenhand.core.plan import refuted, undecided
from evenhand.core.property import (
    DeadlockFree,
    LivelockFree,
    Monitor,
    each_step,
    reachable,
)
from evenhand.model.cud.vocabulary import ALLOW, DENY, DONE, FAILURE, READ, WRITE, Config, Partition, target
from evenhand.properties.cud.predicates import (
    ADMITTED,
    FAULTS,
    PASS_TWO,
    Ask,
    EpochStep,
    FreeStep,
    RunStep,
    active_agents,
    facts,
    is_over,
    lawful,
    may_act,
    undeclared,
)

LIVELOCK_EPOCHS = 3
"""N of FQ17 and FQ34, as the text fixes it."""


def is_deadlocked(step: RunStep) -> bool:
    """Return whether the epoch is a deadlock, by requests, authorities and membership alone (FQ34).

    Under `strategies_of_run`, where agents have strategies, only this epoch's requests count: whether another request
    occurs later depends on the rest of the run.
    """
    config, before = step.config, step.before
    if is_over(config, before):
        return False
    asks = facts(step).asks
    if any(ask.standing.passes for ask in asks):
        return False
    if not asks and config.readings.silent_epoch == "neutral":
        return False
    space = config.readings.deadlock_space
    if space == "this_epoch_only" or (space == "strategies_of_run" and config.strategies):
        return True
    return not may_act(config, active_agents(config, before))


def _kernel_lets_pass(step: RunStep) -> bool:
    """Whether the kernel's log says that some request passed pass 1, or the kernel executes one."""
    return bool(facts(step).done) or any(
        entry.verdict in (ADMITTED, PASS_TWO) and entry.fault not in FAULTS[:2] for entry in step.shown.log
    )


def _stays(value: str, step: RunStep) -> str:
    if value == "broken":
        return value
    passes = _kernel_lets_pass(step)
    if is_deadlocked(step):
        return "broken" if passes else "deadlocked"
    if value == "deadlocked" and passes:
        later_counts = bool(step.config.strategies) and step.config.readings.deadlock_space == "strategies_of_run"
        # A request that occurs later in the run was an alternative all along: that epoch was no deadlock.
        return "" if later_counts and any(ask.standing.passes for ask in facts(step).asks) else "broken"
    return value


deadlock_is_stable = Monitor(
    name="deadlock_is_stable",
    sentence="After a deadlocked epoch nothing ever passes pass 1 again: authorities are immutable, and nobody joins.",
    source="FQ26, FQ32, FQ34",
    systems=("run", "conditions"),
    start=lambda _config: "",
    update=_stays,
    ok=lambda _config, value: value != "broken",
    when=lambda _config, value: value != "",
    expected=(
        refuted(
            "an epoch in which only hopeless requests happen to be submitted says nothing about the next",
            system="run",
            deadlock_space="this_epoch_only",
        ),
    ),
)


def _counts_to_livelock(step: RunStep) -> bool:
    if step.shown.effects and step.config.readings.livelock_rule != "collisions_alone":
        return False
    if step.config.readings.livelock_rule == "unchanged_state":
        return bool(step.shown.log)
    return any(entry.verdict == PASS_TWO for entry in step.shown.log)


@each_step(
    "Deadlock and livelock exclude each other in an epoch: a deadlocked epoch does not count towards livelock.",
    source="FQ34, FQ36",
    systems=("run", "conditions"),
    when=is_deadlocked,
    expected=(
        refuted(
            "G20 counts any attempt without a change, and a deadlocked epoch is one", livelock_rule="unchanged_state"
        ),
    ),
)
def deadlock_xor_livelock(step: RunStep) -> bool:
    """Whether the epoch does not count: true if only pass-2 refusals count, false if any attempt does."""
    return not _counts_to_livelock(step)


def _able(config: Config, key: str, operation: str, agents: tuple[str, ...]) -> set[str]:
    """The agents that hold an ALLOW for the operation on the key, unless a DENY governs it (FQ34)."""
    atom, here = (target(key), operation), lawful(config.authorities)
    if any(one.commitment == DENY and atom in one.scope for one in here):
        return set()
    held = {one.holder_agent_id for one in here if one.commitment == ALLOW and atom in one.scope}
    return held.intersection(agents)


def rivals(config: Config, agents: tuple[str, ...]) -> bool:
    """Return whether two of `agents` may act on one key and one of them may write it: ALLOWs held, and no DENY."""
    return any(
        bool(writers := _able(config, key, WRITE, agents)) and len(writers | _able(config, key, READ, agents)) > 1
        for key in config.keys
    )


@each_step(
    "Requests are refused in pass 2 only where two agents in the run may act on one key and one of them may write it.",
    source="FQ4, FQ10, FQ34: who can livelock",
    systems=("run", "universe", "conditions"),
    when=lambda step: any(entry.verdict == PASS_TWO for entry in step.shown.log),
)
def collisions_need_rivals(step: RunStep) -> bool:
    """Without rivals there is no livelock; `rivals_collide_for_ever` says that with rivals there is one."""
    return rivals(step.config, active_agents(step.config, step.before))


def _plain(config: Config, ask: Ask) -> bool:
    """Whether the request is the plain one for a key that its agent may act on.

    Well formed, one declared key, nothing changed beside it; it cites nothing foreign, and every ALLOW of its agent
    for the key and operation.  Whoever may act has such a request.
    """
    agent, request, checked = ask.agent, ask.request, ask.standing
    if checked.malformed or checked.foreign or len(request.declared_scope) != 1 or undeclared(request):
        return False
    key, operation = request.declared_scope[0], request.action_type
    cited = set(request.authorities_cited)
    return agent in _able(config, key, operation, (agent,)) and all(
        one.authority_id in cited
        for one in lawful(config.authorities)
        if one.commitment == ALLOW and one.holder_agent_id == agent and (target(key), operation) in one.scope
    )


def _one_plain(step: RunStep) -> bool:
    asks = facts(step).asks
    return len(asks) == 1 and _plain(step.config, asks[0])


def _two_plain(step: RunStep) -> bool:
    """Whether exactly two agents ask, both plainly for the same key, and not both to read it."""
    asks = facts(step).asks
    return (
        len(asks) == 2
        and asks[0].request.declared_scope == asks[1].request.declared_scope
        and any(ask.request.action_type == WRITE for ask in asks)
        and all(_plain(step.config, ask) for ask in asks)
    )


@each_step(
    "An agent that may act on a key and alone asks for it is executed, if it cites its ALLOWs: so an epoch can "
    "complete something exactly where an active agent may act.",
    source="FQ27, FQ34: who can deadlock",
    systems=("run", "universe"),
    when=_one_plain,
)
def whoever_may_act_completes_alone(step: RunStep) -> bool:
    """With `deadlock_is_stable` the exact condition: where nobody may act nothing passes, in this epoch and later."""
    return facts(step).tokens.get(facts(step).asks[0].agent) == DONE


@each_step(
    "Two agents that may act on a key and alone ask for it, one of them to write, are both refused, nothing changes, "
    "and they are rivals in the next epoch too: so a livelock exists exactly where there are rivals.",
    source="FQ4, FQ10, FQ35: who can livelock",
    systems=("run", "universe"),
    when=_two_plain,
)
def rivals_collide_for_ever(step: RunStep) -> bool:
    """With `collisions_need_rivals` the exact condition of a livelock: by this step two rivals repeat their epoch."""
    seen, here = facts(step), active_agents(step.config, step.after)
    names = tuple(ask.agent for ask in seen.asks)
    told = all(seen.tokens.get(name) == FAILURE for name in names)
    return told and not step.shown.effects and set(names).issubset(here) and rivals(step.config, names)


def _executes(step: EpochStep) -> bool:
    return any(token == DONE for _, token in step.shown.tokens)


deadlock_free = DeadlockFree(
    name="deadlock_free",
    sentence="As long as the run goes on, some continuation executes something.",
    source="FQ32, FQ34",
    systems=("run", "free"),
    wants=lambda config, state: not is_over(config, state),
    completes=_executes,
    expected=(
        refuted("FQ28, FQ32: when the only holder exits, nobody who stays can ever be executed", system="run"),
        undecided(
            "drawn runs are finite; that no dead end exists is for the search to say", system="free", engine="fuzz"
        ),
    ),
)

livelock_free = LivelockFree(
    name="livelock_free",
    sentence="Agents that keep submitting do not collide for ever without anything being executed.",
    source="FQ34, FQ35",
    systems=("free",),
    attempts=lambda step: step.shown.happened.collided,
    progress=_executes,
    fairness=("agent_1 submits", "agent_2 submits"),
    expected=(
        refuted("FQ35: two colliders that keep submitting are never executed; the lasso is kept", system="free"),
    ),
)


@reachable(
    "Three epochs in a row can pass in which admissible requests collide and nothing changes: STATE_LIVELOCK.",
    source="FQ34, FQ35",
    systems=("free",),
)
def livelock(step: FreeStep) -> bool:
    """Whether the livelock counter is full."""
    return step.after.counter >= LIVELOCK_EPOCHS


def _stuck(step: FreeStep) -> bool:
    if step.before.world != step.after.world and step.config.readings.livelock_rule != "collisions_alone":
        return False
    happened = step.shown.happened
    any_attempt = step.config.readings.livelock_rule == "unchanged_state"
    return happened.attempted if any_attempt else happened.collided


def _counting(value: tuple[int, bool], step: FreeStep) -> tuple[int, bool]:
    if not step.shown.tokens:  # no agent in the run chose anything, so this was no epoch
        return value[0], value[0] == step.after.counter
    mine = min(LIVELOCK_EPOCHS, value[0] + 1) if _stuck(step) else 0
    return mine, mine == step.after.counter


livelock_counter_is_faithful = Monitor(
    name="livelock_counter_is_faithful",
    sentence="The livelock counter is the number of epochs in a row, up to three, that count towards livelock.",
    source="FQ34",
    systems=("free",),
    start=lambda _config: (0, True),
    update=_counting,
    ok=lambda _config, value: value[1],
)


def _since_change(value: tuple[int, bool], step: FreeStep) -> tuple[int, bool]:
    if not step.shown.tokens:
        return value
    quiet = 0 if step.before.world != step.after.world else min(LIVELOCK_EPOCHS, value[0] + 1)
    return quiet, step.after.counter >= LIVELOCK_EPOCHS


no_livelock_with_progress = Monitor(
    name="no_livelock_with_progress",
    sentence="A run whose world changes in every window of three epochs is never classified as livelock.",
    source="G20, FQ34",
    systems=("free",),
    start=lambda _config: (0, False),
    update=_since_change,
    ok=lambda _config, value: not value[1],
    when=lambda _config, value: value[0] < LIVELOCK_EPOCHS,
    applies=lambda config: config.readings.livelock_rule != "collisions_alone",
)


def _colliding(value: tuple[int, bool], step: FreeStep) -> tuple[int, bool]:
    """The number of epochs in a row with a collision and no execution, and whether livelock is classified."""
    if not step.shown.tokens:
        return value
    all_collide = step.shown.happened.collided and not _executes(step)
    streak = min(LIVELOCK_EPOCHS, value[0] + 1) if all_collide else 0
    return streak, step.after.counter >= LIVELOCK_EPOCHS


static_colliders_are_livelocked = Monitor(
    name="static_colliders_are_livelocked",
    sentence="Colliders that do not budge are classified as livelock by the third epoch.",
    source="FQ35, FQ38",
    systems=("free",),
    start=lambda _config: (0, False),
    update=_colliding,
    ok=lambda _config, value: value[1],
    when=lambda _config, value: value[0] >= LIVELOCK_EPOCHS,
)


def _bit(text: str) -> int:
    """sha256 of a text, read as a big-endian integer, mod 2 (FQ30): the last bit of the last byte."""
    return hashlib.sha256(text.encode()).digest()[-1] & 1


def _roles(config: Config, peers: tuple[str, ...]) -> list[int]:
    """The roles of two or more peers under the reading `role_fallback` (FQ30, FQ37)."""
    found = [_bit(peer) for peer in peers]
    rounds = {"none": 0, "single_suffix": 1, "suffix_until_different": 64}[config.readings.role_fallback]
    suffix = 0
    while len(set(found)) == 1 and suffix < rounds:
        suffix += 1
        found = [_bit(f"{peer}:{suffix}") for peer in peers]
    return found


def _keys_of_roles(config: Config, peers: tuple[str, ...]) -> list[str | None]:
    if config.readings.role_target == "index_in_key_list":
        return [config.keys[role] if role < len(config.keys) else None for role in _roles(config, peers)]
    return [next((key for key in config.keys if _bit(key) == role), None) for role in _roles(config, peers)]


def partition_can_work(config: Config) -> bool:
    """Return whether the exact assumption of I.b's convergence holds.

    All agents follow the protocol and know each other; communication is on; their roles stand for different existing
    keys; each agent holds an ALLOW WRITE on its own role's key and no DENY governs it, counting only artefacts made at
    epoch 0; and a role's message fits the size bound.
    """
    if not config.communication or not _partitioned(config):
        return False
    keys = _keys_of_roles(config, config.agents)
    if None in keys or len(set(keys)) != len(keys) or config.readings.message_limit < len('{"role":0}'):
        return False
    lawful = [one for one in config.authorities if one.epoch == 0]
    return all(
        any(
            one.commitment == ALLOW and one.holder_agent_id == agent and (target(str(key)), WRITE) in one.scope
            for one in lawful
        )
        and not any(one.commitment == DENY and (target(str(key)), WRITE) in one.scope for one in lawful)
        for agent, key in zip(config.agents, keys, strict=True)
    )


def _all_executed(step: RunStep) -> bool:
    return [agent for agent, token in step.shown.tokens if token == DONE] == list(step.config.agents)


def _partitioned(config: Config) -> bool:
    """Whether there are at least two agents, and all follow the protocol with each other."""
    return len(config.agents) > 1 and [one.peers for one in config.strategies if isinstance(one, Partition)] == [
        config.agents
    ] * len(config.agents)


def _after_the_first(step: RunStep) -> bool:
    return _partitioned(step.config) and bool(step.before.epoch) and not is_over(step.config, step.before)


@each_step(
    "I.b converges: where every agent follows the partition protocol and the roles stand for different keys that their "
    "agents may write, every agent is executed in every epoch from epoch 1 on.",
    source="FQ30, FQ37",
    systems=("conditions",),
    applies=partition_can_work,
    when=_after_the_first,
    expected=(
        undecided(
            "the assumption holds for no condition: the frozen names get equal roles",
            system="conditions",
            role_fallback="none",
        ),
        undecided(
            "the assumption holds for no condition: one role has no key", system="conditions", role_target="hash_bucket"
        ),
    ),
)
def roles_converge(step: RunStep) -> bool:
    """Whether all are executed; by `convergence_assumption_is_exact` the assumption is exact."""
    return _all_executed(step)


@each_step(
    "The partition protocol coordinates exactly the agents for which its assumption holds.",
    source="FQ19, FQ30, FQ37",
    systems=("conditions",),
    applies=_partitioned,
    when=_after_the_first,
)
def convergence_assumption_is_exact(step: RunStep) -> bool:
    """Whether all agents are executed exactly if `partition_can_work`."""
    return _all_executed(step) == partition_can_work(step.config)


@each_step(
    "Agents that follow the partition protocol are all executed in every epoch from epoch 1 on, whatever the reading.",
    source="FQ37",
    systems=("conditions",),
    applies=_partitioned,
    when=_after_the_first,
    expected=(
        refuted(
            "FQ37's literal rule gives agent_1 and agent_2 the same role, so they collide for ever",
            system="conditions",
            role_fallback="none",
        ),
        refuted(
            "corrected: the names of the condition role-fallback collide once more after the first suffix; the "
            "frozen names do not",
            system="conditions",
            role_fallback="single_suffix",
        ),
        refuted(
            "resource_A and resource_B hash to one bucket, so one role has no key",
            system="conditions",
            role_target="hash_bucket",
        ),
    ),
)
def partition_converges(step: RunStep) -> bool:
    """Whether all are executed: true for the default reading of the frozen names, false for FQ37's literal one."""
    return _all_executed(step)
