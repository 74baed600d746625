"""Constitutions as data: documents, citations, paths."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evenhand.model.sovereign.constitution import (
    REFERENCE_CONSTITUTION,
    Constitution,
    cite,
    constitution_hash,
    document,
    from_document,
    resolves,
)
from evenhand.model.sovereign.kernel import io_allowlist
from evenhand.model.sovereign.menus import ESCAPES, LAWFUL_PATHS, TREE, candidate, usual
from evenhand.model.sovereign.paths import lexical, link_, put, resolve, roots, under
from evenhand.model.sovereign.readings import Readings
from evenhand.model.sovereign.state import Config
from evenhand.model.sovereign.systems import small_constitutions
from evenhand.model.sovereign.vocabulary import WRITE_LOCAL
from evenhand.properties.sovereign.predicates import admissible


def test_a_document_is_read_back() -> None:
    """The reference constitution and every small one."""
    for one in (REFERENCE_CONSTITUTION, *small_constitutions(1)):
        assert from_document(document(one)) == one
    assert len({constitution_hash(one) for one in small_constitutions(1)}) == len(list(small_constitutions(1)))


def test_small_constitutions_are_as_many_as_counted() -> None:
    """20 of none; per type 4 flags, of 5 types: 20 + 5·4·20, and C(5,2)·4²·20 more with two."""
    assert len(list(small_constitutions(0))) == 2 * 2 * 5
    assert len(list(small_constitutions(1))) == 20 + 5 * 4 * 20 == 420
    assert len(list(small_constitutions(2))) == 20 + 5 * 4 * 20 + 10 * 16 * 20 == 3_620


@pytest.mark.parametrize(
    ("citation", "there"),
    [
        ("constitution:v0.1.1#INV-AUTHORITY-CITED", True),
        ("constitution:v0.1.1#", False),
        ("constitution:v0.1.2#INV-AUTHORITY-CITED", False),
        ("constitution:v0.1.1@", True),
        ("constitution:v0.1.1@/clauses/0/id", True),
        ("constitution:v0.1.1@/clauses/00", False),
        ("constitution:v0.1.1@/clauses/4", False),
        ("constitution:v0.1.1@/clauses/-1", False),
        ("constitution:v0.1.1@limits", False),
        ("constitution:v0.1.1@/limits/log_append/max_lines_per_warrant", True),
        ("constitution:v0.1.1@/limits~1log_append", False),
        ("INV-AUTHORITY-CITED", False),
        ("", False),
    ],
)
def test_citations(citation: str, there: bool) -> None:
    """Both forms (7 A14)."""
    assert resolves(REFERENCE_CONSTITUTION, citation) == there


def test_clauses_are_cited_by_id_and_the_rest_by_pointer() -> None:
    """A clause with an id has the preferred form."""
    assert cite(REFERENCE_CONSTITUTION, "X") == "constitution:v0.1.1#X"
    assert cite(REFERENCE_CONSTITUTION, "/limits") == "constitution:v0.1.1@/limits"


@pytest.mark.parametrize("path", ESCAPES)
def test_no_escape_passes_the_lexical_gate(path: str) -> None:
    """`..`, absolute, empty segments, backslash, look-alikes, near misses, control characters."""
    place = lexical(path)
    assert place is None or not under(place, roots(REFERENCE_CONSTITUTION.io.write_paths))


@pytest.mark.parametrize("path", LAWFUL_PATHS)
def test_lawful_paths_pass(path: str) -> None:
    """Dots within the directory are lawful."""
    place = lexical(path)
    assert place is not None and under(place, roots(REFERENCE_CONSTITUTION.io.write_paths))


@pytest.mark.parametrize(
    ("path", "passes"),
    [
        ("./workspace//x", True),
        ("workspace/.//d/../x/", True),
        ("workspace/a\\b", True),
        ("workspace/\uff0e\uff0e/x", True),
        ("./workspace\u2215x", False),
        ("workspace//..//etc/secret", False),
        ("../repo/workspace/x", False),
        ("/repo/workspace/x", False),
        ("//workspace/x", False),
        ("workspace//", False),
        ("workspace/x\x00", False),
        ("", False),
    ],
)
def test_odd_paths_are_read_as_a_disk_takes_them(path: str, passes: bool) -> None:
    """Under `path_rule=normal_form`, for the kernel and for the claims; by default none of the odd ones passes."""
    seen = usual()
    one = candidate(seen, WRITE_LOCAL, path=path)
    for rule, lets in (("normal_form", passes), ("resolved", False)):
        config = Config(tree=TREE, readings=Readings(path_rule=rule))
        assert (not io_allowlist(config, seen, one, "host")) == lets
        assert admissible(config, seen, one) == (lets and bool(path))


def test_links_are_followed_before_dots() -> None:
    """`d/../x` through a link leads out of the directory that the text names."""
    tree = put(TREE, ("repo", "workspace", "d"), link_("../../etc"))
    assert lexical("workspace/d/../x") == ("repo", "workspace", "x")
    assert resolve(tree, "workspace/d/../x") == ("x",)
    assert resolve(tree, "workspace/d/secret") == ("etc", "secret")
    loop = put(TREE, ("repo", "workspace", "l"), link_("l"))
    assert resolve(loop, "workspace/l") is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"clauses": "x"}, r"\$\.clauses: expected a list"),
        ({"version": 1}, r"\$\.version: expected text"),
        ({"more": 1}, r"\$: unknown entry more"),
        ({"clauses": [{"id": "A"}, {"id": "A"}]}, "stands there twice"),
        ({"limits": {"max_total_tokens_per_cycle": -1}}, r"\$\.limits: lacks log_append"),
    ],
)
def test_bad_documents_are_refused_with_the_place(change: dict[str, object], says: str) -> None:
    """The message is one clear sentence."""
    with pytest.raises(ValueError, match=says):
        from_document({**document(REFERENCE_CONSTITUTION), **change})


def test_a_missing_entry_is_named() -> None:
    """The error is no KeyError."""
    data = document(REFERENCE_CONSTITUTION)
    del data["io_policy"]
    with pytest.raises(ValueError, match="lacks io_policy"):
        from_document(data)
    assert replace(REFERENCE_CONSTITUTION, version="2") != REFERENCE_CONSTITUTION
    assert isinstance(REFERENCE_CONSTITUTION, Constitution)
