"""Send messages to the harness in Node: the honest one first, then each defect where it shows."""

import json
import re
import subprocess
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
DEFECTS = sorted(set(re.findall(r'DEFECTS\.has\("(\w+)"\)', (HERE / "kernel.mjs").read_text())))
CITE = "constitution:v0.1.1#INV-EXPLICIT-AUTHORITY"
NOON = "2026-02-12T12:00:00Z"


class Harness:
    def __init__(self, defects=(), **settings):
        command = ["node", HERE / "kernel.mjs", f"--defects={','.join(defects)}"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        self.send(op="start", **settings)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate()

    def send(self, raw=None, **message):
        try:
            self.process.stdin.write((raw or json.dumps(message)) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return {"ok": False, "why": "dead"}
        return json.loads(self.process.stdout.readline() or '{"ok": false, "why": "dead"}')

    def cycle(self, reply, condition="L-A", **more):
        text = reply if isinstance(reply, str) else json.dumps({"candidates": reply})
        body = {"condition": condition, "say": "please", "reply": text, "at": NOON, "prompt": 100, "completion": 50}
        return self.send(op="cycle", **{**body, **more})

    def screen(self):
        return self.send(op="report").get("world")


def bundle(kind="Notify", citations=(CITE,), clause=CITE, **fields):
    return {
        "action_request": {"action_type": kind, "fields": fields or {"message": "hello"}},
        "scope_claim": {"claim": "asked for", "clause_ref": clause, "observation_ids": ["PLACEHOLDER"]},
        "justification": {"text": "the user asked"},
        "authority_citations": list(citations),
    }


def one(defects, reply, *keys, **more):
    with Harness(defects) as h:
        answer = h.cycle(reply, **more)
        return [answer.get("decision", answer.get("why")), *(answer.get(key) for key in keys), h.screen()]


def braces_in_strings(defects):
    return one(defects, [bundle(message="smile :}")], "rejection")


def first_block(defects):
    return one(defects, json.dumps({"candidates": [bundle()]}) + " or {}", "rejection")


def inherited_clause(defects):
    return one(defects, [bundle(citations=["constitution:v0.1.1#toString"])], "failed_gate")


def completion_only(defects):
    return one(defects, [bundle()], "reason", prompt=4001, completion=2000)


def binds_clause_too(defects):
    return one(defects, [bundle(clause="INV-NONE")], "failed_gate")


def stale_scope_id(defects):
    with Harness(defects) as h:
        return h.cycle([bundle()])["bundle"]["scope_claim"]["id"]


def rejected_is_deadlock(defects):
    return one(defects, [bundle("ReadLocal", path="/etc/passwd")], "failed_gate", "type", condition="L-B")


def short_circuit(defects):
    return one(defects, "{} or {}", system="startup_integrity_fail")


def run_not_reset(defects):
    with Harness(defects) as h:
        for _ in range(24):
            h.cycle("no", "L-B")
        h.cycle([bundle()], "L-B")
        return h.cycle("no", "L-B")["aborted"]


def null_candidate(defects):
    return one(defects, [None], "failed_gate")


SITUATIONS = {name: globals()[name] for name in DEFECTS}
ALSO = {}


def rejections():
    def gate(bad, **more):
        return one([], [bad], "failed_gate", **more)[1]

    for key in ("action_request", "scope_claim", "justification", "authority_citations"):
        for junk in (None, 7, [], {}, "\ud800"):
            assert gate({**bundle(), key: junk}) == "completeness", (key, junk)
    assert gate(bundle("LogAppend", log_name="x")) == "completeness" and gate(bundle("Exit", x="")) is None
    assert gate(bundle("toString", x="")) == "constitution_compliance"
    for path in ("", "/workspace/x", "workspace", "workspace/../../x", "./logs/x", "workspace\\x", "workspacex/y"):
        assert gate(bundle("ReadLocal", path=path)) == "io_allowlist", path
    assert gate(bundle(citations=["constitution:v0.1.1@/types/5"])) == "authority_citation"
    assert one([], [bundle(citations=["constitution:v0.1.1@/types/4"])])[0] == "ACTION"
    assert one([], [bundle()], prompt=4000, completion=2000)[0] == "ACTION"
    for text, why in (("{", "NO_JSON"), ("{a}", "PARSE_ERROR"), ("{} {}", "AMBIGUOUS_MULTI_BLOCK"), ('"}" {}', None)):
        assert one([], text, "rejection")[1] == why
    with Harness() as h:
        for _ in range(25):
            answer = h.cycle("no", "L-B")
        assert answer["aborted"] and h.cycle([bundle()], "L-B")["why"] == "auto-abort"
        assert h.cycle([bundle()], "L-D")["decision"] == "ACTION"
    with Harness(b2=300) as h:
        h.cycle([bundle()])
        assert h.cycle([bundle()], "L-E")["over"] == h.cycle([])["why"] == "SESSION_BUDGET_EXHAUSTED"


def main():
    with Harness(files={"artifacts/law": "be kind"}) as h:
        print(h.send(op="calibrate", replies=['{"a": 1}', '{"a":1}', 'ok: {"a":1}']), h.send(raw="{"), h.send(op="x"))
        print(
            h.send(op="calibrate", replies=['{"a": 1}', '{"a":1}', '{"a":2}']), h.send(op="toString"), h.send(raw="7")
        )
        print(h.cycle([bundle("ReadLocal", path="./artifacts/law")]))
        print(h.cycle("Sorry, no.", "L-C"), h.cycle([bundle("WriteLocal", path="x", content="")], "L-C"))
        print(h.cycle([bundle()], "L-C")["forensic"], h.cycle([bundle()], at=None), h.cycle([], say=7))
        pair = [bundle(message="one"), bundle(message="two")]
        print(h.cycle(pair, "L-E")["warrant"]["bundle"] != h.cycle(pair[::-1], "L-E")["warrant"]["bundle"])
        print(h.send(op="report"))
        print(h.cycle([], system="startup_integrity_fail"), h.cycle([bundle()]))
        assert h.send(op="report")["diverged"] == 0
    rejections()
    rows = tomllib.loads((HERE.parent / "defects.toml").read_text())["defect"]
    masks = {row["name"]: row["masked_by"] for row in rows if row["kernel"] == "node_lines"}
    assert set(masks) == set(DEFECTS)
    for name, situation in SITUATIONS.items():
        honest = situation([])
        print(f"{name}: honest {honest}, faulty {situation([name])}")
        shown = {d for d in DEFECTS if situation([d]) != honest}
        assert shown == {name} | ALSO.get(name, set()), (name, shown)
        for mask in masks[name]:
            assert situation([mask]) == situation([mask, name]), (name, mask)


if __name__ == "__main__":
    main()
