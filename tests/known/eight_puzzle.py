"""The eight puzzle: tiles slide on a board of three by three.

Published, long before any model checker: half of the 9! arrangements can be reached (Johnson and Story, 1879), which
are 181,440, and none is more than 31 moves away (Reinefeld, 1993).
"""

from __future__ import annotations

import evenhand
from tests.known.known import Known

Board = tuple[int, ...]
SOLVED = tuple(range(9))


def actions(board: Board) -> list[int]:
    """The cells from which a tile can slide into the hole, which is tile 0."""
    row, column = divmod(board.index(0), 3)
    beside = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [3 * y + x for y, x in beside if 0 <= y < 3 and 0 <= x < 3]


def step(board: Board, cell: int) -> Board:
    """A tile slides into the hole."""
    tile = board[cell]
    return tuple({0: tile, tile: 0}.get(here, here) for here in board)


@evenhand.always("A board has each tile once.")
def each_once(board: Board) -> bool:
    """No tile is lost."""
    return sorted(board) == list(SOLVED)


@evenhand.always("Two tiles alone never trade places.")
def no_swap(board: Board) -> bool:
    """The puzzle with the prize that cannot be won."""
    return board != (0, 2, 1, 3, 4, 5, 6, 7, 8)


PUZZLE = evenhand.system("eight_puzzle", initial=[SOLVED], actions=actions, step=step)
FARTHEST = 31
KNOWN = Known(PUZZLE, states=181_440, true=(each_once, no_swap))
