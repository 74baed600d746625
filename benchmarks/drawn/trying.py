"""Make a fault of the list, and try every claim on it."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any, cast

from evenhand.core.bundle import Bundle
from evenhand.core.system import AnySystem
from evenhand.studies.by_rule import Made, Trial
from evenhand.studies.walking import Walked, everywhere
from evenhand.variants.automatic import Fault, Held, Source, in_force, sources
from evenhand.variants.rewriting import code_in

DRAWN = 100
"""Examples of the machine for a fault that no step of the places tells apart."""

LIST = Path(__file__).with_name("faults.json")


@dataclass(frozen=True)
class Drawn:
    """A fault: the paragraph it breaks, what is wrong, and in which function which text is exchanged for which."""

    protocol: str
    name: str
    paragraph: str
    fault: str
    function: str
    old: str
    new: str


def listed(protocol: str) -> tuple[Drawn, ...]:
    """Return the faults of one protocol."""
    every = (Drawn(**one) for one in json.loads(LIST.read_text("utf-8")))
    return tuple(one for one in every if one.protocol == protocol)


def code_of(drawn: Drawn, source: Source) -> CodeType:
    """Return the code of the faulty function.  Raises ValueError unless the old text is there exactly once."""
    whole = inspect.getsource(source.module)
    body = ast.get_source_segment(whole, source.definition) or ""
    if body.count(drawn.old) != 1 or whole.count(body) != 1:
        raise ValueError(f"{drawn.name}: {drawn.function} has {body.count(drawn.old)} times the text {drawn.old!r}")
    module = compile(
        whole.replace(body, body.replace(drawn.old, drawn.new)), source.function.__code__.co_filename, "exec"
    )
    code = code_in(module, source.function.__qualname__)
    if code is None or code.co_freevars != source.function.__code__.co_freevars:
        raise ValueError(f"{drawn.name}: {drawn.function} is no function of its own any more")
    return code


def faulty(system: AnySystem, drawn: Drawn, held: Held | None = None) -> AnySystem:
    """Return the system with the fault.  `held`: where its caches are held, if that was found before."""
    known = sources(system)
    source = known.functions[drawn.function]
    fault = Fault(cast("Any", source.function), code_of(drawn, source), held or Held(known.caches))
    return in_force(system, fault, drawn.name)


class Trying(Trial):
    """Decides what becomes of a drawn fault, by name."""

    def __init__(self, bundle: Bundle, faults: Iterable[Drawn]) -> None:
        super().__init__(bundle, everywhere(bundle))
        self.faults = {one.name: one for one in faults}

    def unfinished(self, name: str) -> Made:
        """A fault that was not decided."""
        one = self.faults[name]
        return Made(name, one.function, one.fault, "unfinished", because="interrupted")

    def mutant(self, system: AnySystem, name: str) -> AnySystem:
        """The system with the fault."""
        return faulty(system, self.faults[name], self.held.get(id(sources(system))))

    def runs(self, made: Made, one: Walked) -> bool:
        """Every place that calls the function may run the exchanged text."""
        return True

    def __call__(self, name: str) -> Made:
        """What becomes of a fault: where no step of the places differs, the machine draws other ones."""
        made = super().__call__(name)
        if made.status not in ("equivalent", "unfinished", "unreached"):
            return made
        places = {
            one.system.name: one for one in reversed(self.walks) if made.function in sources(one.system).functions
        }
        for one in places.values():
            claim, broken = self.asked(
                one, self.mutant(one.system, name), {"fuzz": partial(self.driven, examples=DRAWN)}
            )
            made = replace(made, broken=(*made.broken, *broken))
            if claim:
                return replace(made, status="killed", claim=claim, because="")
        return made


def tried(bundle: Bundle, faults: Iterable[Drawn]) -> Iterator[tuple[Drawn, Made]]:
    """Yield each fault and what became of it."""
    trial = Trying(bundle, faults)
    for name, one in trial.faults.items():
        yield one, replace(trial(name), name=name)
