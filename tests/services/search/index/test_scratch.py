"""Scratch: plaintext postings live here, and nowhere else, and not for long."""

from pathlib import Path

import pytest

from memoria_chassis.errors import Kind, ServiceError
from memoria_search.index.scratch import directory_for, fresh, must_be_ram, wipe


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


@pytest.mark.parametrize("place", ["/proc", "/proc/none/such"])
def test_a_place_that_is_not_ram_is_refused(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    """TRU-03: plaintext lies in tmpfs, or the start is refused with what to do; a development flag is said aloud.

    Broken to see it red: the outermost mount taken for a path's own; the flag read as the answer.
    """
    with pytest.raises(ServiceError) as refused:
        must_be_ram(Path(place), on_disk=False)
    assert refused.value.kind is Kind.PRECONDITION
    assert "data.scratch_on_disk" in refused.value.message
    must_be_ram(Path(place), on_disk=True)
    assert "for development only" in capsys.readouterr().out


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="this system has no tmpfs at the usual place")
def test_tmpfs_is_ram_and_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """A folder on tmpfs, there or not yet there, is taken without a word, whatever the flag says."""
    for on_disk in (False, True):
        must_be_ram(Path("/dev/shm/not/yet/there"), on_disk=on_disk)
    assert capsys.readouterr().out == ""
