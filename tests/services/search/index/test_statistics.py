"""What is deleted does not shape what is found (ING-24)."""

import itertools
import random
from collections import Counter
from pathlib import Path

import pytest

from memoria_search.index.analysis import Analyser, Terms
from memoria_search.index.lexical import LexicalIndex
from memoria_search.index.schema import IndexedChunk

WORDS = ["alder", "birch", "cedar", "ebony", "hazel", "maple", "larch", "rowan"]
ENGLISH = "This is what the foresters of the county wrote about the trees that they have planted with their own hands:"
QUERIES = [*WORDS, "alder birch", "cedar hazel rowan", "maple larch", "larch maple alder"]


def chunk(number: int, text: str) -> IndexedChunk:
    """One chunk of a document of its own."""
    return IndexedChunk(number, 0, "docs", Terms([], []), Terms([], []), text)


def texts(seed: int, count: int, weights: list[int]) -> list[str]:
    """Texts of the same length, so that the engine's mean length is the same whatever is deleted. No word comes five
    times, for a fifth would not be kept."""
    draw = random.Random(seed)
    drawn = (draw.choices(WORDS, weights, k=12) for _ in itertools.count())
    fit = (words for words in drawn if max(Counter(words).values()) < 5)
    return [f"{ENGLISH} {' '.join(words)}" for words in itertools.islice(fit, count)]


@pytest.fixture
def indexes(tmp_path: Path) -> tuple[LexicalIndex, LexicalIndex]:
    """One index from which sixty chunks were deleted in which other words are common, one that never had them."""
    made = []
    for name in ("deleted", "fresh"):
        (tmp_path / name).mkdir()
        index = LexicalIndex(tmp_path / name, Analyser())
        for number, text in enumerate(texts(1, 100, [1, 1, 1, 1, 4, 4, 4, 8]), start=1):
            index.add([chunk(number, text)])
        if name == "deleted":
            for number, text in enumerate(texts(2, 60, [9, 9, 9, 9, 1, 1, 1, 0]), start=1001):
                index.add([chunk(number, text)])
            index.commit()
            index.remove(range(1001, 1061))
        index.commit()
        made.append(index)
    return made[0], made[1]


@pytest.mark.parametrize("query", QUERIES)
def test_scores_are_those_of_an_index_that_never_had_it(indexes: tuple[LexicalIndex, LexicalIndex], query: str) -> None:
    """Single words and phrases: the same chunks in the same order with the same scores.

    Broken to see it red: the engine's own counts; the correction left out of phrases.
    """
    answers = [index.search(index.analyser.query(query), 1000) for index in indexes]
    assert answers[0]
    assert [hit.number for hit in answers[0]] == [hit.number for hit in answers[1]]
    assert [hit.score for hit in answers[0]] == pytest.approx([hit.score for hit in answers[1]], rel=1e-3)


def test_the_engine_alone_would_tell(indexes: tuple[LexicalIndex, LexicalIndex]) -> None:
    """Presence: the two engines count differently, so the test above compares something."""
    counts = [index._view[0].doc_freq("body", "alder") for index in indexes]
    assert counts[0] > counts[1]
    assert [index._view[1].statistics.frequency("body", "alder") for index in indexes] == [counts[1], counts[1]]
    assert [index._view[1].statistics.exact for index in indexes] == [False, True]
