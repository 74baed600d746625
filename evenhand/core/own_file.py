"""Find a user's own system by file and name: `FILE.py:light` may stand wherever a protocol's name does.

The global `light` is a `System`, a `Protocol`, a `Bundle`, or a function without arguments that makes one.  Its claims
and generators are those among the globals of the same file.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, cast

from evenhand.core.bundle import Bundle
from evenhand.core.ending import NAME, ending_claim
from evenhand.core.generator import Generator
from evenhand.core.loading import module_at
from evenhand.core.lookup import UnknownName
from evenhand.core.property import Property
from evenhand.core.system import AnySystem, Protocol, System

_WRITTEN = re.compile(r"(.+\.py)(?::([^:/\\]*))?", re.DOTALL)


class NoSuchSystem(ValueError):
    """A `FILE.py:name` that is no system with claims; says which, why, and what exists instead."""


class GlobalName(NamedTuple):
    """The place of a system: its file, and its name among the globals there."""

    file: Path
    name: str


def names_file(written: str) -> bool:
    """Return whether a name is that of a file (`FILE.py:name`, or `FILE.py` alone), not of a protocol."""
    return _WRITTEN.fullmatch(written) is not None


def file_and_name(written: str) -> tuple[str, str]:
    """Return the file as it was written, and the global's name (empty if the file stands alone).

    Raises ValueError for text that names no file.
    """
    found = _WRITTEN.fullmatch(written)
    if found is None:
        raise ValueError(f"{written!r} is not of the form FILE.py:name")
    return found[1], found[2] or ""


def own_bundle(written: str) -> Bundle:
    """Return the system that `FILE.py:name` names, with its claims, as the registry would.

    Raises NotLoaded, NoSuchSystem or UnknownName, each with one sentence.
    """
    file, name = file_and_name(written)
    module = module_at(Path(file))
    name = name or _only(module, file)
    known = _made.get((module.__name__, file, name))
    if known is None or known[0] is not module:
        known = _made[module.__name__, file, name] = (module, _bundle(module, file, name))
    return known[1]


_made: dict[tuple[str, str, str], tuple[ModuleType, Bundle]] = {}
"""Each bundle is made once, so that a function that makes a system is called once."""


def place_of(system: AnySystem, claim: Property) -> GlobalName | None:
    """Return the file whose globals are this very system and claim, with the system's name there.

    Searches the files of the callers, then every loaded module; None if there is no such file.
    """
    for names in _namespaces():
        file = names.get("__file__")
        if not isinstance(file, str) or not file.endswith(".py"):
            continue
        found = next((name for name, value in list(names.items()) if value is system), None)
        if found is not None and (claim.name == NAME or any(one is claim for one in _among(names, Property))):
            return GlobalName(Path(file).resolve(), found)
    return None


def _namespaces() -> Iterator[Mapping[str, Any]]:
    frame = inspect.currentframe()
    while frame is not None:
        yield frame.f_globals
        frame = frame.f_back
    yield from (vars(module) for module in list(sys.modules.values()) if isinstance(module, ModuleType))


def _only(module: ModuleType, file: str) -> str:
    """The name of the only system of a file.  Raises NoSuchSystem if there are none or several."""
    names = _systems(module)
    if len(names) == 1:
        return names[0]
    if names:
        raise NoSuchSystem(
            f"{file} has {len(names)} systems; name one of them: {', '.join(f'{file}:{name}' for name in names)}"
        )
    raise NoSuchSystem(
        f"{file} has no system among its globals; make one with `evenhand.system(...)`, or name a function that "
        f"does, as in {file}:make"
    )


def _systems(module: ModuleType) -> list[str]:
    """Each system once, by its first name."""
    found: dict[int, str] = {}
    for name, value in vars(module).items():
        if isinstance(value, System | Protocol | Bundle) and not name.startswith("_"):
            found.setdefault(id(cast("object", value)), name)
    return list(found.values())


def _bundle(module: ModuleType, file: str, name: str) -> Bundle:
    """Raises NoSuchSystem or UnknownName."""
    names, written = vars(module), f"{file}:{name}"
    if name not in names:
        raise UnknownName(f"system of {file}:", name, _systems(module))
    value = _called(names[name], written)
    if not isinstance(value, System | Protocol | Bundle):
        there = ", ".join(_systems(module)) or "none"
        raise NoSuchSystem(f"{written} is no system, but of type {type(value).__name__}; there is: {there}")
    if isinstance(value, Bundle):
        made = value if value.claims else replace(value, claims=_about(value.model, _among(names, Property)))
    else:
        model = (
            value
            if isinstance(value, Protocol)
            else Protocol(value.name, value.name, "", {value.name: cast("AnySystem", value)})
        )
        generators = tuple(one for one in _among(names, Generator) if one.system in model.systems)
        others = {one.name for one in _among(names, System)} - set(model.systems)
        claims = tuple(_without(claim, others) for claim in _about(model, _among(names, Property)))
        made = Bundle(model, claims, generators)
    made = replace(made, claims=(*made.claims, *_about_ends(made.model)))
    _check(made, written, file)
    return replace(made, own=True, written=written)


def _about_ends(model: Protocol) -> Iterator[Property]:
    """The claim that systems make by saying where their runs may end."""
    saying = {name: claim for name, system in model.systems.items() if (claim := ending_claim(system)) is not None}
    if saying:
        yield replace(next(iter(saying.values())), systems=tuple(saying))


def _called(value: Any, written: str) -> Any:
    """The result of a function without arguments; any other value as it is.  Raises NoSuchSystem."""
    if not inspect.isfunction(value):
        return value
    needed = list(inspect.signature(value).parameters)
    if needed:
        raise NoSuchSystem(
            f"{written} is a function of {', '.join(needed)}; name a system, or a function without arguments that "
            "makes one"
        )
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return value()
    except Exception as error:
        raise NoSuchSystem(f"{written} raised {type(error).__name__}: {error}. Mend the function") from error


def _check(bundle: Bundle, written: str, file: str) -> None:
    names = [claim.name for claim in bundle.claims]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise NoSuchSystem(f"{written}: two claims are called {twice!r}; verdicts go by the name, so rename one")
    if not names:
        raise NoSuchSystem(
            f"{written} has no claims; decorate a predicate of {file}, as in `@evenhand.always('The light is never "
            "dark.')`, and let `systems` of a claim, if it is given, name the system"
        )


def _about(model: Protocol, claims: Iterable[Property]) -> tuple[Property, ...]:
    return tuple(claim for claim in claims if not claim.systems or set(claim.systems) & set(model.systems))


def _without(claim: Property, others: set[str]) -> Property:
    """A claim without what it says of other systems of the file."""
    systems = tuple(one for one in claim.systems if one not in others)
    expected = tuple(one for one in claim.expected if one.system not in others)
    same = (systems, expected) == (claim.systems, claim.expected)
    return claim if same else replace(claim, systems=systems, expected=expected)


def _among(names: Mapping[str, Any], kind: type[Any]) -> list[Any]:
    """The values of a kind among globals, also in lists and tuples there, each once."""
    found: dict[int, Any] = {}
    for value in list(names.values()):
        for one in cast("Iterable[Any]", value) if type(value) in (list, tuple) else (value,):
            if isinstance(one, kind):
                found.setdefault(id(one), one)
    return list(found.values())
