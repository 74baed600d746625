"""Attack evenhand, print the table of what was tried and survived, and end with 1 if anything did not.

python -m tests.attack [--seed N]… [--share X] [--part NAME]… [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tests.attack.parts import PARTS
from tests.attack.running import Arena
from tests.attack.table import Attack, Row, printed


def attacks(arena: Arena, parts: list[str]) -> Iterator[Attack]:
    """Yield every attack of these parts; of all parts, if none is named."""
    for name, part in PARTS.items():
        if not parts or name in parts:
            yield from part(arena)


def main() -> int:
    """Run the attacks."""
    reader = argparse.ArgumentParser(prog="python -m tests.attack", description="Attack evenhand.")
    reader.add_argument("--seed", type=int, action="append", help="seed of the mutations; repeatable (default: 1)")
    reader.add_argument("--share", type=float, default=1.0, help="share of the whole attack (default: 1)")
    reader.add_argument("--part", choices=[*PARTS], action="append", default=[], help="only this part; repeatable")
    reader.add_argument("--kind", default="", help="only kinds whose name contains this")
    reader.add_argument("--json", action="store_true", help="print one JSON object")
    asked = reader.parse_args()
    rows: list[Row] = []
    for seed in asked.seed or [1]:
        with tempfile.TemporaryDirectory(prefix="evenhand-attack-") as folder, closing(Arena(Path(folder))) as arena:
            for attack in attacks(arena, asked.part):
                if asked.kind in attack.kind:
                    rows.append(attack.run(arena, seed, max(1, round(attack.whole * asked.share))))
                    sys.stderr.write("\n".join(printed(rows[-1:])) + "\n")
    if asked.json:
        print(json.dumps({"format": "evenhand/attack", "version": 1, "rows": [row.to_json() for row in rows]}))
    else:
        print("\n".join(printed(rows)))
    return int(any(row.survived < row.tried for row in rows))


if __name__ == "__main__":
    sys.exit(main())
