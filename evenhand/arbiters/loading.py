"""Find a kernel by its place, and the place of a kernel."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from evenhand.arbiters.kernels import Factory, NotExaminable
from evenhand.core.answers import error_text


def factory_at(place: str) -> Factory:
    """Return the factory at `package.module:name` or `FILE.py:name`.  Raises NotExaminable with the cause."""
    where, colon, name = place.rpartition(":")
    if not colon or not where or not name:
        raise NotExaminable(f"{place}: it names no kernel; write package.module:factory or FILE.py:factory")
    try:
        found: Any = _module(where)
        for part in name.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        raise NotExaminable(f"{place}: importing it raised {error_text(error)}") from error
    factory: Factory = found
    return factory


def place_of(factory: Factory) -> str:
    """Return the place of a factory that another process can import; empty if there is none."""
    module, name = getattr(factory, "__module__", ""), getattr(factory, "__qualname__", "")
    if not module or module == "__main__" or "<" in name:
        return ""
    try:
        return f"{module}:{name}" if factory_at(f"{module}:{name}") is factory else ""
    except NotExaminable:
        return ""


def _module(where: str) -> Any:
    if not where.endswith(".py"):
        sys.path.insert(0, str(Path.cwd()))
        try:
            return importlib.import_module(where)
        finally:
            sys.path.pop(0)
    path = Path(where).resolve()
    if not path.is_file():
        raise OSError(f"there is no file {where}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module
