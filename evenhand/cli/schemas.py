"""The published JSON Schemas of files and of values in vectors, from types: `python -m evenhand.cli.schemas`."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Annotated, Any, NamedTuple, cast

from msgspec import Meta, Struct, structs
from msgspec.json import schema_components

import evenhand
from evenhand.campaign.events import Begun, Ended, Finished, Progress, Started
from evenhand.campaign.planfile import Plan
from evenhand.cli.vectors import schema_text
from evenhand.conform.adapters.wire import EndRequest, KernelAnswer, StartRequest, StepRequest
from evenhand.conform.checking.finding import KernelFindingFile
from evenhand.conform.checking.logs import LogEvent, LogHead
from evenhand.conform.vectors.verifying import SCHEMA_FILE
from evenhand.core.canonical import Json
from evenhand.core.registry import find, folder
from evenhand.evidence.record import RecordFile
from evenhand.evidence.schemas import FIXED
from evenhand.evidence.store import write_atomically
from evenhand.evidence.vector import Manifest, SuiteFile


class Published(NamedTuple):
    """A schema: its file in the package `evenhand`, name and version of the format, a title, and the types.

    Where there are several types, `about` describes them together.
    """

    file: str
    name: str
    version: int
    title: str
    kinds: tuple[Any, ...]
    about: str = ""

    @property
    def path(self) -> Path:
        """The file."""
        return Path(evenhand.__path__[0]) / self.file

    def schema(self) -> dict[str, Json]:
        """Return the schema, in draft 2020-12."""
        references, parts = schema_components(self.kinds)
        for kind in _subclasses(Struct):
            if kind.__name__ in parts:
                _complete(parts[kind.__name__], kind)
        whole: dict[str, Json] = {"description": self.about, "oneOf": list(references)}
        if len(self.kinds) == 1:
            whole = parts.pop(self.kinds[0].__name__)
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:evenhand:{self.name}:{self.version}",
            **whole,
            "title": f"evenhand {self.title}",
            **({"$defs": parts} if parts else {}),
        }

    def text(self) -> str:
        """Return the content of the file."""
        return json.dumps(self.schema(), indent=2, ensure_ascii=False) + "\n"


def _subclasses(kind: type[Any]) -> Iterator[type[Any]]:
    for below in kind.__subclasses__():
        yield below
        yield from _subclasses(below)


def _complete(part: dict[str, Json], kind: type[Any]) -> None:
    """Add the descriptions, and require the fields with one value, which have it as their default."""
    part["description"] = " ".join((kind.__doc__ or "").split())
    missing = (name for name in FIXED if name in part["properties"] and name not in part["required"])
    part["required"] = [*missing, *part["required"]]
    names = {field.name: field.encode_name for field in structs.fields(kind)}
    for owner in reversed(kind.__mro__[: kind.__mro__.index(Struct)]):
        for name, text in _documented(owner):
            part["properties"][names[name]]["description"] = " ".join(text.split())


def _documented(kind: type[Any]) -> Iterator[tuple[str, str]]:
    """The fields that a class defines with a docstring below, and these docstrings."""
    (made,) = ast.parse(dedent(inspect.getsource(kind))).body
    for field, below in pairwise(cast("ast.ClassDef", made).body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, text
            case _:
                pass


PUBLISHED = (
    Published("evidence/schema/counterexample.json", "counterexample", 2, "counterexample", (RecordFile,)),
    Published("evidence/schema/vectors.json", "vectors", 2, "vectors", (SuiteFile,)),
    Published("evidence/schema/vector-manifest.json", "vector-manifest", 1, "manifest of vectors", (Manifest,)),
    Published(
        "conform/checking/schema/kernel-finding.json",
        "kernel-finding",
        1,
        "finding about a kernel",
        (KernelFindingFile,),
    ),
    Published(
        "conform/checking/schema/log.json",
        "log",
        1,
        "log",
        (LogHead, Annotated[LogEvent, Meta(extra_json_schema={"not": {"required": ["format"]}})]),
        "A recorded run, as JSON Lines: the first line is a head, every other line an event. Values are encoded as on "
        'the wire. Whatever was not recorded is left out; within an array {"$unknown": true} stands in its place.',
    ),
    Published(
        "conform/adapters/schema/wire.json",
        "wire",
        1,
        "wire",
        (
            StartRequest,
            StepRequest,
            EndRequest,
            Annotated[KernelAnswer, Meta(extra_json_schema={"not": {"required": ["do"]}})],
        ),
        "JSON Lines between `evenhand check` and a kernel: requests on its standard input, one answer to each, in "
        "order, on its standard output. Requests may be sent ahead of the answers. End of input: the kernel ends.",
    ),
    Published("campaign/schema/plan.json", "campaign", 1, "campaign plan", (Plan,)),
    Published(
        "campaign/schema/events.json",
        "campaign-events",
        1,
        "campaign events",
        (Begun, Started, Ended, Progress, Finished),
        "One line of what `evenhand campaign run --events FILE` appends: JSON Lines, one object each.",
    ),
)

if __name__ == "__main__":
    for published in PUBLISHED:
        write_atomically(published.path, published.text().encode())
    for values in folder("counterexamples").glob(f"*/vectors/{SCHEMA_FILE}"):
        write_atomically(values, schema_text(find(values.parent.parent.name)).encode())
