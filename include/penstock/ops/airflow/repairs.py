"""What a repair would do, as its dry run has written it down."""

from penstock.settings import Settings


def plan(operation: str) -> str:
    from penstock.engine.repair import planned

    return planned(Settings.from_env().home, operation).read_text()
