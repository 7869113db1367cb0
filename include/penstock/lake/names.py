"""Names of columns in SQL, and of tables where bronze and silver stand side by side."""

BRONZE = "bronze."


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def bronze_of(source: str) -> str:
    """Of a source's bronze table; its silver table has the name of the source."""
    return f"{BRONZE}{source}"
