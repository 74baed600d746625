"""Translate what a kernel shows into the model's words.

Where a value of the model may stand, a kernel may write a marker:

    {"$unknown": true}                  not shown; so does a record that lacks one of its keys
    {"$opaque": TOKEN}                  an id or hash of the kernel's own, a text or a whole number
    {"$near": NUMBER, "within": NUMBER} a number to a tolerance; numbers are JSON numbers or texts such as "1/3"
    {"$bag": [...]}                     an array in any order
    {"$chosen": VALUE, "of": FIELD}     one of what stands in a list of the action, chosen by a rule of the kernel's own

A token is compared only with itself: the `Dictionary` of a run is a one-to-one map between tokens and the model's
values, learned where they first stand beside each other.  Fields that the model declares as free (`free_field`) are
compared only on request.

What is chosen is not compared with the model.  But by whatever rule, the same must be chosen where the entries of that
list stand in another order, if a claim says so: claims about two runs that differ in this alone see it.

`reading` gives two forms of an observation.  In `told` everything that was not shown has the model's value, so that it
never differs.  In `seen` it is a gap, and so is a token that is met for the first time and a number out of tolerance:
no claim may rest on a value that the model filled in.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, TypeAlias, cast

from evenhand.conform.adapters.wire import UNKNOWN, text
from evenhand.conform.checking.comparing import differences, normal, same
from evenhand.core.canonical import Json
from evenhand.core.codec import decode
from evenhand.core.freedom import Free, Freedom, freedom_of

GAP: Json = {"$unknown": "some text or number"}
"""In `seen` only: a value that is there for certain, such as a token, but is none of the model's."""

_KEYS: Mapping[str, frozenset[str]] = {
    "$unknown": frozenset({"$unknown"}),
    "$opaque": frozenset({"$opaque"}),
    "$near": frozenset({"$near", "within"}),
    "$bag": frozenset({"$bag"}),
    "$chosen": frozenset({"$chosen", "of"}),
}
_MARKERS = frozenset(_KEYS)
_PLAIN: tuple[type, ...] = (str, int, type(None))
KEPT = 4_000
"""Readings, and answers whether two entries agree, that are kept; then they are forgotten."""

DIGITS = 400
"""The longest number in a marker; more digits cost time and say nothing."""

_Object: TypeAlias = dict[str, Json]
_Both: TypeAlias = tuple[Json, Json]


class Malformed(ValueError):
    """A marker that says nothing; the message gives the place and the right form."""


@dataclass(frozen=True)
class Reading:
    """What a kernel shows where the model shows `expected`, in its words; `seen` is `told` if everything was shown."""

    told: Json
    seen: Json
    expected: Json

    @property
    def partial(self) -> bool:
        """Whether something in it rests on the model, or is not shown."""
        return self.seen is not self.told or gaps(self.seen)

    @cached_property
    def agrees(self) -> bool:
        """Whether what is shown is what the model shows; sets may have any order."""
        return same(self.told, self.expected) or same(normal(self.told), normal(self.expected))


@dataclass
class Dictionary:
    """The tokens of one run and the values that they stand for; `numbers` counts them in order of appearance."""

    values: dict[str, Json] = field(default_factory=dict[str, Json])
    tokens: dict[str, str] = field(default_factory=dict[str, str])
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    fresh: set[str] = field(default_factory=set[str])

    def copy(self) -> Dictionary:
        """Return a dictionary that learns apart from this one."""
        return Dictionary(dict(self.values), dict(self.tokens), self.numbers, set(self.fresh))

    @property
    def key(self) -> frozenset[tuple[str, str]]:
        """All that it knows; equal for dictionaries that translate alike."""
        return frozenset((token, value) for value, token in self.tokens.items())

    def learn(self, token: str, value: Json) -> bool:
        """Learn that a new token stands for a value; False if the value has another token."""
        said = text(normal(value))
        if self.tokens.setdefault(said, token) != token:
            return False
        self.values[token] = value
        self.fresh.add(token)
        return True

    def name(self, token: str, what: str = "another one") -> Json:
        """Return a token that stands for nothing else, the same whatever the kernel calls it."""
        return {"$opaque": f"{what}, number {self.numbers.setdefault(token, len(self.numbers) + 1)} of this run"}


class Reader:
    """Reads what kernels of one system show; `compare` names the free fields that are compared nevertheless.

    With `choices` what the kernel chose is told, with the model's value where it leaves something out.
    """

    def __init__(self, types: Sequence[type], compare: Collection[Free] = (), *, choices: bool = False) -> None:
        self.types, self.choices = tuple(types), choices
        self._fields = {kind.__name__: tuple(one.name for one in fields(kind)) for kind in types if is_dataclass(kind)}
        self._free: dict[str, dict[str, Freedom]] = {}
        self._readings: dict[tuple[str, bytes], Reading] = {}
        self._agreeing: dict[tuple[str, str], bool] = {}
        for kind in types:
            for name, freedom in freedom_of(kind).items() if is_dataclass(kind) else ():
                if freedom.free not in compare:
                    self._free.setdefault(cast("type", kind).__name__, {})[name] = freedom
        self._coded = {
            kind: next(name for name, freedom in free.items() if not freedom.beside)
            for kind, free in self._free.items()
            if {"$", *free} == {"$", *self._fields[kind]} and all(one.free == "codes" for one in free.values())
        }

    def reading(self, said: Json, expected: Json, known: Dictionary) -> Reading:
        """Return what was shown where the model shows `expected`, and learn its tokens.  Raises Malformed."""
        known.fresh.clear()
        told, seen = self._read(said, expected, known, "")
        return Reading(told, told if seen is told or text(seen) == text(told) else seen, expected)

    def known_reading(self, said: Json, expected: bytes, known: Dictionary) -> Reading:
        """Return the same, of an encoded observation; without tokens each pair is read once.  Raises Malformed."""
        key = text(said), expected
        found = self._readings.get(key)
        if found is None:
            found = self.reading(said, json.loads(expected), known)
            if '"$opaque"' not in key[0]:
                if len(self._readings) >= KEPT:
                    self._readings.clear()
                self._readings[key] = found
        return found

    def _read(self, said: Json, expected: Json, known: Dictionary, path: str) -> _Both:
        marker = _marker(said, path)
        if marker:
            return self._marked(marker, cast("_Object", said), expected, known, path)
        if isinstance(said, dict) and isinstance(expected, dict):
            return self._object(cast("_Object", said), cast("_Object", expected), known, path)
        if isinstance(said, list) and isinstance(expected, list):
            others = cast("list[Json]", expected)
            entries = self._with_codes(cast("list[Json]", said), others, known, path)
            if len(entries) == len(others):
                pairs = enumerate(zip(entries, others, strict=True))
                return _list([self._read(one, other, known, f"{path}[{at}]") for at, (one, other) in pairs], entries)
            return self._shifted(entries, others, known, path)
        return self._alone(said, known, path)

    def _marked(self, marker: str, said: _Object, expected: Json, known: Dictionary, path: str) -> _Both:
        if marker == "$chosen" and self.choices:
            told, seen = self._read(said["$chosen"], expected, known, path)
            return told, told if _same_sort(said["$chosen"], expected) else seen  # nothing of the model's to fill in
        if marker in ("$unknown", "$chosen"):
            return expected, UNKNOWN
        if marker == "$opaque":
            return _opaque(text(said["$opaque"]), expected, known)
        if marker == "$near":
            number, within = _number(said["$near"], path), _number(said["within"], path)
            if within < 0:
                raise Malformed(f"{path or 'all of it'}: the tolerance {within} is negative")
            agrees = _is_within(text(expected), number, within, self.types)
            written = {name: one if isinstance(one, str) else repr(one) for name, one in said.items()}
            return (expected, expected) if agrees else (written, GAP)
        entries = cast("list[Json]", said["$bag"])
        if not isinstance(expected, list):
            return self._alone(entries, known, path)
        return self._bag(entries, cast("list[Json]", expected), known, path)

    def _object(self, said: _Object, expected: _Object, known: Dictionary, path: str) -> _Both:
        kind = expected.get("$")
        same = said.get("$") == kind if "$" in said else not _is_tagged(said)
        if (isinstance(kind, str) and same) or not _is_tagged(expected):
            return self._record(str(kind), said, expected, known, path)
        members, others = said.get("$set"), expected.get("$set")
        if isinstance(members, list) and isinstance(others, list) and len(said) == 1:
            told, seen = self._bag(cast("list[Json]", members), cast("list[Json]", others), known, path)
            return (said, said) if seen is told and told == members else ({"$set": told}, {"$set": seen})
        return self._alone(said, known, path)

    def _record(self, kind: str, said: _Object, expected: _Object, known: Dictionary, path: str) -> _Both:
        told, seen, free = dict[str, Json](), dict[str, Json](), self._free.get(kind, dict[str, Freedom]())
        for key, other in expected.items():
            one, inner = said.get(key, UNKNOWN), f"{path}.{key}" if path else key
            if key == "$":
                told[key] = seen[key] = other
            elif key in free and (beside := free[key].beside):
                codes = (said.get(beside, expected[beside]), expected[beside])
                named = free[beside].named.intersection(map(str, codes))
                told[key], seen[key] = self._read(one, other, known, inner) if named else (other, UNKNOWN)
            elif key in free and (freely := self._freely(free[key], one, other, known, inner)) is not None:
                told[key], seen[key] = freely
            else:
                told[key], seen[key] = self._read(one, other, known, inner)
        for key in said.keys() - expected.keys():  # no field of the model: refused when it is decoded
            told[key] = seen[key] = said[key]
        return (told, told) if all(told[key] is seen[key] for key in told) else (told, seen)

    def _freely(self, freedom: Freedom, said: Json, expected: Json, known: Dictionary, path: str) -> _Both | None:
        """The reading of a free field; None if it is compared after all: wrong in sort, empty on one side, or named."""
        if isinstance(said, list) and isinstance(expected, list):
            entries, others = cast("list[Json]", said), cast("list[Json]", expected)
            if freedom.free == "orders":
                return self._bag(entries, others, known, path)
            if len(entries) == len(others) and all(
                isinstance(one, list) and bool(cast("list[Json]", one)) for one in [*entries, *others]
            ):
                heads = [[self._agrees(one[:-1], other[:-1], known, path) for other in others] for one in entries]
                if len(places := _matching(heads)) == len(others):
                    entries = [entries[at] for at in sorted(places, key=lambda at: places[at])]
                pairs = enumerate(zip(entries, others, strict=True))
                return _list([self._pair(freedom, one, two, known, f"{path}[{at}]") for at, (one, two) in pairs], None)
        if not (isinstance(said, str) and isinstance(expected, str)) or said == expected:
            return None
        if not said or not expected or freedom.named.intersection((said, expected)):
            return None
        return expected, UNKNOWN

    def _pair(self, freedom: Freedom, said: Any, expected: Any, known: Dictionary, path: str) -> _Both:
        *heads, last = said
        *others, other = expected
        told, seen = self._read(heads, others, known, path)
        free = self._freely(freedom, last, other, known, path) or self._read(last, other, known, path)
        return _list([*zip(told, seen, strict=True), free], None)

    def _with_codes(self, said: list[Json], expected: list[Json], known: Dictionary, path: str) -> list[Json]:
        """The entries of an array of codes as the model's, where both sides have some that the text does not name.

        How many there are of these is free, and so is which codes of the text stand beside them: for a fault that the
        text has no code for it does not say either whether a kernel looks for more.  Nor need it after one of the
        text's: some of the model's entries, at least one, and no other are as good as all, in any order.
        """
        codes = [self._code(one) for one in expected], [self._code(one) for one in said]
        ours = all("" in side for side in codes)
        if any(None in side for side in codes) or not (ours or 0 < len(said) <= len(expected)):
            return said
        left = [one for one, code in zip(said, codes[1], strict=True) if code or not ours]
        made = list[Json]()
        for other, code in zip(expected, codes[0], strict=True):
            near = enumerate(left) if code or not ours else ()
            place = next((at for at, one in near if self._agrees(one, other, known, f"{path}[]")), None)
            made.append(UNKNOWN if place is None else left.pop(place))
        return said if left and not ours else [*made, *left]

    def _code(self, entry: Json) -> str | None:
        """The code of an entry that is nothing but one; empty for one that the text does not name, None for others."""
        record = cast("_Object", entry) if isinstance(entry, dict) else {}
        kind = record.get("$")
        name = self._coded.get(kind) if isinstance(kind, str) else None
        code = record.get(name) if name else None
        if name is None or not isinstance(code, str):
            return None
        return code if code in self._free[str(kind)][name].named else ""

    def _shifted(self, said: list[Json], expected: list[Json], known: Dictionary, path: str) -> _Both:
        """Arrays of different length: entries that agree with one of the model's are read, the others are alone.

        They teach no token, because it is unknown which entries belong together.
        """
        left, made, known = list(expected), list[_Both](), known.copy()
        for at, one in enumerate(said):
            inner = f"{path}[{at}]"
            place = next((n for n, other in enumerate(left) if self._agrees(one, other, known, inner)), None)
            made.append(
                self._alone(one, known, inner) if place is None else self._read(one, left.pop(place), known, inner)
            )
        return _list(made, said)

    def _agrees(self, said: Json, expected: Json, known: Dictionary, path: str) -> bool:
        key = text(said), text(expected)
        if key[0] == key[1]:
            return True
        found = self._agreeing.get(key)
        if found is None:
            found = not self._apart(said, expected)
            found = found and same(normal(self._read(said, expected, known.copy(), path)[0]), normal(expected))
            if '"$opaque"' not in key[0]:
                if len(self._agreeing) >= KEPT:
                    self._agreeing.clear()
                self._agreeing[key] = found
        return found

    def _apart(self, said: Json, expected: Json) -> bool:
        """Whether two records differ in a text, number or flag that is compared: then they are not read for nothing."""
        if not (isinstance(said, dict) and isinstance(expected, dict)):
            return False
        one, other = cast("_Object", said), cast("_Object", expected)
        kind = other.get("$")
        if not isinstance(kind, str) or one.get("$", kind) != kind:
            return False
        free = self._free.get(kind, dict[str, Freedom]())
        return any(
            (value != other[key] or type(value) is not type(other[key]))
            for key, value in one.items()
            if key in other and key not in free and isinstance(value, _PLAIN) and isinstance(other[key], _PLAIN)
        )

    def _bag(self, said: list[Json], expected: list[Json], known: Dictionary, path: str) -> _Both:
        """Entries in any order, in the order of the model's; what fits none comes last.

        An entry that fits several different ones teaches no token, because it is unknown which one it is.
        """
        if same(said, expected):
            return said, said
        said = self._with_codes(said, expected, known, path)
        fits = [[self._agrees(one, other, known, f"{path}[]") for other in expected] for one in said]
        places = _matching(fits)
        made = dict[int, _Both]()
        for at, place in places.items():
            sure = len({text(other) for other, ok in zip(expected, fits[at], strict=True) if ok}) == 1
            made[place] = self._read(said[at], expected[place], known if sure else known.copy(), f"{path}[]")
        alone = list[_Both]()
        free = [place for place in range(len(expected)) if place not in made]
        for at in (at for at in range(len(said)) if at not in places):
            read = {
                place: self._read(said[at], expected[place], known.copy(), f"{path}[]")
                for place in free
                if _same_sort(said[at], expected[place])
            }
            if not read:
                alone.append(self._alone(said[at], known, f"{path}[]"))
                continue
            best = min(read, key=lambda place: sum(1 for _ in differences(expected[place], read[place][0])))
            made[best] = read[best]
            free.remove(best)
        return _list([*(made[place] for place in sorted(made)), *alone], None)

    def _alone(self, said: Json, known: Dictionary, path: str) -> _Both:
        """The reading of what stands where the model has nothing of the kind."""
        marker = _marker(said, path)
        if marker == "$opaque":
            token = text(cast("_Object", said)["$opaque"])
            if token in known.values and token not in known.fresh:
                return known.values[token], known.values[token]
            return known.name(token), GAP
        if marker in ("$bag", "$chosen"):
            return self._alone(cast("_Object", said)[marker], known, path)
        if marker == "$near":
            return self._marked(marker, cast("_Object", said), None, known, path)
        if marker:
            return said, UNKNOWN
        if isinstance(said, list):
            entries = cast("list[Json]", said)
            return _list([self._alone(one, known, f"{path}[{at}]") for at, one in enumerate(entries)], entries)
        return self._lonely(cast("_Object", said), known, path) if isinstance(said, dict) else (said, said)

    def _lonely(self, said: _Object, known: Dictionary, path: str) -> _Both:
        both = {key: self._alone(one, known, f"{path}.{key}") for key, one in said.items()}
        kind = said.get("$")
        lacks = self._fields.get(kind, ()) if isinstance(kind, str) else ()
        missing: _Object = {key: UNKNOWN for key in lacks if key not in said}
        if not missing and all(told is said[key] and seen is told for key, (told, seen) in both.items()):
            return said, said
        return {key: told for key, (told, _) in both.items()}, missing | {key: seen for key, (_, seen) in both.items()}


def _is_tagged(value: _Object) -> bool:
    return any(key.startswith("$") for key in value)


def _opaque(token: str, expected: Json, known: Dictionary) -> _Both:
    if token not in known.values:
        learned = known.learn(token, expected)
        return expected if learned else known.name(token, "a second token for it"), GAP
    value = known.values[token]
    if text(normal(value)) == text(normal(expected)):
        value = expected
    return value, GAP if token in known.fresh or type(value) is not type(expected) else value


def _list(made: Sequence[_Both], said: list[Json] | None) -> _Both:
    if said is not None and all(told is one and seen is one for (told, seen), one in zip(made, said, strict=True)):
        return said, said
    told = [one for one, _ in made]
    return told, told if all(one is other for one, other in made) else [other for _, other in made]


def _marker(said: Json, path: str) -> str:
    """The key of a marker; empty for any other value.  Raises Malformed."""
    if not isinstance(said, dict) or _MARKERS.isdisjoint(cast("_Object", said)):
        return ""
    marker = min(_MARKERS.intersection(cast("_Object", said)))
    entries, place = cast("_Object", said), path or "all of it"
    if _KEYS[marker] != entries.keys():
        raise Malformed(f"{place}: {marker} has the keys {', '.join(sorted(_KEYS[marker]))} and no others")
    value = entries[marker]
    if marker == "$unknown" and value is not True:
        raise Malformed(f'{place}: write {{"$unknown": true}}')
    if marker == "$opaque" and (isinstance(value, bool) or not isinstance(value, str | int)):
        raise Malformed(f"{place}: a token of $opaque is a text or a whole number")
    if marker == "$bag" and not isinstance(value, list):
        raise Malformed(f"{place}: $bag holds an array")
    if marker == "$chosen" and not isinstance(entries["of"], str):
        raise Malformed(f"{place}: `of` names a field of the action, a list from which $chosen was chosen")
    return marker


def _number(value: Any, path: str) -> Fraction:
    """The exact number of a JSON number or of a text such as "1/3"."""
    said = value if isinstance(value, str) else repr(value)
    if isinstance(value, str | int | float) and not isinstance(value, bool) and len(said) <= DIGITS and "_" not in said:
        mantissa, _, exponent = said.lower().partition("e")
        if mantissa.strip() == mantissa and len(exponent) <= 4:
            try:
                return Fraction(said)
            except (ValueError, ZeroDivisionError):
                pass
    raise Malformed(f'{path or "all of it"}: {said[:40]!r} is no number; write 0.25, "0.25" or "1/4"')


@lru_cache(maxsize=KEPT)
def _is_within(expected: str, number: Fraction, within: Fraction, types: tuple[type, ...]) -> bool:
    try:
        value = decode(normal(json.loads(expected)), *types)
    except ValueError:
        return False
    if isinstance(value, int | Fraction) and not isinstance(value, bool):
        return abs(value - number) <= within
    compared = getattr(value, "compared_with", None)  # a number of the model's own, as roots are
    return compared is not None and compared(number - within) >= 0 >= compared(number + within)


def _same_sort(said: Json, expected: Json) -> bool:
    """Whether two entries are of one class, or arrays that begin alike: one may be meant for the other."""
    if isinstance(said, dict) and isinstance(expected, dict):
        one, other = cast("_Object", said), cast("_Object", expected)
        return one.get("$", other.get("$")) == other.get("$")
    if isinstance(said, list) and isinstance(expected, list):
        return text(cast("list[Json]", said)[:1]) == text(cast("list[Json]", expected)[:1])
    return False


def _matching(fits: Sequence[Sequence[bool]]) -> dict[int, int]:
    """A largest matching of rows with columns that fit, by augmenting paths."""
    owner = dict[int, int]()

    def place(row: int, tried: set[int]) -> bool:
        for column in (column for column, ok in enumerate(fits[row]) if ok and column not in tried):
            tried.add(column)
            if column not in owner or place(owner[column], tried):
                owner[column] = row
                return True
        return False

    for row in range(len(fits)):
        place(row, set())
    return {row: column for column, row in owner.items()}


def choices(value: Json, action: Json = None) -> frozenset[str]:
    """Return the fields of the action from which something in a value was chosen.

    Raises Malformed for one that an encoded `action` does not have.
    """
    inner: Iterable[Json] = cast("list[Json]", value) if isinstance(value, list) else ()
    found = frozenset[str]()
    if isinstance(value, dict):
        entries = cast("_Object", value)
        inner = entries.values()
        found = frozenset({str(entries["of"])} if entries.keys() == _KEYS["$chosen"] else ())
    if isinstance(action, dict) and (more := found - cast("_Object", action).keys()):
        named = ", ".join(sorted(cast("_Object", action).keys() - {"$"})) or "none"
        raise Malformed(
            f"`of` is {', '.join(more):.80}, no field of the action, which $chosen was chosen from: {named}"
        )
    return found.union(*(choices(one, action) for one in inner if isinstance(one, (list, dict))))


def gaps(value: Json) -> bool:
    """Return whether a value is marked as partly unknown (a missing field shows only beside a full record)."""
    inner: Iterable[Json] = cast("list[Json]", value) if isinstance(value, list) else ()
    if isinstance(value, dict):
        inner = cast("_Object", value).values()
        if not _MARKERS.isdisjoint(cast("_Object", value)):
            return True
    return any(gaps(item) for item in inner if isinstance(item, (list, dict)))
