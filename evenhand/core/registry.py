"""Find the protocols by walking the package and the entry points `evenhand.protocols`.

A module of `evenhand.model` that has a `PROTOCOL` is a protocol; the modules of the same name in `evenhand.properties`
(`CLAIMS`) and `evenhand.proofs` complete it.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from evenhand.core.bundle import Bundle, Claims, ProtocolBroken
from evenhand.core.lookup import UnknownName
from evenhand.core.own_file import names_file, own_bundle
from evenhand.core.system import Protocol


def content(name: str) -> ModuleSpec:
    """Return the module spec of one of the folders `model`, `properties`, `proofs`, `counterexamples`."""
    found = importlib.util.find_spec(f"evenhand.{name}")
    if found is None or not found.submodule_search_locations:
        raise ProtocolBroken(f"evenhand.{name} is missing: evenhand is not installed whole; install it again")
    return found


def folder(name: str) -> Path:
    """Return the path of that folder."""
    return Path((content(name).submodule_search_locations or [""])[0])


def protocols() -> tuple[Bundle, ...]:
    """Return every protocol, by name.  Raises ProtocolBroken if one does not import."""
    return tuple(sorted(_all(), key=lambda bundle: bundle.name))


def find(name: str) -> Bundle:
    """Return the protocol called `name`, or the system that `FILE.py:name` names, whose file is then imported.

    Raises UnknownName, NotLoaded or NoSuchSystem for a file, or ProtocolBroken if it does not import.  For names from
    untrusted files use `registered`, which imports no other code.
    """
    return own_bundle(name) if names_file(name) else registered(name)


def registered(name: str) -> Bundle:
    """Return the protocol called `name`, without importing the other ones of the package if its module is called so.

    Raises UnknownName, or ProtocolBroken if it, or one that another package installs, does not import.
    """
    for module in (name, ""):
        bundles = {bundle.name: bundle for bundle in _all(module)}
        if name in bundles:
            return bundles[name]
    file = [f"{name}.py"] if os.path.isfile(f"{name}.py") else []  # a system of the user's, without its suffix
    raise UnknownName("protocol", name, [*bundles, *file])


@cache
def _all(module: str = "") -> tuple[Bundle, ...]:
    """The protocols of this package, or of this module of it alone, and those of other packages."""
    found = (*_own(module), *_installed())
    names = [bundle.name for bundle in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ProtocolBroken(f"two protocols are called {twice!r}; rename one, or uninstall its package")
    return found


def _own(module: str) -> Iterator[Bundle]:
    for found in pkgutil.iter_modules(content("model").submodule_search_locations or []):
        bundle = _of(found.name) if module in ("", found.name) else None
        if bundle is not None:
            yield bundle


@cache
def _of(module: str) -> Bundle | None:
    """The protocol of a module, if it has one; the same record for whoever asks."""
    protocol = getattr(_load(f"evenhand.model.{module}"), "PROTOCOL", None)
    return _bundle(protocol, _claims(f"evenhand.properties.{module}")) if isinstance(protocol, Protocol) else None


def _installed() -> Iterator[Bundle]:
    """Protocols of other packages: an entry point names a `Bundle`."""
    for point in entry_points(group="evenhand.protocols"):
        try:
            bundle = point.load()
            whole = isinstance(bundle, Bundle) and isinstance(bundle.name, str)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a module may also raise SystemExit
            cause = str(error) if isinstance(error, ImportError | ValueError) else f"{type(error).__name__}: {error}"
            raise ProtocolBroken(f"protocol {point.name!r} ({point.value}) does not load: {cause}") from error
        if not whole:
            raise ProtocolBroken(f"protocol {point.name!r}: {point.value} is no evenhand.core.bundle.Bundle")
        yield bundle


def _bundle(protocol: Protocol, side: Claims) -> Bundle:
    try:
        return Bundle(protocol, **{entry.name: getattr(side, entry.name) for entry in fields(Claims)})
    except ValueError as error:
        raise ProtocolBroken(str(error)) from error


def _claims(module: str) -> Claims:
    """The claims of a protocol; none if the module does not exist."""
    if importlib.util.find_spec(module) is None:
        return Claims(())
    side = getattr(_load(module), "CLAIMS", None)
    if not isinstance(side, Claims):
        raise ProtocolBroken(f"{module} has no CLAIMS that are an evenhand.core.bundle.Claims")
    return side


def _load(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except Exception as error:
        raise ProtocolBroken(f"{module} does not import: {type(error).__name__}: {error}") from error
