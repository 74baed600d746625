"""Mutants made by rule: one change in the source of one function that the step of a system reaches.

A fault is in force while the step runs and at no other time: claims, menus and observers call the functions as they
are, though they may be the same ones.  A mutant is named by function and change (`auto:layers._write:drop_guard_2`), so
that any process can make it again.
"""

from __future__ import annotations

import ast
import functools
import gc
import inspect
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass, replace
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

from evenhand.core.lookup import named
from evenhand.core.system import AnySystem
from evenhand.variants.annotated import Annotated, typing_of
from evenhand.variants.rewriting import Change, changed, changes, code_in

PREFIX = "auto:"
"""The prefix of the variant name of an automatic mutant."""

PROTOCOLS = "evenhand.model."


@dataclass(frozen=True)
class Source:
    """One function of a model: its short name (`layers._write`), its definition, its module, and the function."""

    name: str
    definition: ast.FunctionDef
    module: ModuleType
    function: FunctionType

    @property
    def lines(self) -> range:
        """The lines of its body."""
        return range(self.definition.body[0].lineno, (self.definition.end_lineno or 0) + 1)


@dataclass(frozen=True)
class Sources:
    """The functions of the modules that a system is made of, by short name, and what their annotations say."""

    functions: Mapping[str, Source]
    types: Annotated
    caches: tuple[Any, ...]

    def changes(self, name: str) -> tuple[Change, ...]:
        """Return every change of a function."""
        return changes(self.functions[name].definition, self.types)

    def made(self, name: str, change: str) -> tuple[CodeType | None, str]:
        """Return the code of a function with one change, and the change in words.

        The code is None where the function cannot have it, because it no longer compiles or reads other outer names.
        Raises UnknownName for a change it does not have.
        """
        source = self.functions[name]
        found = named(f"change of {name}:", change, {one.name: one for one in self.changes(name)})
        definition, told = changed(source.definition, found)
        tree = ast.parse(inspect.getsource(source.module))
        _put(tree, source.definition, definition)
        try:
            whole = compile(tree, source.function.__code__.co_filename, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return None, told
        code = code_in(whole, source.function.__qualname__)
        old = source.function.__code__
        if code is None or code.co_freevars != old.co_freevars or _same(code, old):
            return None, told
        return code, told


def _same(code: CodeType, old: CodeType) -> bool:
    return (code.co_code, code.co_consts, code.co_names) == (old.co_code, old.co_consts, old.co_names)


def _put(tree: ast.Module, old: ast.FunctionDef, new: ast.FunctionDef) -> None:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for place, one in enumerate(cast("list[ast.AST]", body) if isinstance(body, list) else ()):
            if isinstance(one, ast.FunctionDef) and (one.name, one.lineno) == (old.name, old.lineno):
                cast("list[ast.AST]", body)[place] = new
                return


def sources(system: AnySystem) -> Sources:
    """Return the functions of the package of the system's step; of its module, where that is a module alone."""
    home = _home(system)
    modules = [module for name, module in sorted(sys.modules.items()) if name == home or name.startswith(f"{home}.")]
    return _sources(home, tuple(modules))


def _home(system: AnySystem) -> str:
    """The package or module that holds the step, as its author wrote it."""
    step: Any = getattr(system.step, "__plain__", system.step)
    while isinstance(step, functools.partial):
        step = step.func
    module = str(getattr(inspect.unwrap(step), "__module__", ""))
    if module.startswith(PROTOCOLS):
        return ".".join(module.split(".")[:3])
    package = str(getattr(sys.modules.get(module), "__package__", "") or "")
    return package or module


@functools.cache
def _sources(home: str, modules: tuple[ModuleType, ...]) -> Sources:
    found: dict[str, Source] = {}
    trees: list[ast.Module] = []
    for module in modules:
        try:
            tree = ast.parse(inspect.getsource(module))
        except (OSError, TypeError, SyntaxError):
            continue
        trees.append(tree)
        short = module.__name__.removeprefix(f"{home}.") if module.__name__ != home else home.rpartition(".")[2]
        for qualname, definition in _definitions(tree):
            function = _function(module, qualname)
            if function is not None and function.__code__.co_name == definition.name:
                name = f"{short}.{qualname}"
                found[name] = Source(name, definition, module, function)
    caches = [value for module in modules for value in vars(module).values() if hasattr(value, "cache_parameters")]
    return Sources(found, typing_of(trees), tuple({id(one): one for one in caches}.values()))


def _definitions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module and the methods of its classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from ((f"{node.name}.{one.name}", one) for one in node.body if isinstance(one, ast.FunctionDef))


def _function(module: ModuleType, qualname: str) -> FunctionType | None:
    """The plain function under its decorators."""
    found: Any = module
    for part in qualname.split("."):
        found = cast("Any", getattr(found, "__dict__", {}).get(part))
    for name in ("fget", "func", "__func__"):  # of a property, a cached one, a static or class method
        found = cast("Any", getattr(found, name, None)) or found
    found = inspect.unwrap(found) if callable(found) else found
    if type(found) is not FunctionType:
        return None
    return found if (found.__module__, found.__qualname__) == (module.__name__, qualname) else None


def mutated(system: AnySystem, variant: str, held: Held | None = None) -> AnySystem:
    """Return the system with the fault that `variant` names.  Raises UnknownName for a function or change it lacks.

    `held` is where the caches of its sources are held, if that was found before: it takes a look at every object.
    """
    name, _, change = variant.removeprefix(PREFIX).rpartition(":")
    known = sources(system)
    function = named("function", name, known.functions).function
    code, told = known.made(name, change)
    if code is None:
        raise ValueError(f"{variant} changes nothing that runs: {told}")
    fault = Fault(cast("Any", function), code, held or Held(known.caches))
    return in_force(system, fault, variant)


def in_force(system: AnySystem, fault: Any, variant: str) -> AnySystem:
    """Return the system whose step runs inside the context manager `fault`."""

    def step(*arguments: Any) -> Any:
        with fault:
            return system.step(*arguments)

    return replace(system, step=step, separated=None, variant=variant)


class Held:
    """The places that hold cached functions."""

    def __init__(self, caches: Sequence[Any]) -> None:
        self.places: list[tuple[dict[Any, Any], Any, Any]] = []
        known = {id(cache) for cache in caches}
        for holder in gc.get_referrers(*caches) if caches else ():
            held: Any = vars(holder) if is_dataclass(holder) and not isinstance(holder, type) else holder
            if isinstance(held, dict):
                found = cast("dict[Any, Any]", held)
                self.places += [(found, name, value) for name, value in found.items() if id(value) in known]

    def instead(self, other: Callable[[Any], Any]) -> Callable[[bool], None]:
        """Return what puts `other` of each cache in its places, one for all of them, or the usual ones back."""
        others = {id(cache): other(cache) for _, _, cache in self.places}
        bound = [(held, name, cache, others[id(cache)]) for held, name, cache in self.places]

        def swap(fresh: bool) -> None:
            for held, name, usual, new in bound:
                held[name] = new if fresh else usual

        return swap


class Fault:
    """While entered, a function has other code, and caches are ones of the fault's own."""

    def __init__(self, function: FunctionType, code: CodeType, held: Held) -> None:
        self.function, self.code = function, code
        self.swap = held.instead(_emptied)
        self.saved: list[CodeType] = []

    def __enter__(self) -> None:
        self.saved.append(self.function.__code__)
        if len(self.saved) == 1:
            self.swap(True)
        self.function.__code__ = self.code

    def __exit__(self, *_error: object) -> None:
        self.function.__code__ = self.saved.pop()
        if not self.saved:
            self.swap(False)


def _emptied(cache: Any) -> Any:
    """The same cached function, which knows no answer yet."""
    return functools.lru_cache(cache.cache_parameters()["maxsize"])(cache.__wrapped__)


class Trace:
    """Which functions of a system's modules a step calls, and which lines of them have run so far."""

    def __init__(self, known: Sources) -> None:
        self.names = {one.function.__code__: name for name, one in known.functions.items()}
        self.swap = Held(known.caches).instead(lambda cache: cache.__wrapped__)
        self.lines: dict[str, set[int]] = {}
        self.called: set[str] = set()

    @contextmanager
    def running(self) -> Generator[set[str]]:
        """Trace what runs inside; yields the set that then holds the functions called."""
        self.called = set()
        self.swap(True)
        before = sys.gettrace()
        sys.settrace(self._call)
        try:
            yield self.called
        finally:
            sys.settrace(before)
            self.swap(False)

    def _call(self, frame: Any, _event: str, _given: Any) -> Any:
        name = self.names.get(frame.f_code)
        if name is None:
            return None
        self.called.add(name)
        seen = self.lines.setdefault(name, set())

        def line(inner: Any, _event: str, _given: Any) -> Any:
            seen.add(inner.f_lineno)
            return line

        return line
