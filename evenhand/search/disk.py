"""The interface of a disk on which a search continues when its memory ends.

Engines write no files: the caller of a search passes a `Spill`, which opens a `Disk` when one is needed; the search
closes it.  Nothing on a `Disk` outlives the search, and no other process reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias


class SpillFailed(Exception):
    """A disk can no longer be written or read; names the folder, the cause and the next step."""


def plausible(number: int, parent: int) -> int:
    """Return the parent of a state.  Raises SpillFailed unless its number is smaller, because paths back must end."""
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
        """Return number and bytes of every state kept with this hash (64 bits, signed)."""
        ...

    def body(self, number: int) -> bytes:
        """Return the bytes of a state."""
        ...

    def link(self, number: int) -> tuple[int, int]:
        """Return parent and action of a state."""
        ...

    def unseen(self, keys: Sequence[int] | Sequence[bytes]) -> Sequence[int]:
        """Return the positions of the keys (all different) that are new, in order, and remember the keys."""
        ...

    def forget(self, keys: Sequence[int] | Sequence[bytes]) -> None:
        """Forget these keys, so that they are new again."""
        ...

    def append(self, first: int, words: bytes, parents: bytes) -> None:
        """Keep a block of equally long records, numbered from `first` on."""
        ...

    def block(self, number: int) -> tuple[int, bytes, bytes]:
        """Return the block that holds record `number`, as it was appended."""
        ...

    def close(self) -> None:
        """Release everything.  Never raises, and may be called again."""
        ...


Spill: TypeAlias = Callable[[], Disk]
"""Opens a disk.  Raises SpillFailed."""
