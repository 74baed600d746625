"""Run the honest steward once, then every defect in the situation where it shows."""

import tomllib
from pathlib import Path

from kernel import CHARTER, DEFECTS, Steward, sha

CITE = "constitution:v0.1.1#INV-EXPLICIT-AUTHORITY"


def saw(name="s1", text="please", tokens=100, time="2026-02-12T12:00:00Z", **more):
    rows = [(name, "user_input", text), (f"{name}t", "timestamp", time), (f"{name}b", "budget", tokens)]
    return [{"id": i, "kind": kind, "what": what} for i, kind, what in [*rows, *((k, k, v) for k, v in more.items())]]


def wish(deed="Notify", cites=(CITE,), seen=("s1",), by="reflection", **rest):
    rest = rest or {"message": "hello"}
    scope = {"claim": "asked for", "clause": CITE, "seen": list(seen)}
    return {"by": by, "do": {"deed": deed, **rest}, "scope": scope, "because": "the user asked", "cites": list(cites)}


def one(defects, sightings, *wishes, **settings):
    steward = Steward(defects=defects, **settings)
    answer = steward.act(sightings, wishes)
    return answer["decision"], answer.get("failedGate"), answer.get("result"), steward.shown


def exitByUser(defects):
    return one(defects, saw(text="startup_integrity_fail"), wish())


def afterExit(defects):
    steward = Steward(defects=defects)
    steward.act(saw(system="startup_integrity_fail"), [])
    steward.act(saw(), [wish()])
    return steward.shown


def kernelWish(defects):
    steward = Steward(defects=defects)
    steward.act(saw(), [wish("LogAppend", by="kernel", log="artifacts", lines=["{}"])])
    return steward.files


def clauseByPrefix(defects):
    return one(defects, saw(), wish(cites=["constitution:v0.1.1#INV-"]))


def anyAdmitted(defects):
    pair = [wish(), wish(message="goodbye")]
    return [one(defects, saw(), *pair)[-1], one(defects, saw(), *pair[::-1])[-1]]


def firstWishOnly(defects):
    return one(defects, saw(), wish("ReadLocal", path="/etc/passwd"), wish())


def readWhatYouWrite(defects):
    return one(defects, saw(), wish("ReadLocal", path="./logs/old"), files={"logs/old": "secret"})


def tokensAddUp(defects):
    steward = Steward(defects=defects)
    steward.act(saw(tokens=6000), [wish()])
    return steward.act(saw(), [wish()])["decision"]


def pointerCrash(defects):
    try:
        return one(defects, saw(), wish(cites=["constitution:v0.1.1@/clauses/first"]))
    except ValueError as error:
        return str(error)


def oldSightings(defects):
    steward = Steward(defects=defects)
    steward.act(saw("s0"), [])
    return steward.act(saw(), [wish(seen=["s0"])])["decision"]


SITUATIONS = {name: globals()[name] for name in DEFECTS}
ALSO = {"anyAdmitted": {"firstWishOnly"}}


def rejections():
    def gate(bad, **settings):
        return one(frozenset(), saw(**settings), bad)[1]

    for key in ("by", "do", "scope", "because", "cites"):
        for junk in (None, 7, [], {}, 0.5, "\ud800"):
            assert gate({**wish(), key: junk}) == "completeness", (key, junk)
    for by in ("reflection", "kernel"):
        assert gate(wish("LogAppend", by=by, log="x", lines=[])) == "completeness"
    assert gate(wish("Exit", code="0")) == "" and gate(wish("Format", disk="c")) == "constitution_compliance"
    assert gate(wish(seen=["s9"])) == "scope_claim" and gate(wish(cites=[CITE, ""])) == "authority_citation"
    for path in ("workspace/../../x", "/workspace/x", "", "workspace", "workspace/..", "./logs/x", "workspac\u0435/x"):
        assert gate(wish("ReadLocal", path=path)) == "io_allowlist", path
    assert gate(wish("WriteLocal", path="./artifacts/x", content="")) == "io_allowlist"
    assert gate(wish(), timestamp="2026-02-12T12:00:00Z") == "required_observations"
    assert (
        one(frozenset(), saw(tokens=6000), wish())[0] == "ACTION"
        and one(frozenset(), saw(tokens=6001), wish())[0] == "REFUSE"
    )
    assert one(frozenset(), saw(tokens=9000), wish(), seal="0")[0] == "EXIT"
    assert one(frozenset(), saw(), wish(), seal=sha(CHARTER))[0] == "ACTION"


def main():
    steward = Steward({"artifacts/law": "be kind"})
    print(steward.act(saw(), [wish("ReadLocal", path="./artifacts/law")]))
    print(
        steward.act(saw(), [7, wish("WriteLocal", path="./workspace/a/../b", content="x"), wish("Format")]),
        steward.files,
    )
    print(steward.act(saw(), [wish(), wish(), wish(message="other")]), steward.shown)
    print(steward.act([], [wish()]), steward.act(saw(), []))
    print(steward.act(saw(system="startup_integrity_fail"), [wish()]), steward.act(saw(), [wish()]))
    rejections()
    rows = tomllib.loads((Path(__file__).parent.parent / "defects.toml").read_text())["defect"]
    masks = {row["name"]: row["masked_by"] for row in rows if row["kernel"] == "one_call"}
    assert set(masks) == set(DEFECTS)
    for name, situation in SITUATIONS.items():
        honest = situation(frozenset())
        shown = {d for d in DEFECTS if situation(frozenset({d})) != honest}
        print(f"{name}: honest {honest}, faulty {situation(frozenset({name}))}")
        assert shown == {name} | ALSO.get(name, set()), (name, shown)
        for mask in masks[name]:
            assert situation(frozenset({mask})) == situation(frozenset({mask, name})), (name, mask)


if __name__ == "__main__":
    main()
