"""Settings of the whole suite: Hypothesis draws the same examples in CI, independent of the clock; byte code is kept.

The tests start hundreds of processes, each of which would compile all its imports where the environment disables byte
code beside the sources.  In that case it is kept in a folder of its own.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

__all__ = ["keep_byte_code"]

settings.register_profile("local", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("ci" if os.environ.get("CI") else "local")

BYTE_CODE = Path(__file__).parents[1] / ".pytest_cache" / "bytecode"


def keep_byte_code() -> None:
    """Keep byte code from here on, in this process and in its children, unless it is kept anyway."""
    if not sys.dont_write_bytecode:
        return
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(BYTE_CODE)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(BYTE_CODE)


keep_byte_code()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Delete byte code of copies in temporary folders, which later runs cannot use."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(BYTE_CODE.joinpath(*Path(tempfile.gettempdir()).parts[1:]), ignore_errors=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep tests of one module together, so that they share expensive values; idle workers take tests from others."""
    if config.getoption("dist") != "load":
        return None
    scheduler: Any = import_module("xdist.scheduler")  # it has no types
    return scheduler.WorkStealingScheduling(config, log)
