"""What `conviction` is proved to do, for any number of agents, proposals, stakes and ticks.

Start reading at `ledger`, which says what becomes of points, and `invariants`, what no run ever leaves; `clock` is why
every Issue ends.
"""

from __future__ import annotations

from evenhand.proofs.conviction.clock import CLOSER
from evenhand.proofs.conviction.feedback import LAWFUL
from evenhand.proofs.conviction.finale import STAKES
from evenhand.proofs.conviction.moves import MOVED
from evenhand.proofs.conviction.winners import WINNERS
from evenhand.smt.theorem import Theorem

THEOREMS: tuple[Theorem, ...] = (CLOSER, LAWFUL, MOVED, *STAKES, *WINNERS)
"""What single steps do; `invariants` has what runs never leave."""
