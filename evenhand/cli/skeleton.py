"""`evenhand check PROTOCOL --skeleton FILE`: an adapter to begin from, example steps, and the schema of all values."""

from __future__ import annotations

import json
from pathlib import Path

from evenhand.cli.console import BadUse
from evenhand.cli.output import write_files
from evenhand.conform.adapters.skeleton import example_lines, skeleton
from evenhand.core.bundle import Bundle
from evenhand.core.lookup import UnknownName
from evenhand.report.value_schema import schema_of
from evenhand.report.vocabulary import example_steps, sentence_of_system, words_of


def write_skeleton(bundle: Bundle, names: list[str], path: Path) -> tuple[Path, ...]:
    """Write the adapter, its example steps and the schema; return the three files.

    Raises BadUse for a name that is no module's, for a file that exists, and for an unknown system.
    """
    if path.suffix != ".py" or not path.stem.isidentifier():
        raise BadUse(f"{path}: an adapter is a Python module; give it a name such as my_adapter.py")
    unknown = [name for name in names if name not in bundle.model.systems]
    if unknown:
        raise UnknownName(f"system of {bundle.name}:", unknown[0], bundle.model.systems)
    steps, schema = path.with_name(f"{path.stem}_steps.jsonl"), path.with_name(f"{path.stem}_schema.json")
    for one in (path, steps, schema):
        if one.exists():
            raise BadUse(f"{one} exists; name another file, or delete it")
    systems = [bundle.model.systems[name] for name in names or bundle.model.systems]
    words = [words_of(system) for system in systems]
    kinds = {kind: None for one in words for kind in one.kinds}
    listed = {system.name: sentence_of_system(system) for system in systems}
    lines = [line for one in systems for line in example_lines(bundle.name, one.name, example_steps(one))]
    made = {
        path.name: skeleton(bundle.name, path.stem, listed, kinds, steps.name, schema.name).encode(),
        steps.name: "".join(f"{line}\n" for line in lines).encode(),
        schema.name: (json.dumps(schema_of(bundle, words), indent=1) + "\n").encode(),
    }
    return write_files(path.parent, made)
