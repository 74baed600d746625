"""Values computed from the columns of a state, with a table of each result that was ever needed.

A state is a row of numbers, one for each column: the number of the value that its part has.  An expression is an
operation of Python over columns and constants.  It is evaluated once for each combination of values that occurs, by the
operation itself; afterwards its results are looked up for whole arrays of states.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from math import isnan
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from evenhand.core.alike import alike
from evenhand.core.answers import short
from evenhand.search.containers import SCALARS, fields_of
from evenhand.search.witness import NotLearned

Ids: TypeAlias = NDArray[np.int32]
"""Numbers of values, one for each state."""

COUNT = "how many elements"
"""The key of the size of a set that has columns: the last of its arguments is a set, all others are truth values."""

DENSE = 1 << 20
"""Entries up to which the table of an expression over several columns is an array."""

_EQUALITIES = (object.__eq__, str.__eq__, int.__eq__)
_HASHES = (Enum.__hash__, str.__hash__, int.__hash__)


class Spent(NotLearned):
    """Learning has cost more than the states that it covers are worth."""


class Wide(NotLearned):
    """An operation depends on more parts than a number can tell apart."""


class Unfollowed(NotLearned):
    """The claim of that number cannot be followed; others may be."""

    def __init__(self, claim: int, why: str) -> None:
        super().__init__(why)
        self.claim = claim


def plain(value: Any) -> bool:
    """Return whether a value is immutable through and through, and its class does nothing unforeseen."""
    kind: Any = type(value)
    if kind is Fraction:
        return type(value.numerator) is int and type(value.denominator) is int  # it may be made of proxies
    if kind in SCALARS:
        return True
    if kind is float:
        return not isnan(value)
    if kind is Decimal:
        return not value.is_nan()
    if kind is tuple or kind is frozenset:
        return all(map(plain, value))
    if issubclass(kind, Enum):
        return kind.__eq__ in _EQUALITIES and kind.__hash__ in _HASHES
    names = fields_of(value)
    if names is None or (hasattr(kind, "__getitem__") and not issubclass(kind, tuple)):
        return False  # `"text" % value` passes over what has elements
    return all(plain(getattr(value, name)) for name in names)


class Values:
    """Numbered values.  Raises NotLearned for equal values that can be told apart, and for values that are not plain.

    `strict` refuses 1 beside True; otherwise values of different types have different numbers.
    """

    def __init__(self, *, strict: bool) -> None:
        self.strict = strict
        self.values: list[Any] = []
        self.numbers: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self.values)

    def number(self, value: Any) -> int:
        """Return the number of a value, a new one if it was never seen."""
        key: Hashable = value if self.strict else (type(value), value)
        known = self.numbers.get(key)
        if known is None:
            if not plain(value) and (self.strict or not isinstance(value, type)):
                raise NotLearned(f"{short(value, 60)} of type {type(value).__name__} is not followed")
            known = self.numbers[key] = len(self.values)
            self.values.append(value)
        elif self.values[known] is not value and not alike(self.values[known], value):
            raise NotLearned(f"{short(self.values[known], 60)} and {short(value, 60)} are equal and not alike")
        return known


class Expression:
    """An operation on other expressions; `columns` are those it depends on, in order."""

    __slots__ = (
        *("args", "columns", "dense", "into", "key", "members", "number", "outcomes", "read", "run", "shape", "sparse"),
    )

    def __init__(self, number: int, key: Hashable, run: Callable[..., Any] | None, args: Sequence[Expression]) -> None:
        self.number = number
        self.key = key
        self.run = run
        self.args = tuple(args)
        self.columns: tuple[int, ...] = tuple(sorted({column for arg in args for column in arg.columns}))
        self.members: Any = None  # of a set with columns of its own: what is known of its elements
        self.outcomes = Values(strict=False)
        self.shape: tuple[int, ...] = ()
        self.dense: Any = None
        self.sparse: dict[int, int] = {}
        self.into: dict[int, Ids] = {}
        self.read: Callable[[Mapping[int, Any]], Any] | None = None


def reader(one: Expression) -> Callable[[Mapping[int, Any]], Any]:
    """Return a function that evaluates an expression, given the value of each column; it is made once."""
    if one.read is None:
        if one.run is None:
            value = one.outcomes.values[0] if not one.columns else None
            one.read = itemgetter(one.number) if one.columns else lambda _: value
        else:
            run, args = one.run, [*map(reader, one.args)]
            if len(args) == 2:  # most have two, for which this takes half of the time
                first, second = args
                one.read = lambda at: run(first(at), second(at))
            else:
                one.read = lambda at: run(*[arg(at) for arg in args])
    return one.read


class Expressions:
    """All expressions of a configuration, equal ones once, over `columns` of values.

    `trouble` says what proxies could not do, in case the model swallowed the exception.
    """

    def __init__(self, columns: Sequence[Values], spend: Callable[[int], None]) -> None:
        self.columns = columns
        self.spend = spend
        self.trouble = ""
        self.every: list[Expression] = []
        self.known: dict[Hashable, Expression] = {}
        for place in range(len(columns)):
            self.made(("column", place), None, ()).columns = (place,)

    def made(self, key: Hashable, run: Callable[..., Any] | None, args: Sequence[Expression]) -> Expression:
        """Return the expression of an operation, which `key` identifies, on these arguments."""
        whole = (key, tuple(arg.number for arg in args))
        found = self.known.get(whole)
        if found is None:
            found = self.known[whole] = Expression(len(self.every), key, run, args)
            self.every.append(found)
        return found

    def constant(self, value: Any) -> Expression:
        """Return a constant.  Raises NotLearned for one that is not plain or a class."""
        key = ("constant", type(value), value)
        found = self.known.get((key, ()))
        if found is not None and not alike(found.outcomes.values[0], value):
            raise NotLearned(f"{short(value, 60)} equals another value that is not alike")
        if found is None:
            found = self.made(key, None, ())
            found.outcomes.number(value)
        return found

    def evaluated(self, expression: Expression, given: Sequence[Any]) -> Any:
        """Return the value for these values of its columns."""
        try:
            return reader(expression)(dict(zip(expression.columns, given, strict=True)))
        except NotLearned:
            raise
        except Exception as error:
            raise NotLearned(f"{expression.key} raised {type(error).__name__} where it had not before") from error

    def looked_up(self, expression: Expression, rows: Ids | Sequence[Any], these: Any) -> Any:
        """Return the number of the outcome for these states; `rows` has a row of numbers for each column."""
        columns = expression.columns
        if expression.key == COUNT:
            return self._counted(expression, rows, these)
        if len(columns) == 1:
            code = rows[columns[0]].take(these)
            if expression.run is None:
                return code
            size = len(self.columns[columns[0]])
            if expression.dense is None or len(expression.dense) < size:
                grown = np.full(2 * size, -1, dtype=np.int32)
                if expression.dense is not None:
                    grown[: len(expression.dense)] = expression.dense
                expression.dense = grown
        else:
            self._fit(expression)
            code = rows[columns[0]].take(these).astype(np.int64)
            for column, size in zip(columns[1:], expression.shape[1:], strict=True):
                code *= size
                code += rows[column].take(these)
        if expression.dense is None:
            return self._sparse(expression, code)
        found = expression.dense.take(code)
        if len(found) and found[found.argmin()] < 0:
            missing = np.unique(code[found < 0])
            for one, given in zip(missing.tolist(), self._given(expression, missing), strict=True):
                expression.dense[one] = self._filled(expression, given)
            found = expression.dense.take(code)
        return found

    def _counted(self, expression: Expression, rows: Ids | Sequence[Any], these: Any) -> Any:
        """The numbers of the sizes of a set in these states."""
        total = np.zeros(len(these), dtype=np.int64)
        for part in expression.args:
            values = (self.columns[part.columns[0]] if part.columns and part.run is None else part.outcomes).values
            numbers = self.looked_up(part, rows, these) if part.columns else 0
            sizes = [value if type(value) is bool else len(value) for value in values]
            total += np.asarray(sizes, dtype=np.int64)[numbers]
        found, where = np.unique(total, return_inverse=True)
        return np.asarray([expression.outcomes.number(size) for size in found.tolist()], dtype=np.int32)[where]

    def _fit(self, expression: Expression) -> None:
        """Make room for the values that columns have by now."""
        sizes = [len(self.columns[column]) for column in expression.columns]
        if expression.shape and all(size <= room for size, room in zip(sizes, expression.shape, strict=True)):
            return
        before, known = expression.shape, expression.dense
        expression.shape = tuple(1 << size.bit_length() for size in sizes)
        product = 1
        for size in expression.shape:
            product *= size
        if product > 1 << 62:
            raise Wide(f"an operation depends on {len(sizes)} parts at once")
        expression.sparse = {}
        expression.dense = np.full(product, -1, dtype=np.int32) if product <= DENSE else None
        if known is not None and expression.dense is not None:  # what is known keeps its place in each column
            expression.dense.reshape(expression.shape)[tuple(map(slice, before))] = known.reshape(before)

    def _sparse(self, expression: Expression, code: Any) -> Any:
        some, where = np.unique(code, return_inverse=True)
        codes, known = some.tolist(), expression.sparse
        missing = [one for one in codes if one not in known]
        for one, given in zip(missing, self._given(expression, np.asarray(missing, dtype=np.int64)), strict=True):
            known[one] = self._filled(expression, given)
        return np.asarray([known[one] for one in codes], dtype=np.int32)[where]

    def _given(self, expression: Expression, codes: Any) -> Iterable[tuple[Any, ...]]:
        """Yield the values of its columns for each of these places in its table."""
        numbers = np.unravel_index(codes, expression.shape) if expression.shape else (codes,)
        values = (self.columns[column].values for column in expression.columns)
        return zip(*(map(known.__getitem__, n.tolist()) for known, n in zip(values, numbers, strict=True)), strict=True)

    def _filled(self, expression: Expression, given: Sequence[Any]) -> int:
        """Evaluate one entry."""
        self.spend(1)
        return expression.outcomes.number(self.evaluated(expression, given))

    def numbers_in(
        self, expression: Expression, column: int, target: Values, rows: Ids | Sequence[Any], these: Any
    ) -> Any:
        """Return the numbers that the outcomes have among the values of a column, which are `target`."""
        found = self.looked_up(expression, rows, these)
        if expression.run is None and expression.columns == (column,):
            return found
        outcomes = self.columns[expression.columns[0]] if expression.run is None else expression.outcomes
        into = expression.into.get(column)
        if into is None or len(into) < len(outcomes):
            into = np.asarray([target.number(value) for value in outcomes.values], dtype=np.int32)
            expression.into[column] = into
        return into.take(found)
