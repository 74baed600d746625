"""Situations from JSON, as they arrive: read strictly, with whatever values.

JSON has no sets: an array without repetitions stands for one, an array with repetitions for a list, for which the
reading `list_inputs` decides.  The compiler refuses what the text forbids.
"""

from __future__ import annotations

from typing import Any, cast

from evenhand.core.atoms import Opaque, atom
from evenhand.core.canonical import Json
from evenhand.model.apcm.vocabulary import Entry, Id, RawSet, Situation


def raw_situation(data: dict[str, Json]) -> Situation:
    """Return the situation as it arrived, whatever its values.  Raises ValueError for another shape."""
    feasible: Any = data.get("feasible")
    if not isinstance(feasible, list) or not all(isinstance(one, str) for one in cast("list[Any]", feasible)):
        raise ValueError("situation: `feasible` must be an array of action names")
    entries: list[tuple[str, Entry]] = []
    for action, made in _object(data.get("apcm"), "`apcm`").items():
        entry = _object(made, f"the APCM of action {action!r}")
        for name in ("violates", "satisfies"):
            if name not in entry:
                raise ValueError(f"situation: the APCM of action {action!r} has no key {name!r} (E_APCM_MISSING)")
        entries.append((action, Entry(_raw_set(entry["violates"]), _raw_set(entry["satisfies"]))))
    return Situation(tuple(cast("list[str]", feasible)), tuple(entries))


def _object(value: Json, what: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be a JSON object, not {value!r}")
    return cast("dict[str, Json]", value)


def _raw_id(value: Json) -> Id | None:
    return value if value is None or isinstance(value, str) else atom(value)


def _raw_set(value: Json) -> RawSet:
    if not isinstance(value, list):
        return None if value is None else atom(value)
    ids = tuple(Opaque("null") if one is None else cast(Id, _raw_id(one)) for one in cast("list[Json]", value))
    return frozenset(ids) if len(set(ids)) == len(ids) else ids
