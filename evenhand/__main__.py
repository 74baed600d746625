"""`python -m evenhand`: the command line, where the `evenhand` script is not on the path."""

from evenhand.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
