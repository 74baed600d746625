"""States that Python calls equal and a claim tells apart."""

# Newcomers write no types, and so nothing here has any.
# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, allow-any-generics
# pyright: basic
from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import NamedTuple

from tests.slips.examples import check
from tests.slips.kit import control, evenhand, slip
from tests.slips.states import numbers


@evenhand.always("The state is an integer.")
def an_integer(state):
    """What a reader expects of a counter."""
    return type(state) is int


@slip("equality", says=("numbers|an_integer", "1|equal"), refuted=True)
def one_and_true():
    """`state >= 0` where a number was meant: True is 1 and is never looked at."""
    return check(numbers([1], lambda state, action: True), [an_integer])


@slip("equality", says=("numbers|an_integer", "1|equal"), refuted=True)
def one_and_one_point_zero():
    """`/` where `//` was meant: 1.0 is 1."""
    return check(numbers([2, 1], lambda state, action: state / 2 if state > 1 else state), [an_integer])


@slip("equality", says=("numbers|positive_zero", "0|equal"), refuted=True)
def minus_zero():
    """-0.0 equals 0.0, and dividing tells them apart."""
    import math

    @evenhand.always("Zero is not approached from below.")
    def positive_zero(state):
        return math.copysign(1.0, state) > 0

    return check(numbers([0.0], lambda state, action: -state), [positive_zero])


@slip("equality", says=("numbers|exact", "equal|1"), refuted=True)
def equal_decimals():
    """Decimal("1.0") equals Decimal("1.00"), and their text does not."""

    @evenhand.always("Amounts have one decimal.")
    def exact(state):
        return str(state) == "1.0"

    step = {"1.0": Decimal("1.00")}
    return check(numbers([Decimal("1.0")], lambda state, action: step.get(str(state), state)), [exact])


@slip("equality", says=("numbers|an_integer", "equal|1"), refuted=True)
def true_inside_a_tuple():
    """The same one level down: (1, "a") and (True, "a")."""

    @evenhand.always("The count is an integer.")
    def an_integer(state):
        return type(state[0]) is int

    return check(numbers([(1, "a")], lambda state, action: (True, "a")), [an_integer])


@slip("equality", says=("numbers|ordered", "equal|frozenset"), refuted=True)
def true_inside_a_frozenset():
    """frozenset({1}) equals frozenset({True})."""

    @evenhand.always("Tickets are integers.")
    def ordered(state):
        return all(type(ticket) is int for ticket in state)

    return check(numbers([frozenset({1})], lambda state, action: frozenset({True})), [ordered])


class Colour(str, Enum):  # noqa: UP042
    """A member equals its text."""

    RED = "red"
    DARK = "dark"


@slip("equality", says=("numbers|a_member", "equal|red"), refuted=True)
def a_text_and_its_enum_member():
    """The step returns "red" where the start is Colour.RED: equal, and without `.name`."""

    @evenhand.always("The state is a member.")
    def a_member(state):
        return isinstance(state, Colour)

    return check(numbers([Colour.RED], lambda state, action: "red"), [a_member])


class Point(NamedTuple):
    """Equals any tuple of its values."""

    x: int
    y: int


class Size(NamedTuple):
    """Equals a Point of the same numbers."""

    width: int
    height: int


@slip("equality", says=("numbers|a_point", "equal|Point|Size"), refuted=True)
def two_named_tuples():
    """Size(1, 2) equals Point(1, 2)."""

    @evenhand.always("The state is a point.")
    def a_point(state):
        return isinstance(state, Point)

    return check(numbers([Point(1, 2)], lambda state, action: Size(1, 2)), [a_point])


@slip("equality", says=("numbers|in_utc", "equal|UTC|\\+"), refuted=True)
def one_instant_in_two_zones():
    """Two datetimes of one instant are equal, whatever their zone."""

    @evenhand.always("Times are in UTC.")
    def in_utc(state):
        return state.tzinfo == UTC

    there = timezone(timedelta(hours=2))
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC)
    return check(numbers([noon], lambda state, action: state.astimezone(there)), [in_utc])


@dataclass(frozen=True)
class Lamp:
    """A lamp whose count of switches is left out of the comparison, to keep the graph small."""

    colour: str = "red"
    switched: int = field(default=0, compare=False)


@slip("equality", says=("lamp|seldom_switched", "compare|equal|switched"), refuted=True)
def a_field_that_is_not_compared():
    """`field(compare=False)` on what the claim looks at."""

    @evenhand.always("The lamp is switched at most once.")
    def seldom_switched(lamp):
        return lamp.switched <= 1

    step = lambda lamp, action: Lamp("red" if lamp.colour == "green" else "green", min(lamp.switched + 1, 9))  # noqa: E731
    return check(numbers([Lamp()], step, name="lamp"), [seldom_switched])


class ById:
    """Equal by number, whatever the rest says: as records of a database are."""

    def __init__(self, number: int, balance: int) -> None:
        self.number, self.balance = number, balance

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ById) and other.number == self.number

    def __hash__(self) -> int:
        return hash(self.number)


@slip("equality", says=("account|not_overdrawn", "equal|ById|__eq__"), refuted=True)
def equal_by_primary_key():
    """`__eq__` compares the key alone, and the balance is what the claim is about."""

    @evenhand.always("No account is overdrawn.")
    def not_overdrawn(account):
        return account.balance >= 0

    step = lambda account, action: ById(account.number, max(-3, account.balance - 1))  # noqa: E731
    return check(numbers([ById(1, 1)], step, name="account"), [not_overdrawn])


class CaseBlind(str):
    """A text that compares without regard to case."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.lower() == other.lower()

    def __hash__(self) -> int:
        return hash(self.lower())


@slip("equality", says=("numbers|lower_case", "equal|CaseBlind"), refuted=True)
def a_subclass_of_str():
    """A text whose equality forgets what the claim looks at."""

    @evenhand.always("Names are lower case.")
    def lower_case(state):
        return str.islower(state)

    return check(numbers([CaseBlind("red")], lambda state, action: CaseBlind("RED")), [lower_case])


class AlwaysEqual:
    """Equal to everything, as `unittest.mock.ANY` is."""

    def __init__(self, colour: str) -> None:
        self.colour = colour

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


@slip("equality", says=("numbers|never_dark", "equal|AlwaysEqual"), refuted=True)
def equal_to_everything():
    """One state swallows all the others."""

    @evenhand.always("The light is never dark.")
    def never_dark(state):
        return state.colour != "dark"

    return check(numbers([AlwaysEqual("red")], lambda state, action: AlwaysEqual("dark")), [never_dark])


@slip("equality", says=("numbers", "step|shown|action|told_apart|equal"), refuted=True)
def equal_actions():
    """The actions 1 and True are both on offer, and the step tells them apart."""

    @evenhand.always("The light is never dark.")
    def told_apart(state):
        return state != "dark"

    return check(numbers(["red"], lambda state, action: "dark" if action is True else state, (1, True)), [told_apart])


@control("equality")
def numbers_of_one_type():
    """Integers, compared as such."""
    return check(numbers([1], lambda state, action: state % 3 + 1), [an_integer])


@control("equality")
def a_boolean_state():
    """True and False alone, without numbers beside them."""

    @evenhand.always("It is on or off.")
    def on_or_off(state):
        return isinstance(state, bool)

    return check(numbers([False], lambda state, action: not state), [on_or_off])
