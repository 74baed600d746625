"""Faults by which the kernel, and not the agents, settles a collision (F17)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.cud.kernel import REFERENCE, Bound, Moment
from evenhand.model.cud.mutants.declare import KEYS, PAIR, RELAXED_FROM, TWICE, declare, fault, share_a_key
from evenhand.model.cud.vocabulary import FAILURE, READ, WRITE, Config, Request, State

Collide: TypeAlias = Callable[[Request, Request], bool]
Refuse: TypeAlias = Callable[[Config, Moment, tuple[Bound, ...], Collide], tuple[str, ...]]
Rank: TypeAlias = Callable[[Config, Moment, int, Bound], Any]


def _winner(rank: Rank) -> Refuse:
    """Of requests that interfere, execute the one of lowest rank; equal ranks are all refused."""

    def refuse(config: Config, now: Moment, contenders: tuple[Bound, ...], collide: Collide) -> tuple[str, ...]:
        ranks = [rank(config, now, place, bound) for place, bound in enumerate(contenders)]
        return tuple(
            one.agent
            for i, one in enumerate(contenders)
            if any(
                collide(one.request, other.request) and not ranks[i] < ranks[j]
                for j, other in enumerate(contenders)
                if i != j
            )
        )

    return refuse


tie_break_by_name = declare(
    "tie_break_by_name",
    "Of colliding requests the one of the first agent by name is executed.",
    "F17, FQ4",
    "run",
    PAIR,
    refuse=_winner(lambda _config, _now, _place, bound: bound.agent),
)

tie_break_by_submission_order = declare(
    "tie_break_by_submission_order",
    "Of colliding requests the one submitted first is executed.",
    "F17, D13",
    "run",
    PAIR,
    refuse=_winner(lambda _config, _now, place, _bound: place),
)

tie_break_by_value = declare(
    "tie_break_by_value",
    "Of colliding writes the one with the smallest value is executed.",
    "F17, FQ3",
    "run",
    PAIR,
    refuse=_winner(lambda _config, _now, _place, bound: tuple(str(value) for _, value in bound.request.proposed_delta)),
)

tie_break_by_action_id = declare(
    "tie_break_by_action_id",
    "Of colliding requests the one with the lowest action_id is executed (condition E).",
    "FQ23",
    "run",
    PAIR,
    refuse=_winner(lambda _config, _now, _place, bound: bound.action_id),
)

hidden_priority = declare(
    "hidden_priority",
    "The kernel keeps a rank of agents, the last one first.",
    "F17",
    "run",
    PAIR,
    refuse=_winner(lambda config, _now, _place, bound: -config.agents.index(bound.agent)),
)

round_robin = declare(
    "round_robin",
    "Colliding agents win in turns: fair arbitration is arbitration.",
    "F17, FQ4",
    "run",
    PAIR,
    refuse=_winner(
        lambda config, now, _place, bound: (config.agents.index(bound.agent) + (now.epoch or 0)) % len(config.agents)
    ),
)


def _last_tokens(config: Config, state: State) -> tuple[tuple[str, str | None], ...]:
    """Return each agent's last token: the past that an honest kernel does not know."""
    return tuple((name, agent.last) for name, agent in zip(config.agents, state.agents, strict=True))


most_refused_wins = declare(
    "most_refused_wins",
    "Of colliding requests the one is executed whose agent was refused last time.",
    "F17, FQ3",
    "run",
    TWICE,
    history=_last_tokens,
    refuse=_winner(lambda _config, now, _place, bound: dict(now.history).get(bound.agent) != FAILURE),
)

narrowest_wins = declare(
    "narrowest_wins",
    "Of colliding requests the one with the fewest declared keys is executed.",
    "F17, D12",
    "run",
    KEYS,
    refuse=_winner(lambda _config, _now, _place, bound: len(bound.request.declared_scope)),
)


@fault("refuse", "D12", "run", Scope(agents=3, keys=1, epochs=1))
def most_executions(config: Config, now: Moment, contenders: tuple[Bound, ...], collide: Collide) -> tuple[str, ...]:
    """The largest set of requests without interference is executed."""
    # Where it is the only one of its size (D12).
    for size in range(len(contenders), 0, -1):
        quiet = [
            picked
            for picked in itertools.combinations(contenders, size)
            if not any(collide(one.request, other.request) for one, other in itertools.combinations(picked, 2))
        ]
        if len(quiet) == 1:
            return tuple(bound.agent for bound in contenders if bound not in quiet[0])
        if quiet:
            break
    return REFERENCE.refuse(config, now, contenders, collide)


reader_beats_writer = declare(
    "reader_beats_writer",
    "A READ is executed and the WRITE it collides with refused.",
    "FQ10",
    "run",
    PAIR,
    refuse=_winner(lambda _config, _now, _place, bound: bound.request.action_type != READ),
)

writer_beats_reader = declare(
    "writer_beats_reader",
    "A WRITE is executed and the READ it collides with refused.",
    "FQ10",
    "run",
    PAIR,
    refuse=_winner(lambda _config, _now, _place, bound: bound.request.action_type == READ),
)


@fault("interfere", "D13", "run", PAIR)
def last_writer_wins(one: Request, other: Request) -> bool:
    """Two WRITEs of one key are both executed, the last one stays."""
    return {one.action_type, other.action_type} == {READ, WRITE} and share_a_key(one, other)


@fault("interfere", "FQ10", "run", PAIR)
def reads_never_collide(one: Request, other: Request) -> bool:
    """A READ and a WRITE of one key are both executed."""
    return one.action_type == other.action_type == WRITE and share_a_key(one, other)


@fault("interfere", "FQ4", "run", KEYS)
def first_key_only_collides(one: Request, other: Request) -> bool:
    """Only the first declared keys are compared for interference."""
    return REFERENCE.interfere(
        replace(one, declared_scope=one.declared_scope[:1]), replace(other, declared_scope=other.declared_scope[:1])
    )


@fault("refuse", "FQ4", "run", PAIR)
def one_key_exempt(config: Config, now: Moment, contenders: tuple[Bound, ...], collide: Collide) -> tuple[str, ...]:
    """The first key takes no part in interference."""
    exempt = config.keys[0]

    def without(request: Request) -> Request:
        return replace(request, declared_scope=tuple(key for key in request.declared_scope if key != exempt))

    return REFERENCE.refuse(config, now, contenders, lambda one, other: collide(without(one), without(other)))


def _ignore_collisions_later(
    config: Config, now: Moment, contenders: tuple[Bound, ...], collide: Collide
) -> tuple[str, ...]:
    """From epoch `RELAXED_FROM` on, interference refuses no request."""
    return () if (now.epoch or 0) >= RELAXED_FROM else REFERENCE.refuse(config, now, contenders, collide)


relaxed_after_k = declare(
    "relaxed_after_k",
    f"From epoch {RELAXED_FROM} on interference refuses nobody.",
    "F17",
    "run",
    TWICE,
    refuse=_ignore_collisions_later,
)


@fault("resolve", "F17", "run", KEYS)
def resolver_rewrites(config: Config, contenders: tuple[Bound, ...], collide: Collide) -> tuple[Bound, ...]:
    """Of two colliding requests one is rewritten onto a free key."""
    # The second by name, onto a key that nobody declares.
    free = [key for key in config.keys if not any(key in bound.request.declared_scope for bound in contenders)]
    done: list[Bound] = []
    for bound in contenders:
        before = [other for other in contenders if other.agent < bound.agent]
        if free and any(collide(bound.request, other.request) for other in before):
            key = free.pop(0)
            delta = tuple((key, value) for _, value in bound.request.proposed_delta[:1])
            done.append(replace(bound, request=replace(bound.request, declared_scope=(key,), proposed_delta=delta)))
        else:
            done.append(bound)
    return tuple(done)
