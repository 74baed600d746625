"""The sources of a result: an edit of one of them repeats the work, any other edit does not."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.campaign import sources
from evenhand.campaign.executor import Ending, Order
from evenhand.campaign.scheduler import CampaignState, SourcesChanged, Watch, schedule
from evenhand.campaign.sources import Sources, address, files_of
from evenhand.campaign.store import opened, store_url
from evenhand.campaign.tasks import Task
from evenhand.core import registry
from evenhand.jobs.plan import Job
from tests.front.campaign.suite import RING, InThisProcess, campaign
from tests.front.conftest import ROOT, SCAN

EXPLORE = Job("cud", "explore", "free")


def names(job: Job) -> set[str]:
    """Return the files that a job depends on, relative to the repository; those of layers by their real folders."""
    root = Path(sources.__file__).resolve().parents[2]
    return {path.resolve().relative_to(root).as_posix() for path in files_of(job)[0]}


def test_a_search_rests_on_its_protocol_and_the_engines() -> None:
    """It does not depend on other protocols, theorems, fixtures, the command line, tests or documents."""
    found = names(EXPLORE)
    assert {"model/cud/free_system.py", "properties/cud/claims.py"} <= found or {"model/cud/free_system.py"} <= found
    assert {
        "evenhand/campaign/worker.py",
        "evenhand/jobs/engines.py",
        "evenhand/search/engine.py",
        "evenhand/machine/provider.py",
        "evenhand/core/system.py",
        "evenhand/evidence/record.py",
    } <= found
    for strange in ("apcm/", "sovereign/", "conviction/", "markspace/", "proofs/cud", "counterexamples/cud", "cli/"):
        assert not [name for name in found if strange in name], strange


def test_a_proof_rests_on_theorems_and_a_replay_on_fixtures() -> None:
    """A search that needs a licence depends on theorems as well."""
    proof = names(Job("cud", "prove", theorem="no_winner"))
    assert any(name.startswith("proofs/cud/") for name in proof) and "evenhand/smt/child.py" in proof
    assert any(name.startswith("proofs/cud/") for name in names(Job("cud", "explore", "free", quotient="renaming")))
    replay = names(Job("cud", "replay"))
    assert len([name for name in replay if name.startswith("counterexamples/cud/") and name.endswith(".json")]) > 10


def test_what_is_imported_inside_functions_counts() -> None:
    """The engines import each other late."""
    files, others = files_of(EXPLORE)
    assert {"hypothesis", "numpy", "scipy", "rfc8785"} <= others
    assert any(path.name == "fuzzing.py" for path in files)


def test_every_module_that_a_run_loads_is_among_them() -> None:
    """The modules of ours that a fresh interpreter loads during the work."""
    import subprocess

    program = """
import sys
sys.path.insert(0, sys.argv[1])
from evenhand.campaign.worker import Work, message
from evenhand.campaign.tasks import Task
from evenhand.jobs.plan import Job
for job in (Job("ring", "explore", "ring"), Job("ring", "fuzz", "ring", examples=3)):
    assert b'"done"' in Work()(message(Task(job)))
from evenhand.campaign.sources import files_of
others = ("apcm", "sovereign", "conviction", "markspace", "cud")
jobs = [job, *(Job(name, "explore") for name in others)]  # every protocol is loaded, and what they share
known = {path.resolve() for job in jobs for path in files_of(job)[0]}
from pathlib import Path
root = Path(sys.argv[2]).resolve()
loaded = {
    Path(m.__file__).resolve() for n, m in list(sys.modules.items())
    if n.split(".")[0] in ("evenhand", "toyring") and getattr(m, "__file__", None)
}
print(*sorted(map(str, loaded - known)), sep="\\n")
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(RING), str(ROOT)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    # The finders of protocols and of sources decide nothing about a task.
    missing = {Path(line).name for line in done.stdout.split()}
    assert missing <= {"sources.py"}, missing


@pytest.fixture(name="copied")
def _copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the ring from a copy of its file, which a test may edit."""
    shutil.copytree(RING, tmp_path / "copy")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "copy"), *sys.path])
    monkeypatch.setattr(registry, "_all", SCAN)
    sys.modules.pop("toyring", None)
    SCAN.cache_clear()
    yield tmp_path / "copy" / "toyring.py"
    sys.modules.pop("toyring", None)
    SCAN.cache_clear()


def test_an_edit_makes_the_work_run_anew(copied: Path, tmp_path: Path) -> None:
    """The protocol's source counts; another file beside it, or the same content written again, does not."""
    asked = campaign(tmp_path, {"protocol": "ring", "engine": "explore", "claims": ["held"]})

    def runs() -> int:
        store = opened(store_url("", tmp_path / "plan.json"), make=True)
        executor = InThisProcess()
        schedule(CampaignState(asked, store), executor, Watch())
        store.close()
        return len(executor.done)

    assert [runs(), runs()] == [1, 0]
    copied.write_text(copied.read_text("utf-8"), "utf-8")
    (copied.parent / "beside.py").write_text("unrelated = True\n", "utf-8")
    assert runs() == 0
    before = copied.read_text("utf-8")
    copied.write_text(before.replace("% config.agents", "% config.agents  # round"), "utf-8")
    assert [runs(), runs()] == [1, 0]
    copied.write_text(before, "utf-8")
    assert runs() == 0, "what was done under the old sources is there again"


def test_other_versions_make_the_work_run_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """For example of a solver."""
    task = Task(Job("ring", "explore", "ring"))
    before = address(task, Sources())
    assert address(task, Sources()) == before
    monkeypatch.setattr(sources, "versions", lambda: {"z3-solver": "0"})
    assert address(task, Sources()) != before


def test_an_edit_while_it_runs_ends_the_run(copied: Path, tmp_path: Path) -> None:
    """No result that may come from mixed sources is kept."""
    asked = campaign(tmp_path, {"protocol": "ring", "engine": "explore", "scope": {"agents": [2, 3]}})
    store = opened(store_url("", tmp_path / "plan.json"), make=True)
    now = CampaignState(asked, store)

    class Edits(Watch):
        def ended(self, order: Order, end: Ending) -> None:
            copied.write_text(copied.read_text("utf-8") + "\n# edited\n", "utf-8")

    with pytest.raises(SourcesChanged, match="was edited while the campaign ran"):
        schedule(now, InThisProcess(), Edits())
    assert len(now.kept) == 1
    store.close()
