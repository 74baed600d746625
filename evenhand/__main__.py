"""The `evenhand` script, and `python -m evenhand` where it is not on the path.

Loading the command line takes about half a second.  Whoever presses Ctrl-C in it gets the line and the exit code
of every interrupted command, so that what loads is loaded in here.
"""

import sys

__all__ = ["main"]

INTERRUPTED = 130
"""As `evenhand.cli.console` has it, which is not loaded yet."""


def main() -> None:
    """Load the command line and run it."""
    try:
        from evenhand.cli import main as run
    except KeyboardInterrupt:
        print("evenhand: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
