"""evenhand: verify kernels in which several agents act without an arbiter.

One import is enough for a team's own test file:

    import evenhand

    @evenhand.always("At most one process is in the critical section.")
    def mutual_exclusion(state): ...

    def test_lock():
        assert evenhand.verify(lock, [mutual_exclusion]).holds

Names are loaded when they are first used, so that `import evenhand` loads no engine and no solver.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.model.system import Fairness, Mutant, Protocol, Scope, Step, System, UnknownName
    from evenhand.model.trace import Lasso, Pair, Scenario, Trace, replay
    from evenhand.properties.machine import fuzz
    from evenhand.properties.property import (
        always,
        commute,
        deadlock_free,
        determined_by,
        each_step,
        eventually,
        leads_to,
        livelock_free,
        monitor,
        reachable,
        two_run,
    )
    from evenhand.properties.search import explore
    from evenhand.properties.verdict import Status, Verdict
    from evenhand.quick import system
    from evenhand.report.report import Report
    from evenhand.verification import verify
    from evenhand.versions import __version__

__all__ = [
    "Fairness",
    "Lasso",
    "Mutant",
    "Pair",
    "Protocol",
    "Report",
    "Scenario",
    "Scope",
    "Status",
    "Step",
    "System",
    "Trace",
    "UnknownName",
    "Verdict",
    "__version__",
    "always",
    "commute",
    "deadlock_free",
    "determined_by",
    "each_step",
    "eventually",
    "explore",
    "fuzz",
    "leads_to",
    "livelock_free",
    "monitor",
    "reachable",
    "replay",
    "system",
    "two_run",
    "verify",
]

_HOME = {
    "evenhand.model.system": ("Fairness", "Mutant", "Protocol", "Scope", "Step", "System", "UnknownName"),
    "evenhand.model.trace": ("Lasso", "Pair", "Scenario", "Trace", "replay"),
    "evenhand.properties.machine": ("fuzz",),
    "evenhand.properties.property": (
        "always",
        "commute",
        "deadlock_free",
        "determined_by",
        "each_step",
        "eventually",
        "leads_to",
        "livelock_free",
        "monitor",
        "reachable",
        "two_run",
    ),
    "evenhand.properties.search": ("explore",),
    "evenhand.properties.verdict": ("Status", "Verdict"),
    "evenhand.quick": ("system",),
    "evenhand.report.report": ("Report",),
    "evenhand.verification": ("verify",),
    "evenhand.versions": ("__version__",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOME.items():
        if name in names:
            value = getattr(importlib.import_module(module), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'evenhand' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
