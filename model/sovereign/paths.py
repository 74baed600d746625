"""Paths and the file tree, as data.

A path is text from outside; a *place* is where it leads: the names from the root of the disk.  The repository lies at
`BASE`, so that a path out of it leads to an existing place.  `lexical` uses only the text of a path (gate 5);
`resolve` follows links in a tree and is what an executor must do before it consults the allow-list (6).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

from evenhand.core.records import dataclass

Place: TypeAlias = tuple[str, ...]

BASE: Place = ("repo",)
"""Where the repository lies; relative paths start here."""

MOST_LINKS = 8
"""Links that one resolution follows before it fails, as operating systems do for loops."""


@dataclass(frozen=True, slots=True)
class Node:
    """A directory, a file with its text, or a symbolic link with its target."""

    kind: str
    text: str = ""


Tree: TypeAlias = tuple[tuple[Place, Node], ...]


def dir_() -> Node:
    """Return a directory."""
    return Node("dir")


def file_(text: str = "") -> Node:
    """Return a file."""
    return Node("file", text)


def link_(target: str) -> Node:
    """Return a symbolic link."""
    return Node("link", target)


def look(tree: Tree, place: Place) -> Node | None:
    """Return the node at a place itself, without following a link; None without one."""
    for where, node in tree:
        if where == place:
            return node
    return None


def put(tree: Tree, place: Place, node: Node | None) -> Tree:
    """Return the tree with another node at a place (None: nothing there, and nothing below)."""
    kept = [(w, n) for w, n in tree if w != place and not (_replaced(node) and w[: len(place)] == place)]
    return tuple(sorted([*kept, *([(place, node)] if node is not None else [])], key=lambda entry: entry[0]))


def _replaced(node: Node | None) -> bool:
    """Return whether the nodes below a place go with it."""
    return node is None or node.kind != "dir"


@lru_cache(maxsize=65_536)
def lexical(path: str) -> Place | None:
    """Return where a path leads without links; None for a path that no honest request holds.

    Refused: absolute paths, backslashes and control characters, empty segments, paths that leave the repository,
    and texts that differ from their compatibility form (NFKC), because they look like another path.
    """
    if "\\" in path or "" in path.split("/") or unicodedata.normalize("NFKC", path) != path:
        return None
    return None if any(unicodedata.category(c) in ("Cc", "Cf", "Cs") for c in path) else normal_form(path)


@lru_cache(maxsize=65_536)
def normal_form(path: str) -> Place | None:
    """Return where a path leads without links, as a disk takes it: empty segments say nothing, odd letters are letters.

    Refused: absolute paths, paths that leave the repository, and NUL, which no disk takes.
    """
    if path.startswith("/") or "\0" in path:
        return None
    place: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            if not place:
                return None
            place.pop()
        elif segment not in ("", "."):
            place.append(segment)
    return (*BASE, *place)


@lru_cache(maxsize=65_536)
def resolve(tree: Tree, path: str) -> Place | None:
    """Return where a path leads in a tree, every link followed, `..` after the links; None where it leads nowhere.

    Its last name need not exist, so that files can be made.
    """
    at: Place = () if path.startswith("/") else BASE
    rest = [segment for segment in reversed(path.split("/")) if segment not in ("", ".")]
    followed = 0
    while rest:
        segment = rest.pop()
        if segment == "..":
            at = at[:-1]
            continue
        place = (*at, segment)
        node = look(tree, place)
        if node is not None and node.kind == "link":
            followed += 1
            if followed > MOST_LINKS:
                return None
            at = () if node.text.startswith("/") else at
            rest += [one for one in reversed(node.text.split("/")) if one not in ("", ".")]
            continue
        if rest and (node is None or node.kind != "dir"):
            return None
        at = place
    return at


def unsettled(tree: Tree, path: str) -> bool:
    """Return whether `..` follows a name that is no directory: a disk refuses that, who shortens the text does not."""
    parts = path.split("/")
    return any(
        one == ".." and resolve(tree, "/".join((*parts[:place], "x"))) is None for place, one in enumerate(parts)
    )


@lru_cache(maxsize=4_096)
def roots(prefixes: tuple[str, ...]) -> tuple[Place, ...]:
    """Return the places of the directories of an IO policy; a name that is no honest path allows nothing."""
    found = [lexical(prefix.rstrip("/")) for prefix in prefixes]
    return tuple(place for place in found if place is not None and len(place) > len(BASE))


def under(place: Place, allowed: Iterable[Place]) -> bool:
    """Return whether a place lies below one of the allowed ones."""
    return any(len(place) > len(root) and place[: len(root)] == root for root in allowed)


def within_prefix(path: str, prefixes: Iterable[str]) -> bool:
    """Return whether a path begins with one of the texts (reading `prefix_string`)."""
    return any(path.startswith(prefix) for prefix in prefixes)
