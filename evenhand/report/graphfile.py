"""Shared parts of graph files: the suffix selects the format, names stay in their labels, writes are atomic."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import networkx as nx

from evenhand.core.canonical import Json, canonical_bytes
from evenhand.evidence.store import ready_folder, write_atomically

Formats: TypeAlias = Mapping[str, Callable[[dict[str, Json]], bytes]]
"""The encoder of a graph of described values, by suffix."""


def writer(path: Path, option: str, formats: Formats) -> Callable[[dict[str, Json]], None]:
    """Return the function that writes a graph to the `path` given by `option`, in the format of its suffix.

    Raises ValueError for an unknown suffix, NotWritable for a folder that cannot be written to.
    """
    if path.suffix not in formats:
        raise ValueError(f"{option} {path}: the suffix says the format; there is: {', '.join(sorted(formats))}")
    written = formats[path.suffix]
    ready_folder(path.parent)
    return lambda graph: write_atomically(path, written(graph))


def quoted(text: str) -> str:
    """Return a string of DOT."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def dot(name: str, lines: Iterable[str]) -> bytes:
    """Return a directed graph of DOT with these statements, its nodes in boxes."""
    return ("\n".join([f"digraph {quoted(name)} {{", "  node [shape=box];", *lines, "}"]) + "\n").encode()


def graphml(graph: nx.DiGraph[Any]) -> bytes:
    """Return a graph whose attributes are plain values as GraphML."""
    content = io.BytesIO()
    nx.write_graphml(graph, content)  # pyright: ignore[reportUnknownMemberType]
    return content.getvalue()


def tagged(name: str, graph: Mapping[str, Json]) -> bytes:
    """Return a graph as canonical JSON with its format, `evenhand/` and this name."""
    return canonical_bytes({"format": f"evenhand/{name}", "version": 1, **graph}) + b"\n"
