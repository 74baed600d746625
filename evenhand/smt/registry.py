"""The theorems and invariants of a protocol, found by name.

Theorems are `THEOREMS` in the module of `evenhand.proofs` named like the protocol, invariants are `INVARIANTS` in its
submodule `invariants`.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Collection
from typing import Any, TypeVar, cast

from evenhand.core.bundle import Bundle, ProtocolBroken
from evenhand.core.registry import find
from evenhand.core.system import UnknownName
from evenhand.smt.theorem import Stated, Theorem
from evenhand.smt.transitions.invariant import Invariant

T = TypeVar("T", bound=Stated)


def theorems(protocol: str) -> tuple[Theorem, ...]:
    """Return the theorems of `protocol` in their order; none without a module.

    Raises ProtocolBroken when the module does not import, holds no tuple of theorems, or uses an unknown name.
    """
    return _stated(protocol, f"evenhand.proofs.{protocol}", "THEOREMS", Theorem) if _there(protocol) else ()


def invariants(protocol: str) -> tuple[Invariant, ...]:
    """Return the invariants of `protocol`; none without a module `invariants` in its folder.

    Raises ProtocolBroken when the module does not import, holds no tuple of invariants, or uses an unknown name.
    """
    name = f"evenhand.proofs.{protocol}.invariants"
    if not _there(protocol) or not _is_folder(protocol) or importlib.util.find_spec(name) is None:
        return ()
    return _stated(protocol, name, "INVARIANTS", Invariant)


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


def _stated(protocol: str, module: str, name: str, kind: type[T]) -> tuple[T, ...]:
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except Exception as error:
        raise ProtocolBroken(f"{module} gives no {name}: {type(error).__name__}: {error}") from error
    held = cast("tuple[object, ...]", found) if isinstance(found, tuple) else (found,)
    bundle = find(protocol)
    for one in held:
        if not isinstance(one, kind):
            raise ProtocolBroken(f"{module}.{name} must be a tuple of {kind.__name__.lower()}s; it holds {one!r}")
        try:
            _check_names(bundle, one)
        except ValueError as error:
            raise ProtocolBroken(f"{module}: {kind.__name__.lower()} {one.name}: {error}") from error
    return cast("tuple[T, ...]", held)


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
