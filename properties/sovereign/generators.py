"""Generators of `sovereign`: the configurations and rules that are drawn, and the coverage floors of rare events.

Drawn at random, hardly any candidate passes a gate and no warrant is ever used.  So constructive rules propose lawful
candidates, hand over the warrant that was issued, use and log; hostile ones spoil a candidate in one place, forge,
replay, mutate, swap links and restart.  Configurations go beyond those searched: other constitutions, other trees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evenhand.core.atoms import Atom
from evenhand.core.generator import Draw, Event, Generator, Rule, st
from evenhand.core.records import replace
from evenhand.core.system import Scope
from evenhand.model.sovereign.constitution import REFERENCE_CONSTITUTION, IoPolicy, cite
from evenhand.model.sovereign.menus import (
    ESCAPES,
    LAWFUL_PATHS,
    TREE,
    at_time,
    budget,
    candidate,
    integrity_failure,
    renamed,
    said,
)
from evenhand.model.sovereign.paths import dir_, file_, link_
from evenhand.model.sovereign.readings import Readings
from evenhand.model.sovereign.state import Act, Check, Config, Decide, Log, Mutate, Restart, State, Swap, Use
from evenhand.model.sovereign.vocabulary import (
    ACTION,
    EXECUTORS,
    EXIT,
    GATES,
    KERNEL,
    LOG_APPEND,
    NOTIFY,
    READ_LOCAL,
    REFUSE,
    WRITE_LOCAL,
    Candidate,
    Observation,
    Request,
    ScopeClaim,
    Warrant,
)
from evenhand.properties.sovereign.predicates import KernelStep, decided, refusal_of, same_request

D = ("repo", "workspace", "d")


@st.composite
def _made(draw: Any, readings: Readings) -> Config:
    """The reference constitution, sometimes with other paths or limits; a tree with or without a hostile link."""
    constitution = REFERENCE_CONSTITUTION
    match draw(st.sampled_from(("plain", "plain", "plain", "io", "limits", "types"))):
        case "io":
            constitution = replace(constitution, io=IoPolicy(("./artifacts/",), ("./workspace/d/", "./logs/")))
        case "limits":
            few = draw(st.sampled_from((0, 40, 6000)))
            limits = replace(
                constitution.limits,
                max_total_tokens_per_cycle=few,
                max_chars_per_line=draw(st.sampled_from((400, 700))),
            )
            constitution = replace(constitution, limits=limits)
        case "types":
            constitution = replace(constitution, action_types=constitution.action_types[1:])
        case _:
            pass
    tree = TREE
    if draw(st.integers(0, 3)) == 0:
        spot = draw(st.sampled_from((("repo", "workspace", "l"), ("repo", "artifacts", "l"))))
        targets = ("../../etc/secret", "/etc/secret", "l", "../workspace/d/f", "/repo/workspace/d/f", "/d/f")
        target = draw(st.sampled_from(targets))
        tree = tuple(sorted((*tree, (spot, link_(target)))))
    return Config(constitution, tree, readings=readings)


def _configs(_scope: Scope, readings: Readings) -> st.SearchStrategy[Config]:
    return _made(readings)


def _observations(draw: Draw, hostile: bool) -> tuple[Observation, ...]:
    """A time, words and a budget within the limits, in any order; if hostile, odd ones too, perhaps one missing."""
    minute = draw(st.integers(0, 9))
    found = [at_time(f"2026-02-12T12:0{minute}:00Z"), said(draw(st.sampled_from(("hello", "again", "")))), budget(30)]
    if hostile:
        odd = (
            at_time("2026-02-12T13:00:00Z"),
            at_time(""),
            budget(6001),
            budget(-5),
            budget(7),
            budget("3"),
            budget(Atom("null", "null")),
            budget(10**6),
            integrity_failure(),
            integrity_failure("startup_integrity_ok"),
            Observation("rumour"),
            Observation("user_input", (("event", "startup_integrity_fail"),)),
        )
        found += draw(st.lists(st.sampled_from(odd), min_size=1, max_size=2))
        if draw(st.integers(0, 2)) == 0:
            found.pop(draw(st.integers(0, 2)))
    return tuple(draw(st.permutations(found)))


_PATHS = (*LAWFUL_PATHS, "logs/decisions.jsonl", "./workspace/l", "./artifacts/l", "./artifacts/a", *ESCAPES)


def _lawful(draw: Draw, config: Config, seen: tuple[Observation, ...], paths: int = 6) -> Candidate:
    kind = draw(st.sampled_from((NOTIFY, WRITE_LOCAL, READ_LOCAL)))
    links = tuple("./" + "/".join(place[1:]) for place, node in config.tree if node.kind == "link")
    path = draw(st.sampled_from(_PATHS[:paths] + links * 4))
    text = draw(st.sampled_from(("m", "n", "o", "x" * 500)))
    why = draw(st.sampled_from(("because", "why not", "for the plan", "\u00e9" * 100)))
    return candidate(seen, kind, constitution=config.constitution, path=path, text=text, why=why)


def _spoiled(draw: Draw, config: Config, seen: tuple[Observation, ...]) -> Candidate:
    """A lawful candidate with one thing changed."""
    good = _lawful(draw, config, seen)
    scope = good.scope
    assert scope is not None
    clause = cite(config.constitution, "NO-SUCH-CLAUSE")
    pointer = cite(
        config.constitution, draw(st.sampled_from(("/limits", "", "/clauses/0/id", "/clauses/9", "/nothing")))
    )
    spoiled = (
        replace(good, citations=()),
        replace(good, citations=(*good.citations, clause)),
        replace(good, citations=(pointer,)),
        replace(good, citations=(good.citations[0].replace(config.constitution.version, "9.9.9"),)),
        replace(good, scope=None),
        replace(good, scope=ScopeClaim((), scope.clause_ref)),
        replace(good, scope=replace(scope, observation_ids=("0" * 64, *scope.observation_ids))),
        replace(good, scope=replace(scope, clause_ref=clause)),
        replace(good, justification=None),
        candidate(seen, "Shell", constitution=config.constitution),
        candidate(seen, LOG_APPEND, constitution=config.constitution, author=KERNEL),
        candidate(seen, "Exit", constitution=config.constitution),
        replace(good, request=replace(good.request, fields=(*good.request.fields, ("zz", 1)))),
        replace(good, request=replace(good.request, author="nobody")),
        replace(good, request=Request(NOTIFY, (("message", Atom("bool", "true")),))),
        candidate(seen, WRITE_LOCAL, constitution=config.constitution, path=draw(st.sampled_from(ESCAPES))),
        candidate(seen, READ_LOCAL, constitution=config.constitution, path=draw(st.sampled_from(_PATHS))),
        renamed(good, "user", "2020-01-01T00:00:00Z"),
    )
    return draw(st.sampled_from(spoiled))


def _propose(draw: Draw, config: Config, _scope: Scope, _state: State) -> Act:
    seen = _observations(draw, False)
    made = [_lawful(draw, config, seen)]
    made += [_spoiled(draw, config, seen) for _ in range(draw(st.integers(0, 2)))]
    return Decide(seen, tuple(draw(st.permutations(made))))


def _propose_badly(draw: Draw, config: Config, _scope: Scope, _state: State) -> Act:
    """Spoiled candidates only, or none."""
    seen = _observations(draw, False)
    return Decide(seen, tuple(_spoiled(draw, config, seen) for _ in range(draw(st.integers(0, 3)))))


def _observe_badly(draw: Draw, config: Config, _scope: Scope, _state: State) -> Act:
    seen = _observations(draw, True)
    return Decide(seen, tuple(_lawful(draw, config, seen) for _ in range(draw(st.integers(0, 2)))))


def _repeat(draw: Draw, config: Config, _scope: Scope, _state: State) -> Act:
    seen = _observations(draw, False)
    one = _lawful(draw, config, seen)
    other = draw(st.sampled_from((one, renamed(one, "user", ""))))
    return Decide(seen, (one, other, _spoiled(draw, config, seen)))


def _flood(draw: Draw, config: Config, _scope: Scope, _state: State) -> Act:
    seen = _observations(draw, False)
    many = [candidate(seen, NOTIFY, constitution=config.constitution, text=str(n)) for n in range(52)]
    return Decide(seen, tuple(many))


def _hand_over(draw: Draw, _config: Config, _scope: Scope, state: State) -> Act:
    fresh = sorted((one for one in state.issued if not one.age), key=lambda one: one.bundle)
    warrant = draw(st.sampled_from(fresh))
    return Check(draw(st.sampled_from(EXECUTORS)), warrant, replace(warrant.request, author="reflection"))


def _replay(draw: Draw, _config: Config, _scope: Scope, state: State) -> Act:
    """Any issued warrant, perhaps made to look fresh, or a forged one; with its own request or another."""
    seen = sorted(state.issued, key=lambda one: (one.bundle, one.created_at, one.age))
    outside = Request(WRITE_LOCAL, (("content", "m"), ("path", ESCAPES[0])))
    forged = Warrant(replace(outside, author=""), "f" * 64, "")
    fresher = [replace(one, age=0) for one in seen if one.age]
    warrant = draw(st.sampled_from((*seen, *fresher, forged)))
    request = draw(st.sampled_from((warrant.request, outside)))
    return Check(draw(st.sampled_from(EXECUTORS)), warrant, request)


def _use(draw: Draw, _config: Config, _scope: Scope, state: State) -> Act:
    holding = [name for name, held in zip(EXECUTORS, state.held, strict=True) if held is not None]
    return Use(draw(st.sampled_from(holding)))


def _mutate(draw: Draw, _config: Config, _scope: Scope, state: State) -> Act:
    holding = [name for name, held in zip(EXECUTORS, state.held, strict=True) if held is not None]
    request = Request(WRITE_LOCAL, (("content", "m"), ("path", draw(st.sampled_from(_PATHS)))))
    return Mutate(draw(st.sampled_from(holding)), request)


def _swap(draw: Draw, _config: Config, _scope: Scope, _state: State) -> Act:
    places = (D, (*D, "f"), ("repo", "workspace"), ("repo", "artifacts", "a"), ("repo", "workspace", "x"))
    nodes = (link_("../../etc"), link_("/etc/secret"), link_("."), dir_(), file_("new"))
    return Swap(draw(st.sampled_from(places)), draw(st.sampled_from(nodes)))


def _restart(draw: Draw, _config: Config, _scope: Scope, _state: State) -> Act:
    return Restart(draw(st.sampled_from((*EXECUTORS, "host"))))


def _log(_draw: Draw, _config: Config, _scope: Scope, _state: State) -> Act:
    return Log()


def _runs(_config: Config, state: State) -> bool:
    return not state.over


def _warranted(_config: Config, state: State) -> bool:
    return not state.over and any(not one.age for one in state.issued)


def _holds(_config: Config, state: State) -> bool:
    return not state.over and any(one is not None for one in state.held)


def _idle(_config: Config, state: State) -> bool:
    spent = {one.warrant for one in state.spent}
    return not state.over and not any(not one.age and one not in spent for one in state.issued)


def _owes(_config: Config, state: State) -> bool:
    return not state.over and bool(state.owed)


_PROPOSALS = (
    Rule("propose", _propose, _idle),
    Rule("propose badly", _propose_badly, _idle, hostile=True),
    Rule("observe badly", _observe_badly, _idle, hostile=True),
    Rule("repeat", _repeat, _runs, hostile=True),
    Rule("flood", _flood, _runs, hostile=True),
)
_ATTACKS = (
    Rule("hand over", _hand_over, _warranted),
    Rule("hand over again", _hand_over, _warranted),
    Rule("use", _use, _holds),
    Rule("use at once", _use, _holds),
    Rule("log", _log, _owes),
    Rule("replay or forge", _replay, _runs, hostile=True),
    Rule("mutate", _mutate, _holds, hostile=True),
    Rule("swap", _swap, _runs, hostile=True),
    Rule("restart", _restart, _runs, hostile=True),
)


def _at(gate: str) -> Callable[[KernelStep], bool]:
    def seen(step: KernelStep) -> bool:
        one = step.shown.decision
        return one is not None and any(where == gate for _, where in one.trace)

    return seen


def _reason(reason: str) -> Callable[[KernelStep], bool]:
    def seen(step: KernelStep) -> bool:
        return decided(step, REFUSE) and refusal_of(step).reason == reason

    return seen


def _rejected(words: str) -> Callable[[KernelStep], bool]:
    def seen(step: KernelStep) -> bool:
        return words in step.shown.rejected

    return seen


def _mutated(step: KernelStep) -> bool:
    if not isinstance(step.action, Mutate):
        return False
    held = step.after.held[EXECUTORS.index(step.action.executor)]
    return held is not None and not same_request(held.request, held.warrant.request)


_DECIDED = (
    Event("something is admitted", lambda step: decided(step, ACTION), 100),
    Event("the agent exits", lambda step: decided(step, EXIT), 10),
    *(Event(f"a candidate fails {gate}", _at(gate), 20) for gate in GATES),
    Event("no single time", _reason("MISSING_REQUIRED_OBSERVATION"), 20),
    Event("no budget left", _reason("BUDGET_EXHAUSTED"), 20),
)

GENERATORS: tuple[Generator, ...] = (
    Generator(
        "agent",
        _configs,
        (*_PROPOSALS[:3], Rule("propose too early", _propose, _runs, hostile=True), *_ATTACKS),
        (
            *_DECIDED,
            Event("something is done", lambda step: bool(step.shown.effects), 60),
            Event("a forged warrant", _rejected("no such warrant"), 20),
            Event("a stale warrant", _rejected("earlier cycle"), 20),
            Event("a spent warrant", _rejected("is spent"), 10),
            Event("another request", _rejected("another request"), 10),
            Event("a path that leads outside", _rejected("outside"), 5),
            Event("a request mutated in hand", _mutated, 10),
        ),
    ),
    Generator("lists", _configs, _PROPOSALS, _DECIDED),
)
"""The agent with its attacker, and single decisions."""
