"""Read preregistered files: expectations written before any run, which no run may change.

A manifest names each file and the digest of its canonical JSON.  A file that differs from its registration is refused,
so that an expectation cannot follow the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import cast

from evenhand.core.canonical import Json, digest, parse


class VectorBroken(ValueError):
    """A preregistered file or manifest that differs from its registration; says which and why."""


def shipped(package: str) -> tuple[dict[str, str], str]:
    """Return the JSON files of a package (name without `.json` -> text), and their manifest (empty: none)."""
    texts = {
        entry.name.removesuffix(".json"): entry.read_text("utf-8")
        for entry in files(package).iterdir()
        if entry.name.endswith(".json")
    }
    return texts, texts.pop("manifest", "")


def as_registered(texts: Mapping[str, str], manifest: str, kind: str) -> Mapping[str, dict[str, Json]]:
    """Return the values of these files (name without `.json` -> text) in the order of their manifest.

    `kind` is the manifest's format.  Raises VectorBroken for a manifest of another format or shape, a file that it
    lacks or the reverse, and a file that is no JSON object or not the registered one.
    """
    known = _digests(manifest, kind)
    for name in sorted(set(texts) ^ set(known)):
        raise VectorBroken(f"{name}.json is {'not in manifest.json; register it' if name in texts else 'missing'}")
    found: dict[str, dict[str, Json]] = {}
    for name, expected in known.items():
        found[name] = _parsed(f"{name}.json", texts[name])
        if (now := digest(found[name])) != expected:
            raise VectorBroken(
                f"{name}.json is {now}, registered as {expected}: a preregistered condition does not change; "
                "restore it, or register a new one under another name"
            )
    return found


def _digests(manifest: str, kind: str) -> dict[str, str]:
    value = _parsed("manifest.json", manifest)
    if (value.get("format"), value.get("version")) != (kind, 1):
        raise VectorBroken(f"manifest.json is not {kind} version 1")
    try:
        return {str(entry["name"]): str(entry["sha256"]) for entry in value["conditions"]}
    except (KeyError, TypeError) as error:
        raise VectorBroken(f"manifest.json lacks a field, or has one of another shape: {error}") from error


def _parsed(name: str, text: str) -> dict[str, Json]:
    try:
        value = parse(text)
    except ValueError as error:
        raise VectorBroken(f"{name} is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise VectorBroken(f"{name} is no JSON object")
    return cast("dict[str, Json]", value)
