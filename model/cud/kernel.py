"""The kernel's rules: every point that a reading or a mutant may change is a field of `Rules`.

The reference functions below are the honest kernel of FQ4, FQ27 and FQ33: structural validation, pass 1
(capability and veto), pass 2 (mechanical interference), atomic execution with the structural diff.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.canonical import is_json, parse
from evenhand.core.records import dataclass
from evenhand.model.cud.vocabulary import (
    ALLOW,
    DENY,
    DONE,
    FAILURE,
    FAULT,
    IDLE,
    OPERATIONS,
    READ,
    Authority,
    Config,
    Draft,
    Message,
    Observation,
    Request,
    State,
    World,
)

ADMITTED, PASS_ONE, PASS_TWO, STRUCTURE = "ADMITTED", "PASS_ONE", "PASS_TWO", "STRUCTURE"
"""Where a request ended: admitted to execution, refused in a pass, or faulty in structure."""

MALFORMED_REQUEST = "MALFORMED_REQUEST"
INVALID_CAPABILITY_CLAIM = "INVALID_CAPABILITY_CLAIM"
SCOPE_VIOLATION = "SCOPE_VIOLATION"

LIVELOCK_EPOCHS = 3
"""N of FQ17 and FQ34."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A request bound to the agent that submitted it, under its deterministic id (FQ1)."""

    agent: str
    action_id: str
    request: Request


@dataclass(frozen=True, slots=True)
class Finding:
    """A bound request and its verdict; `fault` is a sub-code or empty."""

    bound: Bound
    verdict: str
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """The facts that adjudication may know besides the requests and the authorities.

    `active` are the agents in the run when the epoch began; `epoch` is None where the run has no end of
    its own; `history` is the past that `Rules.history` returns, empty for an honest kernel.
    """

    active: tuple[str, ...]
    epoch: int | None
    history: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Execution:
    """The world after an epoch, and the agents whose action was a scope violation, sorted."""

    world: World
    violators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Happened:
    """The facts of an epoch for livelock detection.

    `attempted`: an agent submitted; `refused`: some request failed pass 1; `collided`: some request that
    passed pass 1 was refused in pass 2; `changed`: the world differs from before.
    """

    attempted: bool
    refused: bool
    collided: bool
    changed: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """The points at which a kernel can be read or broken; the reference fills each with a function below."""

    observe: Callable[[Config, State, str, tuple[Message, ...]], Observation]
    bind: Callable[[str, str, Request], Bound]
    malformed: Callable[[Config, Bound], str]
    in_force: Callable[[Config, Moment], tuple[Authority, ...]]
    foreign: Callable[[tuple[Authority, ...], Bound], bool]
    covers: Callable[[tuple[Authority, ...], Bound], bool]
    vetoed: Callable[[tuple[Authority, ...], Bound], bool]
    contends: Callable[[Finding], bool]
    interfere: Callable[[Request, Request], bool]
    refuse: Callable[[Config, Moment, tuple[Bound, ...], Callable[[Request, Request], bool]], tuple[str, ...]]
    resolve: Callable[[Config, tuple[Bound, ...], Callable[[Request, Request], bool]], tuple[Bound, ...]]
    execute: Callable[[Config, World, tuple[Bound, ...]], Execution]
    token: Callable[[Finding | None], str]
    receipt: Callable[[Finding, tuple[Finding, ...]], str]
    seal: Callable[[Config, str, Draft], tuple[str, str]]
    history: Callable[[Config, State], tuple[tuple[str, str | None], ...]]
    count: Callable[[Config, int, Happened], int]


def observe(config: Config, state: State, agent: str, sent: tuple[Message, ...]) -> Observation:
    """Return `agent`'s observation as an epoch begins (FQ20); `sent` this epoch is delivered in the next (FQ31)."""
    own = state.agents[config.agents.index(agent)]
    before = None if state.epoch is None else state.epoch - 1
    return Observation(
        epoch=state.epoch,
        world_state=state.world,
        own_last_outcome=own.last,
        own_last_action_id=None if own.last_scope is None else action_id(agent, before),
        own_last_declared_scope=own.last_scope,
        messages=tuple([Message(sender, before, content) for sender, content in delivered(config, state, agent)]),
    )


def delivered(config: Config, state: State, agent: str) -> tuple[tuple[str, str], ...]:
    """Return the messages of the last epoch that `agent` gets: its own too, if `broadcast` says so (E15, FQ16)."""
    everybody = config.readings.broadcast == "to_everybody"
    return tuple([pair for pair in state.mailbox if everybody or pair[0] != agent])


def action_id(agent: str, epoch: int | None) -> str:
    """Return the deterministic id of FQ1; `*` stands for the epoch of a run without a frozen end."""
    return f"{agent}:{'*' if epoch is None else epoch}:0"


def bind(agent: str, action: str, request: Request) -> Bound:
    """Bind a request to its true submitter, whatever its own fields say (FQ1, FQ33)."""
    return Bound(agent, action, request)


def malformed(config: Config, bound: Bound) -> str:
    """Return why a request is not well-formed, or the empty string (C8, FQ2, FQ12, FQ13, FQ21)."""
    request = bound.request
    keys = set(config.keys)
    if request.agent_id not in (None, bound.agent):
        return "forged agent_id"
    if request.action_id not in (None, bound.action_id):
        return "forged action_id"
    if request.action_type not in OPERATIONS:
        return "unknown action_type"
    if not request.declared_scope:
        return "empty declared_scope"
    if len(set(request.declared_scope)) != len(request.declared_scope):
        return "duplicate key in declared_scope"
    if not keys.issuperset(request.declared_scope):
        return "unknown key in declared_scope"
    if request.action_type == READ and request.proposed_delta:
        return "READ with a proposed_delta"
    if not keys.issuperset([key for key, _ in request.proposed_delta]):
        return "unknown key in proposed_delta"
    if len({key for key, _ in request.proposed_delta}) != len(request.proposed_delta):
        return "duplicate key in proposed_delta"
    if any(isinstance(value, Opaque) for _, value in request.proposed_delta):
        return "value that is no JSON primitive"
    return ""


def in_force(config: Config, _moment: Moment) -> tuple[Authority, ...]:
    """Return the authorities made at epoch 0; an exit does not end them (FQ26, FQ28)."""
    return tuple([authority for authority in config.authorities if authority.epoch == 0])


def foreign(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    """Return whether some cited id names no authority that the submitter holds (FQ33)."""
    held = {authority.authority_id for authority in authorities if authority.holder_agent_id == bound.agent}
    return not held.issuperset(bound.request.authorities_cited)


def covers(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    """Return whether every declared (key, op) has an ALLOW that is cited and held (FQ27, FQ33)."""
    request = bound.request
    cited = request.authorities_cited
    capabilities = [
        authority
        for authority in authorities
        if authority.commitment == ALLOW
        and authority.authority_id in cited
        and authority.holder_agent_id == bound.agent
    ]
    return all(
        any(capability.governs(key, request.action_type) for capability in capabilities)
        for key in request.declared_scope
    )


def vetoed(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    """Return whether a DENY, of any holder, governs some declared (key, op) (FQ27, FQ34)."""
    request = bound.request
    return any(
        authority.commitment == DENY and authority.governs(key, request.action_type)
        for authority in authorities
        for key in request.declared_scope
    )


def contends(finding: Finding) -> bool:
    """Return whether a request takes part in pass 2: it passed pass 1 (FQ4)."""
    return finding.verdict == ADMITTED


def interfere(one: Request, other: Request) -> bool:
    """Return whether two requests interfere: WW and RW on a common declared key do, RR does not (FQ4, FQ10)."""
    if one.action_type == READ and other.action_type == READ:
        return False
    return any(key in other.declared_scope for key in one.declared_scope)


def refuse(
    _config: Config,
    _moment: Moment,
    contenders: tuple[Bound, ...],
    collide: Callable[[Request, Request], bool],
) -> tuple[str, ...]:
    """Return the agents refused in pass 2: every request that interferes with another, no winner (D13, FQ4)."""
    return tuple(
        one.agent
        for i, one in enumerate(contenders)
        if any(collide(one.request, other.request) for j, other in enumerate(contenders) if i != j)
    )


def resolve(
    _config: Config, contenders: tuple[Bound, ...], _collide: Callable[[Request, Request], bool]
) -> tuple[Bound, ...]:
    """Return the contenders for pass 2, unchanged (F17 forbids conflict resolution)."""
    return contenders


def execute(config: Config, world: World, admitted: tuple[Bound, ...]) -> Execution:
    """Apply the admitted requests and check their changes, under the reading `scope_check` (C10)."""
    check = config.readings.scope_check
    if check in ("after_rollback", "after_keep"):
        return _one_after_the_other(world, admitted, keep=check == "after_keep")
    if check == "joint_diff":
        return _one_diff(world, admitted)
    before = dict(world)
    after = dict(world)
    violators: list[str] = []
    for bound in admitted:
        delta = {key: value for key, value in bound.request.proposed_delta if isinstance(value, Atom)}
        if check == "snapshot_diff_only":
            delta = {key: value for key, value in delta.items() if before[key] != value}
        if any(key not in bound.request.declared_scope for key in delta):
            violators.append(bound.agent)
        else:
            after.update(delta)
    return Execution(tuple(after.items()), tuple(sorted(violators)))


def _one_after_the_other(world: World, admitted: tuple[Bound, ...], *, keep: bool) -> Execution:
    now = dict(world)
    violators: list[str] = []
    for bound in admitted:
        then = now | {key: value for key, value in bound.request.proposed_delta if isinstance(value, Atom)}
        if any(now[key] != then[key] and key not in bound.request.declared_scope for key in now):
            violators.append(bound.agent)
            then = then if keep else now
        now = then
    return Execution(tuple(now.items()), tuple(sorted(violators)))


def _one_diff(world: World, admitted: tuple[Bound, ...]) -> Execution:
    """Compare the epoch's one diff with all that its requests declare: a key that another declares hides a violation.

    The changes of whoever changed an undeclared key do not stay; of two changes of one key the later one does.
    """
    before = dict(world)
    deltas = [
        (bound.agent, {k: v for k, v in bound.request.proposed_delta if isinstance(v, Atom) and before[k] != v})
        for bound in admitted
    ]
    declared = {key for bound in admitted for key in bound.request.declared_scope}
    violators = [agent for agent, delta in deltas if not declared.issuperset(delta)]
    after = dict(world)
    for agent, delta in deltas:
        if agent not in violators:
            after.update(delta)
    return Execution(tuple(after.items()), tuple(sorted(violators)))


def token(finding: Finding | None) -> str:
    """Return the bare token of an agent (FQ5, FQ11): both passes refuse with the same one."""
    if finding is None:
        return IDLE
    if finding.fault:
        return FAULT
    return DONE if finding.verdict == ADMITTED else FAILURE


def receipt(_finding: Finding, _findings: tuple[Finding, ...]) -> str:
    """Return the receipt of an agent beside its token: none (FQ11)."""
    return ""


def seal(config: Config, agent: str, draft: Draft) -> tuple[str, str]:
    """Return the envelope of a message: (sender, "") or ("", drop reason); the kernel names the sender (FQ21)."""
    if isinstance(draft.content, Opaque):
        return "", "not JSON"
    if len(draft.content.encode("utf-8", "surrogatepass")) > config.readings.message_limit:
        return "", "over the size limit"
    try:
        is_object = isinstance(parse(draft.content), dict)
    except ValueError:
        return "", "not JSON"
    return (agent, "") if is_object else ("", "not a JSON object")


@lru_cache(maxsize=4096)
def is_unsettled(content: str, limit: int) -> bool:
    """Return whether some readers of JSON take a text that fits and others do not: its grammar does, `seal` does not.

    It repeats a key, holds a number beyond all floats, or is nested deeply; FQ21 asks for JSON and says no more.
    """
    if len(content.encode("utf-8", "surrogatepass")) > limit:
        return False
    try:
        parse(content)
    except ValueError:
        return is_json(content)
    return False


def history(_config: Config, _state: State) -> tuple[tuple[str, str | None], ...]:
    """Return the past that adjudication knows: nothing (D11, FQ3)."""
    return ()


def count(config: Config, before: int, happened: Happened) -> int:
    """Return the livelock counter after an epoch, 0 to 3, under the reading `livelock_rule` (FQ34, G20)."""
    rule = config.readings.livelock_rule
    stuck = happened.attempted if rule == "unchanged_state" else happened.collided
    ends = happened.changed and rule != "collisions_alone"
    return min(LIVELOCK_EPOCHS, before + 1) if stuck and not ends else 0


def examine(rules: Rules, config: Config, authorities: tuple[Authority, ...], bound: Bound) -> Finding:
    """Return structural validation and pass 1 of one request, in the order of the reading `fault_precedence`."""
    if rules.malformed(config, bound):
        return Finding(bound, STRUCTURE, MALFORMED_REQUEST)
    fails = not rules.covers(authorities, bound) or rules.vetoed(authorities, bound)
    if rules.foreign(authorities, bound) and not (fails and config.readings.fault_precedence == "failure_first"):
        return Finding(bound, STRUCTURE, INVALID_CAPABILITY_CLAIM)
    return Finding(bound, PASS_ONE if fails else ADMITTED)


REFERENCE = Rules(
    observe=observe,
    bind=bind,
    malformed=malformed,
    in_force=in_force,
    foreign=foreign,
    covers=covers,
    vetoed=vetoed,
    contends=contends,
    interfere=interfere,
    refuse=refuse,
    resolve=resolve,
    execute=execute,
    token=token,
    receipt=receipt,
    seal=seal,
    history=history,
    count=count,
)
"""The honest kernel."""
