"""The theorems about a use: for any number of warrants issued, spent and replayed, and any tree.

A use is a step of an executor that holds a warrant and a request.  Places are the targets of paths: now, at the check,
and by the text alone.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import partial

from evenhand.core.system import AnySystem
from evenhand.model.sovereign.artifacts import artifact_id
from evenhand.model.sovereign.menus import TREE, candidate, usual
from evenhand.model.sovereign.mutants import executor_and_log as faulty
from evenhand.model.sovereign.paths import BASE, Place, dir_, link_, resolve
from evenhand.model.sovereign.readings import Readings
from evenhand.model.sovereign.state import Act, Check, Config, Decide, Mutate, Swap, Use
from evenhand.model.sovereign.step import SovereignStep, initial
from evenhand.model.sovereign.vocabulary import EXECUTORS, WRITE_LOCAL, Effect, Request, Warrant, field
from evenhand.properties.sovereign import executing
from evenhand.properties.sovereign.predicates import bundle_of, times_of
from evenhand.smt.ends import End, Ends, ends_along
from evenhand.smt.logic import TRUE, Sort, conjunction, exists, same
from evenhand.smt.preludes import Declarations, Faults
from evenhand.smt.structure import Structure
from evenhand.smt.tables import structure
from evenhand.smt.theorem import Theorem

WARRANT, REQUEST, PLACE = Sort("Warrant"), Sort("Request"), Sort("Place")
SAID = Declarations()

issued = SAID.relation("issued", WARRANT)
old = SAID.relation("old", WARRANT)
spent = SAID.relation("spent", WARRANT)
dispatchable = SAID.relation("dispatchable", REQUEST)
allowed = SAID.relation("allowed", PLACE)
"""Places below a directory that the constitution allows."""

possible = SAID.relation("possible")
"""The tree permits the request: the file exists, its directory does."""

names = SAID.function("names", WARRANT, REQUEST)
held = SAID.function("held", WARRANT)
hand = SAID.function("hand", REQUEST)
now = SAID.function("now", PLACE)
then = SAID.function("then_", PLACE)
text = SAID.function("text", PLACE)

w = WARRANT("w")

genuine = SAID.word("genuine", (), issued(held()), "4 INV-1: the kernel issued it")
current = SAID.word("current", (), ~old(held()), "4 INV-1: in this cycle")
fresh = SAID.word("fresh", (), ~spent(held()), "4 INV-1: single-use")
named = SAID.word("named", (), same(hand(), names(held())), "4 INV-1: it references the request")
permits = SAID.word("permits", (), allowed(now()), "6: where the path leads now is below an allowed directory")
used = SAID.word(
    "used",
    (),
    conjunction([genuine(), current(), fresh(), named(), dispatchable(hand()), permits()]),
    "2.2: validated, and the allow-list consulted",
)
effect = SAID.word("effect", (), used() & possible(), "2.2: only then is anything done")
spends = SAID.word("spends", (w,), spent(w) | (used() & same(w, held())), "4 INV-1: a use spends the warrant")

USE = SAID.theory("sovereign_use", WARRANT, REQUEST, PLACE)

FAULTS = Faults(
    (faulty.warrant_reused, USE.means("fresh", TRUE, "a spent warrant is as good as a fresh one")),
    (faulty.forged_warrant_accepted, USE.means("genuine", TRUE, "what looks like a warrant is one")),
    (faulty.request_changed_after_issue, USE.means("named", TRUE, "the request is not compared")),
    (faulty.never_spent, USE.means("spends", spent(w), "a use spends nothing")),
    (faulty.place_of_the_check, USE.means("permits", allowed(then()), "what was found at the check is believed")),
    (faulty.links_not_followed, USE.means("permits", allowed(text()), "links are not followed")),
    (faulty.executor_permits_all, USE.means("permits", TRUE, "the allow-list is not consulted")),
)


def _asks(request: Request) -> str:
    return artifact_id(Request(request.action_type, request.fields, ""))[:16]


def _element(place: Place | None) -> str:
    return "place:" + ("nowhere" if place is None else "/".join(place))


def _lexical(path: str) -> Place:
    return tuple(one for one in posixpath.normpath(posixpath.join("/", *BASE, path)).split("/") if one)


def _below(config: Config, place: Place | None) -> bool:
    """Return whether a write there is allowed."""
    where = "/" + "/".join(place or ())
    paths = config.constitution.io.write_paths
    return any(where.startswith(posixpath.normpath("/" + "/".join((*BASE, one))) + "/") for one in paths)


def view_use(step: SovereignStep) -> Structure | None:
    """Return a use of a write as a structure; None for other steps, types and readings."""
    action, before, config = step.action, step.before, step.config
    if not isinstance(action, Use) or before.over or config.readings != Readings() or step.shown.kind != "use":
        return None
    mine = before.held[EXECUTORS.index(action.executor)]
    if mine is None or mine.request.action_type != WRITE_LOCAL:
        return None
    path = field(mine.request.fields, "path")
    if not isinstance(path, str) or not path or path.startswith("/"):
        return None
    warrants = sorted({mine.warrant, *before.issued, *(one.warrant for one in before.spent)}, key=repr)
    element = {one: f"warrant:{place}" for place, one in enumerate(warrants)}
    places = {"now": resolve(before.tree, path), "then_": mine.place, "text": _lexical(path)}
    requests = dict.fromkeys((_asks(mine.request), *(_asks(one.request) for one in warrants)))

    done: tuple[Effect, ...] = step.shown.effects
    blocked = step.shown.rejected == "the tree does not allow it"
    where = places["now"]
    parent = None if where is None else dict(before.tree).get(where[:-1])
    node = None if where is None else dict(before.tree).get(where)
    spent_after = {one.warrant for one in step.after.spent}
    return structure(
        {"Warrant": element.values(), "Request": requests, "Place": dict.fromkeys(map(_element, places.values()))},
        {
            "issued": {element[one] for one in before.issued},
            "old": {element[one] for one in warrants if one.age},
            "spent": {element[one.warrant] for one in before.spent},
            "dispatchable": {*requests},
            "allowed": {_element(one) for one in places.values() if _below(config, one)},
            "possible": parent == dir_() and (node is None or node.kind == "file"),
            "effect": bool(done),
            "used": bool(done) or blocked,
            "spends": {element[one] for one in warrants if one in spent_after},
            "names": {element[one]: _asks(one.request) for one in warrants},
            "held": element[mine.warrant],
            "hand": _asks(mine.request),
            **{name: _element(place) for name, place in places.items()},
        },
    )


D = (*BASE, "workspace", "d")
_SEEN = usual()
_WRITE = candidate(_SEEN, WRITE_LOCAL, path="workspace/d/f")
_OTHER = Request(WRITE_LOCAL, (("content", "m"), ("path", "workspace/d/g")), "")
_ELSEWHERE = Request(WRITE_LOCAL, (("content", "m"), ("path", "artifacts/g")), "")


_MINE = Warrant(
    Request(_WRITE.request.action_type, _WRITE.request.fields, ""),
    bundle_of("content", _WRITE).hex(),
    str(times_of(_SEEN)[0]),
)
_FORGED = Warrant(_MINE.request, "0" * 64, "")
_NOWHERE = Warrant(Request(WRITE_LOCAL, (("content", "m"), ("path", "artifacts/g")), ""), "1" * 64, "")


@Ends
def uses(system: AnySystem) -> Iterator[End]:
    """Return uses for conformance tests: lawful, forged, replayed, stale, mutated, with links swapped."""
    config = Config(tree=TREE)
    honest = _WRITE.request
    cycle = Decide(_SEEN, (_WRITE,))
    between: tuple[tuple[Act, ...], ...] = (
        (),
        (Mutate(EXECUTORS[0], _OTHER),),
        (Mutate(EXECUTORS[0], _ELSEWHERE),),
        (Swap(D, link_("../../etc")),),
        (Swap(D, link_("../../artifacts")),),
        (Swap((*D, "f"), dir_()),),
        (Decide(_SEEN, ()),),
        (cycle,),
        (Check(EXECUTORS[1], _MINE, honest), Use(EXECUTORS[1])),
    )
    for warrant, request in ((_MINE, honest), (_FORGED, honest), (_NOWHERE, _NOWHERE.request), (_MINE, _OTHER)):
        for start in ((cycle,), (cycle, Check(EXECUTORS[1], _MINE, honest), Use(EXECUTORS[1]))):
            for middle in between:
                acts = (*start, Check(EXECUTORS[0], warrant, request), *middle, Use(EXECUTORS[0]))
                yield list(ends_along(system, config, initial(config)[0], *acts))[-1]


_of_uses = partial(
    Theorem,
    protocol="sovereign",
    system="agent",
    theory=USE,
    view=view_use,
    samples=uses,
    scope="any number of warrants issued and spent, any tree",
)

SPENT = _of_uses(
    claim=executing.an_effect_spends_an_issued_warrant,
    sentence="Nothing is done but under a warrant that was issued in this cycle for the request in hand and was not "
    "spent, and is then.",
    assumes=effect(),
    goal=conjunction([issued(held()), ~old(held()), ~spent(held()), same(hand(), names(held())), spends(held())]),
    witness=exists([w], spent(w)),
    mutants=(
        *FAULTS.refuted(
            faulty.warrant_reused,
            faulty.forged_warrant_accepted,
            faulty.request_changed_after_issue,
            faulty.never_spent,
        ),
        FAULTS.unseen(faulty.executor_permits_all, "it is about places"),
        FAULTS.unseen(faulty.place_of_the_check, "it is about places"),
    ),
)

WITHIN = _of_uses(
    claim=executing.nothing_outside_the_allow_list,
    sentence="Whatever is written lies where the constitution allows it, with the links as they are at that moment.",
    assumes=effect(),
    goal=allowed(now()),
    mutants=(
        *FAULTS.refuted(faulty.place_of_the_check, faulty.links_not_followed, faulty.executor_permits_all),
        FAULTS.unseen(faulty.warrant_reused, "it is about warrants"),
    ),
)
