"""A small checker of certificates.  It imports the standard library alone, and nothing of evenhand.

`formulas` reads a statement, `clauses` makes clauses of it and of instances, `equality` and `arithmetic` accept lemmas,
`refutation` follows a refutation step by step, `check` puts them together, `theorems` says that certificates add up to
a theorem, `files` reads them.
"""

# SPDX-License-Identifier: MIT

from evenhand_certificates.check import Checked, check
from evenhand_certificates.errors import Invalid

__all__ = ["Checked", "Invalid", "check"]
