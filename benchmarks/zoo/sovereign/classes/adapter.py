"""The adapter of `classes`: the world is a folder, with links where the checker puts them.

evenhand check sovereign --adapter benchmarks.zoo.sovereign.classes.adapter:make --reading budget_count=last \
    --reading reported_gate=furthest --reading unknown_author=treat_as_reflection \
    --reading bundle_hash_covers=content_and_author_and_time --reading path_rule=normal_form

The caller is hostile: it edits a bundle after the decision.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.zoo.sovereign import adapting as zoo
from benchmarks.zoo.sovereign.classes.kernel import Bundle, Kernel, Observation, Terminated
from evenhand.conform.adapters import Initial, Unsupported

Json = Any


class Adapter(zoo.Adapter):
    """One kernel below one folder."""

    readings: ClassVar[dict[str, str]] = {
        "budget_count": "last", "reported_gate": "furthest", "unknown_author": "treat_as_reflection",
        "bundle_hash_covers": "content_and_author_and_time",
    }  # fmt: skip
    limits_at = "/max_total_tokens_per_cycle"
    authors = None
    folder: ClassVar[Any] = None

    def begin(self) -> None:
        if ("repo",) not in {tuple(place) for place, _ in self.config["tree"]}:
            raise Unsupported("no repository")
        if Adapter.folder is None:
            Adapter.folder = tempfile.TemporaryDirectory()
        self.disk = Path(Adapter.folder.name, "disk")
        shutil.rmtree(self.disk, ignore_errors=True)
        self.disk.mkdir()
        for place, node in sorted(self.config["tree"], key=lambda one: len(one[0])):
            self.put(place, node)
        self.kernel = Kernel(str(self.disk / "repo"), defects=zoo.defects())

    def put(self, place: list[str], node: Json) -> None:
        """Put a node on the disk; its root is a folder here."""
        path = self.disk.joinpath(*place)
        if not path.parent.is_dir() or path.parent.is_symlink():
            raise Unsupported("a node below what is no directory")
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        if node["kind"] == "dir":
            path.mkdir()
        elif node["kind"] == "file":
            path.write_text(node["text"], "utf-8")
        elif not (text := node["text"]):
            raise Unsupported("a link to nothing")
        else:
            path.symlink_to(str(self.disk) + text if text.startswith("/") else text)

    def decide(self, told: Json, candidates: Json) -> dict[str, Any]:
        self.finish()
        observations = [Observation(one["kind"], self.payload(one), one["created_at"]) for one in told]
        for one, own in zip(told, observations, strict=True):
            self.ids[zoo.observation_id(one)] = own.id
        try:
            decision = self.pass_on([self.fields(one) for one in candidates], observations)
        except Terminated as error:
            raise Unsupported("it has exited") from error
        found = {"kind": decision.kind, "time": decision.created_at, "reason": decision.reason}
        found["gate"] = decision.failed_gate
        if decision.warrant:
            winner = self.kernel._issued[decision.warrant.id][1]
            found |= {"own": decision.warrant, "at": decision.warrant.created_at, "author": winner.author}
            found["request"] = zoo.request(winner.kind, winner.fields)
        for bundle in self.bundles:
            bundle.fields.update(dict.fromkeys(bundle.fields, "edited"))
        return found

    def pass_on(self, candidates: Any, observations: Any) -> Any:
        """The decision about candidates, whose fields may be anything."""
        if not isinstance(candidates, list) or not all(isinstance(one, list) and len(one) == 7 for one in candidates):
            raise Unsupported("the objects are the host's")
        self.bundles = [Bundle(*one) for one in candidates]
        return self.kernel.decide(observations, self.bundles)

    def fields(self, told: Json) -> list[Any]:
        """The fields of a candidate."""
        bundle = self.bundle(told)
        asked, reason = bundle["action_request"], bundle.get("justification")
        return [
            asked["action_type"], asked["fields"], bundle.get("scope_claim"), reason and reason["text"],
            bundle["authority_citations"], told["request"]["created_at"], bundle["author"],
        ]  # fmt: skip

    def world(self) -> list[Path]:
        """Every file on the disk."""
        found = [Path(folder, name) for folder, _, names in os.walk(self.disk) for name in names]
        return [path for path in found if not path.is_symlink()]

    def carry_out(self, own: Any) -> list[Json] | None:
        before = len(self.kernel.executor.screen)
        for path in self.world():
            os.utime(path, (0, 0))
        answer = self.kernel.execute(own)
        if not answer["done"]:
            return None
        found = [zoo.effect("Notify", [], text) for text in self.kernel.executor.screen[before:]]
        found += [zoo.effect("WriteLocal", list(path.relative_to(self.disk).parts), path.read_text("utf-8"))
                  for path in self.world() if path.stat().st_mtime_ns]  # fmt: skip
        if "content" in answer:
            found.append(zoo.effect("ReadLocal", zoo.UNKNOWN, answer["content"]))
        return found

    def finish(self) -> None:
        if self.kernel._open:
            self.kernel.finish()

    def forge(self) -> Any:
        return None

    def swap(self, place: list[str], node: Json) -> None:
        self.put(place, node)


def make(initial: Initial) -> Adapter:
    """A fresh folder."""
    return Adapter(initial)
