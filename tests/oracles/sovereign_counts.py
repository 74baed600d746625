"""The numbers of candidates of RSA-0 by failed gate, counted one by one and by a formula, without imports.

A candidate is a tuple of small numbers.  The meaning of each number is written here anew, from sections 6 and 7.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

# Per action type: the well-formed variants of fields, and those of them that lead outside.
FIELDS = {
    "Notify": (5, 1, 0),
    "ReadLocal": (6, 3, 2),
    "WriteLocal": (6, 3, 2),
    "LogAppend": (2, 1, 0),
    "Exit": (2, 1, 0),
    "Shell": (2, 2, 0),  # the fields of an undeclared type are unspecified
}
CITATIONS, GOOD_CITATIONS = 5, 2  # a clause, none, a pointer, a clause and a wrong one, another version
AUTHORS, KNOWN_AUTHORS = 3, 2
SCOPES, GOOD_SCOPES = 5, 1  # known, absent, of nothing, of something unknown, under no clause
WHYS, GOOD_WHYS = 3, 1


def one_by_one() -> Counter[str]:
    """Return the first gate that each candidate fails in a judging context; `""` admitted, `-` never offered."""
    found: Counter[str] = Counter()
    for name, (variants, formed, outside) in FIELDS.items():
        every = product(range(variants), range(CITATIONS), range(AUTHORS), range(SCOPES), range(WHYS))
        for fields, citation, author, scope, why in every:
            found[_fate(name, fields, formed, outside, citation, author, scope, why)] += 1
    return found


def _fate(name: str, fields: int, formed: int, outside: int, citation: int, author: int, scope: int, why: int) -> str:
    if name == "Exit":
        return "-"
    complete = name != "LogAppend" and fields < formed and citation != 1 and scope != 1 and why == 0
    if not complete or author >= KNOWN_AUTHORS:
        return "completeness"
    if citation not in (0, 2):
        return "authority_citation"
    if scope != 0:
        return "scope_claim"
    if name == "Shell":
        return "constitution_compliance"
    return "io_allowlist" if fields >= formed - outside else ""


def closed_form() -> dict[str, int]:
    """Return the same by multiplication."""
    rest = CITATIONS * AUTHORS * SCOPES * WHYS
    total = sum(variants for variants, _, _ in FIELDS.values()) * rest
    formed = {name: good for name, (_, good, _) in FIELDS.items() if name not in ("Exit", "LogAppend")}
    complete = sum(formed.values()) * (CITATIONS - 1) * KNOWN_AUTHORS * (SCOPES - 1) * GOOD_WHYS
    cited = complete * GOOD_CITATIONS // (CITATIONS - 1)
    scoped = cited * GOOD_SCOPES // (SCOPES - 1)
    each = scoped // sum(formed.values())
    out = each * sum(outside for _, _, outside in FIELDS.values())
    offered = total - FIELDS["Exit"][0] * rest
    return {
        "-": total - offered,
        "completeness": offered - complete,
        "authority_citation": complete - cited,
        "scope_claim": cited - scoped,
        "constitution_compliance": each * formed["Shell"],
        "io_allowlist": out,
        "": scoped - each * formed["Shell"] - out,
    }


OBSERVED = ("time", "words", "budget", "failure", "time", "over", "over", "over")
ADMISSIBLE, OTHERS = 5, 10


def lists(observations: int, candidates: int) -> Counter[str]:
    """Decisions over all lists of observations and candidates, list by list of observations."""
    many = sum((ADMISSIBLE + OTHERS) ** size for size in range(candidates + 1))
    hopeless = sum(OTHERS**size for size in range(candidates + 1))
    found: Counter[str] = Counter()
    for length in range(observations + 1):
        for seen in product(OBSERVED, repeat=length):
            if seen.count("time") != 1:
                found["REFUSE"] += many
            elif "failure" in seen:
                found["EXIT"] += many
            elif "over" in seen or seen.count("budget") > 1:
                found["REFUSE"] += many
            else:
                found["ACTION"] += many - hopeless
                found["REFUSE"] += hopeless
    return found


# Sessions: the effect of a cycle of each kind, as (refused, tokens, new content of the one file that is written).
ANSWER, REFUSAL = (False, 590, ""), (True, 590, "")
KINDS: dict[str, tuple[tuple[bool, int, str], ...]] = {
    "A": tuple((False, 40, f"t{number}" if number % 3 == 2 else "") for number in range(10)),
    "B": ((False, 0, ""), (True, 0, "")),
    "C": (*[(True, 0, "")] * 4, (False, 0, "")),
    "D": (*[(False, 0, "")] * 2, *[(True, 0, "")] * 2),
    "E": ((False, 0, ""),) * 4,
    "L-A": (ANSWER, REFUSAL),
    "L-B": (ANSWER, *[REFUSAL] * 3),
    "L-C": (ANSWER, *[REFUSAL] * 2),
    "L-D": ((False, 5999, ""), (True, 6001, ""), (True, 5999, "")),
    "L-E": ((False, 900, ""), (True, 900, "")),
}
MOST_REFUSALS, MOST_TOKENS = 25, 23_000


def session(condition: str) -> tuple[int, int]:
    """Return states and steps of a condition: refusals in a row, tokens (live alone), the file, whether it is over."""
    live = condition.startswith("L-")
    start = (0, 0, "f", False)
    seen: set[tuple[int, int, str, bool]] = {start}
    waiting: list[tuple[int, int, str, bool]] = [start]
    steps = 0
    while waiting:
        refusals, tokens, file, over = waiting.pop()
        for refused, cost, written in () if over else KINDS[condition]:
            steps += 1
            row = refusals + 1 if refused else 0
            spent = tokens + cost if live else 0
            after = (row, spent, written or file, spent > MOST_TOKENS or row >= MOST_REFUSALS)
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return len(seen), steps


def small_constitutions() -> tuple[int, int]:
    """Return states and steps of all constitutions of up to one type, by multiplication.

    Clauses or none, directories or none, five limits: 20 without a type; each of five types kernel-only or not, with
    all requirements or none.  A write that is admitted makes one more state.  Each state has three cycles, one more for
    the type, and one with a long text for a notification.
    """
    bare, flags = 2 * 2 * 5, 2 * 2
    writes = 2 * 2 * 4  # clauses or none, requirements or none, every limit but that of fields
    states = bare + 5 * flags * bare + writes
    return states, 3 * bare + flags * bare * (4 * 4 + 5) + 4 * writes
