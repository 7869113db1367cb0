"""Names of columns in SQL."""


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
