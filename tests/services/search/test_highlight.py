"""Snippets: marked where the query matches, and word for word what the document says."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria_search.highlight import WIDTH, Highlighter, SnippetPart
from memoria_search.index.analysis import Analyser

ANALYSER = Analyser()


def snippet(text: str, query: str) -> tuple[SnippetPart, ...]:
    """The snippet of `text` for a query."""
    return Highlighter(ANALYSER, ANALYSER.query(query)).snippet(text)


def marked(text: str, query: str) -> list[str]:
    """What is marked in it."""
    return [part.text for part in snippet(text, query) if part.marked]


def test_an_empty_text_has_an_empty_snippet() -> None:
    """A document that is only a title has nothing to show."""
    assert snippet("", "budget") == ()


def test_a_match_in_the_title_alone_shows_the_beginning() -> None:
    """Without a match in the chunk the snippet is its first words, not cut inside one."""
    text = "word " * 200
    parts = snippet(text, "budget")
    assert [part.marked for part in parts] == [False]
    assert text.startswith(parts[0].text)
    assert len(parts[0].text) <= WIDTH


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("The budgets were cut", "budget", ["budgets"]),
        ("café au lait", "CAFE", ["café"]),
        ("今日は成語しりとりをした", "しりとり", ["しりとり"]),
        ("host 10.100.200.101 up", "10.100.200.101", ["10.100.200.101"]),
        ("we write C++ and C", "C++", ["C++", "C"]),
        ("abc\x00def", "def", ["def"]),
        ("\ud800 budget", "budget", ["budget"]),
        ("Ann’s price\u00a0list", "ann list", ["Ann’s", "list"]),
    ],
)
def test_what_matched_is_marked_as_it_is_written(text: str, query: str, expected: list[str]) -> None:
    """Marks cover the document's own spelling (F19, F21, F23, F25)."""
    assert marked(text, query) == expected


def test_the_window_is_where_most_terms_stand() -> None:
    """One word early, both words late: the late place is shown."""
    text = "alpha " + "filler " * 100 + "alpha beta " + "filler " * 100
    assert marked(text, "alpha beta") == ["alpha", "beta"]


texts = st.text(st.characters(exclude_categories=()), max_size=2000)
words = st.lists(
    st.sampled_from(["alpha", "beta", "C++", "しりとり", "10.1.2.3", "x\u00a0y", "\n", "lorem", "\x00"]), max_size=300
)


@given(texts | words.map(" ".join), st.sampled_from(["alpha", "beta c++", "しりとり", "10.1.2.3", "", "a"]) | texts)
def test_a_snippet_is_a_substring_and_bounded(text: str, query: str) -> None:
    """Joined parts stand in the document, parts are not empty, neighbours differ, and the size is bounded.

    Broken to see it red: building a part from the folded term instead of the text.
    """
    parts = snippet(text, query)
    joined = "".join(part.text for part in parts)
    assert joined in text
    assert all(part.text for part in parts)
    assert all(left.marked != right.marked for left, right in pairwise(parts))
    assert len(joined) <= 2 * WIDTH


@given(words.map(" ".join))
def test_a_text_that_matches_has_a_mark(text: str) -> None:
    """Where a word of the query stands in the chunk, something is marked."""
    if "alpha" in text.split():
        assert "alpha" in marked(text, "alpha")


@pytest.mark.parametrize(
    "text",
    [
        "".join(chr(0x4E00 + (7 * n + n * n // 3) % 5000) for n in range(9_900)) + "成語しりとり",
        "x" * 9_900 + " ab-" * 500,
    ],
    ids=["chinese", "made up"],
)
def test_a_text_without_spaces_costs_no_more_than_its_length(text: str) -> None:
    """Fifty of them are marked with a bounded number of analysed characters, and what matched is still marked.

    Broken to see red: the budget lifted (counted in characters handed to the analyser, not in seconds).
    """
    analyser = Analyser()
    query = analyser.query("しりとり")
    seen: list[int] = []
    word = analyser.word
    analyser.word = lambda given, *spoken: (seen.append(len(given)), word(given, *spoken))[1]  # type: ignore[method-assign]  # a spy
    highlighter = Highlighter(analyser, query)
    for number in range(50):
        parts = highlighter.snippet(text[number:])
    if "しりとり" in text:
        assert [part.text for part in parts if part.marked] == ["しりとり"]
    assert sum(seen) < 8_000
