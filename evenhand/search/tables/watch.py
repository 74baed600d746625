"""Find code that a proxy cannot catch by itself, in the bytecode of the code that ran.

`is`, `type()`, `id()` and `callable()` inspect an object without its methods; sequence and mapping patterns read its
class's flags; a handler for every exception swallows the signal to fork; and a step that draws random numbers, reads a
clock or touches a file is no function of its arguments.  Each is named with file and line.  Operands of `is` that are
names, attributes or elements are looked at when the code gets there: a proxy beside None, a truth value or a member of
an enumeration is decided; beside anything else it is fatal.
"""

from __future__ import annotations

import builtins
import dis
import operator
import sys
from collections.abc import Callable
from types import CodeType, FrameType, ModuleType
from typing import Any, TypeAlias

from evenhand.core.purity import IMPURE_MODULES
from evenhand.search.tables.expressions import plain
from evenhand.search.tables.proxies import Lazy, decide_identity, is_single, parts_of, real_within

_LOOKS = (type, id, callable, vars, operator.is_, operator.is_not)
"""Functions that inspect an object without its methods, under whatever name they are kept."""

_SEEING = {"builtins", "copyreg", "ctypes", "gc", "inspect", "marshal", "pickle", "sys", "traceback", "weakref"}
"""Modules that do."""

_IMPURE_BUILTINS = {"input", "open", "print"}
_IMPURE = IMPURE_MODULES | {"_io", "http", "io", "os", "posix", "shutil", "tempfile", "urllib"}
"""Modules whose use makes a step more than a function of its arguments."""

_OURS = ("evenhand.search", "evenhand.core", "copyreg")
"""Modules of this package that use values by their methods only."""

_TRUSTED = ("dataclasses", "enum", "functools", "collections", "typing", "abc", "operator", "itertools", "copy")
"""Modules of the standard library that use objects by their methods only, wherever proxies can reach them."""

_LOADS = {
    *("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_GLOBAL"),
    *("LOAD_NAME", "LOAD_CONST"),
}
_SILENT = {"CACHE", "RESUME", "PRECALL", "EXTENDED_ARG", "NOP", "COPY_FREE_VARS", "PUSH_NULL", "NOT_TAKEN"}
_NONE_JUMPS = "_IF_NOT_NONE", "_IF_NONE"

Operand: TypeAlias = tuple[str, Any, tuple[str, ...]]
"""How an operand is loaded: opcode; name, constant or operands that it is computed from; and attributes taken of it."""

Operands: TypeAlias = tuple[Operand, ...]
"""Those of one `is`."""

_NONE: Operand = ("CONSTANT", None, ())
_UNSEEN, _BLIND = object(), object()
"""A value that does not matter, as the comparison will raise, and one that may matter and is not known."""


class Evades(Exception):
    """Code that a proxy cannot follow; says what, where, and what to write instead."""


class Watch:
    """A watch on code that runs on proxies: no identity of theirs means anything, nor that of what they hold."""

    def __init__(self) -> None:
        # By id, because the hash of a code object goes through all its constants.  Holding the object keeps its id
        # unique.
        self.known: dict[int, tuple[CodeType, Callable[..., Any] | None]] = {}
        self.quiet: set[int] = set()  # those that need no tracer
        self.tracer = self._called()
        self.complaint: str = ""

    def watched(self, run: Callable[..., Any], *given: Any) -> Any:
        """Run the model's own code under watch, and restore the trace function that was set before."""
        before = sys.gettrace()
        sys.settrace(self.tracer)
        try:
            return run(*given)
        finally:
            sys.settrace(before)

    def speak(self) -> None:
        """Raise Evades if something was found."""
        if self.complaint:
            raise Evades(self.complaint)

    def _called(self) -> Callable[[FrameType, str, Any], Any]:
        """The trace function; it runs at every call of the model, so it does little for code that it knows."""
        known, quiet = self.known, self.quiet

        def called(frame: FrameType, _event: str, _argument: Any) -> Any:
            code = frame.f_code
            if id(code) in quiet:
                return None
            found = known.get(id(code))
            if found is None:
                found = known[id(code)] = (code, self._examined(frame))
                if found[1] is None:
                    quiet.add(id(code))
            if found[1] is not None:
                frame.f_trace_lines, frame.f_trace_opcodes = False, True
            return found[1]

        return called

    def _examined(self, frame: FrameType) -> Callable[..., Any] | None:
        """Examine a code object once; one that must be watched gets a tracer."""
        code = frame.f_code
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(_OURS) or module.split(".")[0] in _TRUSTED:
            return None
        for name in code.co_freevars:
            if any(frame.f_locals.get(name) is one for one in _LOOKS):
                where = f"{code.co_filename}:{code.co_firstlineno} ({code.co_name})"
                self._complain(f"{where}: `{name}` looks past a value that is not chosen yet; use isinstance or ==")
        generated = not code.co_filename.endswith(".py")
        looks: dict[int, Operands] = {}
        body = [one for one in dis.get_instructions(code) if one.opname not in _SILENT]
        line = code.co_firstlineno
        for place, one in enumerate(body):
            line = one.positions.lineno or line if one.positions else line
            where = f"{code.co_filename}:{line} ({code.co_name})"
            if one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                self._named(frame, str(one.argval), where)
            elif one.opname == "IMPORT_NAME" and str(one.argval).split(".")[0] in _IMPURE:
                self._complain(f"{where}: a step must not use {one.argval!r}: it is a function of its arguments alone")
            elif one.opname in ("MATCH_SEQUENCE", "MATCH_MAPPING"):
                self._complain(f"{where}: a sequence or mapping pattern looks past what is proxied; compare instead")
            elif one.argval in ("is_", "is_not") and one.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
                self._complain(f"{where}: `{one.argval}` looks past a value that is not chosen yet; compare with ==")
            elif one.opname == "IS_OP" or one.opname.endswith(_NONE_JUMPS):
                operands = _operands(body, place)
                if operands is None:
                    # A class pattern gives None or a tuple, and asks for it.
                    pattern = any(
                        one.opname in ("MATCH_CLASS", "MATCH_KEYS") for one in body[max(0, place - 2) : place]
                    )
                    if not generated and not pattern:
                        self._complain(f"{where}: `is` on a computed value; compare with == instead")
                else:
                    prefixes = max(0, (one.arg or 0).bit_length() - 1) // 8  # a far jump has its event there
                    looks[one.offset] = looks[one.offset - 2 * prefixes] = operands
        handles = any(one.opname == "PUSH_EXC_INFO" for one in body)
        return self._looker(looks) if looks or handles else None

    def _named(self, frame: FrameType, name: str, where: str) -> None:
        known = frame.f_globals.get(name, getattr(builtins, name, None))
        if isinstance(known, ModuleType) and known.__name__ in _SEEING:
            self._complain(f"{where}: the module {name!r} looks past a value that is not chosen yet")
        if any(known is one for one in _LOOKS):
            self._complain(f"{where}: `{name}` looks past a value that is not chosen yet; use isinstance or ==")
        if name in frame.f_globals:
            value = frame.f_globals[name]
            home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            home = home or type(getattr(value, "__self__", None)).__module__
            if str(home).split(".")[0] in _IMPURE:
                self._complain(f"{where}: a step must not use {name!r}: it is a function of its arguments alone")
        elif name in _IMPURE_BUILTINS:
            self._complain(f"{where}: a step must not use {name!r}: it is a function of its arguments alone")

    def _complain(self, what: str) -> None:
        self.complaint = self.complaint or what

    def _looker(self, looks: dict[int, Operands]) -> Callable[..., Any]:
        def looking(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "exception":
                self._saw(frame, argument)
            elif event == "opcode" and frame.f_lasti in looks:
                self._look(frame, looks[frame.f_lasti])
            return looking

        return looking

    def _look(self, frame: FrameType, operands: Operands) -> None:
        one, other = (_value(frame, operand) for operand in (*operands, _NONE)[:2])
        if type(other) is Lazy:
            one, other = other, one
        if type(one) is Lazy and is_single(other):
            decide_identity(one, other)
        elif type(one) is Lazy or one is _BLIND or other is _BLIND or _is_unsteady(operands, one, other):
            self._complain(
                f"{frame.f_code.co_filename}:{frame.f_lineno} ({frame.f_code.co_name}): `is` looks past "
                "a value that is not chosen yet; compare with == instead"
            )

    def _saw(self, frame: FrameType, argument: Any) -> None:
        """Note an exception that passes through a frame that may handle it."""
        if issubclass(argument[0], TypeError):
            # C code refuses a proxy with TypeError; a handler would make that a wrong answer.
            self._complain(
                f"{frame.f_code.co_filename}:{frame.f_lineno} ({frame.f_code.co_name}): a TypeError is handled here, "
                "and a value that is not chosen yet may be its cause"
            )


def _value(frame: FrameType, operand: Operand) -> Any:
    """What an operand is right now."""
    kind, name, attributes = operand
    value = name
    if kind == "BINARY_SUBSCR":
        value = _element(*(_value(frame, part) for part in name))
        if value is _BLIND:
            return value
    elif kind == "CONSTANT":
        return name
    elif kind not in ("LOAD_GLOBAL", "LOAD_NAME") or name in frame.f_locals:
        value = frame.f_locals.get(name, _UNSEEN)
    else:
        value = frame.f_globals.get(name, getattr(builtins, name, _UNSEEN))
    for attribute in attributes:
        if attribute == "__class__":
            return _UNSEEN
        try:
            value = getattr(value, attribute)
        except Exception:  # the comparison, if it is reached, will raise the same
            return _UNSEEN
    return value


def _element(held: Any, key: Any) -> Any:
    """The element of a tuple, list or dictionary, where to ask for it runs no code of the model."""
    kept = held if type(held) is dict else ()
    if type(held) not in (tuple, list, dict, Lazy) or not all(plain(real_within(one)) for one in (key, *kept)):
        return _BLIND
    try:
        return held[key]
    except Exception:
        return _BLIND


def _is_unsteady(operands: Operands, *values: Any) -> bool:
    """Whether a tuple or record is compared: it is another object in each run, and in explicit search perhaps the same.

    It never is a constant, nor a single value.
    """
    if any(kind == "CONSTANT" for kind, _, _ in operands) or any(map(is_single, values)):
        return False
    return any(parts_of(value) is not None for value in values)


def _operands(body: list[dis.Instruction], place: int) -> Operands | None:
    """The operands of an `is`, if each can be looked at; None for anything else."""
    found: list[Operand] = []
    last = place
    count = 2 if body[place].opname == "IS_OP" else 1
    place -= 1
    while len(found) < count:
        # `:=` may only be what is computed first: it may change what the other operand was.
        one = _operand(body, place, stored=len(found) == count - 1)
        if one is None:
            return None
        found.append(one[0])
        place = one[1]
    # If a jump ends in the midst of it, an operand is one of several values.
    return None if any(one.is_jump_target for one in body[place + 2 : last + 1]) else tuple(found)


def _operand(body: list[dis.Instruction], place: int, *, stored: bool = False) -> tuple[Operand, int] | None:
    """The operand that ends here, and the place before it."""
    attributes: list[str] = []
    while place >= 0 and body[place].opname == "LOAD_ATTR":
        attributes.insert(0, str(body[place].argval))
        place -= 1
    if place < 0:
        return None
    one, taken = body[place], tuple(attributes)
    if one.opname == "LOAD_CONST":
        return ("CONSTANT", one.argval, taken), place - 1
    if stored and one.opname == "STORE_FAST" and body[place - 1].opname == "COPY":
        return ("LOAD_FAST", str(one.argval), taken), place - 2
    if one.opname != "BINARY_SUBSCR":
        return ((one.opname, str(one.argval), taken), place - 1) if one.opname in _LOADS else None
    key = _operand(body, place - 1)
    held = None if key is None else _operand(body, key[1])
    return None if key is None or held is None else ((one.opname, (held[0], key[0]), taken), held[1])
