"""Concretisation: a structure of the theory as epochs that the executable model can play.

The structure's epoch comes last.  Before it come the epochs that its past needs: one in which agents are refused or
declare keys that stay locked, one in which the inactive agents exit, or a silent one where the epoch is only not the
first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.trace import Scenario
from evenhand.core.verdict import Evidence
from evenhand.model.cud import vocabulary as model
from evenhand.model.cud.layouts import agent_names, key_names
from evenhand.model.cud.readings import Readings
from evenhand.model.cud.step import initial
from evenhand.proofs.cud.encoding import MARK
from evenhand.smt.preludes import both_runs, first_of_twins
from evenhand.smt.structure import Structure

STRANGER = "CUD-777"
"""An id that no artefact has."""

MOST_AGENTS = 9
"""The limit of `agent_names`, beyond which names no longer sort by number."""

MOST_KEYS = 26
"""The limit of `key_names`: one name for each letter."""

_FREE = Atom("str", "free")
CudScenario = Scenario[model.Config, model.State, model.Epoch]


def scene(structure: Structure, readings: Readings | None = None) -> CudScenario | None:
    """Return epochs whose last matches the structure, or the first epoch of a structure of two.

    None if no epoch matches, and where there are more agents or keys than names.
    """
    told = structure.relations
    ordered = sorted(structure.universe["Agent"], key=lambda e: (sum(row[1] == e for row in told["ahead"]), e))
    if len(ordered) > MOST_AGENTS or not any((e,) in told["active"] for e in ordered):
        return None
    if len(told["known"] | {(structure.functions["first_key"][()],)}) > MOST_KEYS:
        return None
    return _Scene(structure, tuple(ordered), readings or Readings()).played()


def left(readings: Readings | None = None) -> Callable[[Structure], Evidence | None]:
    """Return the first of two epochs as evidence; the judge makes the second from it."""

    return first_of_twins(partial(scene, readings=readings))


def both(readings: Readings | None = None) -> Callable[[Structure], Evidence | None]:
    """Return both epochs as separate runs, for claims about any two steps."""

    return both_runs(partial(scene, readings=readings), "other past")


class _Scene:
    """Names for the elements of a structure, and the requests, artefacts and epochs made of them."""

    def __init__(self, structure: Structure, ordered: tuple[str, ...], readings: Readings) -> None:
        told = structure.relations
        self.told, self.functions, self.universe = told, structure.functions, structure.universe
        self.ordered, self.readings = ordered, readings
        self.names = dict(zip(ordered, agent_names(len(ordered)), strict=True))
        first = structure.functions["first_key"][()]
        known = [first, *(key for key in structure.universe["Key"] if key != first and (key,) in told["known"])]
        self.keys = dict(zip(known, key_names(len(known)), strict=True))
        unknown = (key for key in structure.universe["Key"] if key not in self.keys)
        self.every = {**self.keys, **{key: f"unknown_{number}" for number, key in enumerate(unknown, start=1)}}
        artefacts = [e for e in structure.universe["Auth"] if e != self.constant("veto")]
        self.ids = {e: f"CUD-{number:03d}" for number, e in enumerate(artefacts, start=1)}
        mark = self.constant("mark")
        below = told.get("below", ())
        rank = {value: sum(row[1] == act for row in below) for act, _, value in sorted(told["wants"])}
        self.values = {
            # The value that ranks first must sort first as a text.
            e: MARK if e == mark else Atom("str", f"{rank.get(e, 0)} {e}")
            for e in structure.universe["Value"]
        }

    def constant(self, name: str) -> str:
        """Return the element of a constant; empty if the theory lacks it."""
        return self.functions.get(name, {}).get((), "")

    def has(self, name: str, *elements: str) -> bool:
        """Return whether a relation holds; False for one that the theory lacks."""
        return elements in self.told.get(name, frozenset())

    def authorities(self) -> tuple[model.Authority, ...]:
        """Return the artefacts without the second trace's veto."""
        return tuple(
            model.Authority(
                number,
                model.ALLOW if self.has("permits", e) else model.DENY,
                self.names[self.functions["holder"][(e,)]],
                tuple(
                    (model.target(name), operation)
                    for key, name in self.every.items()
                    for operation, over in ((model.READ, "over_read"), (model.WRITE, "over_write"))
                    if self.has(over, e, key)
                ),
                epoch=0 if self.has("early", e) else 1,
            )
            for e, number in self.ids.items()
        )

    def world(self) -> tuple[tuple[str, Atom], ...]:
        """Return each key with the value it holds, or with a value that no request writes."""
        values = {key: self.values[value] for key, value in self.told["held"] if key in self.keys}
        return tuple((name, values.get(key, _FREE)) for key, name in self.keys.items())

    def request(self, act: str) -> model.Request:
        """Return the request of an act."""
        told = self.told
        declared = tuple(sorted(name for key, name in self.every.items() if self.has("scope", act, key)))
        head = self.every.get(self.functions.get("head", {}).get((act,), ""), "")
        if head in declared:
            declared = (head, *(name for name in declared if name != head))
        if self.has("doubled", act):
            declared += declared[:1]
        put: list[tuple[str, Any]] = [
            (self.keys[key], self.values[value]) for one, key, value in sorted(told["wants"]) if one == act
        ]
        reads = self.has("reads", act)
        if not put and not reads and declared and any(row[1] == act for row in told["below"]):
            # A request without writes ranks first by value; so it writes the value that is there already.
            put = [entry for entry in self.world() if entry[0] == declared[0]]
        if self.has("odd_value", act):
            put.append((next(iter(self.keys.values())), Opaque("nan")))
        if self.has("misshapen", act):
            put.append(("nowhere", Atom("str", "taken")))
        cited = tuple(number for e, number in self.ids.items() if self.has("cites", act, e))
        operation = "DELETE" if self.has("odd_type", act) else model.READ if reads else model.WRITE
        return model.Request(
            operation,
            declared,
            tuple(put),
            (*cited, STRANGER) if self.has("cites_stranger", act) else cited,
            "forged" if self.has("forged_agent", act) else None,
            "forged" if self.has("forged_id", act) else None,
        )

    def played(self) -> CudScenario | None:
        """Return the epochs, the structure's own last."""
        authors = self.functions["by"]
        choices = {self.names[e]: model.Choice() for e in self.ordered if self.has("active", e)}
        choices |= {self.names[e]: model.Choice(exits=True) for e in self.ordered if self.has("exits", e)}
        acts = sorted(
            (act for act in self.universe["Act"] if self.has("submitted", act)),
            key=lambda act: sum(row[1] == act for row in self.told.get("sooner", ())),
        )
        for act in acts:
            name = self.names[authors[(act,)]]
            choices.pop(name)
            choices[name] = model.Choice(self.request(act))  # so that it has its place in the order of submission
        members = tuple(self.names[e] for e in self.ordered if self.has("member", e))
        before = self.before(members, tuple(name for name in members if name not in choices))
        config = model.Config(members, self.world(), self.authorities(), epochs=len(before) + 1, readings=self.readings)
        return Scenario(config, initial(config)[0], (*before, model.Epoch(tuple(choices.items()))))

    def before(self, members: tuple[str, ...], gone: tuple[str, ...]) -> tuple[model.Epoch, ...]:
        """Return the epochs that make the past: refusals and locks, then exits."""
        locked = tuple(name for key, name in self.keys.items() if self.has("locked", key))
        trail = tuple(name for key, name in self.keys.items() if self.has("trail", key))
        balked = {self.names[e] for e in self.ordered if self.has("balked", e)}
        asking = dict.fromkeys(balked, tuple(self.keys.values())[:1])
        if trail:
            asking[self.names[self.constant("leaver")]] = trail  # whatever it is answered
        epochs: list[Mapping[str, model.Choice]] = []
        if locked and gone:
            epochs.append({gone[0]: _refused(locked)})
        if asking or gone or self.has("later"):
            last = {name: _refused(scope) if name in balked else _faulty(scope) for name, scope in asking.items()}
            epochs.append({**last, **dict.fromkeys(gone, model.Choice(exits=True))})
        for _ in range(self.turns(members, len(epochs))):
            epochs.insert(0, {})
        return tuple(
            model.Epoch(tuple((name, chosen.get(name, model.Choice())) for name in members)) for chosen in epochs
        )

    def turns(self, members: tuple[str, ...], made: int) -> int:
        """Return how many silent epochs bring the rotation to the structure's, if any number does."""
        wanted = sorted(
            members, key=lambda name: sum(row[1] == self._element(name) for row in self.told.get("turn", ()))
        )
        for extra in range(len(members) if made else 0):
            now = sorted(members, key=lambda name: (members.index(name) + made + extra) % len(members))
            if now == wanted:
                return extra
        return 0

    def _element(self, name: str) -> str:
        return next(e for e, known in self.names.items() if known == name)


def _refused(scope: tuple[str, ...]) -> model.Choice:
    """Return a request that pass 1 refuses because it cites nothing."""
    return model.Choice(model.Request(model.WRITE, scope, (), ()))


def _faulty(scope: tuple[str, ...]) -> model.Choice:
    """Return a request that is malformed because it names no operation."""
    return model.Choice(model.Request("", scope, (), ()))
