"""Number formats of the demo spreadsheet: a small part of what spreadsheets know, displayed as they would."""

import re
from decimal import ROUND_HALF_EVEN, Decimal

GENERAL = "General"

_NUMBER = re.compile(r"(?P<core>#,##0|0)(?P<point>\.0+)?(?P<scale>,*)(?P<percent>%?)")


def display(value: float, format_code: str) -> str:
    """`value` as a cell of this format shows it: `1350000` under `€#,##0` is `€1,350,000`.

    Understands General and one number part (`0`, `#,##0`, decimals, trailing scaling commas, `%`) with literal text
    around it, quoted or not. ValueError for a format without a number part.
    """
    if format_code == GENERAL:
        return f"{value:.10g}"
    match = _NUMBER.search(format_code)
    if match is None:
        raise ValueError("a format code without a number part")
    amount = Decimal(repr(value))
    if match["percent"]:
        amount *= 100
    amount /= Decimal(1000) ** len(match["scale"])
    places = len(match["point"] or ".") - 1
    amount = amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)
    sign = "-" if amount < 0 else ""
    digits = f"{abs(amount):,.{places}f}" if "," in match["core"] else f"{abs(amount):.{places}f}"
    before, after = format_code[: match.start()], format_code[match.end() :]
    return f"{sign}{before}{digits}{match['percent']}{after}".replace('"', "")
