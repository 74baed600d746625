"""The facts of a claim that a report adds to its verdicts: source paragraph, kind, file and line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import PurePath
from typing import Any

from evenhand.core import property as kinds
from evenhand.core.bundle import Bundle
from evenhand.core.property import Property
from evenhand.evidence.schemas import fields_of

LAYERS = ("model", "properties", "proofs", "counterexamples")
"""The packages of this project that stand beside `evenhand` in the repository."""


@dataclass(frozen=True)
class About:
    """A claim as its author wrote it; `file` is a path from the root of its repository, `line` counts from 1.

    `file` is empty and `line` 0 for a claim without a Python predicate of its own.  `questions` are the aspects of the
    protocol's profile that the claim answers (`deadlock`, `position` …), with yes if it holds and `affirms`, or if it
    is refuted and does not.  An `existential` claim says that something can happen.
    """

    protocol: str
    claim: str
    sentence: str
    source: str
    kind: str
    file: str = ""
    line: int = 0
    questions: tuple[str, ...] = ()
    affirms: bool = False
    existential: bool = False

    @staticmethod
    def from_json(made: Mapping[str, Any]) -> About:
        """Return the claim with these fields.  Raises Mistake for anything else."""
        return About(**fields_of(made, About))


def counted(bundles: Iterable[Bundle]) -> dict[str, int]:
    """Return how many mutants each of these protocols has, by its name."""
    return {bundle.name: len(bundle.model.mutants) for bundle in bundles}


def about_claims(bundles: Iterable[Bundle]) -> Iterator[About]:
    """Yield every claim of these protocols, in their order."""
    for bundle in bundles:
        for claim in bundle.claims:
            file, line = _written(claim)
            asked = [question for question in bundle.profile if question.claim == claim.name]
            yield About(
                bundle.name,
                claim.name,
                claim.sentence,
                claim.source,
                claim.kind,
                file,
                line,
                questions=tuple(question.aspect.value for question in asked),
                affirms=claim.existential or any(question.affirms for question in asked),
                existential=claim.existential,
            )


def _written(claim: Property) -> tuple[str, int]:
    """Return file and line of the first predicate that the claim itself defines, not its kind."""
    inherited = {entry.name for entry in fields(Property)}
    for entry in fields(claim):
        value = getattr(claim, entry.name)
        if entry.name in inherited or not callable(value):
            continue
        function = inspect.unwrap(value)
        if inspect.isfunction(function) and function.__module__ != kinds.__name__:
            return _file(function), function.__code__.co_firstlineno
    return "", 0


def _file(function: Callable[..., Any]) -> str:
    """Return a function's file, relative to its repository's root, from the module's name."""
    parts = function.__module__.split(".")
    name = PurePath(function.__code__.co_filename).name
    folders = parts if name == "__init__.py" else parts[:-1]
    if folders[:1] == ["evenhand"] and folders[1:2] and folders[1] in LAYERS:
        folders = folders[1:]
    return "/".join([*folders, name])
