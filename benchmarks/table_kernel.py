"""A kernel that answers every step with its argument: JSON Lines at their plainest, for `benchmarks.adapters`."""

import json
import sys

__all__: list[str] = []

if __name__ == "__main__":
    shown = json.loads(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"]}
        if request["do"] == "step":
            answer["shown"] = shown
        print(json.dumps(answer), flush=True)
