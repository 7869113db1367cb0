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


WHEN = "A UTC day (2026-11-18) or a moment (2026-11-18T09:30:00Z) of happened_at; empty: open."
# What `facts` asks, by the arguments of its step.
FACTS = {
    "source": "{{ params.source }}",
    "where": "{{ params.where }}",
    "from": "{{ params['from'] }}",
    "to": "{{ params['to'] }}",
    "revoke": "{{ params.revoke }}",
}
CONFIRMED = "--confirmed={{ 'yes' if params.confirmed else 'no' }}"


def facts(statement: str) -> dict[str, Param]:
    """Which facts a statement is about, or which one of before it takes back."""
    return {
        "source": source(),
        "where": Param("", type="string", title="Condition", description="SQL on the facts' columns."),
        "from": Param("", type="string", title="From", description=WHEN),
        "to": Param("", type="string", title="To", description=WHEN + " A day is included."),
        "revoke": Param("", type="string", title="Revoke", description=f"Empty, or the {statement} to take back."),
        "confirmed": yes_no("Confirmed", "Also if it is about every fact, or none."),
    }
