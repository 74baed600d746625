"""What becomes of a slip, and whether that is an honest answer."""

from __future__ import annotations

import ast
import os
import re
import signal
import tempfile
import threading
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from tests.slips.kit import Slip, TooLong

ROOT = Path(__file__).resolve().parents[2]
OURS = tuple(ROOT / folder for folder in ("evenhand", "model", "properties", "proofs", "counterexamples"))
"""Where the code of the package lies, the links in `evenhand/` resolved."""

LONGEST = 600
"""Characters that a message may have: what a person reads at one go."""


@dataclass(frozen=True)
class Outcome:
    """What became of a slip: `error`, `refuted`, `undecided`, `HOLDS`, `traceback` or `hang`, and what was said.

    A `traceback` is an exception that nobody in the package raised on purpose, so that a user sees the inside of it.
    `green` names the engines that say HOLDS of a claim that does not hold in the whole, `sentences` are what is said
    claim by claim.
    """

    kind: str
    said: str
    green: frozenset[str] = frozenset()
    sentences: tuple[str, ...] = ()


def judged(one: Slip) -> Outcome:
    """Run it, within its time, and say what came out."""
    late: list[bool] = []
    with tempfile.TemporaryDirectory() as folder, _working_in(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a project that makes warnings errors would be told of some slips by Python
        try:
            with _limited(one.seconds, late):
                made = one.run()
        except BaseException as error:
            if late or isinstance(error, TooLong):
                return Outcome("hang", f"no answer within {one.seconds:g} seconds")
            if isinstance(error, KeyboardInterrupt):
                raise
            return _of_error(error)
    return Outcome("hang", f"no answer within {one.seconds:g} seconds") if late else _of_result(made)


def complaint(one: Slip, outcome: Outcome) -> str:
    """What is wrong with what became of a slip; empty if nothing is."""
    if one.right:
        return "" if outcome.kind == "HOLDS" else f"a right use does not hold: {outcome.kind}: {outcome.said}"
    if outcome.kind in ("HOLDS", "hang", "traceback"):
        return f"{outcome.kind}: {outcome.said}"
    if outcome.kind == "refuted" and not one.refuted:
        return f"refuted, which blames the system for the mistake: {outcome.said}"
    # Few drawn runs may miss what a search finds; nothing that decides a claim may hold beside what refutes it.
    missed = {"fuzz"} if one.sampled or outcome.kind == "refuted" else set[str]()
    if wrong := outcome.green - missed:
        return f"{outcome.kind}, and yet HOLDS by {', '.join(sorted(wrong))}: {outcome.said}"
    if outcome.kind == "refuted":
        return ""
    for sentence in outcome.sentences or (outcome.said,):
        if unfit := _unfit(sentence):
            return f"{unfit}: {sentence}"
    told = re.sub(r"\w+\.<locals>\.", "", outcome.said)  # the names of our own functions tell a user nothing
    unsaid = [pattern for pattern in one.says if not re.search(pattern, told, re.IGNORECASE)]
    return f"does not say {' or '.join(unsaid)}: {outcome.said}" if unsaid else ""


def _unfit(message: str) -> str:
    """Why a message is no sentence for a person; empty if it is one."""
    if "\n" in message:
        return "more than one line"
    if len(message) > LONGEST:
        return f"{len(message)} characters"
    if len(message.split()) < 4:
        return "no sentence"
    return ""


def _of_result(made: Any) -> Outcome:
    """The outcome that a report, an exploration, drawn runs, or a plain answer amounts to."""
    if isinstance(made, Outcome):
        return made
    if isinstance(made, bool):
        return Outcome("HOLDS" if made else "refuted", f"taken as {made}")
    # Drawn runs have findings too: sentences about the system, none about a claim.
    drawn: Any = getattr(made, "verdicts", ())
    found: tuple[Any, ...] = tuple(drawn or getattr(made, "findings", ()))
    if not found:
        return Outcome("HOLDS" if getattr(made, "holds", True) else "undecided", f"{made!r}, without any finding")
    said = "; ".join(f"{one.claim}: {one.because or one.status.value}" for one in found)
    claims = {one.claim: [other for other in found if other.claim == one.claim] for one in found}
    statuses = {name: {one.status.value for one in group} for name, group in claims.items()}
    green = frozenset(one.engine for one in found if one.status.value == "HOLDS")
    if any("REFUTED" in group for group in statuses.values()):
        return Outcome("refuted", said, green)
    if getattr(made, "holds", True) and all("HOLDS" in group for group in statuses.values()):
        return Outcome("HOLDS", said)
    reasons = tuple(f"{one.claim}: {one.because}" for one in found if one.status.value == "UNDECIDED")
    return Outcome("undecided", "; ".join(reasons), green, reasons)


def _of_error(error: BaseException) -> Outcome:
    """An exception is an answer where the package raised it on purpose, of a kind that a caller can expect."""
    said = str(error)
    named = any(kind.__name__ == "ModelError" for kind in type(error).__mro__)
    expected = named or isinstance(error, TypeError | ValueError | OSError)
    if (expected and _on_purpose(error)) or _their_own(error):
        return Outcome("error", said)
    return Outcome("traceback", f"{type(error).__name__}: {said}")


def _on_purpose(error: BaseException) -> bool:
    """Whether the innermost frame stands at a `raise` in the code of the package."""
    *_, (file, line) = _frames(error.__traceback__)
    return any(folder in file.parents for folder in OURS) and line in _raises(file)


def _their_own(error: BaseException) -> bool:
    """Whether Python itself refused the line that the user wrote: a keyword or an attribute that there is not."""
    return isinstance(error, Exception) and not any(
        folder in file.parents for file, _ in _frames(error.__traceback__) for folder in OURS
    )


def _frames(traceback: TracebackType | None) -> Iterator[tuple[Path, int]]:
    while traceback is not None:
        yield Path(traceback.tb_frame.f_code.co_filename).resolve(), traceback.tb_lineno
        traceback = traceback.tb_next


@cache
def _raises(file: Path) -> frozenset[int]:
    """The lines of a source file that belong to a `raise`."""
    nodes = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Raise)]
    return frozenset(line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))


@contextmanager
def _working_in(folder: str) -> Generator[None, None, None]:
    """Files that a slip writes go to a folder of its own."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _limited(seconds: float, late: list[bool]) -> Generator[None, None, None]:
    """Raise TooLong inside after so many seconds, and note it, in case somebody inside swallows that.

    The clock may be in use already, by what limits a whole test; it goes on afterwards.
    """
    assert threading.current_thread() is threading.main_thread(), "signals arrive in the main thread alone"

    def ring(_number: int, _frame: FrameType | None) -> None:
        late.append(True)
        raise TooLong

    handler: Any = signal.signal(signal.SIGALRM, ring)
    remaining, _ = signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, remaining)
        signal.signal(signal.SIGALRM, handler)
