"""What a replay's JVM compiles."""

from penstock.engine.releasing import in_workers
from penstock.model.domain import Domain


def test_a_jvm_compiles_little_where_workers_judge_tables(toy: Domain) -> None:
    assert (in_workers("web"), in_workers(toy.name)) == (True, False)
