"""Run the honest kernel once, then every defect in the situation where it shows."""

import tomllib
from pathlib import Path

import kernel as rsa

CITE = "constitution:v0.1.1#INV-EXPLICIT-AUTHORITY"
NOON = "2026-02-12T12:00:00Z"


def start(defects, *, tokens=(100,), times=(NOON,), **settings):
    k = rsa.new_kernel(defects=defects, **settings)
    return k, look(k, tokens, times)


def look(k, tokens=(100,), times=(NOON,)):
    ids = [rsa.observe(k, "user_input", "please", NOON)]
    ids += [rsa.observe(k, "timestamp", time, NOON) for time in times]
    return ids + [rsa.observe(k, "budget", many, NOON) for many in tokens]


def bundle(ids, kind="Notify", citations=(CITE,), **fields):
    return {
        "author": "reflection",
        "action_request": {"action_type": kind, "fields": fields or {"message": "hello"}},
        "scope_claim": {"claim": "asked for", "clause_ref": CITE, "observation_ids": list(ids)},
        "justification": {"text": "the user asked"},
        "authority_citations": list(citations),
    }


def prefix_paths(defects):
    k, ids = start(defects)
    out = rsa.cycle(k, [bundle(ids, "WriteLocal", path="./workspace/../artifacts/law", content="mine")])
    return out["decision"], k["files"]


def exactly_full_refused(defects):
    k, ids = start(defects, tokens=[6000])
    return rsa.cycle(k, [bundle(ids)])["decision"]


def budget_before_integrity(defects):
    k, ids = start(defects, tokens=[6001])
    rsa.observe(k, "system", "startup_integrity_fail", NOON)
    return rsa.cycle(k, [bundle(ids)])["decision"]


def first_timestamp_counts(defects):
    k, ids = start(defects, times=[NOON, "2026-02-12T12:00:01Z"])
    return rsa.cycle(k, [bundle(ids)])["decision"]


def late_clock(defects):
    k, ids = start(defects)
    rsa.cycle(k, [bundle(ids)])
    ids = look(k, times=["2026-02-12T13:00:00Z"])
    return rsa.cycle(k, [bundle(ids)])["warrant"]["created_at"]


def first_come(defects):
    wins = []
    for turn in (1, -1):
        k, ids = start(defects)
        out = rsa.cycle(k, [bundle(ids, message=text) for text in ("one", "two")[::turn]])
        wins.append((out["decision"], *k["screen"]))
    return wins


def last_failing_gate(defects):
    k, ids = start(defects)
    out = rsa.cycle(k, [bundle(ids, "ReadLocal", [f"{CITE}-NOT"], path="./workspace/../law")])
    return out["decision"], out["failed_gate"]


def one_citation_resolves(defects):
    k, ids = start(defects)
    return rsa.cycle(k, [bundle(ids, citations=[CITE, f"{CITE}-NOT"])])["decision"], k["screen"]


def warrant_unspent(defects):
    k, ids = start(defects)
    decision = rsa.decide_cycle(k, [bundle(ids)])
    for _ in range(2):
        rsa.execute(k, decision.get("warrant"))
    return k["screen"]


def replay_renumbers(defects):
    k, ids = start(defects)
    rsa.cycle(k, [bundle(ids)])
    return rsa.replay(k)


SITUATIONS = {name: globals()[name] for name in rsa.DEFECTS}
ALSO = {}


def rejections():
    def gate(change, **settings):
        k, ids = start(frozenset(), **settings)
        one = bundle(ids)
        change(one)
        out = rsa.cycle(k, [one])
        assert rsa.replay(k) == [] and not k["screen"]
        return out.get("failed_gate", out["decision"])

    def action(kind, **fields):
        return lambda b: b.update(action_request={"action_type": kind, "fields": fields})

    for key in ("author", "action_request", "scope_claim", "justification", "authority_citations"):
        for junk in (None, 7, [], {}, float("nan"), "\ud800", {1: 2}):
            assert gate(lambda b, key=key, junk=junk: b.update({key: junk})) == "completeness", (key, junk)
        assert gate(lambda b, key=key: b.pop(key)) == "completeness"
    log = {"log_name": "artifacts", "jsonl_lines": ["{}"]}
    for author in ("reflection", "host", "kernel"):
        assert gate(lambda b, a=author: b.update(author=a) or action("LogAppend", **log)(b)) == "completeness"
    assert gate(action("Format", disk="c")) == "constitution_compliance"
    assert gate(action("Exit")) == ""
    assert gate(lambda b: b["scope_claim"].update(clause_ref="INV")) == "scope_claim"
    assert gate(lambda b: b["scope_claim"].update(observation_ids=["o0"])) == "scope_claim"
    for path in (
        "/workspace/a",
        "..",
        "",
        "workspace",
        "./workspace/..",
        "workspace\\..\\x",
        "workspacex/a",
        "./logs/a",
    ):
        assert gate(action("ReadLocal", path=path)) == "io_allowlist", path
    assert gate(action("WriteLocal", path="artifacts/a", content="")) == "io_allowlist"
    for mark, good in (
        ("@/clauses/0", 1),
        ("@/clauses/00", 0),
        ("@/clauses/9", 0),
        ("@/io_policy/read/-", 0),
        ("@", 0),
    ):
        assert rsa.resolves(rsa.json.loads(rsa.CONSTITUTION), f"constitution:v0.1.1{mark}") == good
    assert gate(lambda b: None, times=[]) == "required_observations"
    assert gate(lambda b: None, tokens=[3000, 3001]) == ""
    assert gate(lambda b: None, digest="0" * 64) == "EXIT"
    k, ids = start(frozenset(), tokens=[])
    before = rsa.decide_cycle(k, [*[bundle(ids)] * 120, 7, bundle(ids, "Format", text="x" * 20000)])
    assert rsa.execute(k, {**before["warrant"], "id": "w-1"})["done"] is False
    rsa.finish_cycle(k)
    assert rsa.execute(k, before["warrant"])["done"] is False and len(k["logs"]["artifacts"]) == 122


def main():
    k, ids = start(frozenset(), files={"artifacts/rules.txt": "be kind"})
    print(rsa.cycle(k, [bundle(ids, "ReadLocal", path="./artifacts/rules.txt")]))
    ids = look(k)
    print(rsa.cycle(k, [bundle(ids, "WriteLocal", path="./workspace/a/../note", content="done")]), k["files"])
    print(rsa.cycle(k, [bundle(look(k), "Notify", ["constitution:v0.1.1@/clauses/0"], message="hi")]), k["screen"])
    print(rsa.cycle(k, []))
    look(k)
    print(rsa.cycle(k, []))
    for stream, lines in k["logs"].items():
        print(stream, *lines, sep="\n  ")
    assert rsa.replay(k) == []
    rejections()
    rows = tomllib.loads((Path(__file__).parent.parent / "defects.toml").read_text())["defect"]
    masks = {row["name"]: row["masked_by"] for row in rows if row["kernel"] == "plain_dicts"}
    assert set(masks) == set(rsa.DEFECTS)
    for name, situation in SITUATIONS.items():
        honest = situation(frozenset())
        shown = {d for d in rsa.DEFECTS if situation(frozenset({d})) != honest}
        print(f"{name}: honest {honest}, faulty {situation(frozenset({name}))}")
        assert shown == {name} | ALSO.get(name, set()), (name, shown)
        for mask in masks[name]:
            assert situation(frozenset({mask})) == situation(frozenset({mask, name})), (name, mask)


if __name__ == "__main__":
    main()
