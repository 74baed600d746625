"""The effect of one flag of the envelope, for any number of permissions and flags (P43, §9.7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from evenhand.core.system import AnySystem
from evenhand.core.verdict import Status
from evenhand.model.markspace.layers_vocabulary import (
    ANYWHERE,
    TOKEN,
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
from evenhand.smt.arithmetic import at_least, at_most, below, number, plus
from evenhand.smt.ends import End, Ends, end_at
from evenhand.smt.logic import Formula, Sort, exists, forall, same, variables
from evenhand.smt.preludes import define, mutation, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theory import Axiom, Theory

PERMISSION = Sort("Permission")
p, q = variables(PERMISSION, "p q")
flagged, required = relations("flagged required")
"""The envelope refuses this write; needs already come before every action."""
revoked, asked, everywhere = relations("revoked asked everywhere", PERMISSION)
"""The revoked permissions; the permission that the write needs; the same one in all scopes."""
flags, threshold = numbers("flags threshold")


def _lost(which: Formula) -> Formula:
    return flagged() & which & ~revoked(p)


_counted = plus(flags(), number(1))
ESCALATION = Theory.of(
    "markspace_escalation",
    axioms=(
        Axiom("one_is_asked_for", forall([p, q], (asked(p) & asked(q)) >> same(p, q)), "9.7"),
        Axiom("scopes_are_not_all", forall([p], ~(asked(p) & everywhere(p))), "9.8"),
        Axiom("a_threshold", at_least(threshold(), number(0)) & at_least(flags(), number(0)), "9.7"),
    ),
    definitions=(
        define("lost", (p,), _lost(asked(p)), "9.7: the scope and mark type that was flagged"),
        define("globally", (), flagged() & at_most(threshold(), _counted) & ~required(), "9.7: the threshold"),
        define("enough", (), at_most(threshold(), _counted), "9.7"),
    ),
)
_EVERYWHERE: dict[str, Formula] = {"lost": _lost(asked(p) | everywhere(p))}
_AT_ONCE: dict[str, Formula] = {"globally": flagged() & ~required()}

# Conformance.

CONFIG = LayersConfig(
    frozenset({Layer.BARRIER, Layer.ENVELOPE}), ("alice",), Readings(), capacity=5, baseline=1, samples=2, windows=1
)
"""One observation a window is expected, so the third is a spike, and the fourth is refused."""
WROTE = Operation(Op.WRITE, "alice", "a", Kind.OBSERVATION)
_MENU = (
    WROTE,
    Operation(Op.WRITE, "alice", "c", Kind.NEED),
    Operation(Op.TICK),
    Operation(Op.RESTORE_ALL, "alice", token=TOKEN),
)


def view(taken: LayersStep) -> Structure | None:
    """Return a write in a deployment with only a barrier and an envelope, as a structure."""
    act, config, before, after = taken.action, taken.config, taken.before.barrier, taken.after.barrier
    if act.op is not Op.WRITE or config.layers != CONFIG.layers or before is None or after is None:
        return None
    if act.agent not in config.agents:
        return None
    place = config.agents.index(act.agent)
    one, wide = (act.agent, act.scope, act.kind), (act.agent, ANYWHERE, act.kind)
    named = {key: "/".join((key[0], key[1], key[2].value)) for key in {one, wide} | before.revoked | after.revoked}
    stopped = taken.shown.by is Layer.ENVELOPE
    told = {
        "flagged": stopped,
        "required": (act.agent, ANYWHERE) in before.need_first,
        "revoked": [named[key] for key in before.revoked],
        "asked": [named[one]],
        "everywhere": [named[wide]],
        "lost": [named[key] for key in after.revoked - before.revoked],
        "globally": bool(after.need_first - before.need_first),
        "flags": before.flags[place],
        "threshold": config.threshold,
    }
    said = {"enough": after.flags[place] >= config.threshold} if stopped else {}
    return structure({"Permission": sorted(named.values())}, {**told, **said})


MOST = 60
"""The number of states in which alice writes."""


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield writes from many states, before and after flags, by any variant."""
    for threshold in (2, 1, 0):
        ways = layered(system, replace(CONFIG, threshold=threshold), _MENU, MOST, [WROTE] * 4)
        for state, way in ways.items():
            for scope in ("a", "c"):
                yield end_at(system, way, state, Operation(Op.WRITE, "alice", scope, Kind.OBSERVATION))


_theorem = partial(
    theorem,
    system="layers",
    theory=ESCALATION,
    view=view,
    samples=samples,
    scope="any number of permissions, flags and thresholds",
)

_FIRST = flagged() & at_most(flags(), number(0))

BOUNDED = _theorem(
    claim=layers.escalation_boundedness_p43,
    sentence="A flag revokes the permission that was asked for and no other; needs come first after enough flags.",
    source="P43, 9.7",
    variables=(p,),
    assumes=flagged(),
    goal=(ESCALATION.word("lost", p) >> asked(p)) & (ESCALATION.word("globally") >> ESCALATION.word("enough")),
    witness=exists([p], ESCALATION.word("lost", p)) & below(flags(), threshold()) & ESCALATION.word("globally"),
    mutants=(
        mutation(ESCALATION, faulty.escalates_everywhere, _EVERYWHERE),
        mutation(ESCALATION, faulty.escalates_at_once, _AT_ONCE),
    ),
)

FIRST = _theorem(
    claim=layers.first_flag_restricts_one_scope,
    sentence="The first flag restricts its agent in the flagged scope alone: false with a threshold below two.",
    assumes=_FIRST,
    goal=~ESCALATION.word("globally"),
    expected=Status.REFUTED,
)

SEVERAL = _theorem(
    claim=layers.first_of_several_flags_restricts_one_scope,
    assumes=_FIRST & at_least(threshold(), number(2)),
    goal=~ESCALATION.word("globally"),
    witness=exists([p], ESCALATION.word("lost", p)),
    mutants=(
        mutation(ESCALATION, faulty.escalates_everywhere, _EVERYWHERE, "it is about needs, not about what is revoked"),
        mutation(ESCALATION, faulty.escalates_at_once, _AT_ONCE),
    ),
)
