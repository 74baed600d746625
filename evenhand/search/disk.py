"""What a search asks of a disk when its memory ends.

Engines write no files.  Whoever starts a search hands over a `Spill`, which opens a `Disk` when one is needed; the
search says when it is done with it.  Nothing on a `Disk` outlives the search, and no other process reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

__all__ = ["Disk", "Spill", "SpillFailed", "plausible"]


class SpillFailed(Exception):
    """A disk that cannot be written or read any more; names the folder, the cause and the next step."""


def plausible(number: int, parent: int) -> int:
    """The parent of a state, which has a smaller number, or a way back would never end.  Raises SpillFailed."""
    if parent >= number:
        raise SpillFailed(
            f"the disk gave back {parent} for the parent of state {number}: check the disk, or name another"
        )
    return parent


class Disk(Protocol):
    """Records and keys of one search.  Every method may raise SpillFailed."""

    def put(self, number: int, code: int, body: bytes, parent: int, action: int) -> None:
        """Keep a state under a new number: its hash, its bytes, and how it was reached."""
        ...

    def alike(self, code: int) -> Sequence[tuple[int, bytes]]:
        """Number and bytes of every state kept with this hash (64 bits, signed)."""
        ...

    def body(self, number: int) -> bytes:
        """The bytes of a state."""
        ...

    def link(self, number: int) -> tuple[int, int]:
        """Parent and action of a state."""
        ...

    def unseen(self, keys: Sequence[int] | Sequence[bytes]) -> Sequence[int]:
        """The positions of the keys (all different) that were never handed over before, in order; now they were."""
        ...

    def forget(self, keys: Sequence[int] | Sequence[bytes]) -> None:
        """As if these keys had never been handed over."""
        ...

    def append(self, first: int, words: bytes, parents: bytes) -> None:
        """Keep a block of equally long records, numbered from `first` on."""
        ...

    def block(self, number: int) -> tuple[int, bytes, bytes]:
        """The block that record `number` is in, as it was appended."""
        ...

    def close(self) -> None:
        """Give everything back.  Never raises, and may be called again."""
        ...


Spill: TypeAlias = Callable[[], Disk]
"""Opens a disk.  Raises SpillFailed."""
