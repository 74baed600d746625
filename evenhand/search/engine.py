"""`explore`: search every state of every configuration, and give one verdict for each claim.

Each configuration has its own graph; counts are added up.  A violation does not stop the search.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from evenhand.core.answers import (
    ModelError,
    error_text,
    kind_of,
    known_names,
    naming,
    refuse_arguments,
    short,
    whole_number,
)
from evenhand.core.grouping import grouped
from evenhand.core.licence import Licence
from evenhand.core.property import Property, checked_claims, speaks_of
from evenhand.core.purity import refuse_impure
from evenhand.core.system import AnySystem, Joint
from evenhand.core.trace import AnyScenario
from evenhand.core.verdict import Status, Verdict, in_short
from evenhand.search.actions import ActionCounts, ActionsWatch
from evenhand.search.bounds import Bounds
from evenhand.search.classes import Classes
from evenhand.search.configuration import search_one
from evenhand.search.evidence import walked
from evenhand.search.jobs import Part, elsewhere, in_processes, portion
from evenhand.search.licensing import licensed
from evenhand.search.methods import chosen_method
from evenhand.search.quotient import doubts_under, orbits
from evenhand.search.spilling import Spill
from evenhand.search.steps import Method
from evenhand.search.totals import Result, nothing
from evenhand.search.verdicts import Covered, verdict_of
from evenhand.search.views import Viewed
from evenhand.search.watchdog import within_reason
from evenhand.search.witness import Progress, Tally

if TYPE_CHECKING:
    import networkx as nx

    from evenhand.search.symmetric.method import Orbits


@dataclass(frozen=True, repr=False)
class Exploration:
    """The result of an exhaustive search.

    `verdicts` has one entry per claim, in order.  `states`, `transitions` (one for each state and each action or joint
    choice on offer) and `edges` (distinct pairs of states, self-loops included) are sums over the configurations: of
    the full space under a group, of classes of unknown size under abstractions (`classes`).  `depth` is the largest
    distance of a state from an initial one.  `complete`: no bound left anything out; `outside`: states, counted too,
    from which a constraint lets no run go on; `spilled`: states that went to disk; `reach`: shortest length for each
    reachable goal; `searched`: configurations actually searched; `actions`: counts by action, None if not requested,
    for joint choices, and if the search was symmetric.
    """

    verdicts: tuple[Verdict, ...]
    states: int
    transitions: int
    edges: int
    depth: int
    configs: int
    complete: bool
    outside: int
    spilled: int
    method: str
    why_method: str
    reach: Mapping[str, int]
    searched: int
    classes: bool
    actions: ActionCounts | None
    system: AnySystem = field(repr=False, compare=False)
    _configs: tuple[Any, ...] = field(repr=False, compare=False)
    _bounds: Bounds = field(repr=False, compare=False)

    @property
    def holds(self) -> bool:
        """Whether there are claims and each holds, in the scope of its verdict."""
        return bool(self.verdicts) and all(verdict.holds for verdict in self.verdicts)

    def __repr__(self) -> str:
        """Return one line: the verdicts, and how much was searched."""
        whole = "complete" if self.complete else "open"
        return f"<Exploration: {self.states} states, {self.transitions} steps, {whole}; {in_short(self.verdicts)}>"

    def __bool__(self) -> bool:
        """Return `holds`, so that `assert evenhand.explore(…)` asserts the verdicts."""
        return self.holds

    def to_networkx(self, config: int = 0) -> nx.DiGraph[Any]:
        """Return the graph of one configuration for networkx; it is searched again, because it was not kept.

        Nodes are the states (`number`, `depth`, `initial`); edges carry `action` (the first one on offer that
        takes it) and `weight` (how many do).  Raises IndexError for a configuration that was not explored.
        """
        return self._graph(config, condensed=False)

    def condensation(self, config: int = 0) -> nx.DiGraph[Any]:
        """Return the strongly connected components of that graph and the edges between them.

        Components are numbered from 0.  `members` are the states of a component; its other attributes are those of its
        `first` state, with the least `depth`.  Edges carry `weight`, the number of steps, and the `action` of the
        first.
        """
        return self._graph(config, condensed=True)

    def _graph(self, config: int, *, condensed: bool) -> nx.DiGraph[Any]:
        from evenhand.search import export  # networkx takes 0.2 s to import, and few commands need it

        graph = export.as_networkx(self.system, self._configs[config], config, self._bounds)
        return export.condensed(graph) if condensed else graph


class SearchOptions(TypedDict, total=False):
    """How to search; every entry is optional.

    `max_states` bounds the graph of each configuration, `depth` the number of steps from the start, `max_memory` the
    bytes that the process may hold; what a bound leaves out is UNDECIDED.  With `spill` (such as a `Folder`) an
    explicit search continues on disk shortly before it reaches `max_memory`.  `quotient`
    (default: the one that `licence` names) explores one configuration of each orbit, or one state of each class of an
    abstraction; `a+b` applies two abstractions in turn, each under a licence.  `method` is `explicit`,
    `compiled` or `symmetric` (default: the best that system, claims and licence allow).  `configs` replaces the
    configurations of the scope.
    """

    max_states: int | None
    depth: int | None
    max_memory: int | None
    spill: Spill | None
    licence: Licence | Sequence[Licence] | None
    quotient: str | None
    method: str | None
    configs: Iterable[Any] | None


def explore(
    system: AnySystem,
    claims: Iterable[Property] = (),
    *,
    part: Part | None = None,
    progress: Progress | None = None,
    jobs: int = 1,
    count_actions: bool = False,
    **options: Unpack[SearchOptions],
) -> Exploration:
    """Search every reachable state of every configuration, and decide the claims.

    `SearchOptions` describes `max_states`, `depth`, `max_memory`, `spill`, `licence`, `quotient`, `method` and
    `configs`.  `part` (k, n) explores every n-th configuration from the k-th on; the n parts together give the result
    of the whole.  `jobs` splits the configurations over processes (`max_memory` bounds each); results do not depend on
    it.  `progress` is called at intervals with states and steps so far.  `count_actions` counts how often each action
    was on offer, changed the state, or found a new one, if actions are no products and the search runs every one.

    Raises ModelError for a model that breaks its contract or a claim that raises, LicenceMissing for a quotient without
    licence, NoSuchPart, UnknownName for a fairness assumption or quotient that the system lacks, ValueError for a
    bound, method or number of jobs that makes no sense, SpillFailed for a disk that is full or gone.
    """
    prepared = prepare(system, claims, **options)
    if part is not None:
        if not (isinstance(part, tuple) and len(part) == 2 and all(type(n) is int for n in part)):
            raise TypeError(f"part is a pair of numbers (k, n), not {short(part)}")
        prepared = prepared.only(part)
    if count_actions and system.joint is None:
        prepared = replace(prepared, counting=True)
    return prepared.concluded(prepared.totals(progress=progress, jobs=jobs))


def prepare(system: AnySystem, claims: Iterable[Property] = (), **options: Unpack[SearchOptions]) -> Prepared:
    """Prepare a search: list the configurations, check bounds and licence, choose a method."""
    known_names("explore", options, SearchOptions)
    licence, quotient, method = options.get("licence"), options.get("quotient"), options.get("method")
    asked = checked_claims(system, claims)
    _sane(system, licence, options.get("configs"))
    refuse_impure(system.label, system, system.rules, system.joint, *asked)
    bounds = _bounds(options)
    licences = (licence,) if isinstance(licence, Licence) else tuple(licence or ())
    divided = licensed(system, quotient, licences, asked)
    classes, group = (divided, None) if isinstance(divided, Classes) else (None, divided)
    numbered = _listed(system, options.get("configs"))
    searched = system if classes is None else classes.searched()
    if isinstance(classes, Viewed):
        if method not in (None, "explicit"):
            raise ValueError(f"quotient {classes.name!r} is searched explicitly; leave the method out")
        method = "explicit"
    left = classes.refused if classes else {}
    with within_reason(system):
        chosen, why = chosen_method(searched, method, [c for c in asked if c.name not in left], numbered, group)
    in_memory = "symmetric" if chosen.name == "symmetric" else "compiled" if method == "compiled" else ""
    if bounds.spill is not None and in_memory:
        raise ValueError(f"{in_memory} search runs in memory; leave spill out, or choose another method")
    if bounds.spill is not None and system.constrained:
        raise ValueError("a search inside a constraint runs in memory; leave spill out")
    kept = tuple((number, 1) for number in range(len(numbered)))
    doubts: tuple[str, ...] = ("",) * len(asked)
    if group is not None:
        kept = orbits(system, group, numbered)
        doubts = doubts_under(system, group, numbered, kept, asked)
    if classes is not None:
        with within_reason(system):
            doubts = classes.doubts(numbered)
    foreign = (f"the claim does not speak of {system.label}" * (not speaks_of(claim, system)) for claim in asked)
    doubts = tuple(doubt or other for doubt, other in zip(doubts, foreign, strict=True))
    return Prepared(
        system=system,
        searched=searched,
        claims=asked,
        bounds=bounds,
        quotient=None if divided is None else divided.name,
        configs=tuple(numbered),
        kept=kept,
        doubts=doubts,
        method=chosen,
        why_method=why,
        trusted=_trusted(chosen, licences, classes),
        classes=classes,
    )


@dataclass(frozen=True)
class Prepared:
    """A search ready to run: `totals` searches, `concluded` turns the totals into verdicts.

    They are separate so that several processes can search parts of the configurations, and the sum is judged once.
    `kept` lists configurations by number, each with the weight of its orbit.  `searched` is the system itself or
    the one of its `classes`, of which some claims are refused.
    """

    system: AnySystem
    searched: AnySystem
    claims: tuple[Property, ...]
    bounds: Bounds
    quotient: str | None
    configs: tuple[Any, ...]
    kept: tuple[tuple[int, int], ...]
    doubts: tuple[str, ...]
    method: Method | Orbits
    why_method: str
    trusted: tuple[str, ...]
    part: Part | None = None
    classes: Classes | None = None
    counting: bool = False

    @property
    def refused(self) -> Mapping[str, str]:
        """Why some claims are not checked, by name."""
        return self.classes.refused if self.classes else {}

    def only(self, part: Part) -> Prepared:
        """Return this search for one part of the configurations.  Raises NoSuchPart."""
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
        """Search these configurations (default: all kept) and add up; claims in `leaving` get an empty tally."""
        whole_number("jobs", jobs, 1)
        kept = self.kept if kept is None else kept
        left = {name: Tally() for name in leaving}
        left |= {name: Tally(configs=len(kept), doubts=(why,)) for name, why in self.refused.items()}
        asked = [claim for claim in self.claims if claim.name not in left]

        def one(number: int, tick: Progress | None) -> Result:
            config, watch = self.configs[number], ActionsWatch() if self.counting else None
            with within_reason(self.system), naming(self.system.label):
                return search_one(self.method, config, number, asked, self.bounds, tick, watch)

        found = in_processes(jobs, kept, one, nothing(len(asked)), progress)
        tallies = iter(found.tallies)
        every = (left[claim.name] if claim.name in left else next(tallies) for claim in self.claims)
        return replace(found, tallies=tuple(every))

    def concluded(self, total: Result) -> Exploration:
        """Return the verdicts and counts for the totals of all kept configurations; the evidence is judged here."""
        configs = sum(weight for _, weight in self.kept)
        method, why, trusted = self._how(total)
        covered = Covered(total, configs, self.bounds, self._scope(total, configs), trusted, self.classes)
        with naming(self.system.label):
            verdicts = tuple(
                verdict_of(self.system, self.configs, claim, tally, covered, doubt)
                for claim, tally, doubt in zip(self.claims, total.tallies, self.doubts, strict=True)
            )
        reach = {
            claim.name: tally.finding.length
            for claim, tally, verdict in zip(self.claims, total.tallies, verdicts, strict=True)
            if claim.existential and tally.finding is not None and verdict.status is Status.HOLDS
        }
        return Exploration(
            verdicts=verdicts,
            states=total.states,
            transitions=total.transitions,
            edges=total.edges,
            depth=total.depth,
            configs=configs,
            complete=not total.open,
            outside=total.outside,
            spilled=total.spilled,
            method=method,
            why_method=why,
            reach=reach,
            searched=len(self.kept),
            classes=self.classes is not None,
            actions=ActionCounts(total.counted.labels, self._end(total)) if self._all_counted(total) else None,
            system=self.searched,
            _configs=self.configs,
            _bounds=self.bounds,
        )

    def _how(self, total: Result) -> tuple[str, str, tuple[str, ...]]:
        """The method, the reason, and the trusted base.

        Tables, and what follows on symmetric search, are chosen during the search.
        """
        why = "; ".join(map(_first_of, grouped(total.how).values())) or self.why_method
        name, trusted = total.how[0][0] if total.how else self.method.name, self.trusted
        if any(one == "compiled" for one, _ in total.how):
            name, trusted = "compiled", (*trusted, "the tables of compiled search, compared with step on samples")
        if total.spilled:
            trusted = (*trusted, "what the disk gave back")
        return name, why + (self.classes.why if self.classes else ""), trusted

    def _end(self, total: Result) -> AnyScenario | None:
        """A shortest run to a state that offers no action."""
        end = total.counted.end
        return None if end is None else walked(self.searched, self.configs[end.config], end.start, end.path)[0]

    def _all_counted(self, total: Result) -> bool:
        """Whether every configuration was counted; symmetric search counts none."""
        return self.counting and total.counted.configs == sum(weight for _, weight in self.kept)

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
        if self.system.constrained:
            scope["constrained"] = (
                f"runs go on inside the constraint alone; {total.outside} states outside were checked"
            )
        if self.quotient is not None:
            scope["quotient"] = self.quotient
        if self.classes is not None:
            if self.classes.says:
                scope["soundness of the quotient"] = self.classes.says
            scope["counted"] = "classes of states; how many states share one is not known"
        if self.part is not None:
            scope["part"] = f"{self.part[0]}/{self.part[1]}"
        return scope


def _first_of(reasons: Sequence[str]) -> str:
    """The first reason for a method, and how many others there were: they often differ in numbers alone."""
    more = len(reasons) - 1
    return reasons[0] + f" ({more} more such reason{'s' * (more > 1)}, of other configurations)" * (more > 0)


MOST_CONFIGS = 500_000
"""The most configurations that are listed; a longer list is taken for endless."""


def _listed(system: AnySystem, configs: Iterable[Any] | None) -> list[Any]:
    try:
        given = system.all_configs() if configs is None else configs
        if isinstance(given, str | bytes | Mapping):
            raise TypeError(f"`configs` gives {short(given, 60)} ({kind_of(given)}), which is no list")
        found = list(islice(given, MOST_CONFIGS + 1))
        for config in found[:1]:
            hash(config)
    except Exception as error:
        raise ModelError(f"{system.label}: listing the configurations raised {error_text(error)}") from error
    if len(found) > MOST_CONFIGS:
        raise ModelError(f"{system.label}: `configs` lists more than {MOST_CONFIGS:,} and may have no end")
    return found


_CALLS = {
    "step": ("rules", "config", "state", "action"),
    "actions": ("config", "scope", "state"),
    "configs": ("scope", "readings"),
    "initial": ("config",),
}
"""The functions of a system that every search calls, with their arguments."""


def _sane(system: AnySystem, licence: Any, configs: Any) -> None:
    """Raise TypeError, which names the field, for a value of the wrong kind."""
    if system.joint is not None and not isinstance(system.joint, Joint):
        raise TypeError(f"{system.label}: `joint` is a Joint, not {short(system.joint)}")
    for name, takes in _CALLS.items():
        if (function := getattr(system, name)) is not None:
            refuse_arguments(function, takes, f"{system.label}: `{name}`")
    for one in (licence,) if isinstance(licence, Licence | str) else licence or ():
        if not isinstance(one, Licence):
            raise TypeError(f"a licence is a Licence that a proof gave, not {short(one)}")


def _bounds(options: SearchOptions) -> Bounds:
    max_states, depth, max_memory = options.get("max_states"), options.get("depth"), options.get("max_memory")
    for name, bound, least in (("max_states", max_states, 1), ("depth", depth, 0), ("max_memory", max_memory, 1)):
        if bound is not None:
            whole_number(name, bound, least)
    spill = options.get("spill")
    if spill is not None and max_memory is None:
        raise ValueError("spill is the folder for states beyond max_memory; give a max_memory")
    return Bounds(max_states, depth, max_memory, spill)


def _trusted(method: Method | Orbits, licences: Sequence[Licence], classes: Classes | None) -> tuple[str, ...]:
    compared: tuple[str, ...] = () if classes is None else (classes.trusted,)
    if method.name == "symmetric":
        compared = (
            "the tables of symmetric search, compared with step on samples",
            "the orbits of symmetric search, and that claims do not tell images apart, compared on samples",
        )
    proofs = (f"theorem {one.theorem} ({one.record})" for one in licences if one.searched is None)
    return ("the executable model", "the exhaustive search", *compared, *proofs)
