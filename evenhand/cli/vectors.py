"""`evenhand vectors`: make vectors, freeze them, hold the model and kernels against them."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from evenhand.cli import completion
from evenhand.cli.console import BadUse, guarded, running, terminal, usage
from evenhand.cli.options import AdapterOption, CommandOption, JsonOut, ProtocolName, SeedOption
from evenhand.cli.output import emit_run
from evenhand.cli.requests import bundle_named, cores
from evenhand.conform.adapters.kernels import adapter_source, command_source
from evenhand.conform.vectors.making import generate
from evenhand.conform.vectors.ondemand import frozen_line, on_demand, pinned
from evenhand.conform.vectors.settings import SUITES, Settings
from evenhand.conform.vectors.verifying import (
    MANIFEST_FILE,
    SCHEMA_FILE,
    Failure,
    against_kernel,
    against_model,
    load_frozen,
    load_suites,
)
from evenhand.core.bundle import Bundle
from evenhand.core.canonical import Json, canonical_bytes
from evenhand.core.lookup import UnknownName
from evenhand.core.names import as_name, within
from evenhand.core.registry import folder
from evenhand.core.text import inert
from evenhand.evidence.itf import ITF, itf
from evenhand.evidence.store import ready_folder, write_atomically
from evenhand.evidence.vector import Suite, Vector, frozen
from evenhand.report.phrases import plural
from evenhand.report.table import print_lines
from evenhand.report.value_schema import schema_of
from evenhand.report.vocabulary import words_of
from evenhand.studies.vector_faults import separating


class Do(StrEnum):
    """What to do with vectors."""

    generate = "generate"
    freeze = "freeze"
    verify = "verify"


def shipped(protocol: str) -> Path:
    """The folder of the vectors of a protocol that come with evenhand.  Raises BadUse for a system of a file."""
    with usage():
        return within(folder("counterexamples"), protocol, "vectors", links=True)


@guarded
def vectors(
    protocol: ProtocolName,
    do: Annotated[Do, typer.Argument(metavar="generate|freeze|verify", help="What to do.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="The folder of vectors; verify: by default those that come with evenhand."
        ),
    ] = None,
    suite: Annotated[
        list[str] | None,
        typer.Option(
            "--suite", metavar="NAME", help=f"{', '.join(SUITES)} (repeatable).", autocompletion=completion.suites
        ),
    ] = None,
    examples: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of runs drawn in each system and scope.")
    ] = 100,
    seed: SeedOption = 0,
    with_itf: Annotated[bool, typer.Option("--itf", help="Also write each vector as an ITF trace.")] = False,
    adapter: AdapterOption = "",
    command: CommandOption = "",
    automatic: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="verify: also count how many of N mutants made by rule are separated."),
    ] = 0,
    as_json: JsonOut = False,
) -> int:
    """Make, freeze or verify vectors.

    A vector is a run with everything that it must show.  generate writes a file for each suite that has vectors, and
    the JSON Schema of all values in them.  freeze writes their manifest; with --suite it writes only the digest of a
    suite that is generated on demand.  verify compares the files with the manifest, and then the model (or a kernel,
    whose own code is run) with the vectors.  Exit codes: 0 as expected; 1 a vector fails; 2 bad use, files that are not
    as frozen, or no vector to generate; 3 the kernel implements none of them.
    """
    bundle = bundle_named(protocol)
    chosen = _suites(suite or [])
    if out is None and do is not Do.verify:
        raise BadUse(f"vectors {do.value} needs a folder; name it with --out DIR")
    folder = out or shipped(bundle.name)
    began = time.monotonic()
    match do:
        case Do.generate:
            code, made = _generate(bundle, chosen, Settings(seed, examples), folder, with_itf)
        case Do.freeze:
            code, made = _freeze_by_digest(bundle, chosen, folder) if suite else _freeze(bundle, folder)
        case Do.verify:
            code, made = _verify(bundle, folder, chosen if suite else (), adapter, command, (automatic, seed))
    if as_json:
        head: dict[str, Json] = {"format": "evenhand/vectors-report", "version": 1, "protocol": bundle.name}
        emit_run({**head, "do": do.value, **made}, began)
    else:
        print_lines(terminal(), map(inert, [*_lines(made), *_next(do, bundle.name, folder)]))
    return code


def _suites(named: list[str]) -> tuple[str, ...]:
    for name in named:
        if name not in SUITES:
            raise UnknownName("suite of vectors", name, SUITES)
    return tuple(dict.fromkeys(named)) or SUITES


def _generate(
    bundle: Bundle, suites: tuple[str, ...], settings: Settings, out: Path, with_itf: bool
) -> tuple[int, dict[str, Json]]:
    with usage():
        folder = ready_folder(out)
    with running(0, "vectors") as advance:
        found = generate(bundle, suites, settings, lambda words: advance(words, 1))
    empty = {one.suite: str(one.made["because"]) for one in found if not one.vectors}
    if len(empty) == len(found):
        raise BadUse("; ".join(f"{suite}: no vectors, because {why}" for suite, why in empty.items()))
    written = [str(_write(folder / SCHEMA_FILE, schema_text(bundle).encode()))]
    for one in found:
        if not one.vectors:
            continue
        written.append(str(_write(folder / one.file_name, one.to_bytes())))
        if with_itf:
            written += [str(path) for path in _write_itf(folder / "itf", one)]
    return 0, {"written": written, "suites": {one.suite: _about(one) for one in found}}


def schema_text(bundle: Bundle) -> str:
    """Return the JSON Schema of configurations, starts, actions and observations of a protocol, as its file has it."""
    return json.dumps(schema_of(bundle, map(words_of, bundle.model.systems.values())), indent=1) + "\n"


def _about(suite: Suite) -> dict[str, Json]:
    return {"vectors": len(suite.vectors), **dict(suite.made)}


def _write(path: Path, content: bytes) -> Path:
    with usage():
        write_atomically(path, content)
    return path


def _write_itf(folder: Path, suite: Suite) -> Iterator[Path]:
    for vector in suite.vectors:
        yield _write(folder / f"{as_name(vector.name, 150)}{ITF}", canonical_bytes(_itf(suite, vector)) + b"\n")


def _itf(suite: Suite, vector: Vector) -> dict[str, Json]:
    """Return a start state and one ITF state for each step: the action, what it shows, what is read."""
    nothing: Json = None
    states: list[dict[str, Json]] = [{"action": nothing, "shown": nothing, "read": nothing}]
    for action, one in zip(vector.run.actions, vector.expected, strict=True):
        states.append({"action": action, "shown": one.shown, "read": one.read})
    meta = {"description": f"{suite.protocol} {vector.system}: {vector.name}", "source": suite.file_name}
    return itf(states, meta)


def _freeze(bundle: Bundle, folder: Path) -> tuple[int, dict[str, Json]]:
    with usage():
        found = load_suites(folder)
        if not found:
            raise BadUse(
                f"{folder}: there are no vectors. `evenhand vectors {bundle.name} generate --out {folder}` makes some."
            )
        if strange := next((name for name, one in found.items() if one.protocol != bundle.name), None):
            raise BadUse(f"{folder / strange} is about {found[strange].protocol}, not {bundle.name}")
    manifest = frozen(bundle.name, found)
    path = _write(folder / MANIFEST_FILE, canonical_bytes(manifest.to_json()) + b"\n")
    counts = {name: {"vectors": len(one.vectors)} for name, one in found.items()}
    return 0, {"written": [str(path)], "suites": counts}


def _freeze_by_digest(bundle: Bundle, suites: tuple[str, ...], folder: Path) -> tuple[int, dict[str, Json]]:
    """Write only the digest of each suite's file."""
    with usage():
        ready_folder(folder)
    with running(0, "vectors") as advance:
        found = generate(bundle, suites, Settings(), lambda words: advance(words, 1))
    written = [str(_write(folder / f"{one.suite}.sha256", frozen_line(one).encode())) for one in found]
    return 0, {"written": written, "suites": {one.suite: _about(one) for one in found}}


def _verify(
    bundle: Bundle, folder: Path, chosen: tuple[str, ...], adapter: str, command: str, faults: tuple[int, int]
) -> tuple[int, dict[str, Json]]:
    count, seed = faults
    if count and (adapter or command):
        raise BadUse("--automatic changes the model; leave --adapter and --command out")
    if adapter and command:
        raise BadUse("name the kernel by exactly one of --adapter module:factory and --command '…'")
    if not (folder / MANIFEST_FILE).is_file():
        named = f"`evenhand vectors {bundle.name} generate --out DIR`"
        raise BadUse(f"{folder}: no vectors are frozen there. {named}, then freeze, makes some.")

    with running(0, "vectors") as advance, usage():
        _, suites = load_frozen(folder, bundle.name)
        for name in chosen:
            if pinned(folder, name):
                suites[f"{name}.json"] = on_demand(bundle, name, folder, lambda words: advance(words, 1))
    wanted = [v for one in suites.values() if not chosen or one.suite in chosen for v in one.vectors]
    if not wanted:
        raise BadUse(f"{folder}: there is no vector of suite {', '.join(chosen)}; leave --suite out for all")
    with usage():
        found = list(_asked(bundle, wanted, adapter, command) if adapter or command else against_model(bundle, wanted))
    failures = [one for one in found if isinstance(one, Failure)]
    unsupported = [one for one in found if isinstance(one, str)]
    made: dict[str, Json] = {
        "against": adapter or command or "model",
        "vectors": len(wanted),
        "failures": [asdict(one) for one in failures],
        "unsupported": list(unsupported),
        "suites": {name: {"vectors": len(one.vectors)} for name, one in suites.items()},
    }
    if count:
        with running(0, "mutants") as advance:
            made["automatic"] = separating(
                bundle, wanted, count, seed=seed, workers=cores(), progress=lambda name: advance(name, 1)
            ).to_json()
    return 1 if failures else 3 if len(unsupported) == len(wanted) else 0, made


def _asked(bundle: Bundle, wanted: list[Vector], adapter: str, command: str) -> Iterable[Failure | str]:
    """Run the vectors on a kernel, and end its process in every case."""
    source = adapter_source(adapter) if adapter else command_source(command)
    try:
        yield from against_kernel(bundle, wanted, source)
    finally:
        source.close()


def _lines(made: Mapping[str, Json]) -> Iterator[str]:
    for name, about in made.get("suites", {}).items():
        yield f"{name}: {plural(about['vectors'], 'vector')}" + ("" if about["vectors"] else "; no file is written")
        for key, value in about.items():
            if key != "vectors" and value not in ([], ""):
                yield f"  {key.replace('_', ' ')}: {_plain(value)}"
    yield from (f"written: {path}" for path in made.get("written", ()) if not path.endswith(ITF))
    if "failures" in made:
        failures, unsupported = made["failures"], made["unsupported"]
        yield from (f"FAILED  {one['vector']}, step {one['step']}: {one['how']}" for one in failures)
        yield from (f"not implemented  {one}" for one in unsupported[:5])
        bad = len({one["vector"] for one in failures})
        yield (
            f"{plural(made['vectors'], 'vector')} as frozen; against {made['against']}: "
            f"{made['vectors'] - bad - len(unsupported)} as expected, {bad} failed, {len(unsupported)} not implemented"
        )
    if "automatic" in made:
        about = made["automatic"]
        yield f"{about['separated']} of {plural(about['made'], 'mutant')} made by rule have another outcome"
        yield from (f"not separated  {name}" for name in about["left"])
        yield from (f"unfinished  {name}" for name in about["unfinished"])


def _next(do: Do, protocol: str, folder: Path) -> Iterator[str]:
    following = {Do.generate: Do.freeze, Do.freeze: Do.verify}
    if do in following:
        yield f"next: {shlex.join(['evenhand', 'vectors', protocol, following[do].value, '--out', str(folder)])}"


def _plain(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(_named(one) for one in cast("list[Any]", value))
    return str(value)


def _named(one: Any) -> str:
    return str(cast("dict[str, Any]", one)["name"]) if isinstance(one, dict) else str(one)
