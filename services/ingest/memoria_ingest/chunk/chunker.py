"""Packs blocks into chunks of about 400 words that never straddle a heading (IDX-01)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from memoria_ingest.chunk.blocks import Block, BlockKind, read_blocks
from memoria_ingest.chunk.measure import MAX_WORDS, RUNT_WORDS, TARGET_WORDS, cut_line, words


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document: the headings above it, outermost first, and its text. Its ordinal is its place."""

    trail: tuple[str, ...]
    text: str = field(repr=False)


@dataclass(slots=True)
class _Piece:
    """A part of a block that is packed whole."""

    text: str
    size: int


def chunk_text(text: str, *, table: bool = False) -> list[Chunk]:
    """The chunks of a text, in order; none for a text without a word in it.

    `table` says that the text is rows under a header line (CSV): no line is a heading, each chunk repeats the header.
    """
    lines = text.split("\n")
    if table:
        first = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
        rows = [line for line in lines[first:] if line.strip()]
        return _pack((), [Block(BlockKind.TABLE, rows, repeat=rows[:1])] if rows else [])
    chunks: list[Chunk] = []
    for trail, blocks in _sections(lines):
        chunks.extend(_pack(trail, blocks))
    return chunks


def _sections(lines: list[str]) -> Iterator[tuple[tuple[str, ...], list[Block]]]:
    """The blocks under each heading. A heading with nothing of its own and nothing below it stands for itself."""
    stack: list[tuple[int, str]] = []
    held: list[Block] = []
    bare: list[Block] = []  # a heading that nothing has followed yet
    for block in read_blocks(lines):
        if block.kind is not BlockKind.HEADING:
            held.append(block)
            bare = []
            continue
        if held:
            yield tuple(title for _, title in stack), held
            held = []
        elif bare and block.level <= bare[0].level:
            yield tuple(title for _, title in stack), bare
        while stack and stack[-1][0] >= block.level:
            stack.pop()
        stack.append((block.level, block.title))
        bare = [block]
    if held or bare:
        yield tuple(title for _, title in stack), held or bare


def _pack(trail: tuple[str, ...], blocks: list[Block]) -> list[Chunk]:
    groups: list[list[_Piece]] = []
    size = 0
    for block in blocks:
        for piece in _pieces(block):
            if not groups or size + piece.size > TARGET_WORDS:
                groups.append([])
                size = 0
            groups[-1].append(piece)
            size += piece.size
    return [Chunk(trail, "\n\n".join(piece.text for piece in group)) for group in _fold(groups)]


def _fold(groups: list[list[_Piece]]) -> list[list[_Piece]]:
    """Fold runts into the neighbour before them, or behind them where there is none before."""
    folded: list[list[_Piece]] = []
    for group in groups:
        size = sum(piece.size for piece in group)
        before = sum(piece.size for piece in folded[-1]) if folded else 0
        if folded and (size < RUNT_WORDS or before < RUNT_WORDS) and size + before <= MAX_WORDS:
            folded[-1] = [*folded[-1], *group]
        else:
            folded.append(group)
    return folded


def _pieces(block: Block) -> list[_Piece]:
    """A block whole if it fits, otherwise in parts that fit; a table already where it passes the target."""
    size = sum(words(line) for line in block.lines)
    ceiling = TARGET_WORDS if block.kind is BlockKind.TABLE else MAX_WORDS
    if size <= ceiling:
        return [_Piece("\n".join(block.lines), size)]
    opening, body, closing = _frame(block, ceiling // 4)
    frame = sum(words(line) for line in [*opening, *closing])
    parts: list[list[str]] = [[]]
    filled = 0
    for line in body:
        for cut in cut_line(line, MAX_WORDS - frame):
            size = words(cut)
            if parts[-1] and filled + size > TARGET_WORDS - frame:
                parts.append([])
                filled = 0
            parts[-1].append(cut)
            filled += size
    whole = [[*opening, *part, *closing] for part in parts if part]
    return [_Piece("\n".join(lines), sum(words(line) for line in lines)) for lines in whole]


def _frame(block: Block, most: int) -> tuple[list[str], list[str], list[str]]:
    """(lines before every part, lines to spread, lines behind every part).

    What is repeated is at most `most` words: a longer table header would fill the parts, so it is said once. A fence
    has to be opened and closed in every part, whatever its author wrote behind the marker.
    """
    if block.kind is BlockKind.FENCE:
        first, *rest = cut_line(block.repeat[0], most)
        return [first], [*rest, *block.lines[1:-1]], [block.closing]
    if block.repeat and sum(words(line) for line in block.repeat) <= most:
        return block.repeat, block.lines[len(block.repeat) :], []
    return [], block.lines, []
