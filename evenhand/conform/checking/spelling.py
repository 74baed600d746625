"""Texts and values that some language or format reads as something else, and where an encoded value holds texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Any, TypeAlias, cast

from evenhand.core.atoms import Atom, Opaque, atom
from evenhand.core.canonical import Json, canonical_bytes
from evenhand.core.codec import decode, encode, field_hints
from evenhand.core.system import AnySystem
from evenhand.core.trace import AnyScenario

ODD = (
    "", " ", "0", "1", "-1", "1.0", "1e999", "null", "true", "None", "NaN", "constructor", "__proto__", "toString",
    "password", "a\nb", "a\tb", "'", '"', "a'b", "\\", "%", "_", "*", "?", ".", "..", "/", "a/b", "a,b", "a;b", "a:b",
    "a=b", "{}", "[]", "}", "é", "e\u0301", "ß", "\u00a0", "\u200b", "\U0001f600",
)  # fmt: skip
"""Texts that some language or format reads as something else than a text."""

NUMBERS = (0, 1, -1, 2, 3, 10, 1_000, 1_000_000)
FRACTIONS = (Fraction(1, 2), Fraction(-1, 2), Fraction(1, 1_000), Fraction(1, 3), Fraction(999, 1_000))
VALUES: tuple[Any, ...] = (None, True, False, *NUMBERS, *FRACTIONS, *ODD, (), frozenset[Any]())
ATOMS = tuple(map(atom, (None, True, False, *NUMBERS, 0.5, 1e300, *ODD)))

CONFUSED: tuple[tuple[Json, Json], ...] = tuple(
    (encode(atom(one)), encode(atom(other)))
    for one, other in ((1, True), (True, 1), (0, False), ("1", 1), (1, "1"), (0, ""), (None, ""), (None, False))
)
"""Two values, encoded, that some language takes for equal."""

STARTS = 64
"""Initial states among which the start of a rewritten scenario must be."""

LONGEST = 1_000
"""Characters of the longest text that is made for a limit."""

_WORD = re.compile(r"\w+")

Put: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True)
class Place:
    """A value in an action, the annotation of its field, and the action with another value in its place.

    `path` names the fields on the way to it, and the classes; entries of one list have the same, but for those that are
    a name and its text.
    """

    value: Any
    hint: Any
    put: Put
    path: str


def places(value: Any, hint: Any, put: Put, path: str = "") -> Iterator[Place]:
    """Yield every place in a value, the whole first."""
    yield Place(value, hint, put, path)
    if isinstance(value, tuple):
        items = items_of(value)
        for at, item in enumerate(items):
            yield from places(item, Any, partial(_put_item, put, items, at), f"{path}{_name_of(item)}")
    elif is_dataclass(value) and not isinstance(value, type | Atom):
        for name, inner in field_hints(type(value)).items():
            put_it = partial(_put_field, put, value, name)
            yield from places(getattr(value, name), inner, put_it, f"{path}.{type(value).__name__}.{name}")


def _name_of(entry: Any) -> str:
    """The name of an entry that is a name and its text."""
    pair = cast("tuple[Any, ...]", entry) if isinstance(entry, tuple) else ()
    return f"[{pair[0]}]" if len(pair) == 2 and all(isinstance(one, str) for one in pair) else ""


def _put_item(put: Put, items: tuple[Any, ...], at: int, new: Any) -> Any:
    return put((*items[:at], new, *items[at + 1 :]))


def _put_field(put: Put, record: Any, name: str, new: Any) -> Any:
    return put(replace(record, **{name: new}))


class Words:
    """The texts and numbers of a configuration, without its readings."""

    def __init__(self, config: Any, readings: Any) -> None:
        self.texts: list[str] = []
        self.numbers: list[int | Fraction] = []
        self._collect(config, type(readings))
        self.texts = list(dict.fromkeys(self.texts))
        self.numbers = list(dict.fromkeys(self.numbers))
        self.names = frozenset(word for one in self.texts for word in _WORD.findall(one))

    def _collect(self, value: Any, readings: Any) -> None:
        if isinstance(value, str):
            self.texts.append(value)
        elif isinstance(value, int | Fraction) and not isinstance(value, bool | Enum):
            self.numbers.append(value)
        elif isinstance(value, tuple | frozenset):
            for item in items_of(value):
                self._collect(item, readings)
        elif is_dataclass(value) and not isinstance(value, Atom) and type(value) is not readings:
            kind: Any = type(value)
            for name in field_hints(kind):
                self._collect(getattr(value, name), readings)

    def without(self, said: str) -> str:
        """Return a text with each name replaced by `·`, and each number."""
        return _WORD.sub(lambda word: "·" if word[0].isdecimal() or word[0] in self.names else word[0], said)


def numberless(value: Any) -> Any:
    """Return what is equal for two values that differ in whole numbers alone, such as the ids of a run."""
    if isinstance(value, tuple):
        return tuple(map(numberless, cast("tuple[Any, ...]", value)))
    if is_dataclass(value) and not isinstance(value, type):
        return type(value), *(numberless(getattr(value, name)) for name in field_hints(type(value)))
    return 0 if type(value) is int else value


def spellings(text: str) -> Iterator[str]:
    """Yield a text in other spellings: other letters, longer, shorter, and as a path that leads to the same."""
    yield from (text.swapcase(), f"{text} ", f" {text}", f"{text}x", text[:-1], f"{text}\n", f"{text}'", f"x{text}")
    if "/" in text:
        head, _, last = text.rpartition("/")
        yield from (f"{head}//{last}", f"{head}/./{last}", f"{head}/../{last}", f"{text}/", f"{text}/..", head)
        yield f"{text}/../{last}"
    yield from (f"./{text}", f"/{text}", f"../{text}", f"{text}/x")


def limited(words: Words) -> Iterator[str]:
    """Yield texts as long as each number of a configuration, and by one longer, of letters that count once or twice."""
    for number in words.numbers:
        if 0 <= number <= LONGEST:
            yield from (one * (int(number) + more) for one in ("x", "\U0001f600") for more in (0, 1))


def items_of(value: Any) -> tuple[Any, ...]:
    """The entries of a tuple, or of a set in an order that no hash decides."""
    kept: Iterable[Any] = value
    return tuple(sorted(kept, key=lambda one: canonical_bytes(encode(one)))) if isinstance(value, frozenset) else value


def renamed(value: Json, old: str, new: str) -> Json:
    """An encoded value with another text; tags and the words of enumerations stay."""
    return _retold(value, lambda text: new if text == old else text)


def renamed_all(value: Json, names: Mapping[str, str]) -> Json:
    """An encoded value with other names for some, all at once, also where they are whole words within a text."""
    longest = sorted(names, key=lambda name: (-len(name), name))
    word = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")
    return _retold(value, lambda text: word.sub(lambda found: names[found[0]], text))


def rewritten(system: AnySystem, scenario: AnyScenario, rewrite: Put) -> AnyScenario | None:
    """A scenario with each of its encoded parts rewritten; None if a class or the model refuses it."""
    try:
        config, start, *actions = (
            decode(rewrite(encode(one)), *system.types) for one in (scenario.config, scenario.start, *scenario.actions)
        )
        begins = start in islice(system.initial(config), STARTS)
    except Exception:  # another text or value may be none that a class or the model takes
        return None
    return replace(scenario, config=config, start=start, actions=tuple(actions)) if begins else None


def exchanged(value: Json, old: Sequence[Json], new: Sequence[Json]) -> Json:
    """An encoded value with other values for some in it."""
    if value in old:
        return new[old.index(value)]
    if isinstance(value, list):
        return [exchanged(one, old, new) for one in cast("list[Json]", value)]
    if isinstance(value, dict):
        return {key: exchanged(one, old, new) for key, one in cast("dict[str, Json]", value).items()}
    return value


def atoms_of(value: Any) -> list[Json]:
    """Return the distinct atoms in an encoded value, as they first appear."""
    if isinstance(value, dict) and cast("dict[str, Json]", value).get("$") != Atom.__name__:
        value = list(cast("dict[str, Json]", value).values())
    found: list[Json] = [value] if isinstance(value, dict) else []
    for one in cast("list[Json]", value) if isinstance(value, list) else ():
        found += (inner for inner in atoms_of(one) if inner not in found)
    return found


def texts_of(value: Json) -> list[str]:
    """Return the texts of an encoded value, without tags and the words of enumerations."""
    found: list[str] = []

    def keep(text: str) -> str:
        found.append(text)
        return text

    _retold(value, keep)
    return found


def _retold(value: Json, retell: Callable[[str], str]) -> Json:
    if isinstance(value, str):
        return retell(value)
    if isinstance(value, list):
        return [_retold(one, retell) for one in cast("list[Json]", value)]
    if not isinstance(value, dict):
        return value
    entries = cast("dict[str, Json]", value)
    if "$enum" in entries or entries.get("$") in (Atom.__name__, Opaque.__name__):
        return entries
    made: dict[str, Json] = {key: one if key == "$" else _retold(one, retell) for key, one in entries.items()}
    members = made.get("$set")
    if isinstance(members, list):
        return {"$set": sorted(cast("list[Json]", members), key=canonical_bytes)}
    return made
