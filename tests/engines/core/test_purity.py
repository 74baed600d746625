"""Impure functions, and pure functions that look impure."""

# The faults are written without types, as users write them.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false, reportConstantRedefinition=false

from __future__ import annotations

import collections
import datetime
import functools
import itertools
import random
import time
from dataclasses import dataclass, fields, replace
from datetime import datetime as moment
from random import choice
from typing import Any

import pytest

from evenhand.core import purity
from evenhand.core.answers import ModelError
from evenhand.core.purity import impurities, refuse_impure
from evenhand.core.registry import protocols

COUNT = 0
LOG: list[Any] = []
CACHE: dict[Any, Any] = {}
TABLE = {"a": 1}
NESTED: dict[str, list[Any]] = {"k": []}
NUMBERS = itertools.count()
RNG = random.Random(3)
DEQUE: collections.deque[int] = collections.deque()


class Holder:
    """An object with state."""

    n = 0

    def __init__(self) -> None:
        self.items: list[Any] = []

    def push(self, item: Any) -> Holder:
        """Change itself."""
        self.items.append(item)
        return self

    def reset(self) -> None:
        """Change itself, too."""
        self.n = 1

    def step(self, state: Any, _action: Any) -> Any:
        """A pure method."""
        return (state + self.n) % 2

    def counting(self, _state: Any, _action: Any) -> int:
        """A method that counts its calls."""
        self.n += 1
        return self.n

    def logging(self, state: Any, _action: Any) -> Any:
        """A method that keeps a log."""
        self.items.append(state)
        return state

    def indirect(self, state: Any, _action: Any) -> Any:
        """A method that calls one that changes the object."""
        self.reset()
        return state


HOLDER = Holder()


def counted(_state: Any, _action: Any) -> int:
    """Count in a global."""
    global COUNT
    COUNT += 1
    return COUNT


def helper() -> float:
    """Draw a random number."""
    return random.random()


def imported(_state: Any, _action: Any) -> float:
    """Import inside."""
    import random as lots

    return lots.random()


def aliased(state: Any, _action: Any) -> Any:
    """Change the list through another name."""
    log = LOG
    log.append(state)
    return state


def kept_default(state: Any, _action: Any, seen: list[Any] = []) -> int:  # noqa: B006 - the planted fault
    """Keep a value in a default."""
    seen.append(state)
    return len(seen)


def stored(state: Any, action: Any) -> Any:
    """Store in a global dictionary."""
    CACHE[state] = action
    return state


def attribute(_state: Any, _action: Any) -> int:
    """Change an attribute of a global object."""
    HOLDER.n += 1
    return HOLDER.n


def enclosed() -> Any:
    """A step that counts in a variable around it."""
    n = 0

    def step(_state: Any, _action: Any) -> int:
        nonlocal n
        n += 1
        return n

    return step


def boxed() -> Any:
    """A step that counts in a list around it."""
    box = [0]

    def step(_state: Any, _action: Any) -> int:
        box[0] += 1
        return box[0]

    return step


IMPURE = {
    "random.choice": lambda s, a: random.choice([1, 2]),
    "choice": lambda s, a: choice([1, 2]),
    "RNG": lambda s, a: RNG.random(),
    "helper": lambda s, a: helper(),
    "imported": imported,
    "time": lambda s, a: time.time(),
    "now": lambda s, a: datetime.datetime.now(),
    "today": lambda s, a: moment.today(),
    "count": counted,
    "nonlocal": enclosed(),
    "box": boxed(),
    "append": lambda s, a: LOG.append(s) or s,  # type: ignore[func-returns-value]
    "comprehension": lambda s, a: [LOG.append(y) for y in (1, 2)],  # type: ignore[func-returns-value]
    "deque": lambda s, a: DEQUE.popleft(),
    "alias": aliased,
    "store": stored,
    "nested": lambda s, a: NESTED["k"].append(s),
    "next": lambda s, a: next(NUMBERS),
    "default": kept_default,
    "attribute": attribute,
    "object": lambda s, a: HOLDER.push(s),
    "method counts": Holder().counting,
    "method logs": Holder().logging,
    "method calls": Holder().indirect,
    "partial": functools.partial(counted),
    "partial of an iterator": functools.partial(next, NUMBERS),
    "id": lambda s, a: id(s),
    "open": lambda s, a: open("x"),  # noqa: SIM115 - never run
    "input": lambda s, a: input(),
}


@pytest.mark.parametrize("name", IMPURE)
def test_what_is_no_function_of_its_arguments_is_found(name: str) -> None:
    """However it is hidden."""
    found = impurities([IMPURE[name]])
    assert found and all("test_purity.py:" in one or "functools.partial" in one for one in found)


@dataclass(frozen=True)
class State:
    """A state with a method, and with one that is never called."""

    x: int = 0

    def bumped(self) -> State:
        """Another state."""
        return replace(self, x=self.x + 1)

    @classmethod
    def drawn(cls) -> State:
        """Draw a random number; for tests only."""
        return cls(random.randrange(3))


@functools.cache
def cached(n: int) -> int:
    """A cache that is always correct."""
    return n + 1


def builds(state: Any, action: Any) -> Any:
    """Change an object that was made in the call."""
    out = list(state)
    out[0] = TABLE["a"]
    out.append(action)
    seen: dict[Any, Any] = {}
    seen[action] = 1
    total = 0

    def add() -> None:
        nonlocal total
        total += 1
        out.append(total)

    add()
    return tuple(out)


PURE = {
    "builds": builds,
    "builder": lambda s, a: tuple(Holder().push(a).items),
    "cached": lambda s, a: cached(s),
    "dataclass": lambda s, a: State(1).bumped(),
    "method": Holder().step,
    "seeded": lambda s, a: random.Random(s).choice([1, 2]),
    "timedelta": lambda s, a: datetime.timedelta(1) + datetime.timedelta(2),
    "table": lambda s, a: TABLE.get(s, 0),
    "sorted": lambda s, a: tuple(sorted(s)),
    "counter": lambda s, a: collections.Counter(s),
}


@pytest.mark.parametrize("name", PURE)
def test_a_pure_function_is_left_alone(name: str) -> None:
    """Pure functions give no false alarm."""
    assert impurities([PURE[name]]) == ()


def test_the_message_names_system_place_and_mend() -> None:
    """The message is one sentence."""

    @dataclass(frozen=True)
    class Rules:
        step: Any

    with pytest.raises(
        ModelError, match=r"system 'x': `step` depends on .*test_purity\.py:\d+ \(counted\) changes .*`COUNT`.*in the"
    ):
        refuse_impure("system 'x'", Rules(counted))
    refuse_impure("system 'x'", Rules(builds), None, Rules)


CACHES = {
    ("apcm", "predicates.py", "facts"),
    ("cud", "predicates.py", "under"),
    *(("cud", "symmetry.py", name) for name in ("_renamings", "_renamed_config", "_renamed_state")),
}
"""Functions of claims that cache facts about the last step: protocol, file, function."""


def test_the_protocols_that_come_along_are_pure_but_for_known_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs do not check them, since they are part of the package; this test does."""
    ours = purity._is_home  # pyright: ignore[reportPrivateUsage]
    content = ("evenhand.model.", "evenhand.properties.")
    monkeypatch.setattr(purity, "_is_home", lambda module: ours(module) and not module.startswith(content))
    found: set[tuple[str, str, str]] = set()
    for bundle in protocols():
        systems = bundle.model.systems.values()
        records = [one for system in systems for one in (system, system.rules, system.joint) if one is not None]
        functions = [getattr(one, entry.name) for one in (*records, *bundle.claims) for entry in fields(one)]
        for complaint in impurities(functions):
            place, _, rest = complaint.partition(" (")
            found.add((bundle.name, place.partition(":")[0], rest.partition(")")[0]))
    assert found == CACHES


def test_a_method_chosen_by_a_branch_is_a_known_miss() -> None:
    """Where two stacks merge, their top is unknown; `docs/explanation/what-a-verdict-covers.md` says so."""
    other: list[Any] = []

    def counting(state: int, _action: object) -> int:
        (LOG if state else other).append(1)
        return state

    assert not impurities([counting])
    assert impurities([lambda state, _action: LOG.append(state)])
