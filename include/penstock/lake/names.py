"""Names of columns in SQL, of versions in a log, and of tables where bronze and silver stand side by side."""

BRONZE = "bronze."


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def version_file(version: int) -> str:
    """In a table's `_delta_log`."""
    return f"{version:020}.json"


def bronze_of(source: str) -> str:
    """Of a source's bronze table; its silver table has the name of the source."""
    return f"{BRONZE}{source}"
