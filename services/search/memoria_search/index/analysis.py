"""The one analyser: what a document is indexed under and what a query asks for come from the same lines.

Two kinds of term. A *body* term ranks: a stem, a part, a pair of characters. An *exact* term is a form as it was
written, folded: it decides between those that share stems or parts, and it is all there is for a query of stop words.
A form that is its own stem is no exact term as well: it would be stored twice and say nothing new.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from memoria_search.index import compounds, languages
from memoria_search.index.fold import fold
from memoria_search.index.languages import ENGLISH, LANGUAGES, Stemmers, detect, mark
from memoria_search.index.phones import phone_query
from memoria_search.index.query import QueryTerms, Word
from memoria_search.index.scripts import RUN
from memoria_search.index.stopwords import STOP_WORDS
from memoria_search.index.tokens import Kind, Terms, Token, shifted, spans
from memoria_search.index.words import Words

__all__ = ["ANALYSER_VERSION", "CACHED_LENGTH", "Analyser", "Kind", "QueryTerms", "Terms", "Token", "warm"]

ANALYSER_VERSION = 5
"""Moves with every change of what the same text is analysed into; an index of another version is not read."""

_CACHE_LIMIT = 60_000  # words, about 60 MB; the first ones seen are the common ones, so it is then left as it is
CACHED_LENGTH = 48  # longer words hardly come twice
_QUERIED_LIMIT = 5_000  # words of queries: analysing one for every language takes 30 µs
_SHORTEST_PREFIX = 2

# Text is taken apart at white space first, because no surface form reaches over it and whole words repeat: one look-up
# then replaces the expensive pattern (measured: 2 µs a word against 0.1).
_WORD = re.compile(r"\S+")


def warm() -> None:
    """Load what analysers share and hold for as long as the process lives: it holds nothing of any text."""
    languages.load()
    compounds.load()


class _Entry(NamedTuple):
    tokens: tuple[Token, ...]
    body: tuple[str, ...]
    parts: tuple[str, ...]
    exact: tuple[str, ...]


class _Table:
    """What one set of languages makes of words, remembered."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.entries: dict[str, _Entry] = {}
        self.holders: dict[str, set[str]] = {}  # turned round: a term's words


class _Asking:
    """What one set of languages makes of the words of queries, remembered."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.known: dict[str, tuple[Word, ...]] = {}


class Analyser:
    """Analyses texts. Holds words of the corpus in its cache, so it lives and dies with the index handle (TRU-04)."""

    def __init__(self) -> None:
        self._stemmers = Stemmers()
        self._tables: dict[tuple[str, ...], _Table] = {}
        self._room = _CACHE_LIMIT
        self._asking = _Asking(Words(self._stemmers, LANGUAGES, asked=True))

    def ask_in(self, languages: tuple[str, ...]) -> None:
        """From now on queries are asked in these languages alone: those that an index holds texts in, English first."""
        if languages != self._asking.words.languages:
            self._asking = _Asking(Words(self._stemmers, languages, asked=True))

    def tokens(self, text: str, languages: tuple[str, ...] | None = None) -> Iterator[Token]:
        """Every term of `text` with offsets in characters of `text` itself. Takes any string: NULs separate (F19)."""
        table = self._table(languages or detect(text))
        for match in _WORD.finditer(text):
            yield from shifted(self._entry(match.group(), table).tokens, match.start())
        yield from spans(text)

    def terms(self, text: str) -> Terms:
        """The terms to index `text` under."""
        body: list[str] = []
        parts: list[str] = []
        exact: list[str] = []
        table = self._table(detect(text))
        known = table.entries.get
        for word in text.split():
            _, of_body, of_parts, of_exact = known(word) or self._entry(word, table)
            if of_body:
                body += of_body
            if of_parts:
                parts += of_parts
            if of_exact:
                exact += of_exact
        exact += [mark(language) for language in table.words.languages if language != ENGLISH]
        for token in spans(text):
            (exact if token.kind is Kind.LITERAL else parts).append(token.term)
        body += parts
        return Terms(body, exact)

    def query(self, text: str, *, live: bool = False) -> QueryTerms:
        """What a person's words ask for. Stop words are asked for only where there is nothing else. `live` says that
        the last word may still be being typed."""
        found: dict[Word, int] = {}
        order: list[Word] = []
        asking = self._asking
        for run in text.split():
            for word in self._asked(run, asking):
                found[word] = found.get(word, 0) + 1
                order.append(word)
        reaching = list(spans(text))
        literal = dict.fromkeys([t.term for t in reaching if t.kind is Kind.LITERAL] + [*phone_query(text)])
        if literal:
            found[Word((), literal=tuple(literal))] = 1
        if amounts := dict.fromkeys(token.term for token in reaching if token.kind is Kind.PART):
            found[Word(tuple(amounts))] = 1
        content = [word for word in found if word.body or STOP_WORDS.isdisjoint(word.exact)] or list(found)
        places = {word: place for place, word in enumerate(content)}
        order = [word for word in order if word in places]
        beside = dict.fromkeys((places[a], places[b]) for a, b in itertools.pairwise(order) if a != b)
        counted = tuple(word if found[word] == 1 else replace(word, times=found[word]) for word in content)
        return QueryTerms(counted, tuple(beside), self._prefix(text) if live else "")

    def _asked(self, run: str, asking: "_Asking") -> tuple[Word, ...]:
        known = asking.known.get(run)
        if known is None:
            known = asking.words.words(run)
            if len(run) <= CACHED_LENGTH and len(asking.known) < _QUERIED_LIMIT:
                asking.known[run] = known
        return known

    def _prefix(self, text: str) -> str:
        """The folded last word, where it is letters and digits and nothing follows it."""
        last = text.split()[-1] if text and not text[-1].isspace() and text.split() else ""
        prefix = fold(last)
        return prefix if len(prefix) >= _SHORTEST_PREFIX and last.isalnum() and not RUN.search(last) else ""

    def word(self, word: str, languages: tuple[str, ...] = (ENGLISH,)) -> tuple[Token, ...]:
        """The tokens of what stands between two white spaces, offsets from its start."""
        return self._entry(word, self._table(languages)).tokens

    def words_with(self, wanted: frozenset[str], words: set[str], languages: tuple[str, ...] = (ENGLISH,)) -> set[str]:
        """Those of `words` that hold a wanted term; whole sets at a time, for a page has some 9,000 words."""
        table = self._table(languages)
        found = set()
        for word in words.difference(table.entries):
            if any(token.term in wanted for token in self._entry(word, table).tokens):
                found.add(word)
        for term in wanted:
            if holders := table.holders.get(term):
                found |= holders & words
        return found

    def _table(self, languages: tuple[str, ...]) -> _Table:
        table = self._tables.get(languages)
        if table is None:
            table = self._tables[languages] = _Table(Words(self._stemmers, languages))
        return table

    def _entry(self, word: str, table: _Table) -> _Entry:
        known = table.entries.get(word)
        if known is not None:
            return known
        made = tuple(table.words.tokens(word))
        body: list[str] = []
        parts: list[str] = []
        exact: list[str] = []
        for _, _, term, kind in made:
            (body if kind is Kind.BODY else parts if kind is Kind.PART else exact).append(term)
        entry = _Entry(made, tuple(body), tuple(parts), tuple(exact))
        if len(word) <= CACHED_LENGTH and self._room:
            self._room -= 1
            for token in made:
                table.holders.setdefault(token.term, set()).add(word)
            table.entries[word] = entry  # last: a word that is found here is in `holders` under each of its terms
        return entry
