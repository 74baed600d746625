"""Kernels of the toy latch as an outside author would write them: one honest, the others each hostile in one way."""

from __future__ import annotations

import atexit
import itertools
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.conform.adapters import Unsupported


class Latch:
    """The latch, written anew from its three sentences."""

    def __init__(self, initial: Any) -> None:
        self.again = initial["config"]["readings"]["again"]
        self.inside: list[int] = list(initial["start"]["inside"])
        self.before: frozenset[int] = frozenset()

    def step(self, action: Any) -> Any:
        """Take or leave."""
        verb, agent = action["verb"], action["agent"]
        if verb == "leave":
            self.inside = [one for one in self.inside if one != agent]
            return "left"
        if self.inside and not (self.inside == [agent] and self.again == "granted"):
            return "refused"
        if agent not in self.inside:
            self.inside.append(agent)
        return "taken"


def honest(initial: Any) -> Latch:
    """An honest kernel."""
    return Latch(initial)


class _Open(Latch):
    """A latch that tells its state."""

    def state(self) -> Any:
        """The encoded state."""
        return {"$": "State", "inside": list(self.inside)}


def open_honest(initial: Any) -> Latch:
    """An honest kernel that tells its state."""
    return _Open(initial)


class _Mistaken(_Open):
    """Lets agent 1 in where another one asks first."""

    def step(self, action: Any) -> Any:
        """Take or leave."""
        if not self.inside and action["agent"] == 0:
            self.inside = [1]
            return "refused"
        return super().step(action)


class _MistakenTwice(_Mistaken):
    """Says of a refusal that the agent has left."""

    def step(self, action: Any) -> Any:
        """Take or leave."""
        holds = action["agent"] in self.inside
        shown = super().step(action)
        return "left" if holds and shown == "refused" else shown


def mistaken_at_first(initial: Any) -> Latch:
    """A kernel with one mistake."""
    return _Mistaken(initial)


def mistaken_twice(initial: Any) -> Latch:
    """A kernel with two mistakes."""
    return _MistakenTwice(initial)


def open_liar(initial: Any) -> Latch:
    """A kernel whose observations equal the model's although it lets two agents inside."""

    class Two(_Open):
        def state(self) -> Any:
            return {"$": "State", "inside": [*self.inside, 7] if self.inside else []}

    return Two(initial)


def raising_once(initial: Any) -> Latch:
    """A kernel with two mistakes, which raises when agent 1 leaves, and yet lets it go."""

    class Raising(_MistakenTwice):
        def step(self, action: Any) -> Any:
            shown = super().step(action)
            return _raise(action) if action["verb"] == "leave" and action["agent"] == 1 else shown

    return Raising(initial)


def _when_leaving(deed: Callable[[Any], Any]) -> Callable[[Any], Latch]:
    """Return a latch that runs `deed` when agent 1 leaves."""

    class Hostile(Latch):
        def step(self, action: Any) -> Any:
            if action["verb"] == "leave" and action["agent"] == 1:
                answer = deed(action)
                if answer is not None:
                    return answer
            return super().step(action)

    return Hostile


def _raise(_action: Any) -> Any:
    raise LookupError("agent 1 is not \x1b[31mknown")


def _hang(_action: Any) -> Any:
    time.sleep(3_600)


def _dawdle(_action: Any) -> Any:
    time.sleep(0.8)
    return {"$enum": "Shown", "name": "NOTHING"}


def _exit(_action: Any) -> Any:
    os._exit(3)


def _exit_politely(_action: Any) -> Any:
    sys.exit(4)


def _grow(_action: Any) -> Any:
    held: list[bytearray] = []
    while True:
        held.append(bytearray(16 * 2**20))


def _blabber(_action: Any) -> Any:
    print('{"id": 1, "shown": "left"}', flush=True)
    sys.stdout.write("x" * 100_000)
    sys.stderr.write("y" * 100_000)


def _mutate(action: Any) -> Any:
    action["note"] = "seen"


raises = _when_leaving(_raise)
hangs = _when_leaving(_hang)
dawdles = _when_leaving(_dawdle)
exits = _when_leaving(_exit)
exits_politely = _when_leaving(_exit_politely)
grows = _when_leaving(_grow)
blabbers = _when_leaving(_blabber)
mutates_action = _when_leaving(_mutate)
not_json = _when_leaving(lambda _action: {1, 2})
returns_words_of_its_own = _when_leaving(lambda _action: {"outcome": "gone"})


def always_free(initial: Any) -> Latch:
    """An honest fault: any agent may take the latch."""

    class Free(Latch):
        def step(self, action: Any) -> Any:
            self.inside = []
            return super().step(action)

    return Free(initial)


def generous(initial: Any) -> Latch:
    """No fault but another reading: the holder may take the latch once more."""

    class Generous(Latch):
        def step(self, action: Any) -> Any:
            if action["verb"] == "take" and self.inside == [action["agent"]]:
                return "taken"
            return super().step(action)

    return Generous(initial)


def raises_at_start(_initial: Any) -> Latch:
    """It raises when it is made."""
    raise RuntimeError("no database")


def rejects(_initial: Any) -> Latch:
    """It implements no system."""
    raise Unsupported("this kernel knows no latch")


def mutates_config(initial: Any) -> Latch:
    """It writes its notes into its arguments."""

    class Notes(Latch):
        def step(self, action: Any) -> Any:
            initial["config"]["notes"] = action["verb"]
            return super().step(action)

    return Notes(initial)


_chance = random.Random()
_made = 0


def wavers(initial: Any) -> Latch:
    """It refuses at random."""

    class Chance(Latch):
        def step(self, action: Any) -> Any:
            answer = super().step(action)
            return "refused" if answer == "taken" and _chance.random() < 0.5 else answer

    return Chance(initial)


def scrambled(initial: Any) -> Latch:
    """It refuses in one of many orders in which hashes may put things, which few processes have."""

    class Scrambled(Latch):
        def step(self, action: Any) -> Any:
            answer = super().step(action)
            return "refused" if answer == "taken" and os.environ["PYTHONHASHSEED"] == "3" else answer

    return Scrambled(initial)


def leaks(initial: Any) -> Latch:
    """Its answers depend on how many kernels were made before."""
    global _made
    _made += 1
    return always_free(initial) if _made % 3 == 0 else Latch(initial)


_known: set[int] = set()


def hoards(initial: Any) -> Latch:
    """It lets nobody take the latch who took it in an earlier run."""

    class Hoarding(Latch):
        def step(self, action: Any) -> Any:
            answer = super().step(action)
            if answer == "taken" and action["agent"] in self.before:
                return "refused"
            if answer == "taken":
                _known.add(action["agent"])
            return answer

    made = Hoarding(initial)
    made.before = frozenset(_known)
    return made


FILES = [Path(tempfile.gettempdir()) / f"{name}-{os.getpid()}" for name in ("latch", "loaded")]
FILES[1].touch()
for _file in FILES:
    atexit.register(_file.unlink, missing_ok=True)


def files(initial: Any, file: Path = FILES[0]) -> Latch:
    """Nobody is let in any more after the first run, says a file for temporary data."""
    late = file.exists() and file.read_text("utf-8") != ""

    class Filing(Latch):
        def step(self, action: Any) -> Any:
            file.write_text("late", "utf-8")
            return "refused" if late and action["verb"] == "take" else super().step(action)

    return Filing(initial)


def files_from_the_first(initial: Any) -> Latch:
    """The same, with a file that is there once the adapter is loaded; the processes forked from one share it."""
    return files(initial, FILES[1])


def chokes(initial: Any) -> Latch:
    """It breaks down on who took the latch in an earlier run."""

    class Choking(Latch):
        def step(self, action: Any) -> Any:
            answer = super().step(action)
            if answer == "taken" and action["agent"] in self.before:
                raise LookupError("seen before")
            if answer == "taken":
                _known.add(action["agent"])
            return answer

    made = Choking(initial)
    made.before = frozenset(_known)
    return made


no_factory = 7


def forgets_to_return(initial: Any) -> None:
    """Make a kernel and keep it."""
    Latch(initial)


def returns_late(initial: Any) -> Latch | None:
    """A kernel for most runs."""
    return Latch(initial) if initial["start"]["inside"] == [] and next(_MADE) < 3 else None


_MADE = itertools.count()
