"""The livelock counter of the free agents, for runs of any length with any number of agents and keys.

The counter depends only on the events of an epoch (`Happened`), so its theory has no sorts; each step chooses these
events freely, within the axioms.  A number from 0 to 3 is three propositions, "at least 1", "at least 2" and "at least
3".
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

from evenhand.core.atoms import Atom
from evenhand.core.system import System
from evenhand.model.cud.kernel import LIVELOCK_EPOCHS
from evenhand.model.cud.mutants import reporting
from evenhand.model.cud.vocabulary import NO_CHOICE, Config, Epoch
from evenhand.properties.cud import liveness
from evenhand.properties.cud.scenes import reading, writing
from evenhand.smt.logic import FALSE, Definition, Formula, Relation, conjunction, iff, ite
from evenhand.smt.preludes import Faults, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import props
from evenhand.smt.theorem import Lemma
from evenhand.smt.theory import Axiom, Theory
from evenhand.smt.transitions.invariant import Invariant, Steps
from evenhand.smt.transitions.machine import Machine, after

takes_place, attempted, refused, collided, changed = relations("takes_place attempted refused collided changed")
COUNT = relations("count_1 count_2 count_3")
"""The livelock counter is at least 1, 2, 3."""

STUCK, QUIET = relations("stuck_1 stuck_2 stuck_3"), relations("quiet_1 quiet_2 quiet_3")
"""The number of consecutive epochs, up to now, that counted towards livelock; that changed nothing: the claims'
memory."""

counts, resets = relations("counts resets")
_COUNTS = Definition(counts, (), collided() & ~changed(), "FQ34: a pass-2 refusal, and no change of state")
_RESETS = Definition(resets, (), ~counts(), "FQ34: in a row")


def _streak(of: Sequence[Relation], goes_on: Formula, stays: Formula = FALSE) -> list[Formula]:
    """Return that the streak grows by one where it `goes_on`, is unchanged where it `stays`, and is 0 otherwise."""
    less = [None, *of[:-1]]
    return [
        iff(after(one)(), (goes_on & before() | (stays & one())) if before is not None else goes_on | (stays & one()))
        for one, before in zip(of, less, strict=True)
    ]


_EPOCH = conjunction(
    [
        *_streak(COUNT, counts(), ~counts() & ~resets()),
        *_streak(STUCK, collided() & ~changed()),
        *_streak(QUIET, ~changed()),
    ]
)
_REMEMBERED = (*STUCK, *QUIET)
_STATE = (*COUNT, *_REMEMBERED)

COUNTER = Machine(
    theory=Theory(
        name="cud_livelock_counter",
        sorts=(),
        functions=(),
        relations=(takes_place, attempted, refused, collided, changed, *_STATE),
        axioms=(
            Axiom("who_collides_attempts", collided() >> attempted(), "FQ4: pass 2 is over requests"),
            Axiom("who_is_refused_attempts", refused() >> attempted(), "FQ27: pass 1 is over requests"),
            Axiom("who_changes_attempts", changed() >> attempted(), "C10: only what is executed changes the world"),
            Axiom("nothing_without_an_epoch", attempted() >> takes_place(), "FQ31: requests are made in epochs"),
        ),
        definitions=(_COUNTS, _RESETS),
    ),
    state=tuple(relation.name for relation in _STATE),
    inputs=("takes_place", "attempted", "refused", "collided", "changed"),
    init=conjunction(~relation() for relation in _STATE),
    step=ite(takes_place(), _EPOCH, conjunction(iff(after(relation)(), relation()) for relation in _STATE)),
)


def view(run: Steps, number: int) -> Structure:
    """Return step `number` of a run of the free agents, with the memory of the claim."""
    stuck = quiet = 0
    past: list[tuple[int, int]] = []
    for step in run[: number + 1]:
        past.append((stuck, quiet))
        if step.shown.tokens:
            still = step.before.world == step.after.world
            stuck = min(LIVELOCK_EPOCHS, stuck + 1) if still and step.shown.happened.collided else 0
            quiet = min(LIVELOCK_EPOCHS, quiet + 1) if still else 0
    step, happened = run[number], run[number].shown.happened
    said = {
        "takes_place": bool(step.shown.tokens),
        "attempted": happened.attempted,
        "refused": happened.refused,
        "collided": happened.collided,
        "changed": happened.changed,
    }
    for end, counter, one, other in (
        ("", step.before.counter, *past[number]),
        (".after", step.after.counter, stuck, quiet),
    ):
        for words, value in ((COUNT, counter), (STUCK, one), (QUIET, other)):
            said |= {f"{word.name}{end}": value >= n for n, word in enumerate(words, start=1)}
    return Structure({}, props(said))


_VALUE = Atom("int", "1")


def _epoch(
    config: Config, number: int, *, takes_place: bool, collides: bool, refuses: bool, changes: bool, reads: bool
) -> Epoch:
    """Return an epoch: two collide on the first key, the last is refused, the third changes or reads the second key."""
    if not takes_place:
        return Epoch(())
    one, two, three, four = config.agents
    first, second = config.keys

    made = dict.fromkeys(config.agents, NO_CHOICE)
    for agent in (one, two) if collides else ():
        made[agent] = writing(config, agent, (first, _VALUE))
    if refuses:
        made[four] = writing(config, four, (first, _VALUE))
    if changes:
        made[three] = writing(config, three, (second, Atom("int", str(number + 1))))
    elif reads and not (collides or refuses):
        made[three] = reading(config, three, second)
    return Epoch(tuple(made.items()))


_KINDS: tuple[dict[str, bool], ...] = tuple(
    {"takes_place": place, "collides": collides, "refuses": refuses, "changes": changes, "reads": reads}
    for place, collides, refuses, changes, reads in (
        (False, False, False, False, False),
        (True, False, False, False, False),
        (True, True, False, False, False),
        (True, True, False, True, False),
        (True, False, True, False, False),
        (True, False, False, True, False),
        (True, False, False, False, True),
        (True, True, True, True, True),
    )
)
DRAWN = 40
"""Runs of four epochs on which a mutant is compared; the reference is compared on all runs of three as well."""


@cache
def _plans() -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    draw = random.Random("cud livelock")
    drawn = tuple(tuple(draw.choice((2, 2, *range(len(_KINDS)))) for _ in range(4)) for _ in range(DRAWN))
    return tuple(itertools.product(range(len(_KINDS)), repeat=3)), drawn


def samples(system: System[Any, Any, Any, Any, Any]) -> Iterator[Steps]:
    """Yield runs of any variant: every run of three kinds of epoch (the reference), and drawn ones of four."""
    four = system.at(agents=4, keys=2, values=2)
    config = next(iter(four.all_configs()))
    small, drawn = _plans()
    for plan in (*small, *drawn) if system.variant == "reference" else drawn:
        state, run = next(iter(four.initial(config))), list[Any]()
        for number, kind in enumerate(plan):
            run.append(four.take(config, state, _epoch(config, number, **_KINDS[kind])))
            state = run[-1].after
        yield tuple(run)


_means = COUNTER.theory.means
FAULTS = Faults(
    (reporting.livelock_never_resets, _means("resets", FALSE, "the counter never goes down")),
    (
        reporting.livelock_counts_pass_one,
        _means("counts", (collided() | refused()) & ~changed(), "FQ36: pass-1 refusals count"),
    ),
    (reporting.livelock_counts_silence, _means("counts", ~changed(), "an epoch without requests counts")),
    (reporting.livelock_counts_despite_change, _means("counts", collided(), "a collision counts though all changed")),
)
_BESIDE = "whatever counts, the world has not changed in the last three epochs"

_invariant = partial(
    Invariant,
    protocol="cud",
    system="free",
    machine=COUNTER,
    witness=COUNT[2](),
    view=view,
    samples=samples,
    memory=tuple(relation.name for relation in _REMEMBERED),
)

FAITHFUL = _invariant(
    claim=liveness.livelock_counter_is_faithful,
    always=conjunction(iff(one(), other()) for one, other in zip(COUNT, STUCK, strict=True)),
    mutants=FAULTS.refuted(*FAULTS),
)

PROGRESS = _invariant(
    claim=liveness.no_livelock_with_progress,
    always=COUNT[2]() >> QUIET[2](),
    # A longer memory does not help: nothing forces an epoch to take place.  Spacer finds these two.
    lemmas=(Lemma("one_is_quiet", COUNT[0]() >> QUIET[0]()), Lemma("two_are_quiet", COUNT[1]() >> QUIET[1]())),
    mutants=(
        *FAULTS.refuted(reporting.livelock_never_resets),
        FAULTS.unseen(reporting.livelock_counts_pass_one, _BESIDE),
        FAULTS.unseen(reporting.livelock_counts_silence, _BESIDE),
        *FAULTS.refuted(reporting.livelock_counts_despite_change),
    ),
)
