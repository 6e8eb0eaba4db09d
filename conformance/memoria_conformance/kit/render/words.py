"""What every form of a report says in the same words, and text of a stranger made fit to be shown."""

from memoria_conformance.kit.report import CaseResult, Exchange, Level, Status

CONTRACT = "docs/siblings/contract.md"


def visible(text: str) -> str:
    """`text` with every character that could act instead of being seen written out, such as `\\x1b` and `\\u202e`.

    A sibling's reply may hold terminal sequences, marks that turn the reading direction, halves of characters, and
    what XML cannot hold at all. Line feeds and tabs stay.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else _written_out(char) for char in text)


def _written_out(char: str) -> str:
    return char.encode("unicode_escape").decode()


def status_word(result: CaseResult) -> str:
    """One word for what became of a case: `FAIL` only where it fails the run, `warn` for a SHOULD or a MAY."""
    if result.status is Status.FAIL:
        return "FAIL" if result.level is Level.MUST else "warn"
    if result.status is Status.SKIP and result.unshown:
        return "SKIP"
    return {Status.PASS: "pass", Status.SKIP: "skip", Status.ERROR: "ERROR", Status.KNOWN: "known"}.get(
        result.status, "STALE"
    )


def deserves_a_look(result: CaseResult) -> bool:
    """Whether a reader wants the whole of a case: it failed, at any level, or the suite or its list of failures did."""
    return result.status in {Status.FAIL, Status.STALE, Status.ERROR}


def citation(result: CaseResult) -> str:
    """Where the contract says it."""
    return f"{CONTRACT}#{visible(result.section)}"


def request_text(exchange: Exchange) -> str:
    """What was sent: request line, headers, a blank line, body."""
    return _message(exchange.request_line, exchange.request_headers, exchange.request_body)


def reply_text(exchange: Exchange) -> str:
    """What came back: status, headers, a blank line, body."""
    if exchange.status is not None:
        return _message(str(exchange.status), exchange.reply_headers, exchange.reply_body)
    from_hook = exchange.request_line.startswith("state hook")
    return _message("the hook answered" if from_hook else "no reply", exchange.reply_headers, exchange.reply_body)


def _message(first: str, headers: tuple[tuple[str, str], ...], body: str) -> str:
    lines = [first, *(f"{name}: {value}" for name, value in headers)]
    if body:
        lines += ["", body]
    return visible("\n".join(lines))


def outcome_of(exchange: Exchange) -> str:
    """One exchange in a line: `POST /… → 200`."""
    status = "no reply" if exchange.status is None else str(exchange.status)
    if exchange.request_line.startswith("state hook"):
        return visible(exchange.request_line)
    return f"{visible(exchange.request_line)} → {status}"
