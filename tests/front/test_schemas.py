"""The published schemas are the ones that the types of the files give."""

from __future__ import annotations

import jsonschema
import pytest

from evenhand.cli.schemas import PUBLISHED, Published
from tests.front.conftest import ROOT


@pytest.mark.parametrize("published", PUBLISHED, ids=[one.name for one in PUBLISHED])
def test_a_shipped_schema_is_the_generated_one(published: Published) -> None:
    """After a change of a type: `make schemas`."""
    jsonschema.Draft202012Validator.check_schema(published.schema())
    assert published.path.read_text("utf-8") == published.text()


def test_every_shipped_schema_is_generated() -> None:
    """No schema of the workbench is written by hand."""
    assert {one.path for one in PUBLISHED} == set((ROOT / "evenhand").rglob("schema/*.json"))
