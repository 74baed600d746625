"""The report of `evenhand check` as Markdown, HTML and SARIF, from its JSON: the list first, then each finding.

Text from the kernel can neither format, link nor close a tag.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.conform.checking.comparing import differences, in_words, normal
from evenhand.core.canonical import Json, canonical_bytes, digest
from evenhand.core.text import as_code, in_markdown, inert
from evenhand.report.forms.page import allowed, part
from evenhand.report.forms.sarif import one_run, rule_of
from evenhand.report.phrases import gist, plural, some
from evenhand.report.templates import environment

Found = Mapping[str, Any]
LIGHT = ("a wrong record", "a wrong label", "wrong behind another finding", "not fit to be checked alone")
"""How serious a finding is that is a warning and no error for code scanning."""


def checked_forms(report: Found, coverage: Sequence[str]) -> dict[str, bytes]:
    """Return every form of the report by file name; `coverage` says in lines what was run."""
    return {
        "report.html": _html(report, coverage),
        "report.json": canonical_bytes(dict(report)) + b"\n",
        "report.md": ("\n".join(_markdown(report, coverage)) + "\n").encode(),
        "report.sarif": _sarif(report),
    }


def headline(report: Found) -> str:
    """Return one sentence on the result."""
    number = len(report["findings"])
    known = f", {plural(report['known'], 'known one')} left out" if report["known"] else ""
    said = plural(number, "finding") if number else "Nothing found"
    stopped = "Interrupted. " if report["interrupted"] else ""
    return f"{stopped}{said}{known}: {report['kernel']} as a kernel of {report['protocol']}"


def steps_of(one: Found, trace: Sequence[str]) -> list[dict[str, Any]]:
    """Return the steps of a run: the action and what the model shows in words, and what the kernel shows otherwise.

    That is what it showed at first, and where it was asked again what it showed otherwise then.
    """
    again: Sequence[Json] = one.get("again", ())
    made: list[dict[str, Any]] = []
    for place, action in enumerate(trace):
        expected: Json = one["expected"][place] if place < len(one["expected"]) else None
        otherwise = ["no answer"]
        if place < len(one["got"]):
            otherwise = [str(each) for each in differences(normal(expected), normal(one["got"][place]))]
        for said in again[place : place + 1]:
            got = one["got"][place] if place < len(one["got"]) else None
            otherwise += [f"asked again: {each}" for each in differences(normal(got), normal(said))]
        made.append({"action": action, "shown": in_words(expected), "otherwise": otherwise})
    return made


def notes(one: Found) -> Iterator[str]:
    """Yield what is known of a finding, in sentences."""
    for quote in one.get("quotes", ()):
        yield f"The source says {quote}"
    if one["fault"]:
        yield f"The kernel {one['fault']}: {one['why']}"
    elif one["why"]:
        yield one["why"]
    for basis in dict.fromkeys(violation["basis"] for violation in one["violations"]):
        names = [violation["claim"] for violation in one["violations"] if violation["basis"] == basis]
        yield f"Violated, judged on {basis}: {', '.join(names)}."
    if one["also"]:
        yield f"In longer runs also: {some(one['also'])}."
    if one["remarks"]:
        yield f"No accusation: {', '.join(one['remarks'])} would fail if the model's state were the kernel's."
    if one.get("loop"):
        yield f"The last {plural(one['loop'], 'step')} go round for ever."
    if one["behind"]:
        yield f"{plural(one['behind'], 'earlier step')} of this run differ too, by another finding."
    for reading, sentence in one["under"].items():
        yield f"It vanishes under --reading {reading}: {sentence}"
    for sentence in one["alike"][:2]:
        yield f"A kernel that does this shows the same: {sentence}"


def _markdown(report: Found, coverage: Sequence[str]) -> Iterator[str]:
    yield from (f"# {in_markdown(headline(report))}", "")
    if report["findings"]:
        yield from ("| | how serious | what is wrong | claim | steps | systems |", "|---|---|---|---|---|---|")
    for number, one in enumerate(report["findings"], start=1):
        wrong = f"{in_markdown(one['rank'])} | {in_markdown(gist(one))}"
        yield f"| {number} | {wrong} | `{one['claim']}` | {one['length']} | {', '.join(one['systems'])} |"
    for number, one in enumerate(report["findings"], start=1):
        yield from ("", f"## {number}. {in_markdown(one['claim'])}", "", *_finding(one))
    yield from ("", "## What was run", "", *(f"    {inert(line)}" for line in coverage))


def finding_page(one: Found) -> bytes:
    """Return one finding as Markdown, with the kernel that it is about."""
    about = (
        f"{as_code(one['kernel'])} as a kernel of {in_markdown(one['protocol'])}, seen in {plural(one['seen'], 'run')}"
    )
    return "\n".join((f"# {in_markdown(one['claim'])}", "", about, "", *_finding(one), "")).encode()


def _finding(one: Found) -> Iterator[str]:
    yield f"> {in_markdown(one['sentence'])}"
    yield from ((f"> ({in_markdown(one['source'])})",) if one["source"] else ())
    yield from ("", *(f"- {as_code(difference)}" for difference in one["differences"]))
    yield from (f"- {in_markdown(note)}" for note in notes(one))
    yield from ("", "Configuration:", "", *(f"    {line}" for line in one["trace_config"]))
    yield from _table(steps_of(one, one["trace"]))
    if one.get("beside"):
        title = "After this run in the same process:" if one["what"] == "remembers" else "Beside:"
        yield from ("", title, *_table(steps_of(one["beside"], one["trace_beside"])))
    if one["fixture"]:
        yield from ("", f"Reproduce: {as_code(one['reproduce'])}")


def _table(steps: Sequence[Found]) -> Iterator[str]:
    yield from ("", "| | action | the model shows | the kernel shows |", "|---|---|---|---|")
    for number, step in enumerate(steps, start=1):
        otherwise = "<br>".join(f"**differs** {_cell(each)}" for each in step["otherwise"]) or "the same"
        yield f"| {number} | {_cell(step['action'])} | {_cell(step['shown'])} | {otherwise} |"


def _html(report: Found, coverage: Sequence[str]) -> bytes:
    style = part("checked.css")
    made = environment().from_string(part("checked.html.j2"))
    return made.render(
        report=report,
        headline=headline(report),
        coverage=coverage,
        steps_of=steps_of,
        notes=notes,
        gist=gist,
        style=style,
        policy=f"default-src 'none'; style-src {allowed(style)}; base-uri 'none'",
    ).encode()


def _sarif(report: Found) -> bytes:
    rules = {one["claim"]: one for one in report["findings"]}
    order = {name: number for number, name in enumerate(rules)}
    told = [
        rule_of(f"{report['protocol']}/{name}", name, one["sentence"], one["source"]) for name, one in rules.items()
    ]
    results = [_result(report, one, order[one["claim"]]) for one in report["findings"]]
    return one_run(report["versions"], told, results, interrupted=report["interrupted"])


def _result(report: Found, one: Found, rule: int) -> Json:
    steps = [f"{number}. {action}" for number, action in enumerate(one["trace"], start=1)]
    again = [f"Reproduce: {one['reproduce']}"] if one["fixture"] else []
    wrong = f"{one['rank']}: {gist(one)}"
    lines = [wrong, one["sentence"], *one["differences"], *notes(one), *steps, *again]
    made: dict[str, Json] = {
        "ruleId": inert(f"{report['protocol']}/{one['claim']}"),
        "ruleIndex": rule,
        "kind": "fail",
        "level": "warning" if one["rank"] in LIGHT else "error",
        "message": {"text": "\n".join(inert(line) for line in lines).replace("](", "] (")},  # no link
        "partialFingerprints": {"evenhand/v1": digest([one["claim"], one["kinds"]]).removeprefix("sha256:")},
    }
    if one["fixture"]:
        place = {"artifactLocation": {"uri": inert(one["fixture"])}, "region": {"startLine": 1}}
        made["locations"] = [{"physicalLocation": place}]
    return made


def _cell(said: str) -> str:
    """A text as code in a cell of a table."""
    return as_code(said).replace("|", "\\|")
