"""What Airflow's navigation shows of Penstock, and what its scheduler does when it starts."""

from typing import Any

from airflow.listeners import hookimpl
from airflow.plugins_manager import AirflowPlugin

from penstock.ops.airflow.notes import begun, ended
from penstock.ops.airflow.pages import pages
from penstock.ops.airflow.runbooks import PREFIX
from penstock.settings import Settings

SETTINGS = Settings.from_env()


# The streams' own pages, where they were asked for: docs/install.md.
SPARK_UI = [
    {
        "name": "Spark UI",
        "href": f"http://127.0.0.1:{SETTINGS.spark_ui_port}/",
        "url_route": "penstock-spark-ui",
        "category": "browse",
    }
] * bool(SETTINGS.spark_ui_port)


class Pools:
    """Pools are there before the first task asks for one: DAGs name them, nobody has to click them."""

    @hookimpl
    def on_starting(self, component: Any) -> None:
        # A job (scheduler, DAG processor, triggerer) has the database; a task does not.
        if type(component).__name__ == "Job":
            from penstock.ops.airflow.pools import create

            create(SETTINGS)


class Notes:
    """Every run says why it was asked for and what came of it."""

    @hookimpl
    def on_dag_run_running(self, dag_run: Any, msg: str) -> None:
        begun(dag_run)

    @hookimpl
    def on_dag_run_success(self, dag_run: Any, msg: str) -> None:
        ended(dag_run)

    @hookimpl
    def on_dag_run_failed(self, dag_run: Any, msg: str) -> None:
        ended(dag_run)


class Penstock(AirflowPlugin):
    """Console, gates, Data Docs, runbooks and Spark's pages as external views."""

    name = "penstock"
    external_views = [  # noqa: RUF012
        {
            "name": "Console",
            "href": f"http://127.0.0.1:{SETTINGS.serve_port}/",
            "url_route": "penstock-console",
            "category": "browse",
        },
        {"name": "Gates", "href": f"{PREFIX}/gates", "url_route": "penstock-gates", "category": "browse"},
        {"name": "Data Docs", "href": f"{PREFIX}/data-docs", "url_route": "penstock-data-docs", "category": "browse"},
        *SPARK_UI,
        {"name": "Runbooks", "href": f"{PREFIX}/runbooks", "url_route": "penstock-runbooks", "category": "docs"},
    ]
    fastapi_apps = [{"app": pages(SETTINGS), "url_prefix": PREFIX, "name": "penstock"}]  # noqa: RUF012
    listeners = [Pools(), Notes()]  # noqa: RUF012
