"""The streaming driver as a task: begun when nobody else has its leases, so that no JVM starts to be told so."""

import time
from typing import Any

from airflow.sdk import Context

from penstock.engine.lease import holder, leases_in, of_driver
from penstock.lake.layout import FIRST_RELEASE
from penstock.lake.spark_settings import few_cores
from penstock.model.group import REST
from penstock.ops.airflow.errors import Busy, RequestRefused
from penstock.ops.airflow.steps import SparkStep
from penstock.settings import Settings

LOOK_SECONDS = 0.5


class StreamStep(SparkStep):
    """The driver of a stream group, or of a domain's shapes in a release that has its own code."""

    template_fields = (*SparkStep.template_fields, "domain", "release")

    def __init__(self, *, group: str = REST, domain: str = "", release: str = FIRST_RELEASE, **more: Any) -> None:
        self.group = group
        self.domain = domain
        self.release = release
        own = [f"--domains={domain}", f"--release={release}"] if domain else []
        named = [f"--group={group}"] if group != REST else []
        super().__init__(job="stream", refusal=Busy, arguments=own or named, short=few_cores, **more)

    def execute(self, context: Context) -> None:
        # The driver that this task has on a cluster is found again there, and has the leases.
        if not self.has_driver(context):
            self.await_leases(Settings.from_env())
        super().execute(context)

    def has_driver(self, context: Context) -> bool:
        kept = context["task_state_store"]
        return self.cluster().hosts and bool(kept and kept.get(self.external_id_key))

    def await_leases(self, settings: Settings) -> None:
        """A driver whose task was lost may live for its whole shift: it works, and this task takes over from it."""
        place, told = leases_in(settings.home), ""
        for name in of_driver(self.sources(settings), self.release):
            while taken := holder(place, name):
                if taken != told:
                    self.log.info("%s This task begins when it lets go.", taken)
                    told = taken
                time.sleep(LOOK_SECONDS)

    def sources(self, settings: Settings) -> Any:
        from penstock.model.domain import domains
        from penstock.model.group import BadGroups, group

        try:
            return domains()[self.domain].sources if self.domain else group(settings.stream_groups, self.group).sources
        except BadGroups as bad:
            raise RequestRefused(str(bad)) from bad
