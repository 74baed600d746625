"""What a picture consists of: numbered circles, lines between them, and words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Node(NamedTuple):
    """A state; `cycle` marks one that can come again."""

    x: int
    y: int
    number: int
    title: str
    cycle: bool = False
    initial: bool = False


class Edge(NamedTuple):
    """A step; `path` is that of SVG."""

    path: str
    title: str
    cycle: bool = False


class Words(NamedTuple):
    """A line of text."""

    x: int
    y: int
    words: str
    weight: int = 400
    quiet: bool = False
    cycle: bool = False


class Picture(NamedTuple):
    """What is drawn, and a note on what is not."""

    label: str
    width: int
    height: int
    nodes: list[Node]
    edges: list[Edge]
    note: str = ""
    texts: Sequence[Words] = ()
