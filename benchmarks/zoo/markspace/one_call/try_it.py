"""A short honest run, then each defect beside the honest board."""

from kernel import Board

ALL = ["plan", "deed", "sighting", "alarm", "question"]


def newBoard(defects, **more):
    words = {"plans": ["book"], "deeds": ["booked"], "sightings": ["*"], "alarms": ["*"]}
    rooms = {**words, "planLife": 30, "sightingHalf": 60, "alarmHalf": 30, **more}
    members = {name: {"may": {"rooms": ALL}, "sees": []} for name in ("ann", "bob", "cy", "pat")}
    members["guest"] = {"may": {}, "sees": []}
    return Board({"areas": {"rooms": rooms}, "members": members, "boss": "pat"}, defects)


def perform(board, member, sureness=0.5, thing="r1", area="rooms", tool=None):
    return board.perform(member, area, thing, ("book", "booked"), sureness, tool or (lambda: {"for": member}))


def plan(board, member, sureness=0.5):
    return board.post(member, "plan", "rooms", thing="r1", verb="book", sureness=sureness)


def answers(board):
    return {member: (found["answer"], found["outcome"]) for member, found in board.settle("rooms", "r1").items()}


def baseline(d):
    board = newBoard(d)
    told = [perform(board, "ann")["answer"], perform(board, "bob")["answer"]]
    other = newBoard(d, rule="surest", batch=True)
    told += [perform(other, member, sure)["answer"] for member, sure in (("ann", 0.5), ("bob", 0.75))]
    return told, answers(other), [(note["kind"], note["by"]) for note in board.look("rooms", "bob")]


def bossAsked(d):
    board, ran = newBoard(d, rule="askBoss"), []
    plan(board, "ann")
    return perform(board, "bob", tool=lambda: ran.append("bob") or {})["answer"], ran


def brokenTool(d):
    board = newBoard(d)
    perform(board, "ann", tool=lambda: {}["x"])
    return [(note["kind"], note.get("failed")) for note in board.look("rooms")], perform(board, "bob")["answer"]


def twoWait(d):
    board = newBoard(d, rule="surest", batch=True)
    perform(board, "ann", 0.5)
    perform(board, "bob", 0.75)
    return answers(board)


def threeWait(d):
    board = newBoard(d, rule="surest", batch=True)
    for member, sure in (("ann", 0.5), ("bob", 0.25), ("cy", 0.75)):
        perform(board, member, sure)
    return answers(board)


def secondBoundary(d):
    board = newBoard(d, rule="surest", batch=True)
    plan(board, "ann", 0.75)
    first = answers(board)
    board.wait(1)
    plan(board, "bob", 0.5)
    return first, answers(board)


def listAsThing(d):
    try:
        return perform(newBoard(d), "ann", thing=["r1"])["answer"]
    except TypeError:
        return "crash"


def oldAlarm(d):
    board = newBoard(d)
    seen = board.post("ann", "sighting", "rooms", topic="t", details={}, sureness=1, origin="own", weight=4)
    board.post("bob", "alarm", "rooms", topic="t", because="moved", level="info", refutes=seen, weight=2)
    board.wait(60)
    return board.weigh(seen)


def stranger(d):
    return perform(newBoard(d), "guest")


def tie(d):
    board = newBoard(d, rule="surest", batch=True)
    perform(board, "bob")
    board.wait(1)
    perform(board, "ann")
    return answers(board)


def childArea(d):
    board = newBoard(d)
    perform(board, "ann", area="rooms/east")
    return perform(board, "bob")["answer"]


SHOWS = {
    "runsAnyway": bossAsked,
    "lostFailure": brokenTool,
    "losersFollow": twoWait,
    "pairOnly": threeWait,
    "freshOnly": secondBoundary,
    "oddThing": listAsThing,
    "alarmStays": oldAlarm,
    "mutedRefusal": stranger,
    "latestTie": tie,
    "wholeBranch": childArea,
}
MASKS = [("pairOnly", "losersFollow"), ("latestTie", "losersFollow")]


def honestExtras():
    board = newBoard(())
    asked = board.post("ann", "question", "rooms", text="Which?", background={}, urgency=0.5, waiting=True)
    answer = board.post("pat", "deed", "rooms", verb="booked", outcome={"room": 1})
    print("answered:", board.answerQuestion(asked, answer), board.weigh(asked), board.openQuestions())
    board.post("ann", "deed", "rooms", thing="r1", verb="booked", outcome={})
    board.post("bob", "deed", "rooms", thing="r1", verb="booked", outcome={})
    print("race:", [(note["kind"], note["by"], note.get("refutes")) for note in board.look("rooms")])
    veiled = newBoard((), sight="veiled")
    perform(veiled, "ann")
    print("veiled:", veiled.look("rooms", "guest"), newBoard((), sight="secret").look("rooms", "guest"))


if __name__ == "__main__":
    print("honest:", *baseline(()))
    honestExtras()
    for name, situation in SHOWS.items():
        # Who lets the losers follow does so wherever a batch has losers.
        also = {"losersFollow": {"pairOnly", "freshOnly", "latestTie"}}.get(name, set())
        assert (baseline({name}) == baseline(())) != (name == "losersFollow"), name
        for other, elsewhere in SHOWS.items():
            assert (elsewhere({name}) != elsewhere(())) == (other == name or other in also), (name, other)
        print(f"{name}: {situation(())} becomes {situation({name})}")
    for hidden, by in MASKS:
        assert SHOWS[hidden]({hidden, by}) == SHOWS[hidden]({by})
        print(f"{hidden} cannot be seen there beside {by}")
