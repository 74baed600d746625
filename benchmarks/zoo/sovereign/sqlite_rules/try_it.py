"""Run the honest kernel once, then every defect in the situation where it shows."""

import sqlite3
import tempfile
import tomllib
from pathlib import Path

from kernel import DEFECTS, Kernel

CITE = "constitution:v0.1.1#INV-EXPLICIT-AUTHORITY"
NOON = "2026-02-12T12:00:00Z"


def bundle(kind="Notify", citations=(CITE,), ids=(), author="reflection", **fields):
    body = {
        "action_request": {"action_type": kind, "fields": fields or {"message": "hello"}},
        "scope_claim": {"claim": "asked for", "clause_ref": CITE, "observation_ids": list(ids)},
        "justification": {"text": "the user asked"},
        "authority_citations": list(citations),
    }
    return {**body, "author": author} if author else body


def turn(k, *bundles, tokens=100, times=(NOON,)):
    for time in times:
        k.observe("timestamp", time)
    k.observe("budget", tokens)
    answer = k.decide(bundles)
    result = k.execute(answer["warrant"]) if answer["warrant"] else None
    return answer["decision"], answer["failed_gate"], result


def like_paths(defects):
    k = Kernel(defects=defects)
    turn(k, bundle("WriteLocal", path="./WORKSPACE/note", content="x"))
    return k.rows("SELECT path FROM file")


def spent_in_memory(defects):
    with tempfile.TemporaryDirectory() as folder:
        k = Kernel(f"{folder}/state.db", defects=defects)
        k.observe("timestamp", NOON)
        warrant = k.decide([bundle()])["warrant"]
        k.execute(warrant)
        Kernel(f"{folder}/state.db", defects=defects).execute(warrant)
        return k.notices()


def row_order(defects):
    seen = []
    for step in (1, -1):
        k = Kernel(defects=defects)
        turn(k, *[bundle(message=text) for text in ("one", "two")][::step])
        seen += k.notices()
    return seen


def gates_by_name(defects):
    return turn(Kernel(defects=defects), bundle("Format", ids=["o9"], disk="c"))


def null_author(defects):
    k = Kernel(defects=defects)
    turn(k, bundle("LogAppend", author=None, stream="artifacts", lines=["forged"]))
    return "forged" in k.log("artifacts")


def refusals_uncounted(defects):
    k = Kernel(defects=defects)
    turn(k)
    return turn(k, bundle())[:2]


def quoted_citation(defects):
    try:
        return turn(Kernel(defects=defects), bundle(citations=["constitution:v0.1.1#it's"]))
    except sqlite3.OperationalError as error:
        return str(error)


def seen_bundles_ignored(defects):
    k = Kernel(defects=defects)
    turn(k, bundle(), tokens=6001)
    return turn(k, bundle())[0]


def silent_refusals(defects):
    k = Kernel(defects=defects)
    turn(k, bundle(message="first"))
    turn(k, 7)
    turn(k, bundle(message="third"))
    return sum('"decision"' in line for line in k.log("artifacts"))


SITUATIONS = {name: globals()[name] for name in DEFECTS}
ALSO = {"seen_bundles_ignored": {"refusals_uncounted"}}


def rejections():
    def gate(bad, **more):
        k = Kernel()
        answer = turn(k, bad, **more)
        assert k.notices() == []
        return answer[1] or answer[0]

    for key in ("author", "action_request", "scope_claim", "justification", "authority_citations"):
        for junk in (None, 7, [], {}, 0.5, "\ud800"):
            assert gate({**bundle(), key: junk}) == "completeness", (key, junk)
    for author in ("reflection", "host", "kernel", None, 7):
        assert gate(bundle("LogAppend", author=author, stream="x", lines=["x"])) == "completeness"
    assert gate(bundle("Exit", x="")) == "REFUSE" and gate(bundle("Format", x="")) == "constitution_compliance"
    assert gate(bundle(ids=["o9"])) == "scope_claim" and gate(bundle(citations=[CITE, "x"])) == "authority_citation"
    assert gate(bundle(citations=["constitution:v0.1.1@/clauses/4"])) == "authority_citation"
    for path in ("", "/workspace/x", "workspace", "workspace/../../x", "./logs/x", "workspace\\x", "work\0space/x"):
        assert gate(bundle("ReadLocal", path=path)) == "io_allowlist", path
    assert gate(bundle(), times=[]) == gate(bundle(), times=[NOON, NOON]) == "required_observations"
    assert gate(bundle(), tokens=6001) == "REFUSE" and turn(Kernel(), bundle(), tokens=6000)[0] == "ACTION"
    k = Kernel()
    k.observe("system", "startup_integrity_fail")
    assert turn(k, bundle(), tokens=9000) == ("EXIT", "", None)
    try:
        k.decide()
        raise AssertionError
    except RuntimeError:
        pass


def main():
    k = Kernel(files={"artifacts/law": "be kind"})
    said = k.observe("user_input", "read the law")
    print(turn(k, bundle("ReadLocal", ids=[said], path="./artifacts/law")))
    print(turn(k, bundle("WriteLocal", path="workspace/a/../b", content="x")), k.rows("SELECT * FROM file"))
    print(turn(k, bundle(), bundle(), bundle(citations=["constitution:v0.1.1@/clauses/0"])), turn(k), turn(k, times=[]))
    k.observe("timestamp", NOON)
    old = k.decide([bundle()])["warrant"]
    print(turn(k), k.execute(old), k.execute("forged"), k.notices())
    print(*k.log("observations"), *k.log("artifacts"), sep="\n")
    rejections()
    rows = tomllib.loads((Path(__file__).parent.parent / "defects.toml").read_text())["defect"]
    masks = {row["name"]: row["masked_by"] for row in rows if row["kernel"] == "sqlite_rules"}
    assert set(masks) == set(DEFECTS)
    for name, situation in SITUATIONS.items():
        honest = situation(frozenset())
        shown = {d for d in DEFECTS if situation(frozenset({d})) != honest}
        print(f"{name}: honest {honest}, faulty {situation(frozenset({name}))}")
        assert shown == {name} | ALSO.get(name, set()), (name, shown)
        for mask in masks[name]:
            assert situation(frozenset({mask})) == situation(frozenset({mask, name})), (name, mask)


if __name__ == "__main__":
    main()
