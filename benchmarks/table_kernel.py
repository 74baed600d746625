"""A minimal JSON Lines kernel that answers every step with its argument, for `benchmarks.adapters`."""

import json
import sys

if __name__ == "__main__":
    shown = json.loads(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"id": request["id"]}
        if request["do"] == "step":
            answer["shown"] = shown
        print(json.dumps(answer), flush=True)
