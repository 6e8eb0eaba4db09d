"""The report as one JSON document with a numbered schema, for programs."""

import json
from typing import Any

from memoria_conformance.kit.report import CaseResult, Exchange, Report
from memoria_conformance.kit.verdict import call_verdicts, exit_code, last_line, not_shown, standing

SCHEMA = 1
"""Goes up when a field is renamed, removed or changes its meaning; new fields may come without."""


def render_json(report: Report, *, allow_skipped: bool = False) -> str:
    """One object in ASCII, so that it survives whatever it is written with. Halves of characters become U+FFFD."""
    document = {
        "schema": SCHEMA,
        "app": report.app,
        "url": report.url,
        "verdict": standing(report).name.lower(),
        "exit": exit_code(report, allow_skipped=allow_skipped).value,
        "line": last_line(report),
        "calls": [
            {"call": call.call, "state": call.state, "passed": call.passed, "counted": call.counted}
            for call in call_verdicts(report)
        ],
        "not_shown": list(not_shown(report)),
        "absent": list(report.absent),
        "notes": list(report.notes),
        "left_out": report.left_out,
        "results": [_result(result) for result in report.results],
    }
    return json.dumps(_whole(document), indent=2, allow_nan=False) + "\n"


def _result(result: CaseResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "call": result.call,
        "level": result.level,
        "section": result.section,
        "rule": result.rule,
        "status": result.status,
        "message": result.message,
        "step": result.step,
        "unshown": result.unshown,
        "seconds": round(result.seconds, 6),
        "exchanges": [_exchange(exchange) for exchange in result.exchanges],
    }


def _exchange(exchange: Exchange) -> dict[str, Any]:
    return {
        "request": {
            "line": exchange.request_line,
            "headers": [list(pair) for pair in exchange.request_headers],
            "body": exchange.request_body,
        },
        "reply": {
            "status": exchange.status,
            "headers": [list(pair) for pair in exchange.reply_headers],
            "body": exchange.reply_body,
        },
        "curl": exchange.curl,
    }


def _whole(value: Any) -> Any:
    """The value with whole characters only: other languages' parsers refuse a lone surrogate, even as an escape."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    return value
