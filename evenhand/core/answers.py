"""Functions that a user hands in, and what may come back from them.

A claim asks questions of functions that it did not write, and Python takes nearly everything for true: a generator
(a forgotten `all(…)`), a coroutine, a lambda, `NotImplemented`.  So a question takes `True` or `False` (numpy's too)
and nothing else, and a value that is compared must be one that can be compared.  Whatever else comes back, and
whatever is raised, becomes one `ModelError` that names the function and where it was asked.
"""

# Values of any type come here: pyright calls what `isinstance` leaves of them partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import functools
import inspect
import itertools
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any, Literal, TypeVar, cast

__all__ = [
    "MOST",
    "Gives",
    "ModelError",
    "UserFunction",
    "called",
    "caught",
    "checked_call",
    "error_text",
    "kind_of",
    "known_names",
    "located",
    "naming",
    "short",
    "whole_number",
]

F = TypeVar("F", bound=Callable[..., Any])

Gives = Literal["answer", "value", "values"]
"""What a function gives: True or False, one value that is compared, or an iterable of values."""


class ModelError(Exception):
    """A model or a claim that breaks its contract: names the culprit, the cause and what to write instead."""


def located(context: str, error: ModelError) -> ModelError:
    """The same error under `context` (`system 'lock', claim 'safe'`), unless it names the system already."""
    if str(error).startswith(context.partition(",")[0]):
        return error
    made = ModelError(f"{context}: {error}")
    made.__cause__ = error.__cause__
    return made


@contextmanager
def naming(context: str) -> Generator[None]:
    """Say of every ModelError that is raised inside what it is about."""
    try:
        yield
    except ModelError as error:
        placed = located(context, error)
        if placed is error:
            raise
        raise placed from error.__cause__


def short(value: Any, most: int = 160) -> str:
    """`repr(value)` on one line, cut where it is long; whatever `repr` raises is part of the text."""
    try:
        text = " ".join(repr(value).split())
    except Exception as error:
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= most else f"{text[: most - 1]}…"


def kind_of(value: Any) -> str:
    """The name of the type of `value`, for messages."""
    return str(type(value).__name__)


def whole_number(name: str, value: Any, least: int | None = None) -> None:
    """Refuse what is no whole number (True is none), or one below `least`.  Raises TypeError or ValueError."""
    if type(value) is not int:
        raise TypeError(f"{name} must be a whole number, not {short(value)} ({kind_of(value)})")
    if least is not None and value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")


def known_names(function: str, given: Mapping[str, Any], options: type) -> None:
    """Refuse an argument by a name that `options` (a TypedDict) lacks.  Raises TypeError, as Python does."""
    for name in given.keys() - options.__annotations__.keys():
        near = get_close_matches(name, options.__annotations__, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{meant}")


def called(function: Callable[..., Any], role: str = "") -> str:
    """How messages name a function: its role, its name, and file and line where it has them."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    name = f"`{getattr(function, '__name__', type(function).__name__)}`"
    place = "" if code is None else f"{PurePath(code.co_filename).name}:{code.co_firstlineno}"
    if role and role != name:
        return f"{role} ({', '.join(filter(None, (name, place)))})"
    return f"{name} ({place})" if place else name


@dataclass(frozen=True)
class UserFunction:
    """A function that is asked something: its role (`when`, say; empty: it speaks for itself), what it takes."""

    function: Callable[..., Any]
    role: str
    takes: tuple[str, ...]

    def at(self, given: tuple[Any, ...]) -> str:
        """The function and where it was asked: a step by its action and state; no configuration of None."""
        parts: list[str] = []
        for name, value in zip(self.takes, given, strict=False):
            if name in ("step", "first", "second", "other") and hasattr(value, "before"):
                action = getattr(value, "action", None)
                parts.append(f"the step of action {short(action, 80)} in state {short(value.before)}")
            elif value is not None:
                parts.append(f"{name} {short(value)}")
        return f"{called(self.function, self.role)}{' on ' if parts else ''}{', '.join(parts)}"

    def failed(self, error: BaseException, given: tuple[Any, ...]) -> BaseException:
        """What to raise where the function raised."""
        if isinstance(error, ModelError | MemoryError):
            return error
        return ModelError(f"{self.at(given)} raised {error_text(error)}")


def checked_call(function: F, gives: Gives, takes: tuple[str, ...], role: str = "") -> F:
    """`function` with its answers looked at; `takes` names its arguments (`step`, `config`, `state`, …).

    The same function in the same role gives the same wrapper, so that what several claims share can be asked once.
    Raises TypeError for what is no function, and for one that is a generator or coroutine, or takes other arguments.
    """
    if not callable(function):
        what = f"{short(function)} ({type(function).__name__})"
        raise TypeError(f"{role}{': ' if role else ''}{what} is no function; it is called as f({', '.join(takes)})")
    # Both marks name their owner: `functools.wraps` copies the attributes of one function to another.
    if getattr(function, "__asked__", None) is function:
        return function
    key = (gives, takes, role)
    kept: tuple[Any, dict[Any, Any]] = getattr(function, "__checked__", (None, {}))
    owner, known = kept
    if owner is function and key in known:
        return cast("F", known[key])
    _takes(function, takes, role)
    if gives != "values" and (reason := _never_an_answer(function)):
        raise TypeError(f"{called(function, role)} {reason}")
    made = _WRAPPERS[gives](function, UserFunction(function, role, takes))
    functools.update_wrapper(made, function, updated=())
    made.__asked__ = made
    if inspect.isfunction(function):
        cast("Any", function).__checked__ = (function, {**(known if owner is function else {}), key: made})
    return cast("F", made)


def error_text(error: BaseException) -> str:
    """An exception on one line: its type, and what it says where that can be shown."""
    try:
        what = " ".join(str(error).split())[:200]
    except Exception:
        what = "its text cannot be shown"
    return f"{type(error).__name__}{': ' * bool(what)}{what}"


def caught() -> tuple[type[BaseException], ...]:
    """What a function may raise that is its own affair: exceptions, and what would end the program or the test."""
    outcomes = getattr(sys.modules.get("_pytest.outcomes"), "OutcomeException", None)
    cancelled = getattr(sys.modules.get("asyncio"), "CancelledError", None)
    return (Exception, SystemExit, *(kind for kind in (outcomes, cancelled) if kind is not None))


def _slip(got: Any) -> str:
    """What came back instead of True or False, and the likely slip, as the end of a sentence."""
    kind = type(got).__name__
    if got is None:
        return "returned None, neither True nor False; is a `return` missing?"
    if inspect.isgenerator(got):
        return "returned a generator, neither True nor False; is an `all(…)` or `any(…)` missing around it?"
    if isinstance(got, Iterator):
        return f"returned an iterator ({kind}), neither True nor False; is an `all(…)` or `any(…)` missing around it?"
    if inspect.iscoroutine(got):
        return "returned a coroutine, neither True nor False; write `def` in place of `async def`"
    if got is NotImplemented:
        return "returned NotImplemented, neither True nor False; compare values that can be compared"
    if callable(got):
        return f"returned a function or class ({short(got, 60)}), neither True nor False; is a call `(…)` missing?"
    return f"returned {short(got, 80)} ({kind}), neither True nor False; write a comparison, or bool(…)"


def _never_an_answer(function: Callable[..., Any]) -> str:
    if inspect.iscoroutinefunction(function):
        return "is a coroutine function, whose result is no answer; write `def` in place of `async def`"
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        return "has a `yield`, so that its result is a generator and no answer; write `return`"
    return ""


def _takes(function: Callable[..., Any], takes: tuple[str, ...], role: str) -> None:
    try:
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):  # some built-in functions have none
        return
    wanted = f"({', '.join(takes)})"
    try:
        signature.bind(*takes)
    except TypeError as error:
        mine = f"{called(function, role)} takes {signature}"
        raise TypeError(f"{mine}, but it is called with {wanted}: {error}") from None
    names = tuple(signature.parameters)[: len(takes)]
    exchanged = set(names) == set(takes) and names != takes
    if exchanged or (takes == ("step",) and names == ("state",)):
        mine = f"{called(function, role)} takes {signature}"
        raise TypeError(f"{mine}, but it is called with {wanted}, by place; name its arguments so")


def _settled(one: UserFunction, got: Any, given: tuple[Any, ...]) -> bool:
    """The answer in what is not plainly True or False: a bool of numpy's, or a symbolic one."""
    if isinstance(got, bool):
        return bool(got)
    if type(got).__module__ == "numpy" and type(got).__name__ in ("bool", "bool_"):
        return bool(got)
    if inspect.iscoroutine(got):
        got.close()  # or Python warns of it later
    raise ModelError(f"{one.at(given)} {_slip(got)}")


def _answering(function: Callable[..., Any], checked_call: UserFunction) -> Any:
    # One closure per arity: these run for every state and step, and `*args` costs as much as many a predicate.
    if len(checked_call.takes) == 1:

        def about_one(one: Any) -> bool:
            try:
                got = function(one)
            except caught() as error:
                raise checked_call.failed(error, (one,)) from error
            return got if got is True or got is False else _settled(checked_call, got, (one,))

        return about_one
    if len(checked_call.takes) == 2:

        def about_two(one: Any, two: Any) -> bool:
            try:
                got = function(one, two)
            except caught() as error:
                raise checked_call.failed(error, (one, two)) from error
            return got if got is True or got is False else _settled(checked_call, got, (one, two))

        return about_two

    def about_all(*given: Any) -> bool:
        try:
            got = function(*given)
        except caught() as error:
            raise checked_call.failed(error, given) from error
        return got if got is True or got is False else _settled(checked_call, got, given)

    return about_all


def _valuing(function: Callable[..., Any], checked_call: UserFunction) -> Any:
    def value_of(*given: Any) -> Any:
        try:
            got = function(*given)
        except caught() as error:
            raise checked_call.failed(error, given) from error
        if type(got) not in _ATOMS:
            _comparable(checked_call, got, given)
        return got

    return value_of


_ATOMS = frozenset({bool, int, str, bytes, type(None)})


def _comparable(checked_call: UserFunction, got: Any, given: tuple[Any, ...]) -> None:
    """Refuse a value that is equal to nothing but itself: each call gives another, and nothing is ever compared."""
    parts: tuple[Any, ...] = (got, *got) if type(got) is tuple else (got,)  # pyright: ignore[reportUnknownVariableType]
    for part in parts:
        bad = inspect.iscoroutine(part) or isinstance(part, Iterator) or part is NotImplemented
        if bad or (inspect.isroutine(part) and not inspect.isclass(part)):
            if inspect.iscoroutine(part):
                part.close()
            raise ModelError(
                f"{checked_call.at(given)} returned {short(part, 80)} ({kind_of(part)}), which is equal to nothing but "
                "itself, so that no two values can be compared; return a tuple, a number or a text"
            )
    try:
        hash(got)
    except Exception as error:
        raise ModelError(
            f"{checked_call.at(given)} returned {short(got, 80)}, which cannot be hashed ({error_text(error)}); "
            "return tuples, frozensets or frozen dataclasses"
        ) from None


MOST = 100_000
"""Values that a function may list for one state or step before the list is taken for endless."""


def _listing(function: Callable[..., Any], checked_call: UserFunction) -> Any:
    def all_of(*given: Any) -> Any:
        try:
            got = function(*given)
        except caught() as error:
            raise checked_call.failed(error, given) from error
        if isinstance(got, str | bytes) or not hasattr(got, "__iter__"):
            missing = "; is a `return` missing?" if got is None else "; return a list or yield them"
            what = f"{short(got, 80)} ({type(got).__name__})"
            raise ModelError(f"{checked_call.at(given)} returned {what}, which is no list of values{missing}")
        made = _guarded(checked_call, got, given)
        return tuple(made) if isinstance(got, tuple | list) else made

    return all_of


def _guarded(checked_call: UserFunction, values: Any, given: tuple[Any, ...]) -> Iterator[Any]:
    members = iter(values)
    for count in itertools.count():
        try:
            member = next(members)
        except StopIteration:
            return
        except caught() as error:
            raise checked_call.failed(error, given) from error
        if count >= MOST:
            raise ModelError(
                f"{checked_call.at(given)} lists more than {MOST:,} values and may have no end; list a few"
            )
        if checked_call.role.startswith("`pairs`") and not (
            isinstance(member, tuple | list) and len(cast("tuple[Any, ...]", member)) == 2
        ):
            raise ModelError(f"{checked_call.at(given)} lists {short(member, 80)}, which is no pair of actions")
        yield member


_WRAPPERS: dict[Gives, Callable[[Callable[..., Any], UserFunction], Any]] = {
    "answer": _answering,
    "value": _valuing,
    "values": _listing,
}
