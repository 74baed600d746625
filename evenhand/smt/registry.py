"""The theorems and invariants of a protocol, found by name.

Theorems are `THEOREMS` in the module of `evenhand.proofs` named like the protocol.  In a folder without it they are all
that its modules hold under a public name, one by one or in collections of them alone, and so are invariants in every
folder.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Collection, Iterable, Iterator
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeVar, cast

from evenhand.core.bundle import Bundle, ProtocolBroken
from evenhand.core.lookup import UnknownName
from evenhand.core.registry import find
from evenhand.smt.theorem import Stated, Theorem
from evenhand.smt.transitions.invariant import Invariant

T = TypeVar("T", bound=Stated)


def theorems(protocol: str) -> tuple[Theorem, ...]:
    """Return the theorems of `protocol` in their order; none without a module.

    Raises ProtocolBroken when a module does not import, THEOREMS is no tuple of theorems, or one uses an unknown name.
    """
    if not _there(protocol):
        return ()
    name = f"evenhand.proofs.{protocol}"
    if _is_folder(protocol) and not hasattr(_loaded(name, "THEOREMS"), "THEOREMS"):
        return _in_folder(protocol, Theorem)
    return _stated(protocol, name, "THEOREMS", Theorem)


def invariants(protocol: str) -> tuple[Invariant, ...]:
    """Return the invariants of `protocol`; none without a folder.

    Raises ProtocolBroken when a module does not import, or one uses an unknown name.
    """
    return _in_folder(protocol, Invariant) if _there(protocol) and _is_folder(protocol) else ()


def stated(protocol: str) -> tuple[Stated, ...]:
    """Return the theorems, then the invariants of `protocol`.

    Raises ProtocolBroken as they do, and for two of one name.
    """
    every: tuple[Stated, ...] = (*theorems(protocol), *invariants(protocol))
    names = [one.name for one in every]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ProtocolBroken(f"protocol {protocol}: two theorems are called {twice!r}; rename one")
    return every


def _there(protocol: str) -> bool:
    return protocol.isidentifier() and importlib.util.find_spec(f"evenhand.proofs.{protocol}") is not None


def _is_folder(protocol: str) -> bool:
    spec = importlib.util.find_spec(f"evenhand.proofs.{protocol}")
    return spec is not None and spec.submodule_search_locations is not None


def _loaded(module: str, wanted: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except Exception as error:
        raise ProtocolBroken(f"{module} gives no {wanted}: {type(error).__name__}: {error}") from error


def _in_folder(protocol: str, kind: type[T]) -> tuple[T, ...]:
    """All of a kind in the modules of a protocol's folder, each once, module by module."""
    package = f"evenhand.proofs.{protocol}"
    wanted = f"{kind.__name__.lower()}s"
    found: dict[int, T] = {}
    for entry in sorted(iter_modules(_loaded(package, wanted).__path__), key=lambda entry: entry.name):
        if entry.name.startswith("_"):
            continue
        module = _loaded(f"{package}.{entry.name}", wanted)
        for name, value in vars(module).items():
            held = [] if name.startswith("_") else list(_leaves(value))
            said = [one for one in held if isinstance(one, Stated)]
            if said and len(said) < len(held):
                why = f"{module.__name__}.{name} holds {said[0].name} beside what is no theorem; give theorems a name"
                raise ProtocolBroken(f"{why} or a tuple of their own, or begin this name with _")
            ours = [one for one in said if isinstance(one, kind)]
            _check(protocol, module.__name__, ours)
            found |= {id(one): one for one in ours}
    return tuple(found.values())


def _leaves(value: object) -> Iterator[object]:
    """What a value holds, in tuples, lists and dictionaries of any depth."""
    if isinstance(value, tuple | list | dict):
        held = cast("Any", value)
        for one in held.values() if isinstance(value, dict) else held:
            yield from _leaves(one)
    else:
        yield value


def _stated(protocol: str, module: str, name: str, kind: type[T]) -> tuple[T, ...]:
    found: Any = getattr(_loaded(module, name), name, None)
    held = cast("tuple[object, ...]", found) if isinstance(found, tuple) else (found,)
    for one in held:
        if not isinstance(one, kind):
            raise ProtocolBroken(f"{module}.{name} must be a tuple of {kind.__name__.lower()}s; it holds {one!r}")
    _check(protocol, module, cast("tuple[T, ...]", held))
    return cast("tuple[T, ...]", held)


def _check(protocol: str, module: str, held: Iterable[Stated]) -> None:
    bundle = find(protocol)
    for one in held:
        try:
            _check_names(bundle, one)
        except ValueError as error:
            raise ProtocolBroken(f"{module}: {type(one).__name__.lower()} {one.name}: {error}") from error


def _check_names(bundle: Bundle, one: Stated) -> None:
    """Check that everything a theorem refers to is the protocol's.  Raises ValueError."""
    _is_one("protocol", one.protocol, [bundle.name])
    system = one.place(bundle)
    if isinstance(one, Theorem) and one.quotient:
        known = [*(group.name for group in system.quotients), *(mapping.name for mapping in system.abstractions)]
        _is_one("quotient", one.quotient, known)


def _is_one(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise UnknownName(what, name, known)
