"""Read files of another version: older ones are migrated, newer ones refused with a message that says what to do.

A migration is a pure function from the content of one version to that of the next; reading applies as many as needed.
Files on disk change only on request, and a refusal names the version of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from evenhand.core.canonical import Json

__all__ = ["AGAIN", "BadRecord", "Migration", "migrated"]

Migration = Callable[[dict[str, Json]], dict[str, Json]]
"""From the content of a file of one version to the content of the next; the caller sets the number."""


class BadRecord(ValueError):
    """A record that cannot be used: `culprit` (a file), `cause`, and the `next_step` that mends it."""

    def __init__(self, culprit: str, cause: str, next_step: str) -> None:
        super().__init__(f"{culprit}: {cause}. {next_step}.")
        self.culprit, self.cause, self.next_step = culprit, cause, next_step


def migrated(
    data: Json, known: str, newest: int, origin: str, migrations: Mapping[int, Migration] | None = None
) -> dict[str, Json]:
    """Return `data` as version `newest` of the format `known`; `migrations[n]` leads from version n to n + 1.

    Raises BadRecord for another format, for a version that is no number or newer than `newest`, and for an older one
    without a migration.
    """
    top: dict[str, Any] = cast("Any", data) if isinstance(data, dict) else {}
    named, version = top.get("format"), top.get("version")
    if named != known:
        formatted = f"its format is {named!r:.60}" if named is not None else "it names no format"
        raise BadRecord(origin, f"{formatted}, not {known!r}", "Give a file that `evenhand` recorded")
    if type(version) is not int or version < 1:
        raise BadRecord(origin, f"its version is {version!r:.60}, not {newest}", AGAIN)
    if version > newest:
        raise BadRecord(
            origin, f"it is of version {version}, newer than {newest}, the newest known here", "Update evenhand"
        )
    steps = migrations or {}
    while version < newest:
        if version not in steps:
            raise BadRecord(origin, f"it is of version {version}, and nothing leads from there to {newest}", AGAIN)
        top = {**steps[version](dict(top)), "format": known, "version": version + 1}
        version += 1
    return top


AGAIN = "Record it again, or restore the file from version control"
"""The next step for most faults of a record."""
