"""TLC itself on modules written by hand: what "TLC's meaning" says of constraints, views, symmetry, ends and fairness.

Counts and verdicts of the same system written here stand beside what TLC prints.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

import evenhand
from evenhand.core.ltl import F, Formula, G, state
from evenhand.core.property import Property
from tests.known.gallery import SYSTEMS, claims_of
from tests.known.tlc import needs_tlc, tlc

pytestmark = needs_tlc

COMMIT = r"""
---- MODULE commit ----
CONSTANT RM
VARIABLE rms
Init == rms = [r \in RM |-> "working"]
CanCommit == \A r \in RM : rms[r] \in {"prepared", "committed"}
NotCommitted == \A r \in RM : rms[r] # "committed"
Prepare(r) == rms[r] = "working" /\ rms' = [rms EXCEPT ![r] = "prepared"]
Decide(r) ==
  \/ rms[r] = "prepared" /\ CanCommit /\ rms' = [rms EXCEPT ![r] = "committed"]
  \/ rms[r] \in {"working", "prepared"} /\ NotCommitted /\ rms' = [rms EXCEPT ![r] = "aborted"]
Next == \E r \in RM : Prepare(r) \/ Decide(r)
Spec == Init /\ [][Next]_rms
Consistent == ~ \E r, s \in RM : rms[r] = "committed" /\ rms[s] = "aborted"
NeverAllCommitted == ~ \A r \in RM : rms[r] = "committed"
====
"""


def test_transaction_commit_has_the_counts_of_tlc(tmp_path: Path) -> None:
    """States, steps, the invariant, the goal and the ends, which TLC calls deadlocks."""
    system = SYSTEMS["transaction_commit"].transaction_commit
    config = ["SPECIFICATION Spec", "CONSTANT RM = {1, 2, 3}", "INVARIANT Consistent", "INVARIANT NeverAllCommitted"]
    said = tlc(COMMIT, config, tmp_path)
    found = evenhand.explore(system, claims_of("transaction_commit"))
    assert (said.generated, said.distinct) == (found.transitions + 1, found.states) == (94, 34)
    verdicts = {one.claim: one.holds for one in found.verdicts}
    assert verdicts["consistent"] and verdicts["all_commit"]
    assert said.violated == {"NeverAllCommitted"}
    assert tlc(COMMIT, config[:2], tmp_path, deadlock=True).violated == {"deadlock"}
    endless = replace(system, may_end=lambda _config, _state: False)
    assert not evenhand.verify(endless, claims_of("transaction_commit"), quiet=True).holds


COUNTER = r"""
---- MODULE counter ----
EXTENDS Naturals
VARIABLE n
Init == n = 0
Next == \E by \in {1, 2} : n' = n + by
Spec == Init /\ [][Next]_n
Below == n < 10
Small == n <= 10
NotBy == n' # n + 2 \/ n # 4
====
"""


def counter(**more: Any) -> Any:
    return evenhand.system(
        "counter",
        initial=[0],
        actions=lambda _count: [1, 2],
        step=lambda count, by: count + by,
        shows=False,
        ends=False,
        **more,
    )


@evenhand.always("The count is small.")
def small(count: int) -> bool:
    """Violated one step outside."""
    return count <= 10


@pytest.mark.parametrize(
    ("line", "more"),
    [
        ([], {}),
        (["ACTION_CONSTRAINT NotBy"], {"action_constraint": lambda step: step.before != 4 or step.action != 2}),
    ],
)
def test_what_is_outside_is_checked_but_not_counted(line: list[str], more: Any, tmp_path: Path) -> None:
    """The page "coming from TLA+": 11 is checked; TLC's distinct states are those inside."""
    said = tlc(COUNTER, ["SPECIFICATION Spec", "CONSTRAINT Below", "INVARIANT Small", *line], tmp_path)
    found = evenhand.explore(counter(constraint=lambda count: count < 10, **more), [small])
    assert said.violated == {"Small"} and not found.holds
    assert (said.generated, said.distinct) == (found.transitions + 1, found.states - found.outside)


class Drawn(NamedTuple):
    """A random graph of numbered nodes; which nodes and edges are inside, and which ones claims forbid."""

    number: int
    after: tuple[tuple[int, ...], ...]
    starts: tuple[int, ...]
    inside: frozenset[int]
    allowed: frozenset[tuple[int, int]]
    bad: frozenset[int]
    wrong: frozenset[tuple[int, int]]

    def found(self, *, outside: bool = True) -> tuple[int, int, set[str]]:
        """Generated and distinct states as TLC counts them, and what is violated, as this product says.

        Without `outside` the invariant is about states inside alone: another meaning, which TLC must contradict.
        """
        system = evenhand.system(
            "drawn",
            initial=list(self.starts),
            actions=lambda here: self.after[here],
            step=lambda _here, there: there,
            shows=False,
            ends=True,
            constraint=lambda here: here in self.inside,
            action_constraint=lambda step: (step.before, step.after) in self.allowed,
        )
        claims = [
            evenhand.always("No bad node.", name="Inv")(
                lambda here: here not in self.bad or not (outside or here in self.inside)
            ),
            evenhand.each_step("No wrong edge.", name="Act")(
                lambda step: step.before == step.after or (step.before, step.after) not in self.wrong
            ),
        ]
        found = evenhand.explore(system, claims)
        assert found.complete
        false = {f"{one.claim}{self.number}" for one in found.verdicts if one.status is evenhand.Status.REFUTED}
        return found.transitions + len(self.starts), found.states - found.outside, false


def drawn(number: int) -> Drawn:
    """Return the graph of a number."""
    rng = Random(number)
    nodes = range(rng.randint(2, 7))
    after = tuple(tuple(sorted(rng.sample(nodes, rng.randint(0, min(3, len(nodes)))))) for _ in nodes)
    edges = [(here, there) for here in nodes for there in after[here]]

    def some(every: Any, chance: float) -> frozenset[Any]:
        return frozenset(one for one in every if rng.random() < chance)

    starts = tuple(sorted(rng.sample(nodes, rng.randint(1, 2))))
    return Drawn(number, after, starts, some(nodes, 0.7), some(edges, 0.8), some(nodes, 0.2), some(edges, 0.15))


def module_of(graphs: list[Drawn]) -> tuple[str, list[str]]:
    """All graphs side by side in one module, each with an invariant and a property of its own."""

    def listed(parts: Any) -> str:
        return "{" + ", ".join(sorted(f"<<{', '.join(map(str, part))}>>" for part in parts)) + "}"

    every: dict[str, list[tuple[int, ...]]] = {"Starts": [], "Edges": [], "Inside": [], "Allowed": []}
    laws: list[str] = []
    for one in graphs:
        every["Starts"] += [(one.number, start) for start in one.starts]
        every["Edges"] += [(one.number, here, there) for here, some in enumerate(one.after) for there in some]
        every["Inside"] += [(one.number, node) for node in one.inside]
        every["Allowed"] += [(one.number, *edge) for edge in one.allowed]
        laws.append(f"Inv{one.number} == <<g, s>> \\notin {listed((one.number, node) for node in one.bad)}")
        wrong = listed((one.number, *edge) for edge in one.wrong)
        laws.append(f"Act{one.number} == [][<<g, s, s'>> \\notin {wrong}]_<<g, s>>")
    lines = [
        "---- MODULE drawn ----",
        "VARIABLES g, s",
        *(f"{name} == {listed(parts)}" for name, parts in every.items()),
        "Init == \\E start \\in Starts : g = start[1] /\\ s = start[2]",
        "Next == \\E edge \\in Edges : edge[1] = g /\\ edge[2] = s /\\ s' = edge[3] /\\ g' = g",
        "Spec == Init /\\ [][Next]_<<g, s>>",
        "StatesInside == <<g, s>> \\in Inside",
        "StepsInside == <<g, s, s'>> \\in Allowed",
        *laws,
        "====",
    ]
    names = [law.partition(" ")[0] for law in laws]
    config = ["SPECIFICATION Spec", "CONSTRAINT StatesInside", "ACTION_CONSTRAINT StepsInside"]
    config += [f"{'INVARIANT' if name.startswith('Inv') else 'PROPERTY'} {name}" for name in names]
    return "\n".join(lines) + "\n", config


def test_constraints_mean_what_they_mean_to_tlc_on_random_graphs(tmp_path: Path) -> None:
    """Sixty graphs with constraints on states and steps: the counts, and each violated invariant and property."""
    graphs = [drawn(number) for number in range(60)]
    mine = [graph.found() for graph in graphs]
    said = tlc(*module_of(graphs), tmp_path)
    assert (said.generated, said.distinct) == tuple(map(sum, zip(*((one[0], one[1]) for one in mine), strict=True)))
    false = set[str]().union(*(one[2] for one in mine))
    assert said.violated == false
    assert said.violated != set[str]().union(*(graph.found(outside=False)[2] for graph in graphs))
    assert 10 < sum(name.startswith("Inv") for name in false) < 50 and any(name.startswith("Act") for name in false)


LOCK = r"""
---- MODULE lock ----
EXTENDS FiniteSets, Naturals, TLC
CONSTANTS Agents, Pushes
VARIABLES waiting, inside, turns
Init == waiting = {} /\ inside = {} /\ turns = 0
Ask(a) == a \notin waiting \cup inside /\ waiting' = waiting \cup {a} /\ inside' = inside
Enter(a) ==
  /\ a \in waiting /\ ~(inside # {} /\ a \notin Pushes)  \* a true disjunction would count the step twice
  /\ waiting' = waiting \ {a} /\ inside' = inside \cup {a}
Leave(a) == a \in inside /\ inside' = inside \ {a} /\ waiting' = waiting
Next == \E a \in Agents : (Ask(a) \/ Enter(a) \/ Leave(a)) /\ turns' = (turns + 1) % 4
Alike == Permutations(Agents)
Seen == <<waiting, inside>>
Exclusion == Cardinality(inside) <= 1
====
"""


def lock(pushes: bool, **more: Any) -> Any:
    """The same lock here; with `pushes` whoever waits enters."""
    agents = ("ann", "bob", "cid")

    def actions(at: Any) -> list[tuple[str, str]]:
        waiting, inside, _ = at
        asks = [("ask", agent) for agent in agents if agent not in waiting | inside]
        enters = [("enter", agent) for agent in agents if agent in waiting and (pushes or not inside)]
        return [*asks, *enters, *(("leave", agent) for agent in agents if agent in inside)]

    def step(at: Any, action: tuple[str, str]) -> Any:
        (waiting, inside, turns), (verb, agent) = at, action
        turns = (turns + 1) % 4
        if verb == "ask":
            return waiting | {agent}, inside, turns
        return (waiting - {agent}, inside | {agent}, turns) if verb == "enter" else (waiting, inside - {agent}, turns)

    start: Any = (frozenset(), frozenset(), 0)
    quotients: dict[str, Any] = {"symmetry": agents, "view": lambda at: at[:2]}
    return evenhand.system(
        "lock", initial=[start], actions=actions, step=step, shows=False, ends=False, **quotients, **more
    )


@evenhand.always("One agent at a time.")
def exclusion(at: Any) -> bool:
    """At most one is inside."""
    return len(at[1]) <= 1


@pytest.mark.parametrize("pushes", [False, True])
@pytest.mark.parametrize(("line", "quotient"), [("", ""), ("SYMMETRY Alike", "symmetry"), ("VIEW Seen", "view")])
def test_views_and_symmetry_keep_as_many_states_as_tlc(line: str, quotient: str, pushes: bool, tmp_path: Path) -> None:
    """One state of each class, and the verdict."""
    pushers = "{ann, bob, cid}" if pushes else "{}"
    config = ["INIT Init", "NEXT Next", "CONSTANTS ann = ann bob = bob cid = cid", "INVARIANT Exclusion", line]
    said = tlc(LOCK, [*config, f"CONSTANTS Agents = {{ann, bob, cid}} Pushes = {pushers}"], tmp_path)
    system = lock(pushes)
    licence = evenhand.licence_by_search(system, quotient, [exclusion]) if quotient else None
    found = evenhand.explore(system, [exclusion], licence=licence)
    assert (said.generated, said.distinct) == (found.transitions + 1, found.states)
    assert (said.violated == {"Exclusion"}, said.violated == set()) == (pushes, not pushes)
    assert found.holds is not pushes


LIGHT = r"""
---- MODULE light ----
VARIABLE light
Init == light = "red"
Go == light' = IF light = "red" THEN "green" ELSE IF light = "green" THEN "red" ELSE "dark"
Break == light = "green" /\ light' = "dark"
Next == Go \/ Break
Lazy == Init /\ [][Next]_light
Weak == Lazy /\ WF_light(Go)
Breaking == Weak /\ SF_light(Break)
Recurs == []<>(light = "green")
Goes == []<>(light \in {"green", "dark"})
Darkens == <>[](light = "dark")
Follows == (light = "red") ~> (light # "red")
====
"""


def fair(kind: Any, verb: str) -> evenhand.Fairness[Any, Any]:
    """Fairness over steps that change the state, as in TLA+."""
    return evenhand.Fairness(kind, lambda light, action: action == verb and light != "dark")


LAMP = evenhand.system(
    "light",
    initial=["red"],
    actions=lambda light: ["go", *(["break"] if light == "green" else [])],
    step=lambda light, verb: "dark" if verb == "break" else {"red": "green", "green": "red", "dark": "dark"}[light],
    shows=False,
    fair={"go": fair("weak", "go"), "break": fair("strong", "break")},
    ends=False,
)


def lit(*colours: str) -> Any:
    return state(lambda light: light in colours)


FORMULAS = {
    "Recurs": G(F(lit("green"))),
    "Goes": G(F(lit("green", "dark"))),
    "Darkens": F(G(lit("dark"))),
    "Follows": G(lit("red") >> F(lit("green", "dark"))),
}


def claimed(name: str, formula: Formula, fairness: tuple[str, ...]) -> Property:
    return evenhand.temporal("So it is.", name=name, fairness=fairness, stutter=True)(lambda: formula)


ASSUMED: dict[str, tuple[str, ...]] = {"Lazy": (), "Weak": ("go",), "Breaking": ("go", "break")}


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "fairness"), ASSUMED.items())
def test_liveness_under_fairness_and_stuttering_is_that_of_tlc(
    spec: str, fairness: tuple[str, ...], tmp_path: Path
) -> None:
    """Each formula under each specification; a run may stop wherever no assumption demands a step."""
    for name, formula in FORMULAS.items():
        said = tlc(LIGHT, [f"SPECIFICATION {spec}", f"PROPERTY {name}"], tmp_path)
        (verdict,) = evenhand.explore(LAMP, [claimed(name, formula, fairness)]).verdicts
        assert verdict.status is not evenhand.Status.UNDECIDED
        assert verdict.holds is not bool(said.violated), (spec, name)


FREE_AGENT = Path(__file__).parents[2] / "benchmarks" / "free_agent.tla"
PINNED = Path(__file__).parents[1] / "oracles" / "pinned.json"


def test_the_free_agent_graph_in_tla_has_the_pinned_counts(tmp_path: Path) -> None:
    """The model of the benchmark: one more origin of these numbers."""
    counts = json.loads(PINNED.read_text("utf-8"))["free_agent"]["counts"]["2,2,2"]
    constants = [f"CONSTANT {name} = 2" for name in "NKV"]
    said = tlc(FREE_AGENT.read_text("utf-8"), ["INIT Init", "NEXT Next", *constants], tmp_path)
    assert (said.distinct, said.generated - 1) == (counts["states"], counts["transitions"])
