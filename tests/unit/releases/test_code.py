"""The code of a release is kept in the lake and runs beside the code that is deployed."""

import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread
from time import sleep
from types import ModuleType

import pytest
from toy_code import TOY, changed_code

from penstock.lake.code import files_of, hash_of, pin, unpacked
from penstock.lake.layout import Layout
from penstock.lake.releases import Refused
from penstock.model import domain
from penstock.model.domain import CodeRefused, Domain, code, domains, forget, load


def test_pinned_code_is_unpacked_as_it_was(tmp_path: Path) -> None:
    layout, (_, files) = Layout(str(tmp_path / "lake")), files_of(str(TOY), "toy")
    key = pin(layout, "toy", files)
    folder = unpacked(layout, tmp_path / "home", "toy", key)
    assert (folder / "domains/toy/views.py").read_bytes() == (TOY / "domains/toy/views.py").read_bytes()
    assert (folder / "expectations/toy_numbers.py").is_file()
    assert pin(layout, "toy", files) == key == hash_of(files_of(str(folder), "toy")[1])


def test_two_releases_of_a_domain_are_loaded_side_by_side(tmp_path: Path, toy: Domain) -> None:
    folder = Path(changed_code(tmp_path, "model.py", "Small events", "Large events"))
    with code(folder):
        inside = domains()["toy"].sources[0].doc
    told = [one.sources[0].doc for one in (domains()["toy"], load(folder, "toy"), domains()["toy"])]
    assert [inside, *told] == [
        "Large events that tests send.", "Small events that tests send.", "Large events that tests send.",
        "Small events that tests send.",
    ]  # fmt: skip


def test_code_is_loaded_while_another_thread_imports(tmp_path: Path, toy: Domain) -> None:
    over = Event()

    def imports() -> None:
        while not over.wait(0.0001):
            sys.modules["imported"] = ModuleType("imported")
            sleep(0.0001)
            del sys.modules["imported"]

    folder = Path(changed_code(tmp_path, "model.py", "Small events", "Large events"))
    other = Thread(target=imports)
    other.start()
    try:
        assert {load(folder, "toy").sources[0].doc for _ in range(50)} == {"Large events that tests send."}
    finally:
        over.set()
        other.join()
    assert domains()["toy"].sources[0].doc == "Small events that tests send."


def test_code_that_does_not_load_says_why(tmp_path: Path) -> None:
    folder = Path(changed_code(tmp_path, "views.py", "ALL = Facts(EVENTS)", "ALL = Facts(EVENT)"))
    with pytest.raises(CodeRefused, match="NameError: name 'EVENT' is not defined"):
        load(folder, "toy")


def test_a_wheel_holds_code_as_well(tmp_path: Path) -> None:
    wheel = tmp_path / "site-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as written:
        for file in sorted((TOY / "domains/toy").glob("*.py")):
            written.write(file, f"domains/toy/{file.name}")
    assert "domains/toy/shapes.py" in files_of(str(wheel), "toy")[1]


def test_a_git_revision_is_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(TOY / "domains/toy", tmp_path / "include/domains/toy")
    shutil.copytree(TOY / "expectations", tmp_path / "expectations")
    for words in (
        ("init",),
        ("add", "."),
        ("-c", "user.name=lina", "-c", "user.email=lina@a.example", "commit", "-m", "1"),
    ):
        subprocess.run(["git", "-C", tmp_path, *words], check=True, capture_output=True)
    committed = (tmp_path / "include/domains/toy/shapes.py").read_bytes()
    (tmp_path / "include/domains/toy/shapes.py").write_text("what is being tried")
    monkeypatch.setattr("penstock.lake.code.PROJECT", tmp_path)
    name, files = files_of("HEAD", "toy")
    assert (name.startswith("git "), files["domains/toy/shapes.py"]) == (True, committed)


@pytest.mark.parametrize(
    ("named", "sentence"), [("no-such-thing", "no folder, no wheel and no git"), ("{empty}", "no domain 'toy'")]
)
def test_what_is_no_code_is_refused(tmp_path: Path, named: str, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        files_of(named.format(empty=tmp_path), "toy")


def test_threads_that_look_for_domains_at_once_find_the_same(toy: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or what one has in hand would not be what another changes."""
    load_slowly = domain._load

    def slowly(name: str) -> Domain:
        sleep(0.01)
        return load_slowly(name)

    monkeypatch.setattr(domain, "_load", slowly)
    forget()
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: domains(), range(4)))
    assert all(each is domains() for each in found)
