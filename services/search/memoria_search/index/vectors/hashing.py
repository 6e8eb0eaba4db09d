"""A deterministic embedder for tests and benchmarks. Not a model: it knows words, and nothing of what they mean."""

import hashlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memoria_search.index.analysis import Analyser

_PLACES = 8  # values a word moves; enough that cutting a vector off at 512 leaves some of every word


class HashingEmbedder:
    """Signed feature hashing of analysed words (Weinberger et al., ICML 2009), so that texts sharing words are near.

    A word counts with the square root of its occurrences. The first value is a constant, so that no text is without
    direction.
    """

    def __init__(self, analyser: Analyser, native: int = 768) -> None:
        self._analyser = analyser
        self.native = native
        self._known: dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]] = {}

    @property
    def model(self) -> str:
        """Its name says what it is."""
        return "feature-hashing"

    @property
    def digest(self) -> str:
        """Nothing but the length can change."""
        return f"1/{self.native}"

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """float32 [len(texts), native]; queries and passages alike."""
        return self.vectors(texts)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The same, at once."""
        made = np.zeros((len(texts), self.native), dtype=np.float32)
        for row, text in zip(made, texts, strict=True):
            row[0] = 0.1
            for term, occurrences in Counter(self._analyser.terms(text).body).items():
                places, signs = self._word(term)
                np.add.at(row, places, signs * np.float32(np.sqrt(occurrences)))
        return made

    def _word(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        known = self._known.get(term)
        if known is None:
            digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4 * _PLACES).digest()
            drawn = np.frombuffer(digest, dtype="<u4").astype(np.int64)
            signs = np.where(drawn & 1, 1.0, -1.0).astype(np.float32)
            known = self._known[term] = (drawn >> 1) % self.native, signs
        return known
