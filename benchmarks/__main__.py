"""`python -m benchmarks` (run by `make bench`): see `explore`."""

from benchmarks.explore import main

if __name__ == "__main__":
    raise SystemExit(main())
