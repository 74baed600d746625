"""The counts of what the reader reads of the five protocols, as they stand in the documents."""

from __future__ import annotations

from benchmarks.readable import BEGIN, END, MODULES, OTHERS, PAGE, attempt, construct, refusals, table


def plain(flag: bool, names: tuple[str, ...], wanted: str | None) -> bool:
    """A function that is read."""
    return flag and (wanted is None or any(name == wanted or not name for name in names))


def counting(names: tuple[str, ...]) -> int:
    """A function that is refused for its loop."""
    found = 0
    for name in names:
        found += name == "agent"
    return found


def of_many(given: dict[str, str]) -> bool:
    """A function that is refused for its argument."""
    return not given


def test_what_is_counted() -> None:
    """A function is read or refused for one construct, whatever its arguments."""
    assert attempt(plain, ()) is None
    loop, argument = attempt(counting, ()), attempt(of_many, ())
    assert loop is not None and argument is not None
    assert (loop.line, construct(loop)) == (counting.__code__.co_firstlineno + 3, "a loop over a list")
    assert construct(argument) == "arguments of another type"


def test_the_page_has_the_counts() -> None:
    """Between its marks; `python -m benchmarks.readable --write` renews it."""
    measured = {name: refusals(name) for name in MODULES}
    text = PAGE.read_text("utf-8")
    assert text.partition(BEGIN)[2].partition(END)[0] == table(measured)
    assert all(
        sum(construct(error) == OTHERS for _, error in refused) * 5 < count for count, refused in measured.values()
    )
