"""Find code that a proxy cannot catch by itself, in the bytecode of the code that ran.

`is`, `type()`, `id()` and `callable()` inspect an object without its methods; sequence and mapping patterns read its
class's flags; a handler for every exception swallows the signal to fork; and a step that draws random numbers, reads a
clock or touches a file is no function of its arguments.  Each is named with file and line.  What `is`, `type()` and
patterns look at is examined when the code gets there, see `looks`.
"""

from __future__ import annotations

import builtins
import gc
import inspect
import operator
import sys
from collections.abc import Callable, Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from evenhand.core.answers import error_text
from evenhand.core.purity import IMPURE_MODULES
from evenhand.search.containers import SCALARS
from evenhand.search.tables.looks import BLIND, Body, Look, Names, instructions, look_at, value_of
from evenhand.search.tables.proxies import Lazy, decide_identity, is_single
from evenhand.search.witness import NotLearned

_OPERATOR_NAMES = frozenset({"is_", "is_not", "concat", "iconcat"})
_LOOKS = (
    *(type, id, callable, vars, globals, __import__, sum, getattr),
    *(getattr(operator, name) for name in sorted(_OPERATOR_NAMES)),
)
"""Functions that inspect an object without its methods, under whatever name they are kept, or lead to any function.

While the model runs, `sum` and `getattr` by their own names are others, which ask the proxy or the watch.
"""

_C_SEEING = {"ctypes", "_ctypes", "gc", "marshal", "_pickle", "sys", "_weakref"}
_SEEING = {*("builtins", "copyreg", "importlib", "inspect", "json", "pickle", "traceback", "weakref"), *_C_SEEING}
"""Modules that do; those written in C, whose functions are known by their module, and all."""

_OPERATORS = frozenset(
    f"__{side}{name}__"
    for side in ("", "r", "i")
    for name in (
        *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift"),
        *("and", "or", "xor", "eq", "ne", "lt", "le", "gt", "ge", "hash", "repr", "str", "format"),
    )
)
"""Methods that give NotImplemented for a proxy, where `==` or `+` would ask the proxy, or that know all objects."""

_PAST = _OPERATORS | {
    *("__getattribute__", "__globals__", "__builtins__", "__closure__", "__defaults__", "__kwdefaults__", "__self__"),
    *("__subclasses__", "__mro__", "__bases__", "__base__"),
}
"""Attributes that do, or lead to what does."""

_GETTING_PAST = _PAST | _OPERATOR_NAMES | {"__class__"}

_IMPURE_BUILTINS = {"input", "open", "print"}
_IMPURE = IMPURE_MODULES | {"_io", "http", "io", "os", "posix", "shutil", "tempfile", "urllib"}
"""Modules whose use makes a step more than a function of its arguments."""

_OURS = ("evenhand.search", "evenhand.core", "evenhand.variants", "copyreg")
"""Modules of this package that use values by their methods only."""

_TRUSTED = (
    *("dataclasses", "enum", "functools", "collections", "typing", "abc", "operator", "itertools", "copy"),
    *("fractions", "numbers"),
)
"""Modules of the standard library that use objects by their methods only, wherever proxies can reach them.

Where `fractions` asks for a type, it has a slower way for other types that comes to the same.
"""

_PARTLESS = SCALARS | {float, CodeType, FrameType, GetSetDescriptorType, MemberDescriptorType, Lazy}
"""Classes of values that hold nothing to call."""

_FLAT = (tuple, list, set, frozenset)

_ATTRIBUTES = "LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR", "IMPORT_FROM"
_getattr = builtins.getattr
_NONE_JUMPS = "_IF_NOT_NONE", "_IF_NONE"

_LOOKS_PAST = "looks past a value that is not chosen yet"
_PATTERN = "a sequence or mapping pattern looks past what is proxied; compare instead"


class Watch:
    """A watch on code that runs on proxies: no identity of theirs means anything, nor that of what they hold."""

    def __init__(self) -> None:
        # By id, because the hash of a code object goes through all its constants.  Holding the object keeps its id
        # unique.
        self.known: dict[int, tuple[CodeType, Callable[..., Any] | None]] = {}
        self.tracer = self._called()
        self.complaint: str = ""
        self.lent: tuple[FrameType, int, str, Any] | None = None
        self.held: dict[int, tuple[Any, list[Any]]] = {}  # by id, as tables may be large; keeps the object too

    def got(self, held: Any, name: Any, *default: Any) -> Any:
        """What `getattr` gives the model; the watch sees by which name, however that was made."""
        found = _getattr(held, name, *default)
        if (name in _PAST or _looks_past(found)) and sys.gettrace() is self.tracer:
            frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
            if not _is_known(str(frame.f_globals.get("__name__", ""))):
                self._complain(f"{_where(frame)}: `{name}` by `getattr` {_LOOKS_PAST}; use an operator")
        return found

    def watched(self, run: Callable[..., Any], *given: Any) -> Any:
        """Run the model's own code under watch, and restore the trace function that was set before."""
        before = sys.gettrace()
        # Without this Python 3.12 shows no instructions at first.
        sys._getframe().f_trace_opcodes = True  # pyright: ignore[reportPrivateUsage]
        sys.settrace(self.tracer)
        try:
            return run(*given)
        finally:
            sys.settrace(before)
            self.lent = None

    def speak(self) -> None:
        """Raise NotLearned for code that a proxy cannot follow; says what, where, and what to write instead."""
        if self.complaint:
            raise NotLearned(self.complaint)

    def _called(self) -> Callable[[FrameType, str, Any], Any]:
        """The trace function; it runs at every call of the model, so it does little for code that it knows."""
        known = self.known

        def called(frame: FrameType, _event: str, _argument: Any) -> Any:
            code = frame.f_code
            found = known.get(id(code))
            if found is None:
                found = known[id(code)] = (code, self._examined(frame))
            tracer = found[1]
            if tracer is not None:
                frame.f_trace = tracer  # newer versions of Python ask for it before they show each instruction
                frame.f_trace_lines, frame.f_trace_opcodes = False, True
            return tracer

        return called

    def _examined(self, frame: FrameType) -> Callable[..., Any] | None:
        """Examine a code object once; one that must be watched gets a tracer."""
        code = frame.f_code
        module = str(frame.f_globals.get("__name__", ""))
        if _is_known(module):
            return None
        self._reached(frame, module)
        generated = code.co_qualname.startswith("__create_fn__") or code.co_filename.startswith("<attrs generated")
        looks: list[Look] = []
        body = instructions(code)
        line = code.co_firstlineno
        for place, one in enumerate(body):
            line = one.positions.lineno or line if one.positions else line
            where = f"{code.co_filename}:{line} ({code.co_name})"
            if one.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                known = frame.f_globals.get("type", frame.f_builtins.get("type"))
                look = look_at(code, body, place) if one.argval == "type" and known is type else None
                if look is None:
                    self._named(frame, str(one.argval), where)
                else:
                    looks.append(look)
            elif one.opname == "IMPORT_NAME":
                self._imported(code, str(one.argval), where)
            elif one.opname in ("MATCH_SEQUENCE", "MATCH_MAPPING"):
                look = look_at(code, body, place)
                if look is None:
                    self._complain(f"{where}: {_PATTERN}")
                else:
                    looks.append(look)
            elif one.opname in _ATTRIBUTES:
                looks += self._attribute(code, body, place, where)
            elif one.opname == "IS_OP" or one.opname.endswith(_NONE_JUMPS):
                look = look_at(code, body, place)
                if look is None:
                    # A class pattern gives None or a tuple, and asks for it.
                    pattern = any(
                        one.opname in ("MATCH_CLASS", "MATCH_KEYS") for one in body[max(0, place - 2) : place]
                    )
                    if not generated and not pattern:
                        self._complain(f"{where}: `is` on a computed value; compare with == instead")
                else:
                    looks.append(look)
        handles = any(one.opname == "PUSH_EXC_INFO" for one in body)
        return self._looker(looks) if looks or handles else None

    def _imported(self, code: CodeType, module: str, where: str) -> None:
        home = module.split(".")[0]
        if home in _IMPURE:
            self._complain(f"{where}: a step must not use {module!r}: it is a function of its arguments alone")
        if home in _SEEING:
            self._complain(f"{where}: the module {module!r} {_LOOKS_PAST}")
        for name in sorted(_OPERATOR_NAMES & _attributes(code)) if home in ("operator", "_operator") else ():
            self._complain(f"{where}: `{name}` beside the module {module!r} {_LOOKS_PAST}; use an operator")

    def _attribute(self, code: CodeType, body: Body, place: int, where: str) -> list[Look]:
        """The look at an attribute that leads past proxies or not, as what has it is a class, a module or neither."""
        name = body[place].argval
        if name in _PAST:
            self._complain(f"{where}: `{name}` {_LOOKS_PAST}; use an operator")
        if name != "__class__" and name not in _OPERATOR_NAMES:
            return []
        look = look_at(code, body, place)
        if look is None and name == "__class__":
            self._complain(f"{where}: `__class__` of a computed value, perhaps a class, {_LOOKS_PAST}")
        return [] if look is None else [look]

    def _reached(self, frame: FrameType, module: str) -> None:
        """Complain of what the code may call to look past proxies, wherever that is kept."""
        code = frame.f_code
        where = f"{code.co_filename}:{code.co_firstlineno} ({code.co_name})"
        if module.split(".")[0] in _SEEING - {"weakref"}:
            self._complain(f"{where}: the module {module!r} {_LOOKS_PAST}")
        for name, value in self._within_reach(frame):
            if _looks_past(value):
                self._complain(f"{where}: `{name}` {_LOOKS_PAST}; use isinstance or ==")
        for name in (one for one in code.co_consts if type(one) is str and one in _PAST):
            self._complain(f"{where}: `{name}` {_LOOKS_PAST}; use an operator")

    def _within_reach(self, frame: FrameType) -> Iterator[tuple[str, Any]]:
        """Yield by name what a function is given, what it closes over, and what that and globals hold, at any depth.

        Of modules and classes it is what the function has a name for.  Nothing of the model runs for it.  `type` itself
        under its own name is examined where it is used.
        """
        code = frame.f_code
        attributes = _attributes(code)
        waiting = [one for one in frame.f_locals.items() if one[0] != "__builtins__" or one[0] in code.co_names]
        yield from waiting
        waiting += [(name, frame.f_globals[name]) for name in code.co_names if name in frame.f_globals]
        seen = {id(value) for _, value in waiting}
        for name, value in waiting:  # grows
            for inner, found in self._held(name, value, attributes):
                if id(found) not in seen:
                    seen.add(id(found))
                    waiting.append((inner, found))
                    yield inner, found

    def _held(self, name: str, value: Any, attributes: set[str]) -> list[tuple[str, Any]]:
        kind: Any = type(value)
        if _is_partless(value):
            return []
        if kind is FunctionType:
            kept = (value.__closure__ or (), value.__defaults__ or (), [*(value.__kwdefaults__ or {}).values()])
            return [(name, one) for some in kept for one in some]
        if kind is ModuleType or issubclass(kind, type):
            return [(one, inspect.getattr_static(value, one, None)) for one in attributes]
        if id(value) not in self.held:
            self.held[id(value)] = value, _ends(value)
        return [(name, one) for one in self.held[id(value)][1]]

    def _named(self, frame: FrameType, name: str, where: str) -> None:
        known = frame.f_globals.get(name, getattr(builtins, name, None))
        if isinstance(known, ModuleType) and known.__name__ in _SEEING:
            self._complain(f"{where}: the module {name!r} {_LOOKS_PAST}")
        if _looks_past(known):
            self._complain(f"{where}: `{name}` {_LOOKS_PAST}; use isinstance or ==")
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

    def _looker(self, looks: list[Look]) -> Callable[..., Any]:
        begins, ends = {look.begin: look for look in looks}, {look.end: look for look in looks}

        def looked(frame: FrameType, here: int) -> None:
            back = self._returned(frame, here)
            names = {**frame.f_locals, **back}, frame.f_globals
            if here in ends and not back and ends[here].kind == "is":
                self._compared(frame, names, ends[here])
            if here in ends and ends[here].kind == "attribute":
                self._asked(frame, names, ends[here])
            if here in begins:
                back |= self._begun(frame, names, begins[here])
            frame.f_locals.update(back)  # at last, as each look at it reads the variables anew

        def looking(frame: FrameType, event: str, argument: Any) -> Any:
            here = frame.f_lasti
            if event == "exception":
                frame.f_locals.update(self._returned(frame))
                self._saw(frame, argument)
            elif event == "opcode" and (here in ends or here in begins):
                try:
                    looked(frame, here)
                except NotLearned:
                    raise
                except Exception as error:  # the model might handle it
                    self._complain(f"{_where(frame)}: {error_text(error)} while it was watched")
                    raise
            return looking

        return looking

    def _begun(self, frame: FrameType, names: Names, look: Look) -> dict[str, Any]:
        """What is looked at is about to be loaded; return what must be lent."""
        lent = look.lent(names)
        if lent is not None:
            self.lent = frame, look.end, lent[0], names[0][lent[0]]
            return {lent[0]: lent[1]}
        if look.kind not in ("is", "attribute") and look.sees(names):
            what = _PATTERN if look.kind == "match" else f"`type` {_LOOKS_PAST}; use isinstance or =="
            self._complain(f"{_where(frame)}: {what}")
        return {}

    def _returned(self, frame: FrameType, end: int | None = None) -> dict[str, Any]:
        """What the variable held that was lent something until `end`; without one, until an exception."""
        if self.lent is None or self.lent[0] is not frame or end not in (self.lent[1], None):
            return {}
        _, _, name, value = self.lent
        self.lent = None
        return {name: value}

    def _compared(self, frame: FrameType, names: Names, look: Look) -> None:
        one, other = look.compared(names)
        if type(one) is Lazy and is_single(other):
            decide_identity(one, other, _where(frame))
        elif type(one) is Lazy or one is BLIND:
            self._complain(f"{_where(frame)}: `is` {_LOOKS_PAST}; compare with == instead")

    def _asked(self, frame: FrameType, names: Names, look: Look) -> None:
        """Complain of `type` as the class of a class, and of functions of the operator module."""
        held, name = (value_of(names, one) for one in look.operands)
        if name == "__class__":
            past = held is BLIND or issubclass(type(held), type)
        else:
            past = type(held) is ModuleType and _looks_past(vars(held).get(name))
        if past:
            self._complain(f"{_where(frame)}: `{name}` {_LOOKS_PAST}; use an operator or isinstance")

    def _saw(self, frame: FrameType, argument: Any) -> None:
        """Note an exception that passes through a frame that may handle it."""
        if issubclass(argument[0], TypeError):
            # C code refuses a proxy with TypeError; a handler would make that a wrong answer.
            self._complain(
                f"{_where(frame)}: a TypeError is handled here, and a value that is not chosen yet may be its cause"
            )


def _looks_past(value: Any) -> bool:
    """Whether something to call inspects objects without their methods."""
    kind = type(value)
    if kind is BuiltinFunctionType and str(value.__module__).split(".")[0] in _C_SEEING:
        return True
    if kind is MethodWrapperType or kind is WrapperDescriptorType:
        return value.__name__ in _PAST
    if kind is operator.attrgetter or kind is operator.methodcaller:
        made, given = value.__reduce__()
        names = given if made is kind else made.args[:1]
        names = names[:1] if kind is operator.methodcaller else names
        return not _GETTING_PAST.isdisjoint(part for name in names for part in name.split("."))
    return any(value is one for one in _LOOKS)


def _is_known(module: str) -> bool:
    return module.startswith(_OURS) or module.split(".")[0] in _TRUSTED


def _attributes(code: CodeType) -> set[str]:
    return {*code.co_names, *(one for one in code.co_consts if type(one) is str)}


def _is_partless(value: Any) -> bool:
    kind = type(value)
    return kind in _PARTLESS or (kind is BuiltinFunctionType and type(value.__self__) is ModuleType)


def _ends(value: Any) -> list[Any]:
    """What a value holds, at any depth, of functions, modules, classes and what looks past proxies."""
    ends: list[Any] = []
    waiting, seen = [value], {id(value)}
    for one in waiting:  # grows
        for part in gc.get_referents(one):
            kind: Any = type(part)
            if kind in _PARTLESS or (kind in _FLAT and _PARTLESS.issuperset(map(type, part))) or id(part) in seen:
                continue
            seen.add(id(part))
            if kind is FunctionType or kind is ModuleType or issubclass(kind, type) or _looks_past(part):
                ends.append(part)
            elif not _is_partless(part):
                waiting.append(part)
    return ends


def _where(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_lineno} ({frame.f_code.co_name})"
