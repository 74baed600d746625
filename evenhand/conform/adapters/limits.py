"""Set the limits of a child process, in the child itself before any foreign code runs.

`python -m evenhand.conform.adapters.limits MEBIBYTES -- command …` sets them and becomes the command; they hold
for its children too.  A limit that a system lacks is left out: the parent's checks of clock and memory remain.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from dataclasses import dataclass

CORE_SECONDS = 3_600
"""Processor seconds of one child, a last resort: the parent ends silent children long before."""


@dataclass(frozen=True)
class KernelLimits:
    """The limits of one kernel process.  Raises ValueError for a limit that is not above 0.

    `seconds` without an answer before it counts as hanging, `startup` seconds for the first answer, `mebibytes` of
    memory, `answer` bytes in one answer.
    """

    seconds: float = 2.0
    startup: float = 20.0
    mebibytes: int = 1_024
    answer: int = 4 * 2**20

    def __post_init__(self) -> None:
        for name in ("seconds", "startup", "mebibytes", "answer"):
            if getattr(self, name) <= 0:
                raise ValueError(f"the limit {name} must be above 0, not {getattr(self, name)}")


def restrict(mebibytes: int) -> None:
    """Limit memory and processor time of this process and its children, and disable core files."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    wanted = (
        (resource.RLIMIT_DATA, mebibytes * 2**20),  # not the address space, of which V8 reserves much and uses little
        (resource.RLIMIT_CPU, CORE_SECONDS),
        (resource.RLIMIT_CORE, 0),
    )
    for kind, most in wanted:
        with suppress(ValueError, OSError):
            _, hard = resource.getrlimit(kind)
            bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (bound, bound))


def main(words: list[str]) -> None:
    """Restrict this process and become the command after `--`; exit with 127 if there is no such command."""
    restrict(int(words[0]))
    command = words[words.index("--") + 1 :]
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        raise SystemExit(127) from error


if __name__ == "__main__":
    main(sys.argv[1:])
