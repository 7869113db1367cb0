"""Pages inside Airflow: the runbooks, what the gates said last, and their Data Docs."""

import json
from html import escape

from airflow.api_fastapi.core_api.security import get_user
from fastapi import Depends, FastAPI
from fastapi.responses import HTMLResponse

from penstock.lake.gates import Checked, checks
from penstock.ops.airflow.runbooks import FOLDER, PREFIX
from penstock.settings import Settings

STYLE = (
    "body{font:15px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a2b3c;background:#fff}"
    "pre,code{background:#f3f5f8}"
    "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #dde}"
    ".refused{color:#b00020;font-weight:600}pre{padding:.8rem;overflow:auto}"
    "@media(prefers-color-scheme:dark){body{color:#dde6f0;background:#12181f}.refused{color:#ff8a9a}"
    "pre,code{background:#1d2630}a{color:#8ab8ff}td,th{border-color:#334}}"
)
MOST_CHECKS = 200
# Great Expectations' pages ask hosts of others for style, script and pictures. What they say of our tables needs none.
NOTHING_FROM_OUTSIDE = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
}
DATA_DOCS = "data_docs"


def pages(settings: Settings) -> FastAPI:
    # Samples of rows are masked, and still nobody's business but that of Airflow's users.
    app = FastAPI(title="Penstock in Airflow", dependencies=[Depends(get_user)])

    @app.get("/runbooks", response_class=HTMLResponse)
    def runbooks() -> str:
        names = sorted(file.stem for file in FOLDER.glob("*.md"))
        links = "".join(f'<li><a href="{PREFIX}/runbooks/{name}">{name}</a></li>' for name in names)
        return page("Runbooks", f"<ul>{links}</ul>")

    @app.get("/runbooks/{name}", response_class=HTMLResponse)
    def runbook(name: str) -> HTMLResponse:
        # The name is looked up among the files that there are, so that it cannot name any other file.
        found = {file.stem: file for file in FOLDER.glob("*.md")}.get(name)
        if found is None:
            return HTMLResponse(page("No such runbook", f"{len(name)} characters name no runbook."), 404)
        from markdown_it import MarkdownIt

        return HTMLResponse(page(name, MarkdownIt("commonmark").enable("table").render(found.read_text())))

    @app.get("/gates", response_class=HTMLResponse)
    def gates() -> str:
        rows = "".join(row(checked) for checked in checks(settings.lake)[:MOST_CHECKS])
        head = "<tr><th>when (UTC)</th><th>table</th><th>verdict</th><th>expectations</th><th>seconds</th></tr>"
        return page("Gates", f"<table>{head}{rows}</table>" if rows else "No gate has judged anything yet.")

    @app.get("/data-docs", response_class=HTMLResponse)
    def data_docs() -> str:
        found = sorted((settings.home / DATA_DOCS).glob("*.html"))
        links = "".join(f'<li><a href="{PREFIX}/data-docs/{file.stem}">{file.stem}</a></li>' for file in found)
        return page("Data Docs", f"<ul>{links}</ul>" if links else "No gate has judged anything yet.")

    @app.get("/data-docs/{table}", response_class=HTMLResponse)
    def data_doc(table: str) -> HTMLResponse:
        found = {file.stem: file for file in (settings.home / DATA_DOCS).glob("*.html")}.get(table)
        if found is None:
            return HTMLResponse(page("No such table", "No gate has judged a table of this name."), 404)
        told = found.read_text().replace("<head>", f"<head><style>{STYLE}</style>", 1)
        return HTMLResponse(told, headers=NOTHING_FROM_OUTSIDE)

    return app


def row(checked: Checked) -> str:
    results = json.loads(checked.results)
    passed = sum(one["passed"] for one in results)
    verdict = "passed" if checked.passed else f'<span class="refused">refused</span><pre>{escape(checked.text())}</pre>'
    listed = "".join(f"<li>{'✓' if one['passed'] else '✗'} {escape(one['expectation'])}</li>" for one in results)
    return (
        f"<tr><td>{checked.at:%Y-%m-%d %H:%M:%S}</td><td>{escape(checked.table)}</td><td>{verdict}</td>"
        f"<td><details><summary>{passed} of {len(results)}</summary><ul>{listed}</ul></details></td>"
        f"<td>{checked.seconds:.1f}</td></tr>"
    )


def page(title: str, body: str) -> str:
    # A runbook brings its own heading.
    heading = "" if "<h1>" in body else f"<h1>{escape(title)}</h1>"
    return (
        f'<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>{escape(title)}'
        f"</title><style>{STYLE}</style>{heading}{body}"
    )
