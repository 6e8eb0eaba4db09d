"""The badge: an SVG of one line, `memoria | S1 S1a S2 S3`, coloured by the verdict."""

from html import escape

from memoria_conformance.kit.render.words import visible
from memoria_conformance.kit.report import Report
from memoria_conformance.kit.verdict import Standing, State, call_verdicts, last_line, standing

_GREEN, _AMBER, _RED, _GREY = "#1a7f37", "#8a5a00", "#b3261e", "#57606a"  # white on each has a contrast above 4.5
_CHARACTER = 6.6  # pixels a character of 11 px Verdana takes on average; textLength makes it exact
_ROOM = 10
_LEFT = "memoria"


def render_badge(report: Report) -> str:
    """An SVG document of about 180 by 20 pixels; its title is the last line of the run, for those who cannot see it."""
    text, colour = _right(report, standing(report))
    left, right = _width(_LEFT), _width(text)
    title = escape(visible(f"memoria contract: {last_line(report)}"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" '
        f'viewBox="0 0 {left + right} 20" role="img" aria-labelledby="title">\n'
        f'<title id="title">{title}</title>\n'
        f'<rect width="{left + right}" height="20" rx="3" fill="#24292f"/>\n'
        f'<path d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{right - 3}z" fill="{colour}"/>\n'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11" text-anchor="middle">\n'
        f"{_text(left / 2, left, _LEFT)}{_text(left + right / 2, right, text)}</g>\n</svg>\n"
    )


def _right(report: Report, verdict: Standing) -> tuple[str, str]:
    calls = [call.call for call in call_verdicts(report) if call.state is State.CONFORMANT and call.call[0] == "S"]
    match verdict:
        case Standing.CONFORMANT:
            return " ".join(calls) or "conformant", _GREEN
        case Standing.PARTLY:
            return (" ".join(calls) if calls and not report.left_out else "partly shown"), _AMBER
        case Standing.NOT:
            return (" ".join(calls), _AMBER) if calls and not report.left_out else ("not conformant", _RED)
    return "not run", _GREY


def _width(text: str) -> int:
    return round(len(text) * _CHARACTER) + 2 * _ROOM


def _text(centre: float, width: int, text: str) -> str:
    return f'<text x="{centre:g}" y="14" textLength="{width - 2 * _ROOM}">{escape(visible(text))}</text>\n'
