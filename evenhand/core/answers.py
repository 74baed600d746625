"""Call functions that a user passes in, and check their results.

A predicate may return only `True` or `False` (numpy's too), because Python takes nearly everything for true: a
generator (a forgotten `all(…)`), a coroutine, a lambda, `NotImplemented`.  A compared value must be comparable.
Anything else, and any exception, becomes one `ModelError` that names the function and its arguments.
"""

# Values have any type here: pyright calls the types that `isinstance` leaves partially unknown.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any, Literal, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

Gives = Literal["answer", "value", "values"]
"""What a function returns: True or False, one value that is compared, or an iterable of values."""


class ModelError(Exception):
    """A breach of contract by a model or a claim; names the culprit, the cause and the correction.

    `claims` are those of which one was evaluated; empty if none was.
    """

    claims: tuple[str, ...] = ()


def located(context: str, error: ModelError, *claims: str) -> ModelError:
    """Return the error under `context` (`system 'lock', claim 'safe'`), unless it names the system already."""
    if str(error).startswith(context.partition(",")[0]):
        return error
    made = ModelError(f"{context}: {error}")
    made.__cause__ = error.__cause__
    made.claims = claims
    return made


@contextmanager
def naming(context: str, *claims: str) -> Generator[None]:
    """Put every ModelError that is raised inside under `context`, and tell which claims were evaluated."""
    try:
        yield
    except ModelError as error:
        placed = located(context, error, *claims)
        if placed is error:
            raise
        raise placed from error.__cause__


def short(value: Any, most: int = 160) -> str:
    """Return `repr(value)` on one line, cut after `most` characters; names the error if `repr` raises."""
    try:
        text = " ".join(repr(value).split())
    except Exception as error:
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= most else f"{text[: most - 1]}…"


def kind_of(value: Any) -> str:
    """Return the name of the type of `value`, for messages."""
    return str(type(value).__name__)


def whole_number(name: str, value: Any, least: int | None = None) -> None:
    """Refuse all but integers (bool excluded) of at least `least`.  Raises TypeError or ValueError."""
    if type(value) is not int:
        raise TypeError(f"{name} must be a whole number, not {short(value)} ({kind_of(value)})")
    if least is not None and value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")


def known_names(function: str, given: Mapping[str, Any], options: type) -> None:
    """Refuse an argument name that `options` (a TypedDict) lacks.  Raises TypeError, as Python does."""
    for name in given.keys() - options.__annotations__.keys():
        near = get_close_matches(name, options.__annotations__, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{meant}")


def called(function: Callable[..., Any], role: str = "") -> str:
    """Return how messages name a function: its role, its name, and file and line if it has them."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    name = f"`{getattr(function, '__name__', type(function).__name__)}`"
    place = "" if code is None else f"{PurePath(code.co_filename).name}:{code.co_firstlineno}"
    if role and role != name:
        return f"{role} ({', '.join(filter(None, (name, place)))})"
    return f"{name} ({place})" if place else name


@dataclass(frozen=True)
class UserFunction:
    """A user's function, its role (such as `when`; empty: its name suffices) and its argument names."""

    function: Callable[..., Any]
    role: str
    takes: tuple[str, ...]

    def at(self, given: tuple[Any, ...]) -> str:
        """Return the function and its arguments in words: a step by action and state; None is left out."""
        parts: list[str] = []
        for name, value in zip(self.takes, given, strict=False):
            if name in ("step", "first", "second", "other") and hasattr(value, "before"):
                action = getattr(value, "action", None)
                parts.append(f"the step of action {short(action, 80)} in state {short(value.before)}")
            elif value is not None:
                parts.append(f"{name} {short(value)}")
        return f"{called(self.function, self.role)}{' on ' if parts else ''}{', '.join(parts)}"

    def failed(self, error: BaseException, given: tuple[Any, ...]) -> BaseException:
        """Return the exception to raise where the function raised `error`."""
        if isinstance(error, ModelError | MemoryError):
            return error
        return ModelError(f"{self.at(given)} raised {error_text(error)}")


def checked_call(function: F, gives: Gives, takes: tuple[str, ...], role: str = "") -> F:
    """Return `function` with its results checked; `takes` names its arguments (`step`, `config`, `state`, …).

    The same function in the same role gives the same wrapper, so that claims can share one evaluation.  Raises
    TypeError for a value that is no function, for a coroutine or generator function (except one that gives values), and
    for one that takes other arguments.
    """
    # Both marks name their owner: `functools.wraps` copies the attributes of one function to another.
    if getattr(function, "__asked__", None) is function:
        return function
    key = (gives, takes, role)
    kept: tuple[Any, dict[Any, Any]] = getattr(function, "__checked__", (None, {}))
    owner, known = kept
    if owner is function and key in known:
        return cast("F", known[key])
    refuse_arguments(function, takes, role)
    if gives != "values" and (reason := _never_an_answer(function)):
        raise TypeError(f"{called(function, role)} {reason}")
    made = _WRAPPERS[gives](function, UserFunction(function, role, takes))
    functools.update_wrapper(made, function, updated=())
    made.__asked__ = made
    if inspect.isfunction(function):
        cast("Any", function).__checked__ = (function, {**(known if owner is function else {}), key: made})
    return cast("F", made)


def unchecked(function: Any) -> Any:
    """Return the function below the check of its results; any other function as it is."""
    return getattr(function, "__wrapped__", function) if getattr(function, "__asked__", None) is function else function


def error_text(error: BaseException) -> str:
    """Return an exception on one line: its type, and its message if that can be shown."""
    try:
        what = " ".join(str(error).split())[:200]
    except Exception:
        what = "its text cannot be shown"
    return f"{type(error).__name__}{': ' * bool(what)}{what}"


class Signal(BaseException):
    """What an engine raises through a function of the user's to learn what it reads; every wrapper lets it pass."""


def caught() -> tuple[type[BaseException], ...]:
    """Return the exception types counted as a function's own, with those that end the program or the test."""
    outcomes = getattr(sys.modules.get("_pytest.outcomes"), "OutcomeException", None)
    cancelled = getattr(sys.modules.get("asyncio"), "CancelledError", None)
    return (Exception, SystemExit, *(kind for kind in (outcomes, cancelled) if kind is not None))


def _slip(got: Any) -> str:
    """The wrong result and the likely mistake, as the end of a sentence."""
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


def refuse_arguments(function: Callable[..., Any], takes: tuple[str, ...], role: str) -> None:
    """Raise TypeError for a value that is no function, or one that takes other arguments."""
    if not callable(function):
        what = f"{short(function)} ({type(function).__name__})"
        raise TypeError(f"{role}{': ' if role else ''}{what} is no function; it is called as f({', '.join(takes)})")
    try:
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):  # some built-in functions have none
        return
    wanted = f"({', '.join(takes)})"
    try:
        signature.bind(*takes)
    except TypeError as error:
        mine = f"{called(function, role)} takes {signature}"
        mend = "; write step.config for the config" if takes == ("step",) and "config" in signature.parameters else ""
        raise TypeError(f"{mine}, but it is called with {wanted}: {error}{mend}") from None
    names = tuple(signature.parameters)[: len(takes)]
    exchanged = set(names) == set(takes) and names != takes
    if exchanged or (takes == ("step",) and names == ("state",)):
        mine = f"{called(function, role)} takes {signature}"
        raise TypeError(f"{mine}, but it is called with {wanted}, by place; name its arguments so")


def _settled(one: UserFunction, got: Any, given: tuple[Any, ...]) -> bool:
    """The answer of a numpy bool or a symbolic one.  Raises ModelError for anything else."""
    if isinstance(got, bool):
        return bool(got)
    if type(got).__module__ == "numpy" and type(got).__name__ in ("bool", "bool_"):
        return bool(got)
    if inspect.iscoroutine(got):
        got.close()  # else Python warns of it later
    raise ModelError(f"{one.at(given)} {_slip(got)}")


def _answering(function: Callable[..., Any], user: UserFunction) -> Any:
    # One closure per arity: these run for every state and step, and `*args` can cost as much as the predicate.
    if len(user.takes) == 1:

        def about_one(one: Any) -> bool:
            try:
                got = function(one)
            except Signal:
                raise
            except caught() as error:
                raise user.failed(error, (one,)) from error
            return got if got is True or got is False else _settled(user, got, (one,))

        return about_one
    if len(user.takes) == 2:

        def about_two(one: Any, two: Any) -> bool:
            try:
                got = function(one, two)
            except Signal:
                raise
            except caught() as error:
                raise user.failed(error, (one, two)) from error
            return got if got is True or got is False else _settled(user, got, (one, two))

        return about_two

    def about_all(*given: Any) -> bool:
        try:
            got = function(*given)
        except Signal:
            raise
        except caught() as error:
            raise user.failed(error, given) from error
        return got if got is True or got is False else _settled(user, got, given)

    return about_all


def _valuing(function: Callable[..., Any], user: UserFunction) -> Any:
    def value_of(*given: Any) -> Any:
        try:
            got = function(*given)
        except Signal:
            raise
        except caught() as error:
            raise user.failed(error, given) from error
        if type(got) not in _ATOMS:
            _comparable(user, got, given)
        return got

    return value_of


_ATOMS: frozenset[type] = frozenset({bool, int, str, bytes, type(None)})
_COMPARABLE: set[type] = set(_ATOMS)
"""Types whose values were found comparable: it depends on the type alone, and asking takes long."""


def _comparable(user: UserFunction, got: Any, given: tuple[Any, ...]) -> None:
    """Refuse a value that is equal only to itself: two results would never be equal."""
    parts: tuple[Any, ...] = got if type(got) is tuple else (got,)  # pyright: ignore[reportUnknownVariableType]
    unknown = () if _COMPARABLE.issuperset(map(type, parts)) else parts
    for part in unknown:
        if type(part) in _COMPARABLE:
            continue
        bad = inspect.iscoroutine(part) or isinstance(part, Iterator) or part is NotImplemented
        if bad or (inspect.isroutine(part) and not inspect.isclass(part)):
            if inspect.iscoroutine(part):
                part.close()
            raise ModelError(
                f"{user.at(given)} returned {short(part, 80)} ({kind_of(part)}), which is equal to nothing but "
                "itself, so that no two values can be compared; return a tuple, a number or a text"
            )
        _COMPARABLE.add(type(part))
    if user.takes[0] == "w" and any(got is one for one in given):
        return  # where a second run begins; what was given is compared, never a key
    try:
        hash(got)
    except Exception as error:
        raise ModelError(
            f"{user.at(given)} returned {short(got, 80)}, which cannot be hashed ({error_text(error)}); "
            "return tuples, frozensets or frozen dataclasses"
        ) from None


MOST = 100_000
"""Values that a function may list for one state or step; a longer list counts as endless."""


def _listing(function: Callable[..., Any], user: UserFunction) -> Any:
    def all_of(*given: Any) -> Any:
        try:
            got = function(*given)
        except caught() as error:
            raise user.failed(error, given) from error
        if isinstance(got, str | bytes) or not hasattr(got, "__iter__"):
            missing = "; is a `return` missing?" if got is None else "; return a list or yield them"
            what = f"{short(got, 80)} ({type(got).__name__})"
            raise ModelError(f"{user.at(given)} returned {what}, which is no list of values{missing}")
        if (type(got) is tuple or type(got) is list) and len(got) <= MOST and not pairs:  # pyright: ignore
            return tuple(got)  # pyright: ignore
        made = _guarded(user, got, given, pairs)
        return tuple(made) if isinstance(got, tuple | list) else made

    pairs = user.role.startswith("`pairs`")
    return all_of


def _guarded(user: UserFunction, values: Any, given: tuple[Any, ...], pairs: bool) -> Iterator[Any]:
    count = 0
    try:
        for member in values:
            count += 1
            if count > MOST:
                raise ModelError(f"{user.at(given)} lists more than {MOST:,} values and may have no end; list a few")
            if pairs and not (isinstance(member, tuple | list) and len(cast("tuple[Any, ...]", member)) == 2):
                raise ModelError(f"{user.at(given)} lists {short(member, 80)}, which is no pair of actions")
            yield member
    except ModelError:
        raise
    except caught() as error:
        raise user.failed(error, given) from error


_WRAPPERS: dict[Gives, Callable[[Callable[..., Any], UserFunction], Any]] = {
    "answer": _answering,
    "value": _valuing,
    "values": _listing,
}
