"""Find the parts of a function's bytecode that make it depend on more than its arguments.

A step that draws random numbers, reads a clock or counts its own calls may show a search one model and a claim another.
Running it twice detects this only by luck, so the bytecode is read: of every function of a system or claim, and of all
that these call outside libraries and evenhand.  Caches of `functools` are allowed.
"""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import dis
import functools
import inspect
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSequence, MutableSet
from dataclasses import dataclass, field, fields, is_dataclass
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

from evenhand.core.answers import ModelError

IMPURE_MODULES = frozenset(
    {"random", "secrets", "time", "uuid", "_random", "socket", "subprocess", "threading", "asyncio"}
)
"""Modules whose results depend on more than their arguments."""

_IMPURE_ATTRIBUTES = {
    "os": {"urandom", "times", "listdir", "stat"},
    "datetime": {"now", "today", "utcnow"},
    "numpy": {"random"},
}
_IMPURE_BUILTINS = frozenset({"input", "open", "id"})
_MUTATORS = frozenset(
    {
        *("append", "extend", "insert", "remove", "pop", "popleft", "appendleft", "clear", "sort", "reverse"),
        *("add", "discard", "update", "setdefault", "popitem", "subtract", "rotate"),
        *("difference_update", "intersection_update", "symmetric_difference_update"),
    }
)
_MUTABLE = (MutableSequence, MutableSet, MutableMapping)
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_PLAIN = (int, str, bytes, float, complex, tuple, frozenset, type(None))


class _Mark:
    """A value that is known only in part."""

    def __init__(self, name: str) -> None:
        self.name = name


_UNKNOWN = _Mark("made in the call, or not known")
_LASTING = _Mark("an object that outlives the call, or a part of one")


@dataclass
class _Search:
    """The complaints so far, and the functions still to be read."""

    complaints: dict[str, None] = field(default_factory=dict[str, None])
    waiting: list[tuple[FunctionType, type | None]] = field(default_factory=list[tuple[FunctionType, "type | None"]])
    methods: list[tuple[str, FunctionType]] = field(default_factory=list[tuple[str, FunctionType]])
    mentioned: set[str] = field(default_factory=set[str])
    known: set[tuple[CodeType, type | None]] = field(default_factory=set[tuple[CodeType, "type | None"]])
    classes: set[type] = field(default_factory=set[type])

    def read(self, function: FunctionType, owner: type | None = None) -> None:
        """Read this function later; `owner` is the class of a first argument that outlives the call."""
        key = (function.__code__, owner)
        if _is_library(function):
            for cell in (function.__closure__ or ()) if _is_ours(function) else ():
                self.reach_called(_content(cell))  # evenhand wraps the user's functions
        elif key not in self.known:
            self.known.add(key)
            self.waiting.append((function, owner))

    def reach(self, value: Any) -> None:
        """Queue the code that calling or using `value` may run."""
        if isinstance(value, MethodType):
            if isinstance(value.__func__, FunctionType):
                self.read(value.__func__, None if inspect.isclass(value.__self__) else type(value.__self__))
        elif isinstance(value, functools.partial):
            for part in (cast("Any", value).func, *cast("Any", value).args):
                self.reach_called(part)
                if hasattr(type(part), "__next__"):
                    self.complaints["a functools.partial holds an iterator, which moves on with each call"] = None
        elif isinstance(value, FunctionType):
            self.read(value)
        elif isinstance(getattr(value, "__wrapped__", None), FunctionType):
            self.read(value.__wrapped__)
        elif inspect.isclass(value):
            self._class(value)
        elif value is not None and not isinstance(value, _Mark):
            if is_dataclass(value):  # such as a record of rules
                for entry in fields(value):
                    self.reach_called(getattr(value, entry.name, None))
            if isinstance(method := inspect.getattr_static(type(value), "__call__", None), FunctionType):
                self.read(method, type(value))
            self._class(type(value))

    def reach_called(self, value: Any) -> None:
        """Read `value` later if it is callable."""
        if callable(value):
            self.reach(inspect.unwrap(value))

    def _class(self, kind: type) -> None:
        if kind in self.classes or _is_home(kind.__module__):
            return
        self.classes.add(kind)
        for name, value in (entry for base in kind.__mro__[:-1] for entry in vars(base).items()):
            plain = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            if isinstance(plain, FunctionType):
                self.methods.append((name, plain))

    def next(self) -> tuple[FunctionType, type | None] | None:
        """Return the next function to read, or None; methods only if some code mentions their name."""
        if not self.waiting:
            called = [(name, one) for name, one in self.methods if name in self.mentioned or name.startswith("__")]
            self.methods = [entry for entry in self.methods if entry not in called]
            for _name, one in called:
                self.read(one)
        return self.waiting.pop() if self.waiting else None


def impurities(functions: Iterable[Any]) -> tuple[str, ...]:
    """Return a sentence for each use of chance, clocks, files or lasting variables that these functions can reach."""
    search = _Search()
    for function in functions:
        search.reach_called(function)
    while (found := search.next()) is not None:
        function, owner = found
        code = function.__code__
        outside = _outside(function, owner)
        for body in _codes(code):
            search.mentioned.update(body.co_names)
            _Reader(body, outside, frozenset(code.co_freevars), owner, search).run()
    return tuple(search.complaints)


def refuse_impure(label: str, *records: Any) -> None:
    """Raise ModelError if a function in the fields of these records (a system, its rules, claims) is impure."""
    for record in records:
        if not is_dataclass(record) or isinstance(record, type):
            continue
        for entry in fields(record):
            value = getattr(record, entry.name)
            for complaint in impurities((value,)) if callable(value) else ():
                name = getattr(record, "name", "")
                whose = f"`{entry.name}` of {type(record).__name__.lower()} {name!r}" if name else f"`{entry.name}`"
                raise ModelError(
                    f"{label}: {whose} depends on more than its arguments and may answer differently when called "
                    f"twice: {complaint}. Keep changing values in the state, and let `actions` offer what chance or a "
                    "clock would decide; for a cache use functools.cache"
                )


@dataclass(frozen=True)
class _Outside:
    """The outer values that code sees: globals, closed-over names, and locals that outlive a call."""

    names: Mapping[str, Any]
    free: Mapping[str, Any]
    kept: Mapping[str, Any]


def _outside(function: FunctionType, owner: type | None) -> _Outside:
    code = function.__code__
    free = {name: _content(cell) for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False)}
    defaults = function.__defaults__ or ()
    kept: dict[str, Any] = dict(zip(code.co_varnames[code.co_argcount - len(defaults) :], defaults, strict=False))
    kept = {name: value for name, value in {**kept, **(function.__kwdefaults__ or {})}.items() if _lasts(value)}
    if owner is not None and code.co_argcount:
        kept[code.co_varnames[0]] = _LASTING
    return _Outside(function.__globals__, free, kept)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return _UNKNOWN


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


class _Reader:
    """One pass over a piece of code, with a stack of the values as far as they are known."""

    def __init__(
        self, code: CodeType, outside: _Outside, free: frozenset[str], owner: type | None, search: _Search
    ) -> None:
        self.code, self.outside, self.free, self.owner, self.search = code, outside, free, owner, search
        self.stack: list[tuple[Any, str]] = []
        self.here: dict[str, tuple[Any, str]] = {name: (value, name) for name, value in outside.kept.items()}
        self.line = code.co_firstlineno

    def run(self) -> None:
        """Read every instruction in order."""
        for one in dis.get_instructions(self.code):
            self.line = (one.positions.lineno if one.positions else None) or self.line
            if one.is_jump_target:
                self.stack.clear()  # several paths join here
            self._read(one)

    def complain(self, what: str) -> None:
        """Record a complaint with its place."""
        file = self.code.co_filename.replace("\\", "/").rpartition("/")[2]
        self.search.complaints[f"{file}:{self.line} ({self.code.co_name}) {what}"] = None

    def _pop(self) -> tuple[Any, str]:
        return self.stack.pop() if self.stack else (_UNKNOWN, "")

    def _read(self, one: dis.Instruction) -> None:
        name, op = str(one.argval), one.opname
        if op in ("LOAD_GLOBAL", "LOAD_NAME"):
            if op == "LOAD_GLOBAL" and one.arg is not None and one.arg & 1:
                self.stack.append((_UNKNOWN, ""))  # it is about to be called
            if name in self.outside.names:
                self._from_outside(self.outside.names[name], name)
            else:
                if name in _IMPURE_BUILTINS:
                    self.complain(f"uses `{name}()`")
                self.stack.append((_UNKNOWN, name))
        elif op in ("LOAD_DEREF", "LOAD_CLASSDEREF") and name in self.outside.free:
            self._from_outside(self.outside.free[name], name)
        elif op.startswith("LOAD_FAST") and name in self.here:
            self._from_outside(*self.here[name])
        elif isinstance(one.argval, tuple) and op == "LOAD_FAST_LOAD_FAST":  # from Python 3.13 on
            self.stack += [self.here.get(str(part), (_UNKNOWN, "")) for part in cast("tuple[Any, ...]", one.argval)]
        elif op in ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW", "LOAD_CONST", "LOAD_DEREF", "LOAD_CLASSDEREF"):
            self.stack.append((_UNKNOWN, ""))
        elif op == "STORE_FAST":
            self.here[name] = self._pop()
        elif op in _ATTRIBUTES:
            self._attribute(*self._pop(), name)
            if op == "LOAD_METHOD" or (sys.version_info >= (3, 12) and one.arg is not None and one.arg & 1):
                self.stack.append((_UNKNOWN, ""))
                self.stack[-2:] = self.stack[:-3:-1]  # the object stands above its method
        elif op == "COPY" and one.arg is not None:
            self.stack.append(self.stack[-one.arg] if len(self.stack) >= one.arg else (_UNKNOWN, ""))
        elif op == "SWAP" and one.arg is not None and len(self.stack) >= one.arg:
            self.stack[-1], self.stack[-one.arg] = self.stack[-one.arg], self.stack[-1]
        elif op == "BINARY_SUBSCR":
            self._pop()
            value, written = self._pop()
            self.stack.append((_LASTING if _is_store(value) else _UNKNOWN, written))
        else:
            self._changes(op, name)
            self._effect(one)

    def _changes(self, op: str, name: str) -> None:
        """Complain of stores into outer variables or lasting objects, and of impure imports."""
        if op in ("STORE_GLOBAL", "DELETE_GLOBAL") or (op in ("STORE_DEREF", "DELETE_DEREF") and name in self.free):
            self.complain(f"changes the outer variable `{name}`")
        elif op in ("STORE_SUBSCR", "DELETE_SUBSCR") and len(self.stack) > 1 and _is_store(self.stack[-2][0]):
            self.complain(f"changes `{self.stack[-2][1]}`, which outlives the call")
        elif (
            op in ("STORE_ATTR", "DELETE_ATTR")
            and self.stack
            and self.code.co_name not in ("__init__", "__post_init__")
        ):
            value, written = self.stack[-1]
            if value is _LASTING or not (isinstance(value, (_Mark, *_PLAIN))):
                self.complain(f"changes `{written}.{name}`, which outlives the call")
        elif op == "IMPORT_NAME" and name.split(".")[0] in IMPURE_MODULES:
            self.complain(f"uses the module `{name}`")

    def _effect(self, one: dis.Instruction) -> None:
        """Apply the stack effect of any other instruction; the pushed values are unknown."""
        effect = dis.stack_effect(one.opcode, one.arg, jump=False)
        for _ in range(-effect):
            self._pop()
        self.stack += [(_UNKNOWN, "")] * effect
        if effect <= 0 and self.stack and not one.opname.startswith(("POP", "STORE", "DELETE", "RETURN", *_NO_EFFECT)):
            self.stack[-1] = (_UNKNOWN, "")

    def _from_outside(self, value: Any, written: str) -> None:
        self.stack.append((value, written))
        if isinstance(value, (_Mark, ModuleType, *_PLAIN)):
            return
        if _home(value) in IMPURE_MODULES and not _is_harmless(value):
            self.complain(f"uses `{written}`, of the module `{_home(value)}`")
        elif hasattr(type(value), "__next__"):
            self.complain(f"uses the iterator `{written}`, which moves on with each call")
        else:
            self.search.reach(value)

    def _attribute(self, value: Any, written: str, name: str) -> None:
        path = f"{written}.{name}"
        if isinstance(value, ModuleType):
            if _is_chance(value, name):
                self.complain(f"uses `{path}`")
                self.stack.append((_UNKNOWN, path))
            else:
                self._from_outside(getattr(value, name, _UNKNOWN), path)
            return
        if name in _MUTATORS and _is_store(value):
            self.complain(f"changes `{written}`, which outlives the call")
        elif _home(value) == "datetime" and name in _IMPURE_ATTRIBUTES["datetime"]:
            self.complain(f"uses `{path}`")
        kind = self.owner if value is _LASTING else None if isinstance(value, _Mark) else type(value)
        method = inspect.getattr_static(kind, name, None) if kind is not None else None
        if isinstance(method, FunctionType):
            self.search.read(method, kind)
            self.stack.append((_UNKNOWN, path))
        else:
            self.stack.append((_LASTING if _is_store(value) or _is_object(value) else _UNKNOWN, path))


_NO_EFFECT = ("CACHE", "RESUME", "PRECALL", "EXTENDED_ARG", "NOP", "COPY_FREE_VARS", "KW_NAMES", "JUMP", "MAKE_CELL")


def _is_store(value: Any) -> bool:
    """Whether a value put into `value` outlives the call."""
    return value is _LASTING or isinstance(value, _MUTABLE)


def _is_object(value: Any) -> bool:
    """Whether `value` is an object of a user's class, whose attributes outlive the call."""
    return not (isinstance(value, (_Mark, ModuleType, type, FunctionType, *_PLAIN)) or _is_home(type(value).__module__))


def _lasts(value: Any) -> bool:
    return isinstance(value, _MUTABLE) or hasattr(value, "__next__")


def _is_ours(function: FunctionType) -> bool:
    return str(function.__globals__.get("__name__", "")).split(".")[0] == "evenhand"


def _is_library(function: FunctionType) -> bool:
    home = str(function.__globals__.get("__name__", ""))
    return _is_home(home) or any(part in function.__code__.co_filename for part in ("site-packages", "dist-packages"))


def _is_home(module: str) -> bool:
    """Whether a module belongs to the standard library or to evenhand."""
    root = module.split(".")[0]
    return root == "evenhand" or (root in sys.stdlib_module_names and root != "__main__")


def _is_chance(module: ModuleType, attribute: str) -> bool:
    root = module.__name__.split(".")[0]
    if root in IMPURE_MODULES:
        return not _is_harmless(getattr(module, attribute, None))
    return attribute in _IMPURE_ATTRIBUTES.get(root, ())


def _is_harmless(value: Any) -> bool:
    """Whether a value is `random.Random` (which a step may seed from its state), an exception, or `time.sleep`."""
    if not inspect.isclass(value):
        return isinstance(value, BaseException) or value is time.sleep
    return issubclass(value, BaseException) or (value.__module__, value.__name__) == ("random", "Random")


def _home(value: Any) -> str:
    """The root module of a value, of the object it is a method of, or of its class."""
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, ModuleType):
        return str(type(owner).__module__).split(".")[0]
    home = getattr(value, "__module__", None) or type(value).__module__
    return str(home).split(".")[0]
