"""Let pytest collect counterexamples: every `*.json` that begins as one is a test that replays it.

The plugin is installed with the package and works in any project: put a record that evenhand wrote anywhere under the
folders that pytest walks.  Other JSON files are ignored, by their first bytes.  `--evenhand-budget` sets the budget of
each `evenhand.verify` in a test that sets none.  Errors of a model or of the use of evenhand show the test's own lines
and the model's, without the frames of evenhand (`--full-trace` shows them).  `-p no:evenhand` switches the plugin off.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from evenhand.evidence.replay import Replayed

OPTION, VARIABLE = "--evenhand-budget", "EVENHAND_BUDGET"
ROOTS: list[Path] = []
"""The root folders of the runs of this process, innermost last; a record may name code there."""
MENDED = "evenhand: mended"
"""The property of a test whose saved run refutes nothing any more."""
_BEFORE: pytest.StashKey[str | None] = pytest.StashKey()


class Stale(Exception):
    """A record that cannot be used, or replays differently than recorded; the message says how."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--evenhand-budget`."""
    parser.getgroup("evenhand").addoption(
        OPTION,
        choices=("quick", "standard", "deep"),
        help="How much each evenhand.verify may cost that does not say so itself.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Put the budget into the environment, which the tests' processes inherit; pytest-xdist workers run this too."""
    ROOTS.append(config.rootpath)
    chosen = config.getoption(OPTION)
    if chosen is not None:
        config.stash[_BEFORE] = os.environ.get(VARIABLE)
        os.environ[VARIABLE] = chosen


def pytest_unconfigure(config: pytest.Config) -> None:
    """Restore the environment."""
    if config.rootpath in ROOTS:
        ROOTS.remove(config.rootpath)
    if _BEFORE in config.stash:
        before = config.stash[_BEFORE]
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before


def pytest_report_header() -> str | None:
    """Return the header line with the budget, if one is set."""
    return f"evenhand: budget {os.environ[VARIABLE]}" if VARIABLE in os.environ else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Remove evenhand's frames from its deliberate errors: they say nothing of the reader's code.

    Where an assertion about an examination fails, show the whole of it: pytest cuts long messages that are no text.
    """
    found = call.excinfo
    if found is not None and isinstance(found.value, AssertionError) and (last := _last(found.value.__traceback__)):
        for one in last.tb_frame.f_locals.values():
            if type(one).__module__ == "evenhand.examination":
                item.add_report_section(call.when, "evenhand", str(one))
    if found is None or item.config.getoption("fulltrace", False):
        return
    error: BaseException | None = found.value
    # By name, since most runs load neither: a ModelError, and a finding about a kernel.
    ours = type(error).__module__ in ("evenhand.core.answers", "evenhand.arbiters.again")
    if not (ours or isinstance(error, TypeError | ValueError)) or not _is_ours(_last(found.value.__traceback__)):
        return
    while error is not None:
        error.__traceback__ = _foreign(error.__traceback__)
        error = error.__cause__
    if found.value.__traceback__ is not None:
        call.excinfo = pytest.ExceptionInfo[BaseException].from_exception(found.value)


def _is_ours(frame: TracebackType | None) -> bool:
    return frame is not None and str(frame.tb_frame.f_globals.get("__name__", "")).startswith("evenhand.")


def _last(frames: TracebackType | None) -> TracebackType | None:
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    return frames


def _foreign(frames: TracebackType | None) -> TracebackType | None:
    """The frames outside evenhand, in their order."""
    if frames is None:
        return None
    rest = _foreign(frames.tb_next)
    between = frames.tb_frame.f_globals.get("__name__") in ("contextlib", "dataclasses")
    if _is_ours(frames) or between or frames.tb_frame.f_code.co_filename == "<string>":  # generated, as in dataclasses
        return rest
    return TracebackType(rest, frames.tb_frame, frames.tb_lasti, frames.tb_lineno)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List the saved runs of users' own systems that are mended, so that they can be deleted."""
    for report in terminalreporter.getreports("passed"):
        for name, told in report.user_properties:
            if name == MENDED:
                terminalreporter.write_line(f"evenhand: {report.nodeid.partition('::')[0]}: {told}")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CounterexampleFile | None:
    """Collect the files that claim to be counterexamples; models load when the first one is replayed."""
    if file_path.suffix != ".json":
        return None
    _, _, store = _evidence()
    if not store.is_record(file_path):
        return None
    made: CounterexampleFile = _made(CounterexampleFile, parent, path=file_path)
    return made


class CounterexampleFile(pytest.File):
    """A file that holds one record."""

    def collect(self) -> Iterator[CounterexampleItem]:
        """Yield one test: the file is read when it runs, so that a broken one fails by itself."""
        item: CounterexampleItem = _made(CounterexampleItem, self, name="replay")
        yield item


class CounterexampleItem(pytest.Item):
    """A test that replays one record in the variant it names and in the reference."""

    def runtest(self) -> None:
        """Raise Stale unless the record replays as it says."""
        (record, replay, store), origin = _evidence(), str(self.path)
        try:
            replayed = replay.replay_record(store.load(origin), origin=origin, file=self.path)
        except record.BadRecord as error:
            raise Stale(str(error)) from error
        if not replayed.ok:
            raise Stale(_explained(origin, replayed))
        if replayed.regression:
            self.user_properties.append((MENDED, replayed.message))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the message alone if the record is at fault, a traceback if the model raised."""
        if isinstance(excinfo.value, Stale):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the file of the test, and its name."""
        return self.path, None, f"replay {self.path.name}"


def _evidence() -> tuple[ModuleType, ModuleType, ModuleType]:
    """The modules of records, which projects without a file of JSON need not import."""
    from evenhand.evidence import record, replay, store

    return record, replay, store


def _made(kind: Any, parent: pytest.Collector, **more: Any) -> Any:
    return kind.from_parent(parent, **more)  # pytest leaves its keywords untyped


def _explained(origin: str, replayed: Replayed) -> str:
    claim = replayed.claim
    shown = shlex.join(["evenhand", "show", origin])
    return f"{origin}: {replayed.message}\nThe claim: {claim.sentence}\nSee the run: {shown}"
