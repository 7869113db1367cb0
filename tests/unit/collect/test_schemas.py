"""What a change of a schema breaks, before any sender notices."""

import copy
import json
from pathlib import Path
from typing import Any

import avro.schema
import pytest
from typer.testing import CliRunner

from penstock.collect.registry import files
from penstock.collect.registry.compatible import misfits, of_avro, of_json
from penstock.model.domain import source
from penstock.ops.cli import application

NEW, OLD = files.paths(source("web.events"), ".schema.json")
EVENT: dict[str, Any] = json.loads(OLD.read_text())


def changed(path: str, value: object) -> dict[str, Any]:
    """The schema of web.events with one place changed; None removes it."""
    schema = copy.deepcopy(EVENT)
    *way, last = path.split("/")
    place = schema
    for step in way:
        place = place[step]
    if value is None:
        place.pop(last)
    else:
        place[last] = value
    return schema


CHANGES = [
    ("properties/colour", {"type": "string"}, "", ""),
    ("required", ["type", "site", "visitor", "url", "title"], "title is required", ""),
    ("required", ["type", "site", "visitor"], "", "url is required"),
    ("properties/scroll_pct/maximum", 50, "scroll_pct: maximum is 50", ""),
    ("properties/scroll_pct/maximum", 200, "", "scroll_pct: maximum is 100"),
    ("properties/title/type", "string", "title: may be of type null", ""),
    ("properties/type/enum", ["pageview", "engagement", "event", "click"], "", "type: may be click"),
    ("properties/type/enum", ["pageview"], "type: may be engagement, event", ""),
    ("properties/site/minLength", None, "", "site: minLength is 1"),
    ("properties/load_ms/type", ["integer", "null"], "load_ms: may be of type number", ""),
]


@pytest.mark.parametrize(
    ("path", "value", "backward", "forward"), CHANGES, ids=[f"{one[0]}={one[1]}" for one in CHANGES]
)
def test_a_change_breaks_whom_it_breaks_and_nobody_else(path: str, value: object, backward: str, forward: str) -> None:
    for level, expected in (("BACKWARD", backward), ("FORWARD", forward)):
        told = misfits(level, changed(path, value), EVENT, of_json)
        assert bool(told) == bool(expected), (level, told)
        assert expected in "".join(told)


def test_full_is_both(tmp_path: Path) -> None:
    assert len(misfits("FULL", changed("properties/type/enum", ["pageview", "click"]), EVENT, of_json)) == 2


def test_a_new_field_of_avro_needs_a_default() -> None:
    old = json.loads(files.paths(source("web.users"), ".avsc")[1].read_text())
    new = {**old, "fields": [*old["fields"], {"name": "colour", "type": "string"}]}
    reader, writer = (avro.schema.parse(json.dumps(one)) for one in (new, old))
    assert "colour" in "".join(misfits("BACKWARD", reader, writer, of_avro))
    assert misfits("FORWARD", reader, writer, of_avro) == []


def test_the_schemas_of_this_tree_fit_the_released_ones() -> None:
    told = CliRunner().invoke(application(), ["schema", "check", "--json"])
    assert (told.exit_code, {one["kind"] for one in json.loads(told.output)}) == (0, {"Avro", "JSON Schema"})


def test_every_field_is_in_both_forms() -> None:
    for name in ("web.events", "web.users", "web.identities"):
        as_avro, as_json = (json.loads(files.paths(source(name), ending)[0].read_text()) for ending in files.KINDS)
        assert list(as_json["properties"]) == [field["name"] for field in as_avro["fields"]]
        assert as_json["required"] == [field["name"] for field in as_avro["fields"] if "default" not in field]


def test_a_change_that_breaks_somebody_is_not_released(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    new, old = tmp_path / NEW.name, tmp_path / "released" / NEW.name
    old.parent.mkdir()
    old.write_text(json.dumps(EVENT))
    new.write_text(json.dumps(changed("required", ["type", "site", "visitor", "url", "title"])))
    monkeypatch.setattr(files, "paths", lambda *_: (new, old))
    monkeypatch.setattr(files, "KINDS", {".schema.json": "JSON Schema"})
    refused = CliRunner().invoke(application(), ["schema", "release"])
    assert (refused.exit_code, json.loads(old.read_text())) == (1, EVENT)
    assert CliRunner().invoke(application(), ["schema", "release", "--level", "none"]).exit_code == 0
    assert old.read_bytes() == new.read_bytes()
