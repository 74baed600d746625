"""From raw text of a language model to exactly one JSON object, or a rejection (13.3).

Normalise (line ends, NFC, control characters, outer space), find blocks by brace depth, with regard to strings and
escapes, and parse.  Total: every text yields a value.  Rejection decides nothing: it yields empty candidates, and
the kernel still decides (13.1).
"""

from __future__ import annotations

import unicodedata
from typing import Any

from evenhand.core.canonical import Json, canonical_bytes, parse
from evenhand.core.records import dataclass
from evenhand.model.sovereign.artifacts import sha

NO_JSON, AMBIGUOUS_MULTI_BLOCK, PARSE_ERROR = "NO_JSON", "AMBIGUOUS_MULTI_BLOCK", "PARSE_ERROR"
REJECTIONS = (NO_JSON, AMBIGUOUS_MULTI_BLOCK, PARSE_ERROR)
"""The reasons to reject a text (13.3)."""

UNFINISHED = ("no_block", "a_block")
"""13.3: exactly one object block, 0 is NO_JSON; silent on `{` without its `}`.  The first is what the words say."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """The result of a text: the canonical JSON text of its one object, or a rejection; never both."""

    raw_hash: str
    text: str = ""
    canonical_hash: str = ""
    rejection: str = ""

    @property
    def value(self) -> Json:
        """The object; None if the text was rejected."""
        return None if self.rejection else parse(self.text)


def normalize(text: str) -> str:
    """Line ends to `\\n`, Unicode NFC, no control characters but `\\n` and `\\t`, no outer space; nothing within."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    composed = unicodedata.normalize("NFC", lines)
    kept = "".join(c for c in composed if c in "\n\t" or unicodedata.category(c) != "Cc")
    return kept.strip()


def blocks(text: str) -> tuple[tuple[str, ...], bool]:
    """Return the outermost `{…}` blocks, and whether the text ends within one.

    Quotes count within a block only: prose may hold an apostrophe or a single quotation mark.
    """
    found: list[str] = []
    depth = start = 0
    quoted = escaped = False
    for place, c in enumerate(text):
        if depth == 0:
            if c == "{":
                depth, start, quoted, escaped = 1, place, False, False
        elif quoted:
            quoted = escaped or c != '"'
            escaped = c == "\\" and not escaped
        elif c == '"':
            quoted, escaped = True, False
        elif c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0:
                found.append(text[start : place + 1])
    return tuple(found), depth > 0


def canonicalize(text: str, *, unfinished: str = UNFINISHED[0]) -> Canonical:
    """Return the canonical object of a text, or its rejection.  Never raises.

    `unfinished` is one of `UNFINISHED`: whether braces that are never closed count as a block.
    """
    raw = sha(text.encode("utf-8", "surrogatepass"))
    found, open_at_end = blocks(normalize(text))
    broken = open_at_end and unfinished == "a_block"
    if not found:
        return Canonical(raw, rejection=PARSE_ERROR if broken else NO_JSON)
    if len(found) != 1 or broken:
        return Canonical(raw, rejection=AMBIGUOUS_MULTI_BLOCK)
    try:
        value: Any = parse(found[0])
        data = canonical_bytes(value)
    except (ValueError, RecursionError):
        return Canonical(raw, rejection=PARSE_ERROR)
    return Canonical(raw, data.decode("utf-8"), sha(data))
