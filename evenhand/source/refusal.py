"""What cannot be read, said with its place: file, line, construct, reason, and what to write instead."""

from __future__ import annotations


class Unreadable(Exception):
    """A construct outside the readable part of Python.

    `construct` is its text, `why` the reason, `instead` what to write; `file` (its name alone) and `line` the place,
    empty and 0 where a value, not a line, is unreadable.
    """

    def __init__(self, construct: str, why: str, instead: str, *, file: str = "", line: int = 0) -> None:
        self.construct, self.why, self.instead, self.file, self.line = construct, why, instead, file, line
        where = f"{file}, line {line}: " if file else ""
        super().__init__(f"{where}`{construct}` is not readable: {why}; {instead}")

    def at(self, file: str, line: int, construct: str) -> Unreadable:
        """Return this refusal at a place, if it has none yet."""
        return self if self.file else Unreadable(construct, self.why, self.instead, file=file, line=line)


def refuse(why: str, instead: str) -> Unreadable:
    """Return a refusal whose place the caller adds."""
    return Unreadable("?", why, instead)
