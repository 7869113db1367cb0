"""The code of a release: a domain's own files, kept in the lake under their hash, so that it can be run for ever.

`control/code` has one row a file. A process that runs a release unpacks them in its home and puts the folder first on
its path; a release without a hash runs the code that is deployed.
"""

import hashlib
import io
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from penstock.lake.appending import append_once
from penstock.lake.layout import Layout
from penstock.lake.publication import open_table
from penstock.lake.releases import Refused, registry

Files = Mapping[str, bytes]
PROJECT = Path(__file__).parents[3]
SCHEMA = pa.schema({"hash": pa.string(), "domain": pa.string(), "path": pa.string(), "content": pa.binary()})


def files_of(code: str, domain: str) -> tuple[str, Files]:
    """What a release should run, by path: a folder, a wheel, a git revision of the project; empty: what is deployed.

    Answers with its full name too.
    """
    place = Path(code or PROJECT).expanduser()
    if place.suffix == ".whl" and place.is_file():
        name, files = f"wheel {place.name}", _of_wheel(place, domain)
    elif place.is_dir():
        name, files = "what was deployed" if not code else str(place.resolve()), _of_folder(place, domain)
    else:
        revision = _git("rev-parse", "--verify", "--quiet", f"{code}^{{commit}}").decode().strip()
        if not revision:
            raise Refused(
                f"{code!r} is no folder, no wheel and no git revision here. Say which code the replay should run."
            )
        name, files = f"git {revision[:12]}", _of_revision(revision, domain)
    if not any(path.endswith("/model.py") for path in files):
        raise Refused(f"{name} has no domain {domain!r}: no domains/{domain}/model.py was found in it.")
    return name, files


def pin(layout: Layout, domain: str, files: Files) -> str:
    """Keeps the files in the lake and answers with their hash; what is there already is not written again."""
    key = hash_of(files)
    rows = [{"hash": key, "domain": domain, "path": name, "content": files[name]} for name in sorted(files)]
    append_once(layout.control("code"), SCHEMA, rows, f"code/{domain}/{key}")
    return key


def folder_of(layout: Layout, home: Path, domain: str, release: str) -> Path | None:
    """The folder to put on the path for a release; None where it runs what is deployed."""
    key = registry(layout, domain).get(release).hash
    return unpacked(layout, home, domain, key) if key else None


def unpacked(layout: Layout, home: Path, domain: str, key: str) -> Path:
    """Pinned files as a folder of this home; checked against their hash whenever they are unpacked."""
    folder = home / "code" / f"{domain}-{key[:16]}"
    if folder.is_dir():
        return folder
    files = _kept(layout, domain, key)
    if hash_of(files) != key:
        raise Refused(
            f"The code {key[:12]} of {domain} in {layout.control('code')} is not what was pinned; restore it."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    half = Path(tempfile.mkdtemp(dir=folder.parent))
    for name, content in files.items():
        (half / name).parent.mkdir(parents=True, exist_ok=True)
        (half / name).write_bytes(content)
    try:
        half.rename(folder)
    except OSError:
        # Somebody else unpacked the same files first.
        shutil.rmtree(half)
    return folder


def hash_of(files: Files) -> str:
    whole = hashlib.sha256()
    for name in sorted(files):
        whole.update(f"{name}\0{len(files[name])}\0".encode() + files[name])
    return whole.hexdigest()


def _kept(layout: Layout, domain: str, key: str) -> Files:
    table = open_table(layout.control("code"))
    rows = table.to_pyarrow_table(filters=[("hash", "=", key), ("domain", "=", domain)]).to_pylist() if table else []
    return {row["path"]: row["content"] for row in rows}


def _of_folder(place: Path, domain: str) -> Files:
    """A project, its include/, or a folder with `domains` in it."""
    found = [(file.relative_to(place).as_posix(), file) for top in _tops(place) for file in sorted(top.rglob("*"))]
    return _own({name: file.read_bytes() for name, file in found if file.is_file()}, domain)


def _tops(place: Path) -> Iterator[Path]:
    for name in ("include/domains", "domains", "expectations"):
        if (place / name).is_dir():
            yield place / name


def _of_wheel(place: Path, domain: str) -> Files:
    with zipfile.ZipFile(place) as wheel:
        return _own({name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/")}, domain)


def _of_revision(revision: str, domain: str) -> Files:
    with tarfile.open(fileobj=io.BytesIO(_git("archive", revision, "include/domains", "expectations"))) as archive:
        told = {member.name: archive.extractfile(member) for member in archive.getmembers() if member.isfile()}
        return _own({name: file.read() for name, file in told.items() if file}, domain)


def _own(files: Files, domain: str) -> Files:
    """The domain's package and the suites of its tables, without what Python left beside them."""
    named = {name.removeprefix("include/"): content for name, content in files.items() if "__pycache__" not in name}
    return {
        name: content
        for name, content in named.items()
        if name.startswith((f"domains/{domain}/", f"expectations/{domain}_"))
    }


def _git(*words: str) -> bytes:
    return subprocess.run(["git", "-C", str(PROJECT), *words], capture_output=True, check=False).stdout
