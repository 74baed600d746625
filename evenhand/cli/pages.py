"""Write the pages of the protocols in docs/reference/protocols: `python -m evenhand.cli.pages`."""

from __future__ import annotations

from pathlib import Path

from evenhand.core.registry import protocols
from evenhand.evidence.store import write_atomically
from evenhand.report.vocabulary import page

FOLDER = Path("docs/reference/protocols")


def main() -> None:
    """Write a page for every protocol, from the folder of the project."""
    for bundle in protocols():
        write_atomically(FOLDER / f"{bundle.name}.md", page(bundle).encode())


if __name__ == "__main__":
    main()
