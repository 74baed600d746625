"""One engine, one call: takeStep(request) justifies, masks, picks and carries out."""

import hashlib
import json

DEFECTS = (
    "repairsPairs",
    "collisionFirst",
    "maintainSuperset",
    "properSubset",
    "trustsPick",
    "pairedOnly",
    "unhashable",
    "noneIsEmpty",
    "halfMaintain",
)


def fingerprint(waive, keep, clashes):
    body = {"clashes": sorted(sorted(c) for c in clashes), "keep": sorted(keep), "waive": sorted(waive)}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "blake2b128:" + hashlib.blake2b(text.encode("utf-8"), digest_size=16).hexdigest()


def isIdList(value):
    return isinstance(value, (list, set, frozenset)) and all(isinstance(x, str) for x in value)


class Stop(Exception):
    pass


class Engine:
    def __init__(self, norms, moves, pick=min, carryOut=None, defects=frozenset()):
        self.norms = frozenset(norms)
        self.moves = frozenset(moves)
        self.pick = pick
        self.carryOut = carryOut or (lambda move: None)
        self.bugs = frozenset(defects)
        self.stepNo = 0
        self.last = None
        self.lastMove = None
        self.over = None

    def briefing(self, world):
        """What may be shown to whoever writes the plea of the next step."""
        facts = self.readWorld(world)
        last = self.last and {
            "waive": sorted(self.last[0]),
            "keep": sorted(self.last[1]),
            "clashes": sorted(sorted(c) for c in self.last[2]),
            "fingerprint": fingerprint(*self.last),
        }
        shown = {m: {"breaks": sorted(b), "meets": sorted(t)} for m, (b, t) in facts.items()}
        return {"norms": sorted(self.norms), "moves": sorted(facts), "world": shown, "last": last}

    def look(self):
        return {"step": self.stepNo, "lastMove": self.lastMove, "over": self.over}

    def takeStep(self, request):
        """request: {"world": {move: {"breaks": [...], "meets": [...]}}, "plea": {...}}"""
        if self.over:
            return {"refused": "over"}
        try:
            facts = self.readWorld(request.get("world") if isinstance(request, dict) else None)
        except Stop as stop:
            self.over = str(stop)
            return {"invalid": self.over}
        number = self.stepNo
        self.stepNo += 1
        self.lastMove = None
        answer = {"step": number, "coerced": self.listsIn(request["world"])}
        try:
            waive, keep, clashes, revised = self.readPlea(request.get("plea"))
            answer["revised"] = revised
            open_ = self.judge(waive, keep, clashes, facts)
        except Stop as stop:
            return {**answer, "halted": stop.args[0], "norms": list(stop.args[1:])}
        if not open_:
            return {**answer, "gridlock": True}
        move = self.pick(frozenset(open_))
        if "trustsPick" not in self.bugs and (not isinstance(move, str) or move not in open_):
            return {**answer, "refused": "notOpen"}
        self.carryOut(move)
        self.lastMove = move
        return {**answer, "did": move, "broke": sorted(facts[move][0]) if move in facts else []}

    def readWorld(self, world):
        if not isinstance(world, dict):
            raise Stop("noWorld")
        facts = {}
        for move, entry in world.items():
            if not isinstance(move, str) or move not in self.moves:
                raise Stop("unknownMove")
            if not isinstance(entry, dict):
                raise Stop("badEntry")
            if "noneIsEmpty" in self.bugs:
                entry = {side: entry.get(side) or [] for side in ("breaks", "meets")}
            for side in ("breaks", "meets"):
                if not isIdList(entry.get(side)):
                    raise Stop("badEntry")
                if not self.norms.issuperset(entry[side]):
                    raise Stop("unknownNorm")
            facts[move] = frozenset(entry["breaks"]), frozenset(entry["meets"])
        return facts

    def listsIn(self, world):
        return sorted(f"{m}.{side}" for m in world for side in world[m] if isinstance(world[m].get(side), list))

    def readPlea(self, plea):
        if not isinstance(plea, dict):
            raise Stop("badPlea")
        waive, keep, clashes = plea.get("waive"), plea.get("keep"), plea.get("clashes")
        if "unhashable" not in self.bugs and not (isIdList(waive) and isIdList(keep)):
            raise Stop("badPlea")
        if not isinstance(clashes, (list, set, frozenset)):
            raise Stop("badPlea")
        for clash in clashes:
            if not isinstance(clash, (list, tuple)) or len(clash) != 2 or not isIdList(list(clash)):
                raise Stop("badPlea")
            if clash[0] == clash[1]:
                raise Stop("badPlea")
        if not self.norms.issuperset([*waive, *keep, *(n for clash in clashes for n in clash)]):
            raise Stop("unknownNorm")
        if not isinstance(plea.get("precedent"), str) or plea.get("stance") not in ("MAINTAIN", "REVISE"):
            raise Stop("badPlea")
        last = self.last
        self.last = waive, keep, clashes = frozenset(waive), frozenset(keep), frozenset(map(frozenset, clashes))
        if plea.get("since") != (last and fingerprint(*last)):
            raise Stop("wrongSince")
        self.broken = plea["stance"] == "MAINTAIN" and not self.holdsOn(last, self.last)
        return waive, keep, clashes, plea["stance"] == "REVISE"

    def holdsOn(self, old, new):
        if old is None:
            return False
        if "halfMaintain" in self.bugs:
            return old[0] == new[0]
        if "maintainSuperset" in self.bugs:
            return all(a <= b for a, b in zip(old, new, strict=False))
        return old == new

    def judge(self, waive, keep, clashes, facts):
        """The moves left open; stops with the first rule that fails."""
        breaks = {m: b for m, (b, _) in facts.items()}
        escapes = [c for c in clashes if any(not c & b for b in breaks.values())]
        if "repairsPairs" in self.bugs:
            clashes, escapes = clashes.difference(escapes), []
        if "collisionFirst" in self.bugs and escapes:
            raise Stop("falseCollision")
        if waive and not clashes:
            raise Stop("waiverWithoutCollision")
        keeping = [b for b in breaks.values() if not b & keep]
        examined = waive
        if "pairedOnly" in self.bugs:
            examined = {n for n in waive if any(n in c for c in clashes)}
        idle = sorted(n for n in examined if not all(n in b for b in keeping))
        if idle:
            raise Stop("gratuitousWaiver", *idle)
        if escapes:
            raise Stop("falseCollision")
        if self.broken:
            raise Stop("brokenPrecedent")
        if "properSubset" in self.bugs:
            return {m for m, b in breaks.items() if not b & keep and (not b or b < waive)}
        return {m for m, b in breaks.items() if not b & keep and b <= waive}
