"""Formulas of temporal logic: meaning, reading, and the search compared with a second translation."""

# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportPrivateUsage=false

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import evenhand
from evenhand.core import ltl
from evenhand.core.fairness import assumed, per_agent
from evenhand.core.lookup import UnknownName
from evenhand.core.ltl import FALSE, TRUE, Atom, F, Formula, G, R, U, W, X, parse, state, step
from evenhand.core.system import AnySystem, Fairness
from evenhand.core.temporal import Temporal, temporal
from evenhand.core.trace import Lasso, Scenario
from evenhand.core.verdict import Status, Verdict
from evenhand.evidence.judge import judge
from evenhand.machine import fuzz
from evenhand.search import automaton, explore
from evenhand.search import liveness as search
from evenhand.search.lasso import need_of
from tests.engines.search.ltl_oracle import Edge, refuted, with_stops

HOLDS, REFUTED, UNDECIDED = Status.HOLDS, Status.REFUTED, Status.UNDECIDED
STEPS = {"red": "green", "green": "red", "dark": "dark"}


def at(colour: str) -> Formula:
    return state(lambda here: here == colour)


def light(**more: Any) -> AnySystem:
    """A light that may wait, and may break where it is green."""
    return evenhand.system(
        "light",
        initial=["red"],
        actions=lambda here: ["next", "stay", *(["break"] if here == "green" else [])],
        step=lambda here, action: here if action == "stay" else "dark" if action == "break" else STEPS[here],
        fair={"go": Fairness("weak", lambda _state, action: action == "next")},
        **more,
    )


def claim(formula: Formula, *fairness: str, stutter: bool = False) -> Temporal:
    return temporal("It is so.", name="claim", fairness=fairness, stutter=stutter)(lambda: formula)


def decided(formula: Formula, *fairness: str, stutter: bool = False) -> Verdict:
    (found,) = explore(light(), (claim(formula, *fairness, stutter=stutter),)).verdicts
    return found


def test_a_loop_refutes_and_is_replayed() -> None:
    """The light breaks and stays dark: a lasso, judged on the word itself."""
    found = decided(G(F(at("green"))), "go")
    assert found.status is REFUTED and isinstance(found.evidence, Lasso)
    assert found.evidence == Lasso(None, "red", ("next", "break"), ("next",))
    assert judge(light(), claim(G(F(at("green"))), "go"), found.evidence)
    assert decided(G(F(at("green") | at("dark"))), "go").status is HOLDS


def test_fairness_is_assumed_or_not() -> None:
    """Without it the light may stay red for ever."""
    assert decided(F(at("green")), "go").status is HOLDS
    assert decided(F(at("green"))).status is REFUTED
    with pytest.raises(UnknownName, match="gone"):
        decided(F(at("green")), "gone")


def test_states_and_steps_combine() -> None:
    """It is dark only after it broke; where it breaks it is dark at once."""
    breaks = step(lambda taken: taken.action == "break")
    assert decided(W(~at("dark"), breaks)).status is HOLDS
    assert decided(G(breaks >> X(at("dark")))).status is HOLDS
    assert decided(G(breaks >> X(at("red")))).status is REFUTED
    assert decided(R(breaks, ~at("dark"))).status is HOLDS
    assert decided(U(~at("dark"), breaks)).status is REFUTED


def test_a_run_may_stop_only_where_that_is_chosen() -> None:
    """With stuttering the run may stop at once, unless fairness demands a step."""
    moves = evenhand.system(
        "moves",
        initial=[0],
        actions=lambda _here: ["on"],
        step=lambda here, _action: 1 - here,
        fair={"on": Fairness("weak", lambda _state, _action: True)},
    )
    one = state(lambda here: here == 1)
    kept = [
        explore(moves, (claim(F(one), *fairness, stutter=stutter),)).verdicts[0]
        for fairness, stutter in (((), False), ((), True), (("on",), True))
    ]
    assert [found.status for found in kept] == [HOLDS, REFUTED, HOLDS]
    assert kept[1].evidence == Scenario(None, 0, ())
    assert not judge(moves, claim(F(one), "on", stutter=True), Scenario(None, 0, ()))
    assert not judge(moves, claim(F(one)), Scenario(None, 0, ()))


def test_a_run_that_ends_stays_in_its_last_state() -> None:
    """The last state satisfies what is about states, and no step is taken there."""
    ends = evenhand.system("ends", initial=[0], actions=lambda n: [1] if n < 2 else [], step=lambda n, by: n + by)
    two, moves = state(lambda n: n == 2), step(lambda _taken: True)

    def status(formula: Formula) -> Status:
        return explore(ends, (claim(formula),)).verdicts[0].status

    assert status(F(G(two))) is HOLDS and status(G(F(moves))) is REFUTED and status(F(G(~moves))) is HOLDS
    found = explore(ends, (claim(G(F(moves))),)).verdicts[0]
    assert found.evidence == Scenario(None, 0, (1, 1))


def test_what_shows_nothing_is_open() -> None:
    """An antecedent that is never met, a formula that is true of all words, a search that was cut."""
    assert decided(G(at("blue") >> F(at("green")))).because == "antecedent never met"
    red = at("red")
    assert decided(red | ~red).because == search.NOTHING_BREAKS_IT
    assert decided(G(at("blue") >> at("red"))).status is UNDECIDED
    (cut,) = explore(light(), (claim(G(~at("dark"))),), max_states=2).verdicts
    assert cut.status is UNDECIDED and "left open" in cut.because


def test_a_formula_too_large_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The automaton has a limit, and the verdict says so."""
    monkeypatch.setattr(automaton, "LARGEST", 2)
    found = decided(G(F(at("red"))) & F(G(at("green"))))
    assert found.status is UNDECIDED and "more than 2 states" in found.because


@pytest.mark.slow
def test_the_machine_finds_loops_and_stops() -> None:
    """Random runs refute, and never say that such a claim holds."""
    (found,) = fuzz(light(), (claim(G(F(at("green"))), "go"),)).verdicts
    assert found.status is REFUTED
    (stopped,) = fuzz(light(), (claim(F(at("green")), stutter=True),)).verdicts
    assert stopped.status is REFUTED and stopped.evidence == Scenario(None, "red", ())
    (open_,) = fuzz(light(), (claim(F(at("green")), "go"),)).verdicts
    assert open_.status is UNDECIDED


def test_texts_and_expressions_say_the_same() -> None:
    """Signs of other tools are read too; binding is as usual."""
    p, q = state(lambda _s: True), state(lambda _s: False)
    same = {
        "G (p -> F q)": G(p >> F(q)),
        "[] (p => <> q)": G(p >> F(q)),
        "p U q U p": U(p, U(q, p)),
        "!p & q | p": (~p & q) | p,
        "p -> q -> p": p >> (q >> p),
        "~p /\\ q \\/ X true": (~p & q) | X(TRUE),
        "p W q": W(p, q),
        "p R false": R(p, FALSE),
        "p <-> q": (p >> q) & (q >> p),
    }
    for text, formula in same.items():
        used = {name: one for name, one in (("p", p), ("q", q)) if name in text}
        assert parse(text, **used) == formula, text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("G (p", "ends where a closing parenthesis"),
        ("p p", "'p' at character 3 stands where an operator should"),
        ("", "ends where a predicate"),
        ("p & r", "'r' at character 5"),
        ("G ; p", "';' at character 3"),
        ("true", "says nothing of p"),
        ("(" * 300 + "p" + ")" * 300, "nested deeper"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, why: str) -> None:
    """With its place."""
    with pytest.raises(ValueError, match=r"nested|where|nothing") as raised:
        parse(text, p=TRUE)
    assert why in str(raised.value)


def test_formulas_have_no_truth_value() -> None:
    """`and` between formulas would drop one of them; a predicate must be wrapped; a claim must return a formula."""
    p = state(lambda _s: True)
    with pytest.raises(TypeError, match="write &"):
        _ = p and p
    with pytest.raises(TypeError, match="wrap a predicate"):
        G(lambda _s: True)  # type: ignore[arg-type]
    with pytest.raises(evenhand.ModelError, match="which is no formula"):
        explore(light(), (claim("G p"),))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'G' is a word of the logic"):
        parse("G G", G=p)


def test_each_agent_has_its_own_fairness() -> None:
    """One name assumes it of every agent; one agent that is left out may starve."""

    def ring(agents: tuple[str, ...], fair_to: tuple[str, ...]) -> AnySystem:
        return evenhand.system(
            "ring",
            initial=[dict.fromkeys(agents, 0).__len__() * (0,)],
            actions=lambda _now: agents,
            step=lambda now, who: tuple(min(2, n + (who == agent)) for n, agent in zip(now, agents, strict=True)),
            fair=per_agent("moves", fair_to, lambda agent: Fairness("weak", lambda _s, action: action == agent)),
        )

    for agents in (("a",), ("a", "b", "c")):
        everybody = ltl.every(*(F(state(lambda now, n=n: now[n] == 2)) for n in range(len(agents))))
        done = claim(everybody, "moves")
        assert explore(ring(agents, agents), (done,)).verdicts[0].status is HOLDS
        if len(agents) > 1:
            found = explore(ring(agents, agents[:-1]), (done,)).verdicts[0]
            assert found.status is REFUTED
    both: dict[str, Fairness[Any, Any]] = {
        "moves of a": Fairness("weak", lambda _s, _a: True),
        "rest": Fairness("strong", lambda _s, _a: True),
    }
    assert list(assumed(both, ["moves", "rest"])) == ["moves of a", "rest"]
    with pytest.raises(TypeError, match="is no Fairness"):
        per_agent("moves", ["a"], lambda _agent: "weak")  # type: ignore[arg-type, return-value]


# ---------------------------------------------------------------------------------------------- second translation


def formula_of(rng: random.Random, atoms: tuple[Formula, ...], size: int) -> Formula:
    """A random formula of about this size."""
    if size <= 1:
        return rng.choice((*atoms, *atoms, TRUE, FALSE))
    if rng.random() < 0.4:
        return rng.choice((X, F, G, ltl.Negation))(formula_of(rng, atoms, size - 1))
    left = rng.randint(1, size - 1)
    kinds: tuple[Callable[[Formula, Formula], Formula], ...] = (U, R, W, ltl.Both, ltl.Either, ltl.Implies)
    return rng.choice(kinds)(formula_of(rng, atoms, left), formula_of(rng, atoms, size - left))


def graph_of(rng: random.Random) -> tuple[AnySystem, list[int], list[Edge], dict[str, Fairness[Any, Any]]]:
    """A random system of one to four states, some of which offer nothing, and two fairness assumptions."""
    size = rng.randint(1, 4)
    moves = {
        n: {action: rng.randrange(size) for action in rng.sample("abc", rng.choice((0, 1, 1, 2, 2, 3)))}
        for n in range(size)
    }

    def serving(which: str) -> Callable[[Any, Any], bool]:
        return lambda _state, action: action == which

    fair: dict[str, Fairness[Any, Any]] = {
        "weak": Fairness("weak", serving(rng.choice("abc"))),
        "strong": Fairness("strong", serving(rng.choice("abc"))),
    }
    made = evenhand.system(
        "random",
        initial=[0],
        actions=lambda here: sorted(moves[here]),
        step=lambda here, action: moves[here][action],
        fair=fair,
    )
    edges: list[Edge] = [(here, action, there) for here in moves for action, there in moves[here].items()]
    return made, sorted(moves), edges, fair


def as_formula(one: Fairness[Any, Any], edges: list[Edge]) -> Formula:
    """A fairness assumption as a formula over the edges."""

    def offered(here: Any) -> bool:
        return any(edge[0] == here and one.taken(here, edge[1]) for edge in edges)

    def taken_on(edge: Any) -> bool:
        return edge[1] is not None and one.taken(edge[0], edge[1])

    def offered_at(_config: Any, here: Any) -> bool:
        return offered(here)

    taken, offers = Atom("step", taken_on, taken_on), Atom("state", offered_at, offered_at)
    return (G(F(~offers)) if one.kind == "weak" else F(G(~offers))) | G(F(taken))


def compare(seed: int) -> tuple[bool, bool]:
    """Decide one random claim both ways; return what each says of its being refuted."""
    rng = random.Random(seed)
    made, states, edges, fair = graph_of(rng)
    low = frozenset(rng.sample(states, rng.randint(0, len(states))))
    atoms = (
        state(lambda here: here in low),
        state(lambda here: here == 0),
        step(lambda taken: taken.action == "a"),
        step(lambda taken: taken.after in low),
    )
    formula = formula_of(rng, atoms, rng.randint(1, 6))
    named = tuple(rng.sample(sorted(fair), rng.randint(0, 2)))
    stutter = rng.random() < 0.3
    (found,) = explore(made, (claim(formula, *named, stutter=stutter),)).verdicts
    assert "does not confirm" not in found.because, (seed, found.because)

    def true(atom: Atom, edge: Edge) -> bool:
        here, action, there = (one[1] if isinstance(one, tuple) else one for one in edge)
        if atom.of == "state":
            return atom.test(None, here)
        if atom in ours:
            return bool(atom.test((here, action, there)))
        return action is not None and bool(atom.test(evenhand.Step(None, here, action, None, there)))

    fairness = [as_formula(fair[name], edges) for name in named]
    ours = {atom for one in fairness for atom in ltl.atoms_of(one)}
    whole = ltl.every(*fairness) >> formula
    expected = refuted(whole, [0], list(with_stops(states, edges, anywhere=stutter)), true)
    return found.status is REFUTED, expected


@pytest.mark.parametrize("seed", range(4))
def test_a_second_translation_agrees(seed: int) -> None:
    """Random formulas, graphs, fairness and stuttering."""
    for number in range(15):
        mine, other = compare(1_000 * seed + number)
        assert mine is other, 1_000 * seed + number


def caught(seeds: range) -> bool:
    """Whether some comparison fails, or the judge refuses what the search found."""
    for seed in seeds:
        try:
            mine, other = compare(seed)
        except AssertionError:
            return True
        if mine is not other:
            return True
    return False


def without_promises(formula: Formula) -> automaton.Automaton:
    return replace(automaton.automaton(formula), untils=())


def without_denials(formula: Formula) -> automaton.Automaton:
    made = automaton.automaton(formula)
    return replace(made, transitions=tuple(replace(one, false=frozenset()) for one in made.transitions))


def weak_as_strong(kind: str, *more: Any) -> Any:
    return need_of({"weak": "strong", "strong": "weak"}[kind], *more)


@pytest.mark.parametrize(
    ("place", "name", "fault"),
    [
        (search, "automaton", without_promises),
        (search, "automaton", without_denials),
        (search, "need_of", weak_as_strong),
        (automaton, "_DUAL", {**automaton._DUAL, ltl.Until: ltl.Until}),
        (automaton, "_DUAL", {**automaton._DUAL, ltl.Both: ltl.Both}),
    ],
)
def test_a_planted_fault_is_caught(monkeypatch: pytest.MonkeyPatch, place: Any, name: str, fault: Any) -> None:
    """By the comparison with the second translation."""
    monkeypatch.setattr(place, name, fault)
    assert caught(range(120))


@pytest.mark.deep
@pytest.mark.timeout(3_600)
def test_a_second_translation_agrees_ten_thousand_times() -> None:
    """The same, ten thousand times; about one claim in two is refuted."""
    kept = [compare(100_000 + number) for number in range(10_000)]
    assert [number for number, (mine, other) in enumerate(kept) if mine is not other] == []
    assert 2_000 < sum(mine for mine, _ in kept) < 8_000
