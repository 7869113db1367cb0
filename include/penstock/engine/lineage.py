"""What a job read and wrote, in OpenLineage's words: to a file of the home, or to whom one setting names.

Told by the jobs themselves: most of what they read and write goes through delta-rs and DuckDB, which no listener inside
Spark sees (docs/decisions/0066). Whoever is to hear it may be down: no job fails or waits long for its story.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from penstock import __version__
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import kept
from penstock.lake.session import presented
from penstock.model.domain import domains
from penstock.settings import Settings

NAMESPACE = "penstock"
PRODUCER = f"urn:penstock:{__version__}"
log = logging.getLogger(__name__)


@dataclass
class Touched:
    """Tables and topics by address, with the version (topics: none) that was read, or that was written last."""

    read: dict[str, int | None] = field(default_factory=dict)
    written: dict[str, int | None] = field(default_factory=dict)

    def reads(self, *paths: str) -> None:
        self.read |= {path: version for path in paths if (version := version_of(path)) is not None}

    @contextmanager
    def changing(self, tables: Callable[[], Iterable[str]]) -> Iterator[None]:
        """Those of the tables that have another version afterwards, or are there only then, were written."""
        before = {path: version_of(path) for path in tables()}
        try:
            yield
        finally:
            after = {path: version_of(path) for path in tables()}
            self.written |= {path: version for path, version in after.items() if version != before.get(path)}


def version_of(path: str) -> int | None:
    """None where there is no table."""
    table = open_table(path)
    return table.version() if table else None


def kept_up(layout: Layout, names: Iterable[str]) -> list[str]:
    """Silver and gold of domains, in all releases that are kept up."""
    return [
        path
        for name in names
        for release in kept(layout, name)
        for path in (
            *(layout.silver(release, source.name) for source in domains()[name].sources),
            *(layout.gold(release, view.name) for view in domains()[name].views),
        )
    ]


def told(settings: Settings, job: str, work: Callable[[Touched], int], streams: Touched | None = None) -> int:
    """Does the work, whose exit status this is, and tells when it began and what came of it.

    `streams`: what a job that does not end by itself reads and writes, said when it begins.
    """
    touched = streams or Touched()
    story = Story(settings, job, "BATCH" if streams is None else "STREAMING")
    # The client is loaded while the session starts.
    begun = Thread(target=story.tell, args=("START", Touched({**touched.read}, {**touched.written})), name="lineage")
    begun.start()
    state = "FAIL"
    try:
        status = work(touched)
        if status == 0:
            presented(settings)
            state = "COMPLETE"
        return status
    finally:
        begun.join()
        story.tell(state, touched)


class Story:
    """One run of a job."""

    def __init__(self, settings: Settings, job: str, kind: str) -> None:
        self._settings, self._job, self._kind = settings, job, kind
        self._run: Any = None
        self._client: Any = None

    def tell(self, state: str, touched: Touched) -> None:
        try:
            self._tell(state, touched)
        except Exception as deaf:
            # Whatever it is, of a library or of a server: what the job did is done.
            log.warning("lineage: %s of %s was not told: %s", state, self._job, deaf)

    def _tell(self, state: str, touched: Touched) -> None:
        from openlineage.client import OpenLineageClient
        from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
        from openlineage.client.facet_v2 import job_type_job
        from openlineage.client.uuid import generate_new_uuid

        if self._client is None:
            (self._settings.home / "logs").mkdir(parents=True, exist_ok=True)
            self._client = OpenLineageClient(config={"transport": self._settings.lineage_to})
            self._run = Run(str(generate_new_uuid()), parent(self._settings.started_by))
        kind = job_type_job.JobTypeJobFacet(self._kind, "SPARK", "JOB", producer=PRODUCER)
        self._client.emit(
            RunEvent(
                eventType=RunState[state],
                eventTime=datetime.now(UTC).isoformat(),
                run=self._run,
                job=Job(NAMESPACE, f"spark.{self._job}", {"jobType": kind}),
                producer=PRODUCER,
                inputs=[
                    InputDataset(*named(path), facets=versioned(version)) for path, version in touched.read.items()
                ],
                outputs=[
                    OutputDataset(*named(path), facets=versioned(version)) for path, version in touched.written.items()
                ],
            )
        )


def named(address: str) -> tuple[str, str]:
    """A dataset's namespace and name, as OpenLineage names files, objects and topics."""
    url = urlsplit(address)
    if not url.scheme:
        return "file", address
    return f"{url.scheme.replace('s3a', 's3')}://{url.netloc}", url.path.lstrip("/")


def versioned(version: int | None) -> dict[str, Any]:
    from openlineage.client.facet_v2 import dataset_version_dataset

    if version is None:
        return {}
    return {"version": dataset_version_dataset.DatasetVersionDatasetFacet(str(version), producer=PRODUCER)}


def parent(said: str) -> dict[str, Any]:
    """The facet that hangs a run below the task that started it; nothing where nobody did."""
    from openlineage.client.facet_v2 import parent_run

    namespace, name, run = said.split("/") if said.count("/") == 2 else ("", "", "")
    if not run:
        return {}
    job = parent_run.Job(namespace, name)
    return {"parent": parent_run.ParentRunFacet(parent_run.Run(run), job, producer=PRODUCER)}
