"""The expectations of this protocol: claim, reading, verdict, registered before any run in `expected.json`."""

from __future__ import annotations

from evenhand.core.expectations import stated_in

__all__ = ["EXPECTED"]

EXPECTED = stated_in("evenhand.properties.cud")
"""What was registered."""
