"""Effects: warranted, once, within the allow-list, whatever the attacker does between check and use (INV-1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evenhand.core.plan import refuted
from evenhand.core.property import each_step, monitor
from evenhand.core.records import replace
from evenhand.model.sovereign.paths import BASE, Place, Tree
from evenhand.model.sovereign.state import Check, Config, Cycle, Decide, Held, Swap, Use
from evenhand.model.sovereign.vocabulary import EXECUTORS, Candidate, Effect, Request, Warrant, field
from evenhand.properties.sovereign.predicates import (
    EXECUTING,
    KernelStep,
    admissible,
    allowed,
    bundle_of,
    cites_what_is_there,
    decides,
    decision_of,
    fed,
    offered,
    same_request,
)


def _affects(step: KernelStep) -> bool:
    return bool(step.shown.effects)


def _asks_for_citations(config: Config) -> bool:
    return all("authority_citations" in one.requires for one in config.constitution.action_types)


def _held(step: KernelStep) -> Held | None:
    assert isinstance(step.action, Use)
    return step.before.held[EXECUTORS.index(step.action.executor)]


MOST_LINKS = 40
"""Links that a path may cross; more are a loop, and it leads nowhere."""


def _leads(tree: Tree, path: object, place: Place) -> bool:
    """Whether a path leads to a place, every link followed: an absolute one from the root, `..` after the links."""
    links = {where: node.text for where, node in tree if node.kind == "link"}
    at: Place = () if str(path).startswith("/") else BASE
    left, crossed = str(path).split("/")[::-1], 0
    while left:
        segment = left.pop()
        at = at[:-1] if segment == ".." else at if segment in ("", ".") else (*at, segment)
        if segment not in ("", ".", "..") and at in links:
            crossed += 1
            if crossed > MOST_LINKS:
                return False
            left += links[at].split("/")[::-1]
            at = () if links[at].startswith("/") else at[:-1]
    return at == place


def _is_effect_of(tree: Tree, effect: Effect, request: Request) -> bool:
    """Whether an effect is the one requested: type, place and text (text that is read is not compared)."""
    if effect.action_type != request.action_type:
        return False
    if effect.action_type in ("ReadLocal", "WriteLocal") and not _leads(
        tree, field(request.fields, "path"), effect.place
    ):
        return False
    texts = {"Notify": "message", "WriteLocal": "content"}
    name = texts.get(effect.action_type)
    return name is None or effect.text == field(request.fields, name)


@dataclass(frozen=True)
class _Cycle:
    """An observer's knowledge: the winner's admissible requests, the warrant, the effects since."""

    requests: tuple[Request, ...] = ()
    cited: tuple[Request, ...] = ()
    warrant: Warrant | None = None
    done: int = 0
    good: bool = True
    citing: bool = True
    once: bool = True


def _started(_config: Config) -> _Cycle:
    return _Cycle()


def _cites(config: Config, candidate: Candidate) -> bool:
    return bool(candidate.citations) and all(
        cites_what_is_there(config.constitution, citation) for citation in candidate.citations
    )


def _observed(known: _Cycle, step: KernelStep) -> _Cycle:
    """It trusts only what was observed, proposed and done, and no warrant of the kernel."""
    action, config = step.action, step.config
    if isinstance(action, Decide | Cycle) and decides(step):
        decision = decision_of(step)
        covers = config.readings.bundle_hash_covers
        many = [one for one in offered(config, action.candidates) if bundle_of(covers, one).hex() == decision.winner]
        fine = [one for one in many if admissible(config, action.observations, one)]
        known = _Cycle(
            tuple(one.request for one in fine),
            tuple(one.request for one in fine if _cites(config, one)),
            decision.warrant,
        )
    for effect in step.shown.effects:
        good = any(_is_effect_of(step.before.tree, effect, request) for request in known.requests)
        citing = any(_is_effect_of(step.before.tree, effect, request) for request in known.cited)
        known = replace(known, done=min(2, known.done + 1), good=good, citing=citing, once=known.done == 0)
    return known


def _something_done(_config: Config, known: _Cycle) -> bool:
    return known.done > 0


_MORE: dict[str, Any] = {"systems": EXECUTING, "start": _started, "update": _observed, "when": _something_done}
_TWO_EXECUTORS = refuted("two executors, one warrant", system="agent", spent_memory="per_executor")


@monitor(
    "Nothing is done but what an admissible candidate of this cycle asked for, which won.",
    source="4 INV-1",
    version=2,
    **_MORE,
)
def effects_are_warranted(_config: Config, known: _Cycle) -> bool:
    """Judged from outside: by observations, proposals and effects."""
    return known.good


@monitor(
    "In each cycle at most one thing is done: the warrant is spent once, by whichever executor.",
    source="4 INV-1",
    expected=(_TWO_EXECUTORS,),
    **_MORE,
)
def warrants_are_spent_once(_config: Config, known: _Cycle) -> bool:
    """Covers replays, a second executor, a restart."""
    return known.once


@monitor(
    "Whatever is done was proposed with citations, all of which resolve.",
    source="4 INV-2",
    applies=_asks_for_citations,
    **_MORE,
)
def executed_requests_cite_what_resolves(_config: Config, known: _Cycle) -> bool:
    """At least one."""
    return known.citing


@each_step(
    "An effect spends a warrant that the kernel issued in this cycle for this request and that nobody has spent.",
    source="4 INV-1",
    systems=("agent",),
    when=lambda step: _affects(step) and isinstance(step.action, Use),
    expected=(_TWO_EXECUTORS,),
)
def an_effect_spends_an_issued_warrant(step: KernelStep) -> bool:
    """One step of the induction behind INV-1: what holds of each effect."""
    held, before = _held(step), step.before
    if held is None:
        return False
    warrant = held.warrant
    mine = warrant in before.issued and warrant.age == 0
    fresh = all(one.warrant != warrant for one in before.spent)
    spent = any(one.warrant == warrant for one in step.after.spent)
    return mine and fresh and spent and same_request(held.request, warrant.request)


@each_step(
    "An executor takes no warrant that is forged, old or spent, nor one for another request, nor one for a path that "
    "leads outside what is allowed.",
    source="4 INV-1, 5.1, 6",
    systems=("agent",),
    when=lambda step: isinstance(step.action, Check) and step.shown.kind == "check" and not step.shown.rejected,
    expected=(_TWO_EXECUTORS,),
)
def only_good_warrants_are_taken(step: KernelStep) -> bool:
    """Claimed of the check already, so that the claim on use is not the only safeguard."""
    assert isinstance(step.action, Check)
    warrant, before = step.action.warrant, step.before
    fresh = all(one.warrant != warrant for one in before.spent)
    mine = warrant in before.issued and warrant.age == 0
    held = step.after.held[EXECUTORS.index(step.action.executor)]
    by_text = step.config.readings.path_rule == "prefix_string"
    inside = held is not None and (
        by_text or allowed(step.config, Effect(warrant.request.action_type, held.place or ()))
    )
    return mine and fresh and inside and same_request(step.action.request, warrant.request)


def _winners(step: KernelStep) -> set[str]:
    config = step.config
    seen, many = fed(step)
    fine = (one for one in offered(config, many) if admissible(config, seen, one))
    return {bundle_of(config.readings.bundle_hash_covers, one).hex() for one in fine}


@each_step(
    "What the kernel issues in a cycle is at most one warrant, for an admissible candidate; earlier ones are old.",
    source="4 INV-1",
    systems=("agent",),
    when=lambda step: isinstance(step.action, Decide) and decides(step),
)
def only_admitted_requests_are_warranted(step: KernelStep) -> bool:
    """The other step of the induction."""
    fresh = [one for one in step.after.issued if one.age == 0]
    spent = [one for one in step.after.spent if one.warrant.age == 0]
    return len(fresh) <= 1 and not spent and {one.bundle for one in fresh} <= _winners(step)


@each_step(
    "No step but a decision issues a warrant, and what is spent stays spent until the next cycle.",
    source="4 INV-1",
    systems=("agent",),
    when=lambda step: not isinstance(step.action, Decide),
    expected=(refuted("a restart forgets", system="agent", spent_memory="per_executor"),),
)
def warrants_come_from_decisions_alone(step: KernelStep) -> bool:
    """A log, a restart, a mutation or a link issues none."""
    kept = {one.warrant for one in step.before.spent} <= {one.warrant for one in step.after.spent}
    return step.after.issued == step.before.issued and kept


@each_step(
    "Whatever is read or written lies, with every link followed, below a directory that the constitution allows.",
    source="6",
    systems=EXECUTING,
    when=_affects,
    expected=(refuted("a prefix says nothing of `..`", system="agent", path_rule="prefix_string"),),
)
def nothing_outside_the_allow_list(step: KernelStep) -> bool:
    """Judged by the real place on the disk at that moment."""
    return all(allowed(step.config, effect) for effect in step.shown.effects)


@each_step(
    "Only a use changes the world, and no LogAppend is ever executed for a candidate.",
    source="2.2, 4 INV-3",
    systems=("agent",),
)
def only_a_use_changes_the_world(step: KernelStep) -> bool:
    """Apart from the attacker's links."""
    if isinstance(step.action, Use) and step.shown.effects:
        return all(effect.action_type != "LogAppend" for effect in step.shown.effects)
    return not step.shown.effects and (isinstance(step.action, Swap) or step.after.tree == step.before.tree)


@each_step(
    "A session executes exactly what it decides: an ACTION has one effect unless the tree forbids, anything else none.",
    source="2.2",
    systems=("session", "constitutions"),
    when=decides,
)
def sessions_execute_what_they_decide(step: KernelStep) -> bool:
    """In a composed cycle nothing happens between decision and use."""
    warrant = decision_of(step).warrant
    effects = step.shown.effects
    if warrant is None:
        return not effects
    if not effects and warrant.request.action_type == "Notify":
        return False  # no tree forbids a notification
    return len(effects) <= 1 and all(_is_effect_of(step.before.tree, one, warrant.request) for one in effects)
