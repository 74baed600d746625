"""Renaming actions and preferences everywhere, which must change only names.

The group of all renamings is the quotient that the exhaustive search uses under a licence; a single renaming,
computed from a step, is the second run of the claims on equivariance.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

from evenhand.core.records import dataclass, replace
from evenhand.core.system import Quotient
from evenhand.model.apcm.vocabulary import (
    Act,
    Artifact,
    Config,
    Entry,
    Error,
    Fields,
    Select,
    Shown,
    Situation,
    State,
    Submit,
    Whole,
    digest_of,
)


@dataclass(frozen=True, slots=True)
class Renaming:
    """New names for actions and preferences, and for digests whose artefact was renamed."""

    names: tuple[tuple[str, str], ...]
    digests: tuple[tuple[str, str], ...] = ()

    def of(self, name: Any) -> Any:
        """Return the new name; other values stay."""
        for old, new in self.names:
            if old == name:
                return new
        return name

    def ids(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return sorted names, renamed and sorted again."""
        return tuple(sorted([self.of(name) for name in names]))

    def raw(self, value: Any) -> Any:
        """Return a raw set or list of names, or of pairs of names, renamed; anything else stays."""
        if isinstance(value, frozenset):
            return frozenset(self.raw(one) for one in value)  # pyright: ignore
        if isinstance(value, tuple):
            return tuple(self.raw(one) for one in value)  # pyright: ignore
        return self.of(value)

    def linked(self, previous: Fields | None, ordered: bool) -> Renaming:
        """Return this renaming with a new name for the previous artefact's digest too."""
        if previous is None:
            return self
        return replace(self, digests=((digest_of(previous), digest_of(rename_fields(self, previous, ordered))),))


def rename_fields(w: Renaming, fields: Fields, ordered: bool) -> Fields:
    """Return the fields under new names; `ordered` says that pairs keep their order."""
    pairs = [tuple(w.of(p) for p in pair) for pair in fields.pairs]
    found = Fields(
        w.ids(fields.av), w.ids(fields.rp), tuple(sorted(pair if ordered else tuple(sorted(pair)) for pair in pairs))
    )
    if not isinstance(fields, Whole):
        return found
    digests = dict(w.digests)
    link = None if fields.link is None else digests.get(fields.link, fields.link)
    told = digests.get(fields.reference, fields.reference)
    return Whole(found.av, found.rp, found.pairs, fields.mode, link, told)


def _ordered(config: Config) -> bool:
    return config.readings.pair_order == "ordered"


def rename_config(w: Renaming, config: Config) -> Config:
    """Return the configuration under new names, listed in the order of the new names."""

    def situation(one: Situation) -> Situation:
        entries = [(w.of(name), Entry(w.raw(e.violates), w.raw(e.satisfies))) for name, e in one.apcm]
        return Situation(w.ids(one.feasible), tuple(sorted(entries, key=lambda pair: pair[0])))

    return replace(
        config,
        actions=w.ids(config.actions),
        preferences=w.ids(config.preferences),
        situations=tuple(situation(one) for one in config.situations),
    )


def rename_state(w: Renaming, config: Config, state: State) -> State:
    """Return the state under new names."""
    previous = None if state.previous is None else rename_fields(w, state.previous, _ordered(config))
    return replace(state, previous=previous, permitted=w.ids(state.permitted), offered=w.ids(state.offered))


def _artifact(w: Renaming, artifact: Artifact) -> Artifact:
    digests = dict(w.digests)
    link = artifact.previous_artifact_digest
    told = artifact.precedent_reference
    return replace(
        artifact,
        authorized_violations=w.raw(artifact.authorized_violations),
        required_preservations=w.raw(artifact.required_preservations),
        conflict_attribution=w.raw(artifact.conflict_attribution),
        previous_artifact_digest=digests.get(link, link) if isinstance(link, str) else link,
        precedent_reference=digests.get(told, told) if isinstance(told, str) else told,
    )


def rename_action(w: Renaming, action: Act) -> Act:
    """Return the action under new names."""
    if isinstance(action, Select):
        return Select(w.of(action.action))
    return Submit(None if action.artifact is None else _artifact(w, action.artifact))


def rename_shown(w: Renaming, config: Config, shown: Shown) -> Shown:
    """Return the observation under new names: error kinds keep their order, payloads are sorted by the new names."""
    ordered = _ordered(config)

    def error(one: Error) -> Error:
        culprit = tuple(w.of(part) for part in one.culprit)
        unordered = one.code == "E_FALSE_COLLISION" and not ordered
        if one.code == "E_APCM_SATISFIES":
            return Error(one.code, (culprit[0], *sorted(culprit[1:])))
        return Error(one.code, tuple(sorted(culprit)) if unordered else culprit)

    def errors(many: tuple[Error, ...]) -> tuple[Error, ...]:
        codes = [one.code for one in many]
        return tuple(sorted(map(error, many), key=lambda one: (codes.index(one.code), one.culprit)))

    return replace(
        shown,
        artifact=None if shown.artifact is None else _artifact(w, shown.artifact),
        fields=None if shown.fields is None else rename_fields(w, shown.fields, ordered),
        errors=errors(shown.errors),
        forbidden=w.ids(shown.forbidden),
        permitted=w.ids(shown.permitted),
        offered=w.ids(shown.offered),
        selected=w.of(shown.selected),
        selected_violates=w.ids(shown.selected_violates),
        invalid=errors(shown.invalid),
    )


def renamings(config: Config) -> Iterator[Renaming]:
    """Yield every renaming of actions and preferences among themselves, identity first."""
    for actions in permutations(config.actions):
        for preferences in permutations(config.preferences):
            yield Renaming(
                (
                    *zip(config.actions, actions, strict=True),
                    *zip(config.preferences, preferences, strict=True),
                )
            )


RENAMING: Quotient[Config, State, Act, Renaming] = Quotient(
    name="renaming",
    elements=renamings,
    config=rename_config,
    state=rename_state,
    action=lambda w, _config, action: rename_action(w, action),
)
"""The group of renamings; for systems whose artefacts carry no digest of a renamed artefact (one-step runs)."""
