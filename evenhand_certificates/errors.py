"""The one error of this package, and the limits that keep a hostile certificate from running on or filling memory."""

# SPDX-License-Identifier: MIT

MOST_BYTES = 16 * 1024 * 1024
"""The most bytes of a certificate; as JSON of empty objects so many take half a gigabyte of memory."""


class Invalid(ValueError):
    """A certificate that proves nothing; the message names the place and the reason."""


class Work:
    """Units of work of one check, about a microsecond each."""

    def __init__(self, units: int = 40_000_000) -> None:
        self.left = units

    def spend(self, units: int = 1) -> None:
        """Take units.  Raises Invalid when none are left."""
        self.left -= units
        if self.left < 0:
            raise Invalid("checking it takes more work than is allowed")
