"""What the annotations of a package say: fields of its records, members of its enumerations, signatures.

Everything is read from syntax trees, by bare name: where two things of one name differ, only what both say counts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

Signature = tuple[tuple[str, ...], str]
"""The annotations of the positional parameters, and of the result; empty texts where there is none."""

NONE: Signature = ((), "")


@dataclass
class Annotated:
    """The annotations of some modules: `defaults` are the fields that have one, by record and name."""

    records: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    defaults: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    members: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    signatures: dict[str, Signature] = field(default_factory=dict[str, Signature])

    def annotation(self, name: str, record: str = "") -> set[str]:
        """Return the annotations of fields of this name: of one record, or of all that have it."""
        if record in self.records:
            return {self.records[record][name]} if name in self.records[record] else set()
        return {fields[name] for fields in self.records.values() if name in fields}

    def other_field(self, name: str, record: str = "") -> str:
        """Return another field annotated like this one, in every record that has it; "" if there is none."""
        owners = [self.records[record]] if record in self.records else list(self.records.values())
        owners = [fields for fields in owners if name in fields]
        common = [
            other
            for other in (owners[0] if owners else ())
            if other != name and all(fields.get(other) == fields[name] for fields in owners)
        ]
        return common[0] if common else ""

    def other_member(self, enumeration: str, name: str) -> str:
        """Return the member after this one in its enumeration; "" if it is none."""
        listed = self.members.get(enumeration, [])
        return listed[(listed.index(name) + 1) % len(listed)] if name in listed and len(listed) > 1 else ""

    def signature(self, function: ast.expr) -> Signature:
        """Return the signature of what is called: a function, a record, or a field that holds a function."""
        match function:
            case ast.Name(id=name) if name in self.records:
                return tuple(self.records[name].values()), name
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return self.signatures.get(name, NONE)
            case _:
                return NONE


def typing_of(trees: Iterable[ast.Module]) -> Annotated:
    """Return what the annotations of these modules say."""
    found = Annotated()
    twice: set[str] = set()
    for tree in trees:
        for node in ast.walk(tree):
            match node:
                case ast.ClassDef():
                    _class(node, found)
                case ast.FunctionDef(name=name):
                    takes = tuple(_plain(one.annotation) for one in (*node.args.posonlyargs, *node.args.args))
                    signature = takes, _plain(node.returns)
                    if found.signatures.setdefault(name, signature) != signature:
                        twice.add(name)
                case _:
                    continue
    for name in twice:
        del found.signatures[name]
    return found


def _class(node: ast.ClassDef, found: Annotated) -> None:
    if any("Enum" in ast.unparse(base) for base in node.bases):
        found.members[node.name] = [
            target.id for one in node.body if isinstance(one, ast.Assign) for target in one.targets
            if isinstance(target, ast.Name)
        ]  # fmt: skip
        return
    fields: dict[str, str] = {}
    for one in node.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            fields[one.target.id] = ast.unparse(one.annotation)
            if one.value is not None:
                found.defaults.add((node.name, one.target.id))
            match one.annotation:
                case ast.Subscript(
                    value=ast.Name(id="Callable"), slice=ast.Tuple(elts=[ast.List(elts=takes), returns])
                ):
                    found.signatures.setdefault(one.target.id, (tuple(map(_plain, takes)), _plain(returns)))
                case _:
                    pass
    if fields:
        found.records[node.name] = fields


def _plain(annotation: ast.expr | None) -> str:
    return "" if annotation is None else ast.unparse(annotation)
