"""One step of the agent: a decision, a check, a use, a log, or the attacker's between them; or a whole cycle at once.

`agent_step` is the agent with its attacker.  `judging_step` decides and keeps no state, for scopes in which every
candidate meets every context.  `session_step` runs whole cycles, Observe → Propose → Decide → Execute → Log, and
counts refusals and tokens, which end a condition.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.core.records import replace
from evenhand.core.system import Step
from evenhand.model.sovereign.executor import EXECUTOR_RULES, done
from evenhand.model.sovereign.kernel import KERNEL_RULES, Observations, Rules, decide, path_of
from evenhand.model.sovereign.paths import resolve
from evenhand.model.sovereign.state import (
    ABORTED,
    EXITED,
    SESSION_BUDGET_EXHAUSTED,
    Act,
    Check,
    Config,
    Cycle,
    Decide,
    Held,
    Log,
    Mutate,
    Restart,
    Shown,
    State,
    Swap,
    Use,
)
from evenhand.model.sovereign.telemetry import TELEMETRY_RULES
from evenhand.model.sovereign.vocabulary import (
    ACTION,
    BUDGET,
    EXECUTORS,
    EXIT,
    REFUSE,
    Candidate,
    Decision,
    Effect,
    LogBundle,
    Record,
    field,
)

MOST_EQUAL = 2
"""Equal lines of one effect's trace that are owed at once."""

SovereignStep = Step[Config, State, Act, Shown]


def settle(config: Config, state: State, kind: str, tokens: int) -> State:
    """Return a session after a cycle: refusals in a row, tokens spent, and whether that ends it (13.10)."""
    counts = kind == REFUSE and config.most_refusals > 0
    refusals = state.refusals + 1 if counts else 0
    cap, at_the_cap = config.session_budget, config.readings.session_budget == "reached"
    spent = state.tokens + tokens if cap is not None else 0
    over = ""
    if kind == EXIT:
        over = EXITED
    elif cap is not None and (spent > cap or (at_the_cap and spent == cap)):
        over = SESSION_BUDGET_EXHAUSTED
    elif counts and refusals >= config.most_refusals:
        over = ABORTED
    return replace(state, refusals=refusals, tokens=spent, over=over)


REFERENCE_FUNCTIONS: dict[str, Any] = {**KERNEL_RULES, **TELEMETRY_RULES, **EXECUTOR_RULES, "settle": settle}

REFERENCE = Rules(**REFERENCE_FUNCTIONS)
"""The rules of Phase X."""


def initial(config: Config) -> tuple[State, ...]:
    """Return the tree of the configuration, nothing issued."""
    return (State(tree=config.tree),)


def tokens_of(observations: Observations) -> int:
    """Return the tokens that a cycle reports; a value that is no count above zero counts nothing."""
    counts = [field(one.payload, "llm_output_token_count") for one in observations if one.kind == BUDGET]
    return sum(count for count in counts if isinstance(count, int) and count > 0)


def _no(state: State, because: str) -> tuple[State, Shown]:
    return state, Shown("rejected", rejected=because)


def agent_step(rules: Rules, config: Config, state: State, action: Act) -> tuple[State, Shown]:
    """Take one action; an impossible action is rejected and changes nothing."""
    if state.over:
        return _no(state, f"the agent is over: {state.over}")
    match action:
        case Decide(observations, candidates):
            return _decided(rules, config, state, observations, candidates)
        case Check(executor):
            return _checked(rules, config, state, action) if executor in EXECUTORS else _no(state, "no such executor")
        case Use(executor):
            return executed(rules, config, state, executor) if executor in EXECUTORS else _no(state, "no such executor")
        case Log():
            return logged(rules, config, state)
        case Mutate(executor, request):
            held = state.held[EXECUTORS.index(executor)] if executor in EXECUTORS else None
            if held is None:
                return _no(state, "nothing is held there")
            return _holding(state, executor, replace(held, request=request)), Shown("mutate")
        case Swap(place, node):
            kept = [entry for entry in state.tree if entry[0] != place]
            tree = tuple(sorted([*kept, (place, node)], key=lambda entry: entry[0]))
            return replace(state, tree=tree), Shown("swap")
        case Restart(who):
            return rules.restart(config, state, who), Shown("restart")
        case _:
            return _no(state, "whole cycles belong to a session")


def _decided(
    rules: Rules, config: Config, state: State, observations: Observations, candidates: tuple[Candidate, ...]
) -> tuple[State, Shown]:
    decision = decide(rules, config, observations, candidates)
    fresh = rules.age(config, state)
    if decision.warrant is not None:
        fresh = replace(fresh, issued=fresh.issued | {decision.warrant})
    intents = rules.intents(config, observations, candidates, decision)
    over = EXITED if decision.kind == EXIT else ""
    return replace(fresh, owed=together(intents), over=over), Shown("decide", decision=decision, intents=intents)


def together(records: tuple[Record, ...]) -> tuple[Record, ...]:
    """Return owed or logged lines in one order, so that no order of theirs makes a state."""
    return tuple(sorted(records, key=lambda one: (one.stream, one.chars, one.size, one.digest)))


def _holding(state: State, executor: str, held: Held | None) -> State:
    both = tuple(held if name == executor else one for name, one in zip(EXECUTORS, state.held, strict=True))
    return replace(state, held=(both[0], both[1]))


def _checked(rules: Rules, config: Config, state: State, action: Check) -> tuple[State, Shown]:
    """Validate a warrant and request, and resolve the path in the current tree."""
    executor, warrant, request = action.executor, action.warrant, action.request
    why = rules.valid(config, state, executor, warrant, request)
    if why:
        return state, Shown("check", rejected=why)
    held = Held(warrant, request)
    held = replace(held, place=rules.place(config, state, held))
    if not rules.permitted(config, request, held.place):
        return state, Shown("check", rejected="the path leads outside what the constitution allows")
    return _holding(state, executor, held), Shown("check")


def executed(rules: Rules, config: Config, state: State, executor: str) -> tuple[State, Shown]:
    """Use a held request: validate it anew; the warrant is spent whatever the tree then allows."""
    held = state.held[EXECUTORS.index(executor)]
    if held is None:
        return _no(state, "nothing is held there")
    empty = _holding(state, executor, None)
    why = rules.valid(config, state, executor, held.warrant, held.request)
    if why:
        return empty, Shown("use", rejected=why)
    if not rules.permitted(config, held.request, rules.place(config, state, held)):
        return empty, Shown("use", rejected="the path leads outside what the constitution allows")
    path = path_of(held.request)
    where = None if path is None else resolve(state.tree, path)  # opening resolves anew, whatever was checked
    tree, effect = done(state.tree, held.request, where)
    spent = rules.spend(config, state, executor, held.warrant)
    after = replace(empty, tree=tree, spent=spent)
    if effect is None:
        return after, Shown("use", rejected="the tree does not allow it")
    owed = rules.trace_effect(config, held.request)
    # A cycle has one effect; a faulty executor's third equal line is dropped, so that its graph is finite.
    kept = tuple(one for one in owed if state.owed.count(one) < MOST_EQUAL)
    return replace(after, owed=together((*state.owed, *kept))), Shown("use", effects=(effect,), intents=owed)


def logged(rules: Rules, config: Config, state: State) -> tuple[State, Shown]:
    """Write the owed lines, bundle by bundle, where the kernel issues a LogAppend warrant."""
    written: list[Record] = []
    lost: list[Record] = []
    made: list[LogBundle] = []
    for bundle in rules.bundles(config, state.owed):
        admitted = rules.log_admits(rules, config, bundle)
        (written if admitted else lost).extend(bundle)
        if admitted:
            lines = tuple(one.digest for one in bundle)
            made.append(LogBundle(bundle[0].stream, lines, rules.log_hash(config, bundle)))
    owed = rules.trace_log(config, tuple(written))
    shown = Shown(
        "log",
        intents=owed,
        logged=together(tuple(written)),
        lost=together(tuple(lost)),
        log_warrants=len(made),
        log_bundles=tuple(made),
    )
    return replace(state, owed=owed), shown


def judging_step(rules: Rules, config: Config, state: State, action: Act) -> tuple[State, Shown]:
    """Decide and show; only an EXIT changes the state."""
    if state.over or not isinstance(action, Decide):
        return _no(state, "the agent is over" if state.over else "only decisions here")
    decision = decide(rules, config, action.observations, action.candidates)
    intents = rules.intents(config, action.observations, action.candidates, decision)
    shown = Shown("decide", decision=decision, intents=intents)
    return replace(state, over=EXITED if decision.kind == EXIT else ""), shown


def session_step(rules: Rules, config: Config, state: State, action: Act) -> tuple[State, Shown]:
    """Run a whole cycle: decide, execute what is warranted, log, and count."""
    if state.over or not isinstance(action, Cycle):
        return _no(state, f"the session is over: {state.over}" if state.over else "whole cycles only")
    observations, candidates = action.observations, action.candidates
    now, shown = _decided(rules, config, state, observations, candidates)
    decision = shown.decision
    assert decision is not None
    effects: tuple[Effect, ...] = ()
    if decision.kind == ACTION and decision.warrant is not None:
        named = _named(rules, config, decision, candidates)
        now, _ = _checked(rules, config, now, Check(EXECUTORS[0], decision.warrant, named))
        now, used = executed(rules, config, now, EXECUTORS[0])
        effects, shown = used.effects, replace(shown, intents=(*shown.intents, *used.intents))
    now, logs = logged(rules, config, now)
    shown = replace(logs, kind="cycle", decision=decision, effects=effects, intents=shown.intents)
    settled = rules.settle(config, state, decision.kind, tokens_of(observations))
    return replace(settled, tree=now.tree), shown


def _named(rules: Rules, config: Config, decision: Decision, candidates: tuple[Candidate, ...]) -> Any:
    """Return the candidate request with the warrant's hash; else the warrant's own."""
    assert decision.warrant is not None
    found = [one.request for one in candidates if rules.hashed(config, one) == decision.warrant.bundle]
    return found[0] if found else decision.warrant.request


def smaller(config: Config, start: State) -> Iterator[tuple[Config, State]]:
    """Yield trees with one node less, with all that lies below it, so that a disk can hold them."""
    for gone, _ in config.tree:
        less = replace(config, tree=tuple(one for one in config.tree if one[0][: len(gone)] != gone))
        if start.tree == config.tree:
            yield less, initial(less)[0]
