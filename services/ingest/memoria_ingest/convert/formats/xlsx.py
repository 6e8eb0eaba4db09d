"""XLSX: the values people see, never the formulas behind them (F16)."""

import io
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any

from openpyxl import load_workbook
from openpyxl.worksheet.formula import ArrayFormula, DataTableFormula

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
        lines += ["", f"## {' '.join(name.split())}", ""]
        rows = 0
        for row, written in zip(_rows(sheet), _rows(formulas[name]), strict=False):
            shown = []
            for value, formula in zip(row, written, strict=False):
                if value is None and _is_formula(formula):
                    uncomputed += 1
                    shown.append(UNCOMPUTED)
                else:
                    shown.append(_show(value))
            while shown and not shown[-1]:
                shown.pop()
            if not shown:
                continue
            cells += len(shown)
            if cells > _MAX_CELLS:
                raise Refused("This workbook has more than two million cells; split it.")
            lines.append("| " + " | ".join(shown) + " |")
            rows += 1
            if rows == 1:
                lines.append("|" + " --- |" * len(shown))
    warnings: tuple[str, ...] = ()
    if uncomputed:
        warnings = ("Some formulas have no stored value; open the workbook, let it compute, save and add it again.",)
    return Converted("\n".join(lines).strip("\n") if cells else "", core_title(data), warnings=warnings)


def _rows(sheet: Any) -> Iterator[tuple[Any, ...]]:
    # The size a sheet declares is often the whole grid, and would be filled with sixteen billion empty cells.
    sheet.reset_dimensions()
    return iter(sheet.iter_rows(values_only=True))


def _is_formula(written: Any) -> bool:
    """Whether the cell holds a formula: a string, or an object for array formulas and data tables."""
    if isinstance(written, str):
        return written.startswith("=")
    return isinstance(written, ArrayFormula | DataTableFormula)


def _show(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d}" if value.time() == time() else f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, date):
        return f"{value:%Y-%m-%d}"
    if isinstance(value, float):
        # Fifteen digits, as a spreadsheet shows: 0.1 + 0.2 is 0.3 there.
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
    return str(value).replace("|", "\\|").replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
