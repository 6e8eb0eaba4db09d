"""XLSX: the values people see, never the formulas behind them (F16)."""

import io
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any

from openpyxl import load_workbook

from memoria_ingest.convert.formats.docx import core_title
from memoria_ingest.convert.result import Converted, Refused

_MAX_CELLS = 2_000_000
UNCOMPUTED = "(not computed)"


def convert(data: bytes, kind: str) -> Converted:
    """One heading a sheet, one table row a row. A formula without a stored value says so, and its row is kept."""
    values = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    formulas = load_workbook(io.BytesIO(data), read_only=True, data_only=False, keep_links=False)
    lines: list[str] = []
    cells = uncomputed = 0
    for name in values.sheetnames:
        sheet = values[name]
        if not hasattr(sheet, "iter_rows"):
            continue  # a chart sheet
        lines += ["", f"## {name}", ""]
        rows = 0
        for row, written in zip(_rows(sheet), _rows(formulas[name]), strict=False):
            shown = []
            for value, formula in zip(row, written, strict=False):
                cells += 1
                if value is None and isinstance(formula, str) and formula.startswith("="):
                    uncomputed += 1
                    shown.append(UNCOMPUTED)
                else:
                    shown.append(_show(value))
            if cells > _MAX_CELLS:
                raise Refused("This workbook has more than two million cells; split it.")
            while shown and not shown[-1]:
                shown.pop()
            if not shown:
                continue
            lines.append("| " + " | ".join(shown) + " |")
            rows += 1
            if rows == 1:
                lines.append("|" + " --- |" * len(shown))
    warnings: tuple[str, ...] = ()
    if uncomputed:
        warnings = ("Some formulas have no stored value; open the workbook, let it compute, save and add it again.",)
    return Converted("\n".join(lines).strip("\n") if cells else "", core_title(data), warnings=warnings)


def _rows(sheet: Any) -> Iterator[tuple[Any, ...]]:
    return iter(sheet.iter_rows(values_only=True))


def _show(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d}" if value.time() == time() else f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, date):
        return f"{value:%Y-%m-%d}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).replace("|", "\\|").replace("\r\n", " ").replace("\n", " ")
