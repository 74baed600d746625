"""What a protocol wants proved, found by name.

Theorems are `THEOREMS` in the module of `evenhand.proofs` that is called like the protocol, invariants are `INVARIANTS`
in the module `invariants` beside it.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, TypeVar, cast

from evenhand.proofs.theorem import Stated, Theorem
from evenhand.proofs.transitions.invariant import Invariant
from evenhand.properties.registry import ProtocolBroken

__all__ = ["invariants", "stated", "theorems"]

T = TypeVar("T", bound=Stated)

_ENGINE = frozenset(
    [
        *(
            "agreement",
            "corners",
            "countermodel",
            "equality",
            "licence",
            "linked",
            "matrix",
            "prove",
            "proved",
            "record",
            "registry",
        ),
        *("smt", "theorem", "theory", "transitions", "trial", "worlds"),
    ]
)


def theorems(protocol: str) -> tuple[Theorem, ...]:
    """The theorems of `protocol`, in the order in which it states them; none if nobody wrote any.

    Raises ProtocolBroken when the module does not import or holds no tuple of theorems.
    """
    return _stated(f"evenhand.proofs.{protocol}", "THEOREMS", Theorem) if _there(protocol) else ()


def invariants(protocol: str) -> tuple[Invariant, ...]:
    """The invariants of `protocol`: `INVARIANTS` in the module `invariants` of its folder; none without such a module.

    Raises ProtocolBroken when the module does not import or holds no tuple of invariants.
    """
    name = f"evenhand.proofs.{protocol}.invariants"
    if not _there(protocol) or not _is_folder(protocol) or importlib.util.find_spec(name) is None:
        return ()
    return _stated(name, "INVARIANTS", Invariant)


def stated(protocol: str) -> tuple[Stated, ...]:
    """All that `protocol` wants proved: its theorems, then its invariants.  Raises ProtocolBroken."""
    return (*theorems(protocol), *invariants(protocol))


def _there(protocol: str) -> bool:
    if not protocol.isidentifier() or protocol in _ENGINE:
        return False
    return importlib.util.find_spec(f"evenhand.proofs.{protocol}") is not None


def _is_folder(protocol: str) -> bool:
    spec = importlib.util.find_spec(f"evenhand.proofs.{protocol}")
    return spec is not None and spec.submodule_search_locations is not None


def _stated(module: str, name: str, kind: type[T]) -> tuple[T, ...]:
    try:
        found: Any = getattr(importlib.import_module(module), name)
    except Exception as error:
        raise ProtocolBroken(f"{module} gives no {name}: {type(error).__name__}: {error}") from error
    held = cast("tuple[object, ...]", found) if isinstance(found, tuple) else (found,)
    for one in held:
        if not isinstance(one, kind):
            raise ProtocolBroken(f"{module}.{name} must be a tuple of {kind.__name__.lower()}s; it holds {one!r}")
    return cast("tuple[T, ...]", held)
