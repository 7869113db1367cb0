"""What is wrong with a table and what it costs to rebuild, as a task. No JVM, changes nothing."""

from penstock.settings import Settings


def plan(table: str) -> str:
    from penstock.engine.damage import damages
    from penstock.lake.layout import Layout

    settings = Settings.from_env()
    every = damages(Layout(settings.lake), settings.kafka, deep=True)
    found = [str(damage) for damage in every if damage.table == table]
    # What nobody finds fault with may be rebuilt all the same: the result is the same table.
    return "\n".join(found) or f"{table} is whole, as far as can be seen. It would be built again to the same rows."
