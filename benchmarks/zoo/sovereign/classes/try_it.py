"""Run the honest kernel once, then every defect in the situation where it shows."""

import os
import tempfile
import tomllib
from pathlib import Path

from kernel import DEFECTS, Bundle, Kernel, Observation, Terminated, Warrant

CITE = "constitution:v0.1.1#INV-EXPLICIT-AUTHORITY"
SAID = Observation("user_input", "please")


def seen(tokens=100, times=("2026-02-12T12:00:00Z",), system=()):
    found = [SAID, Observation("budget", tokens), *(Observation("timestamp", time) for time in times)]
    return found + [Observation("system", event) for event in system]


def bundle(kind="Notify", citations=(CITE,), ids=(SAID.id,), **fields):
    scope = {"claim": "asked for", "clause_ref": CITE, "observation_ids": list(ids)}
    return Bundle(kind, fields or {"message": "hello"}, scope, "the user asked", list(citations))


def follows_links(defects):
    with tempfile.TemporaryDirectory() as root:
        k = Kernel(root, defects=defects)
        outside = Path(root, "outside")
        outside.write_text("old")
        os.symlink(outside, os.path.join(root, "workspace", "way"))
        _, result = k.run_cycle(seen(), [bundle("WriteLocal", path="./workspace/way", content="x")])
        return result["done"], outside.read_text()


def live_bundle(defects):
    with tempfile.TemporaryDirectory() as root:
        k, mine = Kernel(root, defects=defects), bundle()
        warrant = k.decide(seen(), [mine]).warrant
        mine.fields["message"] = "something else"
        k.execute(warrant)
        return k.executor.screen


def shared_spent(defects):
    done = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as root:
            done.append(Kernel(root, defects=defects).run_cycle(seen(), [bundle()])[1]["done"])
    return done


def live_trace(defects):
    with tempfile.TemporaryDirectory() as root:
        k = Kernel(root, defects=defects)
        k.run_cycle(seen(), [bundle()])
        k.trace().clear()
        return len(k.trace())


def any_cycle(defects):
    with tempfile.TemporaryDirectory() as root:
        k = Kernel(root, defects=defects)
        warrant = k.decide(seen(), [bundle()]).warrant
        k.finish()
        return k.execute(warrant)["done"]


def rounded_budget(defects):
    with tempfile.TemporaryDirectory() as root:
        return Kernel(root, defects=defects).run_cycle(seen(6001), [bundle()])[0].kind


def entropy_in_nats(defects):
    with tempfile.TemporaryDirectory() as root:
        k = Kernel(root, defects=defects)
        k.run_cycle(seen(), [bundle(citations=[CITE, "constitution:v0.1.1@/clauses/0"])])
        return k.profile.report()["authority_entropy"]


def step_zero_as_gate_one(defects):
    with tempfile.TemporaryDirectory() as root:
        k = Kernel(root, defects=defects)
        k.run_cycle(seen(), [])
        k.run_cycle(seen(times=()), [])
        return k.profile.report()["failed_gate_histogram"]


def remembered_time(defects):
    with tempfile.TemporaryDirectory() as root:
        k = Kernel(root, defects=defects)
        k.run_cycle(seen(), [bundle()])
        return k.run_cycle(seen(times=()), [bundle()])[0].kind


def unhashable_type(defects):
    with tempfile.TemporaryDirectory() as root:
        try:
            return Kernel(root, defects=defects).run_cycle(seen(), [bundle(["Notify"])])[0].kind
        except TypeError as error:
            return str(error)


SITUATIONS = {name: globals()[name] for name in DEFECTS}
ALSO = {"step_zero_as_gate_one": {"remembered_time"}}


def gate(one, observations=None):
    with tempfile.TemporaryDirectory() as root:
        decision, result = Kernel(root).run_cycle(observations or seen(), [one])
        assert (result is None) == (decision.kind != "ACTION")
        return decision.failed_gate or decision.kind


def rejections():
    for key in ("fields", "scope", "justification", "citations"):
        for junk in (None, 7, [], {}, 1.5, "\ud800"):
            one = bundle()
            setattr(one, key, junk)
            assert gate(one) == "completeness", (key, junk)
    assert gate(7) == gate(bundle("LogAppend", log_name="artifacts", jsonl_lines=["{}"])) == "completeness"
    assert gate(bundle(citations=["constitution:v0.1#INV-EXPLICIT-AUTHORITY"])) == "authority_citation"
    assert gate(bundle(ids=[])) == gate(bundle(ids=["0"])) == "scope_claim"
    assert gate(bundle("Format", disk="c")) == "constitution_compliance"
    assert gate(bundle("Exit")) == "REFUSE" and gate(bundle(), seen(6000)) == "ACTION"
    for path in ("/etc/passwd", "workspace/../../x", "", "workspace", "./logs/x", "Workspace/x"):
        assert gate(bundle("ReadLocal", path=path)) == "io_allowlist"
    with tempfile.TemporaryDirectory() as root:
        k = Kernel(root, expected="0" * 64)
        decision, _ = k.run_cycle(seen(9000), [bundle()])
        assert decision.kind == "EXIT" and decision.warrant is None
        try:
            k.decide(seen(), [])
            raise AssertionError
        except Terminated:
            pass


def main():
    with tempfile.TemporaryDirectory() as root:
        k = Kernel(root)
        write = bundle("WriteLocal", path="./workspace/note", content="b\u00e9")
        print(*k.run_cycle(seen(), [write, write, bundle("WriteLocal", path="./artifacts/x", content="")]), sep="\n")
        print(k.run_cycle(seen(), [bundle("ReadLocal", path="./workspace/note")])[1], k.run_cycle(seen(), []))
        decision = k.decide(seen(), [bundle(), *[bundle(message=f"{i}") for i in range(60)]])
        print(k.execute(Warrant("0", "0", 3, "")), k.execute(decision.warrant), k.execute(decision.warrant))
        k.finish()
        print(k.profile.report(), k.trace()[-1])
        for path in sorted(Path(root, "logs").iterdir()):
            print(path.name, *path.read_text().splitlines()[:3], sep="\n  ")
        assert len(Path(root, "logs", "artifacts.jsonl").read_text().splitlines()) == 4 + 2 + 1 + 62
    rejections()
    rows = tomllib.loads((Path(__file__).parent.parent / "defects.toml").read_text())["defect"]
    masks = {row["name"]: row["masked_by"] for row in rows if row["kernel"] == "classes"}
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
