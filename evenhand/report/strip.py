"""A run as a picture: its states as numbered circles down the page, beside them what was done, shown and changed.

Two runs stand side by side.  The loop of a lasso is an arrow back up.  The texts are those of the story, cut where they
are long; the story has them whole.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from evenhand.evidence.story import RunLines, StepLines, Story
from evenhand.report.drawing import Edge, Node, Picture, Words

LAST = 14
"""Steps of a run that a picture shows: the last ones, because the violation is there."""

WIDE = 436
"""Width of one run in pixels."""

_LETTER, _LINE = 6.65, 15
_X, _TEXT, _GAP = 36, 62, 12
_COLUMNS = int((WIDE - _TEXT - 8) / _LETTER)

GIVEN, DONE, SHOWN, CHANGED = 4, 4, 4, 4
"""Lines of the configuration, of an action, of what it shows and of what it changes."""

STATIC = 12
"""Lines of the configuration where no step is taken: then it alone says what is wrong."""


def story_picture(story: Story) -> Picture:
    """Return each run as a column of states, with the texts of its steps beside the arrows between them."""
    runs = [run for run in story.runs if run.steps or run.start]
    fixed = [list(_fitted(filter(_says, run.config), GIVEN if run.steps else STATIC)) for run in runs]
    top = 12 + _LINE * max(map(len, fixed), default=0) + (_LINE if len(runs) > 1 else 0)
    drawn = [_run(run, WIDE * column, top + 24) for column, run in enumerate(runs)]
    heads = [
        Words(WIDE * column + _TEXT, 18, name, weight=600)
        for column, name in enumerate(("first run", "second run"))
        if len(runs) > 1
    ]
    heads += [
        Words(
            WIDE * column + 14,
            top - 2 + _LINE * (row - len(lines)),
            f"{'with ' if row == 1 else '     '}{line}",
            quiet=True,
        )
        for column, lines in enumerate(fixed)
        for row, line in enumerate(lines, start=1)
    ]
    return Picture(
        "Run" if len(runs) < 2 else "Two runs",
        WIDE * max(1, len(runs)),
        max((one.height for one in drawn), default=0),
        [node for one in drawn for node in one.nodes],
        [edge for one in drawn for edge in one.edges],
        texts=[*heads, *(text for one in drawn for text in one.texts)],
    )


def _run(run: RunLines, left: int, top: int) -> Picture:
    """One run; y grows with the lines of text."""
    skipped, steps = max(0, len(run.steps) - LAST), run.steps[-LAST:]
    first_of_loop = max(0, len(steps) - run.loop)
    ever = "from here on, for ever:" if run.loop <= len(steps) else "for ever; the loop begins earlier:"
    nodes: list[Node] = []
    edges: list[Edge] = []
    texts: list[Words] = []
    x, y, tops = left + _X, top, list[int]()
    start = f"after {skipped} steps" if skipped else "start"
    for number in range(len(steps) + 1):
        looping = run.loop > 0 and number >= first_of_loop
        last = number == len(steps)
        if last and run.loop:
            break
        tops.append(y)
        nodes.append(
            Node(x, y, number + skipped, "; ".join(run.start) if not number else "", looping, number + skipped == 0)
        )
        beside = list(_state(run, number, start))
        texts += [Words(left + _TEXT, y + 4 + _LINE * row, line, quiet=True) for row, line in enumerate(beside)]
        y += max(22, _LINE * len(beside)) + _GAP
        if last:
            break
        told = list(_step(steps[number]))
        told = [(ever, 600, True), *told] if run.loop and number == first_of_loop else told
        texts += [
            Words(left + _TEXT, y + _LINE * row, line, weight=weight, cycle=cycle)
            for row, (line, weight, cycle) in enumerate(told)
        ]
        end = y + _LINE * len(told) + _GAP
        if number < len(steps) - 1 or not run.loop:
            edges.append(Edge(_down(x, tops[-1] + 13, end - 14), " ".join(steps[number].action), looping))
        else:
            edges.append(
                Edge(_back(x, end - 2 * _GAP, tops[-1], tops[first_of_loop]), " ".join(steps[-1].action), True)
            )
        y = end
    return Picture("", WIDE, y, nodes, edges, texts=texts)


def _state(run: RunLines, number: int, start: str) -> Iterator[str]:
    """What changed on the way to a state; the start in words."""
    if not number:
        entries = (line.strip().removeprefix("- ") for line in run.start if _says(line))
        yield from _fitted([f"{start}: {'; '.join(entries)}"], 2)
        return
    steps = run.steps[-LAST:]
    yield from _fitted(steps[number - 1].changed or ("nothing changes",), CHANGED)


def _step(step: StepLines) -> Iterator[tuple[str, int, bool]]:
    """The lines of a step: what is done, then what it shows."""
    acts = [act for line in step.action for act in line.split("; ") if _says(act)]
    for line in _fitted(acts, DONE):
        yield line, 600, False
    parts = step.phases[-1:] or step.shown
    shown = [
        f"{name}: {line.strip()}" if name else line.strip()
        for name, lines in parts
        for line in lines[:SHOWN]
        if _says(line)
    ]
    for line in _fitted([f"→ {line}" for line in shown], SHOWN):
        yield line, 400, False


def _says(line: str) -> bool:
    """Whether a line of a layout says more than that an entry begins."""
    return line.strip() not in ("-", "- …")


def _fitted(lines: Iterable[str], most: int) -> Iterator[str]:
    """Yield lines of at most the width of a run, and at most so many; the last says that there are more."""
    every = [part for line in lines for part in textwrap.wrap(line, _COLUMNS, subsequent_indent="  ") or [""]]
    yield from every[:most] if len(every) <= most else [*every[: most - 1], f"{every[most - 1][: _COLUMNS - 2]} …"]


def _down(x: int, above: int, below: int) -> str:
    return f"M{x} {above} V{below} M{x - 4} {below - 7} L{x} {below} L{x + 4} {below - 7}"


def _back(x: int, end: int, last: int, first: int) -> str:
    """From the last state down to `end` and back to the first state of the loop on the left."""
    return (
        f"M{x} {last + 13} V{end} C{x - 44} {end} {x - 44} {first} {x - 13} {first} "
        f"M{x - 20} {first - 5} L{x - 13} {first} L{x - 20} {first + 5}"
    )
