"""What a job tells of itself in OpenLineage's words, and that nobody who does not listen can stop it."""

import json
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from receivers import http_hook

from penstock.engine.lineage import Touched, told
from penstock.ops.stack.trial import free_port
from penstock.settings import Settings

TASK = "penstock/build_views.build_views/019a0000-0000-7000-8000-000000000001"


def table(path: Path) -> str:
    write_deltalake(str(path), pa.table({"number": [1]}), mode="append")
    return str(path)


def work(folder: Path, status: int = 0, error: Exception | None = None) -> Any:
    """Reads one table, writes another twice, and ends as it is told."""

    def done(touched: Touched) -> int:
        touched.reads(table(folder / "silver"), f"{folder}/nothing")
        with touched.changing(lambda: [f"{folder}/gold", f"{folder}/silver"]):
            table(folder / "gold")
            table(folder / "gold")
        if error:
            raise error
        return status

    return done


def heard(settings: Settings) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (settings.home / "logs" / "lineage.jsonl").read_text().splitlines()]


def datasets(some: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(each["namespace"], each["name"], each["facets"]["version"]["datasetVersion"]) for each in some]


def test_a_job_tells_what_it_read_and_wrote_at_which_version(settings: Settings) -> None:
    told(settings, "build_views", work(settings.home))
    begun, ended = heard(settings)
    assert (begun["eventType"], ended["eventType"], ended["job"]["name"]) == ("START", "COMPLETE", "spark.build_views")
    assert (begun["run"]["runId"], begun["inputs"]) == (ended["run"]["runId"], [])
    assert datasets(ended["inputs"]) == [("file", f"{settings.home}/silver", "0")]
    assert datasets(ended["outputs"]) == [("file", f"{settings.home}/gold", "1")]


def test_it_hangs_below_the_task_that_started_it(settings: Settings) -> None:
    told(replace(settings, started_by=TASK), "build_views", work(settings.home))
    parents = [event["run"]["facets"]["parent"] for event in heard(settings)]
    assert [f"{one['job']['namespace']}/{one['job']['name']}/{one['run']['runId']}" for one in parents] == [TASK, TASK]


@pytest.mark.parametrize("started_by", ["", "nonsense", "penstock/build_views"])
def test_one_that_nobody_started_has_no_parent(settings: Settings, started_by: str) -> None:
    told(replace(settings, started_by=started_by), "build_views", work(settings.home))
    assert [event["run"]["facets"].get("parent") for event in heard(settings)] == [None, None]


def test_one_that_refuses_has_failed_and_keeps_its_status(settings: Settings) -> None:
    assert told(settings, "build_views", work(settings.home, status=3)) == 3
    assert [event["eventType"] for event in heard(settings)] == ["START", "FAIL"]


def test_one_that_breaks_has_failed_and_says_nothing_of_its_error(settings: Settings) -> None:
    with pytest.raises(ValueError, match="ada"):
        told(settings, "build_views", work(settings.home, error=ValueError("ada@example.org")))
    assert [event["eventType"] for event in heard(settings)] == ["START", "FAIL"]
    # It may hold what a record holds.
    assert "ada" not in (settings.home / "logs" / "lineage.jsonl").read_text()


def test_a_stream_says_at_once_between_what_it_runs(settings: Settings) -> None:
    streamed = Touched({"kafka://log:9092/web.events": None}, {"s3a://bucket/lake/bronze/web.events": None})
    told(settings, "stream", lambda _: 0, streamed)
    begun = heard(settings)[0]
    assert [(each["namespace"], each["name"]) for each in (*begun["inputs"], *begun["outputs"])] == [
        ("kafka://log:9092", "web.events"),
        ("s3://bucket", "lake/bronze/web.events"),
    ]
    assert begun["job"]["facets"]["jobType"]["processingType"] == "STREAMING"


def test_a_server_hears_what_a_file_would(settings: Settings) -> None:
    with http_hook() as (address, events):
        told(replace(settings, lineage=address.replace("json", "http").rstrip("/")), "build_views", work(settings.home))
    assert [event["eventType"] for event in events] == ["START", "COMPLETE"]
    assert not (settings.home / "logs" / "lineage.jsonl").exists()


def test_a_server_that_is_down_costs_seconds_and_no_job(settings: Settings) -> None:
    begun, nobody = monotonic(), f"http://127.0.0.1:{free_port()}"
    assert told(replace(settings, lineage=nobody), "build_views", work(settings.home)) == 0
    assert monotonic() - begun < 10
