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
    lineage = {"type": "file", "log_file_path": str(settings.home / "logs" / "lineage.jsonl"), "append": True}
    return {
        "AIRFLOW__CORE__PLUGINS_FOLDER": str(Path(__file__).with_name("plugins")),
        # A new run uses today's code; a cleared one too, since a mended build is why it is cleared.
        "AIRFLOW__CORE__RERUN_WITH_LATEST_VERSION": "True",
        # A file until a server is named in this one setting: lineage is never lost, nor sent anywhere unasked.
        "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(lineage),
        "AIRFLOW__OPENLINEAGE__NAMESPACE": "penstock",
    }
