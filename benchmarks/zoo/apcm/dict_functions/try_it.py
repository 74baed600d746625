"""A short honest run, then each defect beside the honest kernel."""

import sys
import tomllib
from pathlib import Path

from kernel import DEFECTS, SOPHIE, digest, metrics, new_run, offer, run_all, select, submit

HERE = Path(__file__).parent


def world(*steps, preferences="P1 P2 P3"):
    """Each step maps an action to the preferences it violates, and after a slash to those it satisfies."""
    split = [{a: [set(part.split()) for part in (text + "/").split("/")[:2]] for a, text in s.items()} for s in steps]
    return {
        "preferences": preferences.split(),
        "actions": ["a", "b", "c"],
        "steps": [
            {"feasible": list(s), "apcm": {a: {"violates": v, "satisfies": t} for a, (v, t) in s.items()}}
            for s in split
        ],
    }


def jaf(av="", rp="", *pairs, mode="REVISE", previous=None):
    return {
        "authorized_violations": av.split(),
        "required_preservations": rp.split(),
        "conflict_attribution": [p.split() for p in pairs],
        "precedent_reference": previous or "none",
        "conflict_resolution": {"mode": mode, "previous_artifact_digest": previous},
    }


def log_of(run):
    return [
        {k: r.get(k, "missing") for k in ("selected_action", "selected_action_violates", "gridlock", "halt")}
        for r in run["log"]
    ]


def sophie(d):
    run = new_run(world({"a": "P1", "b": "P2"}), d)
    first = submit(run, jaf("P1", "P2", "P1 P2"))
    return first, select(run, "b")["ok"], select(run, "a")["ok"], run["executed"]


def caprice(d):
    run = new_run(world({"a": "P1", "b": "P2"}), d)
    return submit(run, jaf("P1", "", "P1 P2"))


def neither(d):
    run = new_run(world({"a": ""}), d)
    return submit(run, jaf("", "P1", "P1 P2"))


def maintained_pairs(d):
    run = new_run(world({"a": "P1", "b": "P1 P2/P3"}, {"a": "P1", "b": "P1 P2/P3"}), d)
    first = jaf("P1", "P2", "P1 P2")
    submit(run, first)
    select(run, "a")
    return submit(run, jaf("P1", "P2", "P1 P3", mode="MAINTAIN", previous=digest(first)))


def stuck(d):
    run = new_run(world({"a": "P1"}), d)
    return submit(run, jaf("", "P1"))["ok"], run["log"][0]["gridlock"], run["log"][0]["halt"]


def changed_world(d):
    run = new_run(world({"a": "", "b": "P2"}, {"a": "P1", "b": ""}), d)
    first = jaf()
    submit(run, first)
    select(run, "a")
    return submit(run, jaf(previous=digest(first)))["permitted"]


def record(d):
    run = new_run(world({"a": ""}), d)
    submit(run, jaf())
    select(run, "a")
    return log_of(run)


def no_collision(d):
    run = new_run(world({"a": "P1"}), d)
    return submit(run, jaf("P1")), metrics(run)["prevented_gratuitous_authorizations"]


def stranger(d):
    run = new_run(world({"a": ""}, {"a": ""}), d)
    answer = submit(run, jaf("", "P9"))
    return answer, offer(run)["preferences"]


def whole_runs(d):
    return [
        [run_all(SOPHIE, c, seed, d)["executed"] for seed in range(4)] for c in ("asb", "mvra", "scramble", "bypass")
    ]


SHOWS = {
    "necessity_any": caprice,
    "lazy_all_feasible": sophie,
    "collision_by_satisfies": neither,
    "precedent_ignores_pairs": maintained_pairs,
    "gridlock_as_halt": stuck,
    "cached_apcm": changed_world,
    "log_omits_violates": record,
    "prevented_counts_all": no_collision,
    "registers_unknown": stranger,
}
ALSO = {  # further situations here in which a defect shows
    "lazy_all_feasible": [whole_runs],
}


def main():
    run = run_all(SOPHIE, "mvra")
    for entry in run["log"]:
        print(entry)
    print(metrics(run))
    assert all(run_all(SOPHIE, "asb", s)["executed"] == run_all(SOPHIE, "bypass", s)["executed"] for s in range(9))
    listed = tomllib.loads((HERE.parent / "defects.toml").read_text())["defect"]
    listed = {row["name"]: row["masked_by"] for row in listed if row["kernel"] == HERE.name}
    assert set(SHOWS) == set(DEFECTS) == set(listed)
    situations = list(dict.fromkeys([*SHOWS.values(), whole_runs]))
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
