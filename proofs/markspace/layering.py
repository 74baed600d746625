"""A write or a tool call on its way through the layers, for any numbers of writes and limits (P42, P58, P64 to P66).

The layers are present in any combination.  Whether the envelope finds an agent anomalous, and whether the barrier
revoked what it needs, is given; what follows from it is the theory.  The readings are the default ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from evenhand.core.system import AnySystem
from evenhand.model.markspace import barrier
from evenhand.model.markspace.layers_vocabulary import (
    DIAGNOSTICS,
    PROBE,
    Health,
    Layer,
    LayersConfig,
    LayersStep,
    Op,
    Operation,
    World,
)
from evenhand.model.markspace.marks import Kind
from evenhand.model.markspace.mutants import layers as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.stating import theorem
from evenhand.proofs.markspace.walks import layered
from evenhand.properties.markspace import layers, limits
from evenhand.smt.arithmetic import at_most, below, number, zero
from evenhand.smt.ends import End, Ends, end_at
from evenhand.smt.logic import FALSE, Formula, conjunction, iff
from evenhand.smt.preludes import define, mutation, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theory import Axiom, Theory

writes, executes, lawful, authorised, watched, gated, revoked, anomalous = relations(
    "writes executes lawful authorised watched gated revoked anomalous"
)
"""The attempt: is the kind of mark one that write_mark takes, is the agent one of those that are watched, and so on."""
has_barrier, has_probe, has_envelope, has_rates, has_telemetry = relations(
    "has_barrier has_probe has_envelope has_rates has_telemetry"
)
each_limited, all_limited, busy = relations("each_limited all_limited busy")
"""An agent has a limit, the scope has one; anything was written in the window, by which a mutant goes."""
own, here, each_rate, all_rate = numbers("own here each_rate all_rate")
"""The agent's writes in the scope and window, everybody's, and the limits."""

full, by_rate, by_envelope, accepted = relations("full by_rate by_envelope accepted")
_own_full = each_limited() & at_most(each_rate(), own())
_all_full = all_limited() & at_most(all_rate(), here())
_tried = writes() | executes()
_through = _tried & (executes() | lawful()) & ~gated() & authorised() & ~revoked()
_stopped = by_rate() | by_envelope()
_counts: list[Formula] = [at_most(number(0), one()) for one in (own, each_rate, all_rate)]
LAYERED = Theory.of(
    "markspace_layers",
    axioms=(
        Axiom("one_operation", ~(writes() & executes()), "9.11"),
        Axiom("writes_are_counted", conjunction([*_counts, at_most(own(), here())]), "9.12"),
        Axiom("what_was_written_is_remembered", busy() >> has_rates(), "16"),
        Axiom("canaries_are_of_the_probe", gated() >> (has_probe() & watched()), "9.9"),
        Axiom("revocations_are_of_the_barrier", revoked() >> (has_barrier() & watched()), "9.8"),
    ),
    definitions=(
        define("full", (), _own_full | _all_full, "9.12"),
        define("by_rate", (), writes() & _through & has_rates() & watched() & full(), "9.12: refused for the rate"),
        define(
            "by_envelope",
            (),
            writes() & _through & has_envelope() & watched() & anomalous() & ~by_rate(),
            "9.7: refused as anomalous",
        ),
        define("by_probe", (), _tried & (executes() | lawful()) & gated(), "9.9: a canary is not acknowledged"),
        define(
            "by_barrier",
            (),
            _tried & (executes() | lawful()) & ~gated() & authorised() & revoked(),
            "9.8: a permission is revoked, or a need must come first",
        ),
        define("accepted", (), _through & ~_stopped, "8.1, 9.7 to 9.12"),
        define("stores", (), accepted(), "P42"),
        define("emits", (), has_telemetry() & _tried, "9.11"),
        define("counted", (), writes() & _through & has_envelope() & watched() & ~by_envelope(), "9.7, P64"),
    ),
)
_PARTIAL: dict[str, Formula] = {"stores": _through}
_ACCEPTED: dict[str, Formula] = {"emits": has_telemetry() & accepted()}
_WRITES: dict[str, Formula] = {"emits": has_telemetry() & writes()}
_FLEET: dict[str, Formula] = {"full": _all_full}
_ALONE: dict[str, Formula] = {"full": _own_full}
_EAGER: dict[str, Formula] = {"full": _own_full | _all_full | busy()}
_UNCOUNTED: dict[str, Formula] = {"counted": FALSE}

# Conformance.

_B, _E, _R, _P, _S = Layer.BARRIER, Layer.ENVELOPE, Layer.RATE, Layer.PROBE, Layer.TELEMETRY


def _revoked(world: World, act: Operation) -> bool:
    """Return whether the barrier refuses what the operation needs (9.8)."""
    if world.barrier is None:
        return False
    if act.op is Op.WRITE:
        return not barrier.allows(world.barrier, act.agent, act.scope, act.kind)
    asked = any(agent == act.agent and kind is Kind.NEED for agent, _scope, kind in world.stored)
    waits = barrier.needs_first(world.barrier, act.agent, act.scope) and not asked
    return waits or not barrier.allows(world.barrier, act.agent, act.scope, Kind.ACTION)


def _count(config: LayersConfig, world: World, agent: str) -> int:
    return 0 if world.envelope is None else len(world.envelope.watched[config.agents.index(agent)].now)


def view(taken: LayersStep) -> Structure | None:
    """Return a write or a tool call as a structure; under the default readings no budget looks at it."""
    act, config, before, after, shown = taken.action, taken.config, taken.before, taken.after, taken.shown
    if act.op not in (Op.WRITE, Op.EXECUTE) or config.readings != Readings() or config.sink != "memory":
        return None
    writing, known = act.op is Op.WRITE, act.agent in config.agents
    mark = (act.agent, act.scope, act.kind if writing else Kind.ACTION)
    if after.stored not in (before.stored, (*before.stored, mark)):
        return None
    probes = writing and act.agent == PROBE and act.scope == DIAGNOSTICS
    window = () if before.rates is None else (*before.rates.before, *before.rates.now)
    present = [who for who, where in window if where == act.scope]
    each, every = config.rate
    event = (act.op.value, act.agent, "accepted" if shown.accepted else "rejected")
    more = known and _count(config, after, act.agent) > _count(config, before, act.agent)
    has = {f"has_{name}": config.has(layer) for name, layer in _LAYERS.items()}
    truths = {
        "writes": writing,
        "executes": not writing,
        "lawful": act.kind not in (Kind.INTENT, Kind.ACTION),
        "authorised": probes or (known and act.scope in config.scopes),
        "watched": known,
        "gated": before.probing is not None and act.agent in before.probing.pending,
        "revoked": _revoked(before, act),
        "anomalous": shown.health is Health.RESTRICTED,
        "each_limited": each is not None,
        "all_limited": every is not None,
        "busy": before.rates is not None and bool(before.rates.now),
        "by_rate": shown.by is _R,
        "by_envelope": shown.by is _E,
        "by_probe": shown.by is _P,
        "by_barrier": shown.by is _B,
        "accepted": shown.accepted,
        "stores": after.stored != before.stored,
        "emits": shown.events == (event,),
        "counted": more,
    }
    counts = {"own": present.count(act.agent), "here": len(present), "each_rate": each or 0, "all_rate": every or 0}
    return structure({}, {**has, **truths, **counts})


_LAYERS = {"barrier": _B, "probe": _P, "envelope": _E, "rates": _R, "telemetry": _S}
ALICE = "alice"


MOST, STATES = 9, 16
"""The largest number of writes in a run; the number of states per deployment in which attempts are compared."""


def _config(*present: Layer, agents: tuple[str, ...] = (ALICE, "bob"), **more: Any) -> LayersConfig:
    return LayersConfig(frozenset(present), agents, Readings(), capacity=5, **more)


_CONFIGS = (
    _config(),
    _config(_R, _S, Layer.BUDGET, budget=(0, None)),
    _config(_R, _E, rate=(None, 1), samples=9),
    _config(_B, _E, _R, _S, agents=(ALICE,), rate=(4, None), baseline=1, samples=2),
    _config(_R, _E, rate=(1, 3), samples=9),
    _config(_B, _P, _S, agents=(ALICE,)),
)


@cache
def _menu(config: LayersConfig) -> tuple[Operation, ...]:
    found = [Operation(Op.WRITE, agent, place) for agent in config.agents for place in ("a", "c")]
    found += [Operation(Op.WRITE, ALICE, "a", Kind.INTENT), Operation(Op.WRITE, ALICE, DIAGNOSTICS)]
    found += [Operation(Op.EXECUTE, ALICE, "a"), Operation(Op.WRITE, PROBE, DIAGNOSTICS), Operation(Op.TICK)]
    found += [Operation(Op.NARROW, ALICE, "a")] if config.has(_B) else []
    found += [Operation(Op.INJECT, ALICE)] if config.has(_P) else []
    return tuple(found)


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield writes and tool calls from many states of deployments with several layers, by any variant."""
    for config in _CONFIGS:
        menu, fill = _menu(config), [Operation(Op.WRITE, ALICE, "a")] * 4
        for state, way in layered(system, config, menu, STATES, fill).items():
            yield from (end_at(system, way, state, act) for act in menu if act.op in (Op.WRITE, Op.EXECUTE))


_theorem = partial(
    theorem,
    system="layers",
    theory=LAYERED,
    view=view,
    samples=samples,
    scope="any numbers of writes and limits, and every combination of layers",
)
_says = LAYERED.word
_limited = conjunction([writes(), lawful(), authorised(), watched(), has_rates()])

WHOLE = _theorem(
    claim=layers.write_mark_atomicity_p42,
    assumes=_tried,
    goal=iff(_says("stores"), _says("accepted")),
    witness=_says("by_rate") | _says("by_envelope"),
    mutants=(
        mutation(LAYERED, faulty.partial_writes, _PARTIAL),
        mutation(LAYERED, faulty.rate_limit_too_eager, _EAGER, "it rejects too much, and stores none of it"),
    ),
)
LOGGED = _theorem(
    claim=layers.telemetry_completeness_p58,
    assumes=_tried & has_telemetry(),
    goal=_says("emits"),
    witness=~_says("accepted") & executes(),
    mutants=(
        mutation(LAYERED, faulty.rejections_unlogged, _ACCEPTED),
        mutation(LAYERED, faulty.tool_calls_unlogged, _WRITES),
        mutation(LAYERED, faulty.partial_writes, _PARTIAL, "what is stored is another matter"),
    ),
)
RATED = _theorem(
    claim=limits.rate_limit_enforcement_p64,
    sentence="An agent at its limit is not let through; if the rate limit says so, the envelope counts the attempt.",
    assumes=_limited & _own_full,
    goal=~_says("accepted") & ((_says("by_rate") & has_envelope()) >> _says("counted")),
    witness=_says("by_rate") & has_envelope() & ~zero(each_rate()),
    mutants=(
        mutation(LAYERED, faulty.fleet_cap_alone, _FLEET),
        mutation(LAYERED, faulty.attempts_uncounted, _UNCOUNTED),
        mutation(LAYERED, faulty.no_fleet_cap, _ALONE, "it is about the agent's own limit"),
    ),
)
CAPPED = _theorem(
    claim=limits.rate_limit_fleet_cap_p65,
    assumes=_limited & _all_full,
    goal=~_says("accepted"),
    witness=below(own(), here()) & zero(own()),
    mutants=(
        mutation(LAYERED, faulty.no_fleet_cap, _ALONE),
        mutation(LAYERED, faulty.fleet_cap_alone, _FLEET, "it is about the limit of all"),
    ),
)
APART = _theorem(
    claim=limits.rate_limit_independence_p66,
    sentence="No absent layer refuses; the rate limit refuses only where a limit is reached, the envelope only what it "
    "finds anomalous.",
    goal=conjunction(
        [
            _says("by_rate") >> (has_rates() & (_own_full | _all_full)),
            _says("by_envelope") >> (has_envelope() & anomalous()),
            _says("by_probe") >> has_probe(),
            _says("by_barrier") >> has_barrier(),
        ]
    ),
    needs=("canaries_are_of_the_probe", "revocations_are_of_the_barrier"),
    witness=_says("by_envelope"),
    mutants=(
        mutation(LAYERED, faulty.rate_limit_too_eager, _EAGER),
        mutation(LAYERED, faulty.no_fleet_cap, _ALONE, "it refuses too little"),
    ),
)
