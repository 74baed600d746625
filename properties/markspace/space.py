"""Scopes and the space: isolation, visibility, immutability, ids, order, hooks, supersession (P19 to P33, P47, 8)."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator

from evenhand.core.plan import refuted
from evenhand.core.property import always, determined_by, each_step, two_run
from evenhand.core.records import replace
from evenhand.model.markspace.exact import ZERO
from evenhand.model.markspace.guard_vocabulary import Policy
from evenhand.model.markspace.marks import (
    Act,
    Ask,
    Decide,
    Kind,
    Needs,
    Read,
    Resolve,
    Space,
    SpaceConfig,
    SpaceStep,
    Tick,
    Visibility,
    Write,
)
from evenhand.properties.markspace.predicates import holds_nothing_but, same_action, same_state
from evenhand.properties.markspace.space_predicates import (
    ONLY,
    AskStep,
    DecideStep,
    ReadStep,
    ResolveStep,
    WriteStep,
    alike_below,
    answer,
    governing,
    is_asked,
    is_cleared,
    is_read,
    is_write,
    live_seen,
    marks_shown,
    marks_there,
    strength,
    undone,
    visibility_of,
    writes,
)


def _lawful(config: SpaceConfig, act: Write) -> bool:
    """8.1: the agent is authorised, the scope is defined and the fields are legal in it."""
    scope, draft = governing(config, act.draft.scope), act.draft
    if scope is None or not writes(config, act.agent, draft.scope, draft.kind):
        return False
    legal = draft.strength > 0 or (draft.strength == 0 and config.readings.zero_strength == "allowed")
    match draft.kind:
        case Kind.INTENT:
            return legal and 0 <= draft.confidence <= 1 and draft.verb in scope.intent_verbs
        case Kind.ACTION:
            return legal and draft.verb in scope.action_verbs
        case Kind.OBSERVATION:
            return legal and 0 <= draft.confidence <= 1 and ("*" in scope.topics or draft.subject in scope.topics)
        case Kind.WARNING:
            return legal and ("*" in scope.topics or draft.subject in scope.topics)
        case Kind.NEED:
            return legal and 0 <= draft.confidence <= 1


def _authorised(step: WriteStep) -> bool:
    return writes(step.config, step.action.agent, step.action.draft.scope, step.action.draft.kind)


@each_step(
    "An agent without authorisation for a scope can write nothing there.",
    source="P19, 7.3",
    systems=ONLY,
    when=lambda step: is_write(step) and not _authorised(step),
)
def scope_isolation_p19(step: WriteStep) -> bool:
    """The write is refused and stores nothing."""
    return bool(step.shown.refused) and step.after == step.before


@each_step(
    "A mark is stored exactly if its writer is authorised, its scope exists and its fields are legal there; a refusal "
    "says why.",
    source="8.1, 2, 7.2",
    systems=ONLY,
    when=is_write,
)
def writes_are_exactly_the_lawful(step: WriteStep) -> bool:
    """The condition is necessary and sufficient."""
    lawful = _lawful(step.config, step.action)
    stored = len(step.after.marks) == len(step.before.marks) + 1
    return stored == lawful and bool(step.shown.refused) == (not lawful)


def _is_a_question_of_authority(step: SpaceStep) -> bool:
    defined = is_write(step) and governing(step.config, step.action.draft.scope) is not None
    return defined and step.shown.refused in ("", "not authorised")


@each_step(
    "Authorisation for a scope holds for every scope below it, and for no other.",
    source="P23, 7.5",
    systems=ONLY,
    when=_is_a_question_of_authority,
)
def hierarchy_p23(step: WriteStep) -> bool:
    """Checked for writing; reading follows from the answers of reads."""
    return _authorised(step) == (not step.shown.refused)


def _reads_the_undefined(step: SpaceStep) -> bool:
    return is_read(step) and alike_below(step) and step.action.scope not in {scope.name for scope in step.config.scopes}


@each_step(
    "A scope without a definition of its own is as visible as the scope above it.",
    source="P26",
    systems=ONLY,
    when=_reads_the_undefined,
)
def visibility_inheritance_p26(step: ReadStep) -> bool:
    """The answer to a reader without clearance shows the visibility."""
    parent = step.action.scope.rpartition("/")[0]
    view = visibility_of(step.config, parent)
    if is_cleared(step) or view is Visibility.OPEN:
        return not any(seen.projected for seen in answer(step)) and marks_shown(step) == marks_there(step)
    if view is Visibility.CLASSIFIED:
        return answer(step) == ()
    return all(seen.projected for seen in answer(step)) and marks_shown(step) == marks_there(step)


@each_step(
    "A mark that was written is visible to authorised reads while it lives, at the strength that is left of it.",
    source="P27, 8.2",
    systems=ONLY,
    when=lambda step: is_read(step) and (step.action.reader is None or (alike_below(step) and is_cleared(step))),
)
def write_visibility_p27(step: ReadStep) -> bool:
    """Exactly the live marks, each with its exact strength, strongest first."""
    expected = {mark.id: worth for mark, worth in live_seen(step.config, step.before, step.action.scope)}
    shown = [(seen.mark.id, seen.strength) for seen in answer(step)]
    falling = all(not first[1] < second[1] for first, second in itertools.pairwise(shown))
    return dict(shown) == expected and len(shown) == len(expected) and falling


@each_step(
    "Reading, resolving a conflict and aggregating needs change no mark.",
    source="P28",
    systems=ONLY,
    when=lambda step: isinstance(step.action, Read | Decide | Ask | Needs),
)
def read_purity_p28(step: SpaceStep) -> bool:
    """These are pure queries."""
    return step.after == step.before


@each_step(
    "A need that is resolved has strength 0 from then on.",
    source="P29, 8.3",
    systems=ONLY,
    when=lambda step: isinstance(step.action, Resolve) and not step.shown.refused,
)
def resolution_immediacy_p29(step: ResolveStep) -> bool:
    """A copy that names the action supersedes the original, and the copy has strength 0."""
    config, after = step.config, step.after
    need = after.find(step.action.need)
    copy = None if step.shown.stored is None else after.find(step.shown.stored)
    if need is None or copy is None or copy.resolved_by != step.action.action:
        return False
    return copy.draft.supersedes == need.id and all(strength(config, after, m) == ZERO for m in (need, copy))


@each_step("No field of a stored mark ever changes; only time goes on.", source="P30, P2", systems=ONLY)
def mark_immutability_p30(step: SpaceStep) -> bool:
    """The marks before are the first marks after, older by the time that passed."""
    seconds = step.action.seconds if isinstance(step.action, Tick) else 0
    older = tuple(replace(mark, age=mark.age + seconds) for mark in step.before.marks)
    return step.after.marks[: len(older)] == older


def _several_marks(_config: SpaceConfig, space: Space) -> bool:
    return len(space.marks) > 1


@always("No two marks share an id.", source="P31", systems=ONLY, when=_several_marks)
def mark_id_uniqueness_p31(space: Space) -> bool:
    """Within one space."""
    return len({mark.id for mark in space.marks}) == len(space.marks)


@always(
    "(created_at, id) orders marks totally, created_at never goes back, and the order is that of writing.",
    source="P32, P52",
    systems=ONLY,
    when=_several_marks,
    expected=(refuted("ids need not follow the order of writing", system="space", id_order="adversarial"),),
)
def total_write_ordering_p32(space: Space) -> bool:
    """The last part needs ids that follow the order of writing."""
    keys = [(-mark.age, mark.id) for mark in space.marks]
    return len(set(keys)) == len(keys) and keys == sorted(keys)


@always(
    "(created_at, id) orders marks totally, and created_at never goes back.",
    source="P32, repaired",
    systems=ONLY,
    when=_several_marks,
)
def writes_are_totally_ordered(space: Space) -> bool:
    """This holds for any choice of ids; marks of one instant may be ordered otherwise than written."""
    ages = [mark.age for mark in space.marks]
    return len({(mark.age, mark.id) for mark in space.marks}) == len(ages) and ages == sorted(ages, reverse=True)


# P33: a second run with other hooks.


_ANSWERS: dict[type, tuple[str, ...]] = {
    Write: ("stored", "hooked"),
    Resolve: ("stored",),
    Read: ("seen",),
    Decide: ("candidates", "winner"),
    Ask: ("candidates", "winner", "claimed_by"),
    Needs: ("clusters",),
    Tick: (),
}


@each_step(
    "A reply holds what the operation returns, and nothing else; a refusal holds its reason alone.",
    source="8.1 to 8.4, 8.6",
    systems=ONLY,
)
def replies_hold_what_was_asked(step: SpaceStep) -> bool:
    """A read names no winner, a write shows no mark."""
    names = () if step.shown.refused else _ANSWERS[type(step.action)]
    return holds_nothing_but(step.shown, "refused", *names)


@each_step(
    "A read is refused exactly where no scope is defined; every other one is answered, be it with no marks at all, and "
    "so is whoever aggregates needs.",
    source="8.2, 8.4",
    systems=ONLY,
    when=lambda step: isinstance(step.action, Read | Needs | Tick),
)
def reads_are_answered(step: SpaceStep) -> bool:
    """Who may not see a mark hears of none, and is not refused; nor is time, unless it would go back."""
    act = step.action
    if isinstance(act, Tick):
        return bool(step.shown.refused) == (act.seconds < 0)
    if isinstance(act, Needs):
        return not step.shown.refused
    assert isinstance(act, Read)
    none = governing(step.config, act.scope) is None
    return bool(step.shown.refused) == (step.shown.seen is None) == none


@each_step(
    "After each successful write every hook runs, one that raises aside; after nothing else.",
    source="8.6, P33",
    systems=ONLY,
)
def hooks_run_after_each_write(step: SpaceStep) -> bool:
    """A resolution stores a mark by another operation."""
    return sorted(step.shown.hooked) == sorted(_due(step))


def _due(step: SpaceStep) -> tuple[str, ...]:
    """The hooks that do not fail, after a write."""
    wrote = isinstance(step.action, Write) and step.shown.stored is not None
    return tuple(one for one in step.config.hooks if one != "failing") if wrote else ()


def _hook_sets(config: SpaceConfig, _space: Space, act: Act) -> Iterator[tuple[str, ...]]:
    if isinstance(act, Write | Resolve) and config.hooks:
        yield ()
        yield ("failing",)


def _with_hooks(hooks: tuple[str, ...], config: SpaceConfig) -> SpaceConfig:
    return replace(config, hooks=hooks)


@two_run(
    "Hooks change nothing: with others, or with ones that fail, the same is stored and read.",
    source="P33, 8.6",
    systems=ONLY,
    twins=_hook_sets,
    config=_with_hooks,
    state=same_state,
    other=same_action,
)
def hook_non_interference_p33(_hooks: tuple[str, ...], step: SpaceStep, other: SpaceStep | None) -> bool:
    """Hooks observe and refuse nothing; every hook that does not fail has run."""
    assert other is not None
    same = replace(step.shown, hooked=()) == replace(other.shown, hooked=())
    return same and step.after == other.after and step.shown.hooked == _due(step)


@each_step(
    "No read shows a superseded mark; along a chain only the last one can be seen.",
    source="P47",
    systems=ONLY,
    when=lambda step: is_read(step) and any(undone(step.config, step.before, m) for m in step.before.marks),
)
def supersession_transitivity_p47(step: ReadStep) -> bool:
    """This includes reads by infrastructure."""
    gone = {mark.id for mark in step.before.marks if undone(step.config, step.before, mark)}
    return not gone & marks_shown(step)


def _several_contend(step: SpaceStep) -> bool:
    return isinstance(step.action, Decide) and len(step.shown.candidates) > 1


def _policy_and_intents(step: SpaceStep) -> tuple[Hashable, ...]:
    return (
        tuple(scope.policy for scope in step.config.scopes[:1]),
        frozenset((mark.id, mark.age, mark.agent, mark.draft.confidence) for mark in step.shown.candidates),
    )


@determined_by(
    "Given the same set of intents, everybody who resolves the conflict names the same winner.",
    source="P11, 6.1",
    systems=ONLY,
    key=_policy_and_intents,
    when=_several_contend,
)
def resolution_is_a_function_of_the_intents(step: DecideStep) -> int | None:
    """The order in which intents are listed does not matter."""
    return step.shown.winner


def _answers_a_contest(step: SpaceStep) -> bool:
    return is_asked(step) and not step.shown.refused


@each_step(
    "The earliest intent wins by (created_at, id), under HIGHEST_CONFIDENCE the earliest of the most confident; where "
    "several agents yield to the principal none does.",
    source="6.1, P11, P32: ties included",
    systems=ONLY,
    when=_answers_a_contest,
)
def winners_come_first(step: DecideStep | AskStep) -> bool:
    """This holds for every reader and the guard, on the intents that it sees; without intents none wins."""
    scope, intents = governing(step.config, step.action.scope), step.shown.candidates
    assert scope is not None
    if not intents:
        return step.shown.winner is None
    if scope.policy is Policy.YIELD_ALL and len({mark.agent for mark in intents}) > 1:
        return step.shown.winner is None
    top = max(mark.draft.confidence for mark in intents)
    fit = [mark for mark in intents if scope.policy is not Policy.HIGHEST_CONFIDENCE or mark.draft.confidence == top]
    oldest = max(mark.age for mark in fit)
    return step.shown.winner == min(mark.id for mark in fit if mark.age == oldest)
