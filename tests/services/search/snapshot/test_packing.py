"""Packing: what was packed is what comes back, and nothing else is taken for it."""

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from memoria_chassis.errors import ServiceError
from memoria_search.snapshot.packing import pack, unpack


@given(st.binary(max_size=300), st.integers(0, 400))
def test_garbage_is_refused(data: bytes, size: int) -> None:
    """Any bytes: refused, or, where they say that they are plain, exactly as long as they should be."""
    try:
        found = unpack(data, size)
    except ServiceError:
        return
    assert len(found) == size


@pytest.mark.parametrize("size", [0, 99, 101])
def test_another_size_is_refused(size: int) -> None:
    """A piece is as long as the manifest says, packed or not."""
    for body in (bytes(100), bytes(range(100))):
        with pytest.raises(ServiceError):
            unpack(pack(body), size)


def test_a_bomb_is_not_unpacked() -> None:
    """A gigabyte of zeros in a few kilobytes is refused by what it says of itself, and so is one that says nothing.

    Broken to see it red: unpacking without a bound.
    """
    bomb = zstandard.ZstdCompressor().compress(bytes(1 << 30))
    silent = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(1 << 20))
    for packed in (bomb, silent):
        with pytest.raises(ServiceError):
            unpack(b"\x01" + packed, 4 << 20)


@given(st.one_of(st.binary(max_size=2000), st.text("ab", max_size=2000).map(str.encode)))
def test_what_was_packed_comes_back(body: bytes) -> None:
    """Whatever it is, and never longer than a byte more."""
    packed = pack(body)
    assert unpack(packed, len(body)) == body
    assert len(packed) <= len(body) + 1
