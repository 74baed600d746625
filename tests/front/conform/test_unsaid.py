"""What no section tells is asked of no kernel, and the report counts it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import islice
from types import SimpleNamespace
from typing import Any

import pytest

from evenhand.cli.check_lines import _covered  # pyright: ignore[reportPrivateUsage]
from evenhand.cli.pages import FOLDER
from evenhand.conform.adapters.model import factory_of
from evenhand.conform.checking.coding import Coder
from evenhand.conform.checking.drawing import silenced, where_said
from evenhand.conform.checking.loop import UNTOLD, CheckEffort, SystemChecked, check_system
from evenhand.conform.checking.phase import Phase
from evenhand.conform.checking.wandering import wandering
from evenhand.core.registry import find
from evenhand.core.system import AnySystem
from evenhand.core.trace import Scenario, replay
from evenhand.jobs.fixtures import fixtures_of
from evenhand.model.conviction.texts import Text
from evenhand.model.conviction.vocabulary import Enrol, Feedback, Invite, Proposal
from evenhand.model.conviction.vocabulary import Tick as Opened
from evenhand.model.markspace.composing_vocabulary import Pipeline
from evenhand.model.markspace.guard import initial
from evenhand.model.markspace.guard_systems import GUARDS
from evenhand.model.markspace.guard_vocabulary import Act, Config, Policy, What
from evenhand.model.markspace.layers_vocabulary import Layer, Op, Operation
from evenhand.model.markspace.marks import Ask, Draft, Kind, Write
from evenhand.model.markspace.readings import Readings
from tests.deep import rest_slow
from tests.front.conform.in_process import InProcess

GUARDS_OF_TWO = Config(("a", "b"), ("r", "s"), Policy.HIGHEST_CONFIDENCE, 1, Readings(), deferred=True)
MEDDLED = replace(GUARDS_OF_TWO, policy=Policy.FIRST_WRITER, deferred=False, meddling=True)
PLAIN = replace(MEDDLED, meddling=False)
OWNERS = replace(MEDDLED, readings=Readings(reference_authority="same_agent_or_principal"))

CANARY, REVOKED = Operation(Op.INJECT, "alice"), Operation(Op.NARROW_ALL, "alice", kind=Kind.ACTION)

RELEASED = replace(PLAIN, readings=Readings(claim_release="superseding_action_of_holder"))

ASKED = (Act(What.PRE, "a", "r"),)
DONE = (*ASKED, Act(What.CALL, "a", "r"), Act(What.POST, "a", "r"))
OWN = Act(What.WARN_INTENT, "a", "r", target="a")
WARNED, CONTESTED = Act(What.WARN_INTENT, "b", "r", target="a"), Act(What.WARN_CLAIM, "b", "r")
TWICE = (Act(What.PRE, "a", "r"), Act(What.PRE, "a", "s"), Act(What.BOUNDARY, resource="r"))


@pytest.mark.parametrize(
    ("config", "before", "action", "unsaid"),
    [
        (PLAIN, ASKED, Act(What.PRE, "a", "r"), True),  # a busy agent
        (PLAIN, ASKED, Act(What.PRE, "b", "r"), False),
        (PLAIN, (), Act(What.PRE, "stranger", "r"), False),  # which is denied
        (PLAIN, (), Act(What.CALL, "stranger", "r"), False),  # §7.3, P37
        (PLAIN, (), Act(What.POST, "stranger", "r"), False),
        (PLAIN, (), Act(What.ABANDON, "stranger", "r"), True),
        (PLAIN, (), Act(What.CALL, "a", "r"), False),  # P37
        (PLAIN, (), Act(What.POST, "a", "r"), False),
        (PLAIN, (), Act(What.ABANDON, "a", "r"), True),
        (PLAIN, ASKED, Act(What.ABANDON, "a", "r"), False),
        (PLAIN, ASKED, Act(What.ABANDON, "a", "s"), True),
        (PLAIN, (), Act(What.PRE, "a", "elsewhere"), True),
        (PLAIN, DONE, Act(What.RELEASE, "a", "r"), True),  # which the reading excludes
        (RELEASED, ASKED, Act(What.RELEASE, "a", "r"), True),
        (RELEASED, DONE, Act(What.RELEASE, "a", "r"), False),
        (PLAIN, ASKED, Act(What.BOUNDARY, resource="r"), True),  # nothing is deferred
        (PLAIN, ASKED, Act(What.WARN_INTENT, "b", "r", target="a"), True),  # nobody meddles
        (MEDDLED, ASKED, Act(What.WARN_INTENT, "b", "r", target="a"), False),
        (MEDDLED, ASKED, Act(What.WARN_INTENT, "b", "s", target="a"), True),  # no such mark
        (MEDDLED, (*ASKED, WARNED), WARNED, True),  # one half may stand a second later, or two
        (MEDDLED, (*ASKED, WARNED, Act(What.TICK)), WARNED, False),
        (OWNERS, (*ASKED, OWN), WARNED, False),  # who may not warn is refused, first or second
        (OWNERS, (*ASKED, OWN), OWN, True),
        (MEDDLED, (*DONE, CONTESTED), CONTESTED, True),
        (MEDDLED, (*DONE, CONTESTED), Act(What.SUPERSEDE_CLAIM, "b", "r"), False),
        (MEDDLED, ASKED, Act(What.SUPERSEDE_CLAIM, "b", "r"), True),
        (GUARDS_OF_TWO, TWICE, Act(What.BOUNDARY, resource="r"), False),
        (GUARDS_OF_TWO, TWICE, Act(What.BOUNDARY, resource="s"), True),  # a second thing for who is allowed one
        (PLAIN, (), Act(What.TICK), False),
    ],
)
def test_what_guards_are_not_asked(config: Config, before: tuple[Act, ...], action: Act, unsaid: bool) -> None:
    """Each with the state in which it is asked."""
    system = GUARDS["first_writer"]
    state = initial(config)[0]
    for act in before:
        state = system.take(config, state, act).after
    assert system.unsaid is not None and system.unsaid(config, state, action) is unsaid


def _unsaid(name: str, action: Any) -> bool:
    """Whether an action is unsaid at the first start of a system."""
    system = find("markspace").model.systems[name]
    config = next(iter(system.all_configs()))
    assert system.unsaid is not None
    return system.unsaid(config, next(iter(system.initial(config))), action)


def test_what_other_kernels_are_not_asked() -> None:
    """A confidence that a kind has not, a manifest that may be told once or twice, operations of a layer left out."""
    for kind in Kind:
        beyond = Write("alice", Draft(kind, "a", confidence=Fraction(-1)), 1)
        assert _unsaid("space", beyond) is (kind in (Kind.ACTION, Kind.WARNING))
        assert not _unsaid("space", replace(beyond, draft=Draft(kind, "a")))
    assert _unsaid("composing", Pipeline(("bob", "bob")))  # who promises too much; whether they connect is told
    assert not any(_unsaid("composing", Pipeline(("alice", other))) for other in ("alice", "bob"))
    assert _unsaid("layers", Operation(Op.RAISE, "alice", token="forged")) and _unsaid("layers", Operation(Op.ROUND))
    for said in (Op.ROUND, Op.WRITE, Op.EXECUTE, Op.TICK):  # the first configuration has no layer; P59
        assert not _unsaid("layers", Operation(said, "alice"))


@pytest.mark.parametrize(
    ("before", "action", "unsaid"),
    [
        ((), Operation(Op.WRITE, "alice", "diagnostics"), False),
        ((CANARY,), Operation(Op.WRITE, "alice", "a"), False),
        ((CANARY,), Operation(Op.WRITE, "alice", "diagnostics"), True),
        ((CANARY,), Operation(Op.WRITE, "alice", "a", Kind.INTENT), True),
        ((CANARY, REVOKED), Operation(Op.EXECUTE, "alice", "a"), True),
        ((REVOKED,), Operation(Op.EXECUTE, "alice", "a"), False),
        ((REVOKED,), Operation(Op.WRITE, "alice", "a"), False),
    ],
)
def test_which_of_two_layers_refuses_is_not_asked(
    before: tuple[Operation, ...], action: Operation, unsaid: bool
) -> None:
    """The permissions, the canary and the barrier are checked in no order that a section names."""
    system = find("markspace").model.systems["layers"]
    config = next(one for one in system.all_configs() if one.layers == {Layer.BARRIER, Layer.PROBE})
    world = next(iter(system.initial(config)))
    for act in before:
        world = system.take(config, world, act).after
    assert system.is_unsaid(config, world, action) is unsaid


@pytest.mark.parametrize(
    ("policy", "kind", "authors", "unsaid"),
    [
        (Policy.YIELD_ALL, Kind.INTENT, ("alice", "alice"), True),
        (Policy.YIELD_ALL, Kind.INTENT, ("alice", "principal"), False),  # none wins
        (Policy.YIELD_ALL, Kind.INTENT, ("alice",), False),
        (Policy.FIRST_WRITER, Kind.INTENT, ("alice", "alice"), False),
        (Policy.FIRST_WRITER, Kind.ACTION, ("alice", "principal"), True),
        (Policy.FIRST_WRITER, Kind.ACTION, ("alice", "alice"), False),
        (Policy.FIRST_WRITER, Kind.ACTION, ("alice", "carol"), False),  # carol's own is no claim against it
    ],
)
def test_which_of_several_marks_counts_is_not_asked(
    policy: Policy, kind: Kind, authors: tuple[str, ...], unsaid: bool
) -> None:
    """Where a policy decides it is asked, and where the answer is one whichever counts."""
    system = find("markspace").model.systems["space"]
    config = next(iter(system.all_configs()))
    config = replace(config, scopes=tuple(replace(one, policy=policy) for one in config.scopes))
    space = next(iter(system.initial(config)))
    for number, author in enumerate(authors, start=1):
        draft = Draft(kind, "a/b", "x", "book" if kind is Kind.INTENT else "booked")
        space = system.take(config, space, Write(author, draft, number)).after
    assert len(space.marks) == len(authors)
    assert system.is_unsaid(config, space, Ask("carol", "a/b", "x")) is unsaid


@pytest.mark.parametrize(
    ("ticks", "enrol", "unsaid"),
    [
        (0, Enrol("agent_2", "key 2"), False),
        (1, Enrol("agent_2", "key 2"), True),  # the open Issue names it
        (1, Enrol("agent_2", "key 3"), False),  # which is refused
        (1, Enrol("agent_3", "key 3"), False),  # no Issue names it
    ],
)
def test_whether_late_agents_take_part_is_not_asked(ticks: int, enrol: Enrol, unsaid: bool) -> None:
    """Section 7.2 has enrolment before assignment, and not what an Issue does that was opened before."""
    system = find("conviction").model.systems["issue"].at(agents=1, strangers=1, outsiders=1)
    config = next(iter(system.all_configs()))
    state = next(iter(system.initial(config)))
    for act in (Invite("agent_2", "key of the administrator"), *(Opened() for _ in range(ticks))):
        state = system.take(config, state, act).after
    assert system.is_unsaid(config, state, enrol) is unsaid


@pytest.mark.parametrize(
    ("comment", "written", "balance", "unsaid"),
    [
        ("xxxx", 1, 7, True),  # too long, and beyond the limit
        ("xxxx", 0, 1, True),  # too long, and too dear
        ("x", 1, 1, True),
        ("xxxx", 0, 7, False),
        ("x", 1, 7, False),
        ("x", 0, 1, False),
        ("x", 0, 7, False),
    ],
)
def test_which_of_two_reasons_refuses_feedback_is_not_asked(
    comment: str, written: int, balance: int, unsaid: bool
) -> None:
    """Sections 11.4 to 11.6 name three reasons, and no order; which agents they meet is another matter."""
    system = find("conviction").model.systems["run"]
    config = next(iter(system.all_configs()))
    constants = replace(config.constants, feedback_length=3, feedback_limit=1, feedback_stake=2)
    config = replace(config, constants=constants)
    one, two = config.agents[0].uid, config.agents[1].uid
    start = next(iter(system.initial(config)))
    seats = tuple(replace(seat, assigned=True, feedback=written, balance=balance) for seat in start.seats)
    proposal = Proposal(two, two, Text("a", "", ""))
    state = replace(start, phase="FEEDBACK", turn=1, seats=seats, proposals=(proposal,))
    said = Feedback(one, config.agents[0].credential, two, comment)
    assert system.is_unsaid(config, state, said) is unsaid
    assert not system.is_unsaid(config, state, replace(said, credential="forged"))


def lax(system: AnySystem) -> AnySystem:
    """The kernel that answers as the model does, but by a word of its own where no section tells."""

    def step(rules: Any, config: Any, state: Any, action: Any) -> tuple[Any, Any]:
        after, shown = system.step(rules, config, state, action)
        assert system.unsaid is not None
        if not system.unsaid(config, state, action):
            return after, shown
        return after, replace(shown, claimed_by="somebody")

    return replace(system, step=step)


def checked(name: str, *, told: bool) -> SystemChecked:
    """Check that kernel at its two quick scopes; `told`: by a system that says what is unsaid."""
    bundle = find("markspace")
    system = bundle.model.systems[name]
    sizes: tuple[dict[str, int], ...] = ({"resources": 2, "levels": 1}, {}) if name in GUARDS else ({},)
    asked = system if told else replace(system, unsaid=None)
    generator = next(one for one in bundle.generators if one.system == name)
    records = [record for _, record in fixtures_of("markspace") if record.system == name]
    effort = CheckEffort(transitions=60, examples=6, liveness=0, pairs=0)
    source = InProcess(factory_of(lax(system)))
    scopes = tuple(asked.at(**one) for one in sizes)
    return check_system(
        "markspace", scopes, (), source, effort=effort, own=asked, generator=generator, records=records, wider=scopes
    )


@pytest.mark.parametrize("name", rest_slow(["first_writer", "deferred", "space"]))
def test_a_kernel_of_another_mind_where_no_section_tells_is_not_accused(name: str) -> None:
    """The same kernel is, where the system does not say what is unsaid; what was left out is counted by kind."""
    found = checked(name, told=True)
    assert not found.defects and sum(found.steps.values()) > 100
    assert {one.why for one in found.left_out} == {UNTOLD} and all(one.count > 0 for one in found.left_out)
    assert checked(name, told=False).defects


def test_walks_and_runs_without_an_agent_take_nothing_unsaid() -> None:
    """A boundary of a second resource is on offer, and an agent left alone is allowed what it was refused before."""
    system = GUARDS["deferred"].at(agents=2, resources=2, levels=1)
    assert system.unsaid is not None
    beyond = set[tuple[Any, Any, Any]]()
    for one, expected in ((system, True), (where_said(system, beyond), False)):
        steps = [step for walk in islice(wandering([one], (), seed=1), 40) for step in walk.steps]
        assert any(system.unsaid(step.config, step.before, step.action) for step in steps) is expected
    assert beyond and all(system.unsaid(*one) for one in beyond)

    guard = GUARDS["first_writer"]
    again = tuple(Act(What.PRE, agent, "r") for agent in ("a", "b", "b"))
    run = Scenario(PLAIN, initial(PLAIN)[0], again)
    ((_, without),) = ((who, run) for who, run in silenced(guard, run, {}, 1) if who == "a")
    assert without.actions == again[1:] and replay(guard, run).steps[2].shown.rejected == ""
    coder = Coder("markspace", guard)
    assert coder.said(coder.trace(without)).scenario.actions == again[1:2]


def test_what_was_left_out_is_told_by_its_reason() -> None:
    """One line for each reason: who gave it, and how many actions of which kind."""
    out = [
        {"kind": "Ask", "count": 1_217, "why": 'the adapter says "no Ask"'},
        {"kind": "Act PRE", "count": 2, "why": UNTOLD},
        {"kind": "Act CALL", "count": 1, "why": UNTOLD},
    ]
    empty: dict[str, Any] = {
        "runs": {},
        "steps": {},
        "covered": [],
        "unsupported": {},
        "not_judged": [],
        "left_open": [],
    }
    lines = [*_covered({"system": "s", "left_out": out, "covered": [], "left_open": [], "notes": [], **empty})]
    assert lines[1:] == [
        '  left out, as the adapter says "no Ask": 1,217 `Ask`',
        "  left out, as no section tells what follows: 2 `Act PRE`, 1 `Act CALL`",
    ]


def test_pages_say_what_is_not_asked_and_what_an_answer_holds() -> None:
    """`Ask` shows the intents that it compared, which its name does not say; the docstrings of `unsaid` are told."""
    page = (FOLDER / "markspace.md").read_text("utf-8")
    assert "`Ask` `candidates`, `claimed_by`, `refused`, `winner`" in page
    assert "`BOUNDARY` `claimed_by`, `considered`, `told`, `winner`" in page
    for protocol in ("markspace", "conviction", "sovereign"):
        said = (FOLDER / f"{protocol}.md").read_text("utf-8").split("## What is not asked")[1].split("\n## ")[0]
        for system in find(protocol).model.systems.values():
            assert (f"`{system.name}`" in said) is (system.unsaid is not None)
            assert system.unsaid is None or (system.unsaid.__doc__ or "").split("\n")[0].strip(".") in said


def test_without_a_step_the_rest_of_a_run_takes_nothing_unsaid() -> None:
    """Not even what was on offer in neither run, as a request beyond the levels of confidence."""
    guard = GUARDS["first_writer"]
    acts = (Act(What.PRE, "b", "r"), Act(What.PRE, "a", "r"), Act(What.PRE, "a", "r", 2))
    trace = replay(guard, Scenario(PLAIN, initial(PLAIN)[0], acts))
    coder = Coder("markspace", guard)
    phase: Any = SimpleNamespace(coder=coder)
    without = Phase._offered(phase, trace, 0)  # pyright: ignore[reportPrivateUsage]
    assert coder.said(without).scenario.actions == acts[1:2]
