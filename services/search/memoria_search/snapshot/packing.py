"""What a piece is before it is sealed: as it was, or packed where that makes it smaller.

A wake is bound by what comes over the network: dictionaries and postings lose a quarter, and unpacking them takes less
time than fetching the difference. Vectors lose nothing and stay as they are. A reader of the bucket learns how well a
piece packs, beside its size.
"""

import zstandard

from memoria_chassis.errors import Kind, ServiceError

_PLAIN, _PACKED = b"\x00", b"\x01"
_LEVEL = 9  # 90,000 chunks: 75 % of the bytes at 80 MB/s, which only an upload waits for; level 15 saves no more
_WORTH = 0.97


def pack(body: bytes) -> bytes:
    """A byte that says how, then the body."""
    packed = zstandard.ZstdCompressor(level=_LEVEL, write_content_size=True).compress(body)
    return _PACKED + packed if len(packed) < _WORTH * len(body) else _PLAIN + body


def unpack(packed: bytes, size: int) -> bytes:
    """The inverse, `size` bytes long. Raises UNAVAILABLE for anything else; never makes more than `size` bytes."""
    how, body = packed[:1], packed[1:]
    if how == _PACKED:
        try:
            # Without the size in the frame's header there would be no bound; it is checked against the manifest's.
            if zstandard.frame_content_size(body) != size:
                raise ServiceError(Kind.UNAVAILABLE, "a piece of another size")
            body = zstandard.ZstdDecompressor().decompress(body, max_output_size=size)
        except zstandard.ZstdError as error:
            raise ServiceError(Kind.UNAVAILABLE, "a piece that cannot be unpacked") from error
    elif how != _PLAIN:
        raise ServiceError(Kind.UNAVAILABLE, "a piece packed in an unknown way")
    if len(body) != size:
        raise ServiceError(Kind.UNAVAILABLE, "a piece of another size")
    return body
