"""A short honest run, then each defect beside the honest engine."""

import sys
import tomllib
from pathlib import Path

from kernel import DEFECTS, Engine, fingerprint

HERE = Path(__file__).parent


def world(**breaks):
    return {move: {"breaks": list(b.split()), "meets": []} for move, b in breaks.items()}


def plea(waive="", keep="", *clashes, stance="REVISE", since=None):
    return {
        "waive": waive.split(),
        "keep": keep.split(),
        "clashes": [c.split() for c in clashes],
        "precedent": since or "none",
        "stance": stance,
        "since": since,
    }


def play(bugs, *steps, pick=min):
    """The answers, the moves carried out, and the state at the end."""
    done = []
    engine = Engine(["P1", "P2", "P3"], ["a", "b", "c"], pick, done.append, bugs)
    answers = []
    for facts, text in steps:
        try:
            answers.append(engine.takeStep({"world": facts, "plea": text}))
        except Exception as crash:
            answers.append(type(crash).__name__)
    brief = [
        {k: v for k, v in a.items() if k not in ("step", "coerced")} if isinstance(a, dict) else a for a in answers
    ]
    return brief, done, engine.look()


def since(*three):
    waive, keep, *clashes = three
    return fingerprint(waive.split(), keep.split(), [c.split() for c in clashes])


def sophie(bugs):
    return play(bugs, (world(a="P1", b="P2", c="P1 P2"), plea("P1", "P2", "P1 P2", "P2 P1")))


def calm(bugs):
    return play(bugs, (world(a="P1", b=""), plea("", "P1")), (world(a="P1"), plea("", "P1", since=since("", "P1"))))


def falsePair(bugs):
    return play(bugs, (world(a=""), plea("", "", "P1 P2")))


def lazyLegislator(bugs):
    return play(bugs, (world(a="", b="P1"), plea("P1", "", "P1 P2")))


def keepsMore(bugs):
    return play(bugs, (world(a=""), plea()), (world(a=""), plea("", "P1", stance="MAINTAIN", since=since("", ""))))


def keepsLess(bugs):
    return play(bugs, (world(a=""), plea("", "P1")), (world(a=""), plea(stance="MAINTAIN", since=since("", "P1"))))


def exact(bugs):
    return play(bugs, (world(a="P1"), plea("P1", "", "P1 P2")))


def offside(bugs):
    return play(bugs, (world(a="", b="P1"), plea()), pick=lambda open_: "c")


def third(bugs):
    return play(bugs, (world(a="P1", b="P2"), plea("P1 P3", "P2", "P1 P2")))


def nested(bugs):
    return play(bugs, (world(a=""), {**plea(), "keep": [["P1"]]}))


def noneBreaks(bugs):
    return play(bugs, ({"a": {"breaks": None, "meets": []}}, plea()))


SHOWS = {
    "repairsPairs": falsePair,
    "collisionFirst": lazyLegislator,
    "maintainSuperset": keepsMore,
    "properSubset": exact,
    "trustsPick": offside,
    "pairedOnly": third,
    "unhashable": nested,
    "noneIsEmpty": noneBreaks,
    "halfMaintain": keepsLess,
}
ALSO = {  # further situations here in which a defect shows
    "repairsPairs": [lazyLegislator],
    "properSubset": [sophie],
    "halfMaintain": [keepsMore],
}


def main():
    for situation in (sophie, calm):
        print(*situation(frozenset()), sep="\n  ")
    listed = tomllib.loads((HERE.parent / "defects.toml").read_text())["defect"]
    listed = {row["name"]: row["masked_by"] for row in listed if row["kernel"] == HERE.name}
    assert set(SHOWS) == set(DEFECTS) == set(listed)
    situations = [*SHOWS.values(), sophie, calm]
    honest = {s: s(frozenset()) for s in situations}
    for name, situation in SHOWS.items():
        faulty = situation(frozenset({name}))
        assert faulty != honest[situation], name
        print(f"{name}: honest {honest[situation][:2]} / faulty {faulty[:2]}")
        seen = {s for s in situations if s(frozenset({name})) != honest[s]}
        assert seen == {situation, *ALSO.get(name, [])}, (name, [s.__name__ for s in seen])
        masks = [m for m in SHOWS if m != name and situation(frozenset({name, m})) == situation(frozenset({m}))]
        assert masks == listed[name], (name, masks)


if __name__ == "__main__":
    sys.exit(main())
