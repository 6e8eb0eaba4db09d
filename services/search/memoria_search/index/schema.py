"""The fields of the index, and a chunk's way into them.

What is indexed is keyed by `number << ORDINAL_BITS | ordinal`: the number of a stored revision of a document, and the
chunk within it. A replaced document gets a new number, so a hit always names the exact text it was made from.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import tantivy

from memoria_search.index.analysis import Analyser, Terms
from memoria_search.index.languages import MARK

ORDINAL_BITS = 24
MAX_ORDINALS = 1 << ORDINAL_BITS

# Bytes decide: 20,000 mixed chunks of 1.3 KB took 806 each with positions and counts everywhere, 491 with these.
_FIELDS = {"body": "position", "title": "freq", "trail": "freq", "exact": "freq"}
_MOST_TIMES = 4
"""How often one term of a chunk is kept. BM25 gives a fifth time a fortieth of what it gives the first; leaving it out
saves a tenth of the index and cost no quality that could be measured (nDCG@10 -0.002 and +0.001)."""


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk on its way into the index. `title` and `trail` are analysed once a document and shared by its chunks."""

    number: int
    ordinal: int
    app: str
    title: Terms
    trail: Terms
    text: str


def build_schema() -> tantivy.Schema:
    """The schema. A change of it is a change of the analyser's version: an index of another one is not read."""
    builder = tantivy.SchemaBuilder()
    # Signed, though never negative: tantivy-py has no mapping from Python's ints to an unsigned fast field.
    builder.add_integer_field("key", indexed=False, fast=True)
    builder.add_integer_field("number", indexed=True)
    builder.add_text_field("app", tokenizer_name="raw", index_option="basic")
    for field, option in _FIELDS.items():
        builder.add_text_field(field, tokenizer_name="whitespace", index_option=option)
    return builder.build()


def register_tokenizers(index: tantivy.Index) -> None:
    """Terms come analysed and joined by spaces, so the engine only splits them."""
    index.register_tokenizer("whitespace", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())


def document_of(chunk: IndexedChunk, analyser: Analyser) -> tantivy.Document:
    """The chunk as the engine takes it in."""
    terms = analyser.terms(chunk.text)
    document = tantivy.Document()
    document.add_integer("key", chunk.number << ORDINAL_BITS | chunk.ordinal)
    document.add_integer("number", chunk.number)
    document.add_text("app", chunk.app)
    document.add_text("body", " ".join(_bounded(chunk.title.body, terms.body)))
    document.add_text("title", " ".join(chunk.title.body))
    marks = dict.fromkeys(form for form in chunk.trail.exact if form.startswith(MARK))
    document.add_text("trail", " ".join([*chunk.trail.body, *marks]))
    document.add_text("exact", " ".join(dict.fromkeys([*terms.exact, *chunk.title.exact, *chunk.trail.exact])))
    return document


def _bounded(*parts: list[str]) -> Iterator[str]:
    """The terms in order, without those that were there often enough already."""
    times: dict[str, int] = {}
    for part in parts:
        for term in part:
            seen = times.get(term, 0)
            if seen < _MOST_TIMES:
                times[term] = seen + 1
                yield term
