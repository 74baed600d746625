"""Seats around a table of slots. `playRound` checks and carries out one round in a single call."""

from math import isfinite

MOVE_FIELDS = {"player", "tag", "kind", "touches", "puts", "shows"}
SPIN_LIMIT = 3


def sameValue(one, two):
    return type(one) is type(two) and one == two


def isSimple(value):
    return value is None or type(value) in (str, bool, int) or (type(value) is float and isfinite(value))


class Table:
    def __init__(self, config, defects=frozenset()):
        self.defects = frozenset(defects)
        self.seats = list(config["seats"])
        self.present = list(self.seats)
        self.slots = dict(config["slots"])
        self.passes = [dict(entry, slots=list(entry["slots"])) for entry in config["passes"]]
        self.bans = [dict(entry, slots=list(entry["slots"])) for entry in config["bans"]]
        self.maxRounds = config["maxRounds"]
        self.round = 0
        self.spins = 0
        self.everSpun = self.anythingDone = self.stuckNow = False
        self.lastResult = dict.fromkeys(self.seats)
        if not all(isSimple(value) for value in self.slots.values()):
            raise ValueError("slots hold simple values only")
        if len({entry["passId"] for entry in self.passes}) != len(self.passes):
            raise ValueError("passId used twice")

    # what a seat may see before its move

    def look(self, seat):
        return {"round": self.round, "slots": dict(self.slots), "lastResult": self.lastResult[seat]}

    # the one call

    def playRound(self, moves):
        """`moves` maps seats to a move, to "leave", or to None; what is missing is None."""
        if self.isOver():
            raise RuntimeError("the table is closed")
        for seat in self.seats:
            if seat in self.present and moves.get(seat) == "leave":
                self.present.remove(seat)
                self.lastResult[seat] = None
        results, wellFormed, admitted = {}, {}, {}
        for seat in self.present:
            move = moves.get(seat)
            if move is None:
                results[seat] = "idle"
            elif not self.isWellFormed(seat, move) or not self.showsOnlyOwn(seat, move):
                results[seat] = "invalid"
            else:
                wellFormed[seat] = move
                if self.mayTouch(seat, move):
                    admitted[seat] = move
                else:
                    results[seat] = "blocked"
        crowd = wellFormed if "banned_stays_in" in self.defects else admitted
        blocked = self.findClashes(crowd) & set(admitted)

        nextSlots = dict(self.slots)
        for seat, move in admitted.items():
            if seat in blocked:
                results[seat] = "blocked"
            elif not self.changedSlots(move) <= set(move["touches"]):
                results[seat] = "invalid"
            else:
                results[seat] = "done"
                for slot, value in move["puts"].items():
                    if slot not in self.slots or not sameValue(self.slots[slot], value):
                        nextSlots[slot] = value
        moved = any(not sameValue(nextSlots[slot], self.slots[slot]) for slot in self.slots)
        self.slots = nextSlots

        self.spins = self.spins + 1 if blocked and not moved else 0
        self.everSpun = self.everSpun or self.spins >= SPIN_LIMIT
        self.anythingDone = self.anythingDone or "done" in results.values()
        submitted = any(result != "idle" for result in results.values())
        self.stuckNow = submitted and not admitted and not self.hasOpenDoor()
        self.lastResult.update(results)
        self.round += 1
        results = {seat: results[seat] for seat in self.present}
        return {"round": self.round - 1, "results": results, "slots": dict(self.slots), "ending": self.ending()}

    def isWellFormed(self, seat, move):
        if not isinstance(move, dict) or set(move) != MOVE_FIELDS:
            return False
        if "self_named" not in self.defects and move["player"] != seat:
            return False
        if "any_tag" not in self.defects and move["tag"] != f"{seat}:{self.round}:0":
            return False
        touches, puts, shows = move["touches"], move["puts"], move["shows"]
        if not isinstance(touches, list) or not isinstance(puts, dict) or not isinstance(shows, list):
            return False
        if not all(isinstance(name, str) for name in [*touches, *puts, *shows]):
            return False
        if not touches or len(set(touches)) < len(touches) or not set(touches) <= set(self.slots):
            return False
        if move["kind"] == "look":
            return not puts
        return move["kind"] == "put" and all(isSimple(value) for value in puts.values())

    def passesOf(self, seat, move):
        """The passes held by whoever makes the move."""
        holder = move["player"] if "self_named" in self.defects else seat
        return [entry for entry in self.passes if entry["holder"] == holder]

    def showsOnlyOwn(self, seat, move):
        return set(move["shows"]) <= {entry["passId"] for entry in self.passesOf(seat, move)}

    def isBanned(self, kind, slot):
        return any(ban["kind"] == kind and slot in ban["slots"] for ban in self.bans)

    def mayTouch(self, seat, move):
        shown = [entry for entry in self.passesOf(seat, move) if entry["passId"] in move["shows"]]
        return all(
            not self.isBanned(move["kind"], slot)
            and any(entry["kind"] == move["kind"] and slot in entry["slots"] for entry in shown)
            for slot in move["touches"]
        )

    def findClashes(self, crowd):
        users = {}
        for seat, move in crowd.items():
            onlyPuts = "collide_on_puts" in self.defects and move["kind"] == "put"
            for slot in move["puts"] if onlyPuts else move["touches"]:
                users.setdefault(slot, []).append(seat)
        blocked = set()
        for seats in users.values():
            groups = [seats]
            if "odd_one_through" in self.defects:
                groups = zip(seats[::2], seats[1::2], strict=False)
            for group in groups:
                if len(group) < 2 or all(crowd[seat]["kind"] == "look" for seat in group):
                    continue
                if "tie_by_name" in self.defects:
                    group = sorted(group)[1:]
                blocked.update(group)
        return blocked

    def changedSlots(self, move):
        if "true_is_one" in self.defects:
            return {slot for slot, value in move["puts"].items() if slot not in self.slots or self.slots[slot] != value}
        return {
            slot
            for slot, value in move["puts"].items()
            if slot not in self.slots or not sameValue(self.slots[slot], value)
        }

    # how it ends

    def isOver(self):
        if "one_more_round" in self.defects:
            return not self.present or self.round > self.maxRounds
        return not self.present or self.round >= self.maxRounds

    def hasOpenDoor(self):
        """Some present seat holds a pass for something that is not banned."""
        return any(
            slot in self.slots and not self.isBanned(entry["kind"], slot)
            for entry in self.passes
            if entry["holder"] in self.present
            for slot in entry["slots"]
        )

    def lostSlots(self):
        lost = []
        for slot in self.slots:
            holders = {entry["holder"] for entry in self.passes if entry["kind"] == "put" and slot in entry["slots"]}
            left = holders & set(self.seats) - set(self.present)
            if left and not holders & set(self.present):
                lost.append(slot)
        return lost

    def ending(self):
        if not self.isOver():
            return None
        if "orphan_first" in self.defects and self.lostSlots():
            return "orphaned"
        if not self.present:
            return "abandoned"
        if self.lostSlots():
            return "orphaned"
        if self.stuckNow:
            return "stuck"
        if self.everSpun:
            return "spinning"
        return "coordinated" if self.anythingDone else "unfinished"
