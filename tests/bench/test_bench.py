"""The benchmarks' own parts: figures, the corpus, and the throttle say what they are said to."""

import random
import time
from itertools import islice

import pytest

from bench import corpus as texts
from bench.corpus import CHUNK_CHARS, Corpus
from bench.measure import Figure, Quantity, figure, significant
from bench.snapshot import BYTES_PER_SECOND, Throttled
from memoria_chassis.bucket import open_bucket

WORDS = ["ferry", "harbour", "winter", "budget", "lamps", "meeting", "crew", "pier", "revenue", "boat", "engine"]


def lines(count: int, seed: int = 0) -> str:
    """So many lines of words."""
    drawn = random.Random(seed)
    return "\n".join(" ".join(drawn.choices(WORDS, k=10)) for _ in range(count))


def test_a_ratio_keeps_what_it_says() -> None:
    """A fortieth stays a fortieth, not 0.03 or 0.0; a rate stays whole."""
    assert significant(0.0249) == 0.0249
    assert significant(12345.6) == 12300
    mine, peer = Figure("mine", 9, 0.5, 1.0), Figure("peer", 9, 20.0, 90.0)
    assert '"ratio_p50": 0.025' in mine.line(peer)
    assert "0.025 x peer" in mine.row(peer)
    assert '"ratio": 0.5' in Quantity("a", 1, "s").line(Quantity("b", 2, "s"))


def test_percentiles_are_by_nearest_rank() -> None:
    """Of a hundred durations of 1 to 100 ms: the 51st and the 100th."""
    found = figure("n", [at / 1000 for at in range(100, 0, -1)])
    assert (found.p50, found.p99) == (51.0, 100.0)


def test_chunks_are_whole_lines_of_about_the_size_said() -> None:
    """No line is cut, none is lost but a short remainder, and a long line is no chunk of its own size."""
    text = lines(200)
    chunks = list(texts._chunks(text))
    assert len(chunks) > 5
    assert text.startswith("\n".join(chunks))
    assert all(CHUNK_CHARS * 0.9 < len(chunk) <= CHUNK_CHARS for chunk in chunks[:-1])
    assert max(map(len, texts._chunks("x" * 10_000 + "\n" + text))) <= CHUNK_CHARS


def test_what_is_made_is_the_same_each_time_and_goes_on_with_new_words() -> None:
    """Real chunks first, then made ones of their size; vocabulary grows as it did at the end of the real ones."""
    real = [lines(30, at)[: CHUNK_CHARS - 20] + f" {texts._letters(at + 1)}zzz" for at in range(100)]
    first, again = (list(texts._derived(real, 300)) for _ in range(2))
    assert first == again
    assert first[:100] == real
    assert all(len(text) >= CHUNK_CHARS * 0.9 for text in first)
    vocabulary = [len({word for text in first[:size] for word in text.split()}) for size in (100, 200, 300)]
    assert vocabulary[1] - vocabulary[0] > 60
    assert vocabulary[2] - vocabulary[1] > 60


def test_queries_are_two_to_six_words_of_one_place() -> None:
    """Deterministic, and each query's words stand in one chunk, so that it has something to find."""
    held = Corpus([lines(18, at) for at in range(50)], 50, "")
    queries = held.queries(40)
    assert queries == held.queries(40)
    assert {len(query.split()) for query in queries} == {2, 3, 4, 5, 6}
    assert all(any(set(query.split()) <= set(text.split()) for text in held.texts) for query in queries)


async def test_the_throttle_carries_so_many_bytes_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two objects asked for together share the line: the second waits for both."""
    bucket = Throttled(open_bucket("memory://"))
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("bench.snapshot.asyncio.sleep", sleep)
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    for name in "ab":
        await bucket.put(name, bytes(BYTES_PER_SECOND // 10))
    for name in "ab":
        await bucket.get(name)
    assert waits == pytest.approx([0.1, 0.2])


def test_files_of_this_machine_are_found_in_one_order() -> None:
    """The corpus is the same as long as the machine is."""
    assert list(islice(texts._files(True), 20)) == list(islice(texts._files(True), 20))
