"""Limit this process, then become a command: `python launch.py PARENT MEMORY CPU command …`.

The limits (bytes of memory, seconds of CPU; 0: none) hold before any foreign code runs, and for each process that the
command starts.  A limit that a system lacks is left out.  Unlike `preexec_fn` of `subprocess`, this is safe where
threads run.  The file imports nothing of evenhand, so that it starts in a few milliseconds.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress


def end_with_parent(parent: int) -> None:
    """Have this process killed when `parent`, which started it, ends in any way; does nothing except on Linux."""
    if not sys.platform.startswith("linux"):
        return
    set_death_signal = 1  # PR_SET_PDEATHSIG of prctl(2)
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the call
        os.kill(os.getpid(), signal.SIGKILL)


def limit(resource_name: str, most: int | None, *, for_good: bool = False) -> None:
    """Limit a resource of this process and its later children: DATA (bytes of memory of its own), CPU (seconds) …

    None: the most that the system allows.  A limit `for_good` cannot be raised again.  Allocating beyond DATA raises
    MemoryError; V8 reserves much of the address space and uses little, so that is not limited.
    """
    try:
        import resource

        kind: int = getattr(resource, f"RLIMIT_{resource_name}")
    except (ImportError, AttributeError):
        return
    _, hard = resource.getrlimit(kind)
    bound = hard if most is None else most if hard == resource.RLIM_INFINITY else min(most, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (bound, bound if for_good else hard))


def main(words: list[str]) -> None:
    """Restrict this process and become the command; exit with 127 if there is no such command."""
    parent, memory, cpu = map(int, words[:3])
    command = words[3:]
    end_with_parent(parent)
    limit("CORE", 0, for_good=True)
    for name, most in (("DATA", memory), ("CPU", cpu)):
        if most:
            limit(name, most, for_good=True)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        raise SystemExit(127) from error


if __name__ == "__main__":
    main(sys.argv[1:])
