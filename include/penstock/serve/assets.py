"""The chart library, from the wheel that carries it: one script, made once, kept compressed beside the jars."""

import gzip
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import vl_convert

KEPT = Path(sys.prefix, "share", "penstock", "vendor")


@cache
def vega(folder: Path = KEPT) -> bytes:
    """Vega-Embed as one gzipped script that sets `window.vegaEmbed`. Making it takes seconds, so it is kept."""
    kept = folder / f"vega-{version('vl-convert-python')}.js.gz"
    if kept.exists():
        return kept.read_bytes()
    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    packed = gzip.compress(script.encode(), mtime=0)
    # Where nothing may be written, it is made again by each process.
    with suppress(OSError):
        _keep(packed, kept)
    return packed


def _keep(packed: bytes, kept: Path) -> None:
    """A name of its own first: a reader never finds half a file."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    fresh = kept.with_suffix(".part")
    fresh.write_bytes(packed)
    fresh.replace(kept)
