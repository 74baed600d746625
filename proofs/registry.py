"""The theorems of a protocol, found by name: `THEOREMS` in the module of `evenhand.proofs` that is called like it."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any, cast

from evenhand.proofs.theorem import Theorem
from evenhand.properties.registry import ProtocolBroken

__all__ = ["theorems"]

_ENGINE = frozenset(
    [
        *("agreement", "countermodel", "licence", "prove", "proved", "record", "registry"),
        *("smt", "theorem", "theory", "transitions", "trial"),
    ]
)


def theorems(protocol: str) -> tuple[Theorem, ...]:
    """The theorems of `protocol`, in the order in which it states them; none if nobody wrote any.

    Raises ProtocolBroken when the module does not import or holds no tuple of theorems.
    """
    name = f"evenhand.proofs.{protocol}"
    if not protocol.isidentifier() or protocol in _ENGINE or importlib.util.find_spec(name) is None:
        return ()
    try:
        found: Any = importlib.import_module(name).THEOREMS
    except Exception as error:
        raise ProtocolBroken(f"{name} gives no THEOREMS: {type(error).__name__}: {error}") from error
    stated = cast("tuple[object, ...]", found) if isinstance(found, tuple) else (found,)
    wrong = [one for one in stated if not isinstance(one, Theorem)]
    if wrong:
        raise ProtocolBroken(f"{name}.THEOREMS must be a tuple of theorems; it holds {wrong[0]!r}")
    return tuple(one for one in stated if isinstance(one, Theorem))
