"""A machine that has only a JRE compiles the lake's Java by the Eclipse compiler."""

import sys
from pathlib import Path

import pytest

from penstock.ops.setup import log_store


def test_the_eclipse_compiler_makes_the_same_classes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(log_store.shutil, "which", lambda name: None)
    venv = Path(sys.prefix)
    jars = venv / "share" / "penstock" / "jars"
    sources = [str(source) for source in sorted(log_store.JAVA.glob("*.java"))]
    compile_ = [*log_store.compiler(jars), "--release", "17", "-classpath", log_store.classpath(venv)]
    log_store.run("log store", [*compile_, "-d", str(tmp_path), *sources], log_store.JAVA)
    assert {each.stem for each in log_store.JAVA.glob("*.java")} <= {each.stem for each in tmp_path.rglob("*.class")}
