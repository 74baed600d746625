"""Transition tables learned by observation: the model's own functions run on proxies, which record what decides.

`expressions` are values computed from columns, `proxies` make them while the model runs, `sets` gives the elements of a
set columns of their own, `loops` tells which of them a comprehension wants, `sources` finds its source, `segments` cuts
`actions` into pieces, `trees` keeps what was observed, `learning` observes, `walk` answers from it level by level,
`audit` compares samples with the plain functions, and `method` decides when all this is tried.

`joint` evaluates joint choices in `classes` of states, `joint_walk` searches them, `histories` adds the values of
monitors, and `joint_method` decides when that is tried, and compares samples.
"""

EARLY, ENOUGH = 5_000, 20_000
"""States that explicit search finds before tables are tried; early, if the search will find as many as are enough."""

NEVER = 1 << 62
"""More states than any search finds."""

STEPS = 1_000
"""Joint choices that explicit search takes before tables are tried."""

WIDE = 10_000
"""Joint choices of an initial state from which tables are tried before any of them is taken."""

JOINT_SHARE = 4.0
"""What learning joint choices may spend for each step so far or known to come; what is spent takes less time."""
