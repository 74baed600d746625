"""A short honest game, then each defect beside the honest kernel."""

from kernel import Table


def put(seat, number, touches, shows=(), puts=None, **other):
    puts = {slot: seat for slot in touches} if puts is None else puts
    return {
        "player": seat,
        "tag": f"{seat}:{number}:0",
        "kind": "put",
        "touches": list(touches),
        "puts": puts,
        "shows": list(shows) or [seat[0] + "1"],
        **other,
    }


def table(d, rounds=9, passes=None, slots=None, bans=()):
    if passes is None:
        passes = [(seat[0] + "1", seat, "put", "xy") for seat in ("ann", "bob", "cy")]
    return Table(
        {
            "seats": ["ann", "bob", "cy"],
            "slots": slots or {"x": "free", "y": "free"},
            "maxRounds": rounds,
            "bans": [{"kind": k, "slots": list(s)} for k, s in bans],
            "passes": [{"passId": i, "holder": h, "kind": k, "slots": list(s)} for i, h, k, s in passes],
        },
        frozenset(d),
    )


def baseline(d):
    return table(d, 1).playRound({"ann": put("ann", 0, "x"), "bob": put("bob", 0, "y")})


def twoWriters(d):
    return table(d).playRound({"ann": put("ann", 0, "x"), "bob": put("bob", 0, "x")})


def threeWriters(d):
    return table(d).playRound({seat: put(seat, 0, "x") for seat in ("ann", "bob", "cy")})


def idleDeclaration(d):
    moves = {"ann": put("ann", 0, "xy", puts={"x": 1}), "bob": put("bob", 0, "y")}
    return table(d).playRound(moves)


def passlessRival(d):
    one = table(d, passes=[("a1", "ann", "put", "x"), ("b1", "bob", "put", "y")])
    return one.playRound({"ann": put("ann", 0, "x"), "bob": put("bob", 0, "x")})


def forgedTag(d):
    return table(d).playRound({"ann": put("ann", 0, "x", tag="bob:7:0")})


def borrowedName(d):
    return table(d).playRound({"ann": put("ann", 0, "x", ["b1"], player="bob")})


def trueOverOne(d):
    return table(d, slots={"x": 0, "y": 1}).playRound({"ann": put("ann", 0, "x", puts={"x": 5, "y": True})})


def extraRound(d):
    one = table(d, 1)
    one.playRound({"ann": put("ann", 0, "x")})
    try:
        return one.playRound({"ann": put("ann", 1, "y")})
    except RuntimeError as error:
        return str(error)


def everyoneLeaves(d):
    return table(d).playRound(dict.fromkeys(("ann", "bob", "cy"), "leave"))


SHOWS = {
    "tie_by_name": twoWriters,
    "odd_one_through": threeWriters,
    "collide_on_puts": idleDeclaration,
    "banned_stays_in": passlessRival,
    "any_tag": forgedTag,
    "self_named": borrowedName,
    "true_is_one": trueOverOne,
    "one_more_round": extraRound,
    "orphan_first": everyoneLeaves,
}
MASKS = [("banned_stays_in", "tie_by_name")]
# any clash brings the winner by name out
ALSO = {("tie_by_name", "odd_one_through"), ("tie_by_name", "collide_on_puts")}


def isSame(one, two):
    return repr(one) == repr(two)


def conditions():
    one = table((), 3)
    for number in range(3):
        answer = one.playRound({s: put(s, number, "x") for s in ("ann", "bob")})
    print("B", answer)
    one = table((), 3, bans=[("put", "xy")])
    for number in range(3):
        answer = one.playRound({"ann": put("ann", number, "x")})
    print("D", answer)
    one = table((), 2, passes=[("b1", "bob", "put", "x"), ("a1", "ann", "put", "y")])
    one.playRound({"ann": put("ann", 0, "y"), "bob": put("bob", 0, "x")})
    print("G", one.playRound({"ann": put("ann", 1, "x"), "bob": "leave"}), one.look("ann"))


if __name__ == "__main__":
    print("honest:", baseline(()))
    conditions()
    for name, situation in SHOWS.items():
        if name != "one_more_round":
            assert isSame(baseline({name}), baseline(())), name
        for other, elsewhere in SHOWS.items():
            differs = not isSame(elsewhere({name}), elsewhere(()))
            assert differs == (name == other or (name, other) in ALSO), (name, other)
        print(f"{name}: {situation(())} becomes {situation({name})}")
    for hidden, by in MASKS:
        assert isSame(SHOWS[hidden]({hidden, by}), SHOWS[hidden]({by}))
        print(f"{hidden} cannot be seen there beside {by}")
