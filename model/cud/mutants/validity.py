"""Faults of structure, of execution, and of refusing too much (C8, C10, FQ10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from evenhand.core.atoms import Atom
from evenhand.core.system import Mutant, Scope
from evenhand.model.cud.kernel import REFERENCE, Bound, Execution, Finding, Moment, Rules
from evenhand.model.cud.mutants.declare import KEYS, ONE, PAIR, THREE, THRICE, declare, share_a_key
from evenhand.model.cud.vocabulary import READ, WRITE, Authority, Config, Request, State, World

__all__ = ["VALIDITY"]

Collide: TypeAlias = Callable[[Request, Request], bool]


def _refuse_all_or_none(
    config: Config, now: Moment, contenders: tuple[Bound, ...], collide: Collide
) -> tuple[str, ...]:
    collided = REFERENCE.refuse(config, now, contenders, collide)
    return tuple(bound.agent for bound in contenders) if collided else ()


def _refuse_duplicates(config: Config, now: Moment, contenders: tuple[Bound, ...], collide: Collide) -> tuple[str, ...]:
    """A key declared twice collides with itself."""
    refused = REFERENCE.refuse(config, now, contenders, collide)
    return tuple(
        bound.agent
        for bound in contenders
        if bound.agent in refused or len(set(bound.request.declared_scope)) < len(bound.request.declared_scope)
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


def _deny_blocks_both_operations(authorities: tuple[Authority, ...], bound: Bound) -> bool:
    return any(
        REFERENCE.vetoed(authorities, replace(bound, request=replace(bound.request, action_type=operation)))
        for operation in (READ, WRITE)
    )


def _delta(bound: Bound) -> dict[str, Atom]:
    return {key: value for key, value in bound.request.proposed_delta if isinstance(value, Atom)}


def _unscoped(_config: Config, world: World, admitted: tuple[Bound, ...]) -> Execution:
    """Apply everything, check no scope."""
    after = dict(world)
    for bound in admitted:
        after.update(_delta(bound))
    return Execution(tuple(after.items()))


def _keep_violations(config: Config, world: World, admitted: tuple[Bound, ...]) -> Execution:
    """A scope violation is reported, and its writes stay."""
    return Execution(_unscoped(config, world, admitted).world, REFERENCE.execute(config, world, admitted).violators)


def _blame_everyone(config: Config, world: World, admitted: tuple[Bound, ...]) -> Execution:
    honest = REFERENCE.execute(config, world, admitted)
    return Execution(world, tuple(sorted(bound.agent for bound in admitted))) if honest.violators else honest


def _drop_all_but_last(config: Config, world: World, admitted: tuple[Bound, ...]) -> Execution:
    honest = REFERENCE.execute(config, world, admitted)
    return Execution(REFERENCE.execute(config, world, admitted[-1:]).world, honest.violators)


def _read_leaves_a_mark(config: Config, world: World, admitted: tuple[Bound, ...]) -> Execution:
    honest = REFERENCE.execute(config, world, admitted)
    after = dict(honest.world)
    for bound in admitted:
        if bound.request.action_type == READ:
            after.update({key: Atom("str", "read") for key in bound.request.declared_scope if key in after})
    return Execution(tuple(after.items()), honest.violators)


def _everything(_finding: Finding) -> bool:
    return True


VALIDITY: tuple[Mutant[Rules], ...] = (
    declare(
        "empty_scope_passes",
        "A request that declares no key is well-formed.",
        "FQ13",
        "universe",
        ONE,
        malformed=_forgiving("empty declared_scope"),
    ),
    declare(
        "duplicate_key_collides_with_itself",
        "A key declared twice is no malformed scope but a collision.",
        "FQ4, FQ13",
        "universe",
        ONE,
        malformed=_forgiving("duplicate key in declared_scope"),
        refuse=_refuse_duplicates,
    ),
    declare(
        "unknown_key_passes",
        "A key that does not exist may be declared.",
        "FQ7",
        "universe",
        ONE,
        malformed=_forgiving("unknown key in declared_scope"),
    ),
    declare(
        "unknown_type_passes",
        "An action type outside the enum is well-formed.",
        "FQ2",
        "universe",
        ONE,
        malformed=_forgiving("unknown action_type"),
    ),
    declare(
        "opaque_value_passes",
        "A value that is no JSON primitive is well-formed.",
        "B5",
        "universe",
        ONE,
        malformed=_forgiving("value that is no JSON primitive"),
    ),
    declare(
        "forged_action_id_passes",
        "A request may name an action_id of its own.",
        "FQ1",
        "universe",
        ONE,
        malformed=_forgiving("forged action_id"),
    ),
    declare(
        "read_with_delta_writes",
        "A READ may carry a delta, which is then written.",
        "FQ12",
        "universe",
        ONE,
        malformed=_forgiving("READ with a proposed_delta"),
    ),
    declare("read_writes", "A READ stamps the keys it reads.", "FQ12", "universe", ONE, execute=_read_leaves_a_mark),
    declare(
        "scope_not_checked",
        "What a request changes is not compared with its scope.",
        "C10",
        "run",
        Scope(agents=1, keys=2, epochs=1),
        execute=_unscoped,
    ),
    declare(
        "violation_stays",
        "A scope violation is reported, and what it wrote stays.",
        "C10",
        "run",
        Scope(agents=1, keys=2, epochs=1),
        execute=_keep_violations,
    ),
    declare(
        "fault_spreads",
        "One scope violation undoes and blames every request.",
        "C10",
        "run",
        KEYS,
        execute=_blame_everyone,
    ),
    declare(
        "lost_update",
        "Each request works on a copy of the world, and the last copy is kept.",
        "B7",
        "run",
        KEYS,
        execute=_drop_all_but_last,
    ),
    declare(
        "refuse_all_if_any_collides",
        "One collision refuses every request of the epoch.",
        "FQ4, FQ25",
        "run",
        THREE,
        refuse=_refuse_all_or_none,
    ),
    declare(
        "pass_two_over_all",
        "Requests that failed pass 1 collide too.",
        "FQ4",
        "run",
        PAIR,
        contends=_everything,
    ),
    declare(
        "readers_collide",
        "Two READs of one key interfere.",
        "FQ10",
        "run",
        PAIR,
        interfere=share_a_key,
    ),
    declare(
        "exit_keeps_a_lock",
        "The keys that an agent declared last stay locked when it exits.",
        "FQ24, FQ28",
        "run",
        THRICE,
        history=_last_scopes_of_the_gone,
        refuse=_locked_by_the_gone,
    ),
    declare(
        "deny_blocks_both_operations",
        "A DENY of one operation stops the other too.",
        "FQ3, FQ27",
        "universe",
        ONE,
        vetoed=_deny_blocks_both_operations,
    ),
)
"""Faults of structure, of execution, and of refusing too much (C8, C10, FQ10)."""
