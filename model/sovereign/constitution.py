"""A constitution as data: clauses, action types, IO policy, limits; and the resolution of its citations.

`document` is the JSON value of its YAML file; the digest of it is the constitution's hash.  A citation is
`constitution:vVERSION#ID`, which names a clause, or `constitution:vVERSION@POINTER`, an RFC 6901 pointer into the
document (7 A14).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, cast

from evenhand.core.canonical import Json, digest
from evenhand.core.records import dataclass, replace
from evenhand.model.sovereign.vocabulary import EXIT_TYPE, LOG_APPEND, NOTIFY, READ_LOCAL, WRITE_LOCAL

CITATIONS, SCOPE_CLAIM, JUSTIFICATION = "authority_citations", "scope_claim", "justification"
REQUIREMENTS = (CITATIONS, SCOPE_CLAIM, JUSTIFICATION)
"""The parts that an action type may require of a bundle (6)."""


@dataclass(frozen=True, slots=True)
class ActionType:
    """A declared action type: its required parts, and whether only the kernel may issue it: then no candidate may.

    What a candidate says of its author changes nothing of that.
    """

    name: str
    side_effect: str = "low"
    kernel_only: bool = False
    requires: tuple[str, ...] = REQUIREMENTS


@dataclass(frozen=True, slots=True)
class IoPolicy:
    """The directories that may be read and written, each as `./name/`; Phase X has no network."""

    read_paths: tuple[str, ...] = ("./artifacts/", "./workspace/")
    write_paths: tuple[str, ...] = ("./workspace/", "./logs/")
    network: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes: tokens per cycle, and lines, characters and bytes of a LogAppend warrant.

    `max_chars_per_field` bounds each text that an action carries, a path too; None where a constitution has no bound.
    """

    max_total_tokens_per_cycle: int = 6000
    max_lines_per_warrant: int = 50
    max_chars_per_line: int = 10_000
    max_bytes_per_warrant: int = 256_000
    max_chars_per_field: int | None = None


@dataclass(frozen=True, slots=True)
class Constitution:
    """A constitution.  `clauses` are ids; texts of clauses decide nothing and are not modelled.

    A citation `constitution:v<version>@<pointer>` resolves if the JSON pointer (RFC 6901) leads to something in this
    document, whose form is ours: `version`, `clauses` (objects with `id`), `action_space` with `action_types` (`type`,
    `side_effect_class`, `kernel_only`, `requires`), `io_policy` (`read_paths`, `write_paths`, `network`), and `limits`
    (`max_total_tokens_per_cycle`, `log_append` with those per warrant, `max_chars_per_field` if there is one).
    """

    version: str
    clauses: tuple[str, ...]
    action_types: tuple[ActionType, ...]
    io: IoPolicy = IoPolicy()
    limits: Limits = Limits()

    def action_type(self, name: str) -> ActionType | None:
        """Return the declared type of that name; None where it is outside the closed set."""
        for one in self.action_types:
            if one.name == name:
                return one
        return None


REFERENCE_CONSTITUTION = Constitution(
    version="0.1.1",
    clauses=(
        "INV-NO-SIDE-EFFECTS-WITHOUT-WARRANT",
        "INV-AUTHORITY-CITED",
        "INV-NON-PRIVILEGED-REFLECTION",
        "INV-REPLAY-DETERMINISM",
    ),
    action_types=(
        ActionType(NOTIFY, "low"),
        ActionType(READ_LOCAL, "none"),
        ActionType(WRITE_LOCAL, "medium"),
        ActionType(LOG_APPEND, "low", kernel_only=True, requires=(CITATIONS,)),
        ActionType(EXIT_TYPE, "terminal"),
    ),
)
"""The constitution of Phase X (6), with four clauses as 14.6 counts them."""


def document(constitution: Constitution) -> Json:
    """Return the JSON value of a constitution; an absent optional limit is left out."""
    limits: dict[str, Json] = {
        "max_total_tokens_per_cycle": constitution.limits.max_total_tokens_per_cycle,
        "log_append": {
            "max_lines_per_warrant": constitution.limits.max_lines_per_warrant,
            "max_chars_per_line": constitution.limits.max_chars_per_line,
            "max_bytes_per_warrant": constitution.limits.max_bytes_per_warrant,
        },
    }
    if constitution.limits.max_chars_per_field is not None:
        limits["max_chars_per_field"] = constitution.limits.max_chars_per_field
    return {
        "version": constitution.version,
        "clauses": [{"id": one} for one in constitution.clauses],
        "action_space": {
            "action_types": [
                {
                    "type": one.name,
                    "side_effect_class": one.side_effect,
                    "kernel_only": one.kernel_only,
                    "requires": list(one.requires),
                }
                for one in constitution.action_types
            ]
        },
        "io_policy": {
            "read_paths": list(constitution.io.read_paths),
            "write_paths": list(constitution.io.write_paths),
            "network": constitution.io.network,
        },
        "limits": limits,
    }


@lru_cache(maxsize=4_096)
def constitution_hash(constitution: Constitution) -> str:
    """Return the digest of the constitution's document."""
    return digest(document(constitution))


def cite(constitution: Constitution, clause: str) -> str:
    """Return the preferred citation of a clause; one that begins with `/` or is empty is cited as a pointer."""
    mark = "@" if not clause or clause.startswith("/") else "#"
    return f"constitution:v{constitution.version}{mark}{clause}"


@lru_cache(maxsize=65_536)
def resolves(constitution: Constitution, citation: str) -> bool:
    """Return whether a citation names something in this constitution."""
    head = f"constitution:v{constitution.version}"
    if not citation.startswith(head):
        return False
    mark, rest = citation[len(head) : len(head) + 1], citation[len(head) + 1 :]
    if mark == "#":
        return rest in constitution.clauses
    return mark == "@" and _points(document(constitution), rest)


def _points(value: Json, pointer: str) -> bool:
    """Return whether an RFC 6901 pointer leads anywhere."""
    if not pointer:
        return True
    if not pointer.startswith("/"):
        return False
    for raw in pointer[1:].split("/"):
        token = raw.replace("~1", "/").replace("~0", "~")
        below: Any = value
        if isinstance(value, dict) and token in below:
            value = below[token]
        elif isinstance(value, list) and _is_index(token) and int(token) < len(below):
            value = below[int(token)]
        else:
            return False
    return True


def _is_index(token: str) -> bool:
    return token.isascii() and token.isdigit() and len(token) < 10 and (token == "0" or not token.startswith("0"))


def from_document(data: Json) -> Constitution:
    """Return the constitution that a document describes; `document(from_document(d)) == d` for every accepted `d`.

    Raises ValueError that names the place for a missing, unknown or ill-typed entry, and for a repeated id.
    """
    top = _record(data, "$", ("version", "clauses", "action_space", "io_policy", "limits"))
    clauses = tuple(
        _text(_record(one, f"$.clauses[{i}]", ("id",))["id"], f"$.clauses[{i}].id")
        for i, one in enumerate(_list(top["clauses"], "$.clauses"))
    )
    space = _record(top["action_space"], "$.action_space", ("action_types",))
    types = tuple(
        _action_type(one, f"$.action_space.action_types[{i}]")
        for i, one in enumerate(_list(space["action_types"], "$.action_space.action_types"))
    )
    io = _record(top["io_policy"], "$.io_policy", ("read_paths", "write_paths", "network"))
    made = Constitution(
        version=_text(top["version"], "$.version"),
        clauses=_unlike(clauses, "$.clauses"),
        action_types=types,
        io=IoPolicy(
            _texts(io["read_paths"], "$.io_policy.read_paths"),
            _texts(io["write_paths"], "$.io_policy.write_paths"),
            _flag(io["network"], "$.io_policy.network"),
        ),
        limits=_limits(top["limits"]),
    )
    _unlike(tuple(one.name for one in types), "$.action_space.action_types")
    return made


def _limits(data: Json) -> Limits:
    at = "$.limits"
    optional = ("max_chars_per_field",) if isinstance(data, dict) and "max_chars_per_field" in data else ()
    told = _record(data, at, ("max_total_tokens_per_cycle", "log_append", *optional))
    names = ("max_lines_per_warrant", "max_chars_per_line", "max_bytes_per_warrant")
    log = _record(told["log_append"], f"{at}.log_append", names)
    made = Limits(
        _count(told["max_total_tokens_per_cycle"], f"{at}.max_total_tokens_per_cycle"),
        *(_count(log[name], f"{at}.log_append.{name}") for name in names),
    )
    return replace(made, **{name: _count(told[name], f"{at}.{name}") for name in optional})


def _action_type(data: Json, at: str) -> ActionType:
    told = _record(data, at, ("type", "side_effect_class", "kernel_only", "requires"))
    requires = _texts(told["requires"], f"{at}.requires")
    for one in requires:
        if one not in REQUIREMENTS:
            raise ValueError(f"{at}.requires: {one!r:.60} is none of {', '.join(REQUIREMENTS)}")
    return ActionType(
        _text(told["type"], f"{at}.type"),
        _text(told["side_effect_class"], f"{at}.side_effect_class"),
        _flag(told["kernel_only"], f"{at}.kernel_only"),
        requires,
    )


def _record(data: Json, at: str, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError(f"{at}: expected a mapping, not {type(data).__name__}")
    given: dict[str, Any] = cast(Any, data)
    if missing := [name for name in names if name not in given]:
        raise ValueError(f"{at}: lacks {', '.join(missing)}")
    if more := sorted(str(name) for name in given if name not in names):
        raise ValueError(f"{at}: unknown entry {', '.join(more):.80}; it has: {', '.join(names)}")
    return given


def _list(data: Json, at: str) -> list[Any]:
    if not isinstance(data, list):
        raise ValueError(f"{at}: expected a list, not {type(data).__name__}")
    listed: list[Any] = cast(Any, data)
    return listed


def _text(data: Json, at: str) -> str:
    if not isinstance(data, str):
        raise ValueError(f"{at}: expected text, not {type(data).__name__} {data!r:.40}; quote it")
    return data


def _texts(data: Json, at: str) -> tuple[str, ...]:
    return _unlike(tuple(_text(one, f"{at}[{i}]") for i, one in enumerate(_list(data, at))), at)


def _flag(data: Json, at: str) -> bool:
    if not isinstance(data, bool):
        raise ValueError(f"{at}: expected true or false, not {data!r:.40}")
    return data


def _count(data: Json, at: str) -> int:
    if isinstance(data, bool) or not isinstance(data, int) or data < 0:
        raise ValueError(f"{at}: expected an integer >= 0, not {data!r:.40}")
    return data


def _unlike(names: tuple[str, ...], at: str) -> tuple[str, ...]:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{at}: {name!r:.60} stands there twice")
    return names
