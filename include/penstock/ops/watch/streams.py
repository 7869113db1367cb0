"""Whether the streams move: what each last said of itself, judged by the clock."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from penstock.engine.progress import read
from penstock.lake.layout import FIRST_RELEASE
from penstock.model.group import REST, Group
from penstock.ops.watch.finding import Finding

# A stream says that it lives every 5 s; a change of shift may take 15 s. Three times that is no longer normal.
SILENT_SECONDS = 45
# How long a fresh home or a new group may take until its first stream reports.
FIRST_SECONDS = 180
LAG_SECONDS = {"critical": 300, "warning": 60}
SLOW_EPOCH_SECONDS = 10


def streams(home: Path, hosts: Iterable[Group], now: datetime) -> Iterator[Finding]:
    said = read(home)
    for group in hosts:
        own = {f"{kind}-{source.name}" for source in group.sources for kind in ("archive", "shape")}
        if own.isdisjoint(progress["job"] for progress in said):
            yield from _never_reported(home, group.name, now)
    for progress in said:
        yield from judged(progress, now)


def judged(said: Mapping[str, Any], now: datetime) -> Iterator[Finding]:
    """What is wrong with one stream: at most one finding of its life, and those of its work."""
    job, state = name_of(said), said["state"]
    silent = (now - datetime.fromisoformat(said["at"])).total_seconds()
    if state == "failed":
        yield Finding("stream_failed", job, "critical", f"{said['sentence']}\n{said['todo']}")
    elif silent > SILENT_SECONDS:
        yield Finding(
            "stream_stalled",
            job,
            "critical",
            f"{job} last said {state!r} {silent:.0f} s ago (epoch {said['epoch']}). Records wait safely in the log; "
            f"nothing is lost. The `{said.get('group', REST)}` DAG starts a driver by itself; see its last task.",
        )
    elif state == "running":
        yield from _work(job, said)


def name_of(said: Mapping[str, Any]) -> str:
    """Releases of one source are told apart."""
    release = said.get("release") or FIRST_RELEASE
    return str(said["job"]) if release == FIRST_RELEASE else f"{said['job']}-{release}"


def _work(job: str, said: Mapping[str, Any]) -> Iterator[Finding]:
    lag = said.get("lag_seconds") or 0
    severity = next((name for name, limit in LAG_SECONDS.items() if lag > limit), None)
    if severity:
        yield Finding("stream_lags", job, severity, f"{job} is {lag:.0f} s and {said['lag_records']} records behind.")
    seconds = said.get("seconds", {}).get("epoch", 0)
    # A stream at rest still says how long its last epoch took.
    if seconds > SLOW_EPOCH_SECONDS and said.get("lag_records"):
        yield Finding("slow_epochs", job, "warning", f"{job}: the last epoch took {seconds:.1f} s.")


def _never_reported(home: Path, group: str, now: datetime) -> Iterator[Finding]:
    """A group of which no stream has ever reported is fresh for three minutes and broken after that."""
    first = home / "run" / f"first_look.{group}"
    if not first.exists():
        first.parent.mkdir(parents=True, exist_ok=True)
        first.touch()
    if now.timestamp() - first.stat().st_mtime > FIRST_SECONDS:
        text = f"No stream has ever reported. See the last task of the `{group}` DAG: is it paused?"
        yield Finding("stream_stalled", group, "critical", text)
