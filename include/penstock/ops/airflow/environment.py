"""What Airflow's processes find in their environment for this project's plugins and lineage.

Imports no Airflow: it is read by whoever starts it. Ports, database and passwords belong to the stack.
"""

import json
from pathlib import Path

from penstock.settings import Settings

PROJECT = Path(__file__).parents[4]
# The connection that every Spark step submits to. A missing one would silently mean YARN.
SPARK_CONNECTION = "spark_lake"


def environment(settings: Settings) -> dict[str, str]:
    return {
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(Path(__file__).with_name("plugins")),
        # A new run uses today's code; a cleared one too, since a mended build is why it is cleared.
        "AIRFLOW__CORE__RERUN_WITH_LATEST_VERSION": "True",
        # Else a cleared task that had its driver on a cluster would find that it is done, and do nothing.
        "AIRFLOW__STATE_STORE__CLEAR_ON_SUCCESS": "True",
        "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(settings.lineage_to),
        "AIRFLOW__OPENLINEAGE__NAMESPACE": "penstock",
        "AIRFLOW__METRICS__OTEL_ON": str(bool(settings.metrics)),
    }
