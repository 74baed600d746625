"""Solver processes: started on first use, restarted after they died, stopped with all their forks."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

from evenhand.processes.lines import Failure, LineProcess, NoLine

_HUGE = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""Large pages for z3, where glibc supports them; cvc5, whose memory is not freed, would fill them with zeros in vain.

A value in the environment takes precedence.  No answer depends on it.
"""


class Worker:
    """One solver process, started on first use and restarted after it died."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: LineProcess | None = None

    @property
    def pid(self) -> int | None:
        """The id of its process; None while there is none."""
        return self._process.pid if self._process else None

    def ask(self, question: Mapping[str, Any]) -> None:
        """Send a question; `take` returns the answer."""
        if self._process is not None and self._process.code is not None:
            self.stop()
        if self._process is None:
            large = _HUGE if self._command[-1] == "z3" else {}
            self._process = LineProcess(self._command, environment={**large, **os.environ})
        self._process.send([json.dumps(question).encode() + b"\n"])

    def take(self, seconds: float) -> Mapping[str, Any]:
        """Return the answer: `unknown` after `seconds`, `crashed` if the process ended or wrote something else."""
        assert self._process is not None, "a question comes first"
        try:
            reply: Any = json.loads(self._process.line(seconds))
        except ValueError:
            reply = None
        except NoLine as ended:
            self.stop()
            if ended.failure is Failure.HUNG:
                return {"status": "unknown", "because": f"{ended} of wall clock"}
            if ended.code is None:
                return {"status": "crashed", "because": f"the solver process is silent: {ended}"}
            how = f"signal {-ended.code}" if ended.code < 0 else f"exit code {ended.code}"
            return {"status": "crashed", "because": f"the solver process ended with {how}"}
        if isinstance(reply, dict):
            return cast("dict[str, Any]", reply)
        self.stop()
        return {"status": "crashed", "because": "the solver process wrote an invalid answer"}

    def stop(self) -> None:
        """End the process and its forks."""
        process, self._process = self._process, None
        if process is not None:
            process.stop()
