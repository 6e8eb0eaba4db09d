"""A piece: the rows that are serialised together, sealed together and uploaded once.

Little-endian: magic | version u16 | width u16 | rows u32 | length of the app list u32 | space tag 16 | app list (JSON)
| keys i64 | scales f32 | app codes u16 | matrix i8. No padding, nothing behind it.
"""

import json
import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoria_chassis.errors import Kind, ServiceError
from memoria_search.index.vectors.space import Space

PIECE_ROWS = 2048
"""Rows in a full piece, 1 MB at the full width: a change of 1 % of 90,000 chunks then rewrites one piece, not a block
of 8 MB, and 700,000 chunks are 342 objects, which is few enough to list."""

_MAGIC = b"mVEC"
_VERSION = 1
_HEADER = struct.Struct("<4sHHII16s")
_PER_ROW = 8 + 4 + 2


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Vectors with their keys: int64 [n], float32 [n], an app's name for each, int8 [n, width]."""

    keys: NDArray[np.int64]
    scales: NDArray[np.float32]
    apps: list[str]
    codes: NDArray[np.uint16]  # a place in `apps` for each row
    matrix: NDArray[np.int8]


def size(rows: Rows) -> int:
    """Bytes that `dump` makes of them."""
    return _HEADER.size + len(json.dumps(rows.apps).encode()) + len(rows.keys) * (_PER_ROW + rows.matrix.shape[1])


def dump(space: Space, rows: Rows) -> bytes:
    """Serialise."""
    apps = json.dumps(rows.apps).encode()
    count, width = rows.matrix.shape
    return b"".join(
        (
            _HEADER.pack(_MAGIC, _VERSION, width, count, len(apps), space.tag),
            apps,
            rows.keys.astype("<i8", copy=False).tobytes(),
            rows.scales.astype("<f4", copy=False).tobytes(),
            rows.codes.astype("<u2", copy=False).tobytes(),
            rows.matrix.tobytes(),
        )
    )


def parse(space: Space, data: bytes) -> Rows:
    """The inverse. Raises INVALID for anything that `dump` did not make for this space."""
    if len(data) < _HEADER.size:
        raise _unreadable("is truncated")
    magic, version, width, count, app_bytes, tag = _HEADER.unpack_from(data)
    if magic != _MAGIC or version != _VERSION:
        raise _unreadable("is of another format")
    if tag != space.tag or width != space.width:
        raise _unreadable("belongs to another space")
    if not 1 <= count <= PIECE_ROWS or len(data) != _HEADER.size + app_bytes + count * (_PER_ROW + width):
        raise _unreadable("has another length than it says")
    apps = _apps(data[_HEADER.size : _HEADER.size + app_bytes])
    at = _HEADER.size + app_bytes
    keys = np.frombuffer(data, "<i8", count, at)
    scales = np.frombuffer(data, "<f4", count, at + 8 * count)
    codes = np.frombuffer(data, "<u2", count, at + 12 * count)
    matrix = np.frombuffer(data, np.int8, count * width, at + 14 * count).reshape(count, width)
    if (keys < 0).any() or len(np.unique(keys)) != count or (codes >= len(apps)).any():
        raise _unreadable("has rows that cannot be")
    if not (np.isfinite(scales).all() and (scales > 0).all()):
        raise _unreadable("has scales that cannot be")
    return Rows(keys, scales, apps, codes, matrix)


def _apps(encoded: bytes) -> list[str]:
    try:
        apps = json.loads(encoded)
    except (ValueError, RecursionError) as error:
        raise _unreadable("is of another format") from error
    if not isinstance(apps, list) or not all(isinstance(app, str) for app in apps) or len(set(apps)) != len(apps):
        raise _unreadable("is of another format")
    return apps


def _unreadable(what: str) -> ServiceError:
    return ServiceError(Kind.INVALID, f"a piece of the vector index {what}")
