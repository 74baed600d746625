"""A system in a user's own Python file is a first-class subject: found, searched, compared, shown."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

import evenhand
from evenhand.cli.completion import protocols as completed
from evenhand.core.loading import module_at
from evenhand.core.registry import find
from evenhand.evidence.record import Own, PairRun
from evenhand.evidence.store import load
from evenhand.jobs.fixtures import fixture_files
from evenhand.jobs.pool import Ran
from evenhand.report.actions import actions_json
from evenhand.web.files import Library
from evenhand.web.position import opened
from tests.engines.search.symmetric.systems import joint_hall, licence_of
from tests.front import own_files
from tests.front.conftest import Command
from tests.front.own_files import LIGHT, MENDED, TWO, in_process, project_folder, write

__all__ = ["project_folder"]
from tests.front.serving import served

# Found by file and name


def test_commands_take_a_file_and_a_name(cli: Command, project: Path) -> None:
    """The search, the machine, a goal, a graph; printed commands use the same name."""
    write(project)
    explored = cli("explore", "light.py:light", "--claim", "never_dark", "--graph", "g.dot", "--json")
    assert explored.code == 1
    (verdict,) = explored.json["verdicts"]
    assert (verdict["protocol"], verdict["status"], verdict["length"]) == ("light.py:light", "REFUTED", 1)
    assert verdict["command"].startswith("evenhand explore light.py:light --system light --claim never_dark")
    assert "'break'" in Path("g.dot").read_text("utf-8")
    assert cli("fuzz", "light.py:light", "--examples", "20").code == 1
    assert cli(*shlex.split(verdict["command"])[1:]).code == 1


def test_a_file_with_one_system_needs_no_name(cli: Command, project: Path) -> None:
    """With two systems the message lists them; aliases are one system."""
    write(project, LIGHT + "same = light\n")
    assert cli("explore", "light.py", "--json").json["verdicts"][0]["protocol"] == "light.py:light"
    write(project, TWO, "two.py")
    answer = cli("explore", "two.py")
    assert answer.code == 2
    assert answer.err == "evenhand: two.py has 2 systems; name one of them: two.py:light, two.py:lamp\n"
    assert cli("explore", "two.py:lamp", "--json").json["states"] == 2


def test_an_interrupted_verify_takes_no_further_step(
    cli: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step of the user may never end, and a second Ctrl-C is not heard: nothing is searched after the first."""
    write(project, LIGHT.replace('return ["next", "break"]', 'return [] if state == "dark" else ["next", "break"]'))
    noted = "where no action is on offer"
    assert noted in cli("verify", "light.py", "--budget", "quick", "--jobs", "1").out

    def interrupted(*_: object, **__: object) -> Ran:
        return Ran((), interrupted=True)

    monkeypatch.setattr("evenhand.cli.verify.run_jobs", interrupted)
    answer = cli("verify", "light.py", "--budget", "quick", "--jobs", "1")
    assert answer.code == 130 and "INTERRUPTED" in answer.out and noted not in answer.out


def test_a_run_that_cannot_be_written_says_what_to_name(cli: Command, project: Path) -> None:
    """The classes of the user are named in `types`."""
    own = """
from dataclasses import dataclass

import evenhand


@dataclass(frozen=True)
class Count:
    n: int


@evenhand.always("It stays small.")
def small(state):
    return state.n < 2


count = evenhand.system(
    "count", initial=[Count(0)], actions=lambda s: ["up"], step=lambda s, a: Count(min(s.n + 1, 3))
)
"""
    write(project, own, "count.py")
    out = cli("explore", "count.py", "--out", "found").out
    assert "not recorded" in out and "types=(" in out and not list(Path("found").rglob("*.json"))
    write(project, own.replace("count = evenhand.system(", "count = evenhand.system(types=(Count,), name="), "named.py")
    assert "not recorded" not in cli("explore", "named.py", "--out", "found").out


def test_a_claim_about_steps_that_asks_for_the_config_is_told_where_it_is(cli: Command, project: Path) -> None:
    """The other functions of such a system take the config first."""
    claim = '@evenhand.each_step("x")\ndef kept(config, step):\n    return True\n'
    write(project, LIGHT + claim)
    answer = cli("explore", "light.py")
    assert answer.code == 2 and "write step.config for the config" in answer.err


def test_claims_in_lists_are_found_once_and_only_those_of_the_system(cli: Command, project: Path) -> None:
    """A claim may name its systems."""
    more = """
def small(n):
    return n < 2

both = [never_dark, evenhand.always("It is one at most.", systems=("lamp",))(small)]
again = (never_dark,)
"""
    write(project, TWO + more)
    assert [claim.name for claim in find("light.py:light").claims] == ["never_dark"]
    assert [claim.name for claim in find("light.py:lamp").claims] == ["never_dark", "small"]


@pytest.mark.parametrize("made", ["System", "Bundle", "Protocol"])
def test_a_function_may_make_it_and_is_called_once(made: str, project: Path) -> None:
    """A system, a protocol or a bundle."""
    more = {
        "System": "    return light",
        "Protocol": '    return evenhand.Protocol("p", "P", "", {"light": light})',
        "Bundle": '    return Bundle(evenhand.Protocol("p", "P", "", {"light": light}), (never_dark,))',
    }[made]
    write(
        project,
        f"from evenhand.core.registry import Bundle\n{LIGHT}\ncalls = []\ndef make():\n    calls.append(1)\n{more}\n",
    )
    bundle = find("light.py:make")
    assert find("light.py:make") is bundle
    assert (bundle.name, bundle.own) == ("light.py:make", True)
    assert bundle.model.name == ("light" if made == "System" else "p")
    assert [claim.name for claim in bundle.claims] == ["never_dark"]
    assert module_at(Path("light.py")).calls == [1]


IMPORTED = "importing it raised"
MAKER = "def make():\n    return 1 / 0\n"
TWICE = "import dataclasses\nother = dataclasses.replace(never_dark)\n"
MISTAKES: dict[str, tuple[str, str, str]] = {
    "no file": ("", "nope.py:light", "nope.py: there is no such file. Check the path"),
    "raises": (
        "x = 1\n\ny = 1 / 0\n",
        "light.py",
        f"light.py, line 3: {IMPORTED} ZeroDivisionError: division by zero. ",
    ),
    "syntax": (
        "x = (\n",
        "light.py:x",
        f"light.py, line 1: {IMPORTED} SyntaxError: '(' was never closed. Mend the file",
    ),
    "leaves": ("import sys\nsys.exit(0)\n", "light.py", f"light.py, line 2: {IMPORTED} SystemExit: 0. Mend the file"),
    "other name": (
        LIGHT,
        "light.py:lihgt",
        "unknown system of light.py: 'lihgt' (did you mean light?); there is: light",
    ),
    "no system": (
        LIGHT,
        "light.py:never_dark",
        "light.py:never_dark is no system, but of type Always; there is: light",
    ),
    "arguments": (
        LIGHT,
        "light.py:step",
        "light.py:step is a function of state, action; name a system, or a function without arguments that makes one",
    ),
    "maker raises": (
        LIGHT + MAKER,
        "light.py:make",
        "light.py:make raised ZeroDivisionError: division by zero. Mend the function",
    ),
    "none": (
        "x = 1\n",
        "light.py",
        "light.py has no system among its globals; make one with `evenhand.system(...)`, or ",
    ),
    "no claims": (LIGHT.replace("@evenhand.always", "# "), "light.py", "light.py:light has no claims; "),
    "twice": (LIGHT + TWICE, "light.py", "protocol light: two claims are called 'never_dark'; "),
}


@pytest.mark.parametrize("mistake", sorted(MISTAKES))
@pytest.mark.parametrize("command", ["explore", "verify"])
def test_a_mistake_is_one_sentence(cli: Command, project: Path, mistake: str, command: str) -> None:
    """The message names the culprit and the alternatives; exit code 2, nothing on standard output."""
    text, subject, said = MISTAKES[mistake]
    if text:
        write(project, text)
    answer = cli(command, subject)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"evenhand: {said}"), answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("line", ["import attr\nDARK = attr.DARK", "from attr import DARK"])
def test_a_sibling_with_the_name_of_an_installed_module_is_told(cli: Command, project: Path, line: str) -> None:
    """Python imports the installed one: the message names both, and what to write."""
    for name in ("__init__", "attr"):
        write(project, "DARK = 'dark'\n", f"lamps/{name}.py")
    write(project, f"{line}\n{LIGHT}", "lamps/light.py")
    answer = cli("explore", "lamps/light.py:light")
    assert (answer.code, answer.out) == (2, "")
    assert "attr is " in answer.err and "not attr.py beside the file: import that by its package" in answer.err


def test_siblings_are_importable_and_standard_output_stays_clean(cli: Command, project: Path) -> None:
    """Imports work as in pytest, also from a package by its dotted name; a name in use does no harm."""
    write(project, "DARK = 'dark'\nprint('loaded')\n", "lamps/helping_light.py")
    text = LIGHT.replace('return "dark"', "return DARK")
    write(project, text + "from helping_light import DARK\n", "lamps/light.py")
    assert cli("explore", "lamps/light.py:light", "--json").json["verdicts"][0]["status"] == "REFUTED"
    write(project, "", "kit/__init__.py")
    write(project, "DARK = 'dark'\n", "kit/words.py")
    write(project, text + "from .words import DARK\n", "kit/light.py")
    assert cli("explore", "kit/light.py:light").code == 1
    assert "kit.light" in sys.modules
    write(project, LIGHT, "random.py")  # named like a module of Python's own
    assert cli("explore", "random.py:light").code == 1
    assert "light" not in vars(sys.modules["random"])
    assert "turtledemo" in sys.stdlib_module_names and "turtledemo" not in sys.modules
    write(project, LIGHT, "turtledemo.py")  # named like a module that is not loaded yet
    assert cli("explore", "turtledemo.py:light").code == 1
    assert "turtledemo" not in sys.modules


def test_a_module_that_is_loaded_is_not_loaded_again(project: Path) -> None:
    """The claims are the very objects of the running test, whatever the module is called."""
    path = write(project, LIGHT)
    module = module_at(path)
    assert module_at(Path("light.py")) is module
    assert find("light.py:light").model.systems["light"] is module.light
    assert find(own_files.__file__ + ":HERE").model.systems["here"] is own_files.HERE


@pytest.mark.slow
def test_child_processes_find_it_by_the_same_name(project: Path) -> None:
    """In a folder with a space, two at a time; the written file replays there as well."""
    write(project, LIGHT, "my lights/light.py")
    subject = "my lights/light.py:light"
    verified = in_process("verify", subject, "--budget", "quick", "--jobs", "2", "--out", "my out", "--json")
    assert verified.code == 1, verified.err
    told = {verdict["engine"]: verdict for verdict in verified.json["verdicts"]}
    assert {engine: verdict["status"] for engine, verdict in told.items()} == {"explore": "REFUTED", "fuzz": "REFUTED"}
    assert "'my lights/light.py:light'" in told["explore"]["command"]
    assert told["explore"]["scope"]["max_states"] == 20_000  # the bound of `evenhand.verify`, under `quick`
    assert told["fuzz"]["scope"]["examples"] == 40
    (file,) = Path("my out").rglob("never_dark*.json")
    assert file.parent.name == "light"
    assert load(file).own == Own(True, "../../my lights/light.py", "light")
    again = in_process("replay", str(file))
    assert again.code == 1
    assert "still refuted: never_dark is false after 1 of 1 actions: The light is never dark." in again.out
    assert "1  'break'" in again.out


@pytest.mark.slow
def test_what_nobody_says_ends_is_searched_up_to_the_bound(cli: Command, project: Path) -> None:
    """Without a statement of the user; with one, it holds."""
    text = (
        'import evenhand\n\nup = evenhand.system("up", initial=[0], actions=lambda n: [1], step=lambda n, a: n + 1)\n'
    )
    write(project, text + '\n@evenhand.always("x")\ndef positive(n):\n    return n >= 0\n', "up.py")
    answer = cli("explore", "up.py", "--json")
    assert (answer.code, answer.json["states"], answer.json["complete"]) == (3, 100_000, False)
    assert cli("explore", "up.py", "--max-states", "7", "--json").json["states"] == 7


def test_a_global_generator_draws_the_runs(cli: Command, project: Path) -> None:
    """A generator that never breaks the light finds nothing."""
    more = """
from hypothesis import strategies as st
from evenhand.core.generator import Generator, Rule

careful = Generator("light", lambda scope, readings: st.just(None), (Rule("next", lambda draw, *_: "next"),))
"""
    write(project, LIGHT)
    assert cli("fuzz", "light.py", "--examples", "20").code == 1
    write(project, LIGHT + more)
    assert cli("fuzz", "light.py", "--examples", "20").code == 0


RULES = """
from dataclasses import dataclass, field
from typing import Any

from evenhand import Mutant, Protocol, System


@dataclass(frozen=True)
class Rules:
    after: Any


def nearer(n):
    return n - 1 if n > 1 else 1


def step(rules, config, state, action):
    return rules.after(state), None


down = System(
    name="down",
    rules=Rules(nearer),
    configs=lambda scope, readings: (None,),
    initial=lambda config: (3,),
    step=step,
    actions=lambda config, scope, state: ("go",),
    types=(),
)
deep = Mutant("deep", "It goes on.", "", Rules(lambda n: max(n - 1, -2)), "down")
whole = Protocol("down", "Down", "", {"down": down}, None, (deep,))

import evenhand


@evenhand.always("It stays above zero.")
def above_zero(config, state):
    return state > 0
"""


LAMBDA = """
import evenhand

still = evenhand.system("still", initial=[0], actions=lambda state: ["go"], step=lambda state, action: state)


@evenhand.always("It stays.")
def it_stays(state):
    return state == 0
"""


@pytest.mark.slow
def test_mutants_are_brought_or_made_by_rule_or_missed(cli: Command, project: Path) -> None:
    """A protocol has its own mutants; others are made from the functions of the step, where it is no lambda."""
    write(project, RULES, "down.py")
    brought = cli("mutants", "down.py:whole", "--fixtures", "kept", "--json")
    assert [(row["mutant"], row["status"]) for row in brought.json["matrix"]] == [("deep", "killed")]
    (file,) = Path("kept/down").glob("*.json")
    assert cli("replay", str(file)).code == 0  # of a mutant, with its reference beside it
    made = cli("mutants", "down.py:down", "--jobs", "2", "--json").json["automatic"]
    assert made["made"] > 0
    assert made["killed"] > 0
    write(project, LAMBDA, "still.py")
    refused = cli("mutants", "still.py")
    assert refused.code == 2
    assert refused.err.startswith("evenhand: still.py:still has no mutants, and none can be made by rule: ")


def test_what_it_does_not_have_is_said(cli: Command, project: Path) -> None:
    """No theorem, no size, no reading: each is reported, and nothing counts as passed."""
    write(project)
    assert "says of what there may be any number" in cli("prove", "light.py").err
    assert "unknown size of light.py:light" in cli("sweep", "light.py", "--over", "n=1..2").err
    assert "nothing to compare" in cli("compare", "light.py").err
    assert cli("profile", "light.py").code == 0


@pytest.mark.slow
def test_a_kernel_is_put_beside_it(cli: Command, project: Path) -> None:
    """Found by the same name, in files of a plain folder, and checked again by the written test."""
    write(project)
    write(
        project,
        "class Kernel:\n    def step(self, action):\n        return 1\n\n\ndef make(given):\n    return Kernel()\n",
        "kernel.py",
    )
    sys.path.insert(0, str(project))
    answer = cli("check", "light.py:light", "--adapter", "kernel:make", "--examples", "5", "--out", "out", "--json")
    assert answer.code == 1, answer.err
    (finding,) = answer.json["findings"]
    assert (Path("out") / finding["fixture"]).is_file()
    (test,) = Path("out").rglob("test_*.py")
    again = in_process("-q", "-p", "no:cacheprovider", str(test), module="pytest")
    assert again.code == 1
    assert "unknown protocol" not in again.out


def test_a_campaign_runs_it(cli: Command, project: Path) -> None:
    """By its name in the plan; a plan cannot run a file outside the folder; an edit gives other sources."""
    write(project)
    assert cli("campaign", "plan", "light.py:light", "--budget", "quick", "--to", "plan.yaml").code == 0
    ran = cli("campaign", "run", "plan.yaml", "--jobs", "2", "--json")
    assert {verdict["status"] for verdict in ran.json["verdicts"]} == {"REFUTED"}
    write(project, MENDED)
    assert (
        cli("campaign", "status", "plan.yaml", "--json").json["other_sources"] == 3
    )  # the replay of its fixtures is a job too
    plan = Path("plan.yaml").read_text("utf-8").replace("light.py:light", "../elsewhere.py:light")
    Path("far.yaml").write_text(plan, "utf-8")
    far = cli("campaign", "run", "far.yaml")
    assert far.code == 2
    assert "../elsewhere.py lies outside the project" in far.err


def test_the_shell_is_offered_its_file(project: Path) -> None:
    """If no protocol has this prefix; nothing is imported for it."""
    write(project, "raise SystemExit\n", "lamps/light.py")
    assert completed("la") == ["latch"]
    assert completed("lam") == ["lamps/"]
    assert completed("lamps/l") == ["lamps/light.py"]
    assert completed("zzz") == []


@pytest.mark.slow
def test_actions_are_told_as_a_table_and_as_json(cli: Command, project: Path) -> None:
    """Both for user systems; the key of a protocol; at a bound with a note; none for a product or symmetric search."""
    write(project, LIGHT)
    told = cli("explore", "light.py").out
    assert re.search(r"│ next +│ +3 │ +2 │ +1 │\n│ break +│ +3 │ +2 │ +1 │", told)
    made = cli("explore", "light.py", "--json").json["actions"]
    assert made["labels"]["next"] == {"offered": 3, "changed": 2, "new": 1}
    assert made["counted"] is True
    write(project, LIGHT.replace('"break"]', '"nap"]').replace("return {", 'return state if action == "nap" else {'))
    assert "never changes anything: nap" in cli("explore", "light.py").out
    assert "never changes anything in what was searched: nap" in cli("explore", "light.py", "--max-states", "1").out
    assert "steps by action" not in cli("explore", "latch").out
    assert cli("explore", "latch", "--json").json["actions"]["counted"] is True
    assert "actions" not in cli("explore", "cud", "--system", "run", "--max-states", "5", "--json").json
    hall = joint_hall(1)
    divided = evenhand.explore(hall, licence=licence_of(hall), method="symmetric", count_actions=True)
    assert actions_json(divided)["actions"] == {
        "counted": False,
        "because": "symmetric search takes many steps at once; --method explicit counts",
    }


def test_a_run_is_written_as_itf(cli: Command, project: Path) -> None:
    """Every state with the action that led there, and the start of a lasso's loop; a pair has no form."""
    lasso = """
@evenhand.eventually("It gets blue.")
def gets_blue(step):
    return step.after == "blue"
"""
    write(project, LIGHT.replace("def actions", lasso + "\n\ndef actions"))
    assert cli("explore", "light.py", "--out", "found").code == 1
    for file in Path("found/light").iterdir():
        assert cli("show", str(file), "--itf", f"{file.name}.itf.json").code == 0
    (dark,) = Path().glob("never_dark*.itf.json")
    states = json.loads(dark.read_text("utf-8"))["states"]
    assert [(one["state"], one["action"]) for one in states] == [("red", "null"), ("dark", "break")]
    (blue,) = Path().glob("gets_blue*.itf.json")
    trace = json.loads(blue.read_text("utf-8"))
    assert trace["states"][trace["loop"]]["state"] == trace["states"][-1]["state"]
    traces, records = [str(dark), str(blue)], [str(file) for file in Path("found/light").iterdir()]
    again = cli("replay", *traces, *records)
    assert (again.code, again.err) == (1, "skipped 2 ITF traces: runs of the records, for other tools\n"), again
    assert "is an ITF trace" in cli("replay", *traces).err
    pair = next(path for path in fixture_files("cud") if isinstance(load(path).run, PairRun))
    assert "a pair of runs is no ITF trace" in cli("show", str(pair), "--itf", "pair.json").err


# On the page


def test_the_explorer_page_walks_it(cli: Command, project: Path) -> None:
    """It is listed, opened, walked, saved and loaded; a request cannot name another file."""
    write(project)
    write(project, f"open('ran', 'w').close()\n{LIGHT}", "trap.py")
    with served(opened(find("light.py:light")), Path("found")) as page:
        where = page.start
        assert 'value="light.py:light/light" selected' in page.get(where).text
        address = where.split("/")[2]
        stepped = page.do("step", address=address, at=0, number=1).json["to"]
        address = stepped.split("/")[2]
        kept = page.do("save", address=address, at=1, claim="never_dark")
        assert kept.status == 200, kept.text
        (file,) = Path("found/light").iterdir()
        assert load(file).own == Own(True, "../../light.py", "light")
        assert file.name in page.get(stepped).text
        assert page.do("load", protocol="light", name=f"saved/{file.name}").status == 200
        assert page.do("open", system="light.py:light/light").status == 200
        assert page.do("open", system="cud/run").status == 200
        assert page.do("open", system="trap.py:light/light").status == 404
        refused = page.do("load", text=file.read_text("utf-8"), name="x.json")
        assert (refused.status, "Replay it from its file" in refused.text) == (422, True)
    assert not Path("ran").exists()
    assert Library(Path("found")).load("light", f"saved/{file.name}").bundle.own
    assert cli("replay", str(file)).code == 1
