"""The link between the theory of an epoch and the executable model.

`view_step` reads a step as a finite structure: what was submitted under which authorities, and what was observed of
the defined words.  `scene` reads a structure as a scenario of one epoch.  Neither runs the kernel: a view
looks at configuration, state, action and what was shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evenhand.model.atoms import Atom
from evenhand.model.cud.kernel import ADMITTED, PASS_TWO, SCOPE_VIOLATION, Bound, action_id, malformed
from evenhand.model.cud.layouts import agent_names, key_names, start_world
from evenhand.model.cud.renaming import Renaming, rename_shown, rename_state
from evenhand.model.cud.step import active as active_agents
from evenhand.model.cud.step import ended, initial
from evenhand.model.cud.vocabulary import (
    ALLOW,
    DENY,
    DONE,
    FAILURE,
    FAULT,
    READ,
    WRITE,
    Authority,
    Choice,
    Config,
    Epoch,
    Request,
    Shown,
    State,
    target,
)
from evenhand.model.system import Step
from evenhand.model.trace import Scenario
from evenhand.proofs.cud.epoch import OBSERVED
from evenhand.proofs.smt.structure import Structure

__all__ = ["SHARED", "STRANGER", "CudStep", "scene", "view_renamed", "view_step", "view_vetoed"]

CudStep = Step[Config, State, Epoch, Shown]
Rows = frozenset[tuple[str, ...]]

STRANGER = "CUD-777"
"""An id that no artefact has."""

_NOBODY = "-"
SHARED = ("submitted", "formed", "reads", "cites", "cites_stranger", "overreaches", "early", "permits", "forbids")
"""Relations that a renaming leaves as they are: they speak of requests and artefacts alone."""

MOST_AGENTS = 9
"""`agent_names` has no more names in the order of their numbers."""


@dataclass(frozen=True)
class _Facts:
    """What one step says, by names: requests by agent, authorities by id."""

    step: CudStep
    requests: Mapping[str, Request]
    authorities: Mapping[str, Authority]
    here: tuple[str, ...]

    @property
    def config(self) -> Config:
        return self.step.config


def _facts(step: CudStep) -> _Facts | None:
    """The facts of a step the theory speaks of, else None.

    Outside: runs that are over, the readings under which executed requests see each other's writes or a fault is
    hidden by a failure, artefacts that share an id or are neither ALLOW nor DENY.
    """
    config, readings = step.config, step.config.readings
    if readings.scope_check.startswith("after_") or readings.fault_precedence != "fault_first":
        return None
    if not config.keys or ended(config, step.before):
        return None
    authorities = {one.authority_id: one for one in config.authorities}
    if len(authorities) < len(config.authorities):
        return None
    if any(one.commitment not in (ALLOW, DENY) for one in config.authorities):
        return None
    here = active_agents(config, step.before)
    requests: dict[str, Request] = {}
    heard: set[str] = set()
    for agent, choice in step.action.choices:
        if agent in here and agent not in heard and not choice.exits and choice.request is not None:
            requests[agent] = choice.request
        heard.add(agent)
    return _Facts(step, requests, authorities, here)


def _act(name: str) -> str:
    return f"act:{name}"


def _key(name: str) -> str:
    return f"key:{name}"


def _auth(name: str) -> str:
    return f"auth:{name}"


def _agent(name: str) -> str:
    return f"agent:{name}"


def _value(value: object) -> str:
    return f"value:{value!r}" if value != _NOBODY else "value:-"


def _values(many: Sequence[_Facts]) -> Iterable[object]:
    for facts in many:
        for request in facts.requests.values():
            yield from (value for _, value in request.proposed_delta)
        yield from (effect.after for effect in facts.step.shown.effects)


def _universe(many: Sequence[_Facts]) -> dict[str, tuple[str, ...]]:
    """The elements that several steps speak of; a sort that would be empty gets one nobody speaks of."""
    acts = sorted({name for facts in many for name in facts.requests}) or [_NOBODY]
    keys = sorted({key for facts in many for key in facts.config.keys} | _declared(many))
    auths = sorted({name for facts in many for name in facts.authorities}) or [_NOBODY]
    agents = {name for facts in many for name in facts.config.agents}
    agents |= {one.holder_agent_id for facts in many for one in facts.authorities.values()}
    return {
        "Act": tuple(map(_act, acts)),
        "Key": tuple(map(_key, keys)),
        "Auth": tuple(map(_auth, auths)),
        "Agent": tuple(map(_agent, sorted(agents))),
        "Value": tuple(sorted({_value(v) for v in _values(many)})) or (_value(_NOBODY),),
    }


def _declared(many: Sequence[_Facts]) -> set[str]:
    """Keys that malformed requests name although the world has none such."""
    return {key for facts in many for request in facts.requests.values() for key in request.declared_scope}


def _overreaches(facts: _Facts, request: Request) -> bool:
    """Whether what the request would change lies outside its declared scope (reading `scope_check`)."""
    world = dict(facts.step.before.world)
    snapshot = facts.config.readings.scope_check == "snapshot_diff_only"
    return any(
        key not in request.declared_scope and not (snapshot and world.get(key) == value)
        for key, value in request.proposed_delta
    )


def _formed(facts: _Facts, agent: str, request: Request) -> bool:
    return not malformed(facts.config, Bound(agent, action_id(agent, facts.step.before.epoch), request))


def _rows(entries: Iterable[tuple[str, ...]]) -> Rows:
    return frozenset(entries)


def _structure(facts: _Facts, universe: Mapping[str, tuple[str, ...]]) -> Structure:
    requests, authorities, shown = facts.requests, facts.authorities, facts.step.shown
    first_agent = universe["Agent"][0]
    by: dict[tuple[str, ...], str] = {(act,): first_agent for act in universe["Act"]}
    by |= {(_act(n),): _agent(n) for n in requests}
    holder: dict[tuple[str, ...], str] = {(auth,): first_agent for auth in universe["Auth"]}
    holder |= {(_auth(n),): _agent(one.holder_agent_id) for n, one in authorities.items()}
    strangers = [n for n, q in requests.items() if any(cited not in authorities for cited in q.authorities_cited)]
    tokens, receipts = dict(shown.tokens), dict(shown.receipts)

    def over(operation: str) -> Rows:
        return _rows(
            (_auth(n), key)
            for n, one in authorities.items()
            for key in universe["Key"]
            if one.governs(key.removeprefix("key:"), operation)
        )

    def given(token: str) -> Rows:
        return _rows((_act(n),) for n in requests if tokens.get(n) == token)

    world = dict(facts.step.before.world)
    verdicts = {entry.agent_id: entry.verdict for entry in shown.log if entry.fault in ("", SCOPE_VIOLATION)}
    told = {n: tokens.get(n) not in (DONE, FAILURE, FAULT) or n in receipts for n in requests}
    relations: dict[str, Rows] = {
        "submitted": _rows((_act(n),) for n in requests),
        "formed": _rows((_act(n),) for n, q in requests.items() if _formed(facts, n, q)),
        "reads": _rows((_act(n),) for n, q in requests.items() if q.action_type == READ),
        "scope": _rows((_act(n), _key(key)) for n, q in requests.items() for key in q.declared_scope),
        "cites": _rows(
            (_act(n), _auth(cited))
            for n, q in requests.items()
            for cited in q.authorities_cited
            if cited in authorities
        ),
        "cites_stranger": _rows((_act(n),) for n in strangers),
        "overreaches": _rows((_act(n),) for n, q in requests.items() if _overreaches(facts, q)),
        "early": _rows((_auth(n),) for n, one in authorities.items() if one.epoch == 0),
        "permits": _rows((auth,) for auth in universe["Auth"] if _commitment(authorities, auth) == ALLOW),
        "forbids": _rows((_auth(n),) for n, one in authorities.items() if one.commitment == DENY),
        "over_read": over(READ),
        "over_write": over(WRITE),
        "active": _rows((_agent(n),) for n in facts.here),
        "exits": _rows((_agent(n),) for n in _exiting(facts)),
        "member": _rows((_agent(n),) for n in facts.config.agents),
        "ahead": _rows((one, two) for one in universe["Agent"] for two in universe["Agent"] if one < two),
        "puts": _rows(
            (_act(n), _key(key), _value(value))
            for n, q in requests.items()
            for key, value in q.proposed_delta
            if key in world and world[key] != value
        ),
        "passes": _rows((_act(n),) for n in requests if verdicts.get(n) in (ADMITTED, PASS_TWO)),
        "collides": _rows((_act(n),) for n in requests if verdicts.get(n) == PASS_TWO),
        "executed": given(DONE),
        "becomes": _rows((_key(e.key), _value(e.after)) for e in shown.effects),
        "gets_done": given(DONE),
        "gets_failure": given(FAILURE),
        "gets_fault": given(FAULT),
        "gets_more": _rows((_act(n),) for n, more in told.items() if more),
        "tells_two": _rows((_act(n),) for n in requests if PASS_TWO in receipts.get(n, "")),
        "hears_of": _rows(
            (_act(n), _agent(other)) for n in requests for other in facts.config.agents if other in receipts.get(n, "")
        ),
        "stays": _rows((_agent(n),) for n in active_agents(facts.config, facts.step.after)),
    }
    first: dict[tuple[str, ...], str] = {(): _key(facts.config.keys[0])}
    functions: dict[str, Mapping[tuple[str, ...], str]] = {"by": by, "holder": holder, "first_key": first}
    return Structure(universe, relations, functions)


def _commitment(authorities: Mapping[str, Authority], auth: str) -> str:
    """An element nobody speaks of counts as an ALLOW over nothing."""
    one = authorities.get(auth.removeprefix("auth:"))
    return ALLOW if one is None else one.commitment


def _exiting(facts: _Facts) -> tuple[str, ...]:
    first: dict[str, Choice] = {}
    for agent, choice in facts.step.action.choices:
        first.setdefault(agent, choice)
    return tuple(n for n in facts.here if n in first and first[n].exits)


def view_step(step: CudStep) -> Structure | None:
    """A step as a structure of `EPOCH`, with what was observed; None outside the theory."""
    facts = _facts(step)
    return None if facts is None else _structure(facts, _universe((facts,)))


def view_renamed(w: Renaming, step: CudStep, other: CudStep) -> Structure | None:
    """A step and its image under a renaming as one structure of the theory's two copies.

    Requests and artefacts are shared, keys and agents stand in fresh sorts.  None outside the theory, and where the
    two differ in what the theory does not speak of: everything shown but tokens and receipts, and the state after.
    """
    first, second = _facts(step), _facts(other)
    if first is None or second is None or _differs_elsewhere(w, step, other):
        return None
    one, two = _structure(first, _universe((first,))), _structure(second, _universe((second,)))
    back = {_act(w.agent(n)): _act(n) for n in first.requests} | {_act(_NOBODY): _act(_NOBODY)}
    back |= {_auth(w.authority(n)): _auth(n) for n in first.authorities} | {_auth(_NOBODY): _auth(_NOBODY)}
    forth = {e: _second(e) for sort in ("Key", "Agent") for e in two.universe[sort]}
    if any(e not in back for sort in ("Act", "Auth") for e in two.universe[sort]):
        return None
    moved = {**back, **forth, **{e: e for e in two.universe["Value"]}}
    to_key: dict[tuple[str, ...], str] = {}
    to_key |= {(e,): _second(_key(w.key(e.removeprefix("key:")))) for e in one.universe["Key"]}
    to_agent: dict[tuple[str, ...], str] = {}
    to_agent |= {(e,): _second(_agent(w.agent(e.removeprefix("agent:")))) for e in one.universe["Agent"]}
    copy = {name: _rows(tuple(moved[e] for e in row) for row in rows) for name, rows in two.relations.items()}
    if any(copy[name] != one.relations[name] for name in SHARED):
        return None
    values = tuple(sorted({*one.universe["Value"], *two.universe["Value"]}))
    universe = {
        **one.universe,
        "Value": values,
        "Key2": tuple(_second(e) for e in two.universe["Key"]),
        "Agent2": tuple(_second(e) for e in two.universe["Agent"]),
    }
    relations = {**one.relations, **{f"{name}2": rows for name, rows in copy.items() if name not in SHARED}}
    functions: dict[str, Mapping[tuple[str, ...], str]] = {
        **one.functions,
        **{
            f"{name}2": {tuple(moved[e] for e in row): moved[value] for row, value in table.items()}
            for name, table in two.functions.items()
        },
        "to_key": to_key,
        "from_key": {(value,): row[0] for row, value in to_key.items()},
        "to_agent": to_agent,
    }
    return Structure(universe, relations, functions)


def _second(element: str) -> str:
    """The element's like in the fresh sort."""
    kind, _, name = element.partition(":")
    return f"{kind}2:{name}"


def _differs_elsewhere(w: Renaming, step: CudStep, other: CudStep) -> bool:
    """Whether the twin does not do what the step does, renamed, and in nothing that the theory speaks of."""
    shown = rename_shown(w, step.shown)
    if _spoken_of(shown) != _spoken_of(other.shown):
        return False
    return shown != other.shown or rename_state(w, step.config, step.after) != other.after


def _spoken_of(shown: Shown) -> object:
    log = [(entry.agent_id, entry.verdict, entry.fault) for entry in shown.log]
    return shown.tokens, shown.effects, shown.exits, log


def view_vetoed(w: tuple[str, str, tuple[str, ...]], step: CudStep, other: CudStep) -> Structure | None:
    """A step and the same step with one more DENY, as one structure; None outside the theory.

    `w` is the agent that the DENY is aimed at, the operation and the keys.  The two share everything but which
    artefacts are in force: in the first epoch, the DENY is not.
    """
    first, second = _facts(step), _facts(other)
    if first is None or second is None:
        return None
    extra = [name for name in second.authorities if name not in first.authorities]
    if len(extra) != 1 or w[0] not in first.requests:
        return None
    universe = _universe((first, second))
    one, two = _structure(first, universe), _structure(second, universe)
    veto = _auth(extra[0])
    for name, rows in two.relations.items():
        apart = name in OBSERVED or name == "early"
        if not apart and frozenset(row for row in rows if veto not in row) != frozenset(
            row for row in one.relations[name] if veto not in row
        ):
            return None
    words = {name: rows for name, rows in one.relations.items() if name in OBSERVED}
    twins = {f"{name}2": rows for name, rows in two.relations.items() if name in (*OBSERVED, "early")}
    relations = {**two.relations, **words, **twins, "early": one.relations["early"]}
    functions: dict[str, Mapping[tuple[str, ...], str]] = {**two.functions}
    functions |= {"told": {(): _act(w[0])}, "veto": {(): veto}}
    return Structure(universe, relations, functions)


def scene(structure: Structure) -> Scenario[Config, State, Epoch] | None:
    """An epoch that looks like the structure, after one in which those who are not active exit.

    Of a structure of two epochs, the first.  None if no epoch looks like it.
    """
    told = structure.relations
    veto = structure.functions.get("veto", {}).get(())
    artefacts = tuple(e for e in structure.universe["Auth"] if e != veto)
    ordered = sorted(structure.universe["Agent"], key=lambda e: (sum(row[1] == e for row in told["ahead"]), e))
    if len(ordered) > MOST_AGENTS or not any((e,) in told["active"] for e in ordered):
        return None
    names = dict(zip(ordered, agent_names(len(ordered)), strict=True))
    first = structure.functions["first_key"][()]
    listed = [first, *(key for key in structure.universe["Key"] if key != first)]
    *known, spare = key_names(len(listed) + 1)
    keys = dict(zip(listed, known, strict=True))
    ids = {e: f"CUD-{number:03d}" for number, e in enumerate(artefacts, start=1)}
    held = structure.functions["holder"]
    authorities = tuple(
        Authority(
            ids[e],
            ALLOW if (e,) in told["permits"] else DENY,
            names[held[(e,)]],
            tuple(
                (target(keys[key]), operation)
                for key in listed
                for operation, over in ((READ, "over_read"), (WRITE, "over_write"))
                if (e, key) in told[over]
            ),
            epoch=0 if (e,) in told["early"] else 1,
        )
        for e in artefacts
    )
    choices = {names[e]: Choice() for e in ordered if (e,) in told["active"]}
    choices |= {names[e]: Choice(exits=True) for e in ordered if (e,) in told["exits"]}
    authors = structure.functions["by"]
    for act in structure.universe["Act"]:
        if (act,) in told["submitted"]:
            choices[names[authors[(act,)]]] = Choice(_request(act, told, keys, ids, spare))
    world = (*known, spare) if told["overreaches"] else tuple(known)
    members = tuple(names[e] for e in ordered if (e,) in told["member"])
    gone = tuple(name for name in members if name not in choices)
    config = Config(members, start_world(world), authorities, epochs=2 if gone else 1)
    leaving = tuple((name, Choice(exits=name in gone)) for name in members)
    epoch = Epoch(tuple(choices.items()))
    return Scenario(config, initial(config)[0], (Epoch(leaving), epoch) if gone else (epoch,))


def _request(
    act: str, told: Mapping[str, Rows], keys: Mapping[str, str], ids: Mapping[str, str], spare: str
) -> Request:
    declared = tuple(sorted(name for key, name in keys.items() if (act, key) in told["scope"]))
    cited = tuple(name for e, name in ids.items() if (act, e) in told["cites"])
    if (act,) in told["cites_stranger"]:
        cited = (*cited, STRANGER)
    operation = READ if (act,) in told["reads"] else WRITE
    put = [(keys[key], Atom("str", value)) for one, key, value in sorted(told["puts"]) if one == act]
    if (act,) in told["overreaches"] and all(key in declared for key, _ in put):
        put.append((spare, Atom("str", "taken")))
    if (act,) not in told["formed"]:
        put.append(("nowhere", Atom("str", "taken")))
    return Request(operation, declared, tuple(put), cited)
