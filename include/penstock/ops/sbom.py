"""`python -m penstock.ops.sbom`: what the product is made of, as CycloneDX, from the lock and the pinned jars.

The same inputs give the same bytes: no time, no serial number, nothing looked up.
"""

import json
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.ops.setup import jars

PROJECT = Path(__file__).parents[3]
# kafka_2.13-4.3.1, zstd-jni-1.5.6-10
JAR = re.compile(r"(.+?)-(\d[\d.]*(?:-\d+)?)")
SBOM = PROJECT / "docs" / "sbom.cdx.json"


def packages(lock: str) -> Iterator[dict[str, Any]]:
    """The Python packages of requirements.lock."""
    for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.M):
        yield component(name, version, f"pkg:pypi/{name}@{version}")


def libraries(pins: dict[str, str], ivy: Path) -> Iterator[dict[str, Any]]:
    """The jars: by their Maven group where ivy.xml names it, by their name alone where another jar brought them."""
    wanted = ET.parse(ivy).getroot().iter("dependency")  # noqa: S314
    groups = {each.attrib["name"]: each.attrib["org"] for each in wanted}
    digests = {Path(path).stem: digest for path, digest in pins.items()}
    for stem, digest in sorted(digests.items()):
        name, version = JAR.fullmatch(stem).groups()  # type: ignore[union-attr]
        purl = f"maven/{groups[name]}/{name}" if name in groups else f"generic/{name}"
        yield {
            **component(name, version, f"pkg:{purl}@{version}"),
            "hashes": [{"alg": "SHA-256", "content": digest}],
        }


def component(name: str, version: str, purl: str) -> dict[str, Any]:
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def bill() -> str:
    """The document, one component a line, so that a change of the lock reads as what it is."""
    parts = [*packages((PROJECT / "requirements.lock").read_text())]
    parts += libraries(jars.pinned(), jars.HERE / "ivy.xml")
    root = {"type": "application", "bom-ref": "penstock", "name": "penstock", "version": "0.1.0"}
    head = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "metadata": {"component": root}}
    lines = ",\n".join(json.dumps(part) for part in parts)
    return f'{json.dumps(head)[:-1]}, "components": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    SBOM.write_text(bill())
    sys.stdout.write(f"{SBOM.relative_to(PROJECT)} written\n")
