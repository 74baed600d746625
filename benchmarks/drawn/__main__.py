"""Try every claim on the faults of `faults.json`: `python -m benchmarks.drawn [PROTOCOL ...] [--write]`.

A fault exchanges a text of one function of a model.  It is tried as the faults made by rule are (see
`evenhand.studies.by_rule`): wherever a step of the reference calls the function, and by claims alone, never by
comparison with the model.  `--write` puts the table into `docs/reference/faults-by-rule.md`; it needs every protocol.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.drawn.trying import Drawn, listed, tried
from evenhand.core.registry import find, protocols
from evenhand.studies.by_rule import Made

PAGE = Path("docs/reference/faults-by-rule.md")
BEGIN, END = "<!-- drawn: lines of `python -m benchmarks.drawn` -->\n", "<!-- end of drawn -->\n"


def line(drawn: Drawn, made: Made) -> str:
    """Return the row of a fault: protocol, fault, paragraph, and what became of it."""
    told = f"`{made.claim}`" if made.claim else made.status
    return f"| `{drawn.protocol}` | `{drawn.name}` | {drawn.paragraph} | {drawn.fault} | {told} |"


def table(rows: Iterable[str]) -> str:
    """Return the table of these rows."""
    return "".join(
        f"{row}\n" for row in ("| protocol | fault | paragraph | what is wrong | killed by |", "|---|---|---|---|---|", *rows)
    )


def main(arguments: list[str]) -> int:
    """Print the row of each fault; 1 if one survives."""
    names = [one for one in arguments if not one.startswith("--")] or [one.name for one in protocols()]
    rows: list[str] = []
    alive = 0
    for name in names:
        began = time.process_time()
        for drawn, made in tried(find(name), listed(name)):
            rows.append(line(drawn, made))
            alive += made.status != "killed"
            print(rows[-1], "" if made.claim else made.because, flush=True)
        print(f"{name}: {time.process_time() - began:.0f} s", file=sys.stderr)
    print(f"{len(rows)} faults, {len(rows) - alive} killed by claims")
    if "--write" in arguments:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}{table(rows)}{END}{rest.partition(END)[2]}", "utf-8")
    return 1 if alive else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
