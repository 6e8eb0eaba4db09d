"""Where a snapshot's objects lie in the bucket, and what each is sealed to.

Names hold numbers of generations and epochs, times and counts only (TRU-12). A piece is bound to the generation it was
first uploaded with, to its file and to its position, so one that is moved, swapped with another generation's, cut or
repeated does not open. What says of a superseded generation which pieces go with it is bound to its whole name.
"""

import secrets

from memoria_chassis.aead import SealContext

HEAD = "snapshot/head"
MANIFESTS = "snapshot/manifests/"
PIECES = "snapshot/pieces/"
SUPERSEDED = "snapshot/superseded/"

_PURPOSE = "snapshot"


def manifest_name(generation: int) -> str:
    """Zero-padded, so that names sort as generations do."""
    return f"{MANIFESTS}{generation:016d}"


def piece_name(generation: int, epoch: int) -> str:
    """A new one, sorting as generations do. `epoch`: that of the instance that uploads it."""
    return f"{PIECES}{generation:016d}-{epoch:016d}-{secrets.token_hex(8)}"


def epoch(piece: str) -> int | None:
    """The epoch that a piece's name states; None where it is none of ours."""
    parts = piece.removeprefix(PIECES).split("-")
    return int(parts[1]) if len(parts) == 3 and all(part.isascii() and part.isdigit() for part in parts[:2]) else None


def number(name: str) -> int:
    """The generation that a manifest's or a piece's name begins with; 0 where it is none of ours."""
    digits = name.rpartition("/")[2].partition("-")[0]
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def head_context() -> SealContext:
    """What the head is sealed to."""
    return SealContext(_PURPOSE, "head", "head", "head")


def manifest_context(generation: int) -> SealContext:
    """What a manifest is sealed to."""
    return SealContext(_PURPOSE, "manifest", str(generation), "manifest")


def piece_context(generation: int, file: str, position: int, count: int) -> SealContext:
    """What piece `position` of `count` of a file is sealed to."""
    return SealContext(_PURPOSE, "piece", f"{generation}/{file}", f"{position}/{count}")


def superseded_context(name: str) -> SealContext:
    """What the record of a superseded generation is sealed to."""
    return SealContext(_PURPOSE, "superseded", name, "pieces")
