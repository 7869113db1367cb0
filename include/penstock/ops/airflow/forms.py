"""Fields of the forms that operators fill in. Airflow refuses what does not fit before a run exists."""

from airflow.sdk import Param

from penstock.model.domain import domains

DAY = r"^\d{4}-\d{2}-\d{2}$"
ALL = "all"
SINCE = "A UTC day, both ends included. Empty: what is new since the last build."


def domain() -> Param:
    return Param(ALL, type="string", enum=[ALL, *domains()], title="Domain", description="Whose views.")


def one_domain() -> Param:
    return Param(next(iter(domains())), type="string", enum=[*domains()], title="Domain")


def day(title: str, description: str = SINCE) -> Param:
    """A UTC day, or nothing."""
    return Param(
        None,
        type=["null", "string"],
        format="date",
        pattern=DAY,
        title=title,
        description=description,
    )


def yes_no(title: str, description: str) -> Param:
    return Param(False, type="boolean", title=title, description=description)


def source() -> Param:
    names = [each.name for domain in domains().values() for each in domain.sources]
    return Param(type="string", enum=names, title="Source", description="Whose facts.")
