"""Compare two JSON values: where they differ, and of what kind each difference is.

The *kind* of a difference is its place and the two values, without names and numbers: runs in which other agents meet
the same fault are of one kind.  Kinds only group divergences.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

from evenhand.conform.adapters.wire import Fault, text
from evenhand.core.canonical import Json
from evenhand.core.spoken import leaves

_HASH = re.compile(r"\b[0-9a-f]{16,}\b")
_NUMBER = re.compile(r"\d+")
_QUOTED = re.compile(r"\"[^\"\n]*\"")
_SAYS = re.compile(r"\w|[^\x00-\x7f]")

EMPTY = '""'
"""The word for an empty text."""

FLAGS = frozenset({EMPTY, "null", "true", "false"})
"""Words that tell nothing of the sort of a record."""

MANY = 8
"""Distinct words of one value that its kind lists."""


@dataclass(frozen=True)
class Difference:
    """One place where two values differ; `expected` or `got` is None if that side has nothing there."""

    path: str
    expected: str | None
    got: str | None
    place: str = field(default="", compare=False)
    """The path for people: entries of a list of named values by name."""

    def __str__(self) -> str:
        expected, got = (None if said is None else in_words(json.loads(said)) for said in (self.expected, self.got))
        if expected == got:  # what differs has no words, as a text in place of the atom of the same text
            expected, got = self.expected, self.got
        place = (self.place or self.path).removesuffix("[]")
        if expected is None:
            return f"{place}: not expected: {got}"
        return f"{place}: missing: {expected}" if got is None else f"{place}: expected {expected}, shown {got}"


def in_words(value: Json) -> str:
    """Return an encoded value about as `describe` writes the value itself, without the empty fields of records."""
    if isinstance(value, list):
        return f"[{', '.join(map(in_words, cast('list[Json]', value)))}]"
    if not isinstance(value, dict):
        return repr(value)
    entries = cast("dict[str, Json]", value)
    name = entries.get("$", "")
    if name == "Atom" and isinstance(entries.get("text"), str):
        return repr(entries["text"]) if entries.get("kind") == "str" else str(entries["text"])
    told = {key: one for key, one in entries.items() if key != "$" and one is not None and one not in ("", [])}
    if name and isinstance(name, str):
        return f"{name}({', '.join(f'{key}={in_words(one)}' for key, one in told.items() if one is not False)})"
    match entries:
        case {"$enum": _, "name": said, **more} | {"$fraction": said, **more} | {"$int": said, **more} if not more:
            return str(said)
        case {"$set": said} if len(entries) == 1:
            return in_words(said)
        case {"$unknown": _} if len(entries) == 1:
            return "(not told)"
        case _:
            pass
    return f"{{{', '.join(f'{key}: {in_words(one)}' for key, one in entries.items())}}}"


def normal(value: Json) -> Json:
    """Return `value` with every encoded set sorted, because a kernel need not keep an order."""
    if isinstance(value, list):
        return [normal(item) if isinstance(item, (list, dict)) else item for item in cast("list[Json]", value)]
    if isinstance(value, dict):
        held = cast("dict[str, Json]", value).items()
        entries = {key: normal(item) if isinstance(item, (list, dict)) else item for key, item in held}
        members = entries.get("$set")
        if len(entries) == 1 and isinstance(members, list):
            return {"$set": sorted(cast("list[Json]", members), key=text)}
        return entries
    return value


def without_hashes(said: str) -> str:
    """Return a text with each hash replaced by `·`."""
    return _HASH.sub("·", said)


def bare(said: str) -> str:
    """Return a text without its hashes and numbers."""
    return _NUMBER.sub("#", without_hashes(said))


def same(one: Json, other: Json) -> bool:
    """Whether two values have one text; Python takes 1 for True, and is fast to say that two values are not equal."""
    return one is other or (one == other and text(one) == text(other))


def differences(expected: Json, got: Json, path: str = "", place: str = "") -> Iterator[Difference]:
    """Yield the innermost places where two values differ; `place` is `path` for people."""
    place = place or path
    if same(expected, got):
        return
    if isinstance(expected, dict) and isinstance(got, dict):
        old, new = cast("dict[str, Json]", expected), cast("dict[str, Json]", got)
        if old.get("$") == new.get("$") != "Atom" and _tags(old) == _tags(new):
            for key in sorted(old.keys() | new.keys()):
                inner, here = (f"{at}.{key}" if at else key for at in (path, place))
                if key not in new:
                    yield Difference(inner, text(old[key]), None, here)
                elif key not in old:
                    yield Difference(inner, None, text(new[key]), here)
                else:
                    yield from differences(old[key], new[key], inner, here)
            return
    if isinstance(expected, list) and isinstance(got, list):
        yield from _entries(cast("list[Json]", expected), cast("list[Json]", got), path, place)
        return
    yield Difference(path or "all of it", text(expected), text(got), place)


def _tags(value: dict[str, Json]) -> list[str]:
    return [key for key in value if key.startswith("$")]


def _entries(expected: list[Json], got: list[Json], path: str, place: str) -> Iterator[Difference]:
    if len(expected) == len(got):
        for at, (old, new) in enumerate(zip(expected, got, strict=True)):
            if name := _name(old, new):
                yield from differences(name[1], name[2], f"{path}[{at}][1]", f"{place}[{name[0]}]")
            else:
                yield from differences(old, new, f"{path}[{at}]", f"{place}[{at}]")
        return
    left, more = _unequal(expected, got)
    pairs = _alike(left, more)
    for at, other in pairs.items():
        yield from differences(left[at], more[other], f"{path}[{at}]", f"{place}[{at}]")
    yield from (Difference(f"{path}[]", text(one), None, place) for at, one in enumerate(left) if at not in pairs)
    taken = set(pairs.values())
    yield from (Difference(f"{path}[]", None, text(one), place) for at, one in enumerate(more) if at not in taken)


def _name(old: Json, new: Json) -> tuple[str, Json, Json] | None:
    """The name of two named values, and both values; None for anything else."""
    if not (isinstance(old, list) and isinstance(new, list)):
        return None
    one, other = cast("list[Json]", old), cast("list[Json]", new)
    if len(one) != 2 or len(other) != 2 or not isinstance(one[0], str) or one[0] != other[0]:
        return None
    return one[0], one[1], other[1]


def _unequal(expected: list[Json], got: list[Json]) -> tuple[list[Json], list[Json]]:
    """The entries of either list that have no equal one in the other."""
    news = [text(one) for one in got]
    left: list[Json] = []
    for one in expected:
        if text(one) in news:
            news.remove(text(one))
        else:
            left.append(one)
    more: list[Json] = []
    for one in reversed(got):  # of equal ones the first are matched
        if text(one) in news:
            news.remove(text(one))
            more.insert(0, one)
    return left, more


def _alike(left: list[Json], more: list[Json]) -> dict[int, int]:
    """The places of entries that stand for one thing: of one sort and equal in most fields, the most alike first.

    So a fault in an entry is the same difference, whether another fault adds or drops one beside it or not.
    """
    ranked = sorted(
        (-share, here, there)
        for here, old in enumerate(left)
        for there, new in enumerate(more)
        if (share := _likeness(old, new)) > Fraction(1, 2)
    )
    made, taken = dict[int, int](), set[int]()
    for _, here, there in ranked:
        if here not in made and there not in taken:
            made[here] = there
            taken.add(there)
    return dict(sorted(made.items()))


def _likeness(old: Json, new: Json) -> Fraction:
    """The share of equal fields of two records of one class, or of equal entries of two arrays that begin alike.

    Records with two other words are not alike: a refusal is no payment, although most fields of both are empty.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        one, other = cast("dict[str, Json]", old), cast("dict[str, Json]", new)
        if one.get("$") != other.get("$") or _tags(one) != _tags(other):
            return Fraction(0)
        names = (one.keys() | other.keys()) - {"$"}
        wrong = [name for name in names if name not in one or name not in other or text(one[name]) != text(other[name])]
        words = [name for name in wrong if _is_word(one.get(name)) and _is_word(other.get(name))]
        return Fraction(len(names) - len(wrong), len(names) or 1) if len(words) < 2 else Fraction(0)
    if isinstance(old, list) and isinstance(new, list):
        pairs = list(zip(cast("list[Json]", old), cast("list[Json]", new), strict=False))
        longest = max(len(cast("list[Json]", old)), len(cast("list[Json]", new)), 1)
        begins = bool(pairs) and text(pairs[0][0]) == text(pairs[0][1])
        return Fraction(sum(text(a) == text(b) for a, b in pairs), longest) if begins else Fraction(0)
    return Fraction(0)


def _is_word(value: Json | None) -> bool:
    return isinstance(value, str) and bool(value)


@lru_cache(maxsize=64)
def words_of(types: tuple[type, ...]) -> frozenset[str]:
    """Return the protocol's own words: the constants of the modules that define its types, `types`."""
    found = set[str]()
    for module in {kind.__module__ for kind in types}:
        for name, value in vars(sys.modules[module]).items():
            values = cast("Iterable[object]", value) if isinstance(value, tuple | frozenset) else (value,)
            found.update(one for one in values if name.isupper() and isinstance(one, str))
    return frozenset(found)


def failure(fault: Fault | None, why: str) -> str:
    """Return the kind of a failure: what was raised and where, or a value of which class; else the way of failing.

    What an error quotes is data.
    """
    if fault is Fault.RAISED:
        why = _QUOTED.sub("·", why)
    if fault in (Fault.RAISED, Fault.ILLEGAL):
        return f"{fault.value}: {re.sub('#+', '#', why)}"
    return fault.value if fault else ""


@lru_cache(maxsize=1_024)
def _one_of(names: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern for names; one that stands inside a longer word, as `low` in `allowlist`, is none."""
    return re.compile("|".join(rf"(?<![^\W\d_]){re.escape(one)}(?![^\W\d_])" for one in names))


class Names:
    """The names of one run: the texts of its configuration, and those that `actions` bring, but for `words`."""

    def __init__(self, config: Json, actions: Iterable[Json] = (), words: frozenset[str] = frozenset()) -> None:
        actions = list(actions)
        found = {leaf for leaf in leaves(config) if leaf}
        brought = {leaf for leaf in leaves(actions) if leaf and leaf not in words}
        self._tags = frozenset(tag for one in actions for tag in _classes(one))
        self._signs = frozenset(leaf for leaf in brought if not _SAYS.search(leaf))  # inside words they are no names
        found |= brought - self._signs
        self._letters = frozenset(name for name in found if len(name) == 1)  # inside words they are no names
        self._worded: dict[tuple[str, bool], str] = {}
        self._names = sorted(found - self._letters, key=lambda name: (-len(name), name))

    def without(self, said: str) -> str:
        """Return `said` with each name replaced by `·` and each number by `#`."""
        if said in self._letters or said in self._signs:
            return "·"
        there = tuple(name for name in self._names if name in said)
        return _NUMBER.sub("#", _one_of(there).sub("·", said) if there else said)

    def kinds(self, found: Iterable[Difference]) -> frozenset[str]:
        """Return the kinds of differences: the place without numbers, and the words on either side."""
        groups: dict[str, list[Difference]] = {}
        for one in found:
            groups.setdefault(_NUMBER.sub("#", one.path), []).append(one)
        return frozenset(
            f"{path}: {said}"
            for path, group in groups.items()
            for said in (["another order"] if _reordered(group) else map(self._sides, group))
        )

    def _sides(self, one: Difference) -> str:
        if one.expected is not None and one.got is not None:
            expected, got = _number(one.expected), _number(one.got)
            if expected is not None and got is not None:
                return "more" if got > expected else "less"
        alone = one.expected is None or one.got is None
        return f"{self._words(one.expected, alone)} / {self._words(one.got, alone)}"

    def _words(self, said: str | None, alone: bool) -> str:
        """The words of a value in any spelling: its tags, flags and texts, without names, numbers and hashes.

        If it stands alone, as an entry too much or too few, its sort counts, and not what is empty or true in it.  Of a
        record within it that an action brings, the class counts alone.
        """
        if said is None:
            return "nothing"
        if (said, alone) not in self._worded:
            self._worded[said, alone] = self._words_of(said, alone)
        return self._worded[said, alone]

    def _words_of(self, said: str, alone: bool) -> str:
        value = json.loads(said)
        if isinstance(value, dict) and cast("dict[str, Json]", value).get("$") == "Atom":
            return "·"
        words = _words(value, self._tags)
        found = dict.fromkeys(word if fixed else self.without(without_hashes(word)) for word, fixed in words)
        told = [word for word in found if word.strip("·# /.-")]
        if alone and (sorts := [word for word in told if word not in FLAGS]):
            told = sorts
        return " ".join(told[:MANY]) or {"{": "a record", "[": "entries"}.get(said[0], "·")


def _number(said: str) -> int | Fraction | None:
    """The number that a value is, if it is one."""
    if said[0] not in "-0123456789" and not said.startswith('{"$fraction"'):
        return None
    value = json.loads(said)
    entries = cast("dict[str, Json]", value) if isinstance(value, dict) else {}
    if list(entries) == ["$fraction"]:
        try:
            return Fraction(str(entries["$fraction"]))
        except (ValueError, ZeroDivisionError):
            return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _reordered(group: list[Difference]) -> bool:
    """Whether the same values stand in these places in another order."""
    return len(group) > 1 and sorted(one.expected or "" for one in group) == sorted(one.got or "" for one in group)


def _classes(value: Json) -> Iterator[str]:
    """Yield the tags of the records in a value."""
    if isinstance(value, list):
        for item in cast("list[Json]", value):
            yield from _classes(item)
    elif isinstance(value, dict):
        entries = cast("dict[str, Json]", value)
        yield str(entries.get("$"))
        for item in entries.values():
            yield from _classes(item)


def _words(value: Json, brought: frozenset[str], within: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the tags, flags and texts of a value, in order, each with whether no name can be meant by it.

    Of a record `within` another only the tag, if it is one of those `brought`.
    """
    if isinstance(value, dict):
        entries = cast("dict[str, Json]", value)
        if "$enum" in entries:
            yield str(entries.get("name")), True
            return
        if "$" in entries:
            yield str(entries["$"]), True
        for key, item in entries.items():
            if key != "$" and not (within and entries.get("$") in brought) and entries.get("$") != "Atom":
                yield from _words(item, brought, True)
    elif isinstance(value, list):
        for item in cast("list[Json]", value):
            yield from _words(item, brought, within)
    elif isinstance(value, str):
        yield (value, False) if value else (EMPTY, True)
    elif isinstance(value, bool) or value is None:
        yield json.dumps(value), True


def shape(value: Json, names: Names) -> str:
    """Return `value` as text, each name replaced by the place of its first mention, and each number by `#`.

    Equal shapes mean: equal up to renaming.
    """
    known: dict[str, int] = {}

    def renamed(item: Any) -> Any:
        if isinstance(item, str):
            bare = names.without(item)
            return f"{bare}/{known.setdefault(item, len(known))}" if bare != item else item
        if isinstance(item, list):
            return [renamed(one) for one in cast("list[Json]", item)]
        if isinstance(item, dict):
            return {
                key: one if key in ("$", "$enum") else renamed(one)
                for key, one in cast("dict[str, Json]", item).items()
            }
        return item

    return text(renamed(value))
