"""`dataclass` and `replace` of the standard library, which make frozen records with slots in half the time.

The constructor of a frozen dataclass looks up each field by name; this one writes to the slots directly.  Models make
some ten records in each step, so that constructors were a quarter of the time of a search.
"""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, fields
from types import CodeType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass", "replace"]

_SLOTS: dict[type, tuple[tuple[str, Any, Any], ...]] = {}
"""The quick classes: each field with what reads and what writes its slot."""

if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:

    def dataclass(cls: Any = None, /, **options: Any) -> Any:
        """Return what the decorator of the standard library returns, with a quicker constructor where that is safe."""
        if cls is None:
            return lambda given: dataclass(given, **options)
        made = dataclasses.dataclass(**options)(cls)
        if options.get("frozen") and options.get("slots") and not hasattr(made, "__post_init__"):
            _quicken(made)
        return made

    def replace(record: Any, /, **changes: Any) -> Any:
        """Return the record with some fields changed."""
        slots = _SLOTS.get(type(record))
        if slots is None:
            return dataclasses.replace(record, **changes)
        made = object.__new__(type(record))
        for name, get, put in slots:
            put(made, changes.pop(name) if name in changes else get(record))
        return made if not changes else dataclasses.replace(record, **changes)  # which says what is wrong


def _quicken(kind: Any) -> None:
    """Replace the constructor that the decorator wrote by one with the same signature."""
    usual = vars(kind).get("__init__")
    names = [entry.name for entry in fields(kind)]
    slots: list[Any] = [getattr(kind, name, None) for name in names]
    code = getattr(usual, "__code__", None)
    if code is None or not code.co_qualname.startswith("__create_fn__") or usual.__kwdefaults__:
        return
    given = code.co_varnames[1 : code.co_argcount] == tuple(names)
    made_here = any(entry.default_factory is not MISSING for entry in fields(kind))
    if not names or not given or made_here or any(type(slot) is not MemberDescriptorType for slot in slots):
        return
    _SLOTS[kind] = tuple((name, slot.__get__, slot.__set__) for name, slot in zip(names, slots, strict=True))
    puts = {f"_{place}": slot.__set__ for place, slot in enumerate(slots)}
    body = "".join(f"  {put}(self, {name})\n" for put, name in zip(puts, names, strict=True))
    text = f"def __create_fn__():\n def __init__(self, {', '.join(names)}):\n{body}"
    outer = next(one for one in compile(text, "<string>", "exec").co_consts if isinstance(one, CodeType))
    inner = next(one for one in outer.co_consts if isinstance(one, CodeType))
    quick = FunctionType(inner, puts, "__init__", usual.__defaults__)
    for name in ("__annotations__", "__qualname__", "__module__"):
        setattr(quick, name, getattr(usual, name))
    kind.__init__ = quick
