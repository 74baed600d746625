"""The `evenhand` script, and `python -m evenhand` where the script is not on the path.

Loading the command line takes about half a second.  It is loaded inside `main`, so that Ctrl-C meanwhile gives the
message and the exit code of every interrupted command.
"""

import sys

INTERRUPTED = 130
"""Same as in `evenhand.cli.console`, which is not loaded yet."""


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
