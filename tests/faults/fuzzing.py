"""Fuzzes the collector's decode path with coverage, by atheris; a broken law ends it with the bytes that broke it.

Repeat any run by its seed: `PYTHONPATH=tests:tests/factories python -m faults.fuzzing --seed 7 --runs 1000000`.
"""

import argparse
import gzip
import sys
import tempfile
from pathlib import Path

import atheris
import zstandard

with atheris.instrument_imports(include=["penstock.collect"]):
    from decoding import AVRO, LIMITS, decoded

KINDS = (b"application/json", b"application/x-ndjson", AVRO)
ENCODINGS = (b"", b"gzip", b"zstd", b"br")
# The first byte says how the others were sent.
WAYS = [(kind, encoding) for kind in KINDS for encoding in ENCODINGS]
WORDS = ['"{"', '"}"', '"["', '"]"', '","', '":"', '"\\""', '"\\\\u"', '"null"', '"NaN"', '"-0.0e9"', '"visitor"']
BODIES = (
    b'{"visitor": "a", "event_id": "e1", "n": [1, 2.5, null, true]}',
    b'[{"visitor":"a"},{"visitor":["a"]},{"a":1,"a":1},{"visitor":"b"}]',
    b'{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}\n{"event_id": 7}\n\n{"k": "\\ud83d\\ude00\xf0\x9f\x98\x80"}',
    b"\x00\x00\x00\x00\x2a\x02hi",
)


def one(told: bytes) -> None:
    if told:
        kind, encoding = WAYS[told[0] % len(WAYS)]
        decoded(told[1:], kind, encoding)


def examples(folder: Path) -> Path:
    """Where the fuzzer begins: good bodies, each in every way."""
    packers = {b"": bytes, b"gzip": gzip.compress, b"zstd": zstandard.compress, b"br": bytes}
    for way, (_, encoding) in enumerate(WAYS):
        for number, body in enumerate(BODIES):
            (folder / f"{way}-{number}").write_bytes(bytes([way]) + packers[encoding](body))
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1_000_000)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="penstock-fuzz-"))
    (folder / "words").write_text("\n".join(WORDS))
    (folder / "bodies").mkdir()
    told = [f"-runs={asked.runs}", f"-seed={asked.seed}", f"-dict={folder}/words", f"-max_len={LIMITS.inflated}"]
    # Where it fails, the bytes are beside the first bodies.
    told += [f"-artifact_prefix={folder}/", "-timeout=20", "-print_final_stats=1", str(examples(folder / "bodies"))]
    atheris.Setup([sys.argv[0], *told], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
