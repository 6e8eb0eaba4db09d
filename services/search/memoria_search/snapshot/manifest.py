"""The manifest: what one generation consists of, and which documents it holds."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from memoria_chassis.errors import Kind, ServiceError

FORMAT = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """One sealed object of a file: its name, its plaintext's bytes, the SHA-256 of the sealed bytes in hex."""

    object: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class File:
    """A file of scratch and the generation it was sealed in. Files never change under a name."""

    name: str
    generation: int
    pieces: tuple[Piece, ...]

    @property
    def size(self) -> int:
        """Bytes of plaintext."""
        return sum(piece.size for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Manifest:
    """One generation.

    `analyser` is the version of what made the terms. `deletions` is the sequence of the last deletion that the files
    are current through, `purged` that of the last one of which no word is left in them, and `unpurged_since` when the
    first one came of which some may be (seconds since 1970; 0: none). `last_number` is the last document number given
    by then, `numbers` those in the index. `meta` is the engine's own list of segments. `lexical` and `vectors` are the
    files.
    """

    generation: int
    epoch: int
    created_at: int
    analyser: int
    deletions: int
    purged: int
    unpurged_since: int
    last_number: int
    numbers: frozenset[int]
    meta: str
    lexical: tuple[File, ...]
    vectors: tuple[File, ...]

    @property
    def files(self) -> tuple[File, ...]:
        """All files."""
        return self.lexical + self.vectors

    @property
    def objects(self) -> frozenset[str]:
        """The names of all its pieces."""
        return frozenset(piece.object for file in self.files for piece in file.pieces)

    def encode(self) -> bytes:
        """As it is sealed."""
        tree = {
            "format": FORMAT,
            "generation": self.generation,
            "epoch": self.epoch,
            "created_at": self.created_at,
            "analyser": self.analyser,
            "deletions": self.deletions,
            "purged": self.purged,
            "unpurged_since": self.unpurged_since,
            "last_number": self.last_number,
            "numbers": _runs(self.numbers),
            "meta": self.meta,
            "lexical": [_file_tree(file) for file in self.lexical],
            "vectors": [_file_tree(file) for file in self.vectors],
        }
        return json.dumps(tree, separators=(",", ":")).encode()


def decode(data: bytes) -> Manifest:
    """The inverse. Raises PRECONDITION for anything that `encode` of this version did not make."""
    try:
        tree = json.loads(data)
        if tree["format"] != FORMAT:
            raise ValueError("format")
        return Manifest(
            generation=int(tree["generation"]),
            epoch=int(tree["epoch"]),
            created_at=int(tree["created_at"]),
            analyser=int(tree["analyser"]),
            deletions=int(tree["deletions"]),
            purged=int(tree["purged"]),
            unpurged_since=int(tree["unpurged_since"]),
            last_number=int(tree["last_number"]),
            numbers=frozenset(number for first, count in tree["numbers"] for number in range(first, first + count)),
            meta=str(tree["meta"]),
            lexical=tuple(_file(found) for found in tree["lexical"]),
            vectors=tuple(_file(found) for found in tree["vectors"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ServiceError(Kind.PRECONDITION, "a manifest is not of this version") from error


def _file_tree(file: File) -> list:
    return [file.name, file.generation, [[piece.object, piece.size, piece.digest] for piece in file.pieces]]


def _file(tree: list) -> File:
    name, generation, pieces = tree
    if not isinstance(name, str) or "/" in name or name in ("", ".", ".."):
        raise ValueError("name")
    return File(name, int(generation), tuple(Piece(str(at), int(size), str(digest)) for at, size, digest in pieces))


def _runs(numbers: Iterable[int]) -> list[list[int]]:
    """Ascending runs as [first, count]: documents are numbered one after the other, so runs are long."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([number, 1])
    return runs
