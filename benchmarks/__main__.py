"""`python -m benchmarks` (what `make bench` runs): see `explore`."""

from benchmarks.explore import main

if __name__ == "__main__":
    raise SystemExit(main())
