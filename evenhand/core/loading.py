"""Load what a user names by a file or a module: `FILE.py:name`, or `package.module:name`.

A file is imported once per process, as pytest would import it: the folder above the packages it is in comes first on
the path, and an already loaded module is reused.  Its own folder comes last, so that it finds its siblings.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
import traceback
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from evenhand.core.answers import error_text


class NotLoaded(ValueError):
    """A file or name that does not load; says which, why, and what to do."""


def value_at(place: str) -> Any:
    """Return what `FILE.py:name` or `package.module:name` names; modules are looked for in the current folder first.

    Raises NotLoaded.
    """
    where, _, name = place.rpartition(":")
    if not where or not name:
        raise NotLoaded(f"{place!r} names nothing; write package.module:factory or FILE.py:factory")
    try:
        found: Any = module_at(Path(where)) if where.endswith(".py") else _module(where)
        for part in name.split("."):
            found = getattr(found, part)
    except NotLoaded:
        raise
    except (Exception, SystemExit) as error:
        frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename != __file__]
        own = [one for one in frames if "importlib" not in one.filename]
        line = f" ({os.path.basename(own[-1].filename)}, line {own[-1].lineno})" if own else ""
        broken = isinstance(error, SyntaxError) or (bool(own) and not isinstance(error, ModuleNotFoundError))
        step = _next_step(where, error, broken=broken)
        raise NotLoaded(f"{place!r} does not load: {error_text(error)}{line}. {step}") from error
    return found


def _module(name: str) -> ModuleType:
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    finally:
        with contextlib.suppress(ValueError):  # the module may have removed it
            sys.path.remove(here)  # not the first one, before which the module may have put others


def _next_step(where: str, error: BaseException, *, broken: bool) -> str:
    near = get_close_matches(error.name or "", dir(error.obj), n=1) if isinstance(error, AttributeError) else []
    if near:
        return f"Did you mean {near[0]}?"
    there = where.endswith(".py") or where in sys.modules  # its folder was found, so the name is wrong
    if there:
        return "Name a function that it has."
    return "Mend the file." if broken else "Is its folder the current one, or on PYTHONPATH?"


def module_at(path: Path) -> ModuleType:
    """Return the module of a file, imported if needed; its output meanwhile goes to standard error.

    Raises NotLoaded for a file that is missing, or that raises.
    """
    if not path.is_file():
        raise NotLoaded(f"{path}: there is no such file. Check the path")
    real = path.resolve()
    loaded = _loaded(real)
    if loaded is not None:
        return loaded
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return _imported(real)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module may also raise SystemExit, or pytest's skip
        raise NotLoaded(_error_text(path, real, error)) from error


def _loaded(real: Path) -> ModuleType | None:
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and os.path.basename(file) == real.name and Path(file).resolve() == real:
            return module
    return None


def _imported(real: Path) -> ModuleType:
    """Import a file by the name that its folders give it, or by a generated one if that name is taken."""
    folder, parts = real.parent, [] if real.stem == "__init__" else [real.stem]
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    if str(real.parent) not in sys.path:
        sys.path.append(str(real.parent))  # last, as its siblings may have the names of other modules
    importlib.invalidate_caches()
    name = ".".join(parts)
    if parts and real.stem.isidentifier() and _leads_to(name, real):
        return importlib.import_module(name)
    name = f"evenhand_own_{sha256(os.fsencode(real)).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, real)
    if spec is None or spec.loader is None:
        raise ImportError(f"Python does not know how to load {real.name}")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _leads_to(name: str, real: Path) -> bool:
    """Whether importing a name would load that file, and not another module of this name."""
    if name.partition(".")[0] in {*sys.stdlib_module_names, "evenhand"}:
        return False
    try:
        spec = importlib.util.find_spec(name)
    except ValueError:  # a loaded module without a spec
        return False
    return spec is not None and spec.origin is not None and Path(spec.origin).resolve() == real


def _error_text(path: Path, real: Path, error: BaseException) -> str:
    what, said = type(error).__name__, str(error)
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).resolve() == real
    ]
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).resolve() == real:
        lines.append(error.lineno)
        said = error.msg
    where = f"{path}, line {lines[-1]}" if lines else str(path)
    step = _other_module(real, error) or "Mend the file"
    return f"{where}: importing it raised {what}{f': {said}' if said else ''}. {step}"


def _other_module(real: Path, error: BaseException) -> str:
    """Return what to do if the file got an installed module in place of the file beside it of the same name."""
    lacking = error.obj if isinstance(error, AttributeError) else None
    name = error.name if isinstance(error, ImportError) else getattr(lacking, "__name__", None)
    beside = real.with_name(f"{name}.py")
    got = getattr(sys.modules.get(name or ""), "__file__", None)
    if not beside.is_file() or not got or Path(got).resolve() == beside:
        return ""
    return f"{name} is {got} and not {beside.name} beside the file: import that by its package, or rename it"
