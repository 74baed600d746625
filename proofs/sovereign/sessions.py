"""Patience ends: the theorem that a session counts refusals in a row up to its limit, whatever is proposed.

Refusals that are left (the limit less the count) are a ranking: each refusal in a row takes one, and the session ends
with the last.  So nothing is refused for ever within a session; the limit and the count are any numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from evenhand.core.system import AnySystem
from evenhand.model.sovereign.menus import TREE, at_time, budget, candidate, integrity_failure, usual
from evenhand.model.sovereign.mutants import executor_and_log as faulty
from evenhand.model.sovereign.state import ABORTED, SESSION_BUDGET_EXHAUSTED, Act, Config, Cycle, State
from evenhand.model.sovereign.step import SovereignStep
from evenhand.model.sovereign.vocabulary import EXIT, REFUSE, field
from evenhand.properties.sovereign import stopping
from evenhand.properties.sovereign.predicates import decided, decides, fed
from evenhand.smt.arithmetic import at_least, below, number, plus, zero
from evenhand.smt.ends import End, Ends, ends_along
from evenhand.smt.logic import FALSE, conjunction, iff
from evenhand.smt.preludes import Faults, define, numbers, relations
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theorem import Theorem
from evenhand.smt.theory import Axiom, Theory

most, count = numbers("most count")
"""The refusals in a row that end a session; those before this cycle."""
refuses, exits, overspent = relations("refuses exits overspent")
"""The cycle's decision; its tokens exceed what the session has left."""
counted, cleared, aborted, exhausted = relations("counted cleared aborted exhausted")

_last = at_least(plus(count(), number(1)), most())
_ABORTS = refuses() & ~overspent() & _last
SESSION = Theory.of(
    "sovereign_sessions",
    axioms=(
        Axiom("one_decision", ~(refuses() & exits()), "1: exactly one decision a cycle"),
        Axiom("it_goes_on", at_least(count(), number(0)) & below(count(), most()), "13.10: it is over at the limit"),
    ),
    definitions=(
        define("counted", (), refuses(), "13.10: a refusal adds one"),
        define("cleared", (), ~refuses(), "13.10: refusals in a row"),
        define("exhausted", (), overspent() & ~exits(), "13.7: more tokens than the session has"),
        define("aborted", (), _ABORTS, "13.10 Q57: the last permitted refusal ends it"),
    ),
)


def _tokens(step: SovereignStep) -> int:
    told = [field(one.payload, "llm_output_token_count") for one in fed(step)[0] if one.kind == "budget"]
    return sum(one for one in told if isinstance(one, int) and one > 0)


def view(step: SovereignStep) -> Structure | None:
    """Return a cycle of a session that has a limit and has not reached it; None for any other step."""
    config, before, later = step.config, step.before, step.after
    if not decides(step) or not isinstance(step.action, Cycle) or not before.refusals < config.most_refusals:
        return None
    limit = config.session_budget
    refused = decided(step, REFUSE)
    return structure(
        {},
        {
            "refuses": refused,
            "exits": decided(step, EXIT),
            "overspent": limit is not None and before.tokens + _tokens(step) > limit,
            "counted": refused and later.refusals == before.refusals + 1,
            "cleared": not refused and later.refusals == 0,
            "aborted": later.over == ABORTED,
            "exhausted": later.over == SESSION_BUDGET_EXHAUSTED,
            "most": config.most_refusals,
            "count": before.refusals,
        },
    )


def _cycle(*, refused: bool, exiting: bool, spending: bool) -> Act:
    seen = (*usual(), *([integrity_failure()] if exiting else ()), *([budget(1)] if spending else ()))
    return Cycle(seen, () if refused else (candidate(seen),))


def _config(limit: int) -> Config:
    return Config(tree=TREE, session_budget=0, most_refusals=limit)


@Ends
def _samples(system: AnySystem) -> Iterator[End]:
    for limit in (1, 2, 3, 25):
        for before in {0, 1, limit - 2, limit - 1} & set(range(limit)):
            for refused, exiting, spending in ((1, 0, 0), (0, 0, 0), (0, 1, 0), (1, 0, 1), (0, 0, 1), (0, 1, 1)):
                action = _cycle(refused=bool(refused), exiting=bool(exiting), spending=bool(spending))
                config, waits = _config(limit), _cycle(refused=True, exiting=False, spending=False)
                yield list(ends_along(system, config, State(tree=TREE), *[waits] * before, action))[-1]
    yield from ends_along(system, _config(2), State(tree=TREE), Cycle((at_time(), at_time())))


_FAULTS = Faults(
    (
        faulty.refusals_counted_in_all,
        define("cleared", (), ~refuses() & zero(count()), "a cycle that is not refused keeps the count"),
    ),
    (faulty.abort_one_late, define("aborted", (), FALSE, "the last permitted refusal does not end it")),
    (
        faulty.never_aborted,
        define("aborted", (), FALSE, "refusals in a row end nothing"),
        define("counted", (), refuses() & ~_ABORTS, "the last one is not counted"),
    ),
    (
        faulty.refusals_are_free,
        define("exhausted", (), overspent() & ~exits() & ~refuses(), "refusals cost nothing"),
        define("aborted", (), refuses() & _last, "and so end a session that has no token left"),
    ),
)

PATIENCE = Theorem(
    claim=stopping.conditions_abort_after_so_many_refusals,
    sentence="A refusal takes one of those that are left in a row, any other decision gives all back, and the session "
    "is aborted with the last one, unless its tokens end it.",
    protocol="sovereign",
    system="session",
    theory=SESSION,
    goal=conjunction(
        [
            refuses() >> counted(),
            ~refuses() >> cleared(),
            exhausted() | iff(aborted(), refuses() & _last),
        ]
    ),
    witness=refuses() & ~_last,
    view=view,
    samples=_samples,
    scope="any limit and any number of refusals",
    mutants=(
        *_FAULTS.refuted(faulty.refusals_counted_in_all, faulty.abort_one_late, faulty.never_aborted),
        _FAULTS.unseen(faulty.refusals_are_free, "tokens that are not counted leave the count of refusals alone"),
    ),
)
