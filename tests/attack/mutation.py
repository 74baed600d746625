"""Seeded mutation of JSON and text: values of wrong types and sizes, values of the right type in the wrong place."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, cast

HUGE = "1e400 stands here"
"""Replaced by a number that reads as infinity."""

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**53, 10**30, -(10**30), 0.5, -0.0, "", " ", "x", "\ud800", "\udc00\ud800", "\0",
    "\x1b[2J", "\u202e", "x" * 5_000, "../../x", "/dev/zero", "<b>&", "sha256:" + "0" * 64, [], {}, [[]], [None],
    {"": None}, {"$": "Nothing"}, {"$set": [1, 1]}, {"$int": "9" * 5_000}, {"$fraction": "1/0"}, float("nan"),
    float("inf"), HUGE, "HOLDS", "REFUTED", ["x"] * 100,
]  # fmt: skip


def mutated(content: Any, random_: random.Random, others: Sequence[Any], odd: Sequence[Any] = ODD) -> bytes:
    """Return a file that differs from `content` in one to three places; `others` are values to put there.

    Seals are made anew where there is one and the values have a canonical form: the seal does not protect the reader.
    """
    made = copy.deepcopy(content)
    for _ in range(random_.choice((1, 1, 1, 2, 3))):
        made = _changed(made, random_, others, odd)
    _sealed(made)
    data = json.dumps(made).replace(f'"{HUGE}"', "1e400").encode()
    return _damaged(data, random_) if random_.random() < 0.1 else data


PIECES = (
    b"&a [*a]", b"*a", b"<<: *a", b"!!python/object/apply:os.system ['id']", b"!!binary x", b"\t", b"\0",
    b"---\n", b"- ",
    b": ", b"{",
    b"[" * 3_000, b"'", b"\xff", b"? ", b"%YAML 9.9\n", b"|\n", b"a: &x [x,x]\nb: &y [*x,*x]\nc: [*y,*y]\n",
    b"9" * 5_000, b"[a]", b"[[runs]]", b"x = 1",
    b".inf", b"~", b"2026-13-45", b"\xe2\x80\xae", b"\xed\xa0\x80",
)  # fmt: skip
"""Text that has a meaning in YAML or TOML, or none in UTF-8."""


def mutated_text(text: bytes, random_: random.Random) -> bytes:
    """Return text in which one to three lines are changed, doubled, moved or left out."""
    lines = text.split(b"\n")
    for _ in range(random_.choice((1, 1, 2, 3))):
        at = random_.randrange(len(lines))
        line = lines[at]
        match random_.randrange(6):
            case 0:
                lines[at] = (
                    line[: random_.randint(0, len(line))] + random_.choice(PIECES) + line[-random_.randint(0, 9) :]
                )
            case 1:
                lines.insert(random_.randrange(len(lines)), line)
            case 2 if len(lines) > 1:
                del lines[at]
            case 3:
                lines[at] = b" " * random_.randint(1, 70) + line
            case 4:
                key, colon, _ = line.partition(b":")
                lines[at] = key + colon + b" " + random_.choice(PIECES)
            case _:
                lines[at] = line.strip() + random_.choice(lines).strip()
    made = b"\n".join(lines)
    return _damaged(made, random_) if random_.random() < 0.1 else made


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every part of a JSON value, the whole first."""
    yield path
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(cast("list[Any]", value)):
            yield from places(inner, (*path, number))


def values(value: Any) -> list[Any]:
    """Return every part of a JSON value."""
    found: list[Any] = []
    for path in places(value):
        inner = value
        for step in path:
            inner = inner[step]
        found.append(inner)
    return found


def _changed(whole: Any, random_: random.Random, others: Sequence[Any], odd: Sequence[Any]) -> Any:
    path = random_.choice(list(places(whole)))
    if not path:
        return random_.choice(odd) if random_.random() < 0.2 else whole
    inside = whole
    for step in path[:-1]:
        inside = inside[step]
    last = path[-1]
    match random_.randrange(8):
        case 0 | 1 | 2:
            inside[last] = copy.deepcopy(random_.choice(odd))
        case 3 | 4 | 5:
            inside[last] = copy.deepcopy(random_.choice(others))
        case 6:
            del inside[last]
        case _:
            if isinstance(inside, list):
                held = cast("list[Any]", inside)
                held.insert(last, copy.deepcopy(random_.choice(held)))
            else:
                inside[random_.choice(("x", "", "\ud800", "sha256", "$"))] = copy.deepcopy(inside[last])
    return whole


def _sealed(made: Any) -> None:
    """Seal a file anew, and the vectors in it."""
    if not isinstance(made, dict):
        return
    file = cast("dict[str, Any]", made)
    if isinstance(file.get("vectors"), list):
        for one in cast("list[Any]", file["vectors"]):
            _sealed(one)
    if "sha256" in file:
        from evenhand.core.canonical import digest  # not where a kernel mutates its answers: it starts faster

        with suppress(ValueError):
            file["sha256"] = digest({key: value for key, value in file.items() if key != "sha256"})


def _damaged(data: bytes, random_: random.Random) -> bytes:
    at = random_.randrange(len(data) or 1)
    match random_.randrange(4):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + random_.randbytes(random_.randint(1, 4)) + data[at + 1 :]
        case 2:
            return data[:at] + b"[" * random_.choice((10, 70, 100_000)) + data[at:]
        case _:
            return random_.choice((b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"\n")) + data
