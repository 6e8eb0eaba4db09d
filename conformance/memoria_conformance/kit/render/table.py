"""The report as plain text: a table by call, then each failure with what was sent, what came back and the rule."""

import textwrap
from collections.abc import Iterator

from memoria_conformance.kit.render.words import (
    citation,
    deserves_a_look,
    outcome_of,
    reply_text,
    request_text,
    status_word,
    visible,
)
from memoria_conformance.kit.report import CaseResult, Level, Report, Status
from memoria_conformance.kit.verdict import State, call_verdicts, last_line

_NARROWEST = 40  # below this nothing can be read anyhow
_WORD = 5
_LABEL = 11
_LONGEST_ID = 44
_SHOWN = 1200  # characters of a request or a reply
_COLOUR = {"FAIL": "31", "ERROR": "31", "STALE": "31", "warn": "33", "SKIP": "33", "known": "33", "pass": "32"}


def render_table(report: Report, *, width: int = 100, isatty: bool = False) -> str:
    """The whole report; its last line is `last_line`. `width` in characters; colours only where `isatty`.

    No line is longer than `width`, except for the `curl`, which is copied, and the last, which is parsed.
    """
    width = max(width, _NARROWEST)
    lines = [*_head(report, width)]
    longest = max((len(_one_line(result.id)) for result in report.results), default=0)
    column = min(longest, _LONGEST_ID, width // 2)
    for verdict in call_verdicts(report):
        results = report.of(verdict.call)
        count = f" {verdict.passed}/{verdict.counted}" if verdict.counted else ""
        lines += ["", *_wrapped(f"{verdict.call}: {verdict.state}{count}", width)]
        if verdict.state is State.ABSENT and all(result.status is Status.SKIP for result in results):
            lines += _wrapped("Describe does not declare it.", width, "  ")  # and its cases all say just that
            continue
        for result in results:
            lines += _row(result, column, width, isatty)
    for result in report.results:
        if deserves_a_look(result):
            lines += ["", *_whole(result, width, isatty)]
    return "\n".join([*lines, "", last_line(report)]) + "\n"  # in one piece whatever the width: others parse it


def render_failure(result: CaseResult, *, width: int = 100) -> str:
    """One failed case as it stands in the table: what was expected, sent and answered, the rule, the curl."""
    return "\n".join(_whole(result, width, isatty=False))


def _head(report: Report, width: int) -> Iterator[str]:
    yield from _wrapped(f"{report.app or 'An app without a name'} at {report.url}", width)
    for note in report.notes:
        yield from _wrapped(note, width, "  ")


def _row(result: CaseResult, column: int, width: int, isatty: bool) -> Iterator[str]:
    """One line a case; why it was skipped or is known to fail stands below it."""
    word, case_id = status_word(result), _one_line(result.id)
    indent = " " * (2 + _WORD + 2 + column + 2)
    start = f"  {word:<{_WORD}}  {case_id:<{column}}  "
    if len(start) > len(indent):  # an id too long for its column has lines of its own
        for line in _wrapped(start.strip(), width, "  ", " " * 9):
            yield _coloured(line, word, isatty)
        start = indent
    level = "" if result.level is Level.MUST else f"({result.level}) "
    rule = _one_line(level + result.rule)
    room = width - len(indent)
    first, *more = textwrap.wrap(rule, room, break_on_hyphens=False) or [""]
    yield _coloured(start + first, word, isatty)
    yield from (indent + line for line in more)
    if result.status in {Status.SKIP, Status.KNOWN} and result.message:
        yield from _wrapped(result.message.partition("\n")[0], width, indent)


def _coloured(line: str, word: str, isatty: bool) -> str:
    prefix = f"  {word:<{_WORD}}"
    if not isatty or word not in _COLOUR or not line.startswith(prefix):
        return line
    return f"  \x1b[{_COLOUR[word]}m{word}\x1b[0m{prefix[2 + len(word) :]}{line[len(prefix) :]}"


def _whole(result: CaseResult, width: int, isatty: bool) -> Iterator[str]:
    for line in _wrapped(f"{result.id} ({result.level})", width, f"  {status_word(result):<{_WORD}}  ", " " * 9):
        yield _coloured(line, status_word(result), isatty)
    yield from _labelled("breaks" if result.status is Status.FAIL else "checks", result.rule, width)
    yield from _labelled("", citation(result), width)
    yield from _labelled("step", result.step, width)
    yield from _labelled("found", result.message, width)
    if not result.exchanges:
        return
    *before, last = result.exchanges
    yield from _labelled("before", "\n".join(outcome_of(exchange) for exchange in before), width)
    yield from _labelled("sent", _short(request_text(last)), width)
    yield from _labelled("came back", _short(reply_text(last)), width)
    for number, line in enumerate(visible(last.curl).split("\n") if last.curl else ()):
        yield f"    {'again' if not number else '':<{_LABEL}}{line}"


def _labelled(label: str, text: str, width: int) -> Iterator[str]:
    """Text under a label in a column of its own, with its line breaks kept."""
    indent = " " * (4 + _LABEL)
    start = f"    {label:<{_LABEL}}"
    for line in text.split("\n") if text else ():
        yield from _wrapped(line, width, start, indent)
        start = indent


def _short(text: str) -> str:
    """What fits beside other failures; the JSON and HTML reports have more."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} … ({len(text)} characters; see --html or --json)"


def _one_line(text: str) -> str:
    return visible(text).replace("\n", " ").replace("\t", " ")


def _wrapped(text: str, width: int, first: str = "", rest: str | None = None) -> list[str]:
    wrapped = textwrap.wrap(
        _one_line(text),
        width,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_on_hyphens=False,  # ids have them
    )
    return [line.rstrip() for line in wrapped] or [first.rstrip()]
