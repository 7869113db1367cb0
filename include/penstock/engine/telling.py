"""What an erasure says of itself, for whoever has to answer for it: counts and times, and nobody's name."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from penstock.engine.build import Built
from penstock.engine.theirs import Asked
from penstock.lake.erasures import ERASED, Erasure


def report(home: Path, wanted: Asked, said: Sequence[Erasure], built: Sequence[Built]) -> tuple[Path, str]:
    """Writes the report below the home; the same operation again writes the same file."""
    file = home / "reports" / f"{wanted.operation.replace('/', '-')}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    told = "\n".join(_lines(wanted, said, built))
    file.write_text(told)
    return file, told


def _lines(wanted: Asked, said: Sequence[Erasure], built: Sequence[Built]) -> Iterator[str]:
    yield f"# Erasure {wanted.operation}\n"
    yield f"{len(wanted.tokens):,} subjects of {wanted.domain}, for {wanted.by}: {wanted.why}\n"
    yield "| source | release | facts before | of them erased | facts after |"
    yield "|---|---|---|---|---|"
    for each in said:
        for release, (before, theirs) in each.facts.items():
            yield f"| {each.source} | {release} | {before:,} | {theirs:,} | {before - theirs:,} |"
    yield ""
    for each in said:
        yield f"- {each.source}: {each.records:,} records are rejected (`{ERASED}`), on {len(each.days)} days of facts."
    yield f"- Views built again: {', '.join(sorted({one.view for one in built})) or 'none'}."
    yield "- Bronze, log and spool keep bytes that nobody can read: their keys are destroyed."
    yield "- Restore points of before have silver without them; a rewind to one builds its views again."
    yield f"\nDone {datetime.now(UTC):%Y-%m-%d %H:%M} UTC."
