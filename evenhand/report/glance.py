"""The digest of a report in lines of text: the default of `evenhand verify`, and the top of `summary.md`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from evenhand.core.grouping import grouped
from evenhand.core.profile import Aspect
from evenhand.core.text import inert
from evenhand.report.digest import Answered, Group, ProtocolDigest, Told, digest, steps_of
from evenhand.report.phrases import plural, short
from evenhand.report.report import Report
from evenhand.report.table import closing, print_lines, surprises

LINES = 60
"""The digest of five protocols fits on a page of so many lines; refutations that do not fit are counted."""

STUCK = ("deadlock", "livelock")
DECIDING = [aspect.value for aspect in Aspect if aspect.value not in (*STUCK, "exclusion")]
_INDENT = " " * 2
_TITLE = 10


def print_glance(console: Console, report: Report) -> None:
    """Print what is unexpected in full, then the digest, the summary, and how to open what the digest counts."""
    unexpected, last = list(surprises(report)), [*closing(report, brief=True), OPEN]
    print_lines(console, unexpected)
    width = max(console.width, NARROW) if console.is_terminal else WIDE
    for line in glance(digest(report), width, LINES - len(last)):
        text = Text(line, style="" if line.startswith(" ") else "bold")
        title = line.split()[0]
        if line.startswith(_INDENT) and title in _STYLE:
            text.stylize(_STYLE[title], len(_INDENT), len(_INDENT) + len(title))
        console.print(text, soft_wrap=True)
    print_lines(console, last)


NARROW, WIDE = 100, 160
"""The least width of a digest, and its width where no terminal has one."""

LEAST = 60
"""A story keeps so many characters, however long its command is."""

_STYLE = {
    "holds": "green",
    "proved": "green",
    "refuted": "red",
    "open": "yellow",
    "sampled": "yellow",
    "records": "cyan",
}

OPEN = "  more: --show GROUP lists a group of claims, --claim NAME is all about one, --all prints every table"


def glance(digests: Sequence[ProtocolDigest], width: int = 160, lines: int = LINES) -> list[str]:
    """Return the digest in lines of at most `width` characters, commands apart.

    At most `lines` lines, unless the facts alone take more: what is refuted is shown as far as it fits, each protocol
    in its turn, at least one of each.
    """
    shown = [min(1, len(one.refuted)) for one in digests]
    room = lines - sum(1 + len(list(_facts(one, width))) for one in digests) - 2 * sum(shown)
    for turn in range(2, max((len(one.refuted) for one in digests), default=0) + 1):
        for number, one in enumerate(digests):
            if room >= 2 and len(one.refuted) >= turn:
                shown[number], room = turn, room - 2
    return [line for one, several in zip(digests, shown, strict=True) for line in _protocol(one, width, several)]


def _protocol(one: ProtocolDigest, width: int, shown: int) -> Iterator[str]:
    yield f"{inert(one.protocol)}: {plural(one.claims, 'claim')}"
    for title, text in _facts(one, width):
        yield f"{_INDENT}{title:<{_TITLE}}{text}"
        if title == "refuted":
            for told in one.refuted[:shown]:
                yield from refuted_lines(told, width)


def _facts(one: ProtocolDigest, width: int) -> Iterator[tuple[str, str]]:
    room = width - _TITLE - len(_INDENT)
    yield "holds", short(_holding(one), room)
    if one.proved:
        yield "proved", short(_proved(one), room)
    for answered in one.answers:
        if answered.aspect in STUCK:
            yield answered.aspect, short(answer_text(answered), room)
    yield "decides", short(_deciding(one), room)
    if one.refuted:
        yield "refuted", f"{len(one.refuted)} by the protocol's own rules"
    if one.undecided:
        yield "open", short(f"{', '.join(_open(one.undecided))}", room)
    if one.sampled:
        counted = ", ".join(f"{plural(count, 'claim')} in {inert(system)}" for system, count in one.sampled.items())
        yield "sampled", short(f"{counted}: random runs met no fault, which decides nothing", room)
    if one.kept:
        yield "records", short(_records(one), room)


WORDS = {
    Group.proved: "proved for any size",
    Group.searched: "hold in every scope searched",
    Group.happens: "can happen, each with a run",
    Group.sampled: "only sampled",
    Group.elsewhere: "looked at under other readings only",
    Group.open: "undecided",
}
"""The groups of claims that no run refutes, in words."""


def _holding(one: ProtocolDigest) -> str:
    parts = [f"{len(one.groups[group])} {text}" for group, text in WORDS.items() if one.groups[group]]
    return ", ".join(parts) + (f"; another reading changes {len(one.depends)}" if one.depends else "")


AGENTS = "any number of agents"


def _proved(one: ProtocolDigest) -> str:
    """What is proved for any number of agents; where a proof is about other numbers, for the most frequent of them."""
    agents = [name for scope, names in one.proved.items() if scope.startswith(AGENTS) for name in names]
    most = max(one.proved, key=lambda scope: len(one.proved[scope]))
    scope, names = (AGENTS, agents) if agents else (most, list(one.proved[most]))
    return f"{len(names)} of them for {inert(scope)}: {', '.join(map(inert, names))}"


HOW = 90
"""Characters of the run that another reading allows."""


def answer_text(answered: Answered) -> str:
    """Return an answer in words, with the systems and readings that it is about."""
    if answered.answer == "unasked":
        return "no claim asks"
    why = f" ({inert(answered.why)})" if answered.why else ""
    parts = [
        f"{word} in {', '.join(map(inert, systems))}{why if word == 'yes' else ''}"
        for word, systems in (("yes", answered.yes), ("no", answered.no), ("open", answered.open))
        if systems
    ]
    other = "no" if answered.answer == "yes" else "yes"
    how = f" ({short(inert(answered.how), HOW)})" if answered.how else ""
    parts += [f"{other} under {' or '.join(map(inert, answered.readings))}{how}"] if answered.readings else []
    return "; ".join(parts) or "open: no verdict yet"


def _deciding(one: ProtocolDigest) -> str:
    asked = [answered for answered in one.answers if answered.aspect in DECIDING]
    words = {"yes": "", "no": "not ", "open": "open: "}
    parts = [
        f"{word}{', '.join(names)}"
        for answer, word in words.items()
        if (names := [_with_readings(answered) for answered in asked if answered.answer == answer])
    ]
    return "; ".join(parts) or "no claim asks"


def _with_readings(answered: Answered) -> str:
    return answered.aspect + (f" (but under {' or '.join(answered.readings)})" if answered.readings else "")


def refuted_lines(told: Told, width: int) -> Iterator[str]:
    """Yield the two lines of a refuted claim: its sentence, then its story with the command that shows it."""
    yield short(f"{_INDENT * 2}{inert(told.claim)}: {inert(told.sentence)}", width)
    where = ", ".join(filter(None, [steps_of(told), *(f"in {inert(system)}" for system in told.systems[:1])]))
    command = f"; {inert(told.command)}" if told.command else ""
    story = f"{_INDENT * 3}{where}: {inert(told.story)}"
    yield short(story, max(LEAST, width - len(command))) + command


def _open(every: Iterable[Told]) -> Iterator[str]:
    for systems, claims in grouped((told.systems, told.claim) for told in every).items():
        yield f"{plural(len(claims), 'claim')} in {', '.join(map(inert, systems))}: {', '.join(map(inert, claims))}"


def _records(one: ProtocolDigest) -> str:
    failing = one.recorded + one.caught
    parts = f"{one.caught} of mutants, {one.recorded} of the reference"
    return f"{failing} of {one.kept} kept counterexamples are reproduced: {parts}"
