"""All observations, candidates and contexts at given sizes, simplest first, hostile ones included.

Everything is named by content.  Candidates are made for a context, because a scope claim names observations by id.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from evenhand.core.atoms import Atom
from evenhand.core.records import replace
from evenhand.model.sovereign.artifacts import artifact_id
from evenhand.model.sovereign.constitution import REFERENCE_CONSTITUTION, Constitution, cite
from evenhand.model.sovereign.paths import Place, Tree, dir_, file_
from evenhand.model.sovereign.vocabulary import (
    BUDGET,
    EXIT_TYPE,
    KERNEL,
    LOG_APPEND,
    NOTIFY,
    READ_LOCAL,
    REFLECTION,
    SYSTEM,
    TIMESTAMP,
    USER_INPUT,
    WRITE_LOCAL,
    Candidate,
    Fields,
    Justification,
    Observation,
    Request,
    ScopeClaim,
    Value,
)

NOON, LATER = "2026-02-12T12:00:00Z", "2026-02-12T12:00:01Z"

TREE: Tree = tuple(
    sorted(
        (
            (("etc",), dir_()),
            (("etc", "secret"), file_("s")),
            (("repo",), dir_()),
            (("repo", "artifacts"), dir_()),
            (("repo", "artifacts", "a"), file_("a")),
            (("repo", "logs"), dir_()),
            (("repo", "workspace"), dir_()),
            (("repo", "workspace", "d"), dir_()),
            (("repo", "workspace", "d", "f"), file_("f")),
        )
    )
)
"""A repository on a disk that has something outside it."""

LAWFUL_PATHS = ("./workspace/d/f", "workspace/x", "./workspace/./d/../y")

ESCAPES = (
    "./workspace/../../etc/secret",
    "/etc/secret",
    "./workspace//x",
    ".\\workspace\\x",
    "./workspace\u2215x",
    "./workspace/\uff0e\uff0e/x",
    "./workspaces/x",
    "./workspace",
    "",
    "./workspace/x\x00",
)
"""Paths that must not pass: out and up, absolute, empty segments, other separators, look-alikes, near misses."""


def at_time(time: Value = NOON) -> Observation:
    """Return a TIMESTAMP."""
    return Observation(TIMESTAMP, (("iso8601_utc", time),))


def said(text: str = "hello") -> Observation:
    """Return a user input."""
    return Observation(USER_INPUT, (("text", text),))


def budget(count: Value) -> Observation:
    """Return a reported number of tokens."""
    return Observation(BUDGET, (("llm_output_token_count", count),))


def integrity_failure(event: Value = "startup_integrity_fail") -> Observation:
    """Return a system observation of an integrity failure."""
    return Observation(SYSTEM, (("event", event),))


def usual() -> tuple[Observation, ...]:
    """Return the plainest context: a time and a user input."""
    return (at_time(), said())


def fields_of(action_type: str, path: Value = LAWFUL_PATHS[0], text: Value = "m") -> Fields:
    """Return the fields of a request of this type; none for Exit and undeclared types."""
    match action_type:
        case "Notify":
            return (("message", text),)
        case "ReadLocal":
            return (("path", path),)
        case "WriteLocal":
            return (("content", text), ("path", path))
        case "LogAppend":
            return (("jsonl_lines", ("{}",)), ("log_name", "artifacts"))
        case _:
            return ()


@lru_cache(maxsize=65_536)
def candidate(
    observations: tuple[Observation, ...],
    action_type: str = NOTIFY,
    *,
    constitution: Constitution = REFERENCE_CONSTITUTION,
    path: Value = LAWFUL_PATHS[0],
    text: Value = "m",
    why: str = "because",
    author: str = REFLECTION,
    created_at: str = "",
) -> Candidate:
    """Return a well-formed candidate for these observations; it cites the first clause, or else the document."""
    clause = cite(constitution, constitution.clauses[0] if constitution.clauses else "")
    ids = tuple(artifact_id(one) for one in observations if one.kind == USER_INPUT) or tuple(
        artifact_id(one) for one in observations
    )
    return Candidate(
        Request(action_type, fields_of(action_type, path, text), author, created_at),
        ScopeClaim(ids[:1], clause, author=author),
        Justification(why, author),
        (clause,),
    )


def contexts(most: int = 99) -> tuple[tuple[Observation, ...], ...]:
    """Return up to `most` lists of observations, plainest first; absurd ones after the first six."""
    plain = usual()
    found: list[tuple[Observation, ...]] = [plain, (said(),), (*plain, budget(6000)), (*plain, budget(6001))]
    found += [(*plain, integrity_failure()), (said(), integrity_failure())]
    found += [
        (*plain, Observation(USER_INPUT, (("event", "startup_integrity_fail"),))),
        (*plain, at_time(LATER)),
        (*plain, at_time()),
        (said(), at_time("")),
        (said(), at_time(Atom("null", "null"))),
        (*plain, budget(-1)),
        (*plain, budget("6")),
        (*plain, budget(Atom("bool", "true"))),
        (*plain, budget(3001), budget(3000)),
        (*plain, budget(6001), budget(1)),
        (*plain, Observation(BUDGET)),
        (*plain, integrity_failure("startup_integrity_ok")),
        (),
    ]
    return tuple(found[:most])


TYPES_TRIED = (NOTIFY, READ_LOCAL, WRITE_LOCAL, LOG_APPEND, EXIT_TYPE, "Shell")
AUTHORS_TRIED = (REFLECTION, KERNEL, "nobody")


def _citations(constitution: Constitution) -> tuple[tuple[str, ...], ...]:
    good = cite(constitution, constitution.clauses[0])
    wrong = "constitution:v9#" + constitution.clauses[0]
    return ((good,), (), (cite(constitution, "/limits"),), (good, cite(constitution, "NO-SUCH-CLAUSE")), (wrong,))


def every_candidate(observations: tuple[Observation, ...]) -> Iterator[Candidate]:
    """Yield every candidate over small sets of types, paths, citations, authors, scope claims, justifications."""
    constitution = REFERENCE_CONSTITUTION
    good = candidate(observations or usual())
    clause = good.citations[0]
    known = tuple(artifact_id(one) for one in observations)[:1]
    scopes = (
        ScopeClaim(known, clause),
        None,
        ScopeClaim((), clause),
        ScopeClaim(("0" * 64,), clause),
        ScopeClaim(known, cite(constitution, "NO-SUCH-CLAUSE")),
    )
    whys = (Justification("because"), None, Justification(""))
    for action_type, citations, author in product(TYPES_TRIED, _citations(constitution), AUTHORS_TRIED):
        for fields in _fields_tried(action_type):
            for scope, why in product(scopes, whys):
                yield Candidate(Request(action_type, fields, author), scope, why, citations)


def _fields_tried(action_type: str) -> tuple[Fields, ...]:
    honest = fields_of(action_type)
    more: Fields = (*honest, ("zz", "more"))
    if action_type in (READ_LOCAL, WRITE_LOCAL):
        outside = tuple(fields_of(action_type, path) for path in (ESCAPES[0], ESCAPES[4]))
        return (honest, (), fields_of(action_type, Atom("null", "null")), *outside, more)
    if action_type == NOTIFY:
        return (honest, (), fields_of(action_type, text=Atom("bool", "true")), fields_of(action_type, text=7), more)
    return (honest, more)


def renamed(one: Candidate, author: str, created_at: str) -> Candidate:
    """Return the same content by another author at another time."""
    scope = None if one.scope is None else replace(one.scope, author=author, created_at=created_at)
    why = None if one.justification is None else replace(one.justification, author=author, created_at=created_at)
    return Candidate(replace(one.request, author=author, created_at=created_at), scope, why, one.citations)


def place_of(path: str) -> Place:
    """Return a place below the repository, from a plain path."""
    return ("repo", *path.split("/"))
