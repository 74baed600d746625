"""Compare kinds of differences (`comparing`): which tell of one place, one reason, or the same words."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import NamedTuple

from evenhand.conform.checking.comparing import EMPTY

_WORDLESS = re.compile(r"nothing|entries|a record|more|less|[·/ ]")


class Kind(NamedTuple):
    """A kind in parts: its place, and the words on either side; a number is said to be more or less on one alone."""

    place: str
    expected: str
    got: str


@lru_cache(maxsize=8_192)
def parted(kind: str) -> Kind:
    """Return the parts of a kind."""
    place, _, sides = kind.partition(": ")
    expected, _, got = sides.rpartition(" / ")
    return Kind(place, expected, got)


def same_side(one: str, other: str) -> bool:
    """Whether two kinds tell of one place at which the kernel shows the same words, or some of them."""
    here, there = parted(one), parted(other)
    return here.place == there.place and nested(frozenset(here.got.split()), frozenset(there.got.split()))


def shown_side(kind: str) -> str:
    """Return the place of a kind and what the kernel shows there, whatever it should show."""
    return f"{parted(kind).place}: {parted(kind).got}"


def one_reason(one: frozenset[str], other: frozenset[str], *, same: bool = False) -> bool:
    """Whether two sets of kinds show one reason that is not given, or one that is given where none is.

    A kernel that overlooks a reason accepts, or refuses for another one: `why: late / ""` and `why: late / poor`
    are one cause.  So are a lost entry that says it and another word in its place, if nothing else of that list
    differs.  One of the two must show the bare case, without the other reason, and one must differ in no place in which
    the other does not.  With `same` both must show the bare case.
    """
    places = [frozenset(_placed(kinds).values()) for kinds in (one, other)]
    if not nested(*places):
        return False
    if same:
        return bool(_bare_reasons(one) & _bare_reasons(other))
    return bool(_bare_reasons(one) & _reasons(other) or _bare_reasons(other) & _reasons(one))


def _reasons(kinds: frozenset[str]) -> set[tuple[str, str, bool]]:
    """The texts that stand in place of another: field, text, and whether the model shows it."""
    found: set[tuple[str, str, bool]] = set()
    for kind, place in _placed(kinds).items():
        _, expected, got = parted(kind)
        if expected and not _is_entry(kind, place):
            found |= {(place, expected, True), (place, got, False)}
    return found


def _bare_reasons(kinds: frozenset[str]) -> set[tuple[str, str, bool]]:
    """The reasons, each with its place and whether the model gives it, where the other side gives none."""
    found: set[tuple[str, str, bool]] = set()
    for kind, place in _placed(kinds).items():
        _, expected, got = parted(kind)
        if _is_entry(kind, place) and got == "nothing":
            found |= {(place, word, True) for word in expected.split() if not _WORDLESS.fullmatch(word)}
        elif EMPTY in (expected, got):
            found.add((place, got, False) if expected == EMPTY else (place, expected, True))
    return found


def _is_entry(kind: str, place: str) -> bool:
    """Whether a whole entry of a list is too much or missing, and nothing else of that list differs."""
    return kind.startswith(f"{place}[]: ")


def _placed(kinds: frozenset[str]) -> dict[str, str]:
    """Each kind with its place; the only one about the entries of a list with that list."""
    places = {kind: parted(kind).place for kind in kinds}
    lists = {kind: place.partition("[")[0] for kind, place in places.items()}
    many = Counter(lists.values())
    return {kind: lists[kind] if many[lists[kind]] == 1 else place for kind, place in places.items()}


def same_words(one: frozenset[str], other: frozenset[str], words: frozenset[str]) -> bool:
    """Whether two sets of kinds differ alike in `words` of the protocol; what is told of the state does not count.

    Whom it strikes, and whether a run is over by it, makes other lists longer or shorter, which have no words.
    """
    told = worded(one, words)
    return bool(told) and told == worded(other, words)


def worded(kinds: frozenset[str], words: frozenset[str]) -> frozenset[str]:
    """The kinds that say some of the protocol's `words`, but for what is told of the state."""
    return frozenset(
        kind
        for kind in kinds
        if not kind.startswith("facts.") and words.intersection(" ".join(parted(kind)[1:]).split())
    )


def nested(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether one of two sets, of kinds or of mutants, has all of the other."""
    return one <= other or other <= one


def touch(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sets of kinds share one, where a value without words is like any other in its place."""
    return bool(set(map(_place, one)) & set(map(_place, other)))


def _place(kind: str) -> str:
    return _WORDLESS.sub("", kind.replace("#", ""))
