"""Airflow's settings, all by environment, and how one of its parts starts (`python -m penstock.ops.stack.airflow`)."""

import ast
import fcntl
import json
import sys
import time
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from penstock.model.group import BadGroups, groups
from penstock.model.retention import BadRetention, retentions
from penstock.ops.airflow.environment import PROJECT, SPARK_CONNECTION, environment
from penstock.ops.stack import database
from penstock.ops.stack.health import fetch
from penstock.ops.stack.home import USERS, Home
from penstock.settings import SettingError, Settings

SECONDS = "SCHEDULER__TASK_INSTANCE_HEARTBEAT"


def environ(settings: Settings, home: Home) -> dict[str, str]:
    """Everything Airflow must know. Whatever AIRFLOW__… an operator sets himself wins over this."""
    refuse_retention(settings)
    address = f"http://127.0.0.1:{settings.airflow_port}"
    folder = home.folder / "airflow"
    sections = {
        "CORE__DAGS_FOLDER": PROJECT / "dags",
        "CORE__LOAD_EXAMPLES": False,
        # A fresh home must move data without anybody's click.
        "CORE__DAGS_ARE_PAUSED_AT_CREATION": False,
        "CORE__EXECUTOR": "LocalExecutor",
        # 50 MB a worker; each stream group's driver holds one.
        "CORE__PARALLELISM": 5 + drivers(settings),
        "CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{user}:{role}" for user, role in USERS.items()),
        "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": home.passwords,
        "CORE__EXECUTION_API_SERVER_URL": f"{address}/execution/",
        "DATABASE__SQL_ALCHEMY_CONN": database.address(settings, folder),
        "API__HOST": "127.0.0.1",
        "API__PORT": settings.airflow_port,
        "API__BASE_URL": address,
        "API__WORKERS": 1,
        "API__SECRET_KEY": home.secret("api"),
        "API_AUTH__JWT_SECRET": home.secret("jwt"),
        "LOGGING__BASE_LOG_FOLDER": folder / "logs",
        # A part that was killed is back in seconds: what it left behind is found in seconds as well.
        "SCHEDULER__SCHEDULER_HEALTH_CHECK_THRESHOLD": 20,
        # From one task's end to the next one's start it is most of the time, and a look costs it some milliseconds.
        "SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME": 0.4,
        f"{SECONDS}_SEC": 5,
        f"{SECONDS}_TIMEOUT": 60,
        # A task asks the api-server before it begins: one that is killed is back in 15 s, and tasks outwait it.
        "WORKERS__EXECUTION_API_TIMEOUT": 30,
        "WORKERS__EXECUTION_API_RETRIES": 12,
        "WORKERS__EXECUTION_API_RETRY_WAIT_MAX": 5,
        "DAG_PROCESSOR__PARSING_PROCESSES": 1,
        "DAG_PROCESSOR__REFRESH_INTERVAL": 30,
        # A file that changed is read at once all the same; the others need not be read every half minute.
        "DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": 120,
        "TRIGGERER__CAPACITY": 100,
        "USAGE_DATA_COLLECTION__ENABLED": False,
    }
    return {
        "AIRFLOW_HOME": str(folder),
        **{f"AIRFLOW__{name}": str(value) for name, value in sections.items()},
        **environment(settings),
        f"AIRFLOW_CONN_{SPARK_CONNECTION.upper()}": json.dumps(spark(settings.spark_master)),
        # Airflow's processes rename themselves, by default over the environment that tells whose they are.
        "SPT_NOENV": "1",
    }


def drivers(settings: Settings) -> int:
    """How many streaming drivers there are. Said here, a wrong setting is refused before anything starts."""
    try:
        return len(groups(settings.stream_groups))
    except BadGroups as bad:
        raise SettingError(str(bad)) from bad


def refuse_retention(settings: Settings) -> None:
    """A setting that a night could not follow is refused as soon."""
    try:
        retentions(settings.retention)
    except BadRetention as bad:
        raise SettingError(str(bad)) from bad


def spark(master: str) -> dict[str, object]:
    """The connection `spark_lake`: where SparkSubmitOperator sends its jobs."""
    host, colon, port = master.rpartition(":")
    where = {"host": host, "port": int(port)} if colon and port.isdigit() else {"host": master}
    return {"conn_type": "spark", **where, "extra": {"deploy-mode": "client", "spark-binary": "spark-submit"}}


def migrate(settings: Settings) -> None:
    """Brings Airflow's tables up to its version. All parts start at once: the first does it, the others wait."""
    folder = settings.home / "airflow"
    done = folder / "migrated"
    mark = f"{version('apache-airflow')} {settings.database}"
    with (folder / "migrate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Tables elsewhere may have been dropped or restored meanwhile; only our own file keeps what we did.
        if not settings.database and done.is_file() and done.read_text() == mark:
            return
        from airflow.utils.db import initdb

        initdb()
        done.write_text(mark)


def answering(url: str) -> None:
    """Waits for the api-server. A task that starts before it fails, and its DAG run with it."""
    while fetch(url) is None:
        time.sleep(0.2)


def imported(dags: Path) -> None:
    """Imports what DAG files import. Each file is read in a fork of this process, and would import it all again."""
    for file in dags.glob("*.py"):
        for line in ast.parse(file.read_text()).body:
            if isinstance(line, ast.ImportFrom) and line.module:
                # What is broken is told of the file that needs it.
                with suppress(Exception):
                    import_module(line.module)


def main() -> None:
    # jsonschema builds a grammar of international addresses at import, 1.5 s of CPU in each process, if it can.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    from airflow.__main__ import main as airflow

    settings = Settings.from_env()
    database.in_turn()
    migrate(settings)
    if sys.argv[1] == "scheduler":
        answering(f"http://127.0.0.1:{settings.airflow_port}/api/v2/version")
    if sys.argv[1] == "dag-processor":
        imported(PROJECT / "dags")
    airflow()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main()
