"""Effects: warranted, once, within the allow-list, whatever the attacker does between check and use (INV-1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from evenhand.core.property import AnyStep, Property, each_step, monitor
from evenhand.model.sovereign.paths import BASE, Place, Tree
from evenhand.model.sovereign.state import Check, Config, Cycle, Decide, Swap, Use
from evenhand.model.sovereign.vocabulary import EXECUTORS, Candidate, Effect, Request, Warrant, field
from evenhand.properties.sovereign.predicates import (
    EXECUTING,
    Seen,
    admissible,
    allowed,
    bundle_of,
    cites_what_is_there,
    decides,
    offered,
    same_request,
)

__all__ = ["EXECUTING_CLAIMS"]


def _affects(step: AnyStep) -> bool:
    return bool(step.shown.effects)


def _uses(step: AnyStep) -> bool:
    return _affects(step) and isinstance(step.action, Use)


def _takes(step: AnyStep) -> bool:
    """An executor takes a warrant: the check passes."""
    return isinstance(step.action, Check) and step.shown.kind == "check" and not step.shown.rejected


def _proposes(step: AnyStep) -> bool:
    return isinstance(step.action, Decide) and decides(step)


def _decides_nothing(step: AnyStep) -> bool:
    return not isinstance(step.action, Decide)


def _swaps_nothing(step: AnyStep) -> bool:
    return not isinstance(step.action, Swap)


def _asks_for_citations(config: Config) -> bool:
    """The constitution asks for citations of every type."""
    return all("authority_citations" in one.requires for one in config.constitution.action_types)


def _held(step: AnyStep) -> Any:
    return step.before.held[EXECUTORS.index(step.action.executor)]


def _leads(tree: Tree, path: object, place: Place) -> bool:
    """Whether a path leads to a place, as far as its text tells: across a link it leads where the link says."""
    links = {where for where, node in tree if node.kind == "link"}
    at = BASE
    for segment in str(path).split("/"):
        at = at[:-1] if segment == ".." else at if segment in ("", ".") else (*at, segment)
        if at in links:
            return True
    return at == place


def _is_effect_of(tree: Tree, effect: Effect, request: Request) -> bool:
    """Whether an effect is what a request asks for: type, place and text (what is read is not asked for)."""
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
    """What an observer knows of a cycle: what was admissible in it, the warrant, what was done since."""

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


def _observed(known: _Cycle, step: AnyStep) -> _Cycle:
    """The observer after a step: it believes what was observed, proposed and done, and no warrant of the kernel."""
    action, config = step.action, step.config
    if isinstance(action, Decide | Cycle) and decides(step):
        seen: Seen = action.observations
        winner = step.shown.decision.winner
        covers = config.readings.bundle_hash_covers
        many = [one for one in offered(config, action.candidates) if bundle_of(covers, one).hex() == winner]
        fine = [one for one in many if admissible(config, seen, one)]
        known = _Cycle(
            tuple(one.request for one in fine),
            tuple(one.request for one in fine if _cites(config, one)),
            step.shown.decision.warrant,
        )
    for effect in step.shown.effects:
        good = any(_is_effect_of(step.before.tree, effect, request) for request in known.requests)
        citing = any(_is_effect_of(step.before.tree, effect, request) for request in known.cited)
        known = replace(known, done=min(2, known.done + 1), good=good, citing=citing, once=known.done == 0)
    return known


_MORE: dict[str, Any] = {"systems": EXECUTING, "start": _started, "update": _observed}


def _something_done(_config: Config, known: _Cycle) -> bool:
    return known.done > 0


@monitor(
    "Nothing is done but what an admissible candidate of this cycle asked for, which won.",
    source="4 INV-1",
    when=_something_done,
    **_MORE,
)
def effects_are_warranted(_config: Config, known: _Cycle) -> bool:
    """Seen from outside: from what was observed, proposed and done."""
    return known.good


@monitor(
    "In each cycle at most one thing is done: the warrant is spent once, by whichever executor.",
    source="4 INV-1",
    when=_something_done,
    **_MORE,
)
def warrants_are_spent_once(_config: Config, known: _Cycle) -> bool:
    """Replays, a second executor, a restart."""
    return known.once


@monitor(
    "Whatever is done was proposed with citations, all of which resolve.",
    source="4 INV-2",
    when=_something_done,
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
    when=_uses,
    proved=True,
)
def an_effect_spends_an_issued_warrant(step: AnyStep) -> bool:
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
    "An executor takes no warrant that is forged, old or spent, nor one for another request.",
    source="4 INV-1, 5.1",
    systems=("agent",),
    when=_takes,
)
def only_good_warrants_are_taken(step: AnyStep) -> bool:
    """Said of the check already, so that nothing rests on the use alone."""
    warrant, before = step.action.warrant, step.before
    fresh = all(one.warrant != warrant for one in before.spent)
    mine = warrant in before.issued and warrant.age == 0
    return mine and fresh and same_request(step.action.request, warrant.request)


def _winners(step: AnyStep) -> set[str]:
    config = step.config
    seen, many = step.action.observations, offered(config, step.action.candidates)
    return {bundle_of(config.readings.bundle_hash_covers, one).hex() for one in many if admissible(config, seen, one)}


@each_step(
    "What the kernel issues in a cycle is at most one warrant, for an admissible candidate; earlier ones are old.",
    source="4 INV-1",
    systems=("agent",),
    when=_proposes,
)
def only_admitted_requests_are_warranted(step: AnyStep) -> bool:
    """The other step of the induction."""
    fresh = [one for one in step.after.issued if one.age == 0]
    spent = [one for one in step.after.spent if one.warrant.age == 0]
    return len(fresh) <= 1 and not spent and {one.bundle for one in fresh} <= _winners(step)


@each_step(
    "No step but a decision issues a warrant, and what is spent stays spent until the next cycle.",
    source="4 INV-1",
    systems=("agent",),
    when=_decides_nothing,
)
def warrants_come_from_decisions_alone(step: AnyStep) -> bool:
    """Not from a log, a restart, a mutation or a link."""
    kept = {one.warrant for one in step.before.spent} <= {one.warrant for one in step.after.spent}
    return step.after.issued == step.before.issued and kept


@each_step(
    "Whatever is read or written lies, with every link followed, below a directory that the constitution allows.",
    source="6",
    systems=EXECUTING,
    when=_affects,
    proved=True,
)
def nothing_outside_the_allow_list(step: AnyStep) -> bool:
    """Where it really was, on the disk, at that moment."""
    return all(allowed(step.config, effect) for effect in step.shown.effects)


@each_step(
    "Only a use changes the world, and no LogAppend is ever executed for a candidate.",
    source="2.2, 4 INV-3",
    systems=("agent",),
    when=_swaps_nothing,
)
def only_a_use_changes_the_world(step: AnyStep) -> bool:
    """The attacker's links aside."""
    if isinstance(step.action, Use) and step.shown.effects:
        return all(effect.action_type != "LogAppend" for effect in step.shown.effects)
    return bool(step.after.tree == step.before.tree and not step.shown.effects)


@each_step(
    "A session executes exactly what it decides: an ACTION has one effect unless the tree forbids, anything else none.",
    source="2.2",
    systems=("session", "constitutions"),
    when=decides,
)
def sessions_execute_what_they_decide(step: AnyStep) -> bool:
    """In a composed cycle nobody comes between."""
    warrant = step.shown.decision.warrant
    effects = step.shown.effects
    if warrant is None:
        return not effects
    if not effects and warrant.request.action_type == "Notify":
        return False  # no tree forbids a notification
    return bool(len(effects) <= 1) and all(_is_effect_of(step.before.tree, one, warrant.request) for one in effects)


EXECUTING_CLAIMS: tuple[Property, ...] = (
    effects_are_warranted,
    warrants_are_spent_once,
    executed_requests_cite_what_resolves,
    an_effect_spends_an_issued_warrant,
    only_good_warrants_are_taken,
    only_admitted_requests_are_warranted,
    warrants_come_from_decisions_alone,
    nothing_outside_the_allow_list,
    only_a_use_changes_the_world,
    sessions_execute_what_they_decide,
)
"""The claims of this module."""
