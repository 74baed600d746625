"""A latch that speaks JSON Lines by itself; the argument selects how it misbehaves.

It runs as a program and imports nothing of evenhand, like a kernel in another language.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def shown(inside: list[int], action: Any) -> str:
    """Answer as the latch does."""
    verb, agent = action["verb"], action["agent"]
    if verb == "leave":
        inside[:] = [one for one in inside if one != agent]
        return "left"
    if inside:
        return "refused"
    inside.append(agent)
    return "taken"


def main(how: str) -> None:
    """Serve requests until the input ends."""
    inside: list[int] = []
    if how == "sleeps":
        for name in sys.argv[2:]:  # which tell that it runs
            Path(name).write_text("started", "utf-8")
        time.sleep(3_600)
    if how == "dies_at_once":
        sys.exit("no licence")
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {"id": request["id"]}
        if request["do"] == "start":
            inside = list(request["start"]["inside"])
        odd = False
        if request["do"] == "step":
            answer["shown"] = shown(inside, request["action"])
            odd = request["action"] == {"$": "Act", "verb": "leave", "agent": 1}
        text = json.dumps(answer)
        if odd:
            text = misbehave(how, answer)
        print(text, flush=True)


def misbehave(how: str, answer: dict[str, Any]) -> str:
    """Return or do something else in place of an answer."""
    text = json.dumps(answer)
    match how:
        case "garbage":
            return "Segmentation fault (core dumped)"
        case "half":
            return text[:-1]
        case "twice":
            return f"{text}\n{text}"
        case "silent":
            time.sleep(3_600)
        case "skips":
            return json.dumps({**answer, "id": answer["id"] + 1})
        case "without_id":
            return json.dumps({"shown": answer["shown"]})
        case "array":
            return "[]"
        case "endless":
            while True:
                os.write(1, b"x" * 65_536)
        case "closes":
            os.close(1)
            time.sleep(3_600)
        case "killed":
            os.kill(os.getpid(), 9)
        case "errors_forever":
            while True:
                os.write(2, b"e" * 65_536)
        case "crowd":
            while True:
                subprocess.Popen(["sleep", "3600"], start_new_session=True)
        case "child":
            subprocess.Popen([sys.executable, __file__, "sleeps", *sys.argv[2:]])
            time.sleep(3_600)
        case "not_utf8":
            sys.stdout.flush()
            os.write(1, b'{"id":%d,"shown":"\xff\xfe"}' % answer["id"])
            return ""
        case "surrogate":
            return json.dumps({**answer, "shown": "\ud800"})
        case "beyond":
            return json.dumps({**answer, "shown": 10**30})
        case "infinite":
            return f'{{"id":{answer["id"]},"shown":1e999}}'
        case "nan":
            return f'{{"id":{answer["id"]},"shown":NaN}}'
        case _:
            pass
    return text


if __name__ == "__main__":
    main(sys.argv[1])
