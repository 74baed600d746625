"""Situations and artefacts from untrusted JSON: read strictly, refused with the culprit named.

JSON has no sets: an array without repetitions stands for one, an array with repetitions for a list, for which the
reading `list_inputs` decides.  The compiler refuses the same values, by the same codes.
"""

from __future__ import annotations

from typing import Any, cast

from evenhand.core.atoms import Opaque, atom
from evenhand.core.canonical import Json, parse
from evenhand.model.apcm.compiler import REFERENCE, Rules
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.vocabulary import Artifact, Config, Entry, Error, Id, RawPairs, RawSet, Situation

_FIELDS = ("authorized_violations", "required_preservations", "conflict_attribution", "conflict_resolution")
_CAUSES = {
    "E_FEASIBLE_UNKNOWN": "is feasible and not in the inventory",
    "E_FEASIBLE_REPEATED": "is listed as feasible more than once",
    "E_APCM_MISSING": "is feasible and has no APCM entry; the APCM is total over the feasible actions",
    "E_APCM_REPEATED": "has more than one APCM entry",
    "E_APCM_NULL": "is null; publish a set, empty if need be",
    "E_APCM_TYPE": "is no set of preferences",
    "E_APCM_UNKNOWN_PREFERENCE": "is no registered preference",
    "E_APCM_SATISFIES": "satisfies what the reading of `satisfies` does not allow",
    "E_SCHEMA_TYPE": "is of a wrong type",
    "E_UNKNOWN_MODE": "is no mode; use MAINTAIN or REVISE",
    "E_UNKNOWN_PREFERENCE": "is no registered preference",
    "E_PAIR_ARITY": "is no pair of two different preferences",
}


def load_situation(
    text: str | bytes, *, actions: tuple[str, ...], preferences: tuple[str, ...], readings: Readings | None = None
) -> Situation:
    """Return a published situation from `{"feasible": […], "apcm": {action: {"violates", "satisfies"}}}`.

    Raises ValueError that names the action, the field and the code for whatever section 2 forbids.
    """
    data = _object(parse(text), "a situation")
    situation = raw_situation(data)
    config = Config(actions, preferences, (situation,), readings=readings or Readings())
    _refuse("situation", REFERENCE.validate(config, situation))
    return situation


def load_artifact(
    text: str | bytes,
    *,
    preferences: tuple[str, ...],
    readings: Readings | None = None,
    rules: Rules = REFERENCE,
) -> Artifact:
    """Return a justification artefact from the JSON of section 3.

    Raises ValueError that names the field and the code: a missing or unknown field, a wrong type, an unknown mode
    or preference, a pair of a wrong shape.  The compiler checks the digest, not this.
    """
    data = _object(parse(text), "an artefact")
    for name in (*_FIELDS, "precedent_reference"):
        if name not in data:
            raise ValueError(f"artefact: field {name!r} is missing")
    for name in sorted(data):
        if name not in (*_FIELDS, "precedent_reference"):
            raise ValueError(f"artefact: unknown field {name!r}")
    resolution = _object(data["conflict_resolution"], "`conflict_resolution`")
    for name in ("mode", "previous_artifact_digest"):
        if name not in resolution:
            raise ValueError(f"artefact: field 'conflict_resolution.{name}' is missing")
    artifact = raw_artifact(data)
    config = Config((), preferences, (), readings=readings or Readings())
    _refuse("artefact", rules.read(rules, config, artifact)[1])
    return artifact


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


def raw_artifact(data: dict[str, Json]) -> Artifact:
    """Return the artefact as it arrived, whatever its values; missing fields are None."""
    made: Any = data.get("conflict_resolution")
    resolution = cast("dict[str, Json]", made) if isinstance(made, dict) else {}
    return Artifact(
        _raw_set(data.get("authorized_violations")),
        _raw_set(data.get("required_preservations")),
        _raw_pairs(data.get("conflict_attribution")),
        _raw_id(resolution.get("mode")),
        _raw_id(resolution.get("previous_artifact_digest")),
        _raw_id(data.get("precedent_reference")),
    )


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


def _raw_pairs(value: Json) -> RawPairs:
    if not isinstance(value, list):
        return None if value is None else atom(value)
    pairs: list[tuple[Id, ...]] = []
    for one in cast("list[Json]", value):
        if not isinstance(one, list):
            return Opaque("array with something that is no pair")
        many = cast("list[Json]", one)
        pairs.append(tuple(Opaque("null") if part is None else cast(Id, _raw_id(part)) for part in many))
    return frozenset(pairs) if len(set(pairs)) == len(pairs) else tuple(pairs)


def _refuse(what: str, errors: tuple[Error, ...]) -> None:
    if errors:
        first = errors[0]
        culprit = ".".join(first.culprit)
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise ValueError(f"{what}: {culprit!r} {_CAUSES[first.code]} ({first.code}){more}")
