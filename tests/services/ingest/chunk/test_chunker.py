"""IDX-01, rule by rule, with the examples of the specification."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memoria_ingest.chunk import Chunk, chunk_text
from memoria_ingest.chunk.blocks import BlockKind, heading, read_blocks
from memoria_ingest.chunk.measure import MAX_WORDS, cut_line, words


def fences_balance(text: str) -> bool:
    """Whether every line of three backticks opens or closes, in pairs."""
    return sum(line.lstrip().startswith("```") for line in text.split("\n")) % 2 == 0


def prose(count: int) -> str:
    """`count` words that are all different."""
    return " ".join(f"w{number}" for number in range(count))


def test_a_long_paragraph_is_cut_at_the_ceiling_and_nothing_is_lost() -> None:
    """Rule 1: 5,000 words on one line become chunks of at most 1,000 words that say the same."""
    chunks = chunk_text(prose(5000))
    assert len(chunks) >= 5
    assert all(len(chunk.text.split()) <= 1000 for chunk in chunks)
    assert " ".join(chunk.text for chunk in chunks).split() == prose(5000).split()


def test_a_file_without_blank_lines_is_cut_inside() -> None:
    """Rule 1: a hard-wrapped log of 20,000 words without a blank line has chunks near the target.

    Broken on 2026-11-30 to see red: MAX_WORDS of 100,000; TARGET_WORDS of 900.
    """
    chunks = chunk_text("\n".join(f"12:00:{number:02} worker {number} started its job" for number in range(3400)))
    assert len(chunks) >= 20
    assert all(words(chunk.text) <= 440 for chunk in chunks)  # the target of 400, and a runt


def test_a_csv_of_20000_words_has_twenty_chunks_with_their_header() -> None:
    """Rule 1 and F14: rows are kept whole and each chunk begins with the header line."""
    rows = [f"{number} alpha beta gamma,{number}" for number in range(5000)]
    chunks = chunk_text("\n".join(["id name of thing,value", *rows]), table=True)
    assert len(chunks) >= 20
    assert all(chunk.text.split("\n")[0] == "id name of thing,value" for chunk in chunks)
    assert [row for chunk in chunks for row in chunk.text.split("\n")[1:]] == rows


def test_a_heading_directly_above_text_keeps_its_trail() -> None:
    """Rule 2: `## Revenue` needs no blank line after it, and closes what stood before it.

    Broken on 2026-11-30 to see red: taking a heading only where a blank line follows.
    """
    text = "# Plan\nintro\n## Revenue\nIt rose.\n## Costs\nThey fell."
    assert chunk_text(text) == [
        Chunk(("Plan",), "intro"),
        Chunk(("Plan", "Revenue"), "It rose."),
        Chunk(("Plan", "Costs"), "They fell."),
    ]


def test_a_heading_that_stands_alone_is_found() -> None:
    """A heading with nothing under it is a chunk of its own; one with only headings under it is their trail."""
    assert chunk_text("# A\n## B\n# C") == [Chunk(("A", "B"), "## B"), Chunk(("C",), "# C")]


def test_what_is_a_heading_and_what_is_none() -> None:
    """ATX only: one to six signs, then a blank, then words; indented by four it is code."""
    for line in ("#launch", "#", "# ", "####### seven", "    # code", "\t# code", "# #", "a # b", "#\u00a0x"):
        assert heading(line) is None, line
    assert heading("   ## Two ##  ") == (2, "Two")
    assert heading("# C#") == (1, "C#")
    assert heading("#\tTab\r") == (1, "Tab")
    assert heading("# Q\u00a01") == (1, "Q\u00a01")


def test_a_fence_keeps_a_hash_line_as_text() -> None:
    """F15, rules 1 and 3: 3,000 characters in a fence with a line `# x`: balanced in every chunk, and no heading.

    Broken on 2026-11-30 to see red: fences not tracked.
    """
    body = "\n".join(["# x", *(f"value_{number} = compute({number})" for number in range(140))])
    assert len(body) > 3000
    for size in (1, 12):
        inside = "\n".join([body] * size)
        chunks = chunk_text(f"# Real\n\nbefore\n\n```python\n{inside}\n```\n\nafter")
        assert {chunk.trail for chunk in chunks} == {("Real",)}
        assert all(fences_balance(chunk.text) for chunk in chunks)
        assert sum(chunk.text.count("# x") for chunk in chunks) == size
    assert len(chunks) > 3


def test_a_fence_that_is_never_closed_is_closed() -> None:
    """Rule 3: what follows stays text, and every chunk is balanced."""
    chunks = chunk_text("# A\n\n~~~\n# not\n" + "line of code here\n" * 2000)
    assert {chunk.trail for chunk in chunks} == {("A",)}
    assert all(chunk.text.count("~~~") == 2 for chunk in chunks)


def test_fences_within_lists_and_with_odd_markers() -> None:
    """A fence in a list item ends with the item at the latest; an outer fence of four holds an inner one of three."""
    assert [c.trail for c in chunk_text("1. do\n\n    ```sh\n    # x\n    ```\n\n# Next\ntext")] == [(), ("Next",)]
    assert [c.trail for c in chunk_text("1. do\n\n    ```sh\n    # x\n\n# Next\ntext")] == [(), ("Next",)]
    assert len(chunk_text("````md\n```\n# x\n```\n````\ntail")) == 1
    assert [block.kind for block in read_blocks(["a ```code``` b", "``` `x` ```"])] == [BlockKind.PARAGRAPH]
    info = "```" + " word" * 3000
    assert all(fences_balance(chunk.text) and words(chunk.text) <= MAX_WORDS for chunk in chunk_text(f"{info}\nx\n```"))


def test_a_table_is_cut_between_rows_and_says_its_header_again() -> None:
    """F14: a Markdown table of 60 rows is split between rows, header and delimiter in each part.

    Broken on 2026-11-30 to see red: splitting a table as a paragraph.
    """
    rows = [f"| item {n} | a fairly long description of item {n} in words | {n} |" for n in range(60)]
    chunks = chunk_text("\n".join(["# Stock", "| Name | Text | Count |", "| --- | --- | ---: |", *rows]))
    assert len(chunks) > 1
    for chunk in chunks:
        assert chunk.text.startswith("| Name | Text | Count |\n| --- | --- | ---: |\n| item")
    assert [line for chunk in chunks for line in chunk.text.split("\n") if line.startswith("| item")] == rows


def test_a_table_with_a_giant_header_says_it_once() -> None:
    """A header that would fill every part is not repeated, and no part passes the ceiling."""
    header = "| " + " | ".join(f"column {n}" for n in range(300)) + " |"
    lines = [header, "|" + " --- |" * 300, *(["| " + " | ".join("1" * 300) + " |"] * 30)]
    assert all(words(chunk.text) <= MAX_WORDS for chunk in chunk_text("\n".join(lines)))


def test_runts_are_folded_into_a_neighbour_under_the_same_heading() -> None:
    """Rule 4: ten words left over join the chunk before them; across a heading they do not.

    Broken on 2026-11-30 to see red: RUNT_WORDS of 0.
    """
    chunks = chunk_text(f"{prose(395)}\n\n{prose(10)}\n\n# Other\n\n{prose(10)}")
    assert [len(chunk.text.split()) for chunk in chunks] == [405, 10]


def test_a_runt_at_the_start_joins_what_follows() -> None:
    """Rule 4: ten words that nothing stands before join the chunk behind them. Broken to see red: only backwards."""
    chunks = chunk_text(f"{prose(10)}\n\n{prose(500)}")
    assert [len(chunk.text.split()) for chunk in chunks] == [510]


def test_folding_keeps_the_ceiling() -> None:
    """Rule 1 before rule 4: a runt beside a full chunk stays one. Broken to see red: folded whatever it makes."""
    chunks = chunk_text(f"{prose(985)}\n\n{prose(30)}")
    assert [len(chunk.text.split()) for chunk in chunks] == [985, 30]
    assert all(words(chunk.text) <= MAX_WORDS for chunk in chunks)


def test_a_giant_line_in_a_fence_leaves_room_for_the_fence() -> None:
    """Rule 1: 5,000 words on one line of a fence: its opening and closing count. Broken to see red: they do not."""
    chunks = chunk_text(f"```some text\n{prose(5000)}\n```")
    assert all(fences_balance(chunk.text) and words(chunk.text) <= MAX_WORDS for chunk in chunks)
    said = [word for chunk in chunks for word in "\n".join(chunk.text.split("\n")[1:-1]).split()]
    assert said == prose(5000).split()


def test_lines_are_verbatim() -> None:
    """Rule 5: U+00A0, tabs and trailing blanks are the author's; NUL and scripts without spaces pass (F19, F21)."""
    line = "10\u00a0000\u00a0€ \t net  "
    assert chunk_text(f"{line}\nnext")[0].text == f"{line}\nnext"
    assert chunk_text("abc\x00def")[0].text == "abc\x00def"


def test_scripts_without_spaces_have_a_ceiling_too() -> None:
    """100,000 characters of Japanese are many chunks that join to the same text."""
    text = "今日は成語しりとりをした。" * 8000
    chunks = chunk_text(text)
    assert len(chunks) > 10
    assert "".join(chunk.text for chunk in chunks) == text


def test_nothing_in_nothing_out() -> None:
    """No chunk for a text without a word in it."""
    assert (
        chunk_text("")
        == chunk_text("\n \t\n\u3000")
        == chunk_text("", table=True)
        == chunk_text("\n\n", table=True)
        == []
    )


def test_a_heading_as_long_as_a_page_is_no_trail() -> None:
    """A trail is repeated with every chunk, so a heading of 100 kB is cut in it and said in full once."""
    chunks = chunk_text("# " + "word " * 20000 + "\n" + "text\n" * 3000)
    assert all(len(chunk.trail[0]) <= 301 for chunk in chunks)
    assert sum(chunk.text.count("word") for chunk in chunks) == 20000


def test_hostile_lines_take_no_more_than_linear_time() -> None:
    """Blanks by the hundred thousand in headings, tables and fences: patterns that backtrack took hours here.

    The bound is the test's own time-out in seconds of CPU: quadratic was 600 times it.
    """
    blanks = " " * 200_000
    for line in (
        f"# a{blanks}b",
        f"|{blanks}|{blanks}-x",
        f"```{blanks}`",
        "# " + "#" * 200_000 + " x",
        "-|" * 100_000,
    ):
        chunk_text(f"x | y\n{line}\n{line}")
    chunk_text("    ```x\n" * 50_000)
    chunk_text("```x\n" * 50_000)


SPECIAL = ["", "# One", "## Two", "### Three ###", "```", "```py", "~~~", "    ```", "| a | b |", "| --- | --- |"]
ORDINARY = ["| 1 | 2 |", "#x", " ", "word " * 300, "語" * 3000, "- item", "\u00a0", "a\u2028b", "x" * 25, "\tcode"]
LINES = st.lists(
    st.sampled_from(SPECIAL)
    | st.sampled_from(ORDINARY)
    | st.text(max_size=60).map(lambda text: text.replace("\n", " ")),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(LINES)
@example(["```", "x", "# A"])
@example(["x" * 19] * 3000)
@example(["| a | b |", "| --- | --- |", *["| 1 | 2 |"] * 400])
def test_whatever_the_lines_the_rules_hold(lines: list[str]) -> None:
    """Never raises; no chunk above the ceiling; every word of every line is in order in the texts or in a trail."""
    text = "\n".join(lines)
    chunks = chunk_text(text)
    for chunk in chunks:
        assert words(chunk.text) <= MAX_WORDS
        assert chunk.text.strip()
        assert len(chunk.trail) <= 6
    said = "\n".join("\n".join([*chunk.trail, chunk.text]) for chunk in chunks)
    at = 0
    for block in read_blocks(lines):
        if block.kind is BlockKind.HEADING:
            assert block.title in said
            continue
        for line in filter(str.strip, block.lines):
            at = said.find(line.strip()[:40], at)
            assert at >= 0


@settings(max_examples=100, deadline=None)
@given(LINES)
def test_no_chunk_straddles_a_heading(lines: list[str]) -> None:
    """Outside fences, a heading line is only ever a chunk of its own."""
    for chunk in chunk_text("\n".join(lines)):
        kinds = [block.kind for block in read_blocks(chunk.text.split("\n"))]
        assert BlockKind.HEADING not in kinds or kinds == [BlockKind.HEADING]


@given(st.text(max_size=3000), st.integers(1, 50))
@settings(max_examples=100, deadline=None)
def test_the_pieces_of_a_line_are_the_line(line: str, limit: int) -> None:
    """Joined they are it, and none is above the limit."""
    pieces = cut_line(line, limit)
    assert "".join(pieces) == line
    assert all(words(piece) <= limit for piece in pieces)


@given(st.text(max_size=2000), st.booleans())
@settings(max_examples=100, deadline=None)
def test_any_text_has_chunks_in_either_reading(text: str, table: bool) -> None:
    """Never raises, and says something exactly where there is something to say."""
    chunks = chunk_text(text, table=table)
    assert bool(chunks) == any(line.strip() for line in text.split("\n"))
