"""# Weekly report: the week of each page, by mail

Each Monday morning: headlines against the week before, the chart and the lists of every scope that had facts (for the
web: of every site), to those whom `alerts.conf` names as `report=`. Where nobody is named the task is skipped.

**When it fails**, a receiver refused the mail or the read API did not answer; no number is wrong. Trying again may
mail a page twice.
"""

from airflow.sdk import Param, dag, task

from penstock.ops.airflow import forms
from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.runbooks import runbook


@dag(
    schedule="0 6 * * 1",
    max_active_runs=1,
    catchup=False,
    default_args={**DEFAULTS, "pool": "checks", "doc_md": runbook("weekly_report")},
    params={
        "domain": forms.one_domain(),
        "scope": Param(None, type=["null", "string"], title="Scope", description="For the web, a site. Empty: each."),
    },
    doc_md=__doc__,
    tags=["reports"],
)
def weekly_report() -> None:
    @task
    def mail(domain: str, scope: str) -> list[str]:
        from penstock.ops.airflow import reports

        return reports.mail(domain, scope)

    mail("{{ params.domain }}", "{{ params.scope or '' }}")


weekly_report()
