"""# Replay: a new release of a domain, from bronze, by the code that you choose

`plan` refuses what cannot work and says how long it will take and how much room; a person approves. `begin` names the
release. `replay` makes silver of all of bronze and then every view behind its gate, beside the release that people
read, and slower rather than in its way. Then a stream of its own keeps the new release up to date, until it is dropped.
**Readers see nothing of it** until a switch.

**Clearing and repeating are safe**: a replay goes on after its last epoch. To let it wait, mark `replay` failed and
clear it later, or `penstock replay --pause`, which keeps its memory. To give one up, mark the run failed and drop the
release with `drop_release`.

**When it fails**, the error says why; the release that people read is untouched.
"""

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import Param, chain, dag, task

from penstock.ops.airflow import forms
from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.operations import APPROVED_BY, OPERATION, PLANNED, WHO, WHY, approval, people
from penstock.ops.airflow.runbooks import runbook
from penstock.ops.airflow.steps import SparkStep

ARRIVED = "Only what arrived on these UTC days, both included; the rest is taken over. Empty: all of history."
FORM = {
    "domain": "{{ params.domain }}",
    "code": "{{ params.code }}",
    "source": "{{ params.source }}",
    "view": "{{ params.view }}",
    "first": "{{ params['from'] or '' }}",
    "last": "{{ params.to or '' }}",
    "who": WHO,
    "why": WHY,
    "operation": OPERATION,
}
OPTIONS = {"first": "from", "last": "to"}
RELEASE = "{{ ti.xcom_pull(task_ids='begin') }}"


@dag(
    schedule=None,
    max_active_runs=2,
    default_args={**DEFAULTS, "pool": "releases", "doc_md": runbook("wrong_rule")},
    params={
        "domain": forms.one_domain(),
        "code": Param(
            "", type="string", title="Code", description="A folder, a wheel, a git revision. Empty: deployed."
        ),
        "source": Param(
            "", type="string", title="Source", description="Only this one; the others are taken over. Empty: all."
        ),
        "view": Param(
            "",
            type="string",
            title="View",
            description="Only this one; facts and other views are taken over. Empty: all.",
        ),
        "from": forms.day("From", ARRIVED),
        "to": forms.day("To", ARRIVED),
        "cores": Param(
            1, type="integer", minimum=1, maximum=64, title="Cores", description="Its share of the machine."
        ),
        **people(),
    },
    doc_md=__doc__,
    tags=["releases"],
)
def replay() -> None:
    @task
    def plan(form: dict[str, str]) -> str:
        from penstock.ops.airflow import releasing

        return releasing.plan_replay(form)

    # Where one view is replayed all else is taken over as it stands: no build may be half-way.
    @task(pool="builds")
    def begin(form: dict[str, str]) -> str:
        from penstock.ops.airflow import releasing

        return releasing.begin_replay(form)

    chain(
        plan(FORM),
        approval("Replay {{ params.domain }}?", PLANNED, "wrong_rule"),
        begin(FORM),
        SparkStep(
            job="replay",
            gated=True,
            memory="2g",
            doc_md=runbook("wrong_rule"),
            arguments=[
                *(f"--{OPTIONS.get(name, name)}={said}" for name, said in FORM.items()),
                "--cores={{ params.cores }}",
                f"--approved-by={APPROVED_BY}",
            ],
        ),
        TriggerDagRunOperator(
            task_id="keep_up",
            trigger_dag_id="release_stream",
            conf={"domain": "{{ params.domain }}", "release": RELEASE},
        ),
    )


replay()
