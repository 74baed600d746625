"""Drive the service over HTTP: the honest one first, then each defect where it shows."""

import contextlib
import http.client
import json
import os
import subprocess
import sys
import threading
import time
import tomllib
from http.server import ThreadingHTTPServer
from pathlib import Path

from service import DEFECTS, Service, digest, handler

HERE = Path(__file__).parent


class Client:
    def __init__(self, port):
        self.port = port

    def __call__(self, method, path, **body):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=1.5)
        try:
            connection.request(method, "/" + path, json.dumps(body))
            return json.loads(connection.getresponse().read())
        except TimeoutError:
            return "hangs"
        finally:
            connection.close()

    def begin(self):
        return self("POST", "begin", preferences=["P1", "P2", "P3"], actions=["a", "b", "c"])

    def step(self, **breaks):
        apcm = {a: {"violates": text.split(), "satisfies": []} for a, text in breaks.items()}
        return self("POST", "step", feasible=list(breaks), apcm=apcm)

    def justify(self, av="", rp="", *pairs, mode="REVISE", since=None):
        return self("POST", "justify", **jaf(av, rp, *pairs, mode=mode, since=since))

    def select(self, action):
        return self("POST", "select", action=action)


def jaf(av, rp, *pairs, mode="REVISE", since=None):
    return {
        "authorized_violations": av.split(),
        "required_preservations": rp.split(),
        "conflict_attribution": [p.split() for p in pairs],
        "precedent_reference": since or "none",
        "conflict_resolution": {"mode": mode, "previous_artifact_digest": since},
    }


@contextlib.contextmanager
def served(defects):
    """The service in this process."""
    service = Service(defects)
    threading.Thread(target=service.loop, daemon=True).start()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(service))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    client = Client(server.server_address[1])
    client.begin()
    yield client
    server.shutdown()
    server.server_close()


@contextlib.contextmanager
def started(defects, seed):
    """The service in a process of its own."""
    command = [sys.executable, HERE / "service.py", "--defects", ",".join(defects)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": seed}, text=True)
    client = Client(int(process.stdout.readline().rsplit(":", 1)[1]))
    client.begin()
    yield client
    process.kill()
    process.wait()
    process.stdout.close()


NOTHING = digest([], [], [])


def sophie(c):
    return [
        c.step(a="P1", b="P2"),
        c.justify("P1", "P2", "P1 P2"),
        c.select("b"),
        c.select("a"),
        c("GET", "state"),
        c("GET", "metrics"),
    ]


def early_select(c):
    c.step(a="", b="P1")
    c.justify()
    c.select("a")
    c.step(a="P1", b="")
    return c.select("a"), c("GET", "state")["executed"]


def again(c):
    c.step(a="")
    c.justify()
    c.select("a")
    return c.select("a"), c("GET", "state")["executed"]


def waiting(c):
    c.step(a="", b="P1")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(c("GET", "mask")))
    thread.start()
    time.sleep(0.2)
    c.justify("P1", "")
    thread.join()
    return seen


def masked(c):
    c.step(a="P1", b="")
    c.justify()
    return c("GET", "mask")


def same_log(_, defects=()):
    lines = []
    for seed in "12":
        with started(defects, seed) as c:
            c.step(a="")
            c.justify("", "P1 P2 P3")
            c.select("a")
            lines.append(c("GET", "log"))
    return lines[0] == lines[1]


def no_resolution(c):
    c.step(a="")
    body = jaf("", "")
    del body["conflict_resolution"]
    return c("POST", "justify", **body), c("GET", "state")


def revised_to_same(c):
    for since in (None, NOTHING):
        c.step(a="")
        c.justify(since=since)
        c.select("a")
    return c("GET", "metrics")["revision_frequency"]


def late_stranger(c):
    c.step(a="")
    c.justify()
    c.select("a")
    return c.step(a="P9")


def early_stranger(c):
    return c.step(a="P9"), c.step(a="")


def second_run(c):
    c.step(a="")
    c.justify()
    c.select("a")
    c.begin()
    return c("GET", "metrics")["steps"]


SHOWS = {
    "old_mask": early_select,
    "executes_twice": again,
    "halt_wakes_nobody": waiting,
    "reasons_in_mask": masked,
    "set_order_log": same_log,
    "assumes_object": no_resolution,
    "revision_only_if_changed": revised_to_same,
    "validates_first_step": late_stranger,
    "invalid_step_only": early_stranger,
    "records_outlive_run": second_run,
}
ALSO = {}  # further situations here in which a defect shows


def run(situation, *defects):
    if situation is same_log:
        return same_log(None, defects)
    with served(defects) as client:
        return situation(client)


def main():
    with started((), "0") as client:
        for answer in [*sophie(client), client("GET", "log")]:
            print(json.dumps(answer))
    listed = tomllib.loads((HERE.parent / "defects.toml").read_text())["defect"]
    listed = {row["name"]: row["masked_by"] for row in listed if row["kernel"] == HERE.name}
    assert set(SHOWS) == set(DEFECTS) == set(listed)
    situations = [*SHOWS.values(), sophie]
    honest = {s: run(s) for s in situations}
    for name, situation in SHOWS.items():
        faulty = run(situation, name)
        assert faulty != honest[situation], name
        print(f"{name}: honest {honest[situation]} / faulty {faulty}")
        seen = {s for s in situations if run(s, name) != honest[s]}
        assert seen == {situation, *ALSO.get(name, [])}, (name, [s.__name__ for s in seen])
        masks = [m for m in SHOWS if m != name and run(situation, name, m) == run(situation, m)]
        assert masks == listed[name], (name, masks)


if __name__ == "__main__":
    sys.exit(main())
