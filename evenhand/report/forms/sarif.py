"""A report as SARIF 2.1.0, which code scanning reads: a rule for each claim, a result for each verdict to look at.

A claim that holds as expected yields no result.  A verdict REFUTED or UNDECIDED as expected is `informational`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evenhand.core.canonical import Json, canonical_bytes, digest
from evenhand.core.text import inert
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding
from evenhand.report.about import About
from evenhand.report.phrases import where, word
from evenhand.report.report import Report, Standing

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(report: Report) -> bytes:
    """Return the report as one SARIF run, in canonical JSON."""
    rules = {_rule_id(claim.protocol, claim.claim): claim for claim in report.claims}
    for finding in report.findings:  # a claim without a description still needs its rule
        key = _rule_id(finding.protocol, finding.claim)
        rules.setdefault(key, About(finding.protocol, finding.claim, finding.sentence, "", ""))
    order = {rule: number for number, rule in enumerate(rules)}
    told = [_rule(name, claim) for name, claim in rules.items()]
    results = [_result(report, f, rules, order) for f in _to_look_at(report)]
    return one_run(report.versions, told, results, interrupted=report.interrupted)


def one_run(versions: Mapping[str, str], rules: list[Json], results: list[Json], *, interrupted: bool) -> bytes:
    """Return a file of SARIF with one run."""
    driver: dict[str, Json] = {"name": "evenhand", "version": versions.get("evenhand", "0"), "rules": rules}
    run: dict[str, Json] = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not interrupted}],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return canonical_bytes({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def rule_of(name: str, claim: str, sentence: str, source: str) -> dict[str, Json]:
    """Return the rule of a claim."""
    cited = f" Source: {source}." if source else ""
    return {
        "id": inert(name),
        "name": inert(claim),
        "shortDescription": {"text": inert(sentence) or inert(name)},
        "fullDescription": {"text": f"{inert(sentence)}{inert(cited)}" or inert(name)},
    }


def _to_look_at(report: Report) -> Iterator[Finding]:
    for finding in report.findings:
        standing = report.standing(finding)
        settled = finding.status is Status.HOLDS and standing in (Standing.EXPECTED, Standing.BETTER)
        if not settled and standing is not Standing.LEFT_OPEN:
            yield finding


def _rule_id(protocol: str, claim: str) -> str:
    return f"{protocol}/{claim}"


def _rule(name: str, claim: About) -> dict[str, Json]:
    made = rule_of(name, claim.claim, claim.sentence, claim.source)
    return {**made, "properties": {"kind": inert(claim.kind)}}


def _result(report: Report, finding: Finding, rules: dict[str, About], order: dict[str, int]) -> dict[str, Json]:
    rule = _rule_id(finding.protocol, finding.claim)
    unexpected = report.standing(finding) is Standing.UNEXPECTED
    level = "warning" if finding.status is Status.UNDECIDED else "error"
    steps = f" in {finding.length} steps" if finding.length is not None else ""
    stated = "" if finding.expected is Status.HOLDS else f" Expected {finding.expected.value}: {finding.stated}"
    text = f"{word(finding)}{steps} by {finding.engine}, {where(finding)}. {finding.because}{stated}"
    again = f"\nReproduce: {finding.command}" if finding.command else ""
    made: dict[str, Json] = {
        "ruleId": inert(rule),
        "ruleIndex": order[rule],
        "kind": "fail" if unexpected else "informational",
        "level": level if unexpected else "none",
        "message": {"text": inert(text) + "".join(f"\n{inert(line)}" for line in again.splitlines() if line)},
        # the same for the same finding in the next run, whatever else was found
        "partialFingerprints": {"evenhand/v1": digest([*map(inert, finding.group), finding.engine])[len("sha256:") :]},
    }
    if rules[rule].file:
        made["locations"] = [_location(rules[rule])]
    if finding.story is not None and rules[rule].file:
        # always the claim's place, because the steps are data and not code
        told = ({"location": _location(rules[rule], message={"text": inert(line)})} for line in finding.trace)
        made["codeFlows"] = [{"threadFlows": [{"locations": list(told)}]}]
    return made


def _location(claim: About, **more: Json) -> dict[str, Json]:
    place = {"artifactLocation": {"uri": inert(claim.file)}, "region": {"startLine": claim.line}}
    return {"physicalLocation": place, **more}
