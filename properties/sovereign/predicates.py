"""The predicates that claims use, written from the source text; they share no rule with kernel or executor.

A candidate's faults are a set of gates; that the kernel checks them in order is a claim.  Paths are judged by the
standard library's normal form and by the real place of an effect, never by the model's own resolver.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeAlias

from evenhand.core.canonical import Json, canonical_bytes
from evenhand.core.system import Step
from evenhand.model.sovereign.artifacts import artifact_id, as_json
from evenhand.model.sovereign.constitution import Constitution, document
from evenhand.model.sovereign.readings import Readings
from evenhand.model.sovereign.state import Act, Config, Cycle, Decide, Shown, State
from evenhand.model.sovereign.vocabulary import (
    AUTHORS,
    GATES,
    INTEGRITY_EVENTS,
    Candidate,
    Decision,
    Effect,
    Observation,
    Refusal,
    Request,
    Warrant,
    field,
)

Seen: TypeAlias = tuple[Observation, ...]
KernelStep: TypeAlias = Step[Config, State, Act, Shown]
"""A step of any of these systems."""

DECIDING = ("agent", "candidates", "lists", "session", "constitutions")
"""The systems that make decisions by themselves."""

FEEDABLE = ("candidates", "lists")
"""The systems whose steps are decisions and nothing else."""

EXECUTING = ("agent", "session", "constitutions")
"""The systems with effects on a world."""


def decides(step: KernelStep) -> bool:
    """Return whether the step asked for a decision and made one."""
    return step.shown.decision is not None and isinstance(step.action, Decide | Cycle)


def decided(step: KernelStep, kind: str) -> bool:
    """Return whether the step made a decision of this kind."""
    return step.shown.decision is not None and step.shown.decision.kind == kind


def decision_of(step: KernelStep) -> Decision:
    """Return the decision of a step that makes one."""
    assert step.shown.decision is not None
    return step.shown.decision


def warrant_of(step: KernelStep) -> Warrant:
    """Return the warrant of a step that issues one."""
    warrant = decision_of(step).warrant
    assert warrant is not None
    return warrant


def refusal_of(step: KernelStep) -> Refusal:
    """Return the refusal record of a step that refuses."""
    refusal = decision_of(step).refusal
    assert refusal is not None
    return refusal


def fed(step: KernelStep) -> tuple[Seen, tuple[Candidate, ...]]:
    """Return the observations and the candidates of a step."""
    assert isinstance(step.action, Decide | Cycle)
    return step.action.observations, step.action.candidates


def offered(config: Config, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Return the candidates that reach the kernel (reading `exit_candidate`)."""
    if config.readings.exit_candidate == "admitted_by_gates":
        return candidates
    return tuple(one for one in candidates if one.request.action_type != "Exit")


def times_of(seen: Seen) -> tuple[Any, ...]:
    """Return the observed times."""
    return tuple(field(one.payload, "iso8601_utc") for one in seen if one.kind == "timestamp")


def is_timely(seen: Seen) -> bool:
    """Return whether exactly one time was observed, and it is a non-empty text."""
    times = times_of(seen)
    return len(times) == 1 and isinstance(times[0], str) and times[0] != ""


def events_of(seen: Seen) -> frozenset[str]:
    """Return the integrity failures observed."""
    found = {field(one.payload, "event") for one in seen if one.kind == "system"}
    return frozenset(one for one in found if isinstance(one, str) and one in INTEGRITY_EVENTS)


def overspends(config: Config, seen: Seen) -> bool:
    """Return whether the reported tokens must refuse the cycle."""
    told = [field(one.payload, "llm_output_token_count") for one in seen if one.kind == "budget"]
    readings: Readings = config.readings
    if not told:
        return readings.budget_absent == "refuse"
    if readings.budget_count == "exactly_one" and len(told) != 1:
        return True
    looked = told[-1:] if readings.budget_count == "last" else told
    if any(type(one) is not int for one in looked):
        return True
    numbers = [int(str(one)) for one in looked]
    if readings.negative_budget == "refuse" and min(numbers) < 0:
        return True
    return sum(numbers) > config.constitution.limits.max_total_tokens_per_cycle


_CITATION = re.compile(r"constitution:v(?P<version>[^#@]*)(?P<mark>[#@])(?P<rest>.*)", re.DOTALL)


@lru_cache(maxsize=65_536)
def cites_what_is_there(constitution: Constitution, citation: str) -> bool:
    """Return whether a citation names a clause, or points at something in the document."""
    read = _CITATION.fullmatch(citation)
    if read is None or read["version"] != constitution.version:
        return False
    if read["mark"] == "#":
        return read["rest"] in constitution.clauses
    return read["rest"] in _pointers(constitution)


@lru_cache(maxsize=4_096)
def _pointers(constitution: Constitution) -> frozenset[str]:
    """Every pointer into a document, listed so that no pointer has to be parsed."""
    found: set[str] = set()

    def walk(value: Json, at: str) -> None:
        found.add(at)
        entries: Any = ()
        if isinstance(value, dict):
            entries = value.items()  # pyright: ignore
        elif isinstance(value, list):
            entries = enumerate(value)  # pyright: ignore
        for name, below in entries:
            walk(below, at + "/" + str(name).replace("~", "~0").replace("/", "~1"))

    walk(document(constitution), "")
    return frozenset(found)


_FIELDS = {
    "Notify": {"message"},
    "ReadLocal": {"path"},
    "WriteLocal": {"path", "content"},
    "LogAppend": {"log_name", "jsonl_lines"},
    "Exit": set[str](),
}


def _complete(config: Config, candidate: Candidate) -> bool:
    request, constitution = candidate.request, config.constitution
    kinds = [one for one in constitution.action_types if one.name == request.action_type]
    if any(one.kernel_only for one in kinds):
        return False
    needs = set(kinds[0].requires) if kinds else {"authority_citations", "scope_claim", "justification"}
    if "authority_citations" in needs and not candidate.citations:
        return False
    if "scope_claim" in needs and candidate.scope is None:
        return False
    if "justification" in needs and (candidate.justification is None or not candidate.justification.text):
        return False
    told = dict(request.fields)
    if request.action_type in _FIELDS:
        if set(told) != _FIELDS[request.action_type] or len(told) != len(request.fields):
            return False
        texts = [value for name, value in told.items() if name != "jsonl_lines"]
        if not all(isinstance(value, str) and value for value in texts):
            return False
        bound = constitution.limits.max_chars_per_field
        if bound is not None and any(len(str(value)) > bound for value in texts):
            return False
    if config.readings.unknown_author == "refuse":
        parts = (request, candidate.scope, candidate.justification)
        return all(part is None or part.author in AUTHORS for part in parts)
    return True


def _in_scope(config: Config, seen: Seen, candidate: Candidate) -> bool:
    scope = candidate.scope
    if scope is None:
        return True
    ids = set(scope.observation_ids)
    return (
        bool(ids) and ids <= set(map(artifact_id, seen)) and cites_what_is_there(config.constitution, scope.clause_ref)
    )


def path_of(request: Request) -> Any:
    """The path that a request reads or writes, whatever its type; None without one."""
    if request.action_type == "LogAppend":
        return f"./logs/{field(request.fields, 'log_name')}.jsonl"
    return field(request.fields, "path") if request.action_type in ("ReadLocal", "WriteLocal") else None


def _below(config: Config, request: Request, path: Any) -> bool:
    """Whether a path, by its text, lies below an allowed directory."""
    io = config.constitution.io
    allowed_ones = io.read_paths if request.action_type == "ReadLocal" else io.write_paths
    if not isinstance(path, str):
        return request.action_type not in ("ReadLocal", "WriteLocal") or path is None
    if config.readings.path_rule == "prefix_string":
        return path.startswith(tuple(allowed_ones))
    if config.readings.path_rule == "normal_form":
        return path[:1] != "/" and "\0" not in path and not _climbs(path) and _normally_below(path, allowed_ones)
    odd = [c for c in path if unicodedata.category(c) in ("Cc", "Cf", "Cs") or c == "\\"]
    if odd or not path or path[0] == "/" or "//" in path or path[-1] == "/":
        return False
    if unicodedata.normalize("NFKC", path) != path or _climbs(path):
        return False
    return _normally_below(path, allowed_ones)


def _normally_below(path: str, directories: Iterable[str]) -> bool:
    normal = posixpath.normpath(path)
    return any(normal.startswith(posixpath.normpath(one) + "/") for one in directories)


def _climbs(path: str) -> bool:
    """Whether a path leaves the repository on its way, even if it comes back."""
    depth = 0
    for segment in path.split("/"):
        depth += {"..": -1, ".": 0, "": 0}.get(segment, 1)
        if depth < 0:
            return True
    return False


@lru_cache(maxsize=200_000)
def faults(config: Config, seen: Seen, candidate: Candidate) -> frozenset[str]:
    """Return the gates that a candidate must fail, each gate judged by itself."""
    known = {one.name for one in config.constitution.action_types}
    verdicts = (
        _complete(config, candidate),
        all(cites_what_is_there(config.constitution, citation) for citation in candidate.citations),
        _in_scope(config, seen, candidate),
        candidate.request.action_type in known,
        _below(config, candidate.request, path_of(candidate.request)),
    )
    return frozenset(gate for gate, good in zip(GATES, verdicts, strict=True) if not good)


def first_fault(config: Config, seen: Seen, candidate: Candidate) -> str:
    """Return the first of the gates that a candidate fails; empty if none."""
    return min(faults(config, seen, candidate), key=GATES.index, default="")


def admissible(config: Config, seen: Seen, candidate: Candidate) -> bool:
    """Return whether a candidate passes all five gates."""
    return not faults(config, seen, candidate)


@lru_cache(maxsize=65_536)
def bundle_of(covers: str, candidate: Candidate) -> bytes:
    """Return the raw bytes of a bundle's hash; with `content`, authors and times are removed from the JSON."""
    data: Any = as_json(candidate)
    if covers == "content":
        for name in ("action_request", "scope_claim", "justification"):
            if data[name] is not None:
                data = {**data, name: {k: v for k, v in data[name].items() if k not in ("author", "created_at")}}
    return hashlib.sha256(canonical_bytes(data)).digest()


def request_of(config: Config, candidate: Candidate) -> tuple[str, Any]:
    """Return the type and the fields of a request."""
    return candidate.request.action_type, candidate.request.fields


def same_request(one: Request, two: Request) -> bool:
    """Return whether two requests have the same type and fields."""
    return (one.action_type, one.fields) == (two.action_type, two.fields)


def allowed(config: Config, effect: Effect) -> bool:
    """Return whether the place of an effect lies below a directory that the constitution allows."""
    io = config.constitution.io
    if effect.action_type == "Notify":
        return True
    names = io.read_paths if effect.action_type == "ReadLocal" else io.write_paths
    where = "/" + "/".join(effect.place)
    return any(where.startswith(posixpath.normpath(posixpath.join("/repo", name)) + "/") for name in names)
