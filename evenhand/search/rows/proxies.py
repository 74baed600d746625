"""Proxies of values not yet chosen: ordinary code runs on them, and the run forks where it first depends on one.

A proxy stands for one of several values.  Every operation on it is applied to all of them: if the answers agree, that
is the result, else the run is called off with `Branch` and repeated for each group of values that answer alike.  Fields
that a run never reads stay open, so one run stands for many states.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NoReturn, TypeAlias, TypeVar, cast

from evenhand.core.answers import Signal

T = TypeVar("T")

Narrowed: TypeAlias = tuple[tuple[int, ...], ...]
"""The numbers of the values that each field may still have."""

_ALIKE = (bool, int, str, bytes, type(None), type)
"""Types whose equal values cannot be told apart; values of other types count as equal only if identical."""


class Branch(Signal):
    """A run reads a field: split its values into these groups.  A BaseException: no `except Exception` hides it."""

    def __init__(self, field: int, groups: Sequence[tuple[int, ...]]) -> None:
        super().__init__(field)
        self.field = field
        self.groups = groups


class TooWide(Exception):
    """The paths exceed the limit."""


class Choices:
    """The data that the proxies of one run share; `signalled` says that a `Branch` was raised."""

    def __init__(self, domains: Sequence[tuple[Hashable, ...]], narrowed: Narrowed) -> None:
        self.signalled = False
        self.made: list[Any] = [
            domain[numbers[0]] if len(numbers) == 1 else _new(self, field, domain, numbers)
            for field, (domain, numbers) in enumerate(zip(domains, narrowed, strict=True))
        ]


class Proxy:
    """One of several values; every operation on it is applied to all of them."""

    __slots__ = ("_choices", "_domain", "_field", "_numbers")

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return _asked(self, type)
        return _asked(self, lambda value: getattr(value, name))

    def __setattr__(self, name: str, value: Any) -> None:
        demand(self)

    def __delattr__(self, name: str) -> None:
        demand(self)

    def __hash__(self) -> int:
        demand(self)

    def __eq__(self, other: object) -> Any:
        return True if other is self else _asked(self, lambda value: value == other)

    def __ne__(self, other: object) -> Any:
        return False if other is self else _asked(self, lambda value: value != other)

    def __bool__(self) -> bool:
        return bool(_asked(self, bool))

    def __len__(self) -> int:
        return int(_asked(self, len))

    def __iter__(self) -> Iterator[Any]:
        demand(self)

    def __str__(self) -> str:
        return str(_asked(self, str))

    def __repr__(self) -> str:
        return str(_asked(self, repr))

    def __format__(self, how: str) -> str:
        return str(_asked(self, lambda value: format(value, how)))

    def __divmod__(self, other: Any) -> Any:
        return _asked(self, lambda value: divmod(value, other))

    def __rdivmod__(self, other: Any) -> Any:
        return _asked(self, lambda value: divmod(other, value))

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Call each value."""
        return _asked(self, lambda value: value(*given, **named))


_CHOICES, _DOMAIN, _FIELD, _NUMBERS = (Proxy.__dict__[name] for name in ("_choices", "_domain", "_field", "_numbers"))


def _new(choices: Choices, field: int, domain: tuple[Hashable, ...], numbers: tuple[int, ...]) -> Proxy:
    made = object.__new__(Proxy)
    for slot, value in ((_CHOICES, choices), (_DOMAIN, domain), (_FIELD, field), (_NUMBERS, numbers)):
        slot.__set__(made, value)
    return made


def field_of(proxy: Proxy) -> int:
    """Return the number of the field that a proxy stands for."""
    found: int = _FIELD.__get__(proxy)
    return found


def demand(proxy: Proxy) -> NoReturn:
    """Call the run off, to repeat it with each value by itself."""
    _call_off(proxy, [(number,) for number in _NUMBERS.__get__(proxy)])


def _call_off(proxy: Proxy, groups: Sequence[tuple[int, ...]]) -> NoReturn:
    _CHOICES.__get__(proxy).signalled = True
    raise Branch(_FIELD.__get__(proxy), groups)


def _asked(proxy: Proxy, look: Callable[[Any], Any]) -> Any:
    """The common answer of all values; without one, the run is called off."""
    domain, numbers = _DOMAIN.__get__(proxy), _NUMBERS.__get__(proxy)
    groups: dict[Hashable, list[int]] = {}
    answer: Any = None
    alive: list[Any] = []  # keeps the answers alive, because ids are compared
    for number in numbers:
        try:
            answer = look(domain[number])
        except Exception:
            demand(proxy)
        kind = cast("type[Any]", type(answer))
        groups.setdefault((kind, answer) if kind in _ALIKE else id(answer), []).append(number)
        alive.append(answer)
    if len(groups) == 1:
        return answer
    _call_off(proxy, [tuple(group) for group in groups.values()])


def _binary(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    act = getattr(operator, name)

    def forth(self: Proxy, other: Any) -> Any:
        return _asked(self, lambda value: act(value, other))

    def back(self: Proxy, other: Any) -> Any:
        return _asked(self, lambda value: act(other, value))

    return forth, back


def _unary(act: Callable[[Any], Any]) -> Callable[[Proxy], Any]:
    return lambda self: _asked(self, act)


for _word in (
    "add",
    "sub",
    "mul",
    "matmul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "lshift",
    "rshift",
    "and",
    "or",
    "xor",
):
    _forth, _back = _binary(f"__{_word}__")
    setattr(Proxy, f"__{_word}__", _forth)
    setattr(Proxy, f"__r{_word}__", _back)
for _word in ("lt", "le", "gt", "ge", "contains", "getitem"):
    setattr(Proxy, f"__{_word}__", _binary(f"__{_word}__")[0])
for _word, _act in (
    ("neg", operator.neg),
    ("pos", operator.pos),
    ("invert", operator.invert),
    ("abs", abs),
    ("int", int),
    ("float", float),
    ("complex", complex),
    ("index", operator.index),
    ("round", round),
):
    setattr(Proxy, f"__{_word}__", _unary(_act))


def branched(narrowed: Narrowed, branch: Branch) -> Iterator[Narrowed]:
    """Yield the parts that a branch splits a run into, in the order of their first values."""
    for group in sorted(branch.groups):
        yield (*narrowed[: branch.field], group, *narrowed[branch.field + 1 :])


def paths(
    run: Callable[[Choices], T],
    domains: Sequence[tuple[Hashable, ...]],
    start: Narrowed,
    spent: Callable[[], None],
    swallowed: Callable[[Choices], None],
    final: tuple[type[Exception], ...] = (),
) -> Iterator[tuple[Narrowed, T | Exception]]:
    """Yield every path of `run` from the values of `start`: the values that take it, and its result or exception.

    The parts are disjoint and cover `start`.  An exception counts only when nothing is open any more, because the
    proxies may be its cause, unless it is one of `final`.  `spent` is called before each run, `swallowed` after a run
    that went on although it had been called off.
    """
    waiting = [start]
    while waiting:
        narrowed = waiting.pop()
        choices = Choices(domains, narrowed)
        spent()
        result: T | Exception
        try:
            result = run(choices)
        except Branch as branch:
            waiting.extend(reversed(list(branched(narrowed, branch))))
            continue
        except Exception as error:
            if choices.signalled:
                swallowed(choices)
            field = next((field for field, numbers in enumerate(narrowed) if len(numbers) > 1), None)
            if field is not None and not isinstance(error, final):
                split = Branch(field, [(number,) for number in narrowed[field]])
                waiting.extend(reversed(list(branched(narrowed, split))))
                continue
            result = error
        else:
            if choices.signalled:
                swallowed(choices)
        finally:
            choices.made = []  # breaks the cycle of proxies and run: the garbage collector is off while compiling
        yield narrowed, result
