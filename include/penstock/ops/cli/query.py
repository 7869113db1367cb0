"""`penstock query` and `penstock sql`: numbers in a terminal, a file or a pipe."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import typer
from rich.console import Console
from rich.table import Table

from penstock.refusal import Refusal
from penstock.serve.asking import NotAnswered, Told
from penstock.serve.asking import query as ask
from penstock.serve.encode import document
from penstock.settings import Settings

# What a spreadsheet takes for the beginning of a formula (console/csv.js has the same).
FORMULA = r"^[\s\pZ\x{FEFF}]*[=+\-@|\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
# Columns of a table that nobody's screen bounds.
WIDE = 240


class Form(StrEnum):
    table = "table"
    chart = "chart"
    csv = "csv"
    json = "json"
    parquet = "parquet"


def register(app: typer.Typer) -> None:
    app.command()(query)
    app.command()(sql)


def query(
    view: Annotated[str, typer.Argument(help="Which view, such as web.pageviews.")],
    start: Annotated[str, typer.Option("--from", help="Start of the range; a day ago when absent.")] = "",
    end: Annotated[str, typer.Option("--to", help="End of the range, excluded.")] = "",
    every: Annotated[str, typer.Option(help="Bucket: 5 minutes, 1 hour, 1 day; absent: one total.")] = "",
    over: Annotated[str, typer.Option(help="Each bucket tells of the window of this width that ends with it.")] = "",
    by: Annotated[str, typer.Option(help="Keys, with commas.")] = "",
    where: Annotated[list[str] | None, typer.Option(help="key:operator:value; may be repeated.")] = None,
    retained: Annotated[str, typer.Option(help="A theta measure: who of each bucket came again.")] = "",
    order: Annotated[str, typer.Option(help="Columns, with commas; a minus for descending.")] = "",
    limit: Annotated[int | None, typer.Option(help="Rows at most.")] = None,
    tz: Annotated[str, typer.Option(help="Time zone of buckets of a day or more.")] = "",
    form: Annotated[Form, typer.Option("--format", help="How to print.")] = Form.table,
    out: Annotated[Path | None, typer.Option(help="File to write; needed for parquet.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Ask a view and print its rows with their certificate."""
    address = f"http://127.0.0.1:{Settings.from_env().serve_port}"
    if form is Form.parquet and out is None:
        raise Refusal("Parquet is not for a terminal. Say where to write it: --out rows.parquet")
    try:
        said = {"start": start, "end": end, "every": every, "over": over, "by": by, "retained": retained, "tz": tz}
        told = ask(view, address, where=where or (), order=order, limit=limit, **said)
    except NotAnswered as refused:
        raise Refusal(str(refused)) from refused
    PRINTERS[Form.json if as_json else form](told, out)


def sql(
    text: Annotated[str, typer.Argument(help="A query; views are tables by name: select * from web_pageviews")],
    as_json: Annotated[bool, typer.Option("--json", help="Rows as JSON.")] = False,
) -> None:
    """Run SQL over views and facts as tables: read-only, without access to files and network."""
    from penstock.lake.layout import Layout
    from penstock.serve.sql import NotSql, run

    try:
        rows = run(Layout(Settings.from_env().lake), text)
    except NotSql as refused:
        raise Refusal(str(refused)) from refused
    _json(Told(rows, {}), None) if as_json else _table(Told(rows, {}), None)


def _table(told: Told, _: Path | None) -> None:
    table = Table(*told.rows.column_names)
    for row in told.rows.to_pylist():
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    # Piped, a table has all the room it needs; in a terminal it has the terminal's.
    console = Console() if sys.stdout.isatty() else Console(width=WIDE)
    console.print(table)
    console.print(_words(told.certificate), style="dim", highlight=False)


def _chart(told: Told, _: Path | None) -> None:
    """The first number over time, or by the first key."""
    numbers = [
        name for name, kind in zip(told.rows.column_names, told.rows.schema.types, strict=True) if _numeric(kind)
    ]
    if not numbers or told.rows.num_columns < 2:
        raise Refusal("There is nothing to draw: ask with --every or --by.")
    labels = [str(value) for value in told.rows.column(0).to_pylist()]
    values = [float(value or 0) for value in told.rows[numbers[0]].to_pylist()]
    most, margin = max([*values, 1e-9]), max(map(len, labels))
    console = Console()
    console.print(numbers[0], style="bold")
    for label, value in zip(labels, values, strict=True):
        length = max(0, round(value / most * (console.width - margin - 16)))
        console.print(f"{label:<{margin}} {'█' * length} {value:g}", highlight=False)


def _csv(told: Told, out: Path | None) -> None:
    pyarrow.csv.write_csv(guarded(told.rows), str(out) if out else pa.PythonFile(sys.stdout.buffer))


def guarded(rows: pa.Table) -> pa.Table:
    """A spreadsheet must never run what a visitor sent: such text begins with a quote, as in the console's files."""
    for place, column in enumerate(rows.schema):
        if pa.types.is_string(column.type):
            texts = pc.replace_substring_regex(rows[place], FORMULA, r"'\0")
            rows = rows.set_column(place, column.name, texts)
    return rows


def _json(told: Told, _: Path | None) -> None:
    sys.stdout.buffer.write(document({"rows": told.rows.to_pylist(), "certificate": told.certificate}) + b"\n")


def _parquet(told: Told, out: Path | None) -> None:
    pyarrow.parquet.write_table(told.rows, str(out))


def _numeric(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _words(certificate: Any) -> str:
    if not certificate:
        return ""
    state = "final" if certificate["final"] else f"provisional ({certificate['provisional_rows']} facts after the cut)"
    return f"as of {certificate['as_of']}, release {certificate['release']}, {certificate['facts']} facts, {state}"


PRINTERS = {
    Form.table: _table,
    Form.chart: _chart,
    Form.csv: _csv,
    Form.json: _json,
    Form.parquet: _parquet,
}
