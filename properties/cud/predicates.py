"""The predicates of IX-2 that claims use, written from the text and not from the kernel.

A claim that borrowed the kernel's idea of a capability, a veto or a collision would judge a faulty kernel by its own
fault, so they are defined again here and read steps from outside.

`facts` analyses each step once for all claims, because a search evaluates millions, and each request once for a
configuration.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from evenhand.core.atoms import Opaque
from evenhand.core.system import Step
from evenhand.model.cud.free_system import FreeShown, FreeState
from evenhand.model.cud.vocabulary import (
    ALLOW,
    DENY,
    DONE,
    OPERATIONS,
    READ,
    WRITE,
    Authority,
    Config,
    Epoch,
    Request,
    Shown,
    State,
    target,
)

EPOCHS = ("run", "universe", "conditions")
"""The systems whose step is a whole epoch with its log."""

RunStep: TypeAlias = Step[Config, State, Epoch, Shown]
"""A step of one of `EPOCHS`."""

FreeStep: TypeAlias = Step[Config, FreeState, Epoch, FreeShown]
"""A step of the free-agent graph, which keeps no log but shows tokens and the structural diff."""

EpochStep: TypeAlias = RunStep | FreeStep
EpochState: TypeAlias = State | FreeState

ADMITTED, PASS_ONE, PASS_TWO = "ADMITTED", "PASS_ONE", "PASS_TWO"
"""The log's verdict on a request without a structural fault: executed unless out of scope, or the pass that refused."""

MALFORMED_REQUEST = "MALFORMED_REQUEST"
INVALID_CAPABILITY_CLAIM = "INVALID_CAPABILITY_CLAIM"
SCOPE_VIOLATION = "SCOPE_VIOLATION"
FAULTS = (MALFORMED_REQUEST, INVALID_CAPABILITY_CLAIM, SCOPE_VIOLATION)
"""The sub-codes of ACTION_FAULT, which only the log shows."""


class Standing(NamedTuple):
    """One request checked against the authorities: four independent answers, and the result.

    `passes`: well formed, nothing foreign cited, every declared (key, op) covered by a cited and held ALLOW, none
    vetoed.
    """

    malformed: bool
    foreign: bool
    covered: bool
    vetoed: bool
    passes: bool


class Ask(NamedTuple):
    """A request that an agent in the run submitted, and its standing."""

    agent: str
    request: Request
    standing: Standing


class Facts(NamedTuple):
    """One step seen from outside.

    `here` are the agents in the run before it, and `over` says whether no epoch follows that state.  `asks` are the
    submitted requests in the order of submission, `contested` the agents whose request passes pass 1 and
    interferes with another that does, `tokens` each agent's token, `done` the asks that were executed.
    """

    here: tuple[str, ...]
    over: bool
    asks: tuple[Ask, ...]
    contested: tuple[str, ...]
    tokens: dict[str, str]
    done: tuple[Ask, ...]


class _Standings:
    """The standings of requests under the last configuration."""

    __slots__ = ("config", "known")

    def __init__(self) -> None:
        self.config: Config | None = None
        self.known: dict[tuple[str, Request, int | None], Standing] = {}

    def under(self, config: Config) -> dict[tuple[str, Request, int | None], Standing]:
        """Return the standings known of requests by agent, request and epoch, to be completed."""
        if (config,) != (self.config,) or len(self.known) > _REMEMBERED:  # tuples look for the same object first
            self.config, self.known = config, {}
        return self.known


_STANDINGS = _Standings()
_REMEMBERED = 20_000


def true_id(agent: str, epoch: int | None) -> str:
    """Return the deterministic action id of FQ1; a run without a fixed end has `*` for the epoch."""
    return f"{agent}:{'*' if epoch is None else epoch}:0"


def mail_for(config: Config, state: State, agent: str) -> list[tuple[str, str]]:
    """Return the (sender, content) pairs of the last epoch for `agent`, by `broadcast` its own too (E15, FQ16)."""
    return [p for p in state.mailbox if p[0] != agent or config.readings.broadcast == "to_everybody"]


def active_agents(config: Config, state: EpochState) -> tuple[str, ...]:
    """Return the agents in the run: a `State` has agents with a flag, a free state has marks."""
    if isinstance(state, State):
        return tuple([name for name, one in zip(config.agents, state.agents, strict=True) if one.active])
    return tuple([name for name, mark in zip(config.agents, state.marks, strict=True) if mark != "EXITED"])


def lawful(authorities: tuple[Authority, ...]) -> tuple[Authority, ...]:
    """Return the artefacts that count for the protocol: those made at epoch 0 (FQ26)."""
    return tuple([one for one in authorities if one.epoch == 0])


def holders(config: Config, key: str, operation: str) -> tuple[str, ...]:
    """Return the agents, in the run or exited, that hold an ALLOW for `operation` on `key`."""
    atom = (target(key), operation)
    held = {one.holder_agent_id for one in lawful(config.authorities) if one.commitment == ALLOW and atom in one.scope}
    return tuple([agent for agent in config.agents if agent in held])


def may_act(config: Config, agents: tuple[str, ...]) -> bool:
    """Return whether some well-formed request of one of `agents` would pass pass 1: an ALLOW held, and no DENY."""
    denied = {atom for one in lawful(config.authorities) if one.commitment == DENY for atom in one.scope}
    pairs = {(target(key), operation) for key in config.keys for operation in OPERATIONS} - denied
    return any(
        one.commitment == ALLOW and one.holder_agent_id in agents and not pairs.isdisjoint(one.scope)
        for one in lawful(config.authorities)
    )


def orphans(config: Config, state: EpochState) -> tuple[tuple[str, str], ...]:
    """Return the (key, op) pairs whose holders have all exited (FQ28, reading `orphan_scope`)."""
    here = active_agents(config, state)
    if len(here) == len(config.agents):
        return ()
    operations = (WRITE,) if config.readings.orphan_scope == "writes_only" else OPERATIONS
    return tuple(
        [
            (key, operation)
            for key in config.keys
            for operation in operations
            if (held := holders(config, key, operation)) and not any(agent in here for agent in held)
        ]
    )


def is_over(config: Config, state: EpochState) -> bool:
    """Return whether no epoch follows: no agent is left, the epochs are spent, or orphans end it by the reading."""
    return _over(config, state, active_agents(config, state))


def _over(config: Config, state: EpochState, here: tuple[str, ...]) -> bool:
    if not here:
        return True
    if not isinstance(state, State):
        return False
    if config.epochs is not None and state.epoch is not None and state.epoch >= config.epochs:
        return True
    rule = config.readings.orphan_ends_run
    if rule == "no" or not orphans(config, state):
        return False
    held = {one.holder_agent_id for one in lawful(config.authorities) if one.commitment == ALLOW}
    return rule == "at_once" or not any(agent in held for agent in here)


def standing(config: Config, epoch: int | None, agent: str, request: Request) -> Standing:
    """Return the standing of a request of `agent` (C8, FQ2, FQ12, FQ13, FQ27, FQ33, FQ34)."""
    scope, operation, delta = request.declared_scope, request.action_type, request.proposed_delta
    keys = set(config.keys)
    malformed = (
        (request.agent_id is not None and request.agent_id != agent)
        or (request.action_id is not None and request.action_id != true_id(agent, epoch))
        or operation not in OPERATIONS
        or len(scope) == 0
        or len(scope) != len(frozenset(scope))
        or not keys.issuperset(scope)
        or (operation == READ and len(delta) > 0)
        or not keys.issuperset([key for key, _ in delta])
        or len(delta) != len({key for key, _ in delta})
        or any(isinstance(value, Opaque) for _, value in delta)
    )
    authorities = lawful(config.authorities)
    wanted = {(target(key), operation) for key in scope}
    held = [one for one in authorities if one.holder_agent_id == agent]
    foreign = not {one.authority_id for one in held}.issuperset(request.authorities_cited)
    shown = [one.scope for one in held if one.commitment == ALLOW and one.authority_id in request.authorities_cited]
    covered = wanted <= {atom for atoms in shown for atom in atoms}
    vetoed = any(not wanted.isdisjoint(one.scope) for one in authorities if one.commitment == DENY)
    return Standing(malformed, foreign, covered, vetoed, not malformed and not foreign and covered and not vetoed)


def interfering(one: Request, other: Request) -> bool:
    """Return whether two requests share a declared key and at least one of them writes (FQ4, FQ10)."""
    if one.action_type != WRITE and other.action_type != WRITE:
        return False
    scope = other.declared_scope
    return any([key in scope for key in one.declared_scope])


def undeclared(request: Request) -> tuple[str, ...]:
    """Return the keys in a request's delta that it does not declare."""
    return tuple([key for key, _ in request.proposed_delta if key not in request.declared_scope])


def violates(config: Config, before: EpochState, request: Request, known: Facts) -> bool | None:
    """Return whether a request that is executed in this epoch is a scope violation by `scope_check` (C10).

    None where that depends on the order of execution too.
    """
    outside = undeclared(request)
    if not outside:
        return False
    check = config.readings.scope_check
    if check == "before_execution":
        return True
    if check in ("snapshot_diff_only", "joint_diff"):
        world = dict(before.world)
        beside = reaching(known) if check == "joint_diff" else ()
        covered = {key for one in beside for key in one.declared_scope}
        return any(
            world[key] != value for key, value in request.proposed_delta if key in outside and key not in covered
        )
    return None


def asked(config: Config, before: EpochState, action: Epoch) -> tuple[Ask, ...]:
    """Return the requests submitted; none once the run is over."""
    here = active_agents(config, before)
    return () if _over(config, before, here) else _asked(config, before, action, here)


def _asked(config: Config, before: EpochState, action: Epoch, here: tuple[str, ...]) -> tuple[Ask, ...]:
    """The requests submitted: each active agent's first choice, unless it exits or stays silent."""
    asks, heard, known = list[Ask](), list[str](), _STANDINGS.under(config)
    epoch = before.epoch if isinstance(before, State) else None
    for agent, choice in action.choices:
        if agent not in here or agent in heard:
            continue
        heard.append(agent)
        # No `is` here: tables of joint choices watch each instruction of a function that has one.
        if isinstance(choice.request, Request) and not choice.exits:
            place = agent, choice.request, epoch
            found = known.get(place) or known.setdefault(place, standing(config, epoch, agent, choice.request))
            asks.append(Ask(agent, choice.request, found))
    return tuple(asks)


def contested(asks: tuple[Ask, ...]) -> tuple[str, ...]:
    """Return the agents whose request passes pass 1 and interferes with another request that does."""
    if len(asks) < 2:
        return ()
    passing = [ask for ask in asks if ask.standing.passes]
    if len(passing) < 2:
        return ()
    return tuple(
        [
            one.agent
            for place, one in enumerate(passing)
            if any(place != other and interfering(one.request, passing[other].request) for other in range(len(passing)))
        ]
    )


def facts(step: EpochStep) -> Facts:
    """Return the facts that claims about single steps use, computed once per step."""
    return step.once(_facts)


def _facts(step: EpochStep) -> Facts:
    here = active_agents(step.config, step.before)
    over = _over(step.config, step.before, here)
    asks = () if over else _asked(step.config, step.before, step.action, here)
    tokens = dict(step.shown.tokens)
    return Facts(
        here, over, asks, contested(asks), tokens, tuple([ask for ask in asks if tokens.get(ask.agent) == DONE])
    )


def reaching(known: Facts) -> tuple[Request, ...]:
    """Return the requests that pass both passes, which alone are executed."""
    return tuple([ask.request for ask in known.asks if ask.standing.passes and ask.agent not in known.contested])


def some_asked(step: EpochStep) -> bool:
    """Return whether some request was submitted: the antecedent of claims about requests."""
    return bool(facts(step).asks)
