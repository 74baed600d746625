"""Faults of structure, of execution, and of refusing too much (C8, C10, FQ10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from evenhand.core.atoms import Atom
from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.cud.kernel import REFERENCE, Bound, Execution, Finding, Moment
from evenhand.model.cud.mutants.declare import KEYS, ONE, PAIR, THREE, THRICE, declare, fault, share_a_key
from evenhand.model.cud.vocabulary import READ, WRITE, Authority, Config, Request, State, World

Collide: TypeAlias = Callable[[Request, Request], bool]

_MENDED: Mapping[str, Callable[[Config, Request], Request]] = {
    "empty declared_scope": lambda config, asked: replace(asked, declared_scope=config.keys[:1]),
    "duplicate key in declared_scope": lambda _config, asked: replace(
        asked, declared_scope=tuple(dict.fromkeys(asked.declared_scope))
    ),
    "unknown key in declared_scope": lambda config, asked: replace(asked, declared_scope=config.keys[:1]),
    "unknown action_type": lambda _config, asked: replace(asked, action_type=WRITE),
    "value that is no JSON primitive": lambda _config, asked: replace(asked, proposed_delta=()),
    "forged action_id": lambda _config, asked: replace(asked, action_id=None),
    "READ with a proposed_delta": lambda _config, asked: replace(asked, action_type=WRITE),
}
"""Each request without one fault, so that a kernel that forgives that fault still sees the others."""


def _forgiving(reason: str) -> Callable[[Config, Bound], str]:
    """Return structural validation that lets this one fault pass, and no other that it would hide."""

    def malformed(config: Config, bound: Bound) -> str:
        why = REFERENCE.malformed(config, bound)
        if why != reason:
            return why
        return REFERENCE.malformed(config, replace(bound, request=_MENDED[reason](config, bound.request)))

    return malformed


empty_scope_passes = declare(
    "empty_scope_passes",
    "A request that declares no key is well-formed.",
    "FQ13",
    "universe",
    ONE,
    malformed=_forgiving("empty declared_scope"),
)


def _refuse_duplicates(config: Config, now: Moment, contenders: tuple[Bound, ...], collide: Collide) -> tuple[str, ...]:
    """A key declared twice collides with itself."""
    refused = REFERENCE.refuse(config, now, contenders, collide)
    return tuple(
        bound.agent
        for bound in contenders
        if bound.agent in refused or len(set(bound.request.declared_scope)) < len(bound.request.declared_scope)
    )


duplicate_key_collides_with_itself = declare(
    "duplicate_key_collides_with_itself",
    "A key declared twice is no malformed scope but a collision.",
    "FQ4, FQ13",
    "universe",
    ONE,
    malformed=_forgiving("duplicate key in declared_scope"),
    refuse=_refuse_duplicates,
)

unknown_key_passes, unknown_type_passes, opaque_value_passes, forged_action_id_passes, read_with_delta_writes = (
    declare(name, sentence, source, "universe", ONE, malformed=_forgiving(reason))
    for name, sentence, source, reason in (
        ("unknown_key_passes", "A key that does not exist may be declared.", "FQ7", "unknown key in declared_scope"),
        ("unknown_type_passes", "An action type outside the enum is well-formed.", "FQ2", "unknown action_type"),
        (
            "opaque_value_passes",
            "A value that is no JSON primitive is well-formed.",
            "B5",
            "value that is no JSON primitive",
        ),
        ("forged_action_id_passes", "A request may name an action_id of its own.", "FQ1", "forged action_id"),
        (
            "read_with_delta_writes",
            "A READ may carry a delta, which is then written.",
            "FQ12",
            "READ with a proposed_delta",
        ),
    )
)
"""Kernels that let one structural fault pass."""


@fault("execute", "FQ12", "universe", ONE)
def read_writes(config: Config, world: World, admitted: tuple[Bound, ...]) -> Execution:
    """A READ stamps the keys it reads."""
    honest = REFERENCE.execute(config, world, admitted)
    after = dict(honest.world)
    for bound in admitted:
        if bound.request.action_type == READ:
            after.update({key: Atom("str", "read") for key in bound.request.declared_scope if key in after})
    return Execution(tuple(after.items()), honest.violators)


def _delta(bound: Bound) -> dict[str, Atom]:
    return {key: value for key, value in bound.request.proposed_delta if isinstance(value, Atom)}


@fault("execute", "C10", "run", Scope(agents=1, keys=2, epochs=1))
def scope_not_checked(_config: Config, world: World, admitted: tuple[Bound, ...]) -> Execution:
    """What a request changes is not compared with its scope."""
    after = dict(world)
    for bound in admitted:
        after.update(_delta(bound))
    return Execution(tuple(after.items()))


@fault("execute", "C10", "run", Scope(agents=1, keys=2, epochs=1))
def violation_stays(config: Config, world: World, admitted: tuple[Bound, ...]) -> Execution:
    """A scope violation is reported, and what it wrote stays."""
    unscoped = scope_not_checked.rules.execute(config, world, admitted)
    return Execution(unscoped.world, REFERENCE.execute(config, world, admitted).violators)


@fault("execute", "C10", "run", KEYS)
def fault_spreads(config: Config, world: World, admitted: tuple[Bound, ...]) -> Execution:
    """One scope violation undoes and blames every request."""
    honest = REFERENCE.execute(config, world, admitted)
    return Execution(world, tuple(sorted(bound.agent for bound in admitted))) if honest.violators else honest


@fault("execute", "B7", "run", KEYS)
def lost_update(config: Config, world: World, admitted: tuple[Bound, ...]) -> Execution:
    """Each request works on a copy of the world, and the last copy is kept."""
    honest = REFERENCE.execute(config, world, admitted)
    return Execution(REFERENCE.execute(config, world, admitted[-1:]).world, honest.violators)


@fault("refuse", "FQ4, FQ25", "run", THREE)
def refuse_all_if_any_collides(
    config: Config, now: Moment, contenders: tuple[Bound, ...], collide: Collide
) -> tuple[str, ...]:
    """One collision refuses every request of the epoch."""
    collided = REFERENCE.refuse(config, now, contenders, collide)
    return tuple(bound.agent for bound in contenders) if collided else ()


@fault("contends", "FQ4", "run", PAIR)
def pass_two_over_all(_finding: Finding) -> bool:
    """Requests that failed pass 1 collide too."""
    return True


readers_collide = declare(
    "readers_collide", "Two READs of one key interfere.", "FQ10", "run", PAIR, interfere=share_a_key
)


def _locked_by_the_gone(
    config: Config, now: Moment, contenders: tuple[Bound, ...], collide: Collide
) -> tuple[str, ...]:
    """A request of a key that an exited agent declared last is refused; needs `last_scopes_of_the_gone`."""
    locked = [key for _, key in now.history]
    refused = REFERENCE.refuse(config, now, contenders, collide)
    return tuple(
        bound.agent
        for bound in contenders
        if bound.agent in refused or any(key in locked for key in bound.request.declared_scope)
    )


def _last_scopes_of_the_gone(config: Config, state: State) -> tuple[tuple[str, str | None], ...]:
    """Return (agent, key) for every key that an exited agent declared in its last request."""
    return tuple(
        (name, key)
        for name, agent in zip(config.agents, state.agents, strict=True)
        if not agent.active
        for key in agent.last_scope or ()
    )


exit_keeps_a_lock = declare(
    "exit_keeps_a_lock",
    "The keys that an agent declared last stay locked when it exits.",
    "FQ24, FQ28",
    "run",
    THRICE,
    history=_last_scopes_of_the_gone,
    refuse=_locked_by_the_gone,
)


@fault("vetoed", "FQ3, FQ27", "universe", ONE)
def deny_blocks_both_operations(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    """A DENY of one operation stops the other too."""
    return any(
        REFERENCE.vetoed(authorities, replace(bound, request=replace(bound.request, action_type=operation)))
        for operation in (READ, WRITE)
    )
