"""What a run measures, and the indexes that several benchmarks of it share: each is built once."""

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.corpus import CHUNKS_PER_DOCUMENT, Corpus, corpus
from bench.peers import Fts5
from memoria_search.index.analysis import Analyser, Terms
from memoria_search.index.lexical import LexicalIndex
from memoria_search.index.schema import IndexedChunk
from memoria_search.index.vectors.index import VectorIndex
from memoria_search.index.vectors.quantise import quantise
from memoria_search.index.vectors.space import Space

WIDTH = 512
_SLICE = 500
_SCRATCH = "/dev/shm"  # where memoria keeps its index: RAM


@dataclass(slots=True)
class Built:
    """A lexical index over a corpus."""

    corpus: Corpus
    folder: Path
    index: LexicalIndex

    def forget(self) -> None:
        """Have the index know no word of a query, as after a wake."""
        self.index.analyser.ask_in(())
        self.index.commit()


class Prepared(Analyser):
    """Gives the terms of texts in the order in which other processes analysed them: a corpus is analysed on every core.

    How fast one process takes chunks in is another benchmark's question.
    """

    def __init__(self, slices: Iterator[list[Terms]]) -> None:
        super().__init__()
        self._terms = (terms for part in slices for terms in part)

    def terms(self, text: str) -> Terms:
        """The next ones."""
        return next(self._terms)


_ANALYSER = Analyser()


def analysed(texts: list[str]) -> list[Terms]:
    """The terms of texts, in a process of its own."""
    return [_ANALYSER.terms(text) for text in texts]


def _slices(texts: Sequence[str]) -> Iterator[list[str]]:
    for at in range(0, len(texts), _SLICE):
        yield list(texts[at : at + _SLICE])


def add(index: LexicalIndex, texts: Iterable[str]) -> None:
    """Take texts in and make them searchable."""
    nothing = Terms([], [])  # no titles: the peers have none
    index.add(IndexedChunk(*place_of(at), "files", nothing, nothing, text) for at, text in enumerate(texts))
    index.commit()


@dataclass(slots=True)
class Plan:
    """Sizes in chunks, ascending; how many queries; whether peers are asked too."""

    sizes: tuple[int, ...]
    queries: int
    peers: bool = True
    _built: dict[int, Built] = field(default_factory=dict)
    _fts5: dict[int, Fts5] = field(default_factory=dict)
    _folders: list[tempfile.TemporaryDirectory] = field(default_factory=list)

    def built(self, size: int) -> Built:
        """The lexical index of `size` chunks."""
        if size not in self._built:
            said = corpus(size)
            say(f"{size} chunks: {said.said}")
            self._built[size] = self._build(said)
        return self._built[size]

    def _build(self, said: Corpus) -> Built:
        folder = self.folder()
        with multiprocessing.Pool(os.cpu_count()) as workers:
            analyser = Prepared(workers.imap(analysed, _slices(said.texts)))
            index = LexicalIndex(folder, analyser)
            add(index, said.texts)
        return Built(said, folder, index)

    def fts5(self, size: int) -> Fts5:
        """The peer, filled with the same chunks."""
        if size not in self._fts5:
            said = corpus(size)
            made = Fts5(self.folder() / "fts5.db")
            made.fill(said.texts)
            self._fts5[size] = made
        return self._fts5[size]

    def folder(self) -> Path:
        """A folder in RAM that lasts as long as the run."""
        made = tempfile.TemporaryDirectory(prefix="memoria-bench-", dir=_SCRATCH if Path(_SCRATCH).is_dir() else None)
        self._folders.append(made)
        return Path(made.name)

    def close(self, size: int) -> None:
        """Let go of one size."""
        if built := self._built.pop(size, None):
            built.index.close()
        if peer := self._fts5.pop(size, None):
            peer.close()


def place_of(at: int) -> tuple[int, int]:
    """Number of the document and ordinal of the chunk that a text is taken for."""
    return at // CHUNKS_PER_DOCUMENT + 1, at % CHUNKS_PER_DOCUMENT


def random_vectors(size: int, width: int = WIDTH) -> VectorIndex:
    """An index of random unit vectors: brute force takes the same time whatever they say."""
    index, drawn = VectorIndex(Space("random", "1", width)), np.random.default_rng(1)
    for first in range(0, size, 8192):
        places = [place_of(at) for at in range(first, min(size, first + 8192))]
        keys = np.array([number << 24 | ordinal for number, ordinal in places], dtype=np.int64)
        floats = drawn.standard_normal((len(places), width), dtype=np.float32)
        index.add(keys, ["files"] * len(places), quantise(floats, len(places), width, width))
    return index


def resident_bytes() -> int:
    """Memory of this process that no file stands behind."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


def say(sentence: str) -> None:
    """Something about the run, beside its figures."""
    print(f"# {sentence}", file=sys.stderr, flush=True)
