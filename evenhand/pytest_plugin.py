"""pytest collects counterexamples: every `*.json` that begins as one is a test that replays it.

Installed with the package, it works in any project: put a record that evenhand wrote anywhere under the
folders that pytest walks.  Other people's JSON is left alone, by its first bytes.  `--evenhand-budget` says how much
each `evenhand.verify` of a test may cost.  `-p no:evenhand` switches everything off.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from evenhand.counterexamples.replay import Replayed

__all__ = [
    "CounterexampleFile",
    "CounterexampleItem",
    "Stale",
    "pytest_addoption",
    "pytest_collect_file",
    "pytest_configure",
    "pytest_report_header",
    "pytest_unconfigure",
]

OPTION, VARIABLE = "--evenhand-budget", "EVENHAND_BUDGET"
_BEFORE: pytest.StashKey[str | None] = pytest.StashKey()


class Stale(Exception):
    """A record that replays to something else than it says; the message tells what."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The one option there is."""
    parser.getgroup("evenhand").addoption(
        OPTION,
        choices=("quick", "standard", "deep"),
        help="How much each evenhand.verify may cost that does not say so itself.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Name the budget to whatever the tests start; workers of pytest-xdist come through here as well."""
    chosen = config.getoption(OPTION)
    if chosen is not None:
        config.stash[_BEFORE] = os.environ.get(VARIABLE)
        os.environ[VARIABLE] = chosen


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave the environment as it was."""
    if _BEFORE in config.stash:
        before = config.stash[_BEFORE]
        if before is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = before


def pytest_report_header() -> str | None:
    """Say which budget is in force, if one was named."""
    return f"evenhand: budget {os.environ[VARIABLE]}" if VARIABLE in os.environ else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CounterexampleFile | None:
    """Take the files that say they are counterexamples; the models load when the first is replayed."""
    if file_path.suffix != ".json":
        return None
    from evenhand.counterexamples.store import is_record

    if not is_record(file_path):
        return None
    made: CounterexampleFile = _made(CounterexampleFile, parent, path=file_path)
    return made


class CounterexampleFile(pytest.File):
    """A file that holds one record."""

    def collect(self) -> Iterator[CounterexampleItem]:
        """One test: the file is read when it runs, so that a broken one fails by itself."""
        item: CounterexampleItem = _made(CounterexampleItem, self, name="replay")
        yield item


class CounterexampleItem(pytest.Item):
    """Replays one record in the variant it names and in the reference."""

    def runtest(self) -> None:
        """Raise BadRecord or Stale unless the record replays as it says."""
        from evenhand.counterexamples.replay import replay_record
        from evenhand.counterexamples.store import load

        origin = str(self.path)
        replayed = replay_record(load(origin), origin=origin)
        if not replayed.ok:
            raise Stale(_explained(origin, replayed))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The message alone where the record is at fault; a traceback where the model raised."""
        from evenhand.counterexamples.record import BadRecord

        if isinstance(excinfo.value, BadRecord | Stale):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the test stands, and what it is called."""
        return self.path, None, f"replay {self.path.name}"


def _made(kind: Any, parent: pytest.Collector, **more: Any) -> Any:
    return kind.from_parent(parent, **more)  # pytest leaves its keywords untyped


def _explained(origin: str, replayed: Replayed) -> str:
    claim = replayed.claim
    return f"{origin}: {replayed.message}\nThe claim: {claim.sentence}\nSee the run: evenhand show {origin}"
