"""`cud`: coordination under deadlock (IX-2).

Several agents act on shared keys without an arbiter: a two-pass kernel refuses requests without authority and
requests that collide, and the agents coordinate themselves.  Paragraphs (`FQ27`, `C10`) are those of the
source text; a later round of it supersedes an earlier one.
"""

from __future__ import annotations

from evenhand.model.cud.protocol import CUD

__all__ = ["PROTOCOL"]

PROTOCOL = CUD
"""The protocol for the registry."""
