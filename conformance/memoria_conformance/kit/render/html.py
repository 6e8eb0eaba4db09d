"""The report as one HTML page that needs nothing else: no script, no remote address, readable on a telephone."""

import base64
import hashlib
from collections.abc import Iterator
from html import escape
from importlib import resources

from memoria_conformance.kit.render.words import (
    citation,
    deserves_a_look,
    outcome_of,
    reply_text,
    request_text,
    status_word,
    visible,
)
from memoria_conformance.kit.report import CaseResult, Exchange, Level, Report, Status
from memoria_conformance.kit.verdict import CallVerdict, Standing, State, call_verdicts, last_line, not_shown, standing


def render_html(report: Report) -> str:
    """A document to be written as UTF-8. Every text of the report goes through one escaping function, `_text`."""
    style = resources.files(__package__).joinpath("report.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    # A policy beside the escaping: should markup ever get through, it can load nothing and run nothing.
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    verdict = standing(report)
    title = f"{report.app or 'an app without a name'}: {verdict}"
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{_text(policy)}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n',
            f"<title>{_text(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n",
            *_head(report, verdict),
            *_overview(report),
            *(part for call in call_verdicts(report) for part in _call(call, report)),
            "</main>\n</body>\n</html>\n",
        ]
    )


def _text(text: str) -> str:
    """The one way in which a text enters the page."""
    return escape(visible(text), quote=True)


def _head(report: Report, verdict: Standing) -> Iterator[str]:
    yield f'<header>\n<p class="what">memoria contract</p>\n<h1>{_text(report.app or "An app without a name")}</h1>\n'
    yield f'<p class="url">{_text(report.url)}</p>\n'
    kind = {Standing.CONFORMANT: "good", Standing.PARTLY: "warn", Standing.NOT: "bad"}.get(verdict, "none")
    yield f'<p class="verdict {kind}"><strong>{verdict.capitalize()}</strong> '
    yield f"<span>{_text(last_line(report))}</span></p>\n"
    remarks = [*report.notes, *not_shown(report)]
    if remarks:
        yield "<ul>\n" + "".join(f"<li>{_text(remark)}</li>\n" for remark in remarks) + "</ul>\n"
    yield "</header>\n"


def _overview(report: Report) -> Iterator[str]:
    verdicts = call_verdicts(report)
    if not verdicts:
        return
    yield "<table>\n<thead><tr><th>Call</th><th>State</th><th>Passed</th></tr></thead>\n<tbody>\n"
    for call in verdicts:
        count = f"{call.passed} of {call.counted}" if call.counted else "–"
        name = f'<a href="#{_anchor(verdicts, call)}">{_text(call.call)}</a>'
        yield f'<tr><th scope="row">{name}</th><td>{_state(call)}</td><td>{count}</td></tr>\n'
    yield "</tbody>\n</table>\n"


def _anchor(verdicts: tuple[CallVerdict, ...], call: CallVerdict) -> str:
    return f"call-{verdicts.index(call)}"


def _state(call: CallVerdict) -> str:
    kind = {State.CONFORMANT: "good", State.PARTIAL: "bad", State.NOT_SHOWN: "warn"}
    return f'<span class="mark {kind.get(call.state, "none")}">{call.state}</span>'


def _call(call: CallVerdict, report: Report) -> Iterator[str]:
    yield f'<section id="{_anchor(call_verdicts(report), call)}">\n<h2>{_text(call.call)} {_state(call)}</h2>\n'
    if call.state is State.ABSENT:
        yield "<p>Describe does not declare it.</p>\n"
    for result in report.of(call.call):
        if call.state is not State.ABSENT or result.status is not Status.SKIP:
            yield from _case(result)
    yield "</section>\n"


def _case(result: CaseResult) -> Iterator[str]:
    word = status_word(result)
    kind = {"pass": "good", "FAIL": "bad", "STALE": "bad", "ERROR": "bad", "skip": "none"}.get(word, "warn")
    attribute = " open" if deserves_a_look(result) else ""
    yield f'<details{attribute}>\n<summary><span class="mark {kind}">{word}</span> <code>{_text(result.id)}</code>'
    level = "" if result.level is Level.MUST else f' <span class="level">{_text(result.level)}</span>'
    yield f'{level} <span class="rule">{_text(result.rule)}</span></summary>\n<div class="case">\n'
    yield f"<p><cite>{_text(citation(result))}</cite></p>\n"
    if result.step:
        yield f"<h3>Step</h3>\n<p>{_text(result.step)}</p>\n"
    if result.message:
        heading = "Found" if deserves_a_look(result) else "Why"
        yield f'<h3>{heading}</h3>\n<p class="message">{_text(result.message)}</p>\n'
    *before, last = result.exchanges or (None,)
    for exchange in before:
        if exchange is not None:
            yield f"<details>\n<summary>before: {_text(outcome_of(exchange))}</summary>\n"
            yield from _exchange(exchange)
            yield "</details>\n"
    if last is not None:
        yield from _exchange(last)
    yield "</div>\n</details>\n"


def _exchange(exchange: Exchange) -> Iterator[str]:
    parts = {"Sent": request_text(exchange), "Came back": reply_text(exchange), "Again": exchange.curl}
    for heading, text in parts.items():
        if text:
            # The parser drops one line feed after <pre>; ours is there so that it is never the text's own.
            yield f'<h3>{heading}</h3>\n<pre tabindex="0">\n{_text(text)}</pre>\n'
