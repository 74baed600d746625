"""evenhand: verify kernels in which several agents act without an arbiter.

One import is enough for a team's own test file:

    import evenhand

    @evenhand.always("At most one process is in the critical section.")
    def mutual_exclusion(state): ...

    def test_lock():
        assert evenhand.verify(lock, [mutual_exclusion]).holds

Names load on first use, so that `import evenhand` loads no engine and no solver.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.arbiters.rules import rule
    from evenhand.core.answers import ModelError
    from evenhand.core.fairness import per_agent
    from evenhand.core.lookup import UnknownName
    from evenhand.core.property import (
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
    from evenhand.core.quick import system
    from evenhand.core.refinement import keeps_fairness, refines
    from evenhand.core.system import Fairness, Mutant, Protocol, Scope, Step, System
    from evenhand.core.temporal import temporal
    from evenhand.core.trace import Lasso, Pair, Scenario, Trace, replay
    from evenhand.core.verdict import Status, Verdict
    from evenhand.core.versions import __version__
    from evenhand.evidence.itf_run import run_from_itf
    from evenhand.examination import examine
    from evenhand.machine import fuzz
    from evenhand.report.report import Report
    from evenhand.search import explore
    from evenhand.search.views import licence_by_search
    from evenhand.verification import verify

__all__ = [
    "Fairness",
    "Lasso",
    "ModelError",
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
    "examine",
    "explore",
    "fuzz",
    "keeps_fairness",
    "leads_to",
    "licence_by_search",
    "livelock_free",
    "monitor",
    "per_agent",
    "reachable",
    "refines",
    "replay",
    "rule",
    "run_from_itf",
    "system",
    "temporal",
    "two_run",
    "verify",
]

_HOME = {
    "evenhand.core.answers": ("ModelError",),
    "evenhand.core.system": ("Fairness", "Mutant", "Protocol", "Scope", "Step", "System", "UnknownName"),
    "evenhand.core.trace": ("Lasso", "Pair", "Scenario", "Trace", "replay"),
    "evenhand.machine": ("fuzz",),
    "evenhand.core.property": (
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
    "evenhand.search": ("explore",),
    "evenhand.search.views": ("licence_by_search",),
    "evenhand.evidence.itf_run": ("run_from_itf",),
    "evenhand.examination": ("examine",),
    "evenhand.arbiters.rules": ("rule",),
    "evenhand.core.verdict": ("Status", "Verdict"),
    "evenhand.core.quick": ("system",),
    "evenhand.core.refinement": ("keeps_fairness", "refines"),
    "evenhand.core.fairness": ("per_agent",),
    "evenhand.core.temporal": ("temporal",),
    "evenhand.report.report": ("Report",),
    "evenhand.verification": ("verify",),
    "evenhand.core.versions": ("__version__",),
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
