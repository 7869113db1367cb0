"""The notifier of every task: opens an alert when the task has failed for good, closes it when it succeeds."""

from importlib.util import find_spec
from typing import Any

from airflow.sdk import BaseNotifier, Context

from penstock.ops.airflow.errors import DataRefused, RequestRefused, Stalled
from penstock.ops.airflow.runbooks import PREFIX, linked
from penstock.ops.alerts.desk import Alert
from penstock.ops.alerts.routes import desk
from penstock.settings import Settings

LONGEST_TEXT = 2500
Links = tuple[tuple[str, str], ...]
# What a gate of silver means for who is on call; its record says which expectation and rows.
SENDER = (
    "A sender of {source} broke. `penstock rejected --source {source}` groups what came; live numbers go on as "
    "provisional. Mend the sender, repair what can be read, or build with *Accept*: the runbook many_rejected leads on."
)


class Notice(BaseNotifier):
    """`failed` or `recovered`; `severity` is what a failure of these tasks means to people."""

    def __init__(self, what: str, severity: str = "critical") -> None:
        super().__init__()
        self.what = what
        self.severity = severity

    def notify(self, context: Context) -> None:
        settings = Settings.from_env()
        if self.what == "recovered":
            desk(settings.home).well(key_of(context), member_of(context))
            if getattr(context["task"], "gated", False):
                tell_warnings(settings, context)
        elif not isinstance(context.get("exception"), Stalled):
            desk(settings.home).broken(self.alert(context, settings))

    def alert(self, context: Context, settings: Settings) -> Alert:
        task = context["ti"]
        error = context.get("exception")
        runbook = base_url() + linked(context["task"].doc_md or "")
        return Alert(
            key_of(context),
            self.severity,
            f"{task.dag_id}.{task.task_id}: {type(error).__name__}",
            told(error, settings, context),
            member_of(context),
            (("Task", task.log_url), ("Runbook", runbook), *drawn(error, settings, context)),
        )


def key_of(context: Context) -> str:
    return f"{context['ti'].dag_id}.{context['ti'].task_id}"


def member_of(context: Context) -> str:
    """A day of a backfill is broken until that day is rebuilt; anything else until the next good run."""
    run = context["dag_run"]
    return str(run.run_id) if "backfill" in str(run.run_type) else ""


def told(error: Any, settings: Settings, context: Context) -> str:
    """What the error says. A gate's refusal is read from the record that the gate left."""
    text = str(error or "no error was recorded: the task's process died")
    if isinstance(error, DataRefused):
        from penstock.lake.gates import refusals
        from penstock.model.domain import domains

        sources = {source.name for domain in domains().values() for source in domain.sources}
        refused = refusals(settings.lake, context["ti"].start_date)
        advice = [SENDER.format(source=each.table) for each in refused if each.table in sources]
        return "\n\n".join([*advice, *(each.text() for each in refused)]) or _short(text)
    return text if isinstance(error, RequestRefused) else _short(text)


def drawn(error: Any, settings: Settings, context: Context) -> Links:
    """The charts of those whose tables a gate refused: what readers see meanwhile."""
    if not isinstance(error, DataRefused):
        return ()
    from penstock.lake.gates import refusals

    refused = refusals(settings.lake, context["ti"].start_date)
    return tuple(dict.fromkeys(link for each in refused for link in chart(settings, each.table)))


def chart(settings: Settings, table: str) -> Links:
    """The picture of a domain's numbers, where it has a page."""
    domain = table.partition(".")[0]
    if find_spec(f"domains.{domain}") is None or find_spec(f"domains.{domain}.charts") is None:
        return ()
    return (("Chart", f"http://127.0.0.1:{settings.serve_port}/api/charts/{domain}/png"),)


def tell_warnings(settings: Settings, context: Context) -> None:
    """What a gate let through and people should know of; closed by the next verdict without it."""
    from penstock.lake.gates import checks

    for checked in checks(settings.lake, context["ti"].start_date):
        key = f"gate.{checked.table}"
        if checked.passed and checked.severity == "warning":
            links = (("Gates", f"{base_url()}{PREFIX}/gates"), *chart(settings, checked.table))
            desk(settings.home).broken(
                Alert(key, "warning", f"{checked.table}: published with warnings", checked.text(), links=links)
            )
        elif checked.passed:
            desk(settings.home).well(key)


def _short(text: str) -> str:
    """The end of a long report, where what went wrong stands."""
    return text if len(text) <= LONGEST_TEXT else "… " + text[-LONGEST_TEXT:]


def base_url() -> str:
    from airflow.sdk import conf

    return conf.get("api", "base_url", fallback="").rstrip("/")
