"""What `memoria status` says of the index."""

import io
from typing import Any

import pytest
from rich.console import Console

from memoria_cli.status_view import _lines, show

WELL: dict[str, Any] = {
    "documents": 3,
    "chunks": 7,
    "bytes": 900,
    "generation": 2,
    "asleep": False,
    "rebuilt": None,
    "restored": False,
    "unrecorded_deletions": 0,
    "incomplete_deletions": 0,
}


@pytest.mark.parametrize(
    ("over", "said"),
    [
        ({"rebuilt": "manifest missing"}, "the index was made anew from sealed chunks: manifest missing"),
        ({"restored": True}, "the database was put back from a backup: every app is read anew"),
        ({"unrecorded_deletions": 2}, "2 deletions have not reached the bucket yet"),
        ({"incomplete_deletions": 4}, "4 deletions have not left every snapshot in the bucket yet"),
        ({"incomplete_deletions": 1}, "1 deletion has not left every snapshot in the bucket yet"),
    ],
)
def test_what_is_not_as_it_should_be_has_a_line(over: dict[str, Any], said: str) -> None:
    """Each in its own words, and nothing else is added."""
    assert _lines(WELL | over)[1:] == [said]


def test_an_index_that_sleeps_or_a_search_that_is_down_is_no_row_of_nothing() -> None:
    """Asleep: said. Down: every field is missing, and the line still stands."""
    assert _lines(WELL) == ["index: 3 documents, 7 chunks, 900 bytes in RAM, generation 2"]
    assert _lines(WELL | {"asleep": True}) == ["index: asleep until somebody asks, generation 2"]
    assert len(_lines(dict.fromkeys(WELL))) == 1


def test_a_paused_source_is_called_paused() -> None:
    """Whatever its data's state is: nothing more is read of it. Broken to see it red: the state shown for both."""
    source = {"app": "docs", "state": "current", "as_of": None, "failure": None, "owed": 0, "paused": False}
    console = Console(record=True, width=100, file=io.StringIO())
    sources = [source, source | {"app": "sheets", "paused": True}]
    show(console, {"url": "http://x", "services": {}, "sources": sources, "unproved": ["wiki"], "index": WELL})
    assert "wiki is not asked: no report" in console.export_text(clear=False)
    words = [line.split()[:2] for line in console.export_text().splitlines()]
    assert ["docs", "current"] in words
    assert ["sheets", "paused"] in words
