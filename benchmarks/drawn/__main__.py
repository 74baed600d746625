"""Try every claim on the faults of `faults.json`: `python -m benchmarks.drawn [PROTOCOL ...]`.

A fault exchanges a text of one function of a model.  It is tried as the faults made by rule are (see
`evenhand.studies.by_rule`): wherever a step of the reference calls the function, and by claims alone, never by
comparison with the model.  Prints a row for each, and exits with 1 if one is not killed.  The table of the last run is
in `docs/reference/faults-by-rule.md`.
"""

from __future__ import annotations

import argparse
import sys
import time

from benchmarks.drawn.trying import Drawn, listed, tried
from evenhand.core.registry import find, protocols
from evenhand.studies.by_rule import Made


def line(drawn: Drawn, made: Made) -> str:
    """Return the row of a fault: protocol, name, paragraph, what is wrong, and what became of it."""
    told = f"`{made.claim}`" if made.claim else made.status
    return f"| `{drawn.protocol}` | `{drawn.name}` | {drawn.paragraph} | {drawn.fault} | {told} |"


def main() -> int:
    """Print the row of each fault; 1 if one is not killed."""
    every = [one.name for one in protocols()]
    parser = argparse.ArgumentParser(description="Try every claim on the faults of faults.json.")
    parser.add_argument(
        "protocols", nargs="*", metavar="PROTOCOL", choices=[*every, []], help=f"one of: {', '.join(every)}"
    )
    total = killed = 0
    for name in parser.parse_args().protocols or every:
        began = time.process_time()
        for drawn, made in tried(find(name), listed(name)):
            total += 1
            killed += made.status == "killed"
            print(line(drawn, made), made.because, flush=True)
        print(f"{name}: {time.process_time() - began:.0f} s", file=sys.stderr)
    print(f"{total} faults, {killed} killed by claims")
    return 0 if killed == total else 1


if __name__ == "__main__":
    raise SystemExit(main())
