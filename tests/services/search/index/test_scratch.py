"""Scratch: plaintext postings live here, and nowhere else, and not for long."""

from pathlib import Path

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_search.index.scratch import directory_for, fresh, wipe


def test_a_place_that_cannot_be_had_is_refused(tmp_path: Path) -> None:
    """A file in the way of its parent: one clear refusal, not an index somewhere else."""
    (tmp_path / "file").write_text("")
    with pytest.raises(ServiceError) as refused:
        fresh(tmp_path / "file" / "scratch")
    assert refused.value.kind is Kind.PRECONDITION


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """A link where scratch should be does not lead the postings, or the wiping, elsewhere."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").write_text("theirs")
    (tmp_path / "scratch").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ServiceError):
        fresh(tmp_path / "scratch")
    assert (tmp_path / "elsewhere" / "kept").exists()


def test_what_a_killed_process_left_is_wiped(tmp_path: Path) -> None:
    """0700 and empty, whatever was there and however open it was; after the end there is nothing (TRU-03)."""
    scratch = tmp_path / "scratch"
    scratch.mkdir(mode=0o755)
    (scratch / "stale").write_text("left behind")
    assert fresh(scratch) == scratch
    assert list(scratch.iterdir()) == []
    assert scratch.stat().st_mode & 0o777 == 0o700
    wipe(scratch)
    assert not scratch.exists()


def test_an_instance_finds_its_own_scratch_again(tmp_path: Path) -> None:
    """The same database has the same folder at every start; another one has another."""
    assert directory_for(tmp_path, tmp_path / "a.db") == directory_for(tmp_path, tmp_path / "a.db")
    assert directory_for(tmp_path, tmp_path / "a.db") != directory_for(tmp_path, tmp_path / "b.db")
