"""The one kernel that expands states of any compiled model, for numba; `plain` does the same with numpy.

Both number new states in the order in which they are found: by source, then column, then row.
"""

# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false, reportMissingImports=false
# pyright: reportUnknownVariableType=false, reportMissingModuleSource=false

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

DONE, FULL, BROKEN = 0, 1, 2
"""How an expansion ended: all sources done; no room left; a path that raised (or was never compiled) was taken."""

MEMORY = 150 << 20
"""Bytes that numba and its compiler take, approximately."""

_ready: list[bool] = []


def available() -> bool:
    """Return whether numba can be imported."""
    return find_spec("numba") is not None


def warm() -> bool:
    """Return whether the kernel has been compiled in this process."""
    return bool(_ready)


def rehash(words: Any, count: int, table: Any) -> None:
    """Enter states 0 … count-1 into an empty hash table."""
    size = len(table) - 1
    for sid in range(count):
        code = 0
        for word in range(words.shape[1]):
            code = (code ^ words[sid, word]) * 0x9E3779B97F4A7C1
            code ^= code >> 29
        place = code & size
        while table[place] >= 0:
            place = (place + 1) & size
        table[place] = sid


def expand(  # noqa: C901  numba does not inline calls that take arrays: in pieces it takes twice the time
    rows: Any,
    words: Any,
    parents: Any,
    stamp: Any,
    table: Any,
    dense: bool,
    labels: Any,
    state: Any,
) -> int:
    """Expand states state[1] … state[2]-1.

    `state` = [states, next source, end of the level, limit of states, steps, edges, open, culprit, rows of a state at
    most]; all arguments are changed in place.
    """
    size = len(table) - 1
    width = words.shape[1]
    labelled = len(labels.counts) > 1
    count, last, limit = state[0], state[2], state[3]
    steps, edges = state[4], state[5]
    columns = len(rows.list_base)
    for sid in range(state[1], last):
        if count < limit and count + state[8] > len(parents):
            state[0], state[1], state[4], state[5] = count, sid, steps, edges
            return FULL
        index = 0
        for look in range(rows.look_from[columns], rows.look_from[columns + 1]):
            at = (words[sid, rows.looks[look, 0]] >> rows.looks[look, 1]) & rows.looks[look, 2]
            index += rows.classes[rows.looks[look, 3] + at]
        leaf = rows.dispatch[index]
        if leaf < 0 or rows.leaf_offered[leaf] == -2:
            state[0], state[1], state[4], state[5], state[7] = count, sid, steps, edges, -1 - leaf
            return BROKEN
        taken = 0
        beyond = False
        for place in range(rows.leaf_from[leaf], rows.leaf_from[leaf + 1]):
            column = rows.leaf_columns[place]
            index = rows.list_base[column]
            for look in range(rows.look_from[column], rows.look_from[column + 1]):
                at = (words[sid, rows.looks[look, 0]] >> rows.looks[look, 1]) & rows.looks[look, 2]
                index += rows.classes[rows.looks[look, 3] + at]
            if rows.broken[index]:
                state[0], state[1], state[4], state[5], state[7] = count, sid, steps, edges, index
                return BROKEN
            taken += rows.list_weight[index]
            sure = rows.distinct[index]
            if sure:
                edges += rows.row_to[index] - rows.row_from[index]
            for row in range(rows.row_from[index], rows.row_to[index]):
                if width == 1:
                    target = words[sid, 0] & rows.keep[row, 0] | rows.value[row, 0]
                    if dense:
                        there = table[target]
                        spot = target
                    else:
                        code = target * 0x9E3779B97F4A7C1
                        code ^= code >> 29
                        spot = code & size
                        there = table[spot]
                        while there >= 0 and words[there, 0] != target:
                            spot = (spot + 1) & size
                            there = table[spot]
                else:
                    target = 0
                    code = 0
                    for word in range(width):
                        code = (code ^ (words[sid, word] & rows.keep[row, word] | rows.value[row, word])) * (
                            0x9E3779B97F4A7C1
                        )
                        code ^= code >> 29
                    spot = code & size
                    there = table[spot]
                    while there >= 0:
                        same = True
                        for word in range(width):
                            if words[there, word] != (words[sid, word] & rows.keep[row, word] | rows.value[row, word]):
                                same = False
                                break
                        if same:
                            break
                        spot = (spot + 1) & size
                        there = table[spot]
                if there < 0:
                    if count < limit:
                        there = count
                        table[spot] = there
                        parents[there] = sid
                        if width == 1:
                            words[there, 0] = target
                        else:
                            for word in range(width):
                                words[there, word] = words[sid, word] & rows.keep[row, word] | rows.value[row, word]
                        stamp[there] = -1
                        count += 1
                    else:
                        state[6] = 1
                        if not beyond and not sure:
                            edges += 1
                        elif beyond and sure:
                            edges -= 1
                        beyond = True
                if there >= 0 and not sure and stamp[there] != sid:
                    stamp[there] = sid
                    edges += 1
                if labelled:
                    label = rows.label[row]
                    labels.counts[label] += rows.weight[row]
                    if labels.state[label] < 0:
                        labels.state[label] = sid
                        labels.row[label] = row
        if rows.leaf_offered[leaf] >= 0 and rows.leaf_offered[leaf] != taken:
            state[0], state[1], state[4], state[5], state[7] = count, sid, steps, edges, -1 - leaf
            return BROKEN
        steps += taken
    state[0], state[1], state[4], state[5] = count, last, steps, edges
    return DONE


@cache
def compiled_kernels() -> tuple[Any, Any]:
    """Return `expand` and `rehash`; numba compiles them when they are first called."""
    import numba

    _ready.append(True)
    return numba.njit(expand), numba.njit(rehash)
