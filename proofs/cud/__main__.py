"""Two reports that are no theorems: `python -m evenhand.proofs.cud determined`, and `… matrix [THEOREM…]`."""

from __future__ import annotations

import sys

from evenhand.proofs.cud.determined import CLAIMS, minimal_sets
from evenhand.proofs.cud.matrix import cells, table
from evenhand.proofs.cud.words import OUTSIDE

__all__: list[str] = []


def main(arguments: list[str]) -> int:
    """Print the report that is asked for; 2 for bad use."""
    match arguments:
        case ["determined"]:
            for found in minimal_sets():
                spared = [name for name in CLAIMS if name not in found]
                print("\n  ".join(("These claims determine the kernel, and none of them can be spared:", *found)))
                print(f"Follows from them: {', '.join(spared) or 'nothing else'}.")
        case ["matrix", *theorems]:
            print(table(cells(theorems)))
            print("X killed by a countermodel that replays, o spared by a proof, . not touched,")
            print("? a countermodel that does not replay, - no solver decides")
            for mutant, reason in OUTSIDE.items():
                print(f"outside the theory: {mutant}, because {reason}")
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
