"""Klotski, the sliding puzzle of ten blocks: bring the big one to the middle of the lower edge.

Published: the specification is `SlidingPuzzles` of the TLA+ examples, whose run stops at the first solution; the whole
graph of the puzzle is well known: 25,955 positions (blocks of one shape are not told apart), and a shortest solution of
116 steps by one cell (81 if a block may go on in the same move).
"""

from __future__ import annotations

import evenhand
from tests.known.known import Known

Cell = tuple[int, int]
Block = frozenset[Cell]
Board = frozenset[Block]
Action = tuple[tuple[Cell, ...], Cell]
CELLS = {(x, y) for x in range(4) for y in range(5)}
DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0))
GOAL = frozenset({(1, 3), (1, 4), (2, 3), (2, 4)})
PICTURE = ("abbc", "abbc", "deef", "dghf", "i  j")


def pictured(rows: tuple[str, ...]) -> Board:
    """Return the board of a picture: the cells of a letter are a block."""
    at = {(x, y): letter for y, row in enumerate(rows) for x, letter in enumerate(row) if letter != " "}
    return frozenset(frozenset(cell for cell in at if at[cell] == letter) for letter in set(at.values()))


def moved(block: Block, by: Cell) -> Block:
    """Return a block one cell further."""
    return frozenset((x + by[0], y + by[1]) for x, y in block)


def actions(board: Board) -> list[Action]:
    """Each block with room in a direction; a block is identified by its cells."""
    free = CELLS.difference(*board)
    moves = ((block, by) for block in sorted(board, key=sorted) for by in DIRECTIONS)
    return [(tuple(sorted(block)), by) for block, by in moves if moved(block, by) <= free | block]


def step(board: Board, action: Action) -> Board:
    """One block moves one cell."""
    cells, by = action
    block = frozenset(cells)
    return (board - {block}) | {moved(block, by)}


@evenhand.always("Ten blocks cover eighteen cells.")
def no_overlap(board: Board) -> bool:
    """No block lies on another or leaves the board."""
    covered = [cell for block in board for cell in block]
    return len(board) == 10 and len(set(covered) & CELLS) == len(covered) == 18


@evenhand.reachable("The big block can get to the middle of the lower edge.")
def solved(step: evenhand.Step[None, Board, Action, None]) -> bool:
    """The puzzle."""
    return GOAL in step.after


PUZZLE = evenhand.system("klotski", initial=[pictured(PICTURE)], actions=actions, step=step)
KNOWN = Known(PUZZLE, states=25_955, true=(no_overlap,), reached=((solved, 116),))
