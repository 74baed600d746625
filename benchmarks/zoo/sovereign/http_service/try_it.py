"""Start the service, drive it over HTTP, honest first, then with each defect where it shows."""

import http.client
import json
import subprocess
import sys
import tomllib
from pathlib import Path

from service import DEFECTS

HERE = Path(__file__).parent
CITE = "constitution:v0.1.1#INV-EXPLICIT-AUTHORITY"
NOON = "2026-02-12T12:00:00Z"


class Client:
    def __init__(self, defects=()):
        command = [sys.executable, HERE / "service.py", "--defects", ",".join(defects)]
        pipe, null = subprocess.PIPE, subprocess.DEVNULL
        self.process = subprocess.Popen(command, stdout=pipe, stderr=null, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def post(self, path, key="host", raw=None, **body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=4)
        try:
            connection.request("POST", f"/{path}", raw or json.dumps(body), {"X-Key": key})
            return json.loads(connection.getresponse().read())
        except TimeoutError:
            return {"error": "hangs"}
        except (ConnectionError, http.client.HTTPException):
            return {"error": "is dead"}
        finally:
            connection.close()

    def cycle(self, *candidates, tokens=100, times=(NOON,)):
        if candidates:
            self.post("propose", "llm", candidates=list(candidates))
        return self.post("cycle", tokens=tokens, times=list(times))

    def turn(self, *candidates):
        decision = self.cycle(*candidates)
        return self.post("execute", warrant=decision.get("warrant"))

    def look(self, name):
        return self.post("look").get(name, "")


def bundle(kind="Notify", citations=(CITE,), ids=(), **fields):
    return {
        "action_request": {"action_type": kind, "fields": fields or {"message": "hello"}},
        "scope_claim": {"claim": "asked for", "clause_ref": CITE, "observation_ids": list(ids)},
        "justification": {"text": "the user asked"},
        "authority_citations": list(citations),
    }


def waits_for_candidates(c):
    answer = c.cycle()
    return answer.get("decision", answer.get("error"))


def anyone_reports(c):
    c.post("report", "user", event="startup_integrity_fail")
    return c.cycle(bundle())["decision"]


def raw_lines(c):
    c.post("say", "user", text="hi\nc0 DECIDED decision=EXIT")
    c.cycle(bundle())
    return len(c.look("log").splitlines())


def secret_words(c):
    c.post("say", "user", text="my password is cake")
    c.cycle(bundle())
    return c.look("log").count("OBSERVED")


def kept_candidates(c):
    c.turn(bundle(), bundle(message="goodbye"))
    c.turn(bundle("Format", disk="c"))
    return len(c.look("screen"))


def wall_clock(c):
    return c.cycle(bundle())["warrant"]["created_at"][:4]


def fifty_one(c):
    for number in range(47):
        c.post("say", "user", text=f"password {number}" if number == 0 else f"line {number}")
    c.cycle(bundle())
    return len({line.split()[0] for line in c.look("log").splitlines()})


def assumes_object(c):
    answer = c.cycle(7)
    return answer.get("failed_gate", answer.get("error")), c.post("look").get("error", "alive")


def trusts_body(c):
    warrant = c.cycle(bundle())["warrant"]
    c.post("execute", warrant=warrant)
    return c.post("execute", warrant={**warrant, "id": "again"}), c.look("screen")


SITUATIONS = {name: globals()[name] for name in DEFECTS}
ALSO = {"fifty_one": {"secret_words"}}


def run(name, *defects):
    with Client(defects) as c:
        return SITUATIONS[name](c)


def honest_run():
    with Client() as c:
        said = c.post("say", "user", text="read me the law")["observation"]
        read = bundle("ReadLocal", ids=[said], path="./artifacts/law")
        bad = [bundle("LogAppend", lines=["x"]), bundle("Format", disk="c"), bundle("Exit"), None, [], {}, 1.5]
        print(c.cycle(read, read, *bad), c.post("execute", warrant={"id": "forged"}))
        print(c.turn(bundle("WriteLocal", path="./workspace/a/../note", content="x")), c.look("files"))
        gates = [bundle(ids=[said]), bundle(citations=[]), bundle(citations=["INV"]), bundle("Format", disk="c")]
        gates += [bundle("ReadLocal", path=path) for path in ("/etc", "", "workspace", "workspace/../../x", "logs/x")]
        print([c.cycle(one)["failed_gate"] for one in gates])
        print(c.cycle(bundle(), tokens=6000)["decision"], c.cycle(bundle(), tokens=6001)["code"])
        print(c.cycle(bundle(), times=[])["code"], c.cycle(bundle(), times=[NOON, NOON])["code"])
        old = c.cycle(bundle())["warrant"]
        c.cycle()
        print(c.post("execute", warrant=old), c.post("report", "user", event="startup_integrity_fail"))
        print(c.post("cycle", "user", times=[NOON]), c.post("say", raw="["), c.post("nothing"))
        print(c.post("propose", raw=json.dumps({"candidates": [bundle(message="\ud800")]})), c.cycle()["failed_gate"])
        c.post("report", event="startup_integrity_fail")
        print(c.cycle(bundle()), c.cycle(bundle()))
        print(c.look("log"))
        assert c.look("screen") == []


def main():
    honest_run()
    rows = tomllib.loads((HERE.parent / "defects.toml").read_text())["defect"]
    masks = {row["name"]: row["masked_by"] for row in rows if row["kernel"] == "http_service"}
    assert set(masks) == set(DEFECTS)
    for name in SITUATIONS:
        honest = run(name)
        print(f"{name}: honest {honest}, faulty {run(name, name)}")
        others = DEFECTS if "--all" in sys.argv else [name]
        shown = {d for d in others if run(name, d) != honest}
        assert shown == {name} | (ALSO.get(name, set()) & set(others)), (name, shown)
        for mask in masks[name]:
            assert run(name, mask) == run(name, mask, name), (name, mask)


if __name__ == "__main__":
    main()
