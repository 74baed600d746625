"""A report as JUnit XML, which CI servers read: a suite for each protocol, a case for each verdict.

An unexpected refutation, or an expected one that is gone, is a failure.  An unexpected UNDECIDED is an error, never a
skip; an expected one is skipped with its reason, and so is what sampling leaves open and another engine decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from evenhand.core.text import inert
from evenhand.core.verdict import Status
from evenhand.evidence.finding import Finding, sizes_of
from evenhand.report.about import About
from evenhand.report.phrases import refutation, where
from evenhand.report.report import Report, Standing


def junit(report: Report) -> bytes:
    """Return the report as JUnit XML, UTF-8; characters that XML cannot hold are spelled out."""
    root = ET.Element("testsuites", name="evenhand")
    about = {(claim.protocol, claim.claim): claim for claim in report.claims}
    for protocol in dict.fromkeys(finding.protocol for finding in report.findings):
        root.append(_suite(protocol, list(_cases(report, protocol, about))))
    if report.interrupted:
        case = ET.Element("testcase", classname="evenhand", name="the run was finished")
        formatted = f"interrupted; not finished: {', '.join(report.unfinished) or 'nothing'}"
        ET.SubElement(case, "error", message=formatted)
        root.append(_suite("run", [case]))
    for element in root.iter():  # XML cannot represent control characters
        element.attrib.update({name: inert(value) for name, value in element.attrib.items()})
        element.text = "\n".join(map(inert, element.text.split("\n"))) if element.text else None
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _suite(name: str, cases: list[ET.Element]) -> ET.Element:
    counts = Counter(child.tag for case in cases for child in case)
    numbers = {
        "tests": len(cases),
        "failures": counts["failure"],
        "errors": counts["error"],
        "skipped": counts["skipped"],
    }
    suite = ET.Element("testsuite", {"name": name, **{word: str(number) for word, number in numbers.items()}})
    suite.extend(cases)
    return suite


def _cases(report: Report, protocol: str, about: dict[tuple[str, str], About]) -> Iterator[ET.Element]:
    seen: Counter[tuple[str, str]] = Counter()
    for finding in report.findings:
        if finding.protocol != protocol:
            continue
        classname = ".".join(part for part in (protocol, finding.system, finding.claim) if part)
        name = " ".join(part for part in (finding.engine, _sizes(finding), where(finding)) if part)
        seen[classname, name] += 1
        if seen[classname, name] > 1:
            name = f"{name} #{seen[classname, name]}"
        case = ET.Element("testcase", classname=classname, name=name)
        written = about.get((protocol, finding.claim))
        if written is not None and written.file:
            case.set("file", written.file)
            case.set("line", str(written.line))
        _outcome(case, report, finding)
        yield case


def _sizes(finding: Finding) -> str:
    return ",".join(filter(None, (sizes_of(finding, ","), str(finding.scope.get("fixture", "")))))


def _outcome(case: ET.Element, report: Report, finding: Finding) -> None:
    standing, because = report.standing(finding), finding.because or finding.stated
    if standing is Standing.UNEXPECTED and finding.status is Status.UNDECIDED:
        ET.SubElement(case, "error", type="UNDECIDED", message=because or "undecided")
    elif standing is Standing.UNEXPECTED:
        formatted = (
            because if finding.status is Status.REFUTED else f"was expected {finding.expected.value} and now holds"
        )
        failure = ET.SubElement(case, "failure", type=finding.status.value, message=formatted or "refuted")
        failure.text = "\n".join(refutation(finding)) if finding.status is Status.REFUTED else formatted
    elif finding.status is Status.UNDECIDED:
        ET.SubElement(case, "skipped", type="UNDECIDED", message=f"{standing.value}: {because}")
