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

from memoria_search.index import compounds
from memoria_search.index.fold import fold, respell
from memoria_search.index.languages import ENGLISH, LANGUAGES, MARK, Stemmers, detect, mark
from memoria_search.index.literals import SURFACE, Part, humps, is_plain, take_apart
from memoria_search.index.paths import paths
from memoria_search.index.phones import phone_query
from memoria_search.index.query import QueryTerms, Word, words_of
from memoria_search.index.scripts import RUN, pairs, singles
from memoria_search.index.stopwords import CARRIERS, STOP_WORDS, STOPS
from memoria_search.index.tokens import DECORATED, Kind, Terms, Token, shifted, spans

__all__ = ["ANALYSER_VERSION", "CACHED_LENGTH", "Analyser", "Kind", "QueryTerms", "Terms", "Token"]

ANALYSER_VERSION = 4
"""Moves with every change of what the same text is analysed into; an index of another version is not read."""

_CACHE_LIMIT = 60_000  # words, about 60 MB; the first ones seen are the common ones, so it is then left as it is
CACHED_LENGTH = 48  # longer words hardly come twice
_QUERIED_LIMIT = 5_000  # words of queries: analysing one for every language takes 30 µs
_SHORTEST_PREFIX = 2

# Text is taken apart at white space first, because no surface form reaches over it and whole words repeat: one look-up
# then replaces the expensive pattern (measured: 2 µs a word against 0.1).
_WORD = re.compile(r"\S+")


class _Entry(NamedTuple):
    tokens: tuple[Token, ...]
    body: tuple[str, ...]
    parts: tuple[str, ...]
    exact: tuple[str, ...]


class _Table:
    """What one set of languages makes of words, remembered."""

    def __init__(self) -> None:
        self.entries: dict[str, _Entry] = {}
        self.holders: dict[str, set[str]] = {}  # turned round: a term's words


class Analyser:
    """Analyses texts. Holds words of the corpus in its cache, so it lives and dies with the index handle (TRU-04)."""

    def __init__(self) -> None:
        self._stemmers = Stemmers()
        self._tables: dict[tuple[str, ...], _Table] = {}
        self._room = _CACHE_LIMIT
        self._queried: dict[str, tuple[Word, ...]] = {}

    def tokens(self, text: str, languages: tuple[str, ...] | None = None) -> Iterator[Token]:
        """Every term of `text` with offsets in characters of `text` itself. Takes any string: NULs separate (F19)."""
        table = self._table(languages or detect(text))
        for match in _WORD.finditer(text):
            yield from shifted(self._entry(match.group(), *table).tokens, match.start())
        yield from spans(text)

    def terms(self, text: str) -> Terms:
        """The terms to index `text` under."""
        body: list[str] = []
        parts: list[str] = []
        exact: list[str] = []
        table, languages = self._table(detect(text))
        known = table.entries.get
        for word in text.split():
            _, of_body, of_parts, of_exact = known(word) or self._entry(word, table, languages)
            if of_body:
                body += of_body
            if of_parts:
                parts += of_parts
            if of_exact:
                exact += of_exact
        exact += [mark(language) for language in languages if language != ENGLISH]
        for token in spans(text):
            (exact if token.kind is Kind.LITERAL else parts).append(token.term)
        body += parts
        return Terms(body, exact)

    def query(self, text: str, *, live: bool = False) -> QueryTerms:
        """What a person's words ask for. Stop words are asked for only where there is nothing else. `live` says that
        the last word may still be being typed."""
        found: dict[Word, int] = {}
        order: list[Word] = []
        for run in text.split():
            for word in self._asked(run):
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

    def _asked(self, run: str) -> tuple[Word, ...]:
        """The words that one run without white space asks for: its surface forms, or the pairs of a script's run."""
        known = self._queried.get(run)
        if known is None:
            simple = self._simple(run)
            known = (simple,) if simple else tuple(words_of(self._made(run, LANGUAGES)))
            if len(run) <= CACHED_LENGTH and len(self._queried) < _QUERIED_LIMIT:
                self._queried[run] = known
        return known

    def _simple(self, run: str) -> Word | None:
        """The same for the commonest kind of run, in a fifth of the time: letters only, and no German compound."""
        if not (run.isascii() and run.isalpha() and run[1:].islower()):
            return None
        word = fold(run)
        if compounds.split(respell(word)):
            return None
        if word in STOP_WORDS:
            return Word((), exact=(word,), carrier=word in CARRIERS)
        body = self._stemmers.every(word)
        plain = body[0]  # the English stem, which is the only one without a mark
        return Word(body, (plain + DECORATED,), (word,), carrier=not CARRIERS.isdisjoint((word, *body)))

    def _prefix(self, text: str) -> str:
        """The folded last word, where it is letters and digits and nothing follows it."""
        last = text.split()[-1] if text and not text[-1].isspace() and text.split() else ""
        prefix = fold(last)
        return prefix if len(prefix) >= _SHORTEST_PREFIX and last.isalnum() and not RUN.search(last) else ""

    def word(self, word: str, languages: tuple[str, ...] = (ENGLISH,)) -> tuple[Token, ...]:
        """The tokens of what stands between two white spaces, offsets from its start."""
        return self._entry(word, *self._table(languages)).tokens

    def words_with(self, wanted: frozenset[str], words: set[str], languages: tuple[str, ...] = (ENGLISH,)) -> set[str]:
        """Those of `words` that hold a wanted term; whole sets at a time, for a page has some 9,000 words."""
        table, languages = self._table(languages)
        found = set()
        for word in words.difference(table.entries):
            if any(token.term in wanted for token in self._entry(word, table, languages).tokens):
                found.add(word)
        for term in wanted:
            if holders := table.holders.get(term):
                found |= holders & words
        return found

    def _table(self, languages: tuple[str, ...]) -> tuple[_Table, tuple[str, ...]]:
        table = self._tables.get(languages)
        if table is None:
            table = self._tables[languages] = _Table()
        return table, languages

    def _entry(self, word: str, table: _Table, languages: tuple[str, ...]) -> _Entry:
        known = table.entries.get(word)
        if known is not None:
            return known
        made = tuple(self._made(word, languages))
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

    def _made(self, word: str, languages: tuple[str, ...]) -> Iterator[Token]:
        # Most words are lower-case letters and a comma at most: for them the patterns would find what is plain to see.
        plain = word.rstrip(",;:)").lstrip("(")
        if plain.isascii() and plain.isalpha() and plain[1:].islower():
            yield from shifted(self._plain(plain, languages), len(word) - len(word.lstrip("(")))
            return
        for match in SURFACE.finditer(word):
            yield from shifted(self._analyse(match.group(), languages), match.start())
        for start, end, whole in paths(word):
            yield Token(start, end, whole, Kind.LITERAL)

    def _analyse(self, surface: str, languages: tuple[str, ...]) -> Iterator[Token]:
        if surface.isascii() or not RUN.search(surface):
            yield from self._words(surface, languages)
            return
        at = 0
        for run in RUN.finditer(surface):
            yield from shifted(self._spaced(surface[at : run.start()], languages), at)
            for start, end, term in pairs(run.group()):
                yield Token(run.start() + start, run.start() + end, term, Kind.BODY)
            for start, end, term in singles(run.group()):
                yield Token(run.start() + start, run.start() + end, term, Kind.SINGLE)
            at = run.end()
        yield from shifted(self._spaced(surface[at:], languages), at)

    def _spaced(self, text: str, languages: tuple[str, ...]) -> Iterator[Token]:
        """What stands between runs of characters without spaces."""
        for match in SURFACE.finditer(text):
            yield from shifted(self._words(match.group(), languages), match.start())

    def _words(self, surface: str, languages: tuple[str, ...]) -> Iterator[Token]:
        if is_plain(surface):
            yield from self._plain(surface, languages)
            for hump in humps(surface):
                for token in self._stems(hump, languages):
                    yield token._replace(kind=Kind.PART)
            return
        size = len(surface)
        literal = take_apart(surface)
        for whole in literal.wholes:
            if whole:
                yield Token(0, size, whole, Kind.EXACT if literal.word else Kind.LITERAL)
        if literal.word and STOP_WORDS.intersection(literal.wholes):
            return
        if len(literal.pieces) == 1 and not (literal.word or literal.joined):  # #launch, .NET, C++
            (only,) = literal.pieces
            yield Token(only.start, only.end, self._stemmers.stem(only.text, ENGLISH) + DECORATED, Kind.BODY)
            return
        for piece in literal.pieces:
            yield from self._stems(piece, languages)
            for hump in humps(surface[piece.start : piece.end]):
                part = Part(piece.start + hump.start, piece.start + hump.end, hump.text)
                for token in self._stems(part, languages):
                    yield token._replace(kind=Kind.PART)
        for joined in literal.joined:
            for token in self._stems(Part(0, size, joined), languages):
                yield token._replace(kind=Kind.PART)

    def _plain(self, surface: str, languages: tuple[str, ...]) -> Iterator[Token]:
        word = fold(surface)
        if word:
            own = list(self._stems(Part(0, len(surface), word), languages))
            if not own or len(languages) > 2 or any(token.term.partition(MARK)[0] != word for token in own):
                yield Token(0, len(surface), word, Kind.EXACT)
            yield from own

    def _stems(self, part: Part, languages: tuple[str, ...]) -> Iterator[Token]:
        """The stem of a word in each language that does not stop at it; then the parts of a German compound."""
        kind = Kind.BODY
        if len(languages) > 2:  # a query asks for every language's stem alike
            for term in self._stemmers.every(part.text):
                yield Token(part.start, part.end, term, kind)
        else:
            for language in languages:
                if part.text not in STOPS.get(language, ()):
                    yield Token(part.start, part.end, self._stemmers.stem(part.text, language), kind)
                    kind = Kind.PART  # in a text, the second guess follows the first
        if "de" in languages:
            word = respell(part.text)
            stretch = len(word) == part.end - part.start  # otherwise folding moved letters, and the whole is marked
            for start, end in compounds.split(word):
                term = self._stemmers.stem(word[start:end], "de")
                first, last = (part.start + start, part.start + end) if stretch else (part.start, part.end)
                yield Token(first, last, term, Kind.PART)
