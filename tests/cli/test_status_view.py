"""What `memoria status` says of the index."""

from typing import Any

import pytest

from memoria_cli.status_view import _lines

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
