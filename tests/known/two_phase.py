"""Two-phase commit, from the model in the tests of the search; this module contains no second copy.

Published: Lamport's video course and the TLA+ examples (`TwoPhase`): 288 distinct states for three resource managers;
Stateright's example `2pc`: 288 for three and 8,832 for five.
"""

from __future__ import annotations

from tests.known.known import Known
from tests.models.two_phase_commit import ALL_COMMIT, CONSISTENT, DECISIONS_STAY, two_phase_commit

# Each prepares, is heard and obeys; the manager commits once.
KNOWN = Known(two_phase_commit(3), 288, true=(CONSISTENT, DECISIONS_STAY), reached=((ALL_COMMIT, 3 * 3 + 1),))
KNOWN_FIVE = Known(two_phase_commit(5), 8_832, true=(CONSISTENT,), reached=((ALL_COMMIT, 3 * 5 + 1),))
