"""The table of a report, claim by engine, its summary, and what to try next.

Text goes into rich as `Text`, never as markup, after `inert`: names and values cannot colour, move or hide
anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from evenhand.core.grouping import grouped
from evenhand.core.text import inert
from evenhand.core.verdict import Status
from evenhand.evidence.finding import STOPPED, Finding, sizes_of
from evenhand.report.phrases import Word, both, counted, hold, plural, refutation, word
from evenhand.report.report import Report, Standing

_RANK = {Status.REFUTED: 0, Status.UNDECIDED: 1, Status.HOLDS: 2}
_MARK = {Standing.UNEXPECTED: "!", Standing.BETTER: "+"}
STYLE = {
    Word.REFUTED: "red",
    Word.UNDECIDED: "yellow",
    Word.HOLDS: "green",
    Word.KILLED: "magenta",
    Word.REPRODUCED: "cyan",
}


def print_report(console: Console, report: Report) -> None:
    """Print the report: a table per protocol, unexpected refutations in full, the summary, what to try next."""
    for protocol in dict.fromkeys(finding.protocol for finding in report.findings):
        for one in tables(report, protocol):
            console.print(one)
    marks = {mark: report.standing(finding).value for finding in report.findings if (mark := _mark(report, finding))}
    print_lines(console, [f"{mark} {words}" for mark, words in sorted(marks.items())])
    print_lines(console, surprises(report))
    stated = [f for f in report.refuted if f not in report.unexpected and word(f) is Word.REFUTED]
    if stated:
        print_lines(console, ["", "refuted as expected; each is reproduced by:"])
        print_lines(console, [f"  {inert(f.claim)}: {line}" for f in stated for line in f.command.splitlines()])
    print_lines(console, ["", *closing(report)])


def surprises(report: Report) -> Iterator[str]:
    """Yield what is unexpected: the first refutations in full, the command of the others, what is undecided and why."""
    unexpected = [f for f in report.unexpected if f.status is Status.REFUTED]
    for finding in unexpected[:FULL]:
        yield from ("", *refutation(finding))
    for finding in unexpected[FULL:]:
        yield from (f"{word(finding)}  {inert(finding.claim)}, too: {line}" for line in finding.command.splitlines())
    open_ = (finding for finding in report.unexpected if finding.status is Status.UNDECIDED)
    reasons = grouped(((finding.engine, finding.because), inert(finding.claim)) for finding in open_)
    for (engine, because), names in reasons.items():
        yield f"undecided by {engine}: {', '.join(dict.fromkeys(names))}: {inert(because)}"


def closing(report: Report, *, brief: bool = False) -> Iterator[str]:
    """Yield the notes, what was trusted (only counted if `brief`), the summary, and what to try next."""
    yield from map(inert, report.notes)
    trusted = dict.fromkeys(part for finding in report.findings for part in finding.trusted_base)
    if brief and trusted:
        yield f"trusted: {plural(len(trusted), 'part')}, from the model to the solvers; --all names them"
    elif trusted:
        yield f"trusted: {'; '.join(map(inert, trusted))}"
    yield summary_line(report)
    yield from (f"  next: {line}" for line in next_steps(report))


FULL = 5
"""Refutations that are printed step by step; of the others only the command."""


def print_lines(console: Console, lines: Iterable[str]) -> None:
    """Print lines of text that is already inert; the console never breaks them."""
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def titled(title: str, *columns: str) -> Table:
    """Return a table with a title and columns that break long words."""
    folding = (Column(Text(inert(name)), overflow="fold") for name in columns)
    whole = Text(inert(title), no_wrap=True, overflow="ignore")  # a table may be narrower than its title
    return Table(*folding, title=whole, title_justify="left")


def tables(report: Report, protocol: str) -> Iterator[Table]:
    """Yield one table for each system of a protocol: a row for each claim, a column for each engine."""
    findings = [finding for finding in report.findings if finding.protocol == protocol]
    engines = list(dict.fromkeys(finding.engine for finding in findings))
    for system in dict.fromkeys(finding.system for finding in findings):
        of_system = [finding for finding in findings if finding.system == system]
        usual = next((sizes_of(finding, ",") for finding in of_system if finding.sizes), "")
        made = titled(f"{both(protocol, system)} {usual}".strip(), "claim", *engines)
        for claim in dict.fromkeys(finding.claim for finding in of_system):
            row = [finding for finding in of_system if finding.claim == claim]
            cells = [_cell(report, [f for f in row if f.engine == engine], usual) for engine in engines]
            made.add_row(Text(inert(claim)), *cells)
        yield made


def _cell(report: Report, findings: list[Finding], usual: str) -> Text:
    """Return the verdicts of one engine on one claim: a line for each run, unexpected and refuted ones first.

    Sizes are named where they are not the `usual` ones, readings where they are not the default.
    """
    if not findings:
        return Text("-", style="dim")
    ranked = sorted(findings, key=lambda f: (report.standing(f) is not Standing.UNEXPECTED, _RANK[f.status]))
    cell = Text("\n").join(_line(report, finding, usual) for finding in ranked[:SHOWN])
    if len(findings) > SHOWN:
        cell.append(f"\n+ {plural(len(findings) - SHOWN, 'more run')}", style="dim")
    return cell


def _line(report: Report, finding: Finding, usual: str) -> Text:
    standing = report.standing(finding)
    said = word(finding)
    shown = str(finding.scope.get("proof_status", said))  # a proof has statuses of its own: VACUOUS, DISAGREEMENT
    line = Text(f"{inert(shown)}{_mark(report, finding)}", style=STYLE[said])
    if standing is Standing.LEFT_OPEN:
        line.append(" (beyond sampling)", style="dim")
    elif standing is Standing.EXPECTED and said in (Word.REFUTED, Word.UNDECIDED):
        line.append(" (expected)", style="dim")
    sizes = sizes_of(finding, ",")
    readings = [f"{name}={value}" for name, value in sorted(finding.readings.items())]
    where = [counted(finding), sizes if sizes != usual else "", *readings]
    line.append("".join(f" {inert(part)}" for part in where if part), style="dim")
    return line


def _mark(report: Report, finding: Finding) -> str:
    """What stands behind a verdict that is not as expected; whoever runs a mutant wants it killed."""
    return "" if word(finding) is Word.KILLED else _MARK.get(report.standing(finding), "")


SHOWN = 3
"""Runs of one engine on one claim that a cell of the table names; the file has all."""


def summary_line(report: Report) -> str:
    """Return the summary in one line; the verdicts UNDECIDED as expected come first."""
    counts = report.summary()
    refuted = sum(word(finding) is Word.REFUTED for finding in report.unexpected)
    killed = sum(word(finding) is Word.KILLED for finding in report.findings)
    parts = [
        f"{counts['undecided_expected']} UNDECIDED as expected",
        f"{counts['undecided_unexpected']} UNDECIDED unexpectedly",
        f"{refuted} REFUTED unexpectedly",
        f"{counts['refutation_gone']} expected refutations gone",
        f"{counts['refuted_expected']} REFUTED as expected",
        f"{killed} KILLED",
        f"{counts['reproduced']} REPRODUCED",
        hold(counts["holds"]),
        f"{counts['left_open']} left open by sampling",
    ]
    shown = [part for i, part in enumerate(parts) if i == 0 or not part.startswith("0 ")]
    better = counts["better_than_stated"]
    shown += [f"{better} better than expected"] if better else []
    start = "INTERRUPTED. " if report.interrupted else ""
    return f"{start}{plural(counts['claims'], 'claim')}, {plural(counts['findings'], 'verdict')}: {', '.join(shown)}."


KEPT = "; --out DIR writes a pytest file that repeats it"


def next_steps(report: Report) -> Iterator[str]:
    """Yield the next steps for a user of this report, most urgent first."""
    budget = str(report.settings.get("budget", ""))
    if report.interrupted:
        yield (
            f"{plural(len(report.unfinished), 'job')} not finished; the first: {inert(report.unfinished[0])}"
            if (report.unfinished)
            else "run it again: it was interrupted"
        )
    claims: dict[tuple[str, str], Finding] = {}
    for finding in report.unexpected:
        if finding.status is Status.REFUTED:
            claims.setdefault((finding.protocol, finding.claim), finding)
    refuted = list(claims.values())
    for finding in refuted[:3]:
        yield (
            f"see {inert(finding.claim)} fail again: {finding.command.splitlines()[0]}"
            if finding.command
            else f"look at {inert(finding.claim)}{KEPT if finding.engine == 'examine' else ''}"
        )
    if len(refuted) > 3:
        yield f"and {plural(len(refuted) - 3, 'more refuted claim')}; each is listed above with its command"
    if any(f.expected is Status.REFUTED and f.status is Status.HOLDS for f in report.unexpected):
        yield "an expected refutation is gone: the model was mended (change the expectation) or an engine misses it"
    undecided = [f for f in report.findings if f.status is Status.UNDECIDED]
    open_ = [f for f in undecided if STOPPED not in f.because]
    if len(open_) < len(undecided):
        yield f"mend what raised an error: it left {plural(len(undecided) - len(open_), 'verdict')} open at any budget"
    if open_ and budget in ("quick", "standard") and not report.interrupted:
        yield f"decide more with --budget {'standard' if budget == 'quick' else 'deep'}"
    if any(report.standing(f) is Standing.BETTER for f in report.findings):
        yield "some claims are better than expected (marked +): see whether the expectation can be raised"
