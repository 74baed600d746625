"""Certificates of searches: made for what is true, refused for what is false, whatever ranks are given."""

from __future__ import annotations

import ast
import copy
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

import evenhand_certificates.searches
from evenhand.core.answers import ModelError
from evenhand.core.kinds import Safety
from evenhand.core.property import Commute, DeadlockFree, DeterminedBy, Liveness, Property, TwoRun
from evenhand.core.system import AnySystem, everywhere
from evenhand.core.verdict import Status
from evenhand.search import explore
from evenhand.search.bounds import Bounds
from evenhand.search.ranks import NoRanks, configuration
from evenhand_certificates import Invalid
from evenhand_certificates.errors import Work
from evenhand_certificates.searches import check as checking
from evenhand_certificates.searches import watches
from evenhand_certificates.searches.ranks import LivenessRanks
from tests.deep import rest_slow
from tests.engines.search.oracle import expected, graphs_of
from tests.engines.search.suite import claims_about
from tests.models.random_systems import luck, table_system

ENDLESS: dict[str, Any] = {"ranks": [0], "quiet": {}}
ENDLESS["quiet"]["0"] = {"assumption": "a", **ENDLESS}

FOLDER = Path(evenhand_certificates.searches.__file__ or "").parent


def test_the_checker_is_small_and_knows_no_engine() -> None:
    """At most 700 lines, which import the standard library, the rest of the checker, and the core."""
    sources = [file.read_text("utf-8") for file in FOLDER.glob("*.py")]
    assert sum(len(text.splitlines()) for text in sources) <= 700
    for text in sources:
        for node in ast.walk(ast.parse(text)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                known = name.split(".")[0] in sys.stdlib_module_names | {"evenhand_certificates"}
                assert known or name.startswith("evenhand.core."), name


def entries_of(system: AnySystem, claims: Sequence[Property]) -> list[dict[str, Any]]:
    """What a certificate says of the configurations.  Raises NoRanks."""
    return [
        dict(configuration(system, config, number, claims, Bounds()))
        for number, config in enumerate(system.all_configs())
    ]


def accepts(system: AnySystem, claim: Property, entries: Any) -> bool:
    """Whether the checker accepts these entries for a claim."""
    try:
        checking.check_configurations(system, [claim], entries)
    except (Invalid, ModelError, RecursionError):
        return False
    return True


def cases(seed: int) -> Iterator[tuple[AnySystem, Property, bool]]:
    """Random systems and claims, and whether each is true, by definition or, for pairs, by the search."""
    system = table_system(seed, states=2 + seed % 3, tables=1 + seed % 2, dense=seed % 3 == 0)
    graphs = graphs_of(system)
    for claim in claims_about(seed):
        yield system, claim, expected(system, claim, graphs).true
    pairs = pairs_about(seed)
    for claim, verdict in zip(pairs, explore(system, pairs).verdicts, strict=True):
        yield system, claim, verdict.status is not Status.REFUTED


@dataclass(frozen=True, kw_only=True, repr=False)
class Starts(Safety):
    """A claim about histories that asks about their start alone."""

    fine: Callable[[Any], bool]

    def at_start(self, config: Any, state: Any) -> bool | None:
        """Return whether the state is fine."""
        return self.fine(state)

    def answer(self, config: Any, memory: Any) -> bool | None:
        """Return that nothing else matters."""
        return True


def pairs_about(seed: int) -> tuple[Property, ...]:
    """Random claims that compare runs, of each kind, and one about the start of runs."""
    random = Random(f"pairs {seed}")
    chance, place = random.choice((0.0, 0.1, 1.0)), random.randrange(3)
    return (
        Starts(name="starts", sentence="", fine=lambda state: luck(f"{state} start {seed}") < 0.7),
        DeterminedBy(
            name="determined",
            sentence="",
            key=lambda step: step.before,
            value=lambda step: len(step.config.edges),
            across=seed % 3 > 0,
        ),
        DeterminedBy(
            name="by_action",
            sentence="",
            key=lambda step: step.action,
            value=lambda step: luck(f"{step.before} {seed}") < chance,
        ),
        Commute(
            name="commute",
            sentence="",
            pairs=lambda _config, _state, enabled: pairwise(enabled),
            same=lambda _config, one, two: one.after == two.after or luck(f"{one} {two}") < chance,
        ),
        TwoRun(
            name="moved",
            sentence="",
            twins=lambda _config, _state, _action: ("", "again")[: 1 + seed % 2],
            config=lambda _w, config: config,
            state=lambda w, _config, state: state if w else place % 2,
            other=lambda _w, action: (action,),
            agree=lambda w, step, other: seed % 4 > 1 if w == "" and other != step else other == step,
            starts=seed % 4 > 1,
        ),
        TwoRun(
            name="begins_anywhere",
            sentence="",
            twins=lambda _config, _state, _action: (1, True)[: 1 + seed % 2],
            config=lambda _w, config: config,
            state=lambda w, _config, state: state if w is True or seed % 2 == 0 else 0,
            other=lambda _w, action: (action,),
            agree=lambda _w, _step, other: other is not None and other.before == 0,
            starts=False,
        ),
        TwoRun(
            name="same",
            sentence="",
            twins=lambda _config, _state, _action: ("w",),
            config=lambda _w, config: config,
            state=lambda _w, _config, state: state,
            other=lambda _w, action: (action,),
            agree=lambda _w, step, other: other == step,
        ),
        TwoRun(
            name="purged",
            sentence="",
            twins=lambda _config, _state, _action: ("w",),
            config=lambda _w, config: config,
            state=lambda _w, _config, state: state,
            other=lambda _w, action: (action,) if action == "a" else (),
            agree=lambda _w, step, other: step.after == (step.before if other is None else other.after),
        ),
    )


def guessed(random: Random, states: int, fairness: Sequence[str], depth: int = 2) -> dict[str, Any]:
    """Any ranks for so many states, with any assumption for each."""
    most = random.choice((1, 2, states))
    nothing = random.choice((0.0, 0.5))
    ranks = [None if random.random() < nothing else random.randrange(most) for _ in range(states)]
    quiet = {}
    for rank in range(most):
        more = guessed(random, states, fairness, depth - 1) if depth else {}
        quiet[str(rank)] = {"assumption": random.choice([*fairness, "none"]), **more}
    return {"ranks": ranks, "quiet": quiet}


def wrong(seed: int) -> list[str]:
    """False claims that the checker accepts with some of many guessed ranks, and false counts that it accepts."""
    found: list[str] = []
    random = Random(seed)
    for system, claim, true in cases(seed):
        plain: list[dict[str, Any]] = [{**entry, "ranks": {}} for entry in entries_of(system, ())]
        runs = isinstance(claim, DeadlockFree | Liveness)
        if true and not runs:
            key = random.choice(("states", "steps", "graph"))
            other: Any = "sha256:0" if key == "graph" else plain[-1][key] + random.choice((-1, 1))
            changed = [*plain[:-1], {**plain[-1], key: other}]
            found += [f"{claim.name} {key}"] * accepts(system, claim, changed)
            found += [f"{claim.name} doubled"] * accepts(system, claim, plain * 2)
        if not true:
            work = Work()
            walked = [checking.walk(system, config, [], work, 10_000) for config in system.all_configs()]
            plain = [{"states": states, "steps": steps, "graph": graph, "ranks": {}} for states, steps, graph in walked]
        for _ in range(0 if true else 250 if runs else 1):
            made = copy.deepcopy(plain)
            for entry in made if runs else ():
                given: Any = guessed(random, entry["states"], getattr(claim, "fairness", ()))
                entry["ranks"][claim.name] = given["ranks"] if isinstance(claim, DeadlockFree) else given
            if accepts(system, claim, made):
                found.append(claim.name)
                break
    return found


@pytest.mark.slow
def test_what_is_true_gets_a_certificate_and_what_is_false_gets_none() -> None:
    """The producer and the checker against definitions, on random graphs, for every kind of claim."""
    certified: dict[str, int] = {}
    nested = False
    for seed in range(60):
        for system, claim, true in cases(seed):
            try:
                entries = entries_of(system, [claim])
            except NoRanks:
                assert not true, (seed, claim.name)
                continue
            nested |= any(json.dumps(entry["ranks"]).count('"ranks"') > 1 for entry in entries)
            accepted = accepts(system, claim, json.loads(json.dumps(entries)))
            said = explore(system, [claim]).verdicts[0]
            if isinstance(claim, Liveness) and said.status is Status.UNDECIDED:
                continue  # no run is fair, so the search does not call it true
            assert accepted == said.holds, (seed, claim.name, said)
            assert not accepted or true
            certified[claim.kind] = certified.get(claim.kind, 0) + accepted
    assert all(certified.values()), certified
    assert len(certified) == 12
    assert nested, "no strong assumption needed a second rank"


def test_an_assumption_that_ends_nothing_is_refused() -> None:
    """Else ranks could name it again and again, and each level would take the time of the whole graph."""
    ranks = LivenessRanks({"ranks": [0], "quiet": {"0": {"assumption": "a", **ENDLESS}}}, {"a": "strong"}, "step")
    ranks.begin(0, ends=False)
    ranks.step(0, raised=True, served=False, taken=frozenset())
    with pytest.raises(Invalid, match="which no state inside offers"):
        ranks.close()


def test_a_constraint_is_refused() -> None:
    """A goal beyond it would be met, and what holds inside it may be false outside."""
    system = table_system(0)
    claim = next(one for one in claims_about(0) if isinstance(one, Safety))
    entries: list[dict[str, Any]] = [{"states": 0, "ranks": {}} for _ in system.all_configs()]
    bounded = replace(system, constraint=everywhere)
    with pytest.raises(Invalid, match="a constraint bounds its runs"):
        checking.check_configurations(bounded, [claim], entries)
    with pytest.raises(Invalid, match=r"other states, steps or successors|is false"):
        checking.check_configurations(system, [claim], entries)


def begins(way: Any) -> tuple[int, int, int]:
    """How often a walk asks where the second run of this way begins; the states and the steps of the walk."""
    system = table_system(1, states=4, tables=1, dense=True)
    asked: list[Any] = []

    def state(_w: Any, _config: Any, here: Any) -> Any:
        asked.append(here)
        return here

    claim = TwoRun(
        name="same",
        sentence="",
        twins=lambda _config, _state, _action: (way,),
        config=lambda _w, config: config,
        state=state,
        other=lambda _w, action: (action,),
        agree=lambda _w, step, other: other == step,
    )
    (config,) = system.all_configs()
    watch = watches.watch_of(claim, system, config, None, {})
    states, steps, _ = checking.walk(system, config, [watch], Work(), 10_000)
    assert watch.met == steps
    return len(asked), states, steps


def test_where_a_second_run_begins_is_asked_once_for_each_state() -> None:
    """A way without a hash, or one that is seldom the same, is asked for at every step."""
    asked, states, steps = begins("w")
    assert asked == states < steps
    asked, _, steps = begins(["w"])
    assert asked == steps


def second_ranks_pass(second: list[int]) -> bool:
    """Whether such second ranks make a false claim pass, which random graphs are too small to show.

    State 0 alone offers what a strong assumption is about, and 1 and 2 lead to each other for ever, which is fair.
    """
    reason = {"assumption": "a", "ranks": second, "quiet": {"0": {"assumption": "a"}}}
    kind: type[LivenessRanks] = vars(watches)["LivenessRanks"]  # a test may have put another one there
    ranks = kind({"ranks": [0, 0, 0], "quiet": {"0": reason}}, {"a": "strong"}, "step")
    try:
        for place, successors in enumerate(((1,), (0, 2), (1,))):
            ranks.begin(place, ends=False)
            for there in successors:
                ranks.step(there, raised=True, served=False, taken=frozenset())
            if place == 0:
                ranks.step(0, raised=False, served=True, taken=frozenset({"a"}))
        ranks.close()
    except Invalid:
        return False
    return True


SECOND = [0, 0, 0], [0, 0, 1], [0, 1, 0]


def test_no_ranks_make_a_false_claim_pass() -> None:
    """Guessed ranks, 250 for each false claim about whole runs; a changed count is refused as well."""
    assert not any(map(second_ranks_pass, SECOND))
    assert [found for seed in range(30) for found in wrong(seed)] == []


OBJECTIONS = {
    "ranks": (
        "wants something and has no rank",
        "completes or leads to a smaller rank",
        "which has no rank",
        "a run that owes something ends",
        "raises the rank",
        "which a step inside serves",
        "which a state inside does not offer",
        "raises the second rank",
    ),
    "watches": (
        "is false in state",
        "is false on a step",
        "is false at the start",
        "is false after a step",
        "has another value",
        "is not initial",
        "do not agree",
    ),
    "check": ("has other states, steps or successors", "configurations, not"),
}
"""What the checker objects to; without the objection something false passes."""

RULES = {
    "an equal rank is smaller": ("ranks", "other < own", "other <= own"),
    "what is raised is not owed": ("ranks", "if raised or own is not None:", "if own is not None:"),
    "what is owed is forgotten": ("ranks", "if raised or own is not None:", "if raised:"),
    "every kind waits for a loop that raises": ("ranks", 'if self._begins == "loop" and not any', "if not any"),
    "strong fairness ends everything": ("ranks", "elif rest := [", "elif False and ["),
    "second levels are quiet": ("ranks", "self._check(equal, ranks, quiet)", "pass"),
    "weak is strong": ("ranks", '== "weak"', '!= "weak"'),
    "goals are met": ("watches", "if not self.met and self.claim.goal(step):", "if True:"),
    "histories stop where they meet": ("watches", "return new", "return False"),
    "configurations are not compared": ("watches", "if claim.across else", "if False else"),
    "the second run begins where the first does": ("watches", "fork.state, fork.right", "state, fork.right"),
    "second runs begin where those of the state before did": ("watches", "self.begun.clear()", "pass"),
    "equal ways are one": ("watches", "and alike(known[0], way)", ""),
    "states are not visited again": ("check", "and there < visited:", "and False:"),
    "only initial states are visited": (
        "check",
        "waiting[place] = None\n",
        "waiting.update({place: None} if initial else {})\n",
    ),
}
"""A rule, and how it reads when it is broken."""

OBJECTS = re.compile(r"raise (?:Invalid|self\.false)\(f\"([^\"]*)\"\)")


def faults() -> Iterator[tuple[str, str, str, str]]:
    """Yield a name, a module, a part of its source, and what a broken checker has in its place."""
    yield from ((name, *rule) for name, rule in RULES.items())
    for module, texts in OBJECTIONS.items():
        found = {match[1]: match[0] for match in OBJECTS.finditer((FOLDER / f"{module}.py").read_text("utf-8"))}
        for text in texts:
            (statement,) = (whole for said, whole in found.items() if text in said)
            yield f"no objection: {text}", module, statement, "pass"


@pytest.mark.parametrize(("name", "module", "right", "broken"), rest_slow(faults(), 6))
def test_a_checker_without_a_rule_accepts_something_false(
    name: str, module: str, right: str, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each rule is needed: without it a false claim or a false count passes."""
    source = (FOLDER / f"{module}.py").read_text("utf-8")
    assert source.count(right) == 1, right
    faulty: dict[str, Any] = {"__name__": f"evenhand_certificates.searches.{module}"}
    exec(compile(source.replace(right, broken), f"{module}.py", "exec"), faulty)
    match module:
        case "ranks":
            for kind in ("DeadlockRanks", "LivenessRanks"):
                monkeypatch.setattr(watches, kind, faulty[kind])
        case "watches":
            monkeypatch.setattr(checking, "watch_of", faulty["watch_of"])
        case _:
            for function in ("check_configurations", "walk"):
                monkeypatch.setattr(checking, function, faulty[function])
    assert any(map(second_ranks_pass, SECOND)) or any(wrong(seed) for seed in range(60)), name
