"""`cud`: coordination under deadlock (IX-2).

Several agents act on shared keys without an arbiter: a two-pass kernel refuses what lacks authority and
whatever collides, and coordination is left to the agents.  Paragraphs (`FQ27`, `C10`) are those of the
source text; a later round of it supersedes an earlier one.
"""

from __future__ import annotations

from evenhand.core.system import Protocol
from evenhand.model.cud.conditions import CONDITIONS
from evenhand.model.cud.free import FREE
from evenhand.model.cud.mutants import MUTANTS
from evenhand.model.cud.play import RUN, UNIVERSE
from evenhand.model.cud.readings import Readings

__all__ = ["PROTOCOL"]

PROTOCOL = Protocol(
    name="cud",
    title="Coordination under deadlock (IX-2)",
    source="IX-2 pre-implementation answers, rounds 1 to 6",
    systems={system.name: system for system in (RUN, FREE, UNIVERSE, CONDITIONS)},
    readings=Readings(),
    mutants=MUTANTS,
)
