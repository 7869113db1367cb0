"""Releases by other code than the project's, and when readers see one."""

import json
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import httpx

from penstock.ops.airflow.environment import PROJECT
from penstock.ops.load.jobs import Took, took
from penstock.settings import Settings

CORES = 2
VIEW, QUESTION = "web.pageviews", {"from": "2020-01-01", "to": "2038-01-01", "limit": "10000"}
# Whoever does not see a switch by then will not.
PATIENCE = 30.0


def other_code(settings: Settings, name: str, old: str, new: str, after: str = "") -> Path:
    """The project's code of the web but for one line, the first after some text."""
    folder = _copied(settings)
    file = folder / "include/domains/web" / name
    before, named, rest = file.read_text().partition(after) if after else ("", "", file.read_text())
    if old not in rest:
        raise ValueError(f"{file} has no {old!r}")
    file.write_text(before + named + rest.replace(old, new, 1))
    return folder


def of_views(settings: Settings, names: Iterable[str]) -> Path:
    """The same code, of which only some views are left."""
    left = f"VIEWS = tuple(view for view in VIEWS if view.name in {sorted(names)!r})\n"
    folder = _copied(settings)
    with (folder / "include/domains/web/views.py").open("a") as file:
        file.write(f"\n{left}")
    return folder


def _copied(settings: Settings) -> Path:
    folder = Path(mkdtemp(dir=settings.home, prefix="code-"))
    for part in ("include/domains/web", "expectations"):
        shutil.copytree(PROJECT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def replayed(settings: Settings, operation: str = "bench/1", *more: str) -> Took:
    words = ["--domain=web", f"--cores={CORES}", f"--operation={operation}", "--who=bench", "--why=bench", *more]
    return took(settings, "replay", *words)


def far(settings: Settings, release: str = "r2") -> dict[str, float]:
    """Where the time went, as the replay said itself."""
    said = json.loads((settings.home / "run" / "replays" / f"web-{release}.json").read_text())
    silver = sum(each["seconds"] for each in said["sources"].values())
    return {"silver_seconds": round(silver, 1), "silver_and_views_seconds": said["seconds"]}


def answered(settings: Settings, release: str) -> list[Any]:
    """The rows of a view, once they are of this release."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        told = httpx.get(f"http://127.0.0.1:{settings.serve_port}/api/views/{VIEW}", params=QUESTION, timeout=PATIENCE)
        answer = told.raise_for_status().json()
        if answer["certificate"]["release"] == release:
            return sorted(answer["rows"], key=str)
        time.sleep(0.02)
    raise TimeoutError(f"{VIEW} is not answered of {release} after {PATIENCE:.0f} s")
