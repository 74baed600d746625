"""The kinds of files that commands read: some of each, as commands write them, and the commands that read them."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.campaign.planfile import FORMAT as PLAN_FORMAT
from evenhand.core.registry import folder
from evenhand.jobs.fixtures import fixture_files
from tests.attack.running import Arena

Words = tuple[str, ...]


@dataclass(frozen=True)
class Kind:
    """One kind of file: JSON values or text of this kind, and commands that read the file.

    The file has the name `file`; the files `beside` it are whole.  `refutes`: exit code 1 is an answer to it.
    `signals` end a command that would not end.
    """

    name: str
    originals: Sequence[Any]
    commands: Sequence[Words]
    whole: int
    few: int = 6
    file: str = "file.json"
    beside: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    refutes: bool = False
    signals: Sequence[tuple[int, float]] = ()
    lines: bool = False
    """A JSON value a line."""

    codes: tuple[int, ...] = ()
    """Exit codes beside the usual ones."""

    starts: bool = False
    """A command may start processes."""


PLAN: dict[str, Any] = {
    "format": PLAN_FORMAT,
    "version": 1,
    "seconds": 5,
    "memory": 500,
    "runs": [
        {"protocol": "latch", "engine": "replay"},
        {"protocol": "latch", "engine": "explore", "claims": ["one_inside"], "scope": {"agents": [2, 3]}, "parts": 2},
        {"protocol": "latch", "engine": "fuzz", "examples": 2, "steps": 3, "seeds": 2},
    ],
}
PROOFS: dict[str, Any] = {
    "format": "evenhand/proofs",
    "version": 1,
    "proofs": [{"theorem": {"protocol": "latch", "name": "x"}, "proofs": None, "queries": {}}],
}
LOG: dict[str, Any] = {
    "format": "evenhand/log", "version": 1, "protocol": "latch", "system": "latch", "scope": {"agents": 2},
    "config": {"$": "Config", "agents": 2, "readings": {"$": "Readings", "again": "refused"}},
    "start": {"$": "State", "inside": []},
}  # fmt: skip
EVENTS = (
    {"action": {"$": "Act", "agent": 0, "verb": "take"}, "shown": "taken"},
    {"action": {"$": "Act", "agent": 1, "verb": "take"}, "shown": "refused"},
    {"action": {"$": "Act", "agent": 0, "verb": "leave"}, "shown": "left"},
)
MATRIX: dict[str, Any] = {
    "format": "evenhand/mutants", "protocol": "latch", "idle_claims": ["one_inside"],
    "matrix": [{"mutant": "sticky", "status": "killed",
                "kills": [{"claim": "one_inside", "engine": "explore", "length": 3}]}],
}  # fmt: skip
OWN = """
import evenhand

@evenhand.always("The light is never dark.")
def never_dark(state):
    return state != "dark"

def seen(state):
    return {"state": state}

light = evenhand.system("light", initial=["red"], actions=lambda state: ["next", "break"],
    step=lambda state, action: "dark" if action == "break" else {"red": "green"}.get(state, "red"))
"""


ITF: dict[str, Any] = {
    "vars": ["state", "action"],
    "states": [{"state": "red", "action": "null"}, {"state": "dark", "action": "break"}],
}


def kinds(arena: Arena) -> tuple[Kind, ...]:
    """Return every kind of file that a command reads; made once for an arena."""
    return arena.once("kinds", lambda: _made(arena))


def _made(arena: Arena) -> tuple[Kind, ...]:
    """Return every kind of file that a command reads; the commands that write files write them in the arena."""
    place = arena.new()
    (place / "light.py").write_text(OWN, "utf-8")
    adapter = "tests.front.conform.latches:returns_words_of_its_own"
    makers: tuple[Words, ...] = (
        ("explore", "latch", "--mutant", "always_free", "--out", "found"),
        ("explore", "light.py:light", "--out", "own"),
        ("verify", "latch", "--jobs", "1", "--out", "report"),
        ("vectors", "latch", "generate", "--out", "vectors", "--examples", "2"),
        ("vectors", "latch", "freeze", "--out", "vectors"),
        ("check", "latch", "--adapter", adapter, *LITTLE, "--out", "kernel", "--json"),
        ("examine", "tests.engines.arbiters.kernels:SmallestName", "--examples", "2", "--json"),
        ("certify", *THEOREM, "--out", "certificates"),
        ("certify", "latch", "--searches", "--out", "walked"),
    )
    made = arena.run(*makers, folder=place, seconds=300.0, starts=True)
    codes, wanted = [end.code for end in made.ends], [1, 1, 0, 0, 0, 1, 1, 0, 0]
    assert codes == wanted, [(words[0], end) for words, end in zip(makers, made.ends, strict=False)]
    *_, checked, examined, _, _ = (end.out for end in made.ends)
    return (
        *_records(place),
        *_reports(place),
        *_vectors(place),
        *_known(place, checked, examined),
        *_certificates(place),
        *_others(),
    )


THEOREM = ("cud", "--theorem", "no_veto_overridden")
LITTLE = ("--transitions", "12", "--examples", "1")
"""The least effort of a check."""


def _json(place: Path, pattern: str) -> list[Any]:
    found = [json.loads(path.read_bytes()) for path in sorted(place.glob(pattern))]
    assert found, pattern
    return found


def _records(place: Path) -> Iterator[Kind]:
    shipped = [json.loads(path.read_bytes()) for name in ("cud", "markspace") for path in fixture_files(name)[::15]]
    commands = (("replay", "{file}"), ("show", "{file}", "--json"), ("replay", "--json", "{file}"))
    whole = [*_json(place, "found/latch/*.json"), *shipped]
    yield Kind("counterexample", whole, commands, 5_000, refutes=True)
    written = (("show", "{file}", "--itf", "itf.json", "--wait-for", "w.dot"), ("show", "{file}"))
    yield Kind("counterexample, shown otherwise", whole, written, 1_000, few=4, refutes=True)
    own = _json(place, "own/light/*.json")
    beside = {"light.py": OWN.encode()}
    yield Kind("counterexample of an own system", own, commands[:2], 1_500, file="own/light/x.json", beside=beside,
               refutes=True)  # fmt: skip
    served = (("serve", "--fixture", "{file}", "--json"),)
    yield Kind("counterexample, served", whole, served, 100, few=1, codes=(130,), signals=((signal.SIGINT, 0.5),))


def _reports(place: Path) -> Iterator[Kind]:
    report, matrix = _json(place, "report/report.json"), [MATRIX]
    commands = (("report", "{file}", "--out", "{out}"), ("report", "{file}", "--show", "refuted"))
    yield Kind("report", report, commands, 1_200, few=4)
    whole = json.dumps(report[0]).encode()
    both = (("report", "good.json", "{file}", "--out", "{out}"),)
    yield Kind("kill matrix", matrix, both, 2_000, beside={"good.json": whole})


def _vectors(place: Path) -> Iterator[Kind]:
    there = {path.name: path.read_bytes() for path in sorted((place / "vectors").iterdir())}
    commands = (("vectors", "latch", "verify", "--out", "."), ("vectors", "latch", "freeze", "--out", "."))
    for name, file in (("vectors", "covering.json"), ("manifest of vectors", "manifest.json")):
        beside = {one: content for one, content in there.items() if one != file}
        yield Kind(name, [json.loads(there[file])], commands, 2_000, file=file, beside=beside, refutes=True)


def _known(place: Path, checked: str, examined: str) -> Iterator[Kind]:
    check = ("check", "latch", "--adapter", "json:loads", *LITTLE, "--known", "{file}")
    finding = _json(place, "kernel/latch/kernel_answers*[0-9a-f].json")
    yield Kind("kernel finding", finding, (check,), 300, few=1, refutes=True, starts=True)
    yield Kind("report of check", [json.loads(checked)], (check,), 300, few=1, refutes=True, starts=True)
    examine = ("examine", "tests.engines.arbiters.kernels:Honest", "--examples", "1", "--seconds", "0.1", "--known",
               "{file}")  # fmt: skip
    yield Kind("report of examine", [json.loads(examined)], (examine,), 600, few=1, refutes=True, starts=True)


def _certificates(place: Path) -> Iterator[Kind]:
    there = {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.glob("certificates/*/*/*.json"))}
    (file,) = (name for name in there if name.endswith("theorem.json"))
    beside = {one: content for one, content in there.items() if one != file}
    checked = ("certify", *THEOREM, "--check", "--out", "{folder}/certificates")
    yield Kind("certificate", [json.loads(there[file])], (checked,), 1_000, file=file, beside=beside, refutes=True)
    recalled = ("prove", *THEOREM, "--certificates", "{folder}/certificates")
    (whole,) = (name for name in there if name.endswith("theorem.whole.json"))
    rest = {name: content for name, content in there.items() if name != whole}
    yield Kind("theorem and its certificates", [json.loads(there[whole])], (checked,), 500, file=whole, beside=rest,
               refutes=True)  # fmt: skip
    yield Kind("certificate, recalled", [json.loads(there[file])], (recalled,), 30, few=0, file=file, beside=beside,
               starts=True, refutes=True)  # fmt: skip

    walked = {str(path.relative_to(place)): path.read_bytes() for path in sorted(place.glob("walked/*/*/*.json"))}
    searched, *others = walked
    again = ("certify", "latch", "--searches", "--check", "--out", "{folder}/walked")
    yield Kind("certificate of a search", [json.loads(walked[searched])], (again,), 1_000, file=searched,
               beside={name: walked[name] for name in others}, refutes=True)  # fmt: skip
    rests = ("verify", "latch", "--budget", "quick", "--jobs", "1", "--certificates", "{folder}/walked")
    yield Kind("certificate of a search, rested on", [json.loads(walked[searched])], (rests,), 30, few=0, file=searched,
               starts=True, refutes=True)  # fmt: skip


def _others() -> Iterator[Kind]:
    log = ("validate", "latch", "--log", "{file}")
    yield Kind("log", [[LOG, *EVENTS], [LOG]], (log, (*log, "--json")), 2_500, refutes=True, lines=True)
    trace = ("validate", "light.py:light", "--seen", "seen", "--trace", "{file}")
    own = {"light.py": OWN.encode()}
    yield Kind("trace in ITF", [ITF], (trace, (*trace, "--json")), 1_000, beside=own, refutes=True)
    status = (("campaign", "status", "{file}"), ("campaign", "report", "{file}", "--json"))
    yield Kind("campaign plan", [PLAN], status, 3_500)
    yield Kind("campaign plan, run", [PLAN], (("campaign", "run", "{file}", "--jobs", "1", "--stop-after", "1"),), 200,
               few=1, refutes=True, codes=(130,))  # fmt: skip
    yield Kind("proofs", [PROOFS], (("prove", "--check", "{file}"),), 2_000)
    text = (folder("properties") / "sovereign" / "rsa_constitution.v0.1.1.yaml").read_bytes()
    constitution = ("check", "sovereign", "--constitution", "{file}")
    yield Kind("constitution", [text], (constitution, (*constitution, "--json")), 1_500, file="file.yaml", refutes=True)
    yaml = b"""format: evenhand/campaign
version: 1
runs:
  - protocol: latch
    engine: explore
    scope: {agents: [2, 3]}
  - {protocol: latch, engine: replay}
"""
    toml = b"""format = "evenhand/campaign"
version = 1
[[runs]]
protocol = "latch"
engine = "explore"
scope = {agents = [2, 3]}
[[runs]]
protocol = "latch"
engine = "replay"
"""
    yield Kind("campaign plan in TOML", [toml], status, 1_000, file="plan.toml")
    yield Kind("campaign plan in YAML", [yaml], status, 2_500, file="plan.yaml")
