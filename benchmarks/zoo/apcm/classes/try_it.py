"""A short honest run, then each defect beside the honest machine."""

import sys
import tomllib
from pathlib import Path

from kernel import DEFECTS, EMPTY, Artifact, Halted, InvalidRun, Legislator, Machine, Refused, SophieWorld

HERE = Path(__file__).parent
START = EMPTY.digest()


def machine(d):
    Machine.previous = EMPTY
    return Machine(["P1", "P2", "P3"], ["a", "b", "c"], d)


def apcm(**violates):
    return {a: {"violates": set(v.split()), "satisfies": set()} for a, v in violates.items()}


def jaf(av="", rp="", *pairs, mode="REVISE", cited=START):
    return Artifact(set(av.split()), set(rp.split()), {tuple(p.split()) for p in pairs}, cited, mode, cited)


def tried(call, *args):
    try:
        result = call(*args)
        return sorted(result) if isinstance(result, frozenset) else result
    except Halted as halted:
        return halted.codes
    except (Refused, InvalidRun) as refused:
        return str(refused)
    except Exception as crash:
        return type(crash).__name__


def sophie(d):
    m = machine(d)
    m.publish(apcm(a="P1", b="P2"))
    return tried(m.justify, jaf("P1", "P2", "P1 P2")), tried(m.act, min), m.executed(), m.records()


def late_preference(d):
    names = ["P1"]
    m = Machine(names, ["a"], d)
    names.append("P9")
    return tried(m.publish, apcm(a="P9"))


def edited_artifact(d):
    m, mine = machine(d), jaf()
    m.publish(apcm(a=""))
    m.justify(mine)
    m.act(min)
    mine.required_preservations.add("P2")
    m.publish(apcm(a=""))
    mine.mode, mine.previous_artifact_digest = "MAINTAIN", m.briefing()["digest"]
    return tried(m.justify, mine)


def pushy_selector(d):
    def push(permitted):
        if hasattr(permitted, "add"):
            permitted.add("b")
        return "b"

    m = machine(d)
    m.publish(apcm(a="P1", b="P2"))
    m.justify(jaf("P1", "P2", "P1 P2"))
    return tried(m.act, push), m.executed()


def curious_selector(d):
    m = machine(d)
    m.publish(apcm(a="", b="", c="P1"))
    m.justify(jaf())
    return m.act(lambda permitted: max(permitted) if getattr(permitted, "apcm", None) else min(permitted))


def rates(d):
    m = machine(d)
    m.publish(apcm(a="", b="P1"))
    m.justify(jaf())
    m.act(min)
    return m.rates()


def second_run(d):
    first = machine(d)
    first.publish(apcm(a=""))
    first.justify(jaf("", "P1"))
    second = Machine(["P1"], ["a"], d)
    second.publish(apcm(a=""))
    return tried(second.justify, jaf())


def no_step(d):
    return tried(machine(d).rates)


def half_authorized(d):
    m = machine(d)
    m.publish(apcm(a="P1 P2", b="P1"))
    return tried(m.justify, jaf("P1", "", "P1 P2"))


def stuck(d):
    m = machine(d)
    m.publish(apcm(a="P1"))
    return tried(m.justify, jaf()), tried(m.act, min), [r["gridlock"] for r in m.records()]


SHOWS = {
    "live_registry": late_preference,
    "aliased_artifact": edited_artifact,
    "shared_mask": pushy_selector,
    "selector_sees_world": curious_selector,
    "violations_of_feasible": rates,
    "shared_previous": second_run,
    "empty_division": no_step,
    "any_authorized": half_authorized,
    "gridlock_opens": stuck,
}
ALSO = {}  # further situations here in which a defect shows


def main():
    m = Machine(SophieWorld.preferences, SophieWorld.actions)
    for published in SophieWorld():
        m.publish(published)
        m.justify(Legislator().draft(m.briefing()))
        m.act(min)
    for record in m.records():
        print(record)
    print(m.executed(), m.rates())
    listed = tomllib.loads((HERE.parent / "defects.toml").read_text())["defect"]
    listed = {row["name"]: row["masked_by"] for row in listed if row["kernel"] == HERE.name}
    assert set(SHOWS) == set(DEFECTS) == set(listed)
    situations = [*SHOWS.values(), sophie]
    honest = {s: s(frozenset()) for s in situations}
    for name, situation in SHOWS.items():
        faulty = situation(frozenset({name}))
        assert faulty != honest[situation], name
        print(f"{name}: honest {honest[situation]} / faulty {faulty}")
        seen = {s for s in situations if s(frozenset({name})) != honest[s]}
        assert seen == {situation, *ALSO.get(name, [])}, (name, [s.__name__ for s in seen])
        masks = [m for m in SHOWS if m != name and situation(frozenset({name, m})) == situation(frozenset({m}))]
        assert masks == listed[name], (name, masks)


if __name__ == "__main__":
    sys.exit(main())
