"""What people and programs wrote, on a terminal: shown and never obeyed."""

import io
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from memoria_cli.searching import harmless, show

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\r"


def test_no_control_character_of_a_result_reaches_the_terminal() -> None:
    """In title, trail, snippet, link and notice alike; what can be read of them is there.

    Broken to see it red, each in turn: the snippet left as it is; the trail; C1 let through.
    """
    result: dict[str, Any] = {
        "rank": 1,
        "app": "docs",
        "title": f"title{EVIL}",
        "trail": [f"trail{EVIL}"],
        "date": None,
        "state": "spoken",
        "snippet": f"<mark>word</mark> body{EVIL}",
        "link": f"https://x.example/{EVIL}",
    }
    found = {"notices": [{"text": f"notice{EVIL}", "count": 1}], "results": [result], "more": False, "page": 1}
    written = io.StringIO()
    show(Console(file=written, width=200, no_color=True), found)
    said = written.getvalue()
    assert not set(said) & {chr(code) for code in (*range(32), *range(127, 160))} - {"\n"}
    assert all(word in said for word in ("title", "trail", "word", "body", "x.example", "notice", "owned"))


@given(st.text())
def test_nothing_else_is_changed(text: str) -> None:
    """Letters of any script, joiners and marks stay; the length too."""
    found = harmless(text)
    assert len(found) == len(text)
    assert all(a == b or (b == "\ufffd" and not a.isprintable()) for a, b in zip(text, found, strict=True))
