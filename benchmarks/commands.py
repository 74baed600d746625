"""Systems without declarations, as whole processes: a plain loop, explicit search, and what `explore` does by default.

    python -m benchmarks.commands

Each system of the literature (`tests/known`, `tests/models`) is searched without claims, in a process of its own for
each contender.  CPU seconds are those of the finished process, start-up and imports included.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

CASES = {
    "Lamport's mutex, 3 processes, clocks to 6": (
        "tests.known.gallery",
        "SYSTEMS['lamport_mutex'].mutex('lamport_mutex', 3, 6)",
    ),
    "two-phase commit, 7 managers": ("tests.models.two_phase_commit", "two_phase_commit(7)"),
    "Chameneos": ("tests.known.chameneos", "KNOWN.system"),
    "SimpleRegular": ("tests.known.simple", "KNOWN_REGULAR.system"),
    "eight puzzle": ("tests.known.eight_puzzle", "PUZZLE"),
}
"""Systems by name: a module, and an expression in it."""

CONTENDERS = {
    "plain loop": "from benchmarks.bare import bare\ncounts = bare(system)\n",
    "explicit": "import evenhand\ncounts = evenhand.explore(system, method='explicit')\n",
    "default": "import evenhand\ncounts = evenhand.explore(system)\n",
}


def seconds_of(module: str, expression: str, contender: str) -> tuple[float, str]:
    """Return the CPU seconds of one process, and the counts that it printed."""
    code = (
        f"from {module} import *\nimport {module} as module\nsystem = eval({expression!r}, vars(module))\n"
        f"{CONTENDERS[contender]}print(counts.states, counts.transitions, counts.edges, counts.depth)"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout.strip()


def main() -> int:
    """Print a table.  Returns 1 where the contenders count differently."""
    print("| system | states, steps, edges, depth | " + " | ".join(CONTENDERS) + " |")
    print("|---|---|" + "---|" * len(CONTENDERS))
    wrong = False
    for name, (module, expression) in CASES.items():
        found = {contender: seconds_of(module, expression, contender) for contender in CONTENDERS}
        counts = {counted for _, counted in found.values()}
        wrong = wrong or len(counts) > 1
        spent = " | ".join(f"{seconds:.1f} s" for seconds, _ in found.values())
        print(f"| {name} | {' / '.join(sorted(counts))} | {spent} |", flush=True)
    return int(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
