"""Classify a finished run and its kernel, from the trace alone.

The classifier knows the configuration and the steps, never the rules: it re-adjudicates every epoch with the
reference kernel and compares.  A harness that copied an injected fault's flag into its verdict would prove
nothing.  Classification never stops a run.

**Terminal class** (FQ34, F18, FQ28, G21), one for every finished run: of the classes below that hold, the
first under the reading `terminal_precedence`; if none holds, `COORDINATED` where something was executed,
else `INVALID_RUN/NONTERMINATING_CONDITION`.

- `COLLAPSE`: no agent is left.  (The kernel class says whether a rule was broken.)
- `ORPHANING`: the only holders of some ALLOW have exited (reading `orphan_scope`).
- `STATE_DEADLOCK`: the last epoch is deadlocked: no submitted action passes pass 1, and no agent in the run had an
  alternative that does (reading `deadlock_space`).  An epoch without a submission is a deadlock only under
  `silent_epoch=deadlock`.
- `STATE_LIVELOCK`: latched when the counter of the reading `livelock_rule` reaches N = 3.

**Kernel class**: `IX2_PASS` where every step is the one that the reference makes of the same choices in the same
state; else every class of `KERNEL_CLASSES` that some epoch shows, in their fixed order, the first as the
verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from evenhand.core.records import dataclass, replace
from evenhand.core.system import Step
from evenhand.model.cud.kernel import (
    ADMITTED,
    INVALID_CAPABILITY_CLAIM,
    LIVELOCK_EPOCHS,
    PASS_ONE,
    PASS_TWO,
    REFERENCE,
    SCOPE_VIOLATION,
    STRUCTURE,
    Bound,
    Finding,
    Happened,
    action_id,
    examine,
)
from evenhand.model.cud.step import active, adjudicate, changes, ended, initial, moment, orphaned, step
from evenhand.model.cud.strategies import covering
from evenhand.model.cud.vocabulary import (
    DONE,
    FAILURE,
    OPERATIONS,
    TOKENS,
    Authority,
    Choice,
    Config,
    Entry,
    Epoch,
    Request,
    Shown,
    State,
)

_RunStep: TypeAlias = Step[Config, State, Epoch, Shown]

COLLAPSE = "COLLAPSE"
ORPHANING = "ORPHANING"
DEADLOCK = "STATE_DEADLOCK"
LIVELOCK = "STATE_LIVELOCK"
COORDINATED = "COORDINATED"
INVALID_RUN = "INVALID_RUN/NONTERMINATING_CONDITION"
TERMINAL_CLASSES = (COLLAPSE, ORPHANING, DEADLOCK, LIVELOCK, COORDINATED, INVALID_RUN)
"""Every terminal class of a run that has ended: the first of those that hold by `terminal_precedence`; where none does,
`COORDINATED` if something was executed, else an invalid run."""

_WORDS = {"collapse": COLLAPSE, "orphaning": ORPHANING, "deadlock": DEADLOCK, "livelock": LIVELOCK}

PASS = "IX2_PASS"
ARBITRATION = "IX2_FAIL/IMPLICIT_ARBITRATION"
THEFT = "IX2_FAIL/AUTHORITY_THEFT"
OVERRIDDEN = "IX2_FAIL/VETO_OVERRIDDEN"
UNSTRUCTURED = "IX2_FAIL/STRUCTURE_BREACH"
UNSCOPED = "IX2_FAIL/SCOPE_BREACH"
OVER_REFUSAL = "IX2_FAIL/OVER_REFUSAL"
SIGHTED = "IX2_FAIL/BLINDNESS_BREACH"
MISTOLD = "IX2_FAIL/TOKEN_BREACH"
CHANNEL = "IX2_FAIL/CHANNEL_BREACH"
MISEXECUTED = "IX2_FAIL/STATE_BREACH"
DRIFT = "IX2_FAIL/DRIFT"

KERNEL_CLASSES: Mapping[str, str] = {
    ARBITRATION: "a request that interferes with another was executed, or a request was rewritten, or one that pass 1 "
    "refused passed it in a later epoch",
    THEFT: "a request passed pass 1 without a cited and held ALLOW for every declared key",
    OVERRIDDEN: "a request passed pass 1 against a DENY",
    UNSTRUCTURED: "a faulty request was treated as another, or not as the fault it is",
    UNSCOPED: "a key changed that no executed request declared, or a violator was not found, or an innocent blamed",
    OVER_REFUSAL: "a request that passes pass 1 and interferes with none was refused",
    SIGHTED: "a refusal was told otherwise than by the one token, or a receipt was handed out",
    MISTOLD: "an agent was told an outcome other than its own",
    CHANNEL: "a message or an observation differs from what was sent and what is to be seen",
    MISEXECUTED: "the world is not what the executed requests make of it",
    DRIFT: "anything else in which the step is not the reference's",
}
"""Every class of kernel failure with its condition, in the order of precedence."""


@dataclass(frozen=True, slots=True)
class EpochFacts:
    """The facts of one epoch for the terminal class: agents in the run, any request, any that passes pass 1."""

    epoch: int | None
    here: tuple[str, ...]
    submitted: bool
    admissible: bool


@dataclass(frozen=True, slots=True)
class Tally:
    """The facts of a run so far; a monitor's value.

    `facts` holds every epoch of a run with a frozen end, and only the last one of a run without.  `able` are the
    agents of which some request of this run, re-stamped, passes pass 1.  `livelocked` is the epoch in which
    the counter first reached N (-1: not yet; 0 in a run without a frozen end).  `breaches` are the kernel classes
    seen, in order.
    """

    left: tuple[str, ...]
    orphans: tuple[tuple[str, str], ...] = ()
    facts: tuple[EpochFacts, ...] = ()
    able: tuple[str, ...] = ()
    counter: int = 0
    livelocked: int = -1
    executed: bool = False
    breaches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Classification:
    """A finished run: its terminal and kernel class, and their grounds.

    `holding` are all terminal classes that hold, by precedence; `deadlocked` one flag per epoch; `since` the
    epoch from which the terminal class holds to the end (None where epochs are not counted, and for classes
    of the whole run).  `kernel_classes` is empty for an honest kernel.
    """

    terminal: str
    kernel: str
    holding: tuple[str, ...]
    deadlocked: tuple[bool, ...]
    since: int | None
    kernel_classes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a run so far amounts to: whether it has ended, and its terminal class (empty before the end)."""

    ended: bool
    terminal: str


def start(config: Config) -> Tally:
    """Return the tally before the first epoch."""
    return Tally(config.agents)


def update(tally: Tally, taken: _RunStep) -> Tally:
    """Return the tally after one more step; a step after the end of the run is no epoch."""
    config, before, after = taken.config, taken.before, taken.after
    found = (*tally.breaches, *(one for one in taken.once(breaches) if one not in tally.breaches))
    found = tuple(one for one in KERNEL_CLASSES if one in found)
    if ended(config, before):
        return replace(tally, breaches=found)
    here = active(config, before)
    requests = [(agent, choice.request) for agent, choice in _choices(taken) if choice.request and not choice.exits]
    passing = [agent for agent, request in requests if _passes(config, before, agent, request)]
    restamped = [agent for agent, r in requests if _passes(config, before, agent, replace(r, action_id=None))]
    tokens = dict(taken.shown.tokens)
    happened = Happened(
        attempted=bool(requests),
        refused=len(passing) < len(requests),
        collided=any(tokens.get(agent) == FAILURE for agent in passing),
        changed=before.world != after.world,
    )
    counter = REFERENCE.count(config, tally.counter, happened)
    facts = EpochFacts(before.epoch, here, bool(requests), bool(passing))
    return Tally(
        left=active(config, after),
        orphans=orphaned(config, after),
        facts=(facts,) if config.epochs is None else (*tally.facts, facts),
        able=tuple(agent for agent in config.agents if agent in tally.able or agent in restamped),
        counter=counter,
        livelocked=(before.epoch or 0) if tally.livelocked < 0 and counter >= LIVELOCK_EPOCHS else tally.livelocked,
        executed=tally.executed or any(token == DONE for _, token in taken.shown.tokens),
        breaches=found,
    )


def deadlocked(config: Config, tally: Tally) -> tuple[bool, ...]:
    """Return a deadlock flag for each epoch; later requests count as alternatives too (reading `deadlock_space`)."""
    able = _able(config, tally)
    silent = config.readings.silent_epoch == "deadlock"
    return tuple(
        not facts.admissible and (facts.submitted or silent) and not any(agent in able for agent in facts.here)
        for facts in tally.facts
    )


def finish(config: Config, tally: Tally) -> Classification:
    """Return the classes of a run that ends with this tally."""
    flags = deadlocked(config, tally)
    holds = {
        COLLAPSE: not tally.left,
        ORPHANING: bool(tally.orphans),
        DEADLOCK: bool(flags) and flags[-1],
        LIVELOCK: tally.livelocked >= 0,
    }
    order = (_WORDS[word] for word in config.readings.terminal_precedence.split("_"))
    holding = tuple(one for one in order if holds[one])
    if holding:
        terminal = holding[0]
    elif tally.executed and config.readings.end_at_max == "coordinated_if_any_executed":
        terminal = COORDINATED
    else:
        terminal = INVALID_RUN
    since: int | None = None
    if config.epochs is not None and terminal == LIVELOCK:
        since = tally.livelocked
    elif config.epochs is not None and terminal == DEADLOCK:
        since = len(flags) - next((run for run, flag in enumerate(reversed(flags)) if not flag), len(flags))
    kernel = tally.breaches[0] if tally.breaches else PASS
    return Classification(terminal, kernel, holding, flags, since, tally.breaches)


def classify(config: Config, steps: Iterable[_RunStep]) -> Classification:
    """Return the classes of a whole run; that admissibility is relaxed with time, no single step shows (F17)."""
    tally, refused = start(config), set[tuple[str, Request]]()
    for taken in steps:
        tally = update(tally, taken)
        now = set(_outside_pass_one(taken))
        if any(admitted and (agent, request) in refused for agent, request, admitted in now):
            tally = replace(tally, breaches=(ARBITRATION, *(one for one in tally.breaches if one != ARBITRATION)))
        refused.update((agent, request) for agent, request, admitted in now if not admitted)
    return finish(config, tally)


def _outside_pass_one(taken: _RunStep) -> Iterator[tuple[str, Request, bool]]:
    """Yield the logged requests that fail pass 1, without their ids, and whether the kernel let them pass it."""
    for entry in taken.shown.log:
        if entry.verdict != STRUCTURE and not _passes(taken.config, taken.before, entry.agent_id, entry.request):
            yield entry.agent_id, replace(entry.request, action_id=None), entry.verdict != PASS_ONE


def conclude(steps: Sequence[_RunStep]) -> Conclusion:
    """Return what a run of the reference amounts to so far."""
    last = steps[-1]
    over = ended(last.config, last.after)
    return Conclusion(over, classify(last.config, steps).terminal if over else "")


def breaches(taken: _RunStep) -> tuple[str, ...]:
    """Return the kernel classes of one step, in the order of `KERNEL_CLASSES`; empty iff it is the reference's."""
    config, before = taken.config, taken.before
    after, shown = step(REFERENCE, config, before, taken.action)
    if (taken.after, taken.shown) == (after, shown):
        return ()
    found: set[str] = set()
    if not ended(config, before):
        found.update(_of_requests(taken), _of_tokens(taken), _of_world(taken))
    if (taken.shown.sent, taken.shown.dropped) != (shown.sent, shown.dropped) or _misseen(taken):
        found.add(CHANNEL)
    return tuple(one for one in KERNEL_CLASSES if one in found) or (DRIFT,)


def _choices(taken: _RunStep) -> tuple[tuple[str, Choice], ...]:
    """Return the first choice of each agent in the run; the kernel must take these."""
    here = active(taken.config, taken.before)
    first: dict[str, Choice] = {}
    for agent, choice in taken.action.choices:
        if agent in here:
            first.setdefault(agent, choice)
    return tuple(first.items())


def _passes(config: Config, state: State, agent: str, request: Request) -> bool:
    now = moment(REFERENCE, config, state)
    bound = REFERENCE.bind(agent, action_id(agent, state.epoch), request)
    return examine(REFERENCE, config, REFERENCE.in_force(config, now), bound).verdict == ADMITTED


def _able(config: Config, tally: Tally) -> tuple[str, ...]:
    """Return the agents that have an admissible action in the space of the reading `deadlock_space`."""
    space = config.readings.deadlock_space
    if space == "this_epoch_only":
        return ()
    if space == "strategies_of_run" and config.strategies:
        return tally.able
    start_state = initial(config)[0]
    there = REFERENCE.in_force(config, moment(REFERENCE, config, start_state))
    simplest = (
        (agent, Request(operation, (key,), (), covering(there, agent, (key,), operation)))
        for agent in config.agents
        for key in config.keys
        for operation in OPERATIONS
    )
    return tuple(agent for agent, request in simplest if _passes(config, start_state, agent, request))


def _of_requests(taken: _RunStep) -> Iterator[str]:
    """Compare the logged verdict of each request with both passes of the reference."""
    config, before = taken.config, taken.before
    now = moment(REFERENCE, config, before)
    authorities = REFERENCE.in_force(config, now)
    logged = {entry.agent_id: entry for entry in taken.shown.log}
    for agent, judged in adjudicate(REFERENCE, config, now, taken.action).judged:
        finding, entry = judged.finding, logged.get(agent)
        if finding is None or entry is None:
            continue
        if entry.request != finding.bound.request:
            yield ARBITRATION
        if entry.action_id != finding.bound.action_id:
            yield UNSTRUCTURED
        if finding.verdict == PASS_ONE or finding.fault == INVALID_CAPABILITY_CLAIM:
            if entry.verdict in (ADMITTED, PASS_TWO):
                yield from _unlawful(authorities, finding)
            elif (entry.verdict, entry.fault) != (finding.verdict, finding.fault):
                yield UNSTRUCTURED
        elif finding.verdict == STRUCTURE or entry.verdict == STRUCTURE:
            if (entry.verdict, entry.fault) != (finding.verdict, finding.fault):
                yield UNSTRUCTURED
        elif entry.verdict == ADMITTED and finding.verdict == PASS_TWO:
            yield ARBITRATION
        elif entry.verdict == PASS_ONE or (entry.verdict, finding.verdict) == (PASS_TWO, ADMITTED):
            yield OVER_REFUSAL


def _unlawful(authorities: tuple[Authority, ...], finding: Finding) -> Iterator[str]:
    """Yield the classes of a request that should have failed pass 1."""
    covered = REFERENCE.covers(authorities, finding.bound)
    vetoed = REFERENCE.vetoed(authorities, finding.bound)
    if not covered:
        yield THEFT
    if vetoed:
        yield OVERRIDDEN
    if covered and not vetoed:
        yield UNSTRUCTURED


def _of_tokens(taken: _RunStep) -> Iterator[str]:
    """Compare the tokens of agents with the log."""
    shown = taken.shown
    logged = {entry.agent_id: entry for entry in shown.log}
    told = dict(shown.tokens)
    if shown.receipts or any(token not in TOKENS for token in told.values()):
        yield SIGHTED
    for agent, choice in _choices(taken):
        entry = logged.get(agent)
        refused = entry is not None and entry.verdict in (PASS_ONE, PASS_TWO) and not entry.fault
        if refused and told.get(agent) != FAILURE:
            yield SIGHTED
        elif told.get(agent) != (None if choice.exits else REFERENCE.token(_finding(agent, entry))):
            yield MISTOLD
    if any(entry.outcome != told.get(entry.agent_id) for entry in shown.log):
        yield MISTOLD


def _finding(agent: str, entry: Entry | None) -> Finding | None:
    return None if entry is None else Finding(Bound(agent, entry.action_id, entry.request), entry.verdict, entry.fault)


def _of_world(taken: _RunStep) -> Iterator[str]:
    """Compare the world after the epoch with the execution of the requests that are logged as admitted."""
    admitted = {entry.agent_id: entry for entry in taken.shown.log if entry.verdict == ADMITTED}
    keys = taken.config.keys
    executed = tuple(
        Bound(agent, admitted[agent].action_id, _within(choice.request, keys))
        for agent, choice in _choices(taken)
        if agent in admitted and choice.request is not None
    )
    honest = REFERENCE.execute(taken.config, taken.before.world, executed)
    if honest.violators != tuple(agent for agent, entry in sorted(admitted.items()) if entry.fault == SCOPE_VIOLATION):
        yield UNSCOPED
    for effect in changes(honest.world, taken.after.world):
        declared = any(effect.key in bound.request.declared_scope for bound in executed)
        yield MISEXECUTED if declared else UNSCOPED


def _within(request: Request, keys: tuple[str, ...]) -> Request:
    """Return the request without writes to keys that do not exist."""
    return replace(request, proposed_delta=tuple(pair for pair in request.proposed_delta if pair[0] in keys))


def _misseen(taken: _RunStep) -> bool:
    """Return whether some agent's observation differs from the reference's."""
    config, before = taken.config, taken.before
    honest = tuple((agent, REFERENCE.observe(config, before, agent, ())) for agent in active(config, before))
    return taken.shown.seen != (() if ended(config, before) else honest)
