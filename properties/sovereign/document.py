"""Check a user's constitution: read it from YAML as untrusted data, verify its hash, and answer `QUESTIONS`.

Each answer is a search of the `constitutions` system under this constitution, with a witness.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, cast

import yaml

from evenhand.core.codec import encode
from evenhand.core.document import Checked, DocumentAnswer, DocumentRefused, Explore
from evenhand.core.files import Unreadable, content_of, head_of
from evenhand.core.verdict import Status, runs
from evenhand.model.sovereign.constitution import Constitution, from_document
from evenhand.model.sovereign.menus import TREE
from evenhand.model.sovereign.protocol import SOVEREIGN
from evenhand.model.sovereign.state import Config
from evenhand.model.sovereign.vocabulary import ACTION_TYPES
from evenhand.properties.sovereign import deciding, logging, stopping

MOST_BYTES = 1_000_000
MOST_EVENTS = 20_000
MOST_LEVELS = 32

QUESTIONS = (
    (deciding.log_append_never_comes_from_a_candidate, "a candidate can win with a LogAppend"),
    (
        logging.every_effect_is_recorded,
        "contradicting limits: something can be done whose log record is inadmissible",
    ),
    (stopping.every_action_space_admits_something, "structural deadlock: no bundle is ever admitted"),
    (
        stopping.patient_proposers_get_an_action,
        "a refusal loop never ends, however patiently every type is proposed",
    ),
    (stopping.refusals_end_by_themselves, "nothing in a constitution ends a loop of bad proposals"),
)
"""The claims that are checked, and the meaning of a refutation."""

NOTES = (stopping.refusals_end_by_themselves,)
"""Claims that every constitution refutes: reported, but no finding."""


class _Strict(yaml.SafeLoader):
    """YAML's safe subset without duplicate keys."""


def _mapping(loader: _Strict, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    build: Callable[..., Any] = cast(Any, loader).construct_object
    for key_node, value_node in node.value:
        key: Any = build(key_node, deep=True)
        where = f"line {key_node.start_mark.line + 1}"
        if not isinstance(key, Hashable):
            raise DocumentRefused(f"{where}: a key must be text")
        if key in found:
            raise DocumentRefused(f"{where}: duplicate key {key!r:.60}; keep one of the two")
        found[key] = build(value_node, deep=True)
    return found


_Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def load_constitution(path: Path) -> tuple[Constitution, str]:
    """Return the constitution of a file and the SHA-256 of its bytes, which `FILE.sha256` must name.

    Raises DocumentRefused for a file that is too large, not UTF-8, not YAML, has duplicate keys, anchors, tags or
    entries of unknown type, and for a missing or different hash.
    """
    data = _bytes(path)
    digest = hashlib.sha256(data).hexdigest()
    _hash_must_match(path, digest)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentRefused(f"{path}: no UTF-8 at byte {error.start}; save it as UTF-8") from error
    try:
        _look_over(text)
        value: Any = yaml.load(text, Loader=_Strict)
        constitution = from_document(value)
    except DocumentRefused as error:
        raise DocumentRefused(f"{path}: {error}") from error
    except RecursionError as error:
        raise DocumentRefused(f"{path}: nested deeper than {MOST_LEVELS} levels") from error
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        where = "" if mark is None else f"line {mark.line + 1}: "
        raise DocumentRefused(f"{path}: {where}no YAML of plain data: {getattr(error, 'problem', error)}") from error
    except ValueError as error:
        raise DocumentRefused(f"{path}: {error}") from error
    for one in constitution.action_types:
        if one.name not in ACTION_TYPES:
            raise DocumentRefused(
                f"{path}: unknown action type {one.name!r:.60}; the closed set is {', '.join(ACTION_TYPES)}"
            )
    return constitution, digest


def _bytes(path: Path) -> bytes:
    try:
        return content_of(path, MOST_BYTES)
    except Unreadable as error:
        raise DocumentRefused(str(error)) from error


def _hash_must_match(path: Path, digest: str) -> None:
    beside = path.with_name(path.name + ".sha256")
    if not (said := head_of(beside, 200).decode("ascii", "replace").split()) and not beside.is_file():
        raise DocumentRefused(f"{path}: its hash is missing; write it with: sha256sum {path.name} > {beside.name}")
    if not said or not re.fullmatch(r"[0-9a-f]{64}", said[0]):
        raise DocumentRefused(f"{beside}: holds no SHA-256 in hexadecimal; write one with sha256sum")
    if said[0] != digest:
        raise DocumentRefused(f"{path}: its SHA-256 is {digest}, and {beside.name} names {said[0]}: one was changed")


def _look_over(text: str) -> None:
    """Refuse anchors, aliases, deep nesting and too many entries before anything is built, because they expand."""
    depth = 0
    for number, event in enumerate(yaml.parse(text, Loader=_Strict), start=1):
        mark: Any = event.start_mark
        where = f"line {mark.line + 1}"
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise DocumentRefused(f"{where}: anchors and aliases are not taken; write the value out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_LEVELS:
            raise DocumentRefused(f"{where}: nested deeper than {MOST_LEVELS} levels")
        if number > MOST_EVENTS:
            raise DocumentRefused(f"more than {MOST_EVENTS:,} entries")


def diagnose(constitution: Constitution, explore: Explore) -> tuple[DocumentAnswer, ...]:
    """Return the search's answer to each question about a constitution."""
    system = SOVEREIGN.systems["constitutions"]
    config = Config(constitution, TREE, most_refusals=0)
    found = explore(system, [claim for claim, _ in QUESTIONS], configs=[config])
    answers: list[DocumentAnswer] = []
    for (claim, refutation), verdict in zip(QUESTIONS, found.verdicts, strict=True):
        refuted = verdict.status is Status.REFUTED
        evidence = verdict.evidence
        actions = runs(evidence)[0].actions if evidence is not None else ()
        answers.append(
            DocumentAnswer(
                claim.name,
                refutation if refuted else f"not so: {refutation}",
                verdict.status.value,
                refuted and claim not in NOTES,
                len(actions),
                [encode(action) for action in actions] if refuted else None,
            )
        )
    return tuple(answers)


def check_document(path: Path, explore: Explore) -> Checked:
    """Read a constitution and answer the questions.  Raises DocumentRefused as `load_constitution` does."""
    constitution, digest = load_constitution(path)
    return Checked("sovereign", f"sha256:{digest}", diagnose(constitution, explore))
