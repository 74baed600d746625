"""An Issue takes at most so many ticks, for any number of agents, phases and Issues.

The ticks so far and those that can still be needed never exceed the bound together: a tick of the open Issue adds one
to the former and takes at least one from the latter, which `clock` proves.
"""

from __future__ import annotations

from evenhand.model.conviction import vocabulary as model
from evenhand.model.conviction.mutants import play
from evenhand.proofs.conviction.ledger import later
from evenhand.proofs.conviction.walks import walks
from evenhand.properties.conviction import ticking
from evenhand.properties.conviction.predicates import accepted, finalizes, is_open, longest_issue, ticks_left
from evenhand.smt.arithmetic import at_least, at_most, minus, number, plus, zero
from evenhand.smt.logic import TRUE, Sort, conjunction, iff, ite, same
from evenhand.smt.preludes import define, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import constant, prop
from evenhand.smt.theorem import Lemma, Mutation
from evenhand.smt.theory import Theory
from evenhand.smt.transitions.invariant import Invariant, Steps
from evenhand.smt.transitions.machine import Machine, after

ISSUE = Sort("Issue")
"""Stands for the Issue that is counted; the theory has no other elements."""

count, bound, needed, spent, fresh = numbers("count bound needed spent fresh")
"""Ticks since the Issue was opened; the most there may be; those that can still be needed.  What a step takes from the
last, and the bound of the Issue that it opens."""
open_, opens, ticks, ends = relations("open opens ticks ends")
"""An Issue is open; the step opens one; it is a tick of the open one; it finalizes it."""

_COSTS = define("costs", (), at_least(spent(), number(1)), "9.1, 12: a tick takes one from what can be needed")
costs = _COSTS.relation


_counted = ite(at_most(count(), bound()), same(later(count), plus(count(), number(1))), same(later(count), count()))
_kept, _left = same(later(bound), bound()), same(later(needed), minus(needed(), spent()))
_OPENS = conjunction(
    [
        ~open_() & after(open_)(),
        same(later(count), number(1)) & same(later(bound), fresh()),
        at_most(plus(later(needed), number(1)), fresh()),
    ]
)
_TICKS = conjunction([open_(), iff(after(open_)(), ~ends()), _counted, _kept, _left, costs()])
_ACTS = conjunction([iff(after(open_)(), open_()), same(later(count), count()), _kept, _left])

TICKS = Machine(
    theory=Theory(
        name="conviction_ticks",
        sorts=(ISSUE,),
        functions=(count, bound, needed, spent, fresh),
        relations=(open_, opens, ticks, ends),
        definitions=(_COSTS,),
    ),
    state=("count", "bound", "needed", "open"),
    inputs=("spent", "fresh", "opens", "ticks", "ends"),
    init=conjunction([~open_(), zero(count()), at_least(bound(), number(0)), zero(needed())]),
    step=conjunction(
        [
            at_least(later(needed), number(0)) & at_least(spent(), number(0)),
            ite(opens(), _OPENS, ite(ticks(), _TICKS, _ACTS)),
        ]
    ),
)
"""Ticks alone are counted; agents never put the end off."""

_CLAIM = ticking.an_issue_takes_at_most_so_many_ticks


def _needed(config: model.Config, state: model.State) -> int:
    """Return the ticks that the open Issue can still need; 0 without one."""
    if not is_open(config, state):
        return 0
    return ticks_left(config, state) - sum(longest_issue(config, one) for one in config.issues[state.issue + 1 :])


def view(run: Steps, number_: int) -> Structure | None:
    """Return step `number_` of a run as a structure, with what the claim remembers; None where no Issue is given."""
    step = run[number_]
    config: model.Config = step.config
    if not config.issues:
        return None
    memory: tuple[int, int] = _CLAIM.memory(config)
    for earlier in run[:number_]:
        memory = _CLAIM.follow(memory, earlier)
    before: model.State = step.before
    opened = accepted(step, model.Tick) and before.phase == model.IDLE
    values: dict[str, int] = {
        "spent": 0 if opened else _needed(config, before) - _needed(config, step.after),
        "fresh": longest_issue(config, config.issues[min(before.issue, len(config.issues) - 1)]),
    }
    relations_ = {
        "opens": prop(opened),
        "ticks": prop(accepted(step, model.Tick) and not opened),
        "ends": prop(finalizes(step)),
    }
    told_after: tuple[int, int] = _CLAIM.follow(memory, step)
    for end, told, state in (("", memory, before), (".after", told_after, step.after)):
        values |= {
            f"count{end}": told[0],
            f"bound{end}": longest_issue(config, config.issues[told[1]]),
            f"needed{end}": _needed(config, state),
        }
        relations_[f"open{end}"] = prop(is_open(config, state))
    return Structure({"Issue": ("issue",)}, relations_, {name: constant(n) for name, n in values.items()})


BOUNDED_TICKS = Invariant(
    claim=_CLAIM,
    protocol="conviction",
    system="issue",
    machine=TICKS,
    always=at_most(count(), bound()),
    lemmas=(
        Lemma("nothing_needed_is_below_zero", at_least(needed(), number(0))),
        Lemma("so_far_and_still", open_() >> at_most(plus(count(), needed()), bound())),
    ),
    witness=open_() & same(count(), number(2)),
    view=view,
    samples=walks,
    memory=("count", "bound"),
    scope="any number of agents, Issues with their mandatory fields, phases and ticks",
    mutants=tuple(
        Mutation(mutant=mutant, definitions=(TICKS.theory.means("costs", TRUE, because),))
        for mutant, because in (
            (play.silent_agents_hang_a_phase, "while somebody is silent nothing comes closer"),
            (play.no_tick_ends_a_phase, "nothing comes closer"),
        )
    ),
)
"""The invariant of ticks."""
