"""`evenhand campaign`: long runs from a plan file, kept in a store, resumed at any moment."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer
import yaml

from evenhand.campaign.cluster import cluster as connected
from evenhand.campaign.events import Events
from evenhand.campaign.executor import here
from evenhand.campaign.planfile import Campaign, read_plan, written_plan
from evenhand.campaign.progress import Bar, Deadline, Pace, span
from evenhand.campaign.scheduler import CampaignState, Watch, schedule
from evenhand.campaign.store import opened, store_url
from evenhand.cli.console import BadUse, LogTimes, emit, guarded, on_terminal, say, terminal, usage
from evenhand.cli.forms import folder_for_forms, written_report
from evenhand.cli.options import (
    BudgetOption,
    JobsOption,
    JsonOut,
    ProtocolNames,
    ReportFolder,
    SeedOption,
    StrictOption,
)
from evenhand.cli.output import finish
from evenhand.cli.requests import bundles_named, content_of, cores
from evenhand.core.canonical import Json
from evenhand.core.text import inert
from evenhand.evidence.store import write_atomically
from evenhand.jobs.fixtures import fixtures_of
from evenhand.jobs.plan import Budget
from evenhand.report.campaign import report_of
from evenhand.report.phrases import plural
from evenhand.report.table import print_lines

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="A plan: a .yaml, .toml or .json file.")]
StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="FILE|URL",
        help="Store of results: a SQLite file (by default beside the plan, ending in .store) or a database URL.",
    ),
]
ClusterOption = Annotated[
    str, typer.Option("--cluster", metavar="URL", help="Run tasks on this Dask scheduler, as in tcp://HOST:8786.")
]
EventsOption = Annotated[
    Path | None, typer.Option("--events", metavar="FILE", help="Append events to FILE as JSON Lines.")
]
StopOption = Annotated[
    float | None,
    typer.Option(
        "--stop-after",
        metavar="SECONDS",
        min=0,
        help="Stop after this time, as Ctrl-C would; `campaign resume` continues.",
    ),
]
AgainOption = Annotated[
    bool, typer.Option("--again", help="Repeat every task without a result, including those that reached a limit.")
]


class Log(Watch):
    """Progress where there is no terminal: a line after a few seconds, and then every minute."""

    def __init__(self, pace: Pace) -> None:
        self.pace, self.times = pace, LogTimes()

    def tick(self) -> None:
        """Write a line if one is due."""
        if self.times.due():
            say(f"campaign: {self.pace.lines()[0]}")


def _conducting(purpose: str, *, resumed: bool) -> Callable[..., None]:
    """Return the command that runs what is left of a plan; `resumed` requires that it was begun before."""

    @guarded
    def conduct(
        plan: PlanFile,
        store: StoreOption = "",
        jobs: JobsOption = None,
        cluster: ClusterOption = "",
        events: EventsOption = None,
        stop_after: StopOption = None,
        again: AgainOption = False,
        out: ReportFolder = None,
        as_json: JsonOut = False,
    ) -> int:
        with _standing(plan, store, make=not resumed) as now, usage(), ExitStack() as stack:
            campaign = now.campaign
            if resumed and not now.store.begun(campaign.digest):
                raise BadUse(f"{now.store.name}: this plan was never begun there; use `evenhand campaign run`")
            folder = folder_for_forms(out)
            executor = connected(cluster) if cluster else here(jobs or cores())
            identities = [task.identity for unit in campaign.units for task in (unit.whole, *unit.pieces)]
            pace = Pace(campaign, now.store.durations(identities), executor.workers)
            log = None if events is None else Events(events, pace, {"plan": campaign.digest, "resumed": resumed})
            watches: list[Watch] = [pace] if log is None else [pace, log]
            console = on_terminal()
            watches.append(Log(pace) if console is None else stack.enter_context(Bar(pace, console)))
            watches += [Deadline(stop_after)] if stop_after is not None else []
            now.store.begin(campaign.digest, dict(campaign.content))
            early = schedule(now, executor, *watches, again=again)
            stack.close()
            return _finished(now, pace, log, folder, as_json, early)

    conduct.__doc__ = purpose
    return conduct


campaign_run = _conducting(
    """Run everything in a plan that has no result yet.

    Stores each result as it arrives, and repeats no work whose sources and versions are unchanged.  Exit codes: 0 all
    of the plan as expected; 1 an unexpected refutation, or an expected one that now holds; 2 bad use, or a plan, store
    or cluster that cannot be used; 3 unexpectedly undecided; 130 ended early.
    """,
    resumed=False,
)
campaign_resume = _conducting(
    """Continue a campaign, however it ended.

    Does the same as `run`, for a campaign that was begun in this store.  Exit codes: 0 all of the plan as expected; 1
    an unexpected refutation, or an expected one that now holds; 2 bad use, or never begun; 3 unexpectedly undecided;
    130 ended early.
    """,
    resumed=True,
)


@guarded
def campaign_status(plan: PlanFile, store: StoreOption = "", as_json: JsonOut = False) -> int:
    """Show the progress of a campaign.

    Counts the jobs that are done, lists those without a result and the reason, and those left; nothing is run.  Exit
    codes: 0 shown; 2 bad use.
    """
    with _standing(plan, store, make=False) as now:
        states = list(now.states())
        undecided = [(state.unit.job.title, state.because) for state in states if state.because]
        left = [state.unit.job.title for state in states if not state.done and not state.because]
        times = now.store.begun(now.campaign.digest)
        old = _of_other_sources(now)
    done = sum(state.done for state in states)
    if as_json:
        about: dict[str, Json] = {
            "jobs": len(states),
            "done": done,
            "undecided": [{"title": title, "because": because} for title, because in undecided],
            "unfinished": left,
            "begun": times,
            "other_sources": old,
        }
        emit({"format": "evenhand/campaign-status", "version": 1, "plan": now.campaign.digest, **about})
        return 0
    lines = [f"{done:,} of {plural(len(states), 'job')} done, begun {plural(times, 'time')}"]
    lines += [f"without a result: {title}: {because}" for title, because in undecided]
    lines += [f"left: {title}" for title in left]
    lines += [f"{plural(old, 'job')} of those left had a result under other sources or versions"] if old else []
    print_lines(terminal(), map(inert, lines))
    return 0


@guarded
def campaign_report(plan: PlanFile, store: StoreOption = "", out: ReportFolder = None, as_json: JsonOut = False) -> int:
    """Report what a campaign has found so far, without running it.

    The report equals that of one process that ran everything.  Exit codes: 0 all as expected; 1 an unexpected
    refutation, or an expected one that now holds; 2 bad use; 3 unexpectedly undecided; 130 something unfinished.
    """
    with _standing(plan, store, make=False) as now:
        return _reported(now, folder_for_forms(out), as_json)


@guarded
def campaign_plan(
    protocol: ProtocolNames = None,
    budget: BudgetOption = Budget.standard,
    seed: SeedOption = 0,
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of seeds for random runs, from --seed on.")
    ] = 1,
    parts: Annotated[int, typer.Option(metavar="N", min=1, help="Number of tasks that each search is split into.")] = 1,
    seconds: Annotated[
        float | None,
        typer.Option(metavar="N", min=0.001, help="Time limit of a task in seconds; beyond it the task is UNDECIDED."),
    ] = None,
    memory: Annotated[
        int | None,
        typer.Option(metavar="MIB", min=64, help="Limit on a task's own memory; beyond it the task is UNDECIDED."),
    ] = None,
    strict: StrictOption = False,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="Write the plan to this .yaml or .json file instead of printing it."),
    ] = None,
    as_json: JsonOut = False,
) -> int:
    """Write a plan that does what `verify` does.

    Exit codes: 0 written; 2 bad use.
    """
    bundles = bundles_named(protocol or []) if protocol else ()
    given: dict[str, Json] = {"budget": budget.value, "seed": seed, "seeds": seeds, "parts": parts}
    more: dict[str, Json] = {"seconds": seconds, "memory": memory, "strict": strict or None}
    made = written_plan([bundle.name for bundle in bundles], **given, **more)
    content = _as_json(made) if as_json or (to is not None and to.suffix == ".json") else _as_yaml(made)
    if to is None:
        sys.stdout.write(content)
        return 0
    if to.suffix not in (".yaml", ".yml", ".json"):
        raise BadUse(f"--to {to}: a plan is written as .yaml or .json, not {to.suffix or 'without suffix'}")
    with usage():
        read_plan(to, content.encode())
        if not to.parent.is_dir():
            raise BadUse(f"cannot write to {to.parent}: there is no such folder; make it first")
        write_atomically(to, content.encode())
    say(f"written: {to}")
    say(f"next: {shlex.join(['evenhand', 'campaign', 'run', str(to)])}")
    return 0


def _as_json(made: dict[str, Json]) -> str:
    return json.dumps(made, indent=2) + "\n"


def _as_yaml(made: dict[str, Json]) -> str:
    return str(yaml.safe_dump(made, sort_keys=False, allow_unicode=True))


def _finished(
    now: CampaignState, pace: Pace, log: Events | None, folder: Path | None, as_json: bool, early: bool
) -> int:
    states = list(now.states())
    done, undecided = sum(state.done for state in states), sum(bool(state.because) for state in states)
    left = len(states) - done - undecided
    how = "ended early" if early else "ended"
    say(
        f"campaign {how} after {span(pace.seconds)}: {plural(pace.done, 'task')} now; of {plural(len(states), 'job')} "
        f"{done:,} done, {undecided:,} without a result, {left:,} left"
    )
    code = _reported(now, folder, as_json)
    if log is not None:
        log.finished(done=done, undecided=undecided, left=left, exit_code=code)
    return code


def _reported(now: CampaignState, folder: Path | None, as_json: bool) -> int:
    report = written_report(folder, report_of(now))
    return finish(report, {}, as_json=as_json, strict=bool(report.settings["strict"]))


@contextmanager
def _standing(plan: Path, store: str, *, make: bool) -> Generator[CampaignState]:
    """Yield the state of a plan's campaign in its store.  Raises BadUse if either cannot be used."""
    with usage():
        campaign = _read(plan)
        kept = opened(store_url(store, plan), make=make)
        try:
            yield CampaignState(campaign, kept)
        finally:
            kept.close()


def _read(plan: Path) -> Campaign:
    campaign = read_plan(plan, content_of(plan))
    for protocol in dict.fromkeys(unit.job.protocol for unit in campaign.units):
        fixtures_of(protocol)  # report an unusable file before the run, not after it
    return campaign


def _of_other_sources(now: CampaignState) -> int:
    """Return how many unfinished jobs were done under other sources or versions."""
    waiting = [state.unit.whole.identity for state in now.states() if not state.done]
    return len(now.store.durations(waiting))
