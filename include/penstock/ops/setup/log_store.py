"""Compiles the lake's Java into one jar: by javac where there is one, else by the Eclipse compiler on a JRE."""

import shutil
import tempfile
import zipfile
from pathlib import Path

from penstock.ops.setup.failure import run

JAVA = Path(__file__).parents[2] / "lake" / "java"


def build(venv: Path) -> None:
    """Writes penstock-lake.jar beside Spark's other jars, published by rename."""
    jars = venv / "share" / "penstock" / "jars"
    target = jars / "spark" / "penstock-lake.jar"
    sources = sorted(str(source) for source in JAVA.rglob("*.java"))
    target.unlink(missing_ok=True)
    if not sources:
        return
    with tempfile.TemporaryDirectory(dir=jars.parent, prefix="classes-") as folder:
        run(
            "log store",
            [*compiler(jars), "--release", "17", "-classpath", classpath(venv), "-d", folder, *sources],
            JAVA,
        )
        half = Path(folder) / "half.jar"
        pack(Path(folder), half)
        half.rename(target)


def compiler(jars: Path) -> list[str]:
    if shutil.which("javac"):
        # A processor on Spark's class path is no business of ours.
        return ["javac", "-proc:none"]
    return ["java", "-jar", str(next(iter((jars / "compiler").glob("ecj-*.jar")))), "-proc:none"]


def classpath(venv: Path) -> str:
    """What the sources may use: Spark's own jars (Hadoop among them) and Delta's."""
    pyspark = venv.glob("lib/python3.*/site-packages/pyspark/jars/*.jar")
    ours = venv.glob("share/penstock/jars/spark/*.jar")
    return ":".join(str(jar) for jar in [*sorted(pyspark), *sorted(ours)])


def pack(classes: Path, target: Path) -> None:
    """A jar is a zip; a JRE has no `jar` tool. Fixed times, so that the same sources give the same bytes."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as jar:
        for each in sorted(classes.rglob("*.class")):
            entry = zipfile.ZipInfo(str(each.relative_to(classes)), date_time=(1980, 1, 1, 0, 0, 0))
            jar.writestr(entry, each.read_bytes())
