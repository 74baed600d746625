"""A report that is no theorem: `python -m evenhand.proofs.cud determined`."""

from __future__ import annotations

import sys

from evenhand.proofs.cud.determined import CLAIMS, least_set


def main(arguments: list[str]) -> int:
    """Print the requested report and return 0, or 2 for wrong arguments."""
    match arguments:
        case ["determined"]:
            found = least_set()
            spared = [name for name in CLAIMS if name not in found]
            print("\n  ".join(("These claims determine the kernel, and none of them can be spared:", *found)))
            print(f"Follows from them: {', '.join(spared) or 'nothing else'}.")
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
