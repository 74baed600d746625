"""The answer of the envelope, for any number of agents and windows (P40, P41, §9.7).

Whether what an agent does is strange (a spike or a shift) or concentrated is given; the theory says what the envelope
makes of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

from evenhand.core.system import AnySystem
from evenhand.model.markspace import envelope
from evenhand.model.markspace.layers_vocabulary import (
    TOKEN,
    Envelope,
    Health,
    Layer,
    LayersConfig,
    LayersStep,
    Op,
    Operation,
)
from evenhand.model.markspace.marks import Kind
from evenhand.model.markspace.mutants import layers as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace.stating import theorem
from evenhand.proofs.markspace.walks import layered
from evenhand.properties.markspace import layers
from evenhand.smt.arithmetic import at_most, below
from evenhand.smt.ends import End, Ends, end_at
from evenhand.smt.logic import FALSE, Formula, Function, Sort, exists, forall, same, variables
from evenhand.smt.preludes import define, mutation, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theory import Theory

AGENT = Sort("Agent")
(a,) = variables(AGENT, "a")
by = Function("by", (), AGENT)
"""The agent that is checked, that writes, or that is to be reset."""
(restricted,) = relations("restricted", AGENT)
checks, judged, resets, principal = relations("checks judged resets principal")
"""A check is asked for; a write is checked; a reset is asked for; the token is the principal's."""
declared, strange, concentrated, tried = relations("declared strange concentrated tried")
"""A baseline is declared; what the detector finds of the agent; whether it tried anything in this window."""
samples_needed, windows = numbers("samples_needed windows")

_asked = checks() | judged()
_cold = ~declared() & below(windows(), samples_needed())
_held = restricted(by())


def _answers(held: Formula, odd: Formula, other: Formula) -> dict[str, Formula]:
    """Return when the answer is RESTRICTED and when NORMAL: who is held, what is odd, what else is not normal."""
    return {"says_restricted": _asked & (held | odd), "says_normal": _asked & ~(held | odd | other)}


_USUAL = _answers(_held, ~_cold & strange(), ~_cold & concentrated())
(says_restricted,) = relations("says_restricted")
_freed = resets() & principal() & same(a, by())
WATCHED = Theory.of(
    "markspace_envelope",
    tried,
    definitions=(
        *(define(name, (), body, "9.7") for name, body in _USUAL.items()),
        define("remains", (a,), ~_freed & (restricted(a) | (same(a, by()) & says_restricted())), "9.7: sticky"),
    ),
)
_FORGOTTEN = _answers(FALSE, ~_cold & strange(), ~_cold & concentrated())
_HASTY = _answers(_held, (~_cold & strange()) | (_cold & tried()), ~_cold & concentrated())
_BLIND = _answers(FALSE, FALSE, FALSE)

# Conformance.

CONFIG = LayersConfig(
    frozenset({Layer.ENVELOPE}), ("alice", "bob", "carol"), Readings(), scopes=("a",), capacity=5, baseline=1, samples=9
)
"""One observation a window is expected, so the third is a spike."""
_LATER = replace(CONFIG, baseline=None, samples=1)
_DENSE = replace(CONFIG, baseline=None, samples=0, windows=0)
_NEVER = replace(CONFIG, baseline=None, samples=9)


def _odd(config: LayersConfig, before: Envelope, agent: str) -> tuple[bool, bool]:
    """Return whether an agent is strange, and whether it would be flagged for concentration alone."""
    watched = before.watched[config.agents.index(agent)]
    both = (Kind.OBSERVATION, Kind.NEED)
    strange = any(envelope.spikes(config, watched, kind) for kind in both) or envelope.shifted(config, watched)
    return strange, envelope.check(config, before, agent) is Health.FLAGGED


def view(taken: LayersStep) -> Structure | None:
    """Return a step of a deployment whose only layer is the envelope, as a structure."""
    act, config, before, after = taken.action, taken.config, taken.before.envelope, taken.after.envelope
    if config.layers != CONFIG.layers or config.readings != Readings() or before is None or after is None:
        return None
    known = act.agent in config.agents
    agent = act.agent if known else config.agents[0]
    watched = before.watched[config.agents.index(agent)]
    strange, concentrated = _odd(config, before, agent)
    health = taken.shown.health
    told = {
        "checks": known and act.op is Op.CHECK,
        "judged": act.op is Op.WRITE and health is not None,
        "resets": known and act.op is Op.RESET,
        "principal": act.token == TOKEN,
        "declared": config.baseline is not None,
        "strange": strange,
        "concentrated": concentrated,
        "tried": bool(watched.now),
        "says_restricted": health is Health.RESTRICTED,
        "says_normal": health is Health.NORMAL,
        "by": agent,
        "samples_needed": config.samples,
        "windows": len(watched.past),
    }
    held = {
        name: [who for who, one in zip(config.agents, side.watched, strict=True) if one.restricted]
        for name, side in (("restricted", before), ("remains", after))
    }
    return structure({"Agent": config.agents}, {**told, **held})


MOST = 40
"""The number of states per deployment in which every operation is compared."""


@cache
def _menu(config: LayersConfig) -> tuple[Operation, ...]:
    found = [Operation(Op.WRITE, "alice", "a"), Operation(Op.WRITE, "bob", "a", Kind.NEED), Operation(Op.TICK)]
    found += [Operation(Op.CHECK, agent) for agent in config.agents]
    found += [Operation(Op.RESET, "alice", token=token) for token in (TOKEN, "forged")]
    return tuple(found)


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield every operation in many states of four deployments, by any variant."""
    for config in (CONFIG, _LATER, _DENSE, _NEVER):
        spike = [Operation(Op.WRITE, "alice", "a")] * 3
        held = (*spike, Operation(Op.CHECK, "alice"), Operation(Op.TICK), Operation(Op.TICK))
        dense = [Operation(Op.WRITE, agent, "a") for agent in config.agents]
        menu = _menu(config)
        for state, way in layered(system, config, menu, MOST, held, dense).items():
            yield from (end_at(system, way, state, act) for act in menu)


_theorem = partial(
    theorem,
    system="layers",
    theory=WATCHED,
    view=view,
    samples=samples,
    scope="any number of agents and windows",
)
_says = WATCHED.word

STICKY = _theorem(
    claim=layers.envelope_monotonicity_p40,
    goal=forall([a], (restricted(a) & ~_freed) >> _says("remains", a))
    & ((checks() & _held) >> _says("says_restricted")),
    witness=exists([a], restricted(a) & ~_says("remains", a)),
    mutants=(
        mutation(WATCHED, faulty.restriction_forgotten, _FORGOTTEN),
        mutation(WATCHED, faulty.cold_start_flags, _HASTY, "it restricts too many"),
    ),
)
COLD = _theorem(
    claim=layers.envelope_cold_start_safety_p41,
    sentence="Without enough completed windows and a declared baseline an agent that is not restricted is NORMAL.",
    assumes=_asked & _cold & ~_held,
    goal=_says("says_normal"),
    witness=strange() & tried() & at_most(windows(), samples_needed()),
    mutants=(
        mutation(WATCHED, faulty.cold_start_flags, _HASTY),
        mutation(WATCHED, faulty.restriction_forgotten, _FORGOTTEN, "nobody that is cold is restricted"),
        mutation(WATCHED, faulty.detector_blind, _BLIND, "it answers NORMAL more often"),
    ),
)
