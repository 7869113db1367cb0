"""supervisord's settings, written anew at each start, and the environment of everything below it."""

import os
import sys

from penstock.ops.airflow.environment import PROJECT
from penstock.ops.stack import airflow
from penstock.ops.stack.home import Home
from penstock.ops.stack.orphans import MARK
from penstock.ops.stack.parts import BIN, Part
from penstock.settings import Settings

# The broker goes last, so that whoever still writes can finish.
LAST = "broker"


def environ(settings: Settings, home: Home) -> dict[str, str]:
    """What every process of the stack inherits. SPARK_HOME must not point to some other Spark."""
    inherited = {name: value for name, value in os.environ.items() if name != "SPARK_HOME"}
    ours = {
        **airflow.environ(settings, home),
        **settings.to_env(),
        MARK: home.stack,
        "PATH": f"{BIN}:{os.environ.get('PATH', os.defpath)}",
        "PYSPARK_PYTHON": sys.executable,
        # spark-submit starts a JVM only to spell the command of the next one.
        "SPARK_LAUNCHER_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData",
        # dags, spark_jobs and expectations are folders of the project, not installed packages.
        "PYTHONPATH": f"{PROJECT}:{os.environ.get('PYTHONPATH', '')}".rstrip(":"),
        "PYTHONUNBUFFERED": "1",
    }
    operators = {name: value for name, value in inherited.items() if name.startswith(("AIRFLOW__", "AIRFLOW_CONN_"))}
    return {**inherited, **ours, **operators}


def supervisord(home: Home, rows: list[Part]) -> str:
    """One group stops at once, and the broker's group after it."""
    first = ",".join(part.name for part in rows if part.name != LAST)
    root = "user=root\n" if os.getuid() == 0 else ""
    return "\n".join(
        [
            f"[supervisord]\nlogfile={_text(home.logs)}/supervisor.log\nlogfile_maxbytes=5MB\nlogfile_backups=1",
            f"pidfile={_text(home.run)}/supervisor.pid\nchildlogdir={_text(home.logs)}\nsilent=true\n{root}",
            f"[unix_http_server]\nfile={_text(home.socket)}\nchmod=0600\n",
            "[rpcinterface:supervisor]",
            "supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface\n",
            *(_program(home, part) for part in rows),
            # Groups start in ascending and stop in descending priority, one after the other.
            f"[group:work]\nprograms={first}\npriority=20\n",
            *(f"[group:log]\nprograms={part.name}\npriority=10\n" for part in rows if part.name == LAST),
        ]
    )


def _program(home: Home, part: Part) -> str:
    settings = {
        "command": " ".join(_text(f'"{word}"') for word in part.command),
        "directory": _text(home.run),
        "autorestart": "true",
        # Dead within three seconds counts as a failed start: the next comes after 1 s, then 2 s, …
        "startsecs": 3,
        # … and is never given up: a cause that goes away (a disk, a network) must not need a hand here.
        "startretries": 1_000_000,
        "stopsignal": "TERM",
        # Airflow's servers wait for their last connections; crash-only parts need no such courtesy.
        "stopwaitsecs": 3,
        "stopasgroup": "true",
        "killasgroup": "true",
        "redirect_stderr": "true",
        "stdout_logfile": f"{_text(home.logs)}/{part.name}.log",
        "stdout_logfile_maxbytes": "10MB",
        "stdout_logfile_backups": 1,
    }
    return f"[program:{part.name}]\n" + "".join(f"{name}={value}\n" for name, value in settings.items())


def _text(value: object) -> str:
    """In supervisord's file a percent sign begins a variable."""
    return str(value).replace("%", "%%")
