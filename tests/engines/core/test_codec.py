"""The codec: one encoding per value; only classes that are passed in are built."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from enum import Enum, Flag, IntEnum, StrEnum
from fractions import Fraction
from typing import Any, Generic, Literal, NamedTuple, NewType, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.canonical import MAX_DEPTH, canonical_bytes, parse
from evenhand.core.codec import decode, encode
from evenhand.core.system import Scope

T = TypeVar("T")
Key = NewType("Key", str)


class Colour(Enum):
    """Three members, one of them an alias."""

    RED = "r"
    BLUE = "b"
    CRIMSON = "r"


class Level(IntEnum):
    """Members that are integers too."""

    LOW = 1


class Word(StrEnum):
    """Members that are text too."""

    YES = "yes"


class Bits(Flag):
    """Combinations without a name."""

    A = 1
    B = 2


@dataclass(frozen=True, slots=True)
class Point:
    """With slots."""

    x: int
    y: Fraction


@dataclass(frozen=True)
class Submit:
    """A class with every form of annotation."""

    agent: str
    writes: tuple[str, ...] = ()
    at: Point | None = None
    colour: Colour = Colour.RED
    marks: frozenset[int] = frozenset()
    pair: tuple[str, int] = ("", 0)
    mode: Literal["fast", "slow"] = "fast"
    key: Key = Key("k")
    rest: Any = None


@dataclass(frozen=True)
class Box(Generic[T]):
    """A generic class."""

    content: T


@dataclass(frozen=True)
class Holder:
    """A field that is a generic class at one type."""

    box: Box[int]


@dataclass(frozen=True)
class Even:
    """Refuses odd numbers; `half` is derived."""

    number: int
    half: int = field(init=False)

    def __post_init__(self) -> None:
        if self.number % 2:
            raise ValueError("odd")
        object.__setattr__(self, "half", self.number // 2)


@dataclass(frozen=True)
class Folding:
    """Changes its argument, which gives two encodings of one value."""

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.text.lower())


@dataclass
class Changeable:
    """Not frozen."""

    x: int = 0


class Named(NamedTuple):
    """A named tuple."""

    x: int


TYPES = (Point, Submit, Colour, Level, Word, Box, Holder, Even)

texts = st.text(st.characters(codec="utf-8"), max_size=5)
points = st.builds(Point, st.integers(), st.fractions())
submits = st.builds(
    Submit,
    texts,
    st.lists(texts, max_size=3).map(tuple),
    st.none() | points,
    st.sampled_from(Colour),
    st.frozensets(st.integers(-(2**60), 2**60), max_size=4),
    st.tuples(texts, st.integers()),
    st.sampled_from(["fast", "slow"]),
)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | texts
    | st.fractions()
    | points
    | submits
    | st.sampled_from([Colour.BLUE, Level.LOW, Word.YES, Even(4), Atom("int", "1"), Opaque("nan")])
    | st.dictionaries(texts, st.integers(0, 2**53 - 1), max_size=3).map(Scope)
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3) | inner.map(Box[Any]),
    max_leaves=8,
)


def kinds(value: Any) -> Any:
    """Yield the classes within a value; equality alone would accept True for 1."""
    match value:
        case tuple():
            return [kinds(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case frozenset():
            return sorted(str(kinds(item)) for item in value)  # pyright: ignore[reportUnknownVariableType]
        case Box():
            return [Box, kinds(value.content)]  # pyright: ignore[reportUnknownMemberType]
        case _:
            return type(value).__name__


@given(values)
def test_a_value_comes_back_from_a_file_as_it_was(value: Any) -> None:
    """Equal, and of the same classes, after a trip through canonical bytes."""
    back = decode(parse(canonical_bytes(encode(value))), *TYPES)
    assert back == value
    assert kinds(back) == kinds(value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(texts | st.sampled_from(["$", "$enum", "name", "$set", "$int", "x", "y"]), inner, max_size=3)
        | st.fixed_dictionaries({"$": st.just("Point"), "x": inner, "y": inner})
        | st.fixed_dictionaries({"$": st.sampled_from(["Box", "os", "Even"]), "content": inner})
        | st.fixed_dictionaries({"$enum": st.just("Colour"), "name": inner | st.just("RED")})
        | st.fixed_dictionaries({"$set": inner})
        | st.fixed_dictionaries({"$scope": inner})
        | st.fixed_dictionaries({"$fraction": inner | st.just("1/2")})
        | st.fixed_dictionaries({"$int": inner | st.integers().map(str)})
    ),
    max_leaves=10,
)


@given(json_values)
def test_hostile_json_decodes_to_its_only_value_or_is_refused(data: Any) -> None:
    """For any file: ValueError, or a value whose encoding is that file."""
    try:
        value = decode(data, *TYPES)
    except ValueError as error:
        assert str(error).startswith("$")
    else:
        assert canonical_bytes(encode(value)) == canonical_bytes(data)


GOOD: dict[str, Any] = encode(Submit("a", at=Point(1, Fraction(1, 2))))


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"agent": 1}, "$.agent: Submit.agent is str"),
        ({"writes": "x"}, "$.writes"),
        ({"writes": ["x", 1]}, "$.writes"),
        ({"at": {"$": "Point", "x": True, "y": {"$fraction": "1"}}}, "$.at.x: Point.x is int"),
        ({"at": {"$": "Point", "x": 1, "y": 1}}, "$.at.y: Point.y is Fraction"),
        ({"at": {"$": "Point", "x": 1}}, "$.at: Point lacks y"),
        ({"at": {"$": "Point", "x": 1, "y": 1, "z": 1}}, "$.at: Point has no field z"),
        ({"at": {"$": "Even", "number": 2}}, "$.at: Submit.at"),
        ({"at": {"$": "Punkt"}}, "$.at: unknown dataclass 'Punkt'"),
        ({"at": {"$": ["Point"]}}, "$.at: unknown dataclass"),
        ({"at": {"$": "Colour"}}, "$.at: unknown dataclass 'Colour'"),
        ({"colour": {"$enum": "Colour", "name": "GREEN"}}, "no member 'GREEN'"),
        ({"colour": {"$enum": "Colour", "name": "CRIMSON"}}, "no member 'CRIMSON'"),
        ({"colour": {"$enum": "Point", "name": "RED"}}, "unknown Enum 'Point'"),
        ({"colour": {"$enum": "Level", "name": "LOW"}}, "$.colour: Submit.colour"),
        ({"colour": "r"}, "$.colour: Submit.colour"),
        ({"marks": {"$set": [2, 1]}}, "$.marks: the members of a set"),
        ({"marks": {"$set": [1, 1]}}, "$.marks: the members of a set"),
        ({"marks": {"$set": ["a"]}}, "$.marks: Submit.marks"),
        ({"marks": {"$set": {}}}, "written as an array"),
        ({"pair": ["", 0, 0]}, "$.pair"),
        ({"pair": [""]}, "$.pair"),
        ({"mode": "medium"}, "$.mode"),
        ({"key": 1}, "$.key"),
        ({"rest": 1.0}, "$.rest: float"),
        ({"rest": 2**53}, "$.rest: an integer beyond"),
        ({"rest": {"$int": "5"}}, "written as a plain number"),
        ({"rest": {"$int": "1_000"}}, "expected an integer"),
        ({"rest": {"$int": "9" * 4001}}, "too long"),
        ({"rest": {"$fraction": "2/4"}}, "lowest terms"),
        ({"rest": {"$fraction": "1e999999999"}}, "expected a fraction"),
        ({"rest": {"$fraction": "1/0"}}, "expected a fraction"),
        ({"rest": {"$scope": {"agents": -1}}}, "scope field 'agents'"),
        ({"rest": {"$scope": {"agents": True}}}, "scope field 'agents'"),
        ({"rest": {"$scope": [1]}}, "written as an object"),
        ({"rest": {}}, "no tag"),
        ({"rest": {"__class__": "os"}}, "no tag"),
        ({"rest": "\ud800"}, "surrogate"),
        ({"rest": {"$": "Even", "number": 3}}, "Even refuses these values: odd"),
        ({"rest": {"$": "Even", "number": 2, "half": 1}}, "Even has no field half"),
    ],
)
def test_a_wrong_field_is_refused_by_its_place(change: dict[str, Any], where: str) -> None:
    """The message names the path within the value."""
    assert decode(GOOD, *TYPES) == Submit("a", at=Point(1, Fraction(1, 2)))
    with pytest.raises(ValueError, match=r"^\$") as caught:
        decode({**GOOD, **change}, *TYPES)
    assert where in str(caught.value)


def test_missing_and_unknown_fields_are_refused() -> None:
    """Defaults are not filled in, so a file is complete."""
    for name in GOOD:
        short = {key: value for key, value in GOOD.items() if key != name}
        with pytest.raises(ValueError, match=r"lacks|no tag"):
            decode(short, *TYPES)
    with pytest.raises(ValueError, match="has no field extra"):
        decode({**GOOD, "extra": 1}, *TYPES)


def test_only_classes_handed_in_are_built() -> None:
    """A class that exists, in a module that is loaded, is still unknown."""
    with pytest.raises(ValueError, match="unknown dataclass 'Point'"):
        decode(encode(Point(1, Fraction(1))), Submit)
    assert decode(encode(Atom("int", "1"))) == Atom("int", "1")


def test_a_generic_field_takes_the_class_at_any_type() -> None:
    """Type arguments are erased; the class is not."""
    assert decode(encode(Holder(Box(1))), *TYPES) == Holder(Box(1))
    with pytest.raises(ValueError, match=r"\$\.box"):
        decode({"$": "Holder", "box": {"$": "Even", "number": 2}}, *TYPES)


@pytest.mark.parametrize(
    "value",
    [1.5, [1], {"a": 1}, {1}, b"x", object(), Changeable(), Named(1), Bits.A | Bits.B, "\udfff", 10**5000, Point],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_encoding_is_refused(value: Any) -> None:
    """The message names the place."""
    with pytest.raises(ValueError, match=r"^\$\.content\[1\]: "):
        encode(Box((1, value)))


def test_a_class_that_changes_its_values_is_refused() -> None:
    """Otherwise two files would be one value."""
    assert decode({"$": "Folding", "text": "a"}, Folding) == Folding("a")
    with pytest.raises(ValueError, match="something else"):
        decode({"$": "Folding", "text": "A"}, Folding)


def test_types_must_be_usable() -> None:
    """A mistake of the model's author, not of the file: TypeError."""

    def other() -> type:
        @dataclass(frozen=True)
        class Point:
            x: int

        return Point

    with pytest.raises(TypeError, match="neither a frozen dataclass nor an Enum"):
        decode(None, Changeable)
    with pytest.raises(TypeError, match="two classes are called Point"):
        decode(None, Point, other())


def test_depth_is_bounded_in_both_directions() -> None:
    """The bound is the one of `parse`, neither above nor below it."""
    value: Any = 1
    for _ in range(MAX_DEPTH - 1):
        value = (value,)
    assert decode(parse(canonical_bytes(encode(value)))) == value
    with pytest.raises(ValueError, match="nested deeper"):
        encode((value,))
    data: Any = 1
    for _ in range(100_000):
        data = [data]
    with pytest.raises(ValueError, match="nested deeper"):
        decode(data)
    scope: Any = Scope(agents=1)
    for _ in range(MAX_DEPTH):
        try:
            data = encode(scope)
        except ValueError:
            break
        parse(canonical_bytes(data))
        scope = frozenset({scope})
    else:
        pytest.fail("a tower of sets was never refused")


def test_sets_are_the_same_bytes_under_any_hash_seed() -> None:
    """Text hashes differently from run to run; the encoding does not."""
    program = (
        "from evenhand.core.codec import encode\n"
        "from evenhand.core.canonical import canonical_text\n"
        "print(canonical_text(encode(frozenset({'a', 'b', 'c', ('d', 'e'), None, 3}))))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in ("0", "1", "2")
    }
    assert seen == {'{"$set":["a","b","c",3,["d","e"],null]}'}
