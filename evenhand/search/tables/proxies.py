"""Proxies of the leaves of a state: ordinary code runs on them, and what Python is made to decide is recorded.

The run is of one state, so each proxy knows its value.  An operation gives another proxy, an expression over the
columns; nothing is decided by it except that it did not raise.  Where Python wants a real answer (a truth, a hash, an
index, an element, a text), the outcome is recorded as an event: another state takes the same path if it has the same
outcomes.  Whatever a proxy cannot follow makes its value decide, so that the path is of this value alone.

A proxy is no subclass of what it stands for: C code that wants the real type asks one of the methods below or raises
TypeError.  What looks past all of them (`is`, `type`) is found in the bytecode, see `watch`.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any

from evenhand.core.answers import short
from evenhand.search.containers import SCALARS, fields_of, make_record, record_fields
from evenhand.search.tables.expressions import Expression, Expressions, plain
from evenhand.search.witness import NotLearned

Event = tuple[str, Any, Any]
"""An observation: ("decide", expression, outcome), ("yield", action, None), ("mark", continuation, None)."""

OPERATION = 3
"""What an operation on proxies costs, in calls of the model."""

_BUILTIN = SCALARS | {float, tuple, frozenset}
_len = builtins.len


class Unknown(Exception):
    """A value that is no constant and no proxy, such as a function or an iterator."""


class Identical(NotLearned):
    """A proxy was compared by `is` with its own value."""


class Run:
    """One run of the model on proxies: the values of the columns, and the events so far."""

    def __init__(self, expressions: Expressions, numbers: Sequence[int]) -> None:
        self.expressions = expressions
        self.alive = True
        self.events: list[Event] = []
        self.decided: set[int] = set()
        self.settled: set[int] = set()
        self.compared: dict[Any, tuple[Any, Any]] = {}
        self.leaves = [
            new(self, expressions.every[place], expressions.columns[place].values[number])
            for place, number in enumerate(numbers)
        ]

    def decide(self, expression: Expression, outcome: Any) -> None:
        """Record an outcome, unless this segment of the run has settled it."""
        if expression.members is not None:  # the columns of a set decide one by one
            for part in expression.args:
                self.decide(part, self.value(part))
            return
        if expression.number in self.decided or self.settled.issuperset(expression.columns):
            return
        self.decided.add(expression.number)
        if expression.run is None:
            self.settled.add(expression.number)
        self.events.append(("decide", expression, outcome))

    def mark(self, continuation: Any) -> None:
        """Begin another segment: what follows depends on the continuation and the columns alone."""
        self.expressions.spend(OPERATION)
        self.decided.clear()
        self.settled.clear()
        self.events.append(("mark", continuation, None))

    def expression(self, value: Any) -> Expression:
        """Return the expression of a value that may hold proxies.  Raises Unknown."""
        made = self.expressions.made
        kind: Any = type(value)
        if kind is Lazy:
            _same_run(self, value)
            known: Expression = EXPRESSION.__get__(value)
            return known if known.members is None else self._constant(settled(value))
        if kind is tuple:
            args = [self.expression(one) for one in value]
            if not any(arg.columns for arg in args):
                return self._constant(value)
            return made("tuple", lambda *values: values, args)
        if kind is frozenset:
            return self._constant(frozenset(map(settled_within, value)))
        if kind is set:
            return made("set", set, [self._constant(frozenset(map(settled_within, value)))])
        if kind is list:
            return made("list", lambda *values: list(values), [self.expression(one) for one in value])
        if kind is slice:
            return made("slice", slice, [self.expression(one) for one in (value.start, value.stop, value.step)])
        names = None if kind in SCALARS or issubclass(kind, Enum) else fields_of(value)
        if names is not None:
            args = [self.expression(getattr(value, name)) for name in names]
            if any(arg.columns for arg in args):
                return made(("record", kind), lambda *values: make_record(kind, values), args)
        return self._constant(value)

    def value(self, expression: Expression) -> Any:
        """Return what an expression is in this run."""
        return self.expressions.evaluated(expression, [VALUE.__get__(self.leaves[c]) for c in expression.columns])

    def _constant(self, value: Any) -> Expression:
        if not plain(value) and not isinstance(value, type):
            raise Unknown(short(value, 60))
        return self.expressions.constant(value)


class _Bare(type):
    """The class of `Lazy`: abstract base classes see none of its methods, and ask the value's class alone."""

    @property
    def __mro__(cls) -> tuple[type, ...]:
        return (object,)


class Lazy(metaclass=_Bare):
    """A value that depends on the columns."""

    __slots__ = ("_expression", "_run", "_value")

    def __getattribute__(self, name: str) -> Any:
        value = VALUE.__get__(self)
        kind: Any = type(value)
        decide_kind(self)
        if name == "__class__":
            return kind
        names = None if kind in SCALARS else record_fields(kind)
        if names is not None and name in names:
            return applied(("attribute", name), operator.attrgetter(name), (self,), total=True)
        if isinstance(value, Enum) and name in ("name", "value"):
            return applied(("attribute", name), operator.attrgetter(name), (self,), total=True)
        if kind in _BUILTIN and not name.startswith("__") and callable(getattr(kind, name, None)):
            call = operator.methodcaller

            def method(*given: Any, **named: Any) -> Any:
                names = tuple(named)

                def called(it: Any, *values: Any) -> Any:
                    place = _len(values) - _len(names)
                    return call(name, *values[:place], **dict(zip(names, values[place:], strict=True)))(it)

                return applied(("call", name, names), called, (self, *given, *named.values()))

            return method
        return getattr(settled(self), name)

    def __hash__(self) -> int:
        return hash(settled(self))

    def __eq__(self, other: object) -> Any:
        if self is other:
            return True  # values that differ from themselves are not followed
        return _compared("eq", operator.eq, self, other)

    def __ne__(self, other: object) -> Any:
        if self is other:
            return False
        return _compared("ne", operator.ne, self, other)

    def __bool__(self) -> bool:
        if EXPRESSION.__get__(self).key in ("eq", "ne"):  # a truth value in every state
            return bool(settled(self))
        return bool(settled(applied("truth", bool, (self,), total=True)))

    def __len__(self) -> int:
        return int(_asked(self, "len", _len))

    def __contains__(self, item: Any) -> bool:
        found = applied("in", operator.contains, (self, item))
        return bool(settled(found))

    def __iter__(self) -> Iterator[Any]:
        found: Iterator[Any] = iter(_elements(self))
        return found

    def __reversed__(self) -> Iterator[Any]:
        found: Iterator[Any] = reversed(_elements(self))
        return found

    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise _trouble(self, "a part of the state is pickled")

    def __sizeof__(self) -> int:
        raise _trouble(self, "the size in memory of a part of the state is read")


EXPRESSION: Any = Lazy.__dict__["_expression"]
VALUE: Any = Lazy.__dict__["_value"]
RUN: Any = Lazy.__dict__["_run"]


def new(run: Run, expression: Expression, value: Any) -> Any:
    """Return a proxy."""
    made = object.__new__(Lazy)
    EXPRESSION.__set__(made, expression)
    VALUE.__set__(made, value)
    RUN.__set__(made, run)
    return made


def is_single(value: Any) -> bool:
    """Return whether a value is the only one equal to it, so that `is` means something."""
    return type(value) is not Lazy and (value is None or type(value) is bool or isinstance(value, Enum))


def is_that(lazy: Any, single: Any) -> bool:
    """Decide whether a proxy is this single value, and return it."""
    run, found = _alive(lazy), VALUE.__get__(lazy) is single
    args = EXPRESSION.__get__(lazy), run.expressions.constant(single)
    run.decide(run.expressions.made("is", operator.is_, args), found)
    return found


def decide_identity(lazy: Any, single: Any, where: str) -> None:
    """Record that a proxy is not this single value, which is what Python finds.  Raises Identical."""
    if is_that(lazy, single):
        raise _trouble(lazy, f"{where}: `is` compares a part with its own value; compare with == instead", Identical)


def _trouble(lazy: Any, what: str, kind: type[NotLearned] = NotLearned) -> NotLearned:
    """Note what a proxy cannot do, and return the exception, which the model may swallow."""
    expressions = RUN.__get__(lazy).expressions
    expressions.trouble = expressions.trouble or what
    return kind(what)


def _alive(lazy: Any) -> Run:
    run: Run = RUN.__get__(lazy)
    if not run.alive:
        raise _trouble(lazy, "a part of a state outlived its run: something keeps what it is given")
    return run


def _same_run(run: Run, lazy: Any) -> None:
    if _alive(lazy) is not run:
        raise _trouble(lazy, "a part of a state outlived its run: something keeps what it is given")


def settled(value: Any) -> Any:
    """Return the real value, and let it decide the path."""
    if type(value) is Lazy:
        run = _alive(value)
        real = VALUE.__get__(value)
        run.decide(EXPRESSION.__get__(value), real)
        return real
    return value


def settled_within(value: Any, known: dict[int, Any] | None = None) -> Any:
    """Return a value without proxies; each that it holds decides the path.

    `known` has the parts already seen, by identity: joint actions that are kept share their choices.
    """
    kind: Any = type(value)
    if kind is Lazy:
        return settled(value)
    if kind in SCALARS or issubclass(kind, Enum):
        return value
    known = {} if known is None else known
    found = known.get(id(value))
    if found is None:
        listed = kind is tuple or kind is frozenset
        names = () if listed else fields_of(value)
        if names is None:
            return value
        parts = [*value] if listed else [getattr(value, name) for name in names]
        real = [settled_within(one, known) for one in parts]
        if all(map(operator.is_, parts, real)) and not {*getattr(value, "__dict__", ())}.difference(names):
            found = value  # what is identical is compared fast; what a record has made of proxies is not kept
        else:
            found = kind(real) if listed else make_record(kind, real)
        known[id(value)] = found
    return found


def real_within(value: Any) -> Any:
    """Return a value without proxies, for comparison; nothing is decided."""
    kind: Any = type(value)
    if kind is Lazy:
        return VALUE.__get__(value)
    if kind is tuple or kind is frozenset:
        return kind(map(real_within, value))
    if kind in SCALARS or issubclass(kind, Enum):
        return value
    names = fields_of(value)
    return value if names is None else make_record(kind, [real_within(getattr(value, name)) for name in names])


def members_of(value: Any) -> Any:
    """Return what is known of the elements of a set that has columns of its own; None of anything else."""
    return EXPRESSION.__get__(value).members if type(value) is Lazy else None


def decide_kind(lazy: Any) -> None:
    """Let the type of a proxy decide, unless its value has."""
    run = _alive(lazy)
    if members_of(lazy) is None and not run.settled.issuperset(EXPRESSION.__get__(lazy).columns):
        run.decide(run.expressions.made("type", type, (EXPRESSION.__get__(lazy),)), type(VALUE.__get__(lazy)))


def _asked(lazy: Any, name: str, act: Callable[[Any], Any]) -> Any:
    """The answer of an operation that must be real."""
    return settled(applied(name, act, (lazy,)))


def _elements(lazy: Any) -> Sequence[Any]:
    value = VALUE.__get__(lazy)
    if members_of(lazy) is not None:
        wanted: Sequence[Any] = members_of(lazy).iterated(lazy)
        return wanted
    if type(value) is tuple or (isinstance(value, tuple) and record_fields(type(value))):
        decide_kind(lazy)
        _asked(lazy, "len", _len)
        return [applied("getitem", operator.getitem, (lazy, place), total=True) for place in range(_len(value))]
    found: Sequence[Any] = tuple(settled(lazy))
    return found


def _succeeds(run: Callable[..., Any]) -> Callable[..., Any]:
    def succeeds(*values: Any) -> Any:
        try:
            run(*values)
        except Exception as error:
            return type(error)
        return True

    return succeeds


def applied(key: Any, act: Callable[..., Any], given: Sequence[Any], *, total: bool = False) -> Any:
    """The result of an operation on proxies and other values, as a proxy where it can be one.

    That the operation raises nothing decides the path as well, unless it is `total`.
    """
    run = _alive(next(one for one in given if type(one) is Lazy))
    watch = sys.gettrace()
    sys.settrace(None)  # the operation runs on real values
    try:
        divided = next((found for one in given if (found := members_of(one)) is not None), None)
        if divided is not None:
            return divided.applied(run, key, act, given)
        return _done(run, key, act, given, total=total)
    except NotLearned as error:
        run.expressions.trouble = run.expressions.trouble or str(error)
        raise
    finally:
        sys.settrace(watch)


def _compared(key: str, act: Callable[..., Any], lazy: Any, other: Any) -> Any:
    """The result of a comparison; of texts it is the same proxy as before."""
    if type(other) is not str or type(VALUE.__get__(lazy)) is not str:
        return applied(key, act, (lazy, other), total=True)
    known = _alive(lazy).compared
    found = known.get((key, id(lazy), other))
    if found is None:
        made = applied(key, act, (lazy, other), total=True)
        if type(made) is not Lazy:  # it was decided, and is anew after a mark
            return made
        found = known[key, id(lazy), other] = made, lazy  # which keeps its id
    return found[0]


def _done(run: Run, key: Any, act: Callable[..., Any], given: Sequence[Any], *, total: bool) -> Any:
    try:
        args = [run.expression(one) for one in given]
    except Unknown:
        return act(*map(settled_within, given))
    expressions = run.expressions
    expressions.spend(OPERATION)
    values = [VALUE.__get__(one) if type(one) is Lazy else run.value(arg) for one, arg in zip(given, args, strict=True)]
    found = expressions.made(key, act, args)
    sound = None if total else expressions.made(("sound", key), _succeeds(act), args)
    try:
        value = act(*values)
    except Exception as error:
        if sound is None:
            raise NotLearned(f"{key} raised {type(error).__name__}") from error
        run.decide(sound, type(error))
        raise
    if sound is not None:
        run.decide(sound, True)
    if value is NotImplemented or not plain(value):
        return act(*map(settled_within, given))
    return new(run, found, value) if found.columns else value


def _binary(name: str, *, back: bool) -> Callable[..., Any]:
    act = getattr(operator, name)
    if not back:
        return lambda self, other: applied(name, act, (self, other))
    return lambda self, other: applied(name, act, (other, self))


def _unary(name: str, act: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: applied(name, act, (self,))


def _real(act: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *more, **named: act(settled(self), *map(settled, more), **named)


for _word in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor"):
    setattr(Lazy, f"__{_word}__", _binary(f"__{_word}__", back=False))
    setattr(Lazy, f"__r{_word}__", _binary(f"__{_word}__", back=True))
for _word in ("lt", "le", "gt", "ge", "getitem"):
    setattr(Lazy, f"__{_word}__", _binary(f"__{_word}__", back=False))
for _word, _act in (("neg", operator.neg), ("pos", operator.pos), ("invert", operator.invert), ("abs", abs)):
    setattr(Lazy, f"__{_word}__", _unary(_word, _act))
_REAL: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("int", int),
    ("float", float),
    ("complex", complex),
    ("index", operator.index),
    ("str", str),
    ("repr", repr),
    ("bytes", bytes),
    ("round", round),
    ("trunc", int),
    ("divmod", divmod),
    ("rdivmod", lambda real, other: divmod(other, real)),
    ("matmul", operator.matmul),
    ("format", format),
    ("dir", dir),
    ("call", operator.call),
    ("setattr", setattr),
    ("delattr", delattr),
)
"""What has a real answer only: the value decides."""

for _word, _how in _REAL:
    setattr(Lazy, f"__{_word}__", _real(_how))
for _word in ("copy", "deepcopy"):
    setattr(Lazy, f"__{_word}__", lambda self, *_memo: self)
