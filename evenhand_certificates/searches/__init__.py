"""Check certificates of searches: every state is reached again, by a plain loop over the model's own step.

This package needs the protocol's model and claims, and of evenhand its core alone; no engine.  `check` reads a
certificate and walks the graph, `watches` has what each kind of claim asks of it, `ranks` the rules for claims about
whole runs.
"""

# SPDX-License-Identifier: MIT

from evenhand_certificates.searches.check import FORMAT, Searched, check_search
from evenhand_certificates.searches.watches import KINDS

__all__ = ["FORMAT", "KINDS", "Searched", "check_search"]
