"""`explore`: every configuration, every state, every claim; one verdict each.

Configurations are searched one by one (or split over processes, with identical results), each is a graph of
its own, and the counts add up.  Nothing stops at a violation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evenhand.properties.licence import Licence
from evenhand.properties.property import Property, Reachable
from evenhand.properties.search.abstraction import (
    Maps,
    abstracted,
    compare_images,
    licensed_maps,
    refused_kinds,
    with_and,
)
from evenhand.properties.search.configuration import Progress, search_one
from evenhand.properties.search.disk import Spill
from evenhand.properties.search.found import AnySystem, ModelError, Tally, named
from evenhand.properties.search.graph import Bounds
from evenhand.properties.search.jobs import in_processes
from evenhand.properties.search.parts import NoSuchPart, Part, elsewhere, portion
from evenhand.properties.search.quotient import doubts_under, licensed, orbits
from evenhand.properties.search.rows.tier import Compiled
from evenhand.properties.search.steps import Tier
from evenhand.properties.search.stuck import within_reason
from evenhand.properties.search.symmetry.tier import Orbits
from evenhand.properties.search.tiers import chosen_tier
from evenhand.properties.search.totals import Result, nothing
from evenhand.properties.search.verdicts import Covered, verdict_of
from evenhand.properties.verdict import Status, Verdict

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Exploration", "NoSuchPart", "Prepared", "explore", "prepare"]


@dataclass(frozen=True)
class Exploration:
    """What an exhaustive search found.

    `verdicts` has one entry per claim, in order.  `states`, `transitions` (one for each state and each action or joint
    choice on offer) and `edges` (distinct pairs of states, self-loops included) are sums over the configurations; under
    a group they are those of the full space, under abstractions (then `classes`) those of the classes, and nothing is
    said of how many states a class has.  `depth` is the largest distance of a state from an initial
    one.  `complete` says that no bound left anything out; `spilled` counts the states that went to a disk.
    `reach` gives the shortest length for each reachable goal.  `searched` counts the configurations that were really
    searched.
    """

    verdicts: tuple[Verdict, ...]
    states: int
    transitions: int
    edges: int
    depth: int
    configs: int
    complete: bool
    spilled: int
    tier: int
    why_tier: str
    reach: Mapping[str, int]
    searched: int
    classes: bool
    system: AnySystem = field(repr=False, compare=False)
    _configs: tuple[Any, ...] = field(repr=False, compare=False)
    _bounds: Bounds = field(repr=False, compare=False)

    def to_networkx(self, config: int = 0) -> nx.DiGraph[Any]:
        """The graph of one configuration as networkx knows graphs; searched again, since it was not kept.

        Nodes are the states (`number`, `depth`, `initial`); edges carry `action` (the first one on offer that
        takes it) and `weight` (how many do).  Raises IndexError for a configuration that was not explored.
        """
        from evenhand.properties.search.export import as_networkx

        return as_networkx(self.system, self._configs[config], config, self._bounds)

    def condensation(self, config: int = 0) -> nx.DiGraph[Any]:
        """The strongly connected parts of that graph and the edges between them; `members` are the states of a part.

        Parts are numbered from 0 and carry what their `first` state carries, with the least `depth`; edges carry
        `weight`, the steps that lead from one part to the other, and the `action` of the first.
        """
        from evenhand.properties.search.export import condensed

        return condensed(self.to_networkx(config))


def explore(
    system: AnySystem,
    claims: Iterable[Property] = (),
    *,
    max_states: int | None = None,
    depth: int | None = None,
    max_memory: int | None = None,
    spill: Spill | None = None,
    licence: Licence | Sequence[Licence] | None = None,
    quotient: str | None = None,
    tier: int | None = None,
    configs: Iterable[Any] | None = None,
    part: Part | None = None,
    progress: Progress | None = None,
    jobs: int = 1,
) -> Exploration:
    """Search every reachable state of every configuration, and decide the claims.

    `max_states` bounds the graph of each configuration, `depth` the number of steps from the start, `max_memory`
    the bytes that this process (each of `jobs`) may hold; what a bound leaves out is UNDECIDED.  With `spill` (a
    `Folder`, say) a search of tier 0, 1 or 2 goes on there shortly before it holds so much.
    `quotient` (by default the one that `licence` names) explores one
    configuration of each orbit, or one state of each class of an abstraction; `a+b` takes two abstractions in turn,
    each under a licence.  `tier` is 0 to 3, by default the best that system, claims and licence allow.
    `configs` explores some configurations rather than those of the scope, `part` (k, n) each n-th of them from the
    k-th on; together the n parts come to what the whole comes to.  `jobs` splits them over processes; findings
    and counts do not depend on it.  `progress` is called now and then with states and steps so far.

    Raises ModelError for a model that breaks its contract or a claim that raises, LicenceMissing for a
    quotient without licence, NoSuchPart, UnknownName for a fairness assumption or quotient that the system lacks,
    ValueError for a bound, tier or number of jobs that makes no sense, SpillFailed for a disk that is full or gone.
    """
    prepared = prepare(
        system,
        claims,
        max_states=max_states,
        depth=depth,
        max_memory=max_memory,
        spill=spill,
        licence=licence,
        quotient=quotient,
        tier=tier,
        configs=configs,
    )
    if part is not None:
        prepared = prepared.only(part)
    return prepared.concluded(prepared.totals(progress=progress, jobs=jobs))


def prepare(
    system: AnySystem,
    claims: Iterable[Property] = (),
    *,
    max_states: int | None = None,
    depth: int | None = None,
    max_memory: int | None = None,
    spill: Spill | None = None,
    licence: Licence | Sequence[Licence] | None = None,
    quotient: str | None = None,
    tier: int | None = None,
    configs: Iterable[Any] | None = None,
) -> Prepared:
    """What `explore` does before it searches: list the configurations, check bounds and licence, choose a tier."""
    asked = tuple(claims)
    _sensible(max_states=max_states, depth=depth, max_memory=max_memory)
    if spill is not None and max_memory is None:
        raise ValueError("spill says where to go on when max_memory is reached; give a max_memory")
    licences = (licence,) if isinstance(licence, Licence) else tuple(licence or ())
    maps = licensed_maps(system, quotient, licences)
    group = None if maps else licensed(system, quotient, licences[0] if licences else None)
    numbered = _listed(system, configs)
    refused = refused_kinds(asked) if maps else {}
    searched = abstracted(system, maps) if maps else system
    with within_reason(system):
        chosen, why = chosen_tier(searched, tier, [c for c in asked if c.name not in refused], numbered, group)
    if spill is not None and chosen.number == 3:
        raise ValueError("tier 3 is searched in memory; leave spill out, or choose a lower tier")
    kept = tuple((number, 1) for number in range(len(numbered)))
    doubts: tuple[str, ...] = ("",) * len(asked)
    if group is not None:
        kept = orbits(system, group, numbered)
        doubts = doubts_under(system, group, numbered, kept, asked)
    if maps:
        with within_reason(system):
            doubts = compare_images(system, maps, numbered, asked)
    return Prepared(
        system=system,
        searched=searched,
        claims=asked,
        bounds=Bounds(max_states, depth, max_memory, spill),
        quotient=group.name if group is not None else with_and([one.name for one in maps]) or None,
        configs=tuple(numbered),
        kept=kept,
        doubts=doubts,
        tier=chosen,
        why_tier=_of_classes(maps, why),
        trusted=_trusted(chosen, licences if group is not None or maps else (), maps),
        refused=refused,
    )


@dataclass(frozen=True)
class Prepared:
    """A search that has everything it needs: `totals` searches, `concluded` says what the totals mean.

    The two are apart so that others can search in other processes, each some of the configurations, and what all of
    them come to is judged once.  `kept` names the configurations by number, each with its weight (of its orbit).
    `searched` is the system itself, or under abstractions the one that takes their maps after each step; `refused` says
    by name why some claims are not asked then.
    """

    system: AnySystem
    searched: AnySystem
    claims: tuple[Property, ...]
    bounds: Bounds
    quotient: str | None
    configs: tuple[Any, ...]
    kept: tuple[tuple[int, int], ...]
    doubts: tuple[str, ...]
    tier: Tier | Compiled | Orbits
    why_tier: str
    trusted: tuple[str, ...]
    part: Part | None = None
    refused: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def classes(self) -> bool:
        """Whether what is counted are classes of states."""
        return self.searched is not self.system

    def only(self, part: Part) -> Prepared:
        """The same for a part of the configurations, which says nothing of the others.  Raises NoSuchPart."""
        doubts = tuple(doubt or elsewhere(claim, part) for doubt, claim in zip(self.doubts, self.claims, strict=True))
        return replace(self, kept=portion(self.kept, part), doubts=doubts, part=part)

    def totals(
        self,
        kept: Sequence[tuple[int, int]] | None = None,
        *,
        leaving: Collection[str] = (),
        progress: Progress | None = None,
        jobs: int = 1,
    ) -> Result:
        """Search these configurations, by default all that are kept; the claims `leaving` names come to nothing."""
        if jobs < 1:
            raise ValueError(f"jobs must be at least 1, not {jobs}")
        left = {*leaving, *self.refused}
        asked = [claim for claim in self.claims if claim.name not in left]

        def one(number: int, tick: Progress | None) -> Result:
            with within_reason(self.system):
                return search_one(self.searched, self.tier, self.configs[number], number, asked, self.bounds, tick)

        found = in_processes(jobs, self.kept if kept is None else kept, one, nothing(len(asked)), progress)
        if not left:
            return found
        tallies = iter(found.tallies)
        return replace(found, tallies=tuple(Tally() if claim.name in left else next(tallies) for claim in self.claims))

    def concluded(self, total: Result) -> Exploration:
        """The verdicts and counts that the totals of all kept configurations mean; evidence is judged here."""
        covered_configs = sum(weight for _, weight in self.kept)
        covered = Covered(
            states=total.states,
            transitions=total.transitions,
            edges=total.edges,
            depth=total.depth,
            configs=covered_configs,
            complete=not total.open,
            bounds=self.bounds,
            scope=self._scope(total, covered_configs),
            trusted=(*self.trusted, *(("what the disk gave back",) if total.spilled else ())),
            classes=self.classes,
        )
        verdicts = tuple(
            verdict_of(self.system, self.configs, claim, self._told(claim, tally), covered, doubt)
            for claim, tally, doubt in zip(self.claims, total.tallies, self.doubts, strict=True)
        )
        reach = {
            claim.name: tally.finding.length
            for claim, tally, verdict in zip(self.claims, total.tallies, verdicts, strict=True)
            if isinstance(claim, Reachable) and tally.finding is not None and verdict.status is Status.HOLDS
        }
        return Exploration(
            verdicts=verdicts,
            states=total.states,
            transitions=total.transitions,
            edges=total.edges,
            depth=total.depth,
            configs=covered_configs,
            complete=covered.complete,
            spilled=total.spilled,
            tier=self.tier.number,
            why_tier=self.why_tier,
            reach=reach,
            searched=len(self.kept),
            classes=self.classes,
            system=self.searched,
            _configs=self.configs,
            _bounds=self.bounds,
        )

    def _told(self, claim: Property, tally: Tally) -> Tally:
        """The tally; of a claim that was not asked, why."""
        why = self.refused.get(claim.name, "")
        return Tally(configs=len(self.kept), doubts=(why,)) if why else tally

    def _scope(self, total: Result, configs: int) -> dict[str, Any]:
        bounds = self.bounds
        scope: dict[str, Any] = {
            **self.system.scope,
            "configs": configs,
            "depth": total.depth,
            "complete": not total.open,
        }
        if bounds.max_states is not None:
            scope["max_states"] = bounds.max_states
        if bounds.max_memory is not None:
            scope["max_memory"] = bounds.max_memory
        if bounds.depth is not None:
            scope["max_depth"] = bounds.depth
        if self.quotient is not None:
            scope["quotient"] = self.quotient
        if self.classes:
            scope["counted"] = "classes of states; how many states share one is not known"
        if self.part is not None:
            scope["part"] = f"{self.part[0]}/{self.part[1]}"
        return scope


def _listed(system: AnySystem, configs: Iterable[Any] | None) -> list[Any]:
    try:
        return list(system.all_configs() if configs is None else configs)
    except Exception as error:
        raise ModelError(
            f"{named(system)}: listing the configurations raised {type(error).__name__}: {error}"
        ) from error


def _sensible(*, max_states: int | None, depth: int | None, max_memory: int | None) -> None:
    named = (("max_states", max_states, 1), ("depth", depth, 0), ("max_memory", max_memory, 1))
    for name, bound, least in named:
        if bound is not None and bound < least:
            raise ValueError(f"{name} must be at least {least}, not {bound}")


def _of_classes(maps: Maps, why: str) -> str:
    if not maps:
        return why
    return (
        f"{why}; quotient {with_and([one.name for one in maps])!r} is licensed: one state of each class, whose size is "
        "not known, and samples were compared with their images in the model"
    )


def _trusted(tier: Tier | Compiled | Orbits, licences: Sequence[Licence], maps: Maps) -> tuple[str, ...]:
    memo = ("the memo of tier 1, compared with step on samples",) if tier.number else ()
    if tier.number >= 2:
        memo = (*memo, "the rows of tier 2, compared with step on samples")
    if tier.number == 3:
        memo = (*memo, "the orbits of tier 3, and that claims do not tell images apart, compared on samples")
    if maps:
        memo = (*memo, "that state and image do alike and claims do not tell them apart, compared on samples")
    proofs = tuple(f"theorem {licence.theorem} ({licence.record})" for licence in licences)
    return ("the executable model", "the exhaustive search", *memo, *proofs)
