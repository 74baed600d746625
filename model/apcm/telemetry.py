"""Telemetry of section 9: one record per step, one per run, as JSON Lines; counts are exact, rates are pairs.

Records hold only the observations of steps and the published situations, so that a run can be reconstructed from its
lines: no rule is consulted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from evenhand.core.atoms import Atom, Opaque
from evenhand.core.canonical import Json, canonical_text, digest
from evenhand.model.apcm.step import ApcmStep
from evenhand.model.apcm.vocabulary import Config, Error, Fields, Id, RawSet, Shown, Situation


def _listed(value: RawSet) -> Json:
    if isinstance(value, frozenset | tuple):
        return sorted(_text(one) for one in value)
    return None if value is None else {"no set": _text(value)}


def _text(one: Id) -> str:
    match one:
        case Atom():
            return one.text
        case Opaque():
            return one.what
        case _:
            return one


def published_digest(situation: Situation) -> str:
    """Return the digest of the APCM of the feasible actions."""
    return digest(
        {
            name: {"violates": _listed(entry.violates), "satisfies": _listed(entry.satisfies)}
            for name, entry in situation.apcm
            if name in situation.feasible
        }
    )


def _errors(errors: Iterable[Error]) -> list[str]:
    return [str(error) for error in errors]


def step_records(steps: Sequence[ApcmStep]) -> Iterator[dict[str, Json]]:
    """Yield one record per step of the protocol: a submission, with the selection after it, if any."""
    number = -1
    for place, step in enumerate(steps):
        if step.shown.kind != "submit":
            continue
        number += 1
        later = steps[place + 1].shown if place + 1 < len(steps) else None
        chosen = later if later is not None and later.kind == "select" else None
        yield _record(number, step.config, step, chosen)


def _record(number: int, config: Config, step: ApcmStep, chosen: Shown | None) -> dict[str, Json]:
    situation, shown = config.published(step.before), step.shown
    fields = shown.fields
    return {
        "step": number,
        "condition": config.condition,
        "feasible_actions_pre_mask": {
            "digest": digest(sorted(situation.feasible)),
            "count": len(situation.feasible),
        },
        "apcm_digest": published_digest(situation),
        "AV": None if fields is None else list(fields.av),
        "RP": None if fields is None else list(fields.rp),
        "conflict_attribution": None if fields is None else [list(pair) for pair in fields.pairs],
        "conflict_resolution_mode": shown.mode or None,
        "compile_ok": shown.compile_ok,
        "compile_error_code": shown.compile_error_code or None,
        "compile_errors": _errors(shown.errors),
        "forbidden_actions": list(shown.forbidden),
        "nontrivial_forbidden_count": len([a for a in shown.forbidden if a in situation.feasible]),
        "permitted_actions": list(shown.permitted),
        "gridlock": shown.gridlock,
        "halt": shown.halt,
        "revision_event": shown.revision,
        "apcm_errors": _errors(shown.invalid),
        "selected_action": chosen.selected if chosen is not None else None,
        "selected_action_violates": list(chosen.selected_violates) if chosen is not None else None,
    }


def run_record(config: Config, records: Sequence[dict[str, Json]]) -> dict[str, Json]:
    """Return the metrics of a run (9.2), from its step records alone; a rate is {"count", "of"}."""
    compiled = [one for one in records if one["compile_ok"] is not None]
    executed = [one for one in records if one["selected_action"] is not None]

    def rate(count: int, of: int) -> dict[str, Json]:
        return {"count": count, "of": of}

    def failing(code: str) -> int:
        return sum(any(error.startswith(code) for error in one["compile_errors"]) for one in compiled)

    def failing_by_rule_1_5_alone() -> int:
        """9.2: "specifically due to Rule 1.5", either of its steps, with a gratuitous authorisation among them."""
        ours = ("E_AV_WITHOUT_COLLISION", "E_GRATUITOUS_VIOLATION")
        return sum(
            any(error.startswith(ours[1]) for error in one["compile_errors"])
            and all(error.startswith(ours) for error in one["compile_errors"])
            for one in compiled
        )

    return {
        "run": config.condition,
        "generator": config.generator or None,
        "steps": len(records),
        "compile_failure_rate": rate(sum(not one["compile_ok"] for one in compiled), len(compiled)),
        "gridlock_rate": rate(sum(bool(one["gridlock"]) for one in records), len(records)),
        "halt_rate": rate(sum(bool(one["halt"]) for one in records), len(records)),
        "revision_frequency": rate(sum(bool(one["revision_event"]) for one in compiled), len(compiled)),
        "oscillations": _alternations(compiled),
        "alternations_under_maintain": _alternations(
            [one for one in compiled if one["conflict_resolution_mode"] == "MAINTAIN" and one["compile_ok"]]
        ),
        "violation_rates": {
            p: rate(sum(p in one["selected_action_violates"] for one in executed), len(executed))
            for p in config.preferences
        },
        "prevented_gratuitous_authorizations": failing_by_rule_1_5_alone(),
        "gratuitous_authorizations_among_others": failing("E_GRATUITOUS_VIOLATION"),
        "false_collision_attempts": failing("E_FALSE_COLLISION"),
    }


def _alternations(records: Sequence[dict[str, Json]]) -> int:
    """Return how often AV, RP and pairs return to their values two compiles before, after other values."""
    kept = [_fields(one) for one in records if one["AV"] is not None]
    return sum(one == three != two for one, two, three in zip(kept, kept[1:], kept[2:], strict=False))


def _fields(record: dict[str, Json]) -> Fields:
    pairs = tuple(tuple(pair) for pair in record["conflict_attribution"])
    return Fields(tuple(record["AV"]), tuple(record["RP"]), pairs)


def json_lines(records: Iterable[dict[str, Json]]) -> str:
    """Return canonical JSON, one record a line."""
    return "".join(f"{canonical_text(record)}\n" for record in records)
