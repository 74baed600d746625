"""`evenhand explore`: search every state of one system."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import completion, options
from evenhand.cli.console import BadUse, Unknown, counting, guarded, terminal, usage
from evenhand.cli.output import finish, folder_for, keep
from evenhand.cli.requests import bundle_named, job_for, settings_of
from evenhand.core.bundle import Bundle
from evenhand.core.ending import of_this
from evenhand.core.licence import Licence
from evenhand.core.lookup import UnknownName
from evenhand.core.methods import MethodName
from evenhand.core.system import AnySystem
from evenhand.core.text import inert
from evenhand.core.versions import versions
from evenhand.jobs.ending import told_of_end, unmeant_ends
from evenhand.jobs.findings import findings_of
from evenhand.jobs.finishable import steps_beyond
from evenhand.jobs.plan import BOUNDS, Budget, Job, chosen_part, claims_for
from evenhand.processes.collector import seldom_collected
from evenhand.processes.pool import WorkerDied
from evenhand.report.actions import action_lines, action_table, actions_json
from evenhand.report.phrases import classes, plural
from evenhand.report.report import Report
from evenhand.report.table import print_lines
from evenhand.search import NoSuchPart
from evenhand.search import explore as search
from evenhand.search.engine import Exploration, SearchOptions
from evenhand.search.spilling import Folder, Spill, SpillFailed

if TYPE_CHECKING:
    from evenhand.cli.waits import Waits


FINISHABLE = 50_000_000
"""Steps of a search that a person is assumed to have time and memory for without saying so."""

JOINT = 10 * FINISHABLE
"""The same for joint choices, which compiled search counts as products, millions a second (`benchmarks/README.md`)."""

CLASSES = "classes of states"
"""What is counted under an abstraction."""


@guarded
def explore(
    protocol: options.ProtocolName,
    system: options.SystemOption = "",
    scope: options.ScopeOption = None,
    reading: options.ReadingOption = None,
    mutant: options.MutantName = "",
    claim: options.Claim = None,
    reach: Annotated[
        list[str] | None,
        typer.Option(
            "--reach",
            metavar="GOAL",
            help="Search only for this goal and its shortest run (repeatable).",
            autocompletion=completion.goals,
        ),
    ] = None,
    max_states: options.MaxStates = None,
    depth: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Limit on the depth; the search may end UNDECIDED.")
    ] = None,
    max_memory: Annotated[
        int | None,
        typer.Option(min=1, metavar="MB", help="Memory limit in MB; the search stops there and may end UNDECIDED."),
    ] = None,
    spill: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Continue on disk in this folder beyond --max-memory; no file stays there."),
    ] = None,
    method: options.MethodOption = None,
    graph: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the graph of the first configuration: .dot, .graphml, .json, .pml (Spin) or .tla (TLC).",
        ),
    ] = None,
    parts: Annotated[
        bool, typer.Option("--parts", help="With --graph: strongly connected components instead of states.")
    ] = False,
    wait_for: Annotated[
        Path | None,
        typer.Option(
            "--wait-for",
            metavar="FILE",
            help="Write the wait-for graph of the nearest state with a circular wait: .dot, .graphml or .json.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Start even if the scope looks too large to finish.")] = False,
    symmetry: Annotated[
        bool,
        typer.Option("--symmetry", help="Explore the quotient by the system's symmetry; its licence is proved first."),
    ] = False,
    quotient: Annotated[
        list[str] | None,
        typer.Option(
            "--quotient",
            metavar="NAME",
            help="Explore this quotient; its licence is proved first (repeatable: one after the other).",
            autocompletion=completion.quotients,
        ),
    ] = None,
    part: Annotated[
        str,
        typer.Option(
            metavar="K/N", help="Search every N-th configuration from the K-th on; the N parts make the whole search."
        ),
    ] = "",
    jobs: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of processes that share the configurations.")
    ] = 1,
    determined: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="Search nothing; say whether the claims alone fix N steps of each configuration (1000: the first).",
        ),
    ] = 0,
    out: options.KeepOption = None,
    as_json: options.JsonOut = False,
) -> int:
    """Explore a system exhaustively.

    Visits every configuration, every state and every joint choice.  Exit codes: 0 all as expected; 1 an unexpected
    refutation, or an expected one that now holds; 2 bad use; 3 unexpectedly undecided (at a bound, for example); 130
    interrupted.
    """
    bundle = bundle_named(protocol)
    bounded = max_states is not None or depth is not None or max_memory is not None
    if bundle.own and not yes and not bounded:
        max_states, bounded = BOUNDS[Budget.standard].max_states, True  # it may never end
    asked = Job(bundle.name, "explore", system, variant=mutant, max_states=max_states, depth=depth, part=part)
    job, chosen = job_for(bundle, asked, scope, reading, [*(claim or ()), *(reach or ())])
    _are_goals(bundle, chosen.name, reach or [])
    with usage():
        portion = chosen_part(part)
    if determined:
        searching = {"--reach": reach, "--max-states": max_states, "--depth": depth, "--max-memory": max_memory}
        pictures = {"--graph": graph, "--parts": parts, "--wait-for": wait_for, "--out": out, "--spill": spill}
        _extras().alone({**searching, **pictures, "--symmetry": symmetry, "--quotient": quotient, "--method": method})
        return int(_extras().say_determined(bundle, job, chosen, determined, portion, as_json=as_json))
    if parts and graph is None:
        raise BadUse("--parts changes the output of --graph; name a file with --graph")
    export = None if graph is None else _extras().graph_writer(graph)
    if wait_for is not None and part:
        raise BadUse("--wait-for searches every configuration; leave --part out")
    names = _quotients(chosen, quotient or [], symmetry=symmetry, waits=wait_for is not None)
    waits: Waits | None = None if wait_for is None else _extras().waiting(chosen, wait_for)
    folder = folder_for(out)
    disk = _disk(spill, max_memory)
    licences: list[Licence] = [_extras().licence_named(bundle, chosen, name) for name in names]
    job = replace(job, quotient="+".join(licence.quotient for licence in licences))
    method, mend = _method(chosen, method, licences, disk)
    if not bounded and not yes and not licences:
        _is_finishable(chosen)
    how: SearchOptions = {"max_states": max_states, "depth": depth, "method": method, "licence": licences}
    if max_memory is not None:
        how |= {"max_memory": max_memory << 20, "spill": disk}
    counts = chosen.joint is None and (bundle.own or as_json)
    began = time.monotonic()
    with _refused(mend), _counting_states(job.title) as progress, seldom_collected():
        claims = of_this(chosen, claims_for(bundle, chosen.name, job.claims))
        found = search(chosen, claims, part=portion, progress=progress, jobs=jobs, count_actions=counts, **how)
    findings = findings_of(bundle, job, chosen, found.verdicts)
    notes = _ends(chosen, found) if bundle.own and not mutant else ()
    timing = {"total": time.monotonic() - began}
    report = Report(findings, settings_of(job, chosen), versions(), notes, timing=timing)
    waited, lines = waits(max_states, depth, max_memory) if waits is not None else ({}, [])
    if export is not None:
        with usage():
            export(found.condensation() if parts else found.to_networkx(), claims)
    more = {**_counts(found), **(actions_json(found) if counts else {}), **waited}
    if not as_json:
        say_counts(more)
        if found.actions is not None:
            terminal().print(action_table(found.actions))
            lines = [*action_lines(found.actions, complete=found.complete), *lines]
        print_lines(terminal(), map(inert, lines))
    return finish(keep(folder, report), more, as_json=as_json)


def _ends(system: AnySystem, found: Exploration) -> tuple[str, ...]:
    """What to tell a person of runs that end; a search that counted no actions is made once more for it."""
    if found.actions is None:
        return unmeant_ends([system])
    told = told_of_end(system, found.actions.end)
    return (told,) if told else ()


def _method(
    system: AnySystem, method: MethodName | None, licences: Sequence[Licence], disk: Spill | None
) -> tuple[MethodName | None, str]:
    """Return the search method, and a remedy if it refuses; empty where none was chosen.  Raises BadUse."""
    mend = "leave --method out for the best that can" if method is not None else ""
    names = {licence.quotient for licence in licences}
    if method is None and any(one.name in names and one.swap is not None for one in system.quotients):
        # A claim that orbits cannot answer is then UNDECIDED, without a search of the whole graph.
        mend = "name claims that can with --claim or --reach, or leave the quotient out"
        method = MethodName.symmetric
    if disk is not None and system.constrained:
        raise BadUse(f"{system.label}: a search inside a constraint runs in memory; leave --spill out")
    if method is MethodName.symmetric and disk is not None:
        raise BadUse("orbits are searched in memory: leave --spill out, or the quotient and --method symmetric")
    return method, mend


@contextmanager
def _counting_states(what: str) -> Generator[Callable[[int, int], None]]:
    """Progress of a search.  Ctrl-C says how far it came, and what to ask for: verdicts are made at its end only."""
    seen = 0

    def count(done: int, known: int) -> None:
        nonlocal seen
        seen = done
        progress(done, known)

    with counting(what, "state") as progress:
        try:
            yield count
        except KeyboardInterrupt as stop:
            if not seen:
                raise
            far = f"after {plural(seen, 'state')}, with no verdict"
            raise KeyboardInterrupt(f"{far}; --max-states N ends a search with what it has found") from stop


@contextmanager
def _refused(mend: str) -> Generator[None]:
    """Turn a refusal of the search into BadUse; `mend` is the remedy where a method was chosen.

    A process that died leaves the answer Unknown.
    """
    try:
        yield
    except (SpillFailed, NoSuchPart) as error:
        raise BadUse(str(error)) from error
    except WorkerDied as error:
        raise Unknown(f"{error}; with --jobs 1 the search runs in one process, which needs less memory") from error
    except ValueError as error:
        if not mend:
            raise
        raise BadUse(f"{error}; {mend}") from error


def _counts(found: Exploration) -> dict[str, Any]:
    return {
        "states": found.states,
        "transitions": found.transitions,
        "edges": found.edges,
        "depth": found.depth,
        "configs": found.configs,
        "complete": found.complete,
        **({"outside": found.outside} if found.outside else {}),
        "spilled": found.spilled,
        "method": found.method,
        "why_method": found.why_method,
        "reach": dict(found.reach),
        **({"counted": CLASSES} if found.classes else {}),
    }


def _quotients(system: AnySystem, names: list[str], *, symmetry: bool, waits: bool) -> tuple[str, ...]:
    """Return the chosen quotients; an empty name selects the system's only group.  Raises BadUse."""
    if symmetry and names:
        raise BadUse("--symmetry is the --quotient of a group; leave one of them out")
    groups = {one.name for one in system.quotients}
    known = groups | {one.name for one in system.abstractions} | set(system.views)
    for name in names:
        if name not in known:
            raise UnknownName(f"quotient of {system.name}:", name, known)
    if len(set(names)) < len(names) or (len(names) > 1 and (groups | set(system.views)) & set(names)):
        raise BadUse(
            f"--quotient {' --quotient '.join(names)}: abstractions can be taken one after the other, each once"
        )
    if names and waits:
        raise BadUse("--wait-for searches every state, a quotient only some; leave one of them out")
    return ("",) if symmetry else tuple(names)


def _extras() -> ModuleType:
    from evenhand.cli import extras  # solvers and networkx take half a second to import

    return extras


def _is_finishable(system: AnySystem) -> None:
    size = steps_beyond(system, FINISHABLE if system.joint is None else JOINT)
    if size:
        raise BadUse(
            f"{system.name} at {system.scope} has {size}, too many to finish; choose a smaller --scope, "
            "bound the search with --max-states or --depth, or insist with --yes"
        )


def say_counts(counts: dict[str, Any]) -> None:
    """The sizes of an exploration, in one line, and the shortest way to each goal."""
    sizes = ", ".join(plural(counts[name], name[:-1]) for name in ("configs", "states", "transitions", "edges"))
    if "counted" in counts:
        sizes = sizes.replace(plural(counts["states"], "state"), classes(counts["states"]), 1)
    end = "complete" if counts["complete"] else "NOT complete"
    if "outside" in counts:
        end += f", {plural(counts['outside'], 'state')} outside the constraint"
    if counts["spilled"]:
        end += f", {counts['spilled']} of the states on disk"
    why = said_once(counts["why_method"]).replace(f"{Path.cwd()}/", "")
    lines = [f"{sizes}, depth {counts['depth']}, {end} ({counts['method']}: {why})"]
    lines += [f"shortest way to {goal}: {plural(length, 'step')}" for goal, length in sorted(counts["reach"].items())]
    print_lines(terminal(), map(inert, lines))


def said_once(reasons: str) -> str:
    """Return reasons without those that differ from an earlier one in numbers alone: each configuration has its own.

    >>> said_once("given up: 465 rows; given up: 378 rows; the search ended")
    'given up: 465 rows; the search ended'
    """
    kept: dict[str, str] = {}
    for reason in reasons.split("; "):
        kept.setdefault(re.sub(r"[\d,]+", "", reason), reason)
    return "; ".join(kept.values())


def _are_goals(bundle: Bundle, system: str, names: list[str]) -> None:
    goals = [claim.name for claim in bundle.claims_of(system) if claim.existential]
    for name in names:
        if name not in goals:
            raise BadUse(f"{name!r} is no goal of {system}; there is: {', '.join(sorted(goals)) or 'none'}")


def _disk(spill: Path | None, max_memory: int | None) -> Spill | None:
    if spill is None:
        return None
    if max_memory is None:
        raise BadUse("--spill names the folder for states beyond a memory limit; give the limit with --max-memory")
    folder_for(spill)
    try:
        return Folder(spill).ready()
    except SpillFailed as error:
        raise BadUse(str(error)) from error
