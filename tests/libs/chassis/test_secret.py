"""A secret from a file follows the file, and is never lost to a file that cannot be read (CON-17)."""

import os
from pathlib import Path

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.secret import Secret, token_print
from memoria_chassis.settings import Sibling


def sibling(**token: object) -> Sibling:
    """Settings of one app with an ask token."""
    return Sibling(app="docs", url="http://demo.docs.localhost:1", **token)  # type: ignore[arg-type] # as from TOML


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A token file."""
    path = tmp_path / "docs.ask"
    path.write_text("old\n")
    return path


def replace(path: Path, text: str) -> None:
    """A new file over the old one, of the same size and time: what a restored backup may look like."""
    before = path.stat()
    other = path.with_name("other")
    other.write_text(text)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.rename(path)


def test_a_file_that_is_missing_or_empty_is_refused_at_first(tmp_path: Path) -> None:
    """There is no last value to fall back on."""
    for path in (tmp_path / "none", tmp_path / "empty"):
        if path.name == "empty":
            path.write_text(" \n")
        with pytest.raises(ServiceError) as refused:
            sibling(ask_token_file=path).live("ask_token")
        assert refused.value.kind is Kind.PRECONDITION


def test_what_is_written_over_the_file_is_the_next_value(file: Path) -> None:
    """Written in place, and renamed over it with the same size and time.

    Broken to see it red: the file read once; compared by its time alone.
    """
    live = sibling(ask_token_file=file).live("ask_token")
    assert live() == "old"
    replace(file, "new\n")
    assert live() == "new"
    file.write_text("newer, and longer\n")
    assert live() == "newer, and longer"


def test_a_file_that_goes_leaves_the_last_value_until_there_is_another(file: Path) -> None:
    """Gone, empty, no text: the last one stands, and the next readable one counts.

    Broken to see it red: the change noted before it was read.
    """
    live = sibling(ask_token_file=file).live("ask_token")
    file.unlink()
    assert live() == "old"
    file.write_text("")
    assert live() == "old"
    file.write_bytes(b"\xff\xfe")
    assert live() == "old"
    file.write_text("new")
    assert live() == "new"


def test_a_value_beside_a_file_wins_and_stays(file: Path) -> None:
    """As everywhere in the settings."""
    live = sibling(ask_token="by value", ask_token_file=file).live("ask_token")
    replace(file, "new\n")
    assert live() == "by value"


def test_an_unreadable_file_is_read_again_when_it_can_be(tmp_path: Path) -> None:
    """A read that fails while the file stays as it is, as on a slow mount, is tried again at the next call.

    Broken to see it red: the stamp kept although the read failed.
    """
    path = tmp_path / "token"
    path.write_text("x")
    answers: list[str | Exception] = ["old", ServiceError(Kind.PRECONDITION, "not now"), "new"]

    def read() -> str:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    live = Secret(read, path)
    replace(path, "y")
    assert [live(), live(), live()] == ["old", "new", "new"]


def test_a_print_tells_tokens_apart_and_shows_none(file: Path) -> None:
    """The same for the same token, and nothing of it."""
    assert token_print("a") == token_print("a") != token_print("b")
    assert "old" not in repr(sibling(ask_token_file=file).live("ask_token"))
    assert len(token_print("a" * 43)) == 12
