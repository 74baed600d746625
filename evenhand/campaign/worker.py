"""Execute one task in a process of its own: message in, answer out, both canonical JSON.

`python -m evenhand.campaign.worker` does the same for a worker of a cluster, by standard input and output: nothing that
a task does to its process (a crash, a leak, a limit) reaches the worker.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from evenhand.campaign.sources import Sources, address
from evenhand.campaign.tasks import Task
from evenhand.core.canonical import Json, canonical_bytes, parse
from evenhand.core.registry import find
from evenhand.evidence.finding import Finding
from evenhand.jobs.engines import prepared_search, run
from evenhand.jobs.findings import findings_of
from evenhand.jobs.plan import Job, chosen_part, claims_for, system_for
from evenhand.jobs.pool import stopped
from evenhand.jobs.proof_cache import share_in
from evenhand.processes.launch import limit
from evenhand.search.totals import Result, nothing


def message(task: Task, *, memory: int | None = None, address: str = "", pieces: Sequence[Json] = ()) -> bytes:
    """Return the request to a process: the task, its memory in bytes, and the answers that a joining task joins.

    A process elsewhere also gets the `address`, and refuses if its own sources or versions give another.
    """
    return canonical_bytes({"task": task.to_json(), "memory": memory, "address": address, "pieces": list(pieces)})


@dataclass(frozen=True)
class Work:
    """Executes tasks; theorems are proved once for all tasks that share a folder."""

    shared: Path | None = None

    def __call__(self, request: bytes) -> bytes:
        """Return the answer to a message: `outcome`, and `made` or `because`."""
        asked = parse(request)
        task = Task.from_json(asked["task"])
        limit("DATA", asked["memory"])
        try:
            if self.shared is None:
                made = _done(task, asked)
            else:
                with share_in(self.shared):
                    made = _done(task, asked)
            answer: dict[str, Json] = {"outcome": "done", "made": made}
        except Exception as error:
            limit("DATA", None)  # otherwise none may be left to report it
            outcome = "memory" if _of_memory(error) else "error"
            answer = {"outcome": outcome, "because": stopped(task.job, error)}
        limit("DATA", None)
        return canonical_bytes(answer)


class _OtherSources(RuntimeError):
    """This process has other sources or versions than the campaign."""


def _done(task: Task, asked: Mapping[str, Any]) -> Json:
    """The result of a task: `totals` of a part, else `findings`."""
    if asked["address"] and address(task, Sources()) != asked["address"]:
        raise _OtherSources(
            "the worker has other sources or versions than the campaign; install the same on every machine"
        )
    if task.part:
        return {"totals": _totals(task.job, cast("tuple[int, int]", chosen_part(task.part)))}
    found = _joined(task.job, asked["pieces"]) if task.joins else run(find(task.job.protocol), task.job)
    return {"findings": [finding.to_json() for finding in found]}


def _totals(job: Job, part: tuple[int, int]) -> Json:
    """The totals of every n-th configuration from the k-th on, for the claims that can be split."""
    bundle = find(job.protocol)
    search = prepared_search(bundle, job, system_for(bundle, job))
    left = {claim.name for claim in search.claims if claim.across_configurations}
    first, parts = part
    return search.totals(search.kept[first - 1 :: parts], leaving=left).to_json()


def _joined(job: Job, pieces: Sequence[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """The findings of a whole search, from the totals of its parts and the findings that could not be split."""
    bundle = find(job.protocol)
    system = system_for(bundle, job)
    search = prepared_search(bundle, job, system)
    total = nothing(len(search.claims))
    whole: dict[str, Finding] = {}
    for piece in pieces:
        if "totals" in piece:
            total = total.plus(Result.from_json(piece["totals"]))
        else:
            whole |= {made["claim"]: Finding.from_json(made) for made in piece["findings"]}
    verdicts = [verdict for verdict in search.concluded(total).verdicts if verdict.claim not in whole]
    found = {finding.claim: finding for finding in findings_of(bundle, job, system, verdicts)} | whole
    return tuple(found[claim.name] for claim in claims_for(bundle, system.name, job.claims))


def _of_memory(error: BaseException | None) -> bool:
    """Whether a lack of memory caused an error."""
    while error is not None:
        if isinstance(error, MemoryError):
            return True
        error = error.__cause__ or error.__context__
    return False


def main() -> None:
    """Execute the one task on standard input."""
    request = sys.stdin.buffer.read()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a model's output is no answer
    with answers:
        answers.write(Work()(request))


if __name__ == "__main__":
    main()
