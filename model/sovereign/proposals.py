"""From a canonical JSON object to candidates: parse, then bind observation ids (13.1, 13.2).

The host binds the ids of actual observations into scope claims and alters nothing else.  Unknown entries reject the
candidate, because a parser that drops them would propose a candidate that was never written.
"""

from __future__ import annotations

from typing import Any, cast

from evenhand.core.atoms import atom
from evenhand.core.canonical import Json
from evenhand.core.records import replace
from evenhand.model.sovereign.artifacts import artifact_id
from evenhand.model.sovereign.canonicalizer import canonicalize
from evenhand.model.sovereign.vocabulary import (
    REFLECTION,
    USER_INPUT,
    Candidate,
    Fields,
    Justification,
    Observation,
    Request,
    ScopeClaim,
    Value,
)


def _list(data: Json) -> list[Any] | None:
    return cast(Any, data) if isinstance(data, list) else None


def _mapping(data: Json) -> dict[str, Any] | None:
    return cast(Any, data) if isinstance(data, dict) else None


def value_from(data: Json) -> Value:
    """Return a JSON value as a model value: text, integers, lists of text; the rest tagged."""
    if isinstance(data, str):
        return data
    if isinstance(data, int) and not isinstance(data, bool):
        return data
    items = _list(data)
    if items is not None:
        return tuple(one if isinstance(one, str) else atom(one) for one in items)
    return atom(data)


def _entries(data: Json, *names: str) -> dict[str, Any] | None:
    """Return a JSON object with no other entries than these; None for anything else."""
    told = _mapping(data)
    if told is None:
        return None
    return told if set(told) <= {*names, "type", "id", "author", "created_at"} else None


def _stamp(told: dict[str, Any]) -> dict[str, str]:
    author, at = told.get("author", REFLECTION), told.get("created_at", "")
    return {"author": str(author), "created_at": str(at)}


def candidate_from(data: Json) -> Candidate | None:
    """Return one candidate; None for any other object."""
    told = _entries(data, "action_request", "scope_claim", "justification", "authority_citations")
    asked = _entries(told.get("action_request"), "action_type", "fields") if told else None
    fields = _mapping(asked.get("fields", {})) if asked else None
    if told is None or asked is None or fields is None or not isinstance(asked.get("action_type"), str):
        return None
    made: Fields = tuple(sorted((str(name), value_from(value)) for name, value in fields.items()))
    scope: ScopeClaim | None = None
    if told.get("scope_claim") is not None:
        claimed = _entries(told["scope_claim"], "observation_ids", "clause_ref", "claim")
        ids = _list(claimed.get("observation_ids", [])) if claimed else None
        if claimed is None or ids is None or not isinstance(claimed.get("clause_ref"), str):
            return None
        scope = ScopeClaim(
            tuple(str(one) for one in ids),
            claimed["clause_ref"],
            str(claimed.get("claim", "")),
            **_stamp(claimed),
        )
    why: Justification | None = None
    if told.get("justification") is not None:
        said = _entries(told["justification"], "text")
        if said is None or not isinstance(said.get("text"), str):
            return None
        why = Justification(said["text"], **_stamp(said))
    cited = _list(told.get("authority_citations", []))
    if cited is None or not all(isinstance(one, str) for one in cited):
        return None
    request = Request(asked["action_type"], made, **_stamp(asked))
    return Candidate(request, scope, why, tuple(cited))


def candidates_from(data: Json) -> tuple[Candidate, ...]:
    """Return the candidates of an object: itself, or those of its list `candidates`."""
    told = _mapping(data)
    many = (_list(told["candidates"]) or []) if told is not None and "candidates" in told else [data]
    return tuple(one for one in map(candidate_from, many) if one is not None)


def bind(candidates: tuple[Candidate, ...], observations: tuple[Observation, ...]) -> tuple[Candidate, ...]:
    """Put the ids of the user's inputs (without any, of all observations) into each scope claim."""
    ids = tuple(artifact_id(one) for one in observations if one.kind == USER_INPUT)
    ids = ids or tuple(artifact_id(one) for one in observations)
    return tuple(
        one if one.scope is None else replace(one, scope=replace(one.scope, observation_ids=ids)) for one in candidates
    )


def proposed(text: str, observations: tuple[Observation, ...]) -> tuple[Candidate, ...]:
    """Return the candidates in raw text; none where the canonicalizer rejects it, and the kernel still decides."""
    found = canonicalize(text)
    return () if found.rejection else bind(candidates_from(found.value), observations)
