"""Views and symmetry of a system of one's own: a licence where every state was compared, a refusal where two differ.

The full graph is the second origin of each verdict; the planted faults are a view that hides what decides, and systems
that favour one agent.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

import pytest

import evenhand
from evenhand.core.ltl import F, G, state
from evenhand.core.property import Property
from evenhand.search.witness import LicenceMissing

AGENTS = ("ann", "bob", "cid")


class Lock(NamedTuple):
    """Who waits and who is in, by name; and a count of turns that nothing reads."""

    waiting: frozenset[str] = frozenset()
    inside: frozenset[str] = frozenset()
    turns: int = 0


def lock(
    agents: tuple[str, ...] = AGENTS, *, favours: str = "", pushes: str = "", lets_two_in: bool = False, **more: Any
) -> Any:
    """A lock that may favour one agent, let one push in, or fail when all wait."""

    def actions(at: Lock) -> list[tuple[str, str]]:
        asks = [("ask", agent) for agent in agents if agent not in at.waiting | at.inside]
        free = not at.inside or (lets_two_in and len(at.waiting) == len(agents) - 1)
        enters = [("enter", agent) for agent in agents if agent in at.waiting and (free or agent == pushes)]
        if favours in at.waiting:
            enters = [one for one in enters if one[1] == favours]
        return [*asks, *enters, *(("leave", agent) for agent in agents if agent in at.inside)]

    def step(at: Lock, action: tuple[str, str]) -> Lock:
        verb, agent = action
        turns = (at.turns + 1) % 4
        match verb:
            case "ask":
                return Lock(at.waiting | {agent}, at.inside, turns)
            case "enter":
                return Lock(at.waiting - {agent}, at.inside | {agent}, turns)
            case _:
                return Lock(at.waiting, at.inside - {agent}, turns)

    settings: dict[str, Any] = {"view": lambda at: (at.waiting, at.inside), "symmetry": agents, "ends": False, **more}
    return evenhand.system("lock", initial=[Lock()], actions=actions, step=step, **settings)


@evenhand.always("One at a time.")
def exclusion(at: Lock) -> bool:
    """At most one is inside."""
    return len(at.inside) <= 1


@evenhand.each_step("Nobody enters who did not wait.", when=lambda step: step.action[0] == "enter")
def waited(step: Any) -> bool:
    """Named by the action."""
    return step.action[1] in step.before.waiting


@evenhand.reachable("All wait.")
def all_wait(step: Any) -> bool:
    """Nobody is inside then."""
    return not step.after.inside and len(step.after.waiting) >= 3


@evenhand.temporal("Somebody is inside again and again.")
def recurs() -> Any:
    """Refuted by those who only ask."""
    return G(F(state(lambda at: bool(at.inside))))


@evenhand.always("Ann never waits.")
def ann_never_waits(at: Lock) -> bool:
    """A claim that tells one agent from the others."""
    return "ann" not in at.waiting


@evenhand.always("Turns are few.")
def few_turns(at: Lock) -> bool:
    """A claim that reads what the view leaves out."""
    return at.turns < 3


@evenhand.monitor("Nobody overtakes twice.", start=lambda _config: 0, update=lambda past, _step: past)
def remembers(_config: Any, past: int) -> bool:
    """A history."""
    return past < 2


CLAIMS: tuple[Property, ...] = (exclusion, waited, all_wait, recurs)


@pytest.mark.parametrize("lets_two_in", [False, True])
@pytest.mark.parametrize("quotient", ["view", "symmetry"])
def test_verdicts_are_those_of_the_full_graph(quotient: str, *, lets_two_in: bool) -> None:
    """Fewer states, the same statuses; a refutation is a run of the system itself, as short as without the view."""
    system = lock(lets_two_in=lets_two_in)
    licence = evenhand.licence_by_search(system, quotient, CLAIMS)
    full, few = evenhand.explore(system, CLAIMS), evenhand.explore(system, CLAIMS, licence=licence)
    assert few.states < full.states and few.complete
    for one, other in zip(full.verdicts, few.verdicts, strict=True):
        assert one.status == other.status, other
        assert "checked by search of all" in other.scope["soundness of the quotient"]
        assert "ASSUMED" not in other.scope["soundness of the quotient"]
    refuted = full.verdicts[0]
    assert (refuted.status.value == "REFUTED") is lets_two_in
    if isinstance(refuted.evidence, evenhand.Scenario):
        mine = few.verdicts[0].evidence
        assert isinstance(mine, evenhand.Scenario)
        assert len(mine.actions) == len(refuted.evidence.actions)


def test_a_favour_that_no_claim_sees_changes_no_verdict() -> None:
    """A class then still makes the same moves as far as the claims see: the licence is for these claims, and right."""
    system = lock(favours="ann")
    found = evenhand.explore(system, CLAIMS, licence=evenhand.licence_by_search(system, "symmetry", CLAIMS))
    assert [one.status for one in found.verdicts] == [one.status for one in evenhand.explore(system, CLAIMS).verdicts]


def test_the_orbits_are_counted_by_hand() -> None:
    """Of a lock among three, without the turns: how many wait, and whether one is inside."""
    system = lock(view=lambda at: (at.waiting, at.inside))
    plain = evenhand.explore(system, [exclusion], licence=evenhand.licence_by_search(system, "view", [exclusion]))
    assert plain.states == 2**3 + 3 * 2**2  # who waits; who is inside, and who of the two others waits
    both = lock(view=lambda at: (len(at.waiting), len(at.inside)))
    found = evenhand.explore(both, [exclusion], licence=evenhand.licence_by_search(both, "view", [exclusion]))
    assert found.states == 4 + 3


@pytest.mark.parametrize(
    ("system", "quotient", "claim", "words"),
    [
        (lock(pushes="ann"), "symmetry", exclusion, "no step of"),
        (lock(), "symmetry", ann_never_waits, "a claim tells them apart"),
        (lock(view=lambda at: at.inside), "view", exclusion, "no step of"),
        (lock(), "view", few_turns, "a claim tells them apart"),
    ],
)
def test_an_unsound_quotient_gets_no_licence(system: Any, quotient: str, claim: Property, words: str) -> None:
    """Two states that differ are shown."""
    with pytest.raises(evenhand.ModelError, match=f"system 'lock'.*: quotient '{quotient}' is unsound: .*{words}"):
        evenhand.licence_by_search(system, quotient, [claim])


def test_another_size_names_its_assumption_and_compares_again() -> None:
    """What was checked among three is assumed of four; a system that is unsound there is caught on the way."""
    licence = evenhand.licence_by_search(lock(), "symmetry", CLAIMS)
    four = ("ann", "bob", "cid", "dan")
    found = evenhand.explore(lock(four), CLAIMS, licence=licence)
    assert all("ASSUMED to be sound at this size" in one.scope["soundness of the quotient"] for one in found.verdicts)
    assert [one.status for one in found.verdicts] == [
        one.status for one in evenhand.explore(lock(four), CLAIMS).verdicts
    ]
    with pytest.raises(evenhand.ModelError, match="is unsound"):
        evenhand.explore(lock(four, pushes="dan"), CLAIMS, licence=licence)


@pytest.mark.parametrize("lets_two_in", [False, True])
def test_verify_takes_a_licence(*, lets_two_in: bool) -> None:
    """Of its very size or of a smaller one; that no run ends, which the system says itself, is among what it covers."""
    small, large = (lock(agents, lets_two_in=lets_two_in) for agents in (AGENTS, (*AGENTS, "dan")))
    licence = evenhand.licence_by_search(small, "symmetry", [exclusion])
    for system in (small, large):
        report = evenhand.verify(system, [exclusion], licence=licence, examples=0, quiet=True)
        assert {one.claim: one.status.value for one in report.findings} == {
            "exclusion": "REFUTED" if lets_two_in else "HOLDS",
            "ends_only_where_it_may": "HOLDS",
        }
        said = [str(one.scope["soundness of the quotient"]) for one in report.findings]
        assert all(("ASSUMED" in text) is (system is large) for text in said)
        assert all(str(one.scope["counted"]).startswith("classes of states") for one in report.findings)
    again = evenhand.licence_by_search(lock(lets_two_in=lets_two_in), "symmetry", [exclusion])
    assert evenhand.verify(small, [exclusion], examples=0, quiet=True).holds is not lets_two_in
    assert again.claims != licence.claims  # of another system, whose functions are others


def test_where_runs_end_decides_about_a_licence() -> None:
    """A run may end in one state of a class and not in the other: the verdict would hang on which was found first."""
    system = evenhand.system(
        "two ends",
        initial=[0],
        actions=lambda at: [1, 2] if at == 0 else [],
        step=lambda _at, to: to,
        view=lambda at: at > 0,
        ends=lambda at: at == 1,
    )
    positive = evenhand.always("It does not fall.")(lambda at: at >= 0)
    with pytest.raises(evenhand.ModelError, match="a claim tells them apart"):
        evenhand.licence_by_search(system, "view", [positive])
    allowed = replace(system, may_end=lambda _config, at: at > 0)
    licence = evenhand.licence_by_search(allowed, "view", [positive])
    report = evenhand.verify(allowed, [positive], licence=licence)
    assert report.holds and len(report.findings) == 2


def test_verify_refuses_what_is_no_licence() -> None:
    """One sentence each."""
    with pytest.raises(TypeError, match="that licence_by_search gave"):
        evenhand.verify(lock(), [exclusion], licence="symmetry")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="for a system of your own"):
        evenhand.verify("cud", licence=evenhand.licence_by_search(lock(), "view"))


def test_what_a_licence_does_not_speak_of_is_left_open() -> None:
    """Another claim, another predicate of the same name, a history, another system, none at all."""
    system = lock()
    licence = evenhand.licence_by_search(system, "symmetry", [exclusion, remembers])
    open_ = evenhand.explore(system, [exclusion, waited, remembers], licence=licence).verdicts
    assert [one.status.value for one in open_] == ["HOLDS", "UNDECIDED", "UNDECIDED"]
    assert "does not speak of waited" in open_[1].because and "more than single steps" in open_[2].because

    @evenhand.always("Another claim of that name.")
    def exclusion_(at: Lock) -> bool:
        return "ann" not in at.inside

    other = replace(exclusion_, name="exclusion")
    assert evenhand.explore(system, [other], licence=licence).verdicts[0].status.value == "UNDECIDED"
    with pytest.raises(LicenceMissing, match="needs a licence"):
        evenhand.explore(system, [exclusion], quotient="view")
    with pytest.raises(ValueError, match="too many to check"):
        evenhand.licence_by_search(system, "symmetry", [exclusion], max_states=5)
    with pytest.raises(evenhand.UnknownName, match="view of system"):
        evenhand.licence_by_search(system, "shape", [exclusion])
    with pytest.raises(ValueError, match="constraint"):
        evenhand.licence_by_search(lock(constraint=lambda at: True), "view", [exclusion])


def drawn(seed: int, *, fault: bool) -> Any:
    """A random graph, each node with a mark that its view drops; with a fault one step reads the mark."""
    random = Random(seed)
    graph = {node: tuple(random.sample(range(8), random.randint(1, 3))) for node in range(8)}
    read = random.randrange(8) if fault else -1

    def step(at: tuple[int, int], action: int) -> tuple[int, int]:
        node, mark = at
        after = graph[node][action]
        if node == read and mark == 2:
            after = (after + 1) % 8
        return after, (mark + action + node) % 3

    return evenhand.system(
        "drawn",
        initial=[(0, 0), (0, 1)],
        actions=lambda at: range(len(graph[at[0]])),
        step=step,
        shows=False,
        view=lambda at: at[0],
        ends=False,
    )


def is_sound(system: Any) -> bool:
    """Whether states with the same node lead to the same nodes, over all reachable states; by a plain loop."""
    known = set(system.initial(None))
    waiting, leads = list(known), dict[int, set[frozenset[int]]]()
    while waiting:
        at = waiting.pop()
        after = [system.take(None, at, action).after for action in system.enabled(None, at)]
        leads.setdefault(at[0], set()).add(frozenset(one[0] for one in after))
        waiting += [one for one in dict.fromkeys(after) if one not in known]
        known.update(after)
    return all(len(some) == 1 for some in leads.values())


@pytest.mark.parametrize("seed", range(40))
def test_a_licence_is_given_if_and_only_if_the_view_is_sound(seed: int) -> None:
    """By a second definition, on random systems; with the licence the verdicts are those of the full graph."""
    system = drawn(seed, fault=seed % 2 == 1)
    claims = [evenhand.always("Node 7 is avoided.")(avoids_seven), again_and_again]
    if not is_sound(system):
        with pytest.raises(evenhand.ModelError, match="unsound"):
            evenhand.licence_by_search(system, "view", claims)
        return
    found = evenhand.explore(system, claims, licence=evenhand.licence_by_search(system, "view", claims))
    for one, other in zip(evenhand.explore(system, claims).verdicts, found.verdicts, strict=True):
        assert one.status == other.status, other.because


def avoids_seven(at: tuple[int, int]) -> bool:
    """Node 7 is not reached."""
    return at[0] != 7


@evenhand.temporal("Node 3 comes again and again.")
def again_and_again() -> Any:
    """Over nodes alone."""
    return G(F(state(lambda at: at[0] == 3)))


def test_the_random_systems_are_of_both_kinds() -> None:
    """The comparison above would be empty otherwise."""
    kinds = [is_sound(drawn(seed, fault=seed % 2 == 1)) for seed in range(40)]
    assert 20 <= sum(kinds) <= 35


def test_places_are_exchanged_by_a_function() -> None:
    """Agents that are places of a row."""

    def rename(at: tuple[bool, ...], to: Any) -> tuple[bool, ...]:
        return tuple(at[to[place]] for place in range(4))

    def system(**more: Any) -> Any:
        return evenhand.system(
            "row",
            initial=[(False,) * 4],
            actions=lambda at: range(4),
            step=lambda at, place: (*at[:place], not at[place], *at[place + 1 :]),
            symmetry=range(4),
            **more,
        )

    row = system(rename=rename)
    claim = evenhand.always("Not all.")(lambda at: not all(at))
    found = evenhand.explore(row, [claim], licence=evenhand.licence_by_search(row, "symmetry", [claim]))
    assert (found.states, found.verdicts[0].status.value) == (5, "REFUTED")
    with pytest.raises(TypeError, match="needs `rename"):
        system()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"symmetry": "ann"}, "lists the agents"),
        ({"symmetry": ["ann", "ann"]}, "different agents"),
        ({"symmetry": [str(number) for number in range(8)]}, "from 2 to 7"),
        ({"symmetry": None, "rename": lambda at, to: at}, "give both"),
        ({"rename": lambda at: at}, "called as rename"),
        ({"view": 3}, "`view` is a function"),
    ],
)
def test_wrong_arguments_are_refused(more: Any, words: str) -> None:
    """With one message."""
    with pytest.raises((TypeError, ValueError), match=words):
        lock(**more)
    with pytest.raises(evenhand.ModelError, match=r"quotient 'view' of state .* raised"):
        evenhand.licence_by_search(lock(view=lambda at: at.nothing), "view", [exclusion])
