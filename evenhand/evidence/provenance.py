"""The origin of a record: engine, source, versions.  Shown to the reader, never compared."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import evenhand.core
from evenhand.core.canonical import Json, digest
from evenhand.core.system import AnySystem
from evenhand.evidence.record import Provenance


def provenance(system: AnySystem, engine: str, libraries: Sequence[str] = ()) -> Provenance:
    """Return the engine's name, the digest of the model's source, and versions.

    The versions are those of evenhand, Python and `libraries`.
    """
    versions = {name: _version(name) for name in ("evenhand", *libraries)}
    return Provenance(engine, source_digest(system), {**versions, "python": platform.python_version()})


def source_digest(system: AnySystem) -> str:
    """Return the digest of a system's source: the model core and the module or package of its `step`.

    Empty if there is no source to read.  For provenance and as a cache key: harmless edits change it.
    """
    module = sys.modules.get(getattr(system.step, "__module__", ""))
    place = getattr(module, "__file__", None)
    if place is None or not Path(place).is_file():
        return ""
    own, core = Path(place), Path(evenhand.core.__path__[0])
    in_package = bool(getattr(module, "__package__", "")) and own.parent.resolve() != core.resolve()
    return digest(
        {
            "core": _sums(core, core.glob("*.py")),
            "own": _sums(own.parent, own.parent.rglob("*.py") if in_package else [own]),
        }
    )


def _sums(root: Path, files: Iterable[Path]) -> dict[str, Json]:
    return {path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
