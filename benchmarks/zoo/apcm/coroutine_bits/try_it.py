"""A short honest run, then each defect beside the honest kernel."""

import sys
import tomllib
from pathlib import Path

from kernel import CONDITIONS, DEFECTS, SOPHIE, metrics, play

HERE = Path(__file__).parent


def world(*steps, preferences="P1 P2 P3"):
    return {
        "preferences": preferences.split(),
        "actions": ["a", "b", "c"],
        "steps": [{a: {"violates": v.split(), "satisfies": []} for a, v in step.items()} for step in steps],
    }


def jaf(av="", rp="", *pairs, mode="REVISE"):
    return {
        "authorized_violations": av.split(),
        "required_preservations": rp.split(),
        "conflict_attribution": [tuple(p.split()) for p in pairs],
        "precedent_reference": "none",
        "conflict_resolution": {"mode": mode},
    }


def scripted(where, *artifacts, d=(), condition="mvra"):
    """What the selector was shown, and the telemetry; artifacts cite what their author was told."""
    queue, shown = list(artifacts), []

    def author(briefing):
        if not queue:
            raise RuntimeError("asked once more")
        artifact = queue.pop(0)
        artifact["conflict_resolution"]["previous_artifact_digest"] = briefing["previous_digest"]
        return artifact

    def select(permitted):
        shown.append(sorted(permitted))
        return min(permitted)

    try:
        log = play(where, condition, 0, author, select, frozenset(d))
    except RuntimeError as error:
        return shown, str(error)
    return shown, [(r["selected_action"], r["compile_errors"], r["gridlock"], r["halt"]) for r in log]


def ninth(d):
    nine = " ".join(f"P{n}" for n in range(1, 10))
    return scripted(world({"a": "P1"}, preferences=nine), jaf("P9", "P2", "P1 P2"), d=d)


def two_clean(d):
    return scripted(world({"a": "", "b": ""}), jaf(), d=d)


def caprice(d):
    return scripted(world({"a": "P1", "b": "P2"}), jaf("P1", "", "P1 P2"), d=d)


def stubborn(d):
    calls = []

    def author(briefing):
        calls.append(briefing)
        if len(calls) > 50:
            raise RuntimeError
        return {}

    try:
        play(world({"a": "", "b": "P1"}), "mvra", 0, author, min, frozenset(d))
    except RuntimeError:
        return "asked without end"
    return f"asked {len(calls)} time(s)"


def third_step(d):
    clean = {"a": "", "b": "P3"}
    artifacts = jaf(), jaf("", "P1"), jaf("", "P1", mode="MAINTAIN")
    return scripted(world(clean, clean, clean), *artifacts, d=d)


def bypassed(d):
    return scripted(world({"a": "", "b": "P1"}), jaf("P1"), d=d, condition="bypass")


def twice_scrambled(d):
    steps = [{"a": "P1", "b": "P2"}] * 12
    first, second = (play(world(*steps), "scramble", 7, defects=frozenset(d)) for _ in range(2))
    return [(r["AV"], r["RP"]) for r in first] == [(r["AV"], r["RP"]) for r in second]


def lone(d):
    return scripted(world({"a": "P1"}), jaf(), d=d)


def sophie(d):
    return scripted(world({"a": "P1", "b": "P2"}), jaf("P1", "P2", "P1 P2"), d=d)


SHOWS = {
    "eight_bits": ninth,
    "compiler_keeps_one": two_clean,
    "rp_defaults_to_rest": caprice,
    "asks_again": stubborn,
    "first_is_forever": third_step,
    "bypass_compiles": bypassed,
    "unseeded_scramble": twice_scrambled,
    "record_before_select": sophie,
    "lone_action_passes": lone,
}
ALSO = {  # further situations here in which a defect shows
    "asks_again": [ninth, caprice],
    "record_before_select": [two_clean, third_step, bypassed],
    "lone_action_passes": [ninth],
}


def main():
    for condition in CONDITIONS:
        log = play(SOPHIE, condition)
        print(condition, metrics(log, SOPHIE["preferences"]))
    for seed in range(20):
        assert [r["selected_action"] for r in play(SOPHIE, "asb", seed)] == [
            r["selected_action"] for r in play(SOPHIE, "bypass", seed)
        ]
    print(play(SOPHIE)[0])
    listed = tomllib.loads((HERE.parent / "defects.toml").read_text())["defect"]
    listed = {row["name"]: row["masked_by"] for row in listed if row["kernel"] == HERE.name}
    assert set(SHOWS) == set(DEFECTS) == set(listed)
    situations = list(SHOWS.values())
    honest = {s: s(()) for s in situations}
    for name, situation in SHOWS.items():
        faulty = situation({name})
        assert faulty != honest[situation], name
        print(f"{name}: honest {honest[situation]} / faulty {faulty}")
        seen = {s for s in situations if s({name}) != honest[s]}
        assert seen == {situation, *ALSO.get(name, [])}, (name, [s.__name__ for s in seen])
        masks = [m for m in SHOWS if m != name and situation({name, m}) == situation({m})]
        assert masks == listed[name], (name, masks)


if __name__ == "__main__":
    sys.exit(main())
