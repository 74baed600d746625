"""The state machine: drawn runs of any system, checked against its claims.

The search visits everything in a small scope; the machine draws runs in a large one.  Hypothesis draws; a generator's
rules say what is worth drawing; the claims are evaluated at every step; candidates are shrunk and judged.  Sampling
shows that a claim is false, or that it held on a number of non-vacuous runs: an event below its floor, or an antecedent
never met, leaves a claim UNDECIDED.
"""

from evenhand.machine.fuzzing import fuzz, machine
from evenhand.machine.ledger import Fuzzing, Refuted

__all__ = ["Fuzzing", "Refuted", "fuzz", "machine"]
