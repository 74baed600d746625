"""Compare the words that were read from the rules with the rules: nothing that `rules` reads is believed.

Compared are situations of two agents, two keys and two artefacts, drawn alike in every run from all of them: requests
of every kind, artefacts in any hands, an agent that has left.  Every word is compared for every request (and pair of
requests) with what the function itself returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.system import Step
from evenhand.model.cud import kernel
from evenhand.model.cud.kernel import REFERENCE, Rules
from evenhand.model.cud.layouts import agent_names, key_names, start_world
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.step import adjudicate, moment
from evenhand.model.cud.vocabulary import (
    ALLOW,
    DENY,
    FAILURE,
    OPERATIONS,
    READ,
    WRITE,
    AgentState,
    Authority,
    Choice,
    Config,
    Epoch,
    Request,
    Shown,
    State,
    target,
)
from evenhand.proofs.cud.encoding import CudStep, act_element, facts_of, structure_of, universe_of
from evenhand.proofs.cud.epoch import EPOCH, FAILURE_FIRST, KERNEL, OBSERVED
from evenhand.smt.structure import Reader
from evenhand.smt.theory import Theory
from evenhand.source.validation import Mistranslated, spread

MOST = 512
"""Situations that are compared."""

_AGENTS, _KEYS, _IDS = agent_names(2), key_names(2), ("CUD-001", "CUD-002")
_NEW = Atom("str", "taken")
_ONE, _TWO = _KEYS

# What is plain stands more often than what is odd: else hardly any request passes.
_KINDS = (READ, *(WRITE,) * 6, "DELETE")
_SCOPES = (*((_ONE,), (_TWO,), _KEYS) * 6, (), (_ONE, _ONE), ("nowhere",), ("nowhere", _ONE))
_WRITES = (
    *(((_ONE, _NEW),), ((_ONE, _NEW), (_TWO, _NEW)), ()) * 6,
    ((_ONE, Opaque("nan")),),
    (("nowhere", _NEW),),
    ((_ONE, _NEW), (_ONE, _NEW)),
)
_CITED = (*("own",) * 16, _IDS, _IDS[:1], _IDS[1:], (), (*_IDS, "CUD-777"))
_FORGED = (None,) * 14
_REQUESTS: tuple[Sequence[Any], ...] = (
    _KINDS,
    _SCOPES,
    _WRITES,
    _CITED,
    (*_FORGED, "own", "forged"),
    (*_FORGED, "own", "forged"),
    (True,) * 7 + (False,),
)
_PAIRS = tuple((target(key), operation) for key in _KEYS for operation in OPERATIONS)
_ATOMS = (
    *(_PAIRS,) * 16,
    *(tuple(pair for place, pair in enumerate(_PAIRS) if number >> place & 1) for number in range(16)),
)
_ARTEFACTS: tuple[Sequence[Any], ...] = (
    (*(ALLOW,) * 5, DENY),
    (*_AGENTS * 4, "harness"),
    _ATOMS,
    (0, 0, 0, 0, 0, 1),
)
_PASTS = ((0, True), (1, True), (1, False))
_CHOICES = (*_REQUESTS * 2, *_ARTEFACTS * 2, _PASTS, (False, True))


def _situation(number: int, readings: Readings) -> CudStep:
    """Return one of all situations; nothing has been shown of it."""
    picked: list[Any] = []
    for options in _CHOICES:
        number, place = divmod(number, len(options))
        picked.append(options[place])
    first, second, picked = picked[:7], picked[7:14], picked[14:]
    (epoch, here), turned = picked[8], picked[9]
    made = (picked[:4], picked[4:8])
    artefacts = tuple(Authority(i, c, who, pairs, epoch=e) for i, (c, who, pairs, e) in zip(_IDS, made, strict=True))
    config = Config(_AGENTS, start_world(_KEYS), artefacts, epochs=2, readings=readings)
    past = (None, None) if epoch == 0 else (FAILURE, (_ONE,))
    state = State(config.world, (AgentState(True, *past), AgentState(here, *past)), (), epoch)
    mine = {name: tuple(one.authority_id for one in artefacts if one.holder_agent_id == name) for name in _AGENTS}
    choices = [
        (name, Choice(_request(name, epoch, mine[name], asked[:6]) if asked[6] else None))
        for name, asked, active in zip(_AGENTS, (first, second), (True, here), strict=True)
        if active
    ]
    return Step(config, state, Epoch(tuple(reversed(choices) if turned else choices)), Shown(), state)


def _request(name: str, epoch: int, mine: tuple[str, ...], picked: Sequence[Any]) -> Request:
    """Return a request; `mine` are the artefacts that its agent holds."""
    kind, scope, delta, cited, agent_id, action_id = picked
    return Request(
        kind,
        scope,
        delta,
        mine if cited == "own" else cited,
        name if agent_id == "own" else agent_id,
        kernel.action_id(name, epoch) if action_id == "own" else action_id,
    )


@dataclass
class Compared:
    """How much was compared, and the words of which both truth values were seen."""

    situations: int = 0
    values: int = 0
    seen: frozenset[tuple[str, bool]] = frozenset()

    @property
    def constant(self) -> tuple[str, ...]:
        """The words that were true, or false, in every situation."""
        names = {name for name, _ in self.seen}
        return tuple(sorted(name for name in names if not {(name, True), (name, False)} <= self.seen))


def answers(rules: Rules, step: CudStep) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """Yield what the functions say of the requests of a situation, by word."""
    config, now = step.config, moment(rules, step.config, step.before)
    authorities = rules.in_force(config, now)
    asked = {name: one.request for name, one in step.action.choices if one.request is not None}
    settled = dict(adjudicate(rules, config, now, step.action).judged)
    for name, request in asked.items():
        bound = rules.bind(name, kernel.action_id(name, now.epoch), request)
        examined = kernel.examine(rules, config, authorities, bound)
        found = settled[name].finding
        yield "formed", (name,), not rules.malformed(config, bound)
        yield "stray", (name,), rules.foreign(authorities, bound)
        yield "covered", (name,), rules.covers(authorities, bound)
        yield "vetoed", (name,), rules.vetoed(authorities, bound)
        yield "passes", (name,), examined.verdict == kernel.ADMITTED
        yield "struck", (name,), examined.verdict == kernel.STRUCTURE
        yield "contends", (name,), rules.contends(examined)
        yield "collides", (name,), found is not None and found.verdict == kernel.PASS_TWO
        for other, another in asked.items():
            if name != other:
                yield "interferes", (name, other), rules.interfere(request, another)


def compare(rules: Rules, theory: Theory, readings: Readings, most: int = MOST) -> Compared:
    """Compare the words of a theory with the rules, under these readings.  Raises Mistranslated."""
    reader, done, seen = Reader(theory.meanings), Compared(), set[tuple[str, bool]]()
    for number in spread(prod(map(len, _CHOICES)), most):
        step = _situation(number, readings)
        facts = facts_of(step)
        if facts is None:
            continue
        structure = structure_of(facts, universe_of((facts,))).without(OBSERVED)
        done.situations += 1
        for name, who, said in answers(rules, step):
            meaning = theory.meanings[name]
            row = dict(zip(meaning.variables, map(act_element, who), strict=True))
            if reader.holds(meaning.relation(*meaning.variables), structure, row) != said:
                raise Mistranslated(
                    f"{name} of {', '.join(who)}: the function says {said}; {step.config}, {step.action}"
                )
            done.values += 1
            seen.add((name, said))
    done.seen = frozenset(seen)
    return done


@cache
def compared(readings: Readings) -> Compared:
    """Compare the kernel's own rules, once in a process.  Raises Mistranslated, and ValueError for too little."""
    theory = FAILURE_FIRST if readings.fault_precedence == "failure_first" else EPOCH
    found = compare(REFERENCE, theory, readings)
    missing = sorted(set(KERNEL) - {name for name, _ in found.seen})
    if missing or found.constant:
        raise ValueError(f"no comparison of {', '.join((*missing, *found.constant))}")
    return found
