"""# Replay: a new release of a domain, from bronze, by the code that you choose

`plan` refuses what cannot work, names the release and says how long it will take. `replay` makes silver of all of
bronze and then every view behind its gate, beside the release that people read, and slower rather than in its way. Then
a stream of its own keeps the new release up to date, until it is dropped. **Readers see nothing of it** until a switch.

**Clearing and repeating are safe**: a replay goes on after its last epoch. To give one up, mark the run failed and drop
the release with `drop_release`.

**When it fails**, the error says why; the release that people read is untouched.
"""

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import Param, chain, dag, task

from penstock.ops.airflow import forms
from penstock.ops.airflow.defaults import DEFAULTS
from penstock.ops.airflow.operations import OPERATION, WHO, WHY, people
from penstock.ops.airflow.runbooks import runbook
from penstock.ops.airflow.steps import SparkStep

RELEASE = "{{ ti.xcom_pull(task_ids='plan')['release'] }}"


@dag(
    schedule=None,
    max_active_runs=2,
    default_args={**DEFAULTS, "pool": "releases", "doc_md": runbook("wrong_rule")},
    params={
        "domain": forms.one_domain(),
        "code": Param(
            "", type="string", title="Code", description="A folder, a wheel, a git revision. Empty: deployed."
        ),
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
    def plan(domain: str, code: str, who: str, why: str, operation: str) -> dict[str, object]:
        from penstock.ops.airflow import releasing

        return releasing.plan_replay(domain, code, who, why, operation)

    chain(
        plan("{{ params.domain }}", "{{ params.code }}", WHO, WHY, OPERATION),
        SparkStep(
            job="replay",
            gated=True,
            memory="2g",
            doc_md=runbook("wrong_rule"),
            arguments=[
                "--domain={{ params.domain }}",
                "--code={{ params.code }}",
                "--cores={{ params.cores }}",
                f"--operation={OPERATION}",
                f"--who={WHO}",
                f"--why={WHY}",
            ],
        ),
        TriggerDagRunOperator(
            task_id="keep_up",
            trigger_dag_id="release_stream",
            conf={"domain": "{{ params.domain }}", "release": RELEASE},
        ),
    )


replay()
