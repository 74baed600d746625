"""The warrant-gated executor over a tree that is data: check, then use (2.2, 4, 6).

Checking and using are two actions, so that an attacker can act between them.  A use validates anew: it resolves the
path in the current tree, consults the allow-list for the place it leads to, and spends the warrant, in one action.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evenhand.core.records import replace
from evenhand.model.sovereign.constitution import REQUIREMENTS
from evenhand.model.sovereign.kernel import lacks_a_part, offer, path_of
from evenhand.model.sovereign.paths import (
    Place,
    Tree,
    dir_,
    file_,
    look,
    normal_form,
    put,
    resolve,
    roots,
    under,
    unsettled,
    within_prefix,
)
from evenhand.model.sovereign.state import Act, Check, Config, Cycle, Decide, Held, Spent, State, Use
from evenhand.model.sovereign.vocabulary import (
    EXECUTORS,
    EXIT_TYPE,
    LOG_APPEND,
    NOTIFY,
    READ_LOCAL,
    WRITE_LOCAL,
    Effect,
    Request,
    Warrant,
    field,
    text_of,
)


def valid(config: Config, state: State, executor: str, warrant: Warrant, request: Request) -> str:
    """Return why an executor refuses a warrant for a request; empty if it acts."""
    if warrant not in state.issued:
        return "the kernel issued no such warrant"
    if warrant.age:
        return "the warrant is of an earlier cycle"
    shared = config.readings.spent_memory == "durable"
    if Spent(warrant, "" if shared else executor) in state.spent:
        return "the warrant is spent"
    if replace(request, author=warrant.request.author, created_at=warrant.request.created_at) != warrant.request:
        return "the warrant names another request"
    if request.action_type not in (NOTIFY, READ_LOCAL, WRITE_LOCAL, LOG_APPEND):
        return f"{EXIT_TYPE} is a decision, not something to execute"
    return ""


def place(_config: Config, state: State, held: Held) -> Place | None:
    """Return where the request's path leads now; None where it has none or leads nowhere."""
    path = path_of(held.request)
    return None if path is None else resolve(state.tree, path)


def permitted(config: Config, request: Request, where: Place | None) -> bool:
    """Return whether the allow-list has the place that the path leads to."""
    path = path_of(request)
    if path is None:
        return True
    io = config.constitution.io
    allowed = io.read_paths if request.action_type == READ_LOCAL else io.write_paths
    if config.readings.path_rule == "prefix_string":
        return where is not None and within_prefix(path, allowed)
    return where is not None and under(where, roots(allowed))


def spend(config: Config, state: State, executor: str, warrant: Warrant) -> frozenset[Spent]:
    """Return the memory of spent warrants after a use."""
    shared = config.readings.spent_memory == "durable"
    return state.spent | {Spent(warrant, "" if shared else executor)}


def restart(config: Config, state: State, who: str) -> State:
    """Return the state after a restart: the host loses owed lines, an executor its held request and own memory."""
    if who not in EXECUTORS:
        return replace(state, owed=())
    held = tuple(None if name == who else one for name, one in zip(EXECUTORS, state.held, strict=True))
    spent = frozenset(one for one in state.spent if one.executor != who)
    return replace(state, held=(held[0], held[1]), spent=spent)


def age(_config: Config, state: State) -> State:
    """Return the state in a new cycle: every earlier warrant is old, wherever it is kept."""
    return replace(
        state,
        issued=frozenset(replace(one, age=1) for one in state.issued),
        spent=frozenset(replace(one, warrant=replace(one.warrant, age=1)) for one in state.spent),
        held=(_older(state.held[0]), _older(state.held[1])),
    )


def _older(held: Held | None) -> Held | None:
    return None if held is None else replace(held, warrant=replace(held.warrant, age=1))


def done(tree: Tree, request: Request, where: Place | None) -> tuple[Tree, Effect | None]:
    """Return the tree and effect of a permitted request; no effect where the tree forbids it (a directory, say)."""
    match request.action_type:
        case "Notify":
            return tree, Effect(NOTIFY, (), str(field(request.fields, "message")))
        case "ReadLocal":
            node = look(tree, where or ())
            if node is None or node.kind != "file":
                return tree, None
            return tree, Effect(READ_LOCAL, where or (), node.text)
        case "WriteLocal":
            if where is None or not _writable(tree, where):
                return tree, None
            content = str(field(request.fields, "content"))
            return put(tree, where, file_(content)), Effect(WRITE_LOCAL, where, content)
        case _:
            if where is None or not _writable(tree, where):
                return tree, None
            return tree, Effect(LOG_APPEND, where, text_of(request.fields, "jsonl_lines"))


def _writable(tree: Tree, where: Place) -> bool:
    """Return whether a file may be made or replaced: its directory exists."""
    node, parent = look(tree, where), look(tree, where[:-1])
    return (node is None or node.kind == "file") and parent == dir_()


EXECUTOR_RULES: dict[str, Any] = {
    "valid": valid,
    "place": place,
    "permitted": permitted,
    "spend": spend,
    "restart": restart,
    "age": age,
}
"""The executor's share of the reference rules."""


def _carried_out(state: State, action: Act) -> Iterator[Request]:
    """The requests that an action may carry out, or judge or prepare for that."""
    match action:
        case Check():
            yield action.request
        case Use():
            holders = zip(EXECUTORS, state.held, strict=True)
            yield from (held.request for who, held in holders if who == action.executor and held is not None)
        case Cycle() | Decide():
            yield from (one.request for one in action.candidates)
        case _:
            pass


def _demands_are_open(config: Config, action: Act) -> bool:
    """Whether a candidate of a type that nobody declares lacks a part, which no declaration requires of it."""
    judged = offer(config, action.candidates) if isinstance(action, Cycle | Decide) else ()
    unknown = [one for one in judged if config.constitution.action_type(one.request.action_type) is None]
    return any(lacks_a_part(one, REQUIREMENTS) for one in unknown)


def _disk_is_open(tree: Tree, request: Request, path: str, action: Act) -> bool:
    """Whether disks differ on a path: `..` follows no directory, or one is absent that a writer may make."""
    if unsettled(tree, path):
        return True
    if isinstance(action, Decide) or request.action_type == READ_LOCAL:
        return False
    parts = path.split("/")
    places = (resolve(tree, "/".join(parts[:count])) for count in range(1, len(parts)))
    return any(where is not None and look(tree, where) is None for where in places)


def _is_open(config: Config, state: State, request: Request, path: str, action: Act) -> bool:
    """Whether disks differ on a path that one of them allows; on some, a backslash parts names."""
    parted = path.replace("\\", "/") if config.readings.path_rule == "normal_form" else path
    differ = parted != path or _disk_is_open(state.tree, request, path, action)
    return differ and any(permitted(config, request, normal_form(one)) for one in (path, parted))


def unsaid(config: Config, state: State, action: Act) -> bool:
    """No section says whether `..` may follow a name that is no directory (section 6, `path_rule`).

    Who shortens the text does not see it; but where the shortened path is not allowed, everybody refuses.  Nor does
    one say whether a backslash parts names (under `normal_form`), whether a write makes a directory that is absent, or
    which parts a type that is not declared requires, and so which gate refuses a candidate that lacks one.
    """
    paths = ((one, path_of(one)) for one in _carried_out(state, action))
    return _demands_are_open(config, action) or any(
        path is not None and _is_open(config, state, one, path, action) for one, path in paths
    )
