"""Abstraction of an epoch of the executable model to the theory.

`view_step` reads a step as a finite structure: the submitted requests, the authorities, and the observed values of the
defined predicates.  It does not run the kernel: it reads configuration, state, action and what was shown.  `scene`
goes the other way, `pairs` reads two epochs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.core.atoms import Atom
from evenhand.core.system import Step
from evenhand.model.cud import kernel
from evenhand.model.cud import vocabulary as model
from evenhand.model.cud.step import active as active_agents
from evenhand.model.cud.step import ended
from evenhand.smt.memo import Cache
from evenhand.smt.structure import Structure
from evenhand.smt.tables import Rows, line, ones, prop

CudStep = Step[model.Config, model.State, model.Epoch, model.Shown]

NOBODY = "-"
MARK = Atom("str", "read")
"""The value that the mutant `read_writes` stamps."""


@dataclass(frozen=True)
class Facts:
    """The facts of one step, by names: requests by agent, authorities by id."""

    step: CudStep
    requests: Mapping[str, model.Request]
    authorities: Mapping[str, model.Authority]
    here: tuple[str, ...]

    @property
    def config(self) -> model.Config:
        """Return the configuration of the step."""
        return self.step.config


_RECENT = 256
"""Steps whose facts and structures are kept: a step is compared with several others in turn."""

_FACTS: Cache[Facts | None] = Cache(_RECENT)
_STRUCTURES: Cache[Structure] = Cache(_RECENT)
_UNIVERSES: dict[tuple[tuple[str, tuple[str, ...]], ...], Mapping[str, tuple[str, ...]]] = {}


def facts_of(step: CudStep) -> Facts | None:
    """Return the facts of a step that the theory covers, else None.

    Outside: runs that are over, artefacts that share an id or are neither ALLOW nor DENY.
    """
    return _FACTS.get((step,), lambda: _facts(step))


def _facts(step: CudStep) -> Facts | None:
    config = step.config
    if not config.keys or ended(config, step.before):
        return None
    authorities = {one.authority_id: one for one in config.authorities}
    if len(authorities) < len(config.authorities):
        return None
    if any(one.commitment not in (model.ALLOW, model.DENY) for one in config.authorities):
        return None
    here = active_agents(config, step.before)
    requests: dict[str, model.Request] = {}
    heard: set[str] = set()
    for agent, choice in step.action.choices:
        if agent in here and agent not in heard and not choice.exits and choice.request is not None:
            requests[agent] = choice.request
        heard.add(agent)
    return Facts(step, requests, authorities, here)


def element(kind: str, name: str) -> str:
    """Return the element of a request (`act`, by its submitter), a `key`, an artefact (`auth`) or an `agent`."""
    return f"{kind}:{name}"


def value_element(value: Atom) -> str:
    """Return the element of a value; values of different types are different."""
    return f"value:{value.kind}:{value.text}"


def _values(many: Sequence[Facts]) -> Iterable[Atom]:
    for facts in many:
        for request in facts.requests.values():
            yield from (value for _, value in request.proposed_delta if isinstance(value, Atom))
        yield from (value for _, value in facts.step.before.world)
        yield from (effect.after for effect in facts.step.shown.effects)


def universe_of(many: Sequence[Facts]) -> Mapping[str, tuple[str, ...]]:
    """Return the elements of several steps, one object for equal ones; an empty sort gets one without facts."""
    acts = sorted({name for facts in many for name in facts.requests}) or [NOBODY]
    keys = sorted({key for facts in many for key in facts.config.keys} | _declared(many))
    auths = sorted({name for facts in many for name in facts.authorities}) or [NOBODY]
    agents = {name for facts in many for name in facts.config.agents}
    agents |= {one.holder_agent_id for facts in many for one in facts.authorities.values()}
    found = {
        "Act": tuple(element("act", one) for one in acts),
        "Key": tuple(element("key", one) for one in keys),
        "Auth": tuple(element("auth", one) for one in auths),
        "Agent": tuple(element("agent", one) for one in sorted(agents)),
        "Value": tuple(sorted({value_element(v) for v in (MARK, *_values(many))})),
    }
    return _UNIVERSES.setdefault(tuple(found.items()), found)


def _declared(many: Sequence[Facts]) -> set[str]:
    """Return the keys that malformed requests name although the world lacks them."""
    return {key for facts in many for request in facts.requests.values() for key in request.declared_scope}


def _misshapen(facts: Facts, request: model.Request) -> bool:
    keys = [key for key, _ in request.proposed_delta]
    return len(set(keys)) < len(keys) or any(key not in facts.config.keys for key in keys)


def _written(facts: Facts, request: model.Request) -> dict[str, Atom]:
    """Return the part of the request's delta that is JSON and about keys of the world."""
    known = facts.config.keys
    return {key: value for key, value in request.proposed_delta if isinstance(value, Atom) and key in known}


def _as_text(request: model.Request) -> tuple[str, ...]:
    """Return the text that `tie_break_by_value` compares."""
    return tuple(str(value) for _, value in request.proposed_delta)


def _rotation(facts: Facts) -> tuple[str, ...]:
    """Return the agents of the run in order of their turn, then all others by name."""
    agents, epoch = facts.config.agents, facts.step.before.epoch or 0
    return tuple(sorted(agents, key=lambda name: (agents.index(name) + epoch) % len(agents)))


def _locked(facts: Facts) -> set[str]:
    gone = (one for one in facts.step.before.agents if not one.active)
    return {key for one in gone for key in one.last_scope or () if key in facts.config.keys}


def structure_of(facts: Facts, universe: Mapping[str, tuple[str, ...]]) -> Structure:
    """Return the facts as a structure, over elements that may be those of several steps."""
    return _STRUCTURES.get((facts, universe), lambda: _structure(facts, universe))


def _structure(facts: Facts, universe: Mapping[str, tuple[str, ...]]) -> Structure:
    relations = {**_asked(facts, universe), **_hidden(facts, universe), **_told(facts)}
    authorities = facts.authorities
    first_agent = universe["Agent"][0]
    by: dict[tuple[str, ...], str] = {(act,): first_agent for act in universe["Act"]}
    by |= {(element("act", n),): element("agent", n) for n in facts.requests}
    holder: dict[tuple[str, ...], str] = {(auth,): first_agent for auth in universe["Auth"]}
    holder |= {(element("auth", n),): element("agent", one.holder_agent_id) for n, one in authorities.items()}
    first_key = element("key", facts.config.keys[0])
    head: dict[tuple[str, ...], str] = {(act,): first_key for act in universe["Act"]}
    head |= {
        (element("act", n),): element("key", q.declared_scope[0]) for n, q in facts.requests.items() if q.declared_scope
    }
    functions: dict[str, Mapping[tuple[str, ...], str]] = {
        "by": by,
        "holder": holder,
        "head": head,
        "first_key": {(): first_key},
        "mark": {(): value_element(MARK)},
    }
    return Structure(universe, relations, functions)


def _asked(facts: Facts, universe: Mapping[str, tuple[str, ...]]) -> dict[str, Rows]:
    requests, authorities = facts.requests, facts.authorities

    def over(operation: str) -> Rows:
        return frozenset(
            (element("auth", n), key)
            for n, one in authorities.items()
            for key in universe["Key"]
            if one.governs(key.removeprefix("key:"), operation)
        )

    rows = [((element("act", n),), n, q) for n, q in requests.items()]

    def those(test: Callable[[str, model.Request], bool]) -> Rows:
        return frozenset([row for row, n, q in rows if test(n, q)])

    epoch = facts.step.before.epoch
    return {
        "submitted": those(lambda _n, _q: True),
        "forged_agent": those(lambda n, q: q.agent_id not in (None, n)),
        "forged_id": those(lambda n, q: q.action_id not in (None, kernel.action_id(n, epoch))),
        "odd_type": those(lambda _n, q: q.action_type not in model.OPERATIONS),
        "doubled": those(lambda _n, q: len(set(q.declared_scope)) < len(q.declared_scope)),
        "odd_value": those(lambda _n, q: any(not isinstance(value, Atom) for _, value in q.proposed_delta)),
        "misshapen": those(lambda _n, q: _misshapen(facts, q)),
        "reads": those(lambda _n, q: q.action_type == model.READ),
        "scope": frozenset(
            (element("act", n), element("key", key)) for n, q in requests.items() for key in q.declared_scope
        ),
        "wants": frozenset(
            (element("act", n), element("key", key), value_element(value))
            for n, q in requests.items()
            for key, value in _written(facts, q).items()
        ),
        "cites": frozenset(
            (element("act", n), element("auth", cited))
            for n, q in requests.items()
            for cited in q.authorities_cited
            if cited in authorities
        ),
        "cites_stranger": those(lambda _n, q: any(cited not in authorities for cited in q.authorities_cited)),
        "known": ones(element("key", key) for key in facts.config.keys),
        "held": frozenset((element("key", key), value_element(value)) for key, value in facts.step.before.world),
        "early": ones(element("auth", n) for n, one in authorities.items() if one.epoch == 0),
        "permits": ones(auth for auth in universe["Auth"] if _commitment(authorities, auth) == model.ALLOW),
        "forbids": ones(element("auth", n) for n, one in authorities.items() if one.commitment == model.DENY),
        "over_read": over(model.READ),
        "over_write": over(model.WRITE),
        "active": ones(element("agent", n) for n in facts.here),
        "exits": ones(element("agent", n) for n in _exiting(facts)),
        "member": ones(element("agent", n) for n in facts.config.agents),
    }


def _hidden(facts: Facts, universe: Mapping[str, tuple[str, ...]]) -> dict[str, Rows]:
    """Return the relations that the honest kernel ignores."""
    requests, before = facts.requests, facts.step.before
    arrived = [element("act", n) for n in requests]
    ordered = [element("agent", n) for n in _rotation(facts)]
    plain = [(n, q) for n, q in requests.items() if len(set(q.declared_scope)) == len(q.declared_scope)]
    return {
        "ahead": line(sorted(universe["Agent"])),
        "sooner": line([*arrived, *(act for act in universe["Act"] if act not in arrived)]),
        "turn": line([*ordered, *(one for one in universe["Agent"] if one not in ordered)]),
        "later": prop(before.epoch),
        "balked": ones(
            element("agent", n)
            for n, one in zip(facts.config.agents, before.agents, strict=True)
            if one.active and one.last == model.FAILURE
        ),
        "locked": ones(element("key", key) for key in _locked(facts)),
        "below": frozenset(
            (element("act", n), element("act", m))
            for n, q in requests.items()
            for m, p in requests.items()
            if _as_text(q) < _as_text(p)
        ),
        "narrower": frozenset(
            (element("act", n), element("act", m))
            for n, q in plain
            for m, p in plain
            if len(q.declared_scope) < len(p.declared_scope)
        ),
    }


def _told(facts: Facts) -> dict[str, Rows]:
    """Return the observed values of the defined predicates: tokens, receipts, the log, the diff."""
    requests, shown = facts.requests, facts.step.shown
    tokens, receipts = dict(shown.tokens), dict(shown.receipts)
    entries = {entry.agent_id: entry for entry in shown.log}
    verdicts = {n: entry.verdict for n, entry in entries.items() if entry.fault in ("", kernel.SCOPE_VIOLATION)}

    rows = [((element("act", n),), n) for n in requests]

    def those(test: Callable[[str], bool]) -> Rows:
        return frozenset([row for row, n in rows if test(n)])

    def fault(name: str) -> str:
        return entries[name].fault if name in entries else ""

    return {
        "formed": those(lambda n: fault(n) != kernel.MALFORMED_REQUEST),
        "struck": those(lambda n: fault(n) in (kernel.MALFORMED_REQUEST, kernel.INVALID_CAPABILITY_CLAIM)),
        "passes": those(lambda n: verdicts.get(n) in (kernel.ADMITTED, kernel.PASS_TWO)),
        "collides": those(lambda n: verdicts.get(n) == kernel.PASS_TWO),
        "executed": those(lambda n: verdicts.get(n) == kernel.ADMITTED and not fault(n)),
        "becomes": frozenset((element("key", e.key), value_element(e.after)) for e in shown.effects),
        "logged": ones(element("act", n) for n in entries),
        "gets_done": those(lambda n: tokens.get(n) == model.DONE),
        "gets_failure": those(lambda n: tokens.get(n) == model.FAILURE),
        "gets_fault": those(lambda n: tokens.get(n) == model.FAULT),
        "gets_more": those(lambda n: tokens.get(n) not in (None, *model.TOKENS) or n in receipts),
        "tells_two": those(lambda n: kernel.PASS_TWO in receipts.get(n, "")),
        "hears_of": frozenset(
            (element("act", n), element("agent", other))
            for n in requests
            for other in facts.config.agents
            if other in receipts.get(n, "")
        ),
        "gets_none": ones(element("agent", n) for n, token in tokens.items() if token == model.IDLE),
        "answered": ones(element("agent", n) for n in tokens),
        "stays": ones(element("agent", n) for n in active_agents(facts.config, facts.step.after)),
    }


def _commitment(authorities: Mapping[str, model.Authority], auth: str) -> str:
    """Return the commitment of an artefact; an element without facts counts as an ALLOW over nothing."""
    one = authorities.get(auth.removeprefix("auth:"))
    return model.ALLOW if one is None else one.commitment


def _exiting(facts: Facts) -> tuple[str, ...]:
    first: dict[str, model.Choice] = {}
    for agent, choice in facts.step.action.choices:
        first.setdefault(agent, choice)
    return tuple(n for n in facts.here if n in first and first[n].exits)


def view_step(step: CudStep) -> Structure | None:
    """Return a step as a structure of `EPOCH`, with observations; None outside the theory."""
    facts = facts_of(step)
    return None if facts is None else structure_of(facts, universe_of((facts,)))
