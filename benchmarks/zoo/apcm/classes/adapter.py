"""The adapter of `classes`.

evenhand check apcm --adapter benchmarks.zoo.apcm.classes.adapter:make --reading list_inputs=rejected \
    --reading first_step_mode=maintain_means_empty --reading pair_order=ordered --reading pair_arity=may_repeat

Caller and selector are hostile: the one adds to its list of preferences what it is about to name, and edits an artefact
after it was handed in; the other looks for more than the permitted actions, and adds what it wants to them if it can.
"""

from __future__ import annotations

import contextlib
from typing import Any, ClassVar

from benchmarks.zoo.apcm import adapting as zoo
from benchmarks.zoo.apcm.classes.kernel import EMPTY, Artifact, Halted, InvalidRun, Machine, Refused
from evenhand.conform.adapters import Initial

Json = Any
NOT_READ = ("E_MALFORMED", "E_UNREGISTERED")


class Looked(Exception):
    """A selector that only looks."""


class Adapter(zoo.Adapter):
    """One machine."""

    readings: ClassVar[dict[str, str]] = {
        "list_inputs": "rejected", "first_step_mode": "maintain_means_empty", "pair_order": "ordered",
        "pair_arity": "may_repeat",
    }  # fmt: skip

    def begin(self) -> None:
        self.names = list(self.config["preferences"])
        self.machine = Machine(self.names, self.config["actions"], zoo.defects())
        self.compiled = False

    def submit(self, told: Json) -> Json:
        if self.machine.step is None:
            _, apcm = zoo.situation(self.situation(), keys_are_feasible=True)
            try:
                self.machine.publish(apcm)
            except InvalidRun:
                return zoo.INVALID
        made = self.made(told)
        idle: list[str] | None = None
        try:
            permitted = self.machine.justify(made)
        except Refused:
            return zoo.REJECTED
        except Halted as halted:
            permitted, idle = frozenset(), halted.detail
        finally:
            self.spoil(made)
        if self.machine.record:
            record = vars(self.machine.record)
        else:
            record, self.turn = self.machine.records()[-1], self.turn + 1
        self.compiled |= record["compile_ok"]
        codes = [code for code in record["compile_errors"] if code.startswith("E_")]
        read = not set(codes) & set(NOT_READ)
        told_fields = zoo.fields(record["AV"], record["RP"], record["conflict_attribution"])
        return zoo.shown(
            "submit", artifact=zoo.UNKNOWN, fields=told_fields if read else None, mode=record["mode"] or "",
            compile_ok=record["compile_ok"], errors=zoo.errors(codes, told, idle, alone=["E_DIGEST", *NOT_READ]),
            forbidden=record["forbidden_actions"], permitted=sorted(permitted), offered=self.look(),
            halt=record["halt"], gridlock=record["gridlock"], revision=record["revision_event"],
        )  # fmt: skip

    def made(self, told: Json) -> Any:
        """An artefact; before the first one compiles, the kernel wants its own empty one cited."""
        if told is None:
            return None
        if self.compiled:
            previous = self.machine.briefing()["previous"] if self.machine.mask is None else None
            if previous is not None:
                av, rp, pairs = map(sorted, previous.fields())
                self.know(zoo.fields(av, rp, pairs), previous.digest())
        cited = self.cited(told)
        if cited is None and not self.compiled:
            cited = EMPTY.digest()
        av, rp, pairs = zoo.ids(told[zoo.SETS[0]]), zoo.ids(told[zoo.SETS[1]]), zoo.pairs(told[zoo.SETS[2]])
        self.names += [one for side in (av, rp) if isinstance(side, set)
                       for one in sorted(map(str, side)) if one not in self.names]  # fmt: skip
        return Artifact(av, rp, pairs, zoo.plain(told["precedent_reference"]), zoo.plain(told["mode"]), cited)

    def spoil(self, made: Any) -> None:
        """Edit an artefact afterwards."""
        for side in made.fields() if made else ():
            if isinstance(side, set):
                side.clear()

    def look(self) -> list[str]:
        """The actions of which a selector can learn."""
        found: set[str] = set()

        def selector(view: Any) -> str:
            found.update(view)
            for more in vars(view).values() if hasattr(view, "__dict__") else ():
                found.update(more or ())
            raise Looked

        with contextlib.suppress(Looked, Refused):
            self.machine.act(selector)
        return sorted(found)

    def select(self, action: str) -> Json:
        def selector(view: Any) -> str:
            if isinstance(view, set):
                view.add(action)
            return action

        try:
            done = self.machine.act(selector)
        except Refused:
            self.machine.rates()  # whoever is refused looks whether that was counted
            return zoo.REJECTED
        self.turn += 1
        violated = self.machine.records()[-1]["selected_action_violates"]
        return zoo.shown("select", selected=done, selected_violates=violated)

    def facts(self) -> Json:
        """What the machine tells."""
        previous = self.machine.previous
        told = zoo.fields(*map(sorted, previous.fields())) if self.compiled else zoo.UNKNOWN
        return self.told(self.turn, told, self.machine.mask or (), self.machine.invalid)


def make(initial: Initial) -> Adapter:
    """A fresh machine."""
    return Adapter(initial)
