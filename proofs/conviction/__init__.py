"""What `conviction` is proved to do, for any number of agents, proposals, stakes and ticks.

The facts are about sums and orders of numbers, which the first-order theories of the engine do not have; so they are
obligations over integers and reals, put to both solvers as one text (`obligations`), with faults that must fail and a
link that evaluates the same formulas on steps of the model.  `THEOREMS` is empty: nothing here goes through the engine.
"""

from __future__ import annotations

__all__ = ["THEOREMS"]

THEOREMS = ()
"""Nothing for the engine of first-order theories."""
