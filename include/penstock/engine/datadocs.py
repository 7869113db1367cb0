"""Great Expectations' Data Docs of each table's last verdict, as pages in a folder, from what gates have recorded.

Nothing is judged again and no JVM is needed. Made beside the gates, because to import the renderer takes seconds.
"""

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

from penstock.engine.gate import name_of
from penstock.engine.suites import NoSuite, Suite, suite_of
from penstock.lake.gates import Checked, checks


def build(lake: str, folder: Path) -> list[str]:
    """Pages of tables that were judged since theirs was made; returns the tables."""
    # The newest verdict of a table comes first.
    latest = {checked.table: checked for checked in reversed(checks(lake))}
    return [table for table, checked in sorted(latest.items()) if _written(checked, folder / f"{table}.html")]


def _written(checked: Checked, page: Path) -> bool:
    if page.exists() and page.stat().st_mtime >= checked.at.timestamp():
        return False
    try:
        suite = suite_of(checked.table)
    except NoSuite:
        return False
    page.parent.mkdir(parents=True, exist_ok=True)
    half = page.with_suffix(".new")
    half.write_text(html(checked, suite))
    os.utime(half, (checked.at.timestamp(),) * 2)
    half.replace(page)
    return True


def html(checked: Checked, suite: Suite) -> str:
    """One verdict as Great Expectations shows it."""
    from great_expectations.core import ExpectationSuiteValidationResult

    # Without types of their own.
    renderer, view = (import_module(f"great_expectations.render.{name}") for name in ("renderer", "view"))
    said = {one["expectation"]: one for one in json.loads(checked.results)}
    asked = {name_of(each.configuration.to_json_dict()): each.configuration for each in suite.fresh().expectations}
    results = [_result(config, said[name]) for name, config in asked.items() if name in said]
    validation = ExpectationSuiteValidationResult(
        success=checked.passed,
        results=results,
        suite_name=checked.table,
        statistics=_statistics(sum(one.success for one in results), len(results)),
        meta={
            "run_id": {"run_name": checked.release, "run_time": checked.at.isoformat()},
            "validation_time": checked.at.isoformat(),
        },
    )
    page: str = view.DefaultJinjaPageView().render(renderer.ValidationResultsPageRenderer().render(validation))
    return page


def _result(config: Any, said: dict[str, Any]) -> Any:
    from great_expectations.core import ExpectationValidationResult

    error = {"raised_exception": bool(said["raised"]), "exception_message": said["raised"], "exception_traceback": ""}
    observed = {"observed_value": said["observed"]} if said["observed"] else {}
    return ExpectationValidationResult(
        success=said["passed"], expectation_config=config, result=observed, exception_info=error, meta={}
    )


def _statistics(passed: int, judged: int) -> dict[str, float]:
    return {
        "evaluated_expectations": judged,
        "successful_expectations": passed,
        "unsuccessful_expectations": judged - passed,
        "success_percent": 100 * passed / judged if judged else 100.0,
    }
