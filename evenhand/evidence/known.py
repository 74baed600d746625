"""Findings that are known already, for every command that takes a baseline: read from files, and recognised again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from evenhand.core.canonical import Json, parse
from evenhand.core.files import Unreadable, content_of
from evenhand.core.lookup import Refused

Known = tuple[str, str, frozenset[str], frozenset[str]]
"""What differs, the claim, the kinds of its differences, and the known faults that show the same."""

Reader = Callable[[Path, Mapping[str, Any]], Iterable[Known] | None]
"""From a file and its JSON to the findings in it; None for a file of another kind."""


class BadBaseline(Refused, ValueError):
    """A file that holds no findings; the message says which, why, and what to do."""


@dataclass(frozen=True)
class KnownFindings:
    """Findings of an earlier run."""

    known: tuple[Known, ...] = ()

    def has(self, finding: Known) -> bool:
        """Return whether a known finding of the same claim differs in the same, or in more or less of it.

        It must not show other known faults than the new one, and without a kind it is the same as nothing with one.
        """
        what, claim, kinds, alike = finding
        return any(
            what == one
            and claim == other
            and bool(kinds) == bool(these)
            and (kinds <= these or these <= kinds)
            and (kinds == these or not (alike and faults and alike.isdisjoint(faults)))
            for one, other, these, faults in self.known
        )


def known_in(files: Iterable[Path], read: Reader, give: str, again: str) -> KnownFindings:
    """Return the findings in these files.

    `give` says which files to give instead of a wrong one, `again` what to do about an incomplete one.  Raises
    BadBaseline.
    """
    return KnownFindings(tuple(known for path in files for known in _read(path, read, give, again)))


def _read(path: Path, read: Reader, give: str, again: str) -> tuple[Known, ...]:
    try:
        data = parse(content_of(path))
    except Unreadable as error:
        raise BadBaseline(str(error)) from error
    except ValueError as error:
        raise BadBaseline(f"{path}: {error!s:.200}. {give}") from error
    made = cast("dict[str, Json]", data) if isinstance(data, dict) else {}
    try:
        found = read(path, made)
        known = None if found is None else tuple(found)
    except (KeyError, TypeError) as error:
        raise BadBaseline(f"{path}: a finding lacks {error}. {again}") from error
    if known is None:
        raise BadBaseline(f"{path}: it holds no findings. {give}")
    return known
