"""A notice board. `perform` asks for a thing and, if the board agrees, does the work in the same call."""

import json
import math
from copy import deepcopy

SHAPES = {
    "plan": {"thing": str, "verb": str, "sureness": float},
    "deed": {"verb": str, "outcome": dict},
    "sighting": {"topic": str, "details": dict, "sureness": float, "origin": str},
    "alarm": {"topic": str, "because": str, "level": str},
    "question": {"text": str, "background": dict, "urgency": float, "waiting": bool},
}
EXTRAS = {"deed": {"thing": str, "failed": bool}, "alarm": {"refutes": str}}
CHOICES = {"origin": {"own": 1.0, "checked": 0.7, "rumour": 0.3}, "level": ("info", "caution", "critical")}
LISTS = {"plan": ("verb", "plans"), "deed": ("verb", "deeds"), "sighting": ("topic", "sightings")}
LISTS["alarm"] = ("topic", "alarms")
PRIVATE = ("outcome", "details", "because", "text", "background")


def isReal(value, top=1e300):
    return type(value) in (int, float) and 0 <= value <= top


def depthOf(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return 1 + max(map(depthOf, inner), default=0)


def isPlain(value):
    try:
        return depthOf(value) <= 50 and json.dumps(value, allow_nan=False) is not None
    except (TypeError, ValueError, RecursionError):
        return False


def hasShape(value, shape):
    if shape is float:
        return isReal(value, 1)
    return isinstance(value, shape) and isPlain(value)


def isUnder(area, parent):
    return area == parent or area.startswith(parent + "/")


class Board:
    def __init__(self, config, defects=frozenset()):
        self.areas = {name: self.checkArea(name, dict(area)) for name, area in config["areas"].items()}
        self.members = deepcopy(config["members"])
        self.boss = config.get("boss")
        self.defects = frozenset(defects)
        self.clock, self.notes, self.tools, self.settled = 0, {}, {}, {}

    def checkArea(self, name, area):
        times = [area["planLife"], area["sightingHalf"], area["alarmHalf"]]
        area = {"sight": "open", "rule": "first", "batch": False, **area}
        bad = not all(name.split("/")) or not all(isReal(value) and value > 0 for value in times)
        if (
            bad
            or area["rule"] not in ("first", "surest", "askBoss")
            or area["sight"] not in ("open", "veiled", "secret")
        ):
            raise ValueError("bad area " + name)
        if area["rule"] == "surest" and not area["batch"]:
            raise ValueError("perform holds the board, so 'surest' needs batch")
        return area

    def wait(self, seconds):
        if not isReal(seconds):
            raise ValueError("time runs forward")
        self.clock += seconds

    # what may be written

    def areaOf(self, name):
        while name and name not in self.areas:
            name = name.rpartition("/")[0]
        return self.areas.get(name)

    def mayWrite(self, member, area, kind):
        allowed = self.members[member]["may"] if isinstance(member, str) and member in self.members else {}
        return any(isUnder(area, parent) and kind in kinds for parent, kinds in allowed.items())

    def fault(self, member, kind, area, fields):
        if not isinstance(kind, str) or kind not in SHAPES or not isinstance(area, str) or not all(area.split("/")):
            return "no such kind of note, or a malformed area"
        rules = self.areaOf(area)
        if rules is None:
            return "no such area"
        if not self.mayWrite(member, area, kind):
            return f"{member} may not post a {kind} in {area}"
        shapes = {**SHAPES[kind], **EXTRAS.get(kind, {}), "replaces": str}
        if "oddThing" in self.defects:
            shapes["thing"] = object
        for name in SHAPES[kind]:
            if name not in fields:
                return f"{name} is missing"
        for name, value in fields.items():
            if name == "weight" and isReal(value):
                continue
            if name not in shapes or not (shapes[name] is object or hasShape(value, shapes[name])):
                return f"{name} is not as it should be"
            if name in CHOICES and value not in CHOICES[name]:
                return f"{name} is unknown"
            if name in ("replaces", "refutes") and value not in self.notes:
                return f"{name} names no note"
        if kind in LISTS:
            field, listName = LISTS[kind]
            allowed = rules.get(listName, [])
            if fields[field] not in allowed and not (field == "topic" and "*" in allowed):
                return f"{field} is not allowed in {area}"
        return None

    def post(self, member, kind, area, **fields):
        """Posts a note of any kind; answers its id, or raises with the reason."""
        fault = self.fault(member, kind, area, fields)
        if fault:
            raise ValueError(fault)
        return self.pin(member, kind, area, fields)

    def pin(self, member, kind, area, fields):
        noteId = f"n{len(self.notes) + 1:06d}"
        head = {"noteId": noteId, "kind": kind, "by": member, "area": area, "since": self.clock, "veiled": False}
        note = {"weight": 1.0, "replaces": None, **deepcopy(fields), **head}
        losers = []
        if kind == "deed" and not note.get("failed"):
            losers = [old for old in self.deedsOn(area, note.get("thing")) if old["by"] != member]
        self.notes[noteId] = note
        for old in losers:
            why = f"{member} did it later"
            fields = {"topic": "superseded", "because": why, "level": "caution", "refutes": old["noteId"]}
            self.pin("board", "alarm", area, fields)
        return noteId

    def answerQuestion(self, questionId, deedId):
        question, deed = self.notes.get(questionId), self.notes.get(deedId)
        if not question or question["kind"] != "question" or question.get("answer") or self.isReplaced(question):
            raise ValueError("no open question")
        if not deed or deed["kind"] != "deed" or deed["area"] != question["area"] or deed["by"] != self.boss:
            raise ValueError("only a deed of the boss in the question's area answers it")
        head = ("noteId", "kind", "by", "area", "since", "veiled")
        fields = {name: value for name, value in question.items() if name not in head}
        return self.pin(
            question["by"], "question", question["area"], {**fields, "replaces": questionId, "answer": deedId}
        )

    # how much a note weighs

    def isReplaced(self, note):
        def overtakes(later):
            same = later["kind"] == note["kind"] == "deed" and note.get("thing") is not None
            same = same and (later["area"], later.get("thing")) == (note["area"], note["thing"])
            both = same and later["by"] != note["by"] and not later.get("failed") and not note.get("failed")
            return both and (later["since"], later["noteId"]) > (note["since"], note["noteId"])

        return any(other["replaces"] == note["noteId"] or overtakes(other) for other in self.notes.values())

    def fading(self, note):
        if self.isReplaced(note):
            return 0.0
        kind, age, rules = note["kind"], self.clock - note["since"], self.areaOf(note["area"])
        if kind == "plan":
            return note["weight"] if age <= rules["planLife"] else 0.0
        if kind == "alarm" and "alarmStays" in self.defects:
            return note["weight"]
        if kind in ("sighting", "alarm"):
            trust = CHOICES["origin"][note.get("origin", "own")]
            return note["weight"] * 0.5 ** (age / rules[kind + "Half"]) * trust
        return 0.0 if note.get("answer") else note["weight"]

    def weigh(self, noteId):
        alarms = sum(self.fading(note) for note in self.notes.values() if note.get("refutes") == noteId)
        return max(0.0, self.fading(self.notes[noteId]) - alarms)

    def together(self, weights):
        ordered = sorted(weights, reverse=True)
        return min(ordered[0] + 0.3 * sum(ordered[1:]), 2.0 * ordered[0]) if ordered else 0.0

    # looking

    def look(self, area, member=None, least=0.01, **filters):
        """Notes of one area, the weightiest first; filters are kind, thing and topic. Nobody looks at everything."""
        rules = self.areaOf(area)
        sees = self.members[member]["sees"] if member in self.members else []
        full = rules and (member is None or rules["sight"] == "open" or any(isUnder(area, one) for one in sees))
        if not rules or (rules["sight"] == "secret" and not full):
            return []
        found = []
        for note in self.notes.values():
            weight = self.weigh(note["noteId"])
            if note["area"] == area and weight >= least and all(note.get(key) == filters[key] for key in filters):
                hidden = {} if full else {**{key: None for key in PRIVATE if key in note}, "veiled": True}
                found.append({**deepcopy(note), **hidden, "now": weight})
        return sorted(found, key=lambda note: (-note["now"], note["since"], note["noteId"]))

    def openQuestions(self):
        groups = {}
        for note in self.notes.values():
            if note["kind"] == "question" and not note.get("answer") and not self.isReplaced(note):
                groups.setdefault((note["area"], note["text"].strip().lower()), []).append(deepcopy(note))
        rows = [
            {
                "area": area,
                "questions": group,
                "urgency": max(note["urgency"] for note in group) + math.log(len(group)) * 0.1,
                "waiting": sum(note["waiting"] for note in group),
                "backgrounds": [note["background"] for note in group],
            }
            for (area, _), group in groups.items()
        ]
        return sorted(rows, key=lambda row: -row["urgency"])

    # doing

    def deedsOn(self, area, thing):
        def near(other):
            return other == area or ("wholeBranch" in self.defects and (isUnder(other, area) or isUnder(area, other)))

        return [
            note
            for note in self.notes.values()
            if note["kind"] == "deed"
            and near(note["area"])
            and thing is not None
            and note.get("thing") == thing
            and not note.get("failed")
            and not self.isReplaced(note)
        ]

    def plansOn(self, area, thing):
        plans = [note for note in self.notes.values() if note["kind"] == "plan" and note["area"] == area]
        return [note for note in plans if note["thing"] == thing and self.weigh(note["noteId"]) > 0]

    def best(self, plans, rule):
        order = (lambda time: -time) if "latestTie" in self.defects and rule == "surest" else (lambda time: time)
        return min(plans, key=lambda p: (-p["sureness"] if rule == "surest" else 0, order(p["since"]), p["noteId"]))

    def say(self, answer, why, **more):
        return {
            "answer": answer,
            "why": why,
            "plan": None,
            "winner": None,
            "others": [],
            "outcome": None,
            **deepcopy(more),
        }

    def takenBy(self, deed, **more):
        plan = self.notes.get(deed["replaces"])
        if plan is None or plan["kind"] != "plan":
            names = ("noteId", "by", "area", "thing", "verb", "since", "weight")
            plan = {"kind": "plan", "sureness": 1.0, **{name: deed[name] for name in names}}
        return self.say("taken", f"{deed['by']} has done something to it", winner=plan, others=[plan], **more)

    def askBoss(self, plan):
        text = f"Who may work on {plan['thing']} in {plan['area']}?"
        fields = {"text": text, "background": {"asks": plan["by"]}, "urgency": plan["sureness"], "waiting": True}
        self.pin("board", "question", plan["area"], fields)

    def perform(self, member, area, thing, verbs, sureness, tool):
        """`verbs` is (planned verb, done verb). The answer is go, taken, wait or no."""
        fields = {"thing": thing, "verb": verbs[0], "sureness": sureness}
        fault = self.fault(member, "plan", area, fields)
        fault = fault or self.fault(member, "deed", area, {"thing": thing, "verb": verbs[1], "outcome": {}})
        if fault:
            return self.say("no", "" if "mutedRefusal" in self.defects else fault)
        foreign = [deed for deed in self.deedsOn(area, thing) if deed["by"] != member]
        if foreign:
            return self.takenBy(foreign[-1])
        earlier = [plan for plan in self.plansOn(area, thing) if plan["by"] == member]
        if earlier:
            fields["replaces"] = earlier[-1]["noteId"]
        planId = self.pin(member, "plan", area, fields)
        self.tools[(member, area, thing)] = (planId, verbs[1], tool)
        plans, rules = self.plansOn(area, thing), self.areaOf(area)
        others = [plan for plan in plans if plan["by"] != member]
        facts = {"plan": planId, "others": others}
        if rules["batch"]:
            return self.say("wait", "the board settles this later", **facts)
        if others and rules["rule"] == "askBoss":
            self.askBoss(self.notes[planId])
            outcome = self.work(member, area, thing, planId) if "runsAnyway" in self.defects else None
            return self.say("wait", "the boss has to decide", **facts, outcome=outcome)
        first = self.best(plans, rules["rule"]) if others else None
        if first and first["by"] != member:
            return self.say("taken", f"{first['by']} goes first", winner=first, **facts)
        return self.say("go", "nobody goes before", **facts, outcome=self.work(member, area, thing, planId))

    def work(self, member, area, thing, planId):
        _, verb, tool = self.tools.pop((member, area, thing))
        failed = False
        try:
            outcome = tool()
        except Exception as error:
            if "lostFailure" in self.defects:
                return {"error": str(error)}
            outcome, failed = {"error": str(error)}, True
        if not hasShape(outcome, dict):
            outcome = {"value": outcome if isPlain(outcome) else type(outcome).__name__}
        fields = {"thing": thing, "verb": verb, "outcome": outcome, "failed": failed, "replaces": planId}
        self.pin(member, "deed", area, fields)
        return outcome

    def settle(self, area, thing):
        """Ends a batch: the winner's tool is run; who posted a plan without perform is only told."""
        rules = self.areaOf(area)
        plans = self.plansOn(area, thing) if rules and rules["batch"] else []
        if "freshOnly" in self.defects:
            last = self.settled.get((area, thing), -1)
            plans = [plan for plan in plans if plan["since"] > last]
            self.settled[(area, thing)] = self.clock
        if not plans:
            return {}
        deeds = self.deedsOn(area, thing)
        first = self.best(plans[:2] if "pairOnly" in self.defects else plans, rules["rule"])
        answers = {}
        for member in dict.fromkeys(plan["by"] for plan in plans):
            mine = [plan for plan in plans if plan["by"] == member]
            others = [plan for plan in plans if plan["by"] != member]
            foreign = [deed for deed in deeds if deed["by"] != member]
            facts = {"plan": mine[-1]["noteId"], "others": others}
            if foreign:
                answers[member] = self.takenBy(foreign[-1], plan=facts["plan"])
            elif others and rules["rule"] == "askBoss":
                self.askBoss(mine[-1])
                answers[member] = self.say("wait", "the boss has to decide", **facts)
            elif member == first["by"] or "losersFollow" in self.defects:
                planId, _, _ = self.tools.get((member, area, thing), (None, None, None))
                won = any(plan["noteId"] == planId for plan in mine)
                outcome = self.work(member, area, thing, planId) if won else None
                answers[member] = self.say("go", "won", **facts, outcome=outcome)
            else:
                answers[member] = self.say("wait", f"{first['by']} won", **facts)
        return answers
