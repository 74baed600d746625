"""What lazy proxies cannot see, found in the bytecode of the code that ran on them."""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false

from __future__ import annotations

import builtins
import dis
import operator
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from evenhand.search.rows.watch import Operand, Watch
from evenhand.search.tables.proxies import Lazy
from evenhand.search.tables.shape import parts_of

_LOOKS = (type, id, callable, vars, operator.is_, operator.is_not)
"""Functions that inspect an object without its methods, under whatever name they are kept."""

_SEEING = {"builtins", "copyreg", "ctypes", "gc", "inspect", "marshal", "pickle", "sys", "traceback", "weakref"}
"""Modules that do."""


_AGAINST = "AGAINST A CONSTANT"
"""How an operand is marked that is compared with a constant."""

_OURS = ("evenhand.search", "evenhand.core")


class LazyWatch(Watch):
    """A watch on code that runs on lazy proxies: no identity of theirs means anything, nor that of what they hold."""

    def __init__(self) -> None:
        super().__init__((None, True, False), holds_sequences=True)

    def _examined(self, frame: FrameType) -> tuple[Callable[..., Any] | None, str]:
        code = frame.f_code
        if str(frame.f_globals.get("__name__", "")).startswith((*_OURS, "copyreg")):
            return None, ""
        before = self.codes
        found = super()._examined(frame)
        if self.codes > before:
            where = f"{code.co_filename}:{code.co_firstlineno} ({code.co_name})"
            for name in code.co_freevars:
                if any(frame.f_locals.get(name) is one for one in _LOOKS):
                    self._complain(f"{where}: `{name}` looks past a value that is not chosen yet; use isinstance or ==")
            for one in dis.get_instructions(code):
                if one.argval in ("is_", "is_not") and one.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
                    self._complain(
                        f"{where}: `{one.argval}` looks past a value that is not chosen yet; compare with =="
                    )
        return found

    def _named(self, frame: FrameType, name: str, where: str) -> None:
        super()._named(frame, name, where)
        value = frame.f_globals.get(name, getattr(builtins, name, None))
        if isinstance(value, ModuleType) and value.__name__ in _SEEING:
            self._complain(f"{where}: the module {name!r} looks past a value that is not chosen yet")
        if any(value is one for one in _LOOKS):
            self._complain(f"{where}: `{name}` looks past a value that is not chosen yet; use isinstance or ==")

    def _safe_constant(self, operand: Operand) -> bool:
        return False

    def _harmless(self, body: list[dis.Instruction], place: int) -> bool:
        # A class pattern gives None or a tuple, and asks for it.
        return any(one.opname in ("MATCH_CLASS", "MATCH_KEYS") for one in body[max(0, place - 2) : place])

    def _marked(self, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
        # What is compared with None, True or False may be a tuple or record, which never is one of them.
        if len(operands) == 1 or any(kind == "CONSTANT" for kind, _, _ in operands):
            return tuple((_AGAINST if kind != "CONSTANT" else kind, name, more) for kind, name, more in operands)
        return operands

    def _is_open(self, frame: FrameType, operand: Operand) -> bool:
        kind, name, attributes = operand
        if kind == "CONSTANT":
            return False
        value = frame.f_locals.get(name, frame.f_globals.get(name))
        for attribute in attributes:
            if attribute == "__class__":
                return False
            if type(value) is Lazy:
                return True
            try:
                value = getattr(value, attribute)
            except BaseException:
                return False
        # A tuple or record is another object in each run, and in explicit search perhaps the same.
        return type(value) is Lazy or (kind != _AGAINST and parts_of(value) is not None)
