"""The result of a slip, and whether it is an honest answer."""

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
"""The folders with the package's code, the links in `evenhand/` resolved."""

LONGEST = 600
"""Characters that a message may have, so that it can be read in one go."""


@dataclass(frozen=True)
class Outcome:
    """The result of a slip: `error`, `refuted`, `undecided`, `HOLDS`, `traceback` or `hang`, and its message.

    A `traceback` is an exception that the package did not raise on purpose, so that a user sees its inside. `green`
    names the engines that say HOLDS of a claim that does not hold as a whole, `sentences` are the messages claim by
    claim.
    """

    kind: str
    said: str
    green: frozenset[str] = frozenset()
    sentences: tuple[str, ...] = ()


def judged(one: Slip) -> Outcome:
    """Run a slip within its time, and return its outcome."""
    late: list[bool] = []
    with tempfile.TemporaryDirectory() as folder, _working_in(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # in a project that makes warnings errors Python itself would report some slips
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
    """Return the fault of an outcome; empty if it has none."""
    if one.right:
        return "" if outcome.kind == "HOLDS" else f"a right use does not hold: {outcome.kind}: {outcome.said}"
    if outcome.kind in ("HOLDS", "hang", "traceback"):
        return f"{outcome.kind}: {outcome.said}"
    if outcome.kind == "refuted" and not one.refuted:
        return f"refuted, which blames the system for the mistake: {outcome.said}"
    # Few drawn runs may miss a refutation of the search; no deciding engine may say HOLDS beside a refutation.
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
    """Return the reason why a message is no sentence for a user; empty if it is one."""
    if "\n" in message:
        return "more than one line"
    if len(message) > LONGEST:
        return f"{len(message)} characters"
    if len(message.split()) < 4:
        return "no sentence"
    return ""


def _of_result(made: Any) -> Outcome:
    """Return the outcome of a report, an exploration, drawn runs, or a plain answer."""
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
    """Return the outcome of an exception: an answer if raised by the package on purpose, of a kind callers expect."""
    said = str(error)
    named = any(kind.__name__ == "ModelError" for kind in type(error).__mro__)
    expected = named or isinstance(error, TypeError | ValueError | OSError)
    if (expected and _on_purpose(error)) or _their_own(error):
        return Outcome("error", said)
    return Outcome("traceback", f"{type(error).__name__}: {said}")


def _on_purpose(error: BaseException) -> bool:
    """Return whether the innermost frame is at a `raise` in the code of the package."""
    *_, (file, line) = _frames(error.__traceback__)
    return any(folder in file.parents for folder in OURS) and line in _raises(file)


def _their_own(error: BaseException) -> bool:
    """Return whether Python itself refused the user's line because of an unknown keyword or attribute."""
    return isinstance(error, Exception) and not any(
        folder in file.parents for file, _ in _frames(error.__traceback__) for folder in OURS
    )


def _frames(traceback: TracebackType | None) -> Iterator[tuple[Path, int]]:
    while traceback is not None:
        yield Path(traceback.tb_frame.f_code.co_filename).resolve(), traceback.tb_lineno
        traceback = traceback.tb_next


@cache
def _raises(file: Path) -> frozenset[int]:
    """Return the lines of a source file that belong to a `raise`."""
    nodes = [node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Raise)]
    return frozenset(line for node in nodes for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))


@contextmanager
def _working_in(folder: str) -> Generator[None, None, None]:
    """Let a slip write its files to a folder of its own."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextmanager
def _limited(seconds: float, late: list[bool]) -> Generator[None, None, None]:
    """Raise TooLong inside after so many seconds, and note it, in case the code inside swallows it.

    The clock may already limit the whole test; that limit continues afterwards.
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
