"""Put a table between its marks in a page."""

from __future__ import annotations

from pathlib import Path

from evenhand.evidence.store import write_atomically


def put(page: Path, begin: str, table: str, end: str) -> None:
    """Replace what stands between two marks of a page; without them it is added with its marks at the end."""
    above, _, rest = page.read_text("utf-8").partition(begin)
    write_atomically(page, f"{above}{begin}{table}{end}{rest.partition(end)[2]}".encode())
