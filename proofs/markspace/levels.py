"""Where confidence decides at the guard (6.1): under HIGHEST_CONFIDENCE, and nowhere else, for any number of agents.

Two requests that differ in the confidence of the intents alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

from evenhand.core.system import AnySystem
from evenhand.core.verdict import Status
from evenhand.model.markspace.guard import initial
from evenhand.model.markspace.guard_systems import agent_names
from evenhand.model.markspace.guard_vocabulary import Act, Config, GuardStep, Policy, What
from evenhand.model.markspace.mutants import guarding as faulty
from evenhand.model.markspace.readings import Readings
from evenhand.proofs.markspace import policies
from evenhand.proofs.markspace.intents import ROOM, by_confidence, i, j, surer
from evenhand.proofs.markspace.policies import PRE_ACTION
from evenhand.proofs.markspace.stating import theorem
from evenhand.properties.markspace.deciding import confidence_decides_nothing
from evenhand.smt.ends import End, Ends, ends_along
from evenhand.smt.logic import exists
from evenhand.smt.preludes import Twice
from evenhand.smt.structure import Structure
from evenhand.smt.tables import beside

_Case = tuple[str, GuardStep, GuardStep | None]

TWICE = Twice.apart(PRE_ACTION, surer.name)


_both = beside(policies.view, "surer", "wins", "allowed", "blocked", "refused", "found")


def _view(case: _Case) -> Structure | None:
    """Return a request and the one with the levels exchanged; None where they differ in more than the theory says."""
    way, step, other = case
    found = None if other is None else _both((step, other))
    if found is None or found.relations["allowed"] != found.relations["allowed2"]:
        return found
    return found if confidence_decides_nothing.agrees(way, step, other) else None


def view_elsewhere(case: _Case) -> Structure | None:
    """Return both requests under a policy that does not go by confidence."""
    return None if case[1].config.policy is Policy.HIGHEST_CONFIDENCE else _view(case)


@Ends
def samples(system: AnySystem) -> Iterator[End]:
    """Yield requests after intents of every level, without a claim and beside one, by any variant."""
    for agents, policy in product((2, 3), (Policy.FIRST_WRITER, Policy.YIELD_ALL)):
        config = Config(agent_names(agents), (ROOM,), policy, 1, Readings())
        for levels in product((0, 1), repeat=agents):
            asks = [Act(What.PRE, name, ROOM, level) for name, level in zip(config.agents, levels, strict=True)]
            first = config.agents[0]
            for more in ((), (Act(What.CALL, first, ROOM), Act(What.POST, first, ROOM))):
                yield ends_along(system, config, initial(config)[0], asks[0], *more, *asks[1:])[-1]


_theorem = partial(
    theorem,
    claim=confidence_decides_nothing,
    theory=TWICE.theory,
    source="6.1: the arbitration profile",
)
_SAME = "it looks at no level"

NOWHERE_ELSE = _theorem(
    system="first_writer",
    view=view_elsewhere,
    samples=samples,
    scope="any number of agents and intents, requests under FIRST_WRITER and YIELD_ALL",
    sentence="Under a policy that does not go by confidence the same requests are allowed, whatever the levels.",
    assumes=~by_confidence(),
    goal=TWICE.alike("allowed"),
    witness=exists([i, j], surer(i, j) & TWICE.second("surer", j, i)),
    mutants=TWICE.mutants(
        *policies.FAULTS.refuted(faulty.least_confident_wins, faulty.ties_to_the_latest),
        policies.FAULTS.unseen(faulty.yield_all_allows, _SAME),
        policies.FAULTS.unseen(faulty.claims_ignored, _SAME),
    ),
)

WHERE_IT_WINS = _theorem(
    name="confidence_decides_under_highest_confidence",
    system="highest_confidence",
    view=_view,
    samples=policies.samples,
    scope="any number of agents and intents, requests under HIGHEST_CONFIDENCE",
    sentence="Under HIGHEST_CONFIDENCE as well the same requests are allowed, whatever the levels: false.",
    goal=TWICE.alike("allowed"),
    expected=Status.REFUTED,
)
