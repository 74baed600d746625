"""Artefacts as canonical JSON, their ids, and the content that a bundle's hash covers.

Ids are SHA-256 over RFC 8785 bytes, in hexadecimal, untruncated (7 A5).  No id depends on a clock: `created_at` is a
given text, and the kernel gives the observed time (X.E1).
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Any

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.canonical import Json, canonical_bytes
from evenhand.core.records import replace
from evenhand.model.sovereign.vocabulary import (
    Candidate,
    Exit,
    Fields,
    Justification,
    Observation,
    Refusal,
    Request,
    ScopeClaim,
    Value,
    Warrant,
)

_NAMES: dict[type, str] = {
    Observation: "Observation",
    Request: "ActionRequest",
    ScopeClaim: "ScopeClaim",
    Justification: "Justification",
    Warrant: "ExecutionWarrant",
    Refusal: "RefusalRecord",
    Exit: "ExitRecord",
}


def sha(data: bytes) -> str:
    """Return SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def _value(value: Value) -> Json:
    if isinstance(value, Atom):
        return value.value if value.kind != "number" else {"number": value.text}
    if isinstance(value, Opaque):
        return {"opaque": value.what}
    if isinstance(value, tuple):
        return [_value(one) for one in value]
    if isinstance(value, str):
        # half a surrogate pair has no UTF-8 bytes, so it is written as its escape
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value if -(2**53) < value < 2**53 else {"int": str(value)}


def _fields(fields: Fields) -> Json:
    return {str(_value(name)): _value(value) for name, value in fields}


def as_json(one: Any) -> Json:
    """Return the JSON value of an artefact, a candidate, or None; `type` names the artefact."""
    match one:
        case None:
            return None
        case Observation(kind, payload, author, created_at):
            told: dict[str, Json] = {"kind": kind, "payload": _fields(payload)}
        case Request(action_type, fields, author, created_at):
            told = {"action_type": action_type, "fields": _fields(fields)}
        case ScopeClaim(ids, clause_ref, claim, author, created_at):
            told = {"observation_ids": list(ids), "clause_ref": _value(clause_ref), "claim": _value(claim)}
        case Justification(text, author, created_at):
            told = {"text": _value(text)}
        case Warrant(request, bundle, created_at, age):
            told, author = {"action_request_id": artifact_id(request), "bundle": bundle, "stale": age}, "kernel"
        case Refusal(reason, failed_gate, created_at):
            told, author = {"reason_code": reason, "failed_gate": failed_gate}, "kernel"
        case Exit(event, created_at):
            told, author = {"event": event}, "kernel"
        case Candidate(request, scope, justification, citations):
            return {
                "action_request": as_json(request),
                "scope_claim": as_json(scope),
                "justification": as_json(justification),
                "authority_citations": [_value(citation) for citation in citations],
            }
        case _:
            raise TypeError(f"{type(one).__name__} is no artefact")
    stamped = {"author": _value(author), "created_at": _value(created_at)}
    return {"type": _NAMES[type(one)], **told, **{name: text for name, text in stamped.items() if text}}


@lru_cache(maxsize=65_536)
def artifact_id(one: Any) -> str:
    """Return the id of an artefact: the hash of its whole content."""
    return sha(canonical_bytes(as_json(one)))


@lru_cache(maxsize=65_536)
def line_of(one: Any) -> str:
    """Return the line of a log that holds an artefact or a candidate."""
    return canonical_bytes(as_json(one)).decode("utf-8")


@lru_cache(maxsize=65_536)
def covered(candidate: Candidate, covers: str) -> Candidate:
    """Return the candidate as far as its bundle hash covers it (reading `bundle_hash_covers`)."""
    if covers != "content":
        return candidate
    scope, justification = candidate.scope, candidate.justification
    return Candidate(
        replace(candidate.request, author="", created_at=""),
        None if scope is None else replace(scope, author="", created_at=""),
        None if justification is None else replace(justification, author="", created_at=""),
        candidate.citations,
    )


@lru_cache(maxsize=65_536)
def bundle_hash(candidate: Candidate, covers: str) -> str:
    """Return the hash of a bundle; hexadecimal of equal length orders as the raw bytes do."""
    return sha(canonical_bytes(as_json(covered(candidate, covers))))
