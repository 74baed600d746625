"""Every planted fault is told, and none twice: mutants stacked in one kernel, and findings brought together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest

from evenhand.conform.adapters.model import factory_of
from evenhand.conform.checking import baseline
from evenhand.conform.checking.baseline import identity, load_baseline
from evenhand.conform.checking.causes import Cause, Seriousness, alone, causes, gravest_first, seriousness
from evenhand.conform.checking.claims import Basis, Violation
from evenhand.conform.checking.comparing import Difference
from evenhand.conform.checking.defects import MOSTLY
from evenhand.conform.checking.divergence import Divergence
from evenhand.conform.checking.duties import DISAGREES
from evenhand.conform.checking.files import save_finding
from evenhand.conform.checking.finding import finding_json, recheck
from evenhand.conform.checking.kinds import one_reason, same_words
from evenhand.conform.checking.likeness import lacking, too_much
from evenhand.conform.checking.loop import EXHAUSTIVE, MACHINE, CheckEffort, SystemChecked, check_system, scopes_of
from evenhand.conform.checking.ordering import Defect, ever_present
from evenhand.core.codec import encode
from evenhand.core.kernel import Unsupported
from evenhand.core.kinds import Always, EachStep, Monitor
from evenhand.core.parts import part
from evenhand.core.plan import Expectation, refuted
from evenhand.core.registry import find
from evenhand.core.system import AnySystem, Mutant
from evenhand.core.trace import Scenario, replay
from evenhand.evidence.known import BadBaseline
from evenhand.evidence.record import BadRecord
from tests.deep import rest_deep, rest_slow
from tests.front.conform.in_process import InProcess

PLANTED = [
    ("apcm", "universe", ["any_arity_accepted", "digest_ignored"]),
    ("conviction", "issue", ["ready_signalled_twice", "stake_not_burned"]),
    ("cud", "conditions", ["tie_break_by_action_id", "open_world_allow"]),
    ("cud", "conditions", ["lost_update", "violation_told_as_executed"]),
    ("markspace", "meddled", ["name_wins", "holders_kept_out", "tools_run_unasked"]),
    ("markspace", "highest_confidence", ["confidence_ignored", "tools_run_unasked"]),
    ("apcm", "conditions", ["necessity_ignores_preservations", "selector_peeks_at_apcm"]),
    ("conviction", "run", ["self_stake_counts_in_a_tie", "substituted_stakes_nothing"]),
    ("conviction", "run", ["feedback_on_own_proposal", "self_stake_on_credit"]),
    ("cud", "conditions", ["scope_not_checked", "own_message_echoed"]),
    ("markspace", "meddled", ["name_wins", "holders_kept_out"]),
    ("sovereign", "session", ["budget_ignored", "hash_covers_the_author"]),
]
"""Faults in one kernel, drawn by chance from those that are found alone with this effort; the cheapest first."""

A, B = "E_FALSE_COLLISION", "E_GRATUITOUS_VIOLATION"
"""Two words of apcm."""

EFFORT = CheckEffort(1_500, 40, phases=(EXHAUSTIVE, MACHINE))


def stacked(rules: Any, mutants: Sequence[Mutant[Any]]) -> Any:
    """Return the rules with the changes of every mutant."""
    changes = {
        one.name: getattr(mutant.rules, one.name)
        for mutant in mutants
        for one in fields(rules)
        if getattr(mutant.rules, one.name) != getattr(rules, one.name)
    }
    return replace(rules, **changes)


def planted(protocol: str, name: str, faults: Sequence[str]) -> tuple[AnySystem, SystemChecked, list[AnySystem]]:
    """Check a kernel with all the faults; return the system, the result, and the kernel with each fault alone.

    The planted mutants are unknown to the checker, as a stranger's faults are.
    """
    bundle = find(protocol)
    system = bundle.model.systems[name]
    by_name = {one.name: one for one in bundle.model.mutants}
    mutants = [by_name[fault] for fault in faults]
    scope = scopes_of(bundle, system)[0]
    kernel = replace(system, rules=stacked(system.rules, mutants))
    found = check_system(
        protocol,
        [scope],
        bundle.claims,
        InProcess(factory_of(kernel)),
        own=scope,
        generator=next((one for one in bundle.generators if one.system == name), None),
        mutants=[one for one in bundle.model.mutants if one.name not in faults],
        effort=EFFORT,
    )
    return system, found, [replace(system, rules=stacked(system.rules, [one])) for one in mutants]


@pytest.mark.parametrize(
    ("protocol", "system", "faults"),
    [PLANTED[0], *rest_slow(PLANTED[1:6], 0), *rest_deep(PLANTED[6:], 0)],
    ids=lambda one: str(one)[:60],
)
def test_each_of_several_faults_is_told(protocol: str, system: str, faults: list[str]) -> None:
    """For each fault there is a finding whose run shows it, and there are few findings more."""
    reference, found, single = planted(protocol, system, faults)
    runs = [one.defect.divergence.scenario for one in causes([(reference, found.defects)])]
    for name, kernel in zip(faults, single, strict=True):
        shows = [run for run in runs if _shown(kernel, run) != _shown(reference, run)]
        assert shows, f"{name} is not told"
    assert len(faults) <= len(runs) <= len(faults) + 1
    assert found.explained == found.divergences


def _shown(system: AnySystem, run: Any) -> list[Any]:
    return [encode(step.shown) for step in replay(system, run).steps]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (['why: late / ""', "paid: more"], ["why: late / poor"], True),
        (['why: "" / late'], ["why: poor / late"], True),
        (['why: late / ""'], ["why: poor / late"], False),  # one overlooks lateness, one sees it where it is not
        (["why: late / poor"], ["why: late / shut"], False),  # neither shows that lateness alone is overlooked
        (['why: late / ""', "paid: more"], ["why: late / poor", "seat: less"], False),
        (['code: late / ""'], ["why: late / poor"], False),
        (["to: CONFLICT / ALLOW"], ["to: CONFLICT / BLOCKED"], False),
        (["errors[]: Error late / nothing", "ok: false / true"], ["errors[#].code: late / poor"], True),
        (["errors[]: Error late / nothing"], ["errors[#].code: poor / late"], False),
        (["errors[]: Error late / nothing"], ["errors[]: Error poor / nothing"], False),
        (["errors[]: late / nothing"], ["errors[]: late / nothing", "ok: false / true"], False),
        (["errors[]: Error late / nothing"], ["errors[#].code: late / poor", "errors[#].field: · / ·"], False),
        (['seats[#].why: late / ""', "seats[#].row: less"], ["seats[#].why: late / poor", "seats[#].row: less"], True),
    ],
)
def test_a_reason_that_is_overlooked_is_one_cause(one: list[str], other: list[str], same: bool) -> None:
    """Whatever the kernel says instead; the order of the two does not matter."""
    kinds = frozenset(one), frozenset(other)
    assert one_reason(*kinds) == one_reason(*reversed(kinds)) == same


@pytest.mark.slow
def test_every_sighting_is_explained_by_a_finding() -> None:
    """Two faults, thousands of runs: the counts of the findings are the count of the differing runs."""
    _, found, _ = planted("conviction", "issue", ["ready_signalled_twice", "stake_not_burned"])
    assert sum(one.count for one in found.defects) == found.divergences > len(found.defects)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (["errors[]: Error LATE / nothing", "open[]: nothing / ·"], ["errors[]: Error LATE / nothing"], True),
        (["errors[]: Error LATE / nothing", "facts.over: DONE / null"], ["errors[]: Error LATE / nothing"], True),
        (["errors[]: Error LATE / nothing"], ["errors[]: nothing / Error LATE"], False),
        (["errors[]: Error LATE / nothing"], ["errors[]: Error LATE / nothing", "over: null / DONE"], False),
        (["open[]: nothing / ·"], ["open[]: nothing / ·", "shut[]: · / nothing"], False),  # nothing is said in words
    ],
)
def test_what_differs_alike_in_the_words_of_the_protocol_is_one_cause(
    one: list[str], other: list[str], same: bool
) -> None:
    """Whatever follows from it."""
    assert same_words(frozenset(one), frozenset(other), frozenset({"LATE", "DONE"})) == same


def test_the_same_reason_is_overlooked_whatever_claims_object() -> None:
    """Both must show it alone; another reason in its place is no sign of it then."""
    accepts, refuses = frozenset({'why: over / ""', "to: null / YES"}), frozenset({'why: over / ""', "to: null / NO"})
    assert one_reason(accepts, refuses, same=True)
    assert one_reason(accepts, frozenset({"why: over / shut"})) and not one_reason(
        accepts, frozenset({"why: over / shut"}), same=True
    )


@pytest.mark.slow
def test_one_cause_in_two_systems_is_one_finding() -> None:
    """Both systems are named; the most serious finding stands first."""
    made = [planted("apcm", name, ["rule_1_dropped"])[:2] for name in ("conditions", "universe")]
    found = causes((system, one.defects) for system, one in made)
    assert set(found[0].systems) == {"conditions", "universe"}
    assert [one.seriousness for one in found] == sorted(one.seriousness for one in found)
    assert found[0].seriousness is Seriousness.DECISION


@pytest.mark.parametrize(
    ("false", "kept", "headline"),
    [
        (refuted("the text says so"), True, "kept"),
        (refuted("the text says so", system="another"), True, "kept"),
        (refuted("the text says so"), False, "kernel_agrees_with_model"),
        (refuted("the text says so", system="another"), False, "false"),
        (refuted("read otherwise", clock="gated"), True, "false"),
    ],
)
def test_a_claim_that_the_protocol_refutes_heads_no_finding(false: Expectation, kept: bool, headline: str) -> None:
    """Although it is false on a surer basis; but it does where the text refutes it elsewhere, or read otherwise."""
    system = find("apcm").model.systems["universe"]
    claims = [
        Always(name=name, sentence="", expected=some, check=lambda _config, _state: True)
        for name, some in (("false", (false,)), ("kept", ()))[: 1 + kept]
    ]
    bases = (Basis.SHOWN, Basis.BEFORE)
    objections = tuple(Violation(claim, 1, basis) for claim, basis in zip(claims, bases, strict=False))
    (found,) = causes([(system, [Defect(replace(differing({"paid: more"}), violations=objections), 1)])])
    assert found.headline == headline


@pytest.mark.parametrize(
    ("more", "headline"), [(("shared",), "kernel_agrees_with_model"), (("shared", "own"), "own"), ((), None)]
)
def test_a_claim_that_a_smaller_finding_explains_heads_no_other(more: tuple[str, ...], headline: str | None) -> None:
    """A halt that is called a gridlock beside a missing error is no news about the error."""
    system = find("apcm").model.systems["universe"]
    claims = {
        name: Always(name=name, sentence="", check=lambda _config, _state: True) for name in ("first", "shared", "own")
    }
    made = [
        Defect(
            replace(differing(kinds), violations=tuple(Violation(claims[name], 1, Basis.SHOWN) for name in names)), 1
        )
        for kinds, names in (
            ({"gridlock: false / true"}, ("first", "shared")),
            ({"gridlock: false / true", f"errors[]: Error {A} / nothing"}, more),
        )
    ]
    small, *large = sorted(causes([(system, made)]), key=lambda one: len(one.defect.divergence.kinds))
    assert small.headline == "first"
    assert [one.headline for one in large] == [headline or "kernel_agrees_with_model"]


def test_a_claim_about_one_step_heads_a_finding_before_one_about_a_run() -> None:
    """What is wrong in a step may also break what holds ever after; though another finding violates the first too."""
    system = find("apcm").model.systems["universe"]
    step = EachStep(name="step", sentence="", check=lambda _step: True)
    run = Monitor(name="run", sentence="", start=lambda _: 0, update=lambda _, __: 0, ok=lambda _, __: True)
    made = [
        Defect(replace(differing({kind}), violations=tuple(Violation(one, 1, Basis.BEFORE) for one in claims)), 1)
        for kind, claims in (("paid: more", (run, step)), ("seat: less", (step,)))
    ]
    assert [one.headline for one in causes([(system, made)])] == ["step", "step"]


def differing(kinds: set[str]) -> Divergence:
    """A run of one action in which so much differs."""
    return Divergence(Scenario(None, None, (1,)), "machine", "differs", frozenset(kinds), "", (), ())


def joined(
    one: set[str], other: set[str], *, claims: str = "", alike: tuple[str, str] = ("", ""), behind: int = 0
) -> bool:
    """Whether two findings with these kinds are one; `claims` object to each, and mutants look `alike`."""
    system = find("apcm").model.systems["universe"]
    made = [
        Defect(replace(differing(kinds), behind=behind), 1, alike=frozenset(names))
        for kinds, names in zip((one, other), alike, strict=True)
    ]
    for place, name in enumerate(claims):
        held = Violation(Always(name=name, sentence="", check=lambda _config, _state: True), 1, Basis.SHOWN)
        made[place] = replace(made[place], divergence=replace(made[place].divergence, violations=(held,)))
    found = {
        (len(causes(zip(systems, ([some] for some in order), strict=True))))
        for systems in ((system, system), (system, replace(system, name="another")))
        for order in (made, made[::-1])
    }
    (number,) = found  # in one system or two, in either order
    return number == 1


@pytest.mark.parametrize(
    ("one", "other", "claims", "same"),
    [
        ({"ok: less", "a: P / Q"}, {"ok: less", "b: P / Q"}, "aa", True),
        ({"ok: less", "a: P / Q"}, {"ok: less", "b: P / Q"}, "ab", False),
        ({"ok: less", "a: P / Q"}, {"ok: less", "b: P / Q"}, "", False),
        ({"ok: less", "a: P / Q"}, {"ok: more", "b: P / Q"}, "aa", False),
    ],
)
@pytest.mark.parametrize("alike", [("", ""), ("a", ""), ("ab", "bc"), ("a", "b")])
def test_one_claim_that_objects_to_what_two_have_in_common_makes_them_one(
    one: set[str], other: set[str], claims: str, same: bool, alike: tuple[str, str]
) -> None:
    """Unless each has mutants of its own."""
    assert joined(one, other, claims=claims, alike=alike) == (same and alike != ("a", "b"))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({f"errors[#].code: {A} / {B}"}, {f"errors[]: Error {A} mode / nothing", "ok: false / true"}, True),
        ({f"errors[]: Error {A} / nothing"}, {f"why: {A} / nothing"}, True),
        ({f"errors[]: Error {A} / nothing", "a: P / Q"}, {f"errors[]: Error {B} / nothing", "b: P / Q"}, False),
        ({f"errors[]: Error {A} / nothing"}, {f"errors[]: nothing / Error {A}"}, False),
        ({f"errors[#].code: {A} / {B}", f"errors[#].code: {B} / {A}"}, {f"errors[]: Error {A} / nothing"}, False),
        ({"errors[]: Error other / nothing"}, {"errors[#].code: other / mine"}, False),
        ({f"code: {A} first / {A} second"}, {f"why: {A} third / {A} last"}, False),
        ({f"events[]: Event Staked {A} / nothing"}, {f"of: {A} / ·", "score: Surd / ·"}, False),
    ],
)
def test_a_reason_that_is_overlooked_is_one_cause_whatever_is_shown_instead(
    one: set[str], other: set[str], same: bool
) -> None:
    """If it is a word of the protocol, and neither shows it elsewhere or overlooks another one too.

    A word beside which other values are missing in either is no reason, but a name, as that of the proposal to do
    nothing: an entry that names it is lost, or another proposal wins.
    """
    assert joined(one, other) == same
    assert not joined(one, other, alike=("a", "b"))


@pytest.mark.parametrize(
    ("alike", "same"), [(("a", "a"), True), (("a", "ab"), True), (("a", "b"), False), (("a", ""), False)]
)
def test_two_forms_that_the_same_mutants_explain_are_one_finding(alike: tuple[str, str], same: bool) -> None:
    """Though nothing that differs is the same."""
    assert joined({"paid: more"}, {"seat: less"}, alike=alike) == same


def test_what_differs_alike_is_one_finding_that_has_the_mutants_of_all_its_runs() -> None:
    """The mutants of one system are not those of another; what one of them explains elsewhere is the same finding."""
    assert joined({"paid: more"}, {"paid: more"}, alike=("a", "b"))
    system = find("apcm").model.systems["universe"]
    made = [
        Defect(differing({kind}), 1, alike=frozenset(name))
        for kind, name in (("paid: more", "a"), ("paid: more", "b"), ("seat: less", "b"))
    ]
    found = causes((replace(system, name=name), [one]) for name, one in zip("xyz", made, strict=True))
    assert [one.seen for one in found] == [3]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"name: CONFLICT / DENIED"}, {"name: BLOCKED / DENIED"}, True),
        ({"name: CONFLICT / DENIED"}, {"name: CONFLICT / BLOCKED"}, False),
        ({f"code: {A} / taken"}, {f"code: {B} / taken"}, True),
        ({"paid: more"}, {"paid: more", "seat: less"}, True),
        ({"paid: more", "seat: less"}, {"paid: more", "ok: less"}, False),
        ({"paid: more"}, {"paid: more", f"code: {A} / taken"}, False),
    ],
    ids=["whatever is due", "something else is shown", "whatever word is due", "and more", "more in either", "a word"],
)
def test_what_a_kernel_shows_in_two_runs_is_one_finding(one: set[str], other: set[str], same: bool) -> None:
    """Whatever it should show; or the same and more, if no word of the protocol is overlooked beside it."""
    assert joined(one, other) == same
    assert not joined(one, other, alike=("a", "b"))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [({"why: late / poor"}, {"why: late / shut"}, True), ({"why: late / poor"}, {"paid: more"}, False)],
)
def test_what_lies_behind_other_differences_in_one_place_is_one_finding(
    one: set[str], other: set[str], same: bool
) -> None:
    """Nobody knows what the kernel should have shown there."""
    assert joined(one, other, behind=1) == same and not joined(one, other)


@pytest.mark.parametrize(("runs", "number"), [(14, 2), (15, 1)])
def test_what_most_runs_show_joins_nothing_that_shows_more(runs: int, number: int) -> None:
    """A fault of half the runs stands beside each other one; where it is rarer, the same and more is a form of it."""
    system = find("apcm").model.systems["universe"]
    made = [Defect(differing({"paid: more"}), 6), Defect(differing({"paid: more", "seat: less"}), 1)]
    assert len(causes([(system, made)], ever_present(made, MOSTLY * runs))) == number


@pytest.mark.parametrize(
    ("whats", "kinds", "number"),
    [
        (("mutates", "mutates"), ({"a"}, {"b"}), 1),
        (("violates", "violates"), (set[str](), set[str]()), 2),
        (("differs", "relates"), ({"a"}, {"a"}), 2),
    ],
    ids=["it changes what it is given, whatever", "nothing differs, a claim objects", "two runs show it, or one"],
)
def test_what_is_wrong_tells_findings_apart_before_what_differs(
    whats: tuple[Any, Any], kinds: tuple[set[str], set[str]], number: int
) -> None:
    """Unless the kernel changes what it is given."""
    system = find("apcm").model.systems["universe"]
    made = [Defect(replace(differing(some), what=what), 1) for what, some in zip(whats, kinds, strict=True)]
    assert len(causes([(system, made)])) == number


@pytest.mark.parametrize("order", [1, -1])
def test_a_kernel_that_remembers_is_not_told_to_waver_too(order: int) -> None:
    """Also in one system, and though a mutant shows the one answer by chance."""
    system = find("apcm").model.systems["universe"]
    remembers = Defect(replace(differing({"remembers"}), what="remembers"), 1)
    wavers = Defect(replace(differing({"non-deterministic"}), what="non-deterministic"), 1, alike=frozenset("a"))
    differs = Defect(differing({"paid: more"}), 1)
    for split in (1, 3):
        defects = [remembers, differs, wavers][::order]
        found = causes([(system, defects[:split]), (replace(system, name="x"), defects[split:])])
        assert sorted(one.defect.divergence.what for one in found) == ["differs", "remembers"]


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({"log[]: EXITED / nothing", "log[]: REFUSED / nothing"}, True),
        ({"log[]: EXITED / nothing", "tokens[]: EXITED / nothing"}, False),
        ({"sent[]: EXITED / nothing"}, False),
        ({"log[]: nothing / EXITED"}, False),
    ],
    ids=["other lines of it", "something else is missing", "another list", "too much"],
)
def test_lines_of_one_list_that_are_lost_are_one_finding(other: set[str], same: bool) -> None:
    """Whatever they would say, if nothing else differs."""
    assert lacking(differing({"log[]: EXECUTED / nothing"}), differing(other)) == same


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({"rejected[]: nothing / true", "exits[]: · / nothing", "facts.epoch: more"}, True),
        ({"rejected[]: nothing / late", "tokens[]: NO_ACTION / nothing"}, False),
        ({"rejected[]: nothing / true", "log[#].outcome: EXECUTED / FAULT"}, False),
        ({"tokens[]: EXECUTED / nothing"}, False),
        ({"rejected[]: nothing / true"}, True),
    ],
    ids=["something else is missing", "another word", "something else is shown", "nothing is too much", "alone"],
)
def test_the_same_too_much_is_one_finding_whatever_is_missing_beside_it(other: set[str], same: bool) -> None:
    """A kernel that refuses whatever comes lacks what was asked for."""
    assert (
        too_much(differing({"rejected[]: nothing / true", "tokens[]: NO_ACTION / nothing"}), differing(other)) == same
    )


def known(tmp_path: Path) -> tuple[Cause, dict[str, Any]]:
    """Return a finding and its record, written to a folder."""
    system, found, _ = planted("apcm", "universe", ["digest_ignored"])
    cause = alone(system, found.defects[0])
    data = finding_json("apcm", cause, find("apcm").claims, claims_only=False, kernel="here")
    save_finding(data, tmp_path, "module:factory")
    return cause, data


@pytest.mark.slow
def test_a_known_finding_is_not_told_again(tmp_path: Path) -> None:
    """A folder of records knows its findings, and no others."""
    _, data = known(tmp_path)
    before = load_baseline(tmp_path)
    assert before.has(identity(data)) and not load_baseline(None).has(identity(data))
    assert not before.has(identity({**data, "claim": "another"}))
    assert not before.has(identity({**data, "kinds": ["something else"]}))
    assert before.has(identity({**data, "kinds": [*data["kinds"], "tokens[#]: a / b"]}))


@pytest.mark.parametrize(
    ("new", "is_known"),
    [
        ({}, True),
        ({"kinds": ["label: a / b", "tokens: c / d"], "alike": ["a fault", "another"]}, True),
        ({"kinds": ["label: a / b", "tokens: c / d"], "alike": ["another"]}, False),
        ({"kinds": []}, False),
        ({"claim": DISAGREES}, True),
        ({"claim": DISAGREES, "kinds": ["label: a / b", "tokens: c / d"]}, False),
    ],
)
def test_a_known_finding_hides_no_other(tmp_path: Path, new: dict[str, Any], *, is_known: bool) -> None:
    """With the same head, where the check itself would tell the two apart."""
    one = {"protocol": "p", "what": "differs", "claim": new.get("claim", "c"), "kinds": ["label: a / b"]}
    old = {**one, "alike": ["a fault"]}
    (tmp_path / "known.json").write_text(json.dumps({"format": "evenhand/check", "findings": [old]}))
    assert load_baseline(tmp_path / "known.json").has(identity({**old, **new})) == is_known


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"format":"evenhand/check"}', b'{"format":"other"}'])
def test_a_baseline_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    """With the file and the next step."""
    path = tmp_path / "known.json"
    path.write_bytes(content)
    with pytest.raises(BadBaseline, match=r"known\.json: .+\."):
        load_baseline(path)


def test_a_broken_record_in_a_baseline_is_told_as_one(tmp_path: Path) -> None:
    """As where it is replayed."""
    (tmp_path / "known.json").write_text('{"format": "evenhand/kernel-finding", "version": 1}')
    with pytest.raises(BadRecord, match=r"known\.json: .+\."):
        load_baseline(tmp_path)


def test_a_folder_too_large_for_a_baseline_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a whole disk is read."""
    monkeypatch.setattr(baseline, "MOST", 2)
    (tmp_path / "one" / "two" / "three").mkdir(parents=True)
    with pytest.raises(BadBaseline, match=r"more than 2 files and folders\. Give a folder of records"):
        load_baseline(tmp_path)


@pytest.mark.slow
def test_a_finding_that_the_kernel_does_not_take_is_skipped(tmp_path: Path) -> None:
    """Never passed."""
    known(tmp_path)
    (record,) = (one for one in (tmp_path / "apcm").glob("*.json") if not one.name.endswith(".itf.json"))

    def refusing(_initial: Any) -> Any:
        raise Unsupported("not here")

    again = recheck(record, InProcess(refusing))
    assert again.skipped and not again.ok
    with pytest.raises(SkipTest, match="not here"):
        again.raise_if_found()


@dataclass(frozen=True)
class Parts:
    """An observation with a field of each part."""

    verdict: str = ""
    effects: tuple[str, ...] = field(default=(), metadata=part("effect"))
    log: str = field(default="", metadata=part("record"))
    name: str = field(default="", metadata=part("label"))


@pytest.mark.parametrize(
    ("paths", "rank"),
    [
        (["effects[]"], Seriousness.OUTSIDE),
        (["effects[]", "log"], Seriousness.OUTSIDE),
        (["effects[]", "verdict"], Seriousness.UNWARRANTED),
        (["verdict", "log", "name"], Seriousness.DECISION),
        (["log", "name"], Seriousness.RECORD),
        (["facts.world[0][1]", "name"], Seriousness.RECORD),
        (["name", "facts.conclusion.terminal"], Seriousness.LABEL),
    ],
    ids=str,
)
def test_a_difference_is_as_serious_as_what_it_tells_of(paths: list[str], rank: Seriousness) -> None:
    """An effect too much is graver than a decision, a record or a label."""
    system: Any = replace(find("apcm").model.systems["universe"], types=(Parts,))
    found = Divergence(
        Scenario(None, None, (1,)),
        "exhaustive",
        "differs",
        frozenset(),
        "",
        ({"$": "Parts"},),
        (None,),
        tuple(Difference(path, None, '"x"') for path in paths),
    )
    assert seriousness(system, found) is rank
    backwards = replace(found, differences=found.differences[::-1])
    first = gravest_first(system, backwards)[0].path
    assert first in (paths if rank is Seriousness.LABEL else paths[:1]), "what makes it so serious is told first"
    lacks = replace(found, differences=tuple(Difference(path, '"x"', None) for path in paths))
    effect = rank in (Seriousness.OUTSIDE, Seriousness.UNWARRANTED)
    assert seriousness(system, lacks) is (Seriousness.DECISION if effect else rank)


def test_a_part_is_one_of_four() -> None:
    """Another word is refused where it is declared."""
    with pytest.raises(ValueError, match="a field tells of effect, decision, record, label"):
        part("deed")  # type: ignore[arg-type]
