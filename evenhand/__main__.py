"""The `evenhand` script, and `python -m evenhand` where the script is not on the path.

Loading the command line takes about half a second.  It is loaded inside the boundary, so that Ctrl-C meanwhile, or an
installation that is not whole, ends like any other command.
"""

import os
import sys

from evenhand.exits import ended


def main() -> None:
    """Load the command line and run it."""
    sys.exit(ended(_run))


def _run() -> None:
    """Keep what Hypothesis stores out of the current folder, and run."""
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.path.join(caches, "evenhand", "hypothesis"))
    from evenhand.cli import main as run

    run()


if __name__ == "__main__":
    main()
