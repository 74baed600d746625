"""Draw the gallery: findings and known systems, a picture each, and the pages that show them.  Run it: `make gallery`.

Nothing is drawn from memory: a kept counterexample is replayed, any other run is searched for again.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.loading import module_at
from evenhand.core.property import Property
from evenhand.core.registry import find
from evenhand.core.system import System
from evenhand.evidence.replay import replay_record
from evenhand.evidence.store import load, write_atomically
from evenhand.evidence.story import Story, story_of
from evenhand.jobs.engines import run
from evenhand.jobs.fixtures import fixture_files
from evenhand.jobs.plan import Job
from evenhand.report.display import story_svg
from evenhand.search import explore

HERE = Path(__file__).parent
PETERSON = HERE.parents[1] / "examples" / "peterson.py"
SYSTEMS = sorted((HERE.parents[1] / "examples" / "systems").glob("*.py"))


@dataclass(frozen=True)
class Drawn:
    """A picture, the command that shows the same run as text, and the fixture if one is kept."""

    svg: str
    command: str
    fixture: str = ""


def kept(protocol: str, begins: str) -> Drawn:
    """Return the run of the one fixture whose name begins so."""
    (path,) = (path for path in fixture_files(protocol) if path.name.startswith(begins))
    bundle = find(protocol)
    result = replay_record(load(path), bundle, origin=path.name)
    assert result.ok, result.message
    name = f"counterexamples/{protocol}/{path.name}"
    return Drawn(story_svg(story_of(result.system, result.evidence, bundle.phases)), f"evenhand show {name}", name)


def searched(job: Job) -> Drawn:
    """Return the shortest run that refutes the claim of a search."""
    (found,) = run(find(job.protocol), job)
    return Drawn(story_svg(_told(found.story)), job.command)


def peterson() -> Drawn:
    """Return the shortest run in which a selfish Peterson's lock lets both in."""
    module = module_at(PETERSON)
    (verdict,) = explore(module.SELFISH, [module.exclusion]).verdicts
    assert verdict.evidence is not None
    return Drawn(story_svg(story_of(module.SELFISH, verdict.evidence)), "python docs/examples/peterson.py")


def known(path: Path) -> tuple[str, Callable[[], Drawn]]:
    """Return the story of a known system with what the search counts, and the run that it shows.

    That is the first that refutes a claim, or else the first that reaches a goal.
    """
    module, where = module_at(path), f"docs/examples/systems/{path.name}"
    claims = [value for value in vars(module).values() if isinstance(value, Property)]
    systems = [value for value in vars(module).values() if isinstance(value, System)]
    found = [(system, explore(system, claims)) for system in systems]
    runs = [(system, one) for system, explored in found for one in explored.verdicts if one.evidence is not None]
    drawn_of, shown = min(runs, key=lambda run: run[1].holds)
    assert shown.evidence is not None
    drawn = Drawn(
        story_svg(story_of(drawn_of, shown.evidence)),
        f"evenhand explore {where}:{drawn_of.name} --claim {shown.claim}",
    )
    lines = [inspect.cleandoc(module.__doc__ or ""), ""]
    for system, explored in found:
        generated = explored.transitions + len(tuple(system.initial(None)))
        verdicts = ", ".join(f"`{one.claim}` {one.status.value}" for one in explored.verdicts)
        lines.append(f"- `{system.name}`: {explored.states:,} distinct and {generated:,} generated states; {verdicts}.")
    return "\n".join([*lines, "", f"The picture shows `{shown.claim}` of `{drawn_of.name}`."]), lambda: drawn


def _told(story: Story | None) -> Story:
    assert story is not None, "nothing is refuted any more"
    return story


FINDINGS: tuple[tuple[str, str, Callable[[], Drawn]], ...] = (
    (
        "cud-livelock",
        "`cud`: two agents whose requests collide are both refused, and may ask for ever. That is the price of "
        "having no arbiter.",
        lambda: kept("cud", "livelock_free--reference"),
    ),
    (
        "cud-tie-break",
        "`cud`: a mutant settles collisions by the agent's name. One step is enough to see that somebody wins.",
        lambda: searched(Job("cud", "explore", "run", variant="tie_break_by_name", claims=("no_winner",))),
    ),
    (
        "cud-deadlock",
        "`cud`: an agent without an authority can never get anything executed. The run is stuck at its start.",
        lambda: kept("cud", "deadlock_free--reference"),
    ),
    (
        "apcm-deadlock",
        "`apcm`: three actions that each violate one preference and satisfy the other two. No artefact permits any of "
        "them: the protocol is stuck before the first step.",
        lambda: kept("apcm", "every_situation_can_be_justified--reference"),
    ),
    (
        "apcm-livelock",
        "`apcm`: an artefact that authorises nothing compiles and permits nothing, and may be revised into itself for "
        "ever.",
        lambda: kept("apcm", "revising_for_ever_brings_news--reference"),
    ),
    (
        "apcm-one-more",
        "`apcm`: to ask for more can permit more. The second run requires one preservation more than the first, and it "
        "compiles.",
        lambda: kept("apcm", "more_preservations_never_permit_more_than_a_failure--reference--03ebb5f2"),
    ),
    (
        "conviction-outsider",
        "`conviction`: `agent_1` moves a point to the proposal of `agent_2` and takes it back. That alone makes "
        "`agent_3` win: an outsider decides between two others, and none of its stake is left on either.",
        lambda: searched(Job("conviction", "explore", "trio", claims=("outsiders_decide_nothing",), max_states=20_000)),
    ),
    (
        "conviction-tie",
        "`conviction`: a mutant gives a tie to the first name instead of the earliest stake.",
        lambda: kept("conviction", "ties_go_to_the_earliest_stake--first_name_wins_a_tie"),
    ),
    (
        "markspace-unanswered",
        "`markspace`: two agents keep asking for one room, and each is told for ever that another intent won.",
        lambda: searched(Job("markspace", "explore", "first_writer", claims=("asking_is_answered",))),
    ),
    (
        "markspace-name",
        "`markspace`: a mutant lets the name decide. The second to ask is allowed because its name comes first.",
        lambda: kept("markspace", "policy_decides_as_written--name_wins"),
    ),
    (
        "sovereign-refusals",
        "`sovereign`: a constitution without clauses refuses the same proposal for ever, and nothing ends it.",
        lambda: kept("sovereign", "refusals_end_by_themselves--reference"),
    ),
    (
        "peterson-selfish",
        "Peterson's lock, an example without agents: a process that keeps the turn for itself lets both in after six "
        "steps.",
        peterson,
    ),
)
"""The name of each picture, its sentence, and how it is made."""

HEAD = """# Gallery

Twelve findings, a picture each. A circle is a state. Beside an arrow stand what is done and what it shows (`→`), beside
the next circle what changed. A red arrow leads back: from there on the run repeats for ever.

`make gallery` draws them again: kept counterexamples are replayed, the other runs are searched for.
"""


SYSTEMS_HEAD = """# Known systems

Sixteen systems of the literature, each in a file of fewer than sixty lines of code, most with a twin in which one thing
is wrong (or, where the known system is at fault, mended). "Published" says which count is known from elsewhere; the
tests compare it, and count every system a second time by a plain loop. TLC confirmed the states, edges and invariants
of every exported graph. Generated states are counted as TLC does: initial states and every step.

`make gallery` searches them again and draws the first run that refutes a claim, or else reaches a goal.
"""


def page(head: str, entries: Iterable[tuple[str, str, Callable[[], Drawn]]], made: dict[str, str]) -> str:
    """Return a page; its pictures are added to `made`."""
    parts = [head]
    for name, sentence, draw in entries:
        drawn = draw()
        made[f"gallery/{name}.svg"] = f"{drawn.svg}\n"
        fixture = f"\nKept as `{drawn.fixture}`.\n" if drawn.fixture else ""
        parts.append(
            f"## {name}\n\n{sentence}\n\n```console\n$ {drawn.command}\n```\n{fixture}\n![{name}](gallery/{name}.svg)\n"
        )
    return "\n".join(parts)


def files() -> dict[str, str]:
    """Return every file of the gallery by its path from this folder's parent."""
    made: dict[str, str] = {}
    systems = ((path.stem.replace("_", "-"), *known(path)) for path in SYSTEMS)
    pages = {"gallery.md": page(HEAD, FINDINGS, made), "known-systems.md": page(SYSTEMS_HEAD, systems, made)}
    return {**made, **pages}


def main() -> None:
    """Write the gallery to the folder that is named, or to its place in the documents."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent
    for name, text in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.encode())


if __name__ == "__main__":
    main()
