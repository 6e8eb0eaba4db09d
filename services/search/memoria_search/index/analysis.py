"""The one analyser: what a document is indexed under and what a query asks for come from the same lines.

Two kinds of term. A *body* term ranks: a stem, a part, a pair of characters. An *exact* term is a form as it was
written, folded: it decides between those that share stems or parts, and it is all there is for a query of stop words.
"""

import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import Stemmer

from memoria_search.index.fold import fold
from memoria_search.index.literals import SURFACE, is_plain, take_apart
from memoria_search.index.scripts import RUN, pairs, singles
from memoria_search.index.stopwords import STOP_WORDS

ANALYSER_VERSION = 1
"""Moves with every change of what the same text is analysed into; an index of another version is not read."""

_CACHE_LIMIT = 60_000  # words, about 50 MB; the first ones seen are the common ones, so it is then left as it is
CACHED_LENGTH = 48  # longer words hardly come twice

# Text is taken apart at white space first, because no surface form reaches over it and whole words repeat: one look-up
# then replaces the expensive pattern (measured: 2 µs a word against 0.1).
_WORD = re.compile(r"\S+")


class Kind(Enum):
    """What a term is for."""

    BODY = "body"
    EXACT = "exact"
    LITERAL = "literal"  # an exact form that is an identifier: it weighs more than a word's
    SINGLE = "single"  # one character out of a longer run: indexed, but asked for only on its own


class Token(NamedTuple):
    """A term and the characters of the text that it stands for."""

    start: int
    end: int
    term: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Terms:
    """A text as it is indexed: terms in reading order, repeats kept."""

    body: list[str]
    exact: list[str]


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """A query as it is asked: distinct terms in reading order."""

    body: tuple[str, ...]
    exact: tuple[str, ...]
    literal: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Nothing to look for: only white space and punctuation."""
        return not (self.body or self.exact or self.literal)


class Analyser:
    """Analyses texts. Holds words of the corpus in its cache, so it lives and dies with the index handle (TRU-04)."""

    def __init__(self) -> None:
        self._local = threading.local()  # a stemmer is not for two threads at once
        self._cache: dict[str, tuple[Token, ...]] = {}
        self._holders: dict[str, set[str]] = {}  # the cache turned round: a term's words

    def tokens(self, text: str) -> Iterator[Token]:
        """Every term of `text` with offsets in characters of `text` itself. Takes any string: NULs separate (F19)."""
        for match in _WORD.finditer(text):
            yield from _shift(self.word(match.group()), match.start())

    def terms(self, text: str) -> Terms:
        """The terms to index `text` under."""
        body: list[str] = []
        exact: list[str] = []
        for word in text.split():
            for _, _, term, kind in self.word(word):
                (exact if kind is Kind.EXACT or kind is Kind.LITERAL else body).append(term)
        return Terms(body, exact)

    def query(self, text: str) -> QueryTerms:
        """What a person's words ask for. Stop words are asked for only where there is nothing else."""
        found: dict[Kind, dict[str, None]] = {kind: {} for kind in Kind}
        for token in self.tokens(text):
            found[token.kind][token.term] = None
        body, literal = tuple(found[Kind.BODY]), tuple(found[Kind.LITERAL])
        exact = tuple(term for term in found[Kind.EXACT] if not (body or literal) or term not in STOP_WORDS)
        return QueryTerms(body, exact, literal)

    def word(self, word: str) -> tuple[Token, ...]:
        """The tokens of what stands between two white spaces, offsets from its start."""
        known = self._cache.get(word)
        if known is not None:
            return known
        made = tuple(
            token for match in SURFACE.finditer(word) for token in _shift(self._analyse(match.group()), match.start())
        )
        if len(word) <= CACHED_LENGTH and len(self._cache) < _CACHE_LIMIT:
            for token in made:
                self._holders.setdefault(token.term, set()).add(word)
            self._cache[word] = made  # last: a word that is found here is in `_holders` under each of its terms
        return made

    def words_with(self, wanted: frozenset[str], words: set[str]) -> set[str]:
        """Those of `words` that hold a wanted term; whole sets at a time, for a page has some 9,000 words."""
        found = {
            word for word in words.difference(self._cache) if any(token.term in wanted for token in self.word(word))
        }
        for term in wanted:
            if holders := self._holders.get(term):
                found |= holders & words
        return found

    def _analyse(self, surface: str) -> Iterator[Token]:
        if surface.isascii() or not RUN.search(surface):
            yield from self._words(surface)
            return
        at = 0
        for run in RUN.finditer(surface):
            yield from _shift(self._spaced(surface[at : run.start()]), at)
            for start, end, term in pairs(run.group()):
                yield Token(run.start() + start, run.start() + end, term, Kind.BODY)
            for start, end, term in singles(run.group()):
                yield Token(run.start() + start, run.start() + end, term, Kind.SINGLE)
            at = run.end()
        yield from _shift(self._spaced(surface[at:]), at)

    def _spaced(self, text: str) -> Iterator[Token]:
        """What stands between runs of characters without spaces."""
        for match in SURFACE.finditer(text):
            yield from _shift(self._words(match.group()), match.start())

    def _words(self, surface: str) -> Iterator[Token]:
        size = len(surface)
        if is_plain(surface):
            if word := fold(surface):
                yield Token(0, size, word, Kind.EXACT)
                yield from self._stem(0, size, word)
            return
        literal = take_apart(surface)
        for whole in literal.wholes:
            if whole:
                yield Token(0, size, whole, Kind.EXACT if literal.word else Kind.LITERAL)
        if literal.word and STOP_WORDS.intersection(literal.wholes):
            return
        for piece in literal.pieces:
            yield from self._stem(piece.start, piece.end, piece.text)
        for joined in literal.joined:
            yield from self._stem(0, size, joined)

    def _stemmed(self, word: str) -> str:
        stemmer = getattr(self._local, "stemmer", None)
        if stemmer is None:
            stemmer = self._local.stemmer = Stemmer.Stemmer("english")
        return stemmer.stemWord(word) or word

    def _stem(self, start: int, end: int, word: str) -> Iterator[Token]:
        if word and word not in STOP_WORDS:
            yield Token(start, end, self._stemmed(word), Kind.BODY)


def _shift(tokens: Iterable[Token], by: int) -> Iterable[Token]:
    return [Token(start + by, end + by, term, kind) for start, end, term, kind in tokens] if by else tokens
