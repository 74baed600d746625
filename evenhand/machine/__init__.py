"""The state machine: drawn runs of any system, watched by its claims.

Where the search visits everything in a small scope, the machine draws runs in a large one.  Hypothesis
draws; a generator's rules say what is worth drawing; the claims watch every step; whatever they catch is
shrunk and goes before the judge.  Sampling shows that a claim is false, or that it held on so many runs
that were not vacuous: coverage below a floor, or an antecedent never met, leaves a claim UNDECIDED.
"""

from evenhand.machine.fuzzing import fuzz, machine
from evenhand.machine.ledger import Fuzzing, Refuted

__all__ = ["Fuzzing", "Refuted", "fuzz", "machine"]
