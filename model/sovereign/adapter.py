"""The executor of RSA-0 on a real directory tree with real links, behind the same adapter as any other kernel.

    evenhand check sovereign --adapter evenhand.model.sovereign.adapter:factory --system agent

Decisions are the pure kernel's; paths, links, reads and writes are the operating system's.  The tree of a
configuration is laid out below a temporary directory that stands for the root of the disk, so an absolute link points
below it.  Every path is walked name by name with `O_NOFOLLOW` relative to an open directory, so that every link is
checked before it is followed: the opened file is the judged one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from evenhand.core.canonical import Json
from evenhand.core.codec import decode, encode
from evenhand.core.kernel import Initial, Kernel, Unsupported
from evenhand.core.records import dataclass, replace
from evenhand.model.sovereign.kernel import path_of
from evenhand.model.sovereign.paths import BASE, MOST_LINKS, Node, Place, Tree
from evenhand.model.sovereign.state import TYPES, Act, Check, Config, Held, Shown, State, Swap, Use
from evenhand.model.sovereign.step import REFERENCE, agent_step, together
from evenhand.model.sovereign.vocabulary import EXECUTORS, Effect, Request, field, text_of

OUTSIDE = "the path leads outside what the constitution allows"


@dataclass(frozen=True)
class Found:
    """Where a path led: the place, and an open descriptor of the directory that holds its last name."""

    place: Place
    parent: int | None


class Disk:
    """A tree laid out in a temporary directory, which stands for the root of a disk."""

    def __init__(self, tree: Tree) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="evenhand-disk-"))
        self._aside = Path(tempfile.mkdtemp(prefix="evenhand-aside-"))
        for place, node in sorted(tree, key=lambda entry: len(entry[0])):
            self._lay(place, node)

    def close(self) -> None:
        """Remove it all."""
        for folder in (self.root, self._aside):
            shutil.rmtree(folder, ignore_errors=True)

    def _hidden(self, place: Place) -> Path:
        """Return the directory that keeps the nodes below a place while no directory stands there."""
        return self._aside / hashlib.sha256("\0".join(place).encode("utf-8", "surrogatepass")).hexdigest()

    def _at(self, place: Place) -> Path:
        """Return where a place is laid out: below its parent, or aside where that is no directory."""
        at, above = self.root, self.root
        for depth, name in enumerate(place, start=1):
            at = above / name
            if depth < len(place) and (at.is_symlink() or not at.is_dir()):
                at = self._hidden(place[:depth])
                at.mkdir(exist_ok=True)
            above = at
        return at

    def _lay(self, place: Place, node: Node) -> None:
        path = self._at(place)
        match node.kind:
            case "dir":
                path.mkdir()
            case "link":
                path.symlink_to(f"{self.root}{node.text}" if node.text.startswith("/") else node.text)
            case _:
                path.write_text(node.text, "utf-8")

    def swap(self, place: Place, node: Node) -> None:
        """Put a node at a place; a replaced directory is kept, and comes back with its content."""
        path, kept = self._at(place), self._hidden(place)
        if path.is_dir() and not path.is_symlink():
            if node.kind == "dir":
                return
            path.rename(kept)
        elif path.is_symlink() or path.exists():
            path.unlink()
        if node.kind == "dir" and kept.exists():
            kept.rename(path)
            return
        self._lay(place, node)

    def written(self, place: Place) -> None:
        """Drop the directory kept for a place, because a file was made there."""
        shutil.rmtree(self._hidden(place), ignore_errors=True)

    def find(self, path: str) -> Found | None:
        """Walk a path and check every link; None where it leads nowhere.  The caller closes `parent`."""
        rest = [one for one in reversed(path.split("/")) if one not in ("", ".")]
        at: Place = () if path.startswith("/") else BASE
        followed = 0
        while rest:
            name = rest.pop()
            if name == "..":
                at = at[:-1]
                continue
            with self._open(at) as directory:
                if directory is None:
                    return None
                try:
                    target = os.readlink(name, dir_fd=directory)
                except OSError:
                    target = None
            if target is not None:
                followed += 1
                if followed > MOST_LINKS:
                    return None
                inside = target.startswith(str(self.root))
                at = () if inside else at
                target = target.removeprefix(str(self.root)) if inside else target
                rest += [one for one in reversed(target.split("/")) if one not in ("", ".")]
                continue
            if rest and not self._is_directory((*at, name)):
                return None
            at = (*at, name)
        if not at:
            return Found(at, None)
        return Found(at, self._descend(at[:-1]))

    def _is_directory(self, place: Place) -> bool:
        descriptor = self._descend(place)
        if descriptor is not None:
            os.close(descriptor)
        return descriptor is not None

    def _descend(self, place: Place) -> int | None:
        """Return an open directory at a place, reached without following any link; None where there is none."""
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        for name in place:
            try:
                below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
            except OSError:
                return None
            finally:
                os.close(descriptor)
            descriptor = below
        return descriptor

    @contextlib.contextmanager
    def _open(self, place: Place) -> Any:
        descriptor = self._descend(place)
        try:
            yield descriptor
        finally:
            if descriptor is not None:
                os.close(descriptor)


def read(found: Found) -> str | None:
    """Return the text of the file that was found; None where it is none."""
    if found.parent is None or not found.place:
        return None
    try:
        descriptor = os.open(found.place[-1], os.O_RDONLY | os.O_NOFOLLOW, dir_fd=found.parent)
        with os.fdopen(descriptor, "r", encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None


def write(found: Found, text: str) -> bool:
    """Replace or make the file that was found; return whether that was possible."""
    if found.parent is None or not found.place:
        return False
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    try:
        descriptor = os.open(found.place[-1], flags, 0o600, dir_fd=found.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return False
    return True


class DiskExecutor:
    """The agent with its attacker, executing on a disk.

    `state.tree` keeps its initial value, and nothing reads it.  `trusts_the_check`: a planted fault, an executor that
    uses the place found at the check.
    """

    def __init__(self, config: Config, state: State, *, trusts_the_check: bool = False) -> None:
        self._config, self._state, self._trusts = config, state, trusts_the_check
        self.disk = Disk(state.tree)

    def close(self) -> None:
        """Remove the disk."""
        self.disk.close()

    def __del__(self) -> None:
        if hasattr(self, "disk"):
            self.disk.close()

    def step(self, action: Json, /) -> Json:
        """Take one action.  Raises ValueError for one that does not decode."""
        return encode(self._taken(decode(action, *TYPES)))

    def _taken(self, action: Act) -> Shown:
        if self._state.over:
            return self._as_model(action)
        match action:
            case Check(executor) if executor in EXECUTORS:
                return self._check(action)
            case Use(executor) if executor in EXECUTORS:
                return self._use(executor)
            case Swap(place, node):
                self.disk.swap(place, node)
                return self._as_model(action)
            case _:
                return self._as_model(action)

    def _as_model(self, action: Act) -> Shown:
        """Take an action that touches no disk, as the model does."""
        self._state, shown = agent_step(REFERENCE, self._config, self._state, action)
        return shown

    def _check(self, action: Check) -> Shown:
        why = REFERENCE.valid(self._config, self._state, action.executor, action.warrant, action.request)
        if why:
            return Shown("check", rejected=why)
        place = self._place(action.request)
        if not REFERENCE.permitted(self._config, action.request, place):
            return Shown("check", rejected=OUTSIDE)
        self._hold(action.executor, Held(action.warrant, action.request, place))
        return Shown("check")

    def _place(self, request: Request) -> Place | None:
        path = path_of(request)
        found = None if path is None else self.disk.find(path)
        if found is not None and found.parent is not None:
            os.close(found.parent)
        return None if found is None else found.place

    def _hold(self, executor: str, held: Held | None) -> None:
        both = [held if name == executor else one for name, one in zip(EXECUTORS, self._state.held, strict=True)]
        self._state = replace(self._state, held=(both[0], both[1]))

    def _use(self, executor: str) -> Shown:
        held = self._state.held[EXECUTORS.index(executor)]
        if held is None:
            return self._as_model(Use(executor))
        self._hold(executor, None)
        why = REFERENCE.valid(self._config, self._state, executor, held.warrant, held.request)
        if why:
            return Shown("use", rejected=why)
        path = path_of(held.request)
        found = None if path is None else self.disk.find(path)
        try:
            judged = held.place if self._trusts else found.place if found is not None else None
            if not REFERENCE.permitted(self._config, held.request, judged):
                return Shown("use", rejected=OUTSIDE)
            spent = REFERENCE.spend(self._config, self._state, executor, held.warrant)
            self._state = replace(self._state, spent=spent)
            effect = self._done(held.request, found)
        finally:
            if found is not None and found.parent is not None:
                os.close(found.parent)
        if effect is None:
            return Shown("use", rejected="the tree does not allow it")
        owed = REFERENCE.trace_effect(self._config, held.request)
        self._state = replace(self._state, owed=together((*self._state.owed, *owed)))
        return Shown("use", effects=(effect,), intents=owed)

    def _done(self, request: Request, found: Found | None) -> Effect | None:
        kind = request.action_type
        if kind == "Notify":
            return Effect(kind, (), str(field(request.fields, "message")))
        if found is None:
            return None
        if kind == "ReadLocal":
            text = read(found)
            return None if text is None else Effect(kind, found.place, text)
        name = "content" if kind == "WriteLocal" else "jsonl_lines"
        text = text_of(request.fields, name)
        if not write(found, text):
            return None
        self.disk.written(found.place)
        return Effect(kind, found.place, text)


def _made(initial: Initial, *, trusts_the_check: bool) -> Kernel:
    if initial["system"] != "agent":
        raise Unsupported("only the system `agent` executes step by step")
    config, start = decode(initial["config"], *TYPES), decode(initial["start"], *TYPES)
    if config.readings.path_rule != "resolved":
        raise Unsupported("this executor resolves paths")
    folders = {(), *(place for place, node in start.tree if node.kind == "dir")}
    if stray := next((place for place, _ in start.tree if place[:-1] not in folders), None):
        raise Unsupported(f"no disk has {'/'.join(stray)} and no directory that holds it")
    return DiskExecutor(config, start, trusts_the_check=trusts_the_check)


def factory(initial: Initial) -> Kernel:
    """Return the executor on a disk.

    Raises Unsupported for other systems than `agent`, for paths that are not to be resolved and for a tree that no disk
    can have.
    """
    return _made(initial, trusts_the_check=False)


def trusting(initial: Initial) -> Kernel:
    """Return the executor with a planted fault: it misses a link swapped between check and use."""
    return _made(initial, trusts_the_check=True)
