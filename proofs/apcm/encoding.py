"""Abstraction and concretisation between the theory of a compile and the executable model.

`view_*` reads a step as a finite structure: the published situation, the fields submitted, and the observed values of
the defined predicates.  `scene` reads a structure as a scenario: where it has a precedent, the environment first
publishes that nothing is feasible, and the previous artefact is submitted there.  Neither runs the compiler.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evenhand.core.trace import Scenario
from evenhand.model.apcm import vocabulary as model
from evenhand.model.apcm.generators import artifact_of
from evenhand.model.apcm.menus import MOST, action_names, preference_names
from evenhand.model.apcm.readings import Readings
from evenhand.model.apcm.step import ApcmStep, initial
from evenhand.smt.structure import Structure
from evenhand.smt.tables import line, rank, structure


def pair(members: Iterable[str]) -> str:
    """Return the element of a collision; actions and preferences are their own."""
    return "+".join(members)


def _plain(config: model.Config) -> bool:
    """Return whether the readings are those of the theory, and the compiler decides."""
    usual = Readings()
    mine = config.readings
    same = (mine.av_in_collision, mine.av_rp_overlap, mine.first_step_mode, mine.pair_order) == (
        (usual.av_in_collision, usual.av_rp_overlap, usual.first_step_mode, usual.pair_order)
    )
    return same and config.condition not in (model.ASB, model.BYPASS) and config.selector == "any"


def structure_of(step: ApcmStep) -> Structure | None:
    """Return a submission as a structure of GENERAL, with observations; None outside the theory.

    Outside: other readings and conditions, an improper APCM, a malformed artefact, what is no submission.
    """
    config, shown, fields = step.config, step.shown, step.shown.fields
    if shown.invalid or not _plain(config) or fields is None or not config.actions or not config.preferences:
        return None
    situation = config.published(step.before)
    if any(not isinstance(entry.violates, frozenset) for _, entry in situation.apcm):
        return None
    old = step.before.previous
    known = set(config.preferences)
    named = {*fields.av, *fields.rp, *(p for one in fields.pairs for p in one)}
    named |= {p for action in situation.feasible for p in situation.violates(action)}
    if not named <= known or not set(situation.feasible) <= set(config.actions):
        return None
    pairs = sorted({*fields.pairs, *(old.pairs if old else ())}) or [config.preferences[:2]]
    halves = ("first", "second") if all(len(one) == 2 for one in pairs) else ()
    link = None if old is None else model.digest_of(old)
    return structure(
        {"Act": config.actions, "Pref": config.preferences, "Pair": map(pair, pairs)},
        {
            "feasible": {*situation.feasible},
            "violates": {(x, p) for x in situation.feasible for p in situation.violates(x)},
            **_of_fields(fields, ""),
            **_of_fields(old or model.Fields((), (), ()), "old_"),
            "member": {(pair(one), p) for one in pairs for p in one},
            "linked": shown.artifact is not None and shown.artifact.previous_artifact_digest == link,
            "maintain": shown.mode == model.MAINTAIN,
            "has_precedent": old is not None,
            **_of_outcome(shown),
            "before_act": line(sorted(config.actions)),
            "before_pref": line(sorted(config.preferences)),
            **{name: {pair(one): one[n] for one in pairs} for n, name in enumerate(halves)},
        },
    )


def _of_fields(fields: model.Fields, when: str) -> dict[str, set[str]]:
    return {
        f"{when}av": {*fields.av},
        f"{when}rp": {*fields.rp},
        f"{when}declared": {pair(one) for one in fields.pairs},
    }


def _of_outcome(shown: model.Shown) -> dict[str, Any]:
    culprits: dict[str, list[tuple[str, ...]]] = {}
    for error in shown.errors:
        culprits.setdefault(error.code, []).append(error.culprit)
    return {
        "unlinked": "E_DIGEST_MISMATCH" in culprits,
        "uncollided": "E_AV_WITHOUT_COLLISION" in culprits,
        "gratuitous": {one[0] for one in culprits.get("E_GRATUITOUS_VIOLATION", ())},
        "overlapping": {one[0] for one in culprits.get("E_AV_RP_OVERLAP", ())},
        "false_pair": {pair(one) for one in culprits.get("E_FALSE_COLLISION", ())},
        "unprecedented": "E_PRECEDENT_VIOLATION" in culprits,
        "compiles": shown.compile_ok is True,
        "forbidden": {*shown.forbidden},
        "permitted": {*shown.permitted},
        "offered": {*shown.offered},
        "gridlock": shown.gridlock,
    }


def view_general(step: ApcmStep) -> Structure | None:
    """Return a step as a structure of GENERAL; None outside."""
    found = structure_of(step)
    return None if found is None else Structure(found.universe, found.relations)


def view_text(step: ApcmStep) -> Structure | None:
    """Return a step as a structure of TEXT; None outside, as where a registry has fewer than two preferences."""
    found = structure_of(step)
    return found if found is not None and found.functions else None


def _by_name(found: Structure, sort: str, before: str) -> list[str]:
    """Return the elements of a sort in the order of their names."""
    before_it = rank(found.relations[before], found.universe[sort])
    return sorted(before_it, key=lambda element: (before_it[element], element))


def scene(found: Structure) -> Scenario[model.Config, model.State, model.Act] | None:
    """Return a submission that matches the structure; None if none does."""
    told = found.relations
    acts, prefs = _by_name(found, "Act", "before_act"), _by_name(found, "Pref", "before_pref")
    if len(acts) > MOST or len(prefs) > MOST:
        return None
    names = dict(zip(acts, action_names(len(acts)), strict=True))
    names |= dict(zip(prefs, preference_names(len(prefs)), strict=True))
    groups = {g: tuple(sorted(names[p] for one, p in told["member"] if one == g)) for g in found.universe["Pair"]}

    def ids(relation: str) -> tuple[str, ...]:
        return tuple(sorted(names[row[0]] for row in told[relation]))

    def collisions(relation: str) -> tuple[tuple[str, ...], ...]:
        return tuple(sorted({groups[row[0]] for row in told[relation]}))

    registry = preference_names(len(prefs))
    possible = [names[row[0]] for row in told["feasible"]]
    entries: list[tuple[str, model.Entry]] = []
    for name in sorted(possible):
        bad = frozenset(names[p] for x, p in told["violates"] if names[x] == name)
        entries.append((name, model.Entry(bad, frozenset(registry) - bad)))
    fields = model.Fields(ids("av"), ids("rp"), collisions("declared"))
    previous = model.Fields(ids("old_av"), ids("old_rp"), collisions("old_declared")) if told["has_precedent"] else None
    artifact = artifact_of(fields, previous, model.MAINTAIN if told["maintain"] else model.REVISE)
    if not told["linked"]:
        artifact = model.Artifact(
            artifact.authorized_violations,
            artifact.required_preservations,
            artifact.conflict_attribution,
            artifact.mode,
            "blake2b128:" + "0" * 32,
        )
    target = model.Situation(tuple(sorted(possible)), tuple(entries))
    situations = (model.Situation((), ()), target) if previous is not None else (target,)
    config = model.Config(action_names(len(acts)), registry, situations, steps=len(situations))
    earlier = (model.Submit(artifact_of(previous, None)),) if previous is not None else ()
    return Scenario(config, initial(config)[0], (*earlier, model.Submit(artifact)))
