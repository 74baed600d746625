"""Digest what a result rests on: the sources that matter to a task, and the versions of everything else.

Work counts as done only while this digest is the same.  It errs on the side of repeating work: a task rests on the
modules of its protocol and of the engines, and on whatever these import, however deep (found in their text, so that an
import inside a function counts); a changed comment is a change.  It does not rest on other protocols, the command line,
the forms of reports, documents and tests; on its protocol's theorems only if it proves one or needs a licence; on the
fixtures only if it replays them.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import entry_points, packages_distributions, version
from pathlib import Path

from evenhand.campaign.tasks import Task
from evenhand.core.canonical import Json, digest
from evenhand.core.loading import module_at
from evenhand.core.own_file import file_and_name, names_file
from evenhand.core.versions import versions
from evenhand.jobs.plan import Job

WORK = "evenhand.campaign.worker"
"""The module that executes a task: it imports every engine."""
STARTED = "evenhand.smt.child"
"""A module that is never imported: solvers run in it."""

_IMPORT = re.compile(
    r"""^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([^\n]+))"""
    r"""|import_module\(\s*["']([\w.]+)["']""",
    re.MULTILINE,
)


class Sources:
    """The sources as first read; `changed` says whether they differ now."""

    def __init__(self) -> None:
        self._files: dict[tuple[str, str, bool], tuple[Path, ...]] = {}
        self._digests: dict[tuple[str, str, bool], str] = {}
        self._stamps: dict[tuple[str, str, bool], tuple[tuple[int, int], ...]] = {}
        self._versions: dict[tuple[str, str, bool], dict[str, str]] = {}

    def of(self, job: Job) -> dict[str, Json]:
        """Return what a job rests on: the digest of its sources and the versions of everything else."""
        kind = _kind(job)
        if kind not in self._digests:
            files, others = files_of(job)
            self._files[kind] = files
            self._stamps[kind] = _stamps(files)
            self._digests[kind] = _digest(files)
            self._versions[kind] = {**versions(), **_versions(others)}
        return {"sources": self._digests[kind], "versions": self._versions[kind]}

    def changed(self, job: Job) -> bool:
        """Return whether a source of the job changed since it was first read."""
        kind = _kind(job)
        if kind not in self._digests or _stamps(self._files[kind]) == self._stamps[kind]:
            return False
        return _digest(self._files[kind]) != self._digests[kind]


def address(task: Task, sources: Sources) -> str:
    """Return where a task's result stands in a store: a digest of the task and of all that it rests on."""
    return digest({"task": task.identity, **sources.of(task.job)})


def files_of(job: Job) -> tuple[tuple[Path, ...], frozenset[str]]:
    """Return the files that a job rests on, in a fixed order, and the other packages that they import."""
    modules, data = _own(job)
    tops = frozenset(name.partition(".")[0] for name in (*modules, "evenhand"))
    files: dict[str, Path] = {}
    others: set[str] = set()
    waiting = [WORK, STARTED, *modules]
    seen = set(waiting)
    while waiting:
        name = waiting.pop()
        top = name.partition(".")[0]
        if top not in tops and (top in sys.stdlib_module_names or _distribution(top)):
            others |= {top} - sys.stdlib_module_names
            continue
        path = _file(name)
        if path is None:
            continue
        files[name] = path
        parents = [name.rsplit(".", count)[0] for count in range(1, name.count(".") + 1)]
        more = {*_imported(path, _stamps([path])), *parents} - seen
        seen |= more
        waiting += sorted(more)
    return (*(files[name] for name in sorted(files)), *sorted(data)), frozenset(others)


def _kind(job: Job) -> tuple[str, str, bool]:
    return job.protocol, job.engine, bool(job.quotient)


def _own(job: Job) -> tuple[list[str], list[Path]]:
    """The modules and data files of the job's protocol that matter to its engine."""
    if names_file(job.protocol):
        return [module_at(Path(file_and_name(job.protocol)[0])).__name__], []
    for point in entry_points(group="evenhand.protocols"):
        if point.name == job.protocol:
            return [point.module], []
    layers = ["model", "properties"]
    layers += ["proofs"] if job.engine in ("prove", "plan") or job.quotient else []
    layers += ["counterexamples"] if job.engine == "replay" else []
    modules: list[str] = []
    data: list[Path] = []
    for layer in layers:
        name = f"evenhand.{layer}.{job.protocol}"
        modules.append(name)
        for folder in _folders(name):
            for path in sorted(folder.rglob("*")):
                if path.suffix == ".py":
                    parts = path.relative_to(folder).with_suffix("").parts
                    modules.append(".".join((name, *(part for part in parts if part != "__init__"))))
                elif path.is_file() and "__pycache__" not in path.parts:
                    data.append(path)
    return modules, data


def _file(name: str) -> Path | None:
    """The source of a module by its dotted name; None if it has none."""
    parent, _, last = name.rpartition(".")
    if not parent:
        spec = importlib.util.find_spec(name)
        return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None
    for folder in _folders(parent):
        for path in (folder / f"{last}.py", folder / last / "__init__.py"):
            if path.is_file():
                return path
    return None


@cache
def _folders(package: str) -> tuple[Path, ...]:
    """The folders of a package's modules; none for a name that is no package."""
    parent, _, last = package.rpartition(".")
    if package.count(".") < 2:  # the layers may lie anywhere: the import system knows
        try:
            spec = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            return ()
        return tuple(map(Path, spec.submodule_search_locations or ())) if spec is not None else ()
    return tuple(folder / last for folder in _folders(parent) if (folder / last).is_dir())


@cache
def _imported(path: Path, _stamp: tuple[tuple[int, int], ...]) -> frozenset[str]:
    """Every dotted name that a module's current text may import: perhaps more than it does, never less."""
    found: set[str] = set()
    for origin, names, plain, called in _IMPORT.findall(path.read_text("utf-8")):
        if origin:
            found.add(origin)
            found |= {f"{origin}.{name}" for name in re.findall(r"(\w+)(?:[ \t]+as[ \t]+\w+)?", names)}
        elif plain:
            found |= {one.split()[0] for one in re.split(r"[,;]", plain.split("#")[0]) if one.split()}
        else:
            found.add(called)
    return frozenset(name for name in found if re.fullmatch(r"[A-Za-z_]\w*(\.\w+)*", name))


@cache
def _distributions() -> dict[str, list[str]]:
    return {name: list(found) for name, found in packages_distributions().items()}


def _distribution(top: str) -> tuple[str, ...]:
    return tuple(sorted(set(_distributions().get(top, ()))))


def _versions(others: Iterable[str]) -> dict[str, str]:
    return dict(sorted(_version_pairs(others)))


def _version_pairs(others: Iterable[str]) -> Iterator[tuple[str, str]]:
    for top in others:
        yield from ((name, version(name)) for name in _distribution(top))


def _stamps(files: Iterable[Path]) -> tuple[tuple[int, int], ...]:
    """Modification time and size of each file: while these are unchanged, no content is read again."""
    return tuple((found.st_mtime_ns, found.st_size) if (found := _stat(path)) else (0, 0) for path in files)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _digest(files: Iterable[Path]) -> str:
    """The digest of the contents, in order, without the names of folders on this machine."""
    found = hashlib.sha256()
    for path in files:
        try:
            content = path.read_bytes()
        except OSError:  # it is gone, which is a change as well
            content = b"\0gone"
        found.update(path.name.encode() + b"\0" + hashlib.sha256(content).digest())
    return found.hexdigest()
