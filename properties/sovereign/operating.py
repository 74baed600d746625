"""What each operation of the agent does, and nothing else: the warranted thing is done, and only what it touches moves.

What must never be done is claimed in `executing`; here a kernel, an executor and a log that do nothing are refuted.
"""

from __future__ import annotations

from collections import Counter

from evenhand.core.property import each_step
from evenhand.core.records import replace
from evenhand.model.sovereign.paths import BASE, Node, Place, Tree
from evenhand.model.sovereign.state import Check, Cycle, Decide, Held, Log, Mutate, Restart, State, Swap, Use
from evenhand.model.sovereign.vocabulary import EXECUTORS, EXIT, STREAMS, Effect, Request, Warrant, field
from evenhand.properties.sovereign.predicates import (
    DECIDING,
    EXECUTING,
    KernelStep,
    allowed,
    decision_of,
    path_of,
    same_request,
)

WHOLE = ("agent",)
"""The system with an attacker between check and use."""
WRITES = {"WriteLocal": "content", "LogAppend": "jsonl_lines"}
"""The action types that write to a file, and the field with what they write."""


def _plain(tree: Tree, path: object) -> Place | None:
    """Where a path of plain names leads through directories that are there; None for any other path."""
    at = BASE
    *inner, last = [one for one in str(path).split("/") if one not in ("", ".")] or [".."]
    for name in (*inner, last):
        if name == ".." or str(path).startswith("/"):
            return None
        at = (*at, name)
    nodes = dict(tree)
    above = [at[:length] for length in range(len(BASE) + 1, len(at))]
    plain = at not in nodes or nodes[at].kind != "link"
    return at if plain and all(where in nodes and nodes[where].kind == "dir" for where in above) else None


def _due(step: KernelStep, request: Request) -> Effect | None:
    """The effect that a request must have in this tree; None where this module knows none."""
    if request.action_type == "Notify":
        return Effect("Notify", (), str(field(request.fields, "message")))
    place = _plain(step.before.tree, path_of(request))
    if place is None or request.action_type not in ("ReadLocal", *WRITES):
        return None
    there = dict(step.before.tree).get(place)
    if request.action_type == "ReadLocal":
        due = None if there is None or there.kind != "file" else Effect("ReadLocal", place, there.text)
    else:
        fits = there is None or there.kind == "file"
        written = field(request.fields, WRITES[request.action_type])
        text = "\n".join(map(str, written)) if isinstance(written, tuple) else str(written)
        due = Effect(request.action_type, place, text) if fits else None
    return due if due is not None and allowed(step.config, due) else None


def _good(state: State, warrant: Warrant, request: Request) -> bool:
    """Whether a warrant is the kernel's, of this cycle, for this request, and nobody has spent it."""
    fresh = all(one.warrant != warrant for one in state.spent)
    return warrant in state.issued and warrant.age == 0 and fresh and same_request(request, warrant.request)


def _held(step: KernelStep) -> Held | None:
    name = getattr(step.action, "executor", "")
    return step.before.held[EXECUTORS.index(name)] if name in EXECUTORS else None


def _must_act(step: KernelStep) -> bool:
    held = _held(step)
    if not isinstance(step.action, Use) or held is None or step.before.over:
        return False
    return _good(step.before, held.warrant, held.request) and _due(step, held.request) is not None


@each_step(
    "An executor that holds a good warrant does what its request names: it notifies, reads the text that is there, or "
    "writes the content where the path leads.",
    source="2.2, 6",
    systems=WHOLE,
    when=_must_act,
)
def good_warrants_are_carried_out(step: KernelStep) -> bool:
    """Claimed of plain paths to what can be read or written; a kernel that does nothing is refuted."""
    held = _held(step)
    assert held is not None
    return step.shown.effects == (_due(step, held.request),) and not step.shown.rejected


@each_step(
    "A cycle that warrants an action carries it out: it notifies, reads the text that is there, or writes what is to "
    "be written.",
    source="2.2, 6",
    systems=("session", "constitutions"),
    when=lambda step: (
        step.shown.decision is not None
        and step.shown.decision.warrant is not None
        and _due(step, step.shown.decision.warrant.request) is not None
    ),
)
def cycles_carry_out_their_warrant(step: KernelStep) -> bool:
    """Claimed of plain paths to what can be read or written."""
    warrant = decision_of(step).warrant
    assert warrant is not None
    return step.shown.effects == (_due(step, warrant.request),)


@each_step(
    "A check that finds a good warrant, and a plain path that the constitution allows, takes both.",
    source="2.2, 4 INV-1",
    systems=WHOLE,
    when=lambda step: (
        isinstance(step.action, Check)
        and not step.before.over
        and step.action.executor in EXECUTORS
        and _good(step.before, step.action.warrant, step.action.request)
        and _due(step, step.action.request) is not None
    ),
)
def good_warrants_are_taken(step: KernelStep) -> bool:
    """Where a request must have an effect, the check lets it through."""
    return step.shown.kind == "check" and not step.shown.rejected


def _written(step: KernelStep) -> Tree:
    """The tree after the effects of a step, or the attacker's node."""
    tree: dict[Place, Node] = dict(step.before.tree)
    if isinstance(step.action, Swap) and step.shown.kind == "swap":
        tree[step.action.place] = step.action.node
    for effect in step.shown.effects:
        if effect.action_type == "WriteLocal":
            tree[effect.place] = Node("file", effect.text)
    return tuple(sorted(tree.items(), key=lambda entry: entry[0]))


@each_step(
    "A file that is written has the content, and no other place of the tree changes.",
    source="2.2, 4 INV-1",
    systems=EXECUTING,
)
def the_tree_changes_as_effects_say(step: KernelStep) -> bool:
    """The attacker puts one node at one place."""
    return step.after.tree == _written(step)


def _older(held: Held | None) -> Held | None:
    return None if held is None else replace(held, warrant=replace(held.warrant, age=1))


def _hands(step: KernelStep) -> tuple[Held | None, ...]:
    """What both executors hold after a step, the place that was checked aside."""
    action, refused = step.action, bool(step.shown.rejected)
    hands = list(step.before.held)
    if isinstance(action, Decide) and not refused:
        hands = [_older(one) for one in hands]
    elif isinstance(action, Check) and not refused:
        hands[EXECUTORS.index(action.executor)] = Held(action.warrant, action.request)
    elif isinstance(action, Use) and step.shown.kind == "use":
        hands[EXECUTORS.index(action.executor)] = None
    elif isinstance(action, Mutate) and not refused:
        held = _held(step)
        hands[EXECUTORS.index(action.executor)] = held and replace(held, request=action.request)
    elif isinstance(action, Restart) and not refused and action.who in EXECUTORS:
        hands[EXECUTORS.index(action.who)] = None
    return tuple(held and replace(held, place=None) for held in hands)


@each_step(
    "An executor holds what it has checked until it uses it, and the other one is left alone; a warrant of an earlier "
    "cycle is old wherever it is kept.",
    source="4 INV-1, 8.A",
    systems=WHOLE,
)
def executors_hold_what_they_checked(step: KernelStep) -> bool:
    """A use lets go of it, whatever comes of the use; so does a restart."""
    return tuple(held and replace(held, place=None) for held in step.after.held) == _hands(step)


@each_step(
    "After a decision every earlier warrant is old, issued or spent, and the kernel has issued the new one alone.",
    source="4 INV-1",
    systems=WHOLE,
    when=lambda step: isinstance(step.action, Decide) and step.shown.decision is not None,
)
def decisions_begin_a_cycle(step: KernelStep) -> bool:
    """An executor's check of the cycle compares with this."""
    warrant = decision_of(step).warrant
    new = frozenset[Warrant]() if warrant is None else frozenset({warrant})
    issued = frozenset(replace(one, age=1) for one in step.before.issued) | new
    spent = frozenset(replace(one, warrant=replace(one.warrant, age=1)) for one in step.before.spent)
    return step.after.issued == issued and step.after.spent == spent


@each_step(
    "The kernel decides whenever it is asked, unless the agent is over, and at no other time.",
    source="1, 2.2, 7 A72",
    systems=DECIDING,
    version=2,
)
def whoever_asks_gets_a_decision(step: KernelStep) -> bool:
    """Whatever the observations and candidates are."""
    asked = isinstance(step.action, Decide | Cycle) and not step.before.over
    return (step.shown.decision is not None) == asked


@each_step(
    "An EXIT, and nothing else, ends the agent.",
    source="6, 7 A29",
    systems=("agent", "candidates", "lists"),
)
def an_exit_alone_ends_the_agent(step: KernelStep) -> bool:
    """Sessions end by their budgets too, as claimed in `stopping`."""
    if step.shown.decision is not None:
        return bool(step.after.over) == (step.shown.decision.kind == EXIT)
    return step.after.over == step.before.over


@each_step(
    "Lines that are owed wait, with the new ones of a step, until they are logged; all that are owed are then logged "
    "or said to be lost.",
    source="2.2, 7 A55",
    systems=WHOLE,
    when=lambda step: not isinstance(step.action, Restart) or step.action.who in EXECUTORS,
)
def owed_lines_wait_for_the_log(step: KernelStep) -> bool:
    """A cycle owes each kind of line at most twice, so that more of one kind are not kept; the host's restart forgets
    them, of which no sentence speaks.
    """
    owed, before, new = Counter(step.after.owed), Counter(step.before.owed), Counter(step.shown.intents)
    if step.shown.kind == "log":
        return not owed and Counter((*step.shown.logged, *step.shown.lost)) == before
    if step.shown.decision is not None:
        return owed == new
    few = all(before[one] < 2 for one in new)
    return not few or owed == before + new


_KINDS: dict[type, str] = {
    Decide: "decide",
    Cycle: "cycle",
    Check: "check",
    Use: "use",
    Log: "log",
    Mutate: "mutate",
    Swap: "swap",
    Restart: "restart",
}


def _possible(step: KernelStep) -> bool:
    """Whether there is something to do: an agent that is not over, and a request to use or to change."""
    action = step.action
    if step.before.over or (isinstance(action, Check) and action.executor not in EXECUTORS):
        return False
    return not isinstance(action, Use | Mutate) or _held(step) is not None


@each_step(
    "A step shows what was done: a check, a use, a log; what is impossible is shown as rejected.",
    source="2.2",
    systems=EXECUTING,
)
def steps_show_their_kind(step: KernelStep) -> bool:
    """No agent that is over, and nothing to use, does anything."""
    return step.shown.kind == (_KINDS[type(step.action)] if _possible(step) else "rejected")


@each_step(
    "A reason is given where something is refused, and nowhere else: a use without an effect says why.",
    source="2.2, 4 INV-1",
    systems=WHOLE,
    when=lambda step: step.shown.kind != "check",
)
def refusals_alone_have_a_reason(step: KernelStep) -> bool:
    """What a check refuses is claimed by what it takes."""
    refused = step.shown.kind == "rejected" or (step.shown.kind == "use" and not step.shown.effects)
    return bool(step.shown.rejected) == refused


@each_step(
    "An effect owes one line of the execution trace; no step but a decision owes anything else.",
    source="2.2, 3.2",
    systems=WHOLE,
    when=lambda step: not isinstance(step.action, Decide),
)
def effects_owe_one_line(step: KernelStep) -> bool:
    """A LogAppend owes none."""
    due = [STREAMS[4] for effect in step.shown.effects if effect.action_type != "LogAppend"]
    return [one.stream for one in step.shown.intents] == due


@each_step(
    "Lines are logged, or lost, in the log alone.",
    source="2.2",
    systems=WHOLE,
    when=lambda step: not isinstance(step.action, Log) or bool(step.before.over),
)
def the_log_alone_logs(step: KernelStep) -> bool:
    """No other step uses a LogAppend warrant."""
    return (step.shown.logged, step.shown.lost, step.shown.log_warrants) == ((), (), 0)


@each_step(
    "A use spends no warrant but its own, and nothing else spends one.",
    source="4 INV-1",
    systems=WHOLE,
    when=lambda step: not isinstance(step.action, Decide),
)
def uses_spend_their_own_warrant(step: KernelStep) -> bool:
    """An effect spends it, as claimed in `executing`."""
    new = {one.warrant for one in step.after.spent} - {one.warrant for one in step.before.spent}
    held = _held(step) if isinstance(step.action, Use) else None
    return new <= ({held.warrant} if held is not None else set[Warrant]())


def _tries(step: KernelStep) -> bool:
    """Whether a good warrant is used for a plain path below a directory that the constitution allows."""
    held = _held(step)
    if not isinstance(step.action, Use) or held is None or step.before.over:
        return False
    kind, place = held.request.action_type, _plain(step.before.tree, path_of(held.request))
    lawful = kind in ("ReadLocal", "WriteLocal") and place is not None and allowed(step.config, Effect(kind, place, ""))
    return lawful and _good(step.before, held.warrant, held.request)


@each_step(
    "A use of a good warrant spends it, even where nothing can be read or written there.",
    source="4 INV-1",
    systems=WHOLE,
    when=_tries,
)
def failed_uses_spend_their_warrant(step: KernelStep) -> bool:
    """Otherwise a warrant would be good for as many attempts as there are changes of the tree."""
    held = _held(step)
    assert held is not None
    return any(one.warrant == held.warrant for one in step.after.spent)
