"""Snippets, made from the opened chunk with the tokens of the one analyser (IDX-02)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from memoria_search.index.analysis import CACHED_LENGTH, Analyser, QueryTerms
from memoria_search.index.fold import fold
from memoria_search.index.languages import detect
from memoria_search.index.scripts import RUN
from memoria_search.index.tokens import spans

WIDTH = 240
"""Characters of a snippet, give or take a word: two lines at 1280 pixels, five at 360."""

_ANALYSED = 4_000
_LETTERS = re.compile(r"\w+")
_MARKS = 100  # of one term in one long word: more than a snippet can show
_SLACK = 24  # how far an end may move to stand between words


@dataclass(frozen=True, slots=True)
class SnippetPart:
    """A run of a snippet, exactly as the document has it; `marked` if it matched."""

    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class _Match:
    start: int
    end: int
    terms: frozenset[str]


class Highlighter:
    """Marks one query's matches. Made for one request: its memory of surface forms is of that query alone."""

    def __init__(self, analyser: Analyser, query: QueryTerms) -> None:
        self._analyser = analyser
        self._wanted = frozenset((*query.body, *query.exact, *query.literal))
        self._spaceless = [term for term in self._wanted if RUN.fullmatch(term)]
        # By languages and word, as the analyser takes a text apart; the second is the current text's.
        self._by_languages: dict[tuple[str, ...], dict[str, tuple[_Match, ...]]] = {}
        self._languages: tuple[str, ...] = ()
        self._hits: dict[str, tuple[_Match, ...]] = {}
        self._begun = query.prefix
        self._budget = _ANALYSED

    def snippet(self, text: str) -> tuple[SnippetPart, ...]:
        """The part of `text` where matches stand densest, or its beginning where none does (a match in the title).

        The joined parts are a substring of `text`. Empty for an empty text.
        """
        matches = self._matches(text)
        start, end = _window(text, matches)
        parts: list[SnippetPart] = []
        at = start
        for match in matches:
            left, right = max(match.start, at), min(match.end, end)
            if left >= right:
                continue
            if left > at:
                parts.append(SnippetPart(text[at:left], False))
            if parts and parts[-1].marked:  # pairs of characters overlap and touch: one mark, not many
                parts[-1] = SnippetPart(parts[-1].text + text[left:right], True)
            else:
                parts.append(SnippetPart(text[left:right], True))
            at = right
        if at < end:
            parts.append(SnippetPart(text[at:end], False))
        return tuple(parts)

    def _matches(self, text: str) -> list[_Match]:
        """What matches, in order. Distinct words are looked up first and only those that match are looked for: fifty
        chunks have some 9,000 words, and walking them one by one took 25 ms."""
        found: list[_Match] = []
        self._languages = detect(text)
        self._hits = self._by_languages.setdefault(self._languages, {})
        words = set(text.split())
        long = {word for word in words if len(word) > CACHED_LENGTH}
        for word in [*self._analyser.words_with(self._wanted, words - long, self._languages), *self._long(long)]:
            known = self._hits.get(word)
            if known is None:
                known = self._hits[word] = self._match(word)
            for at in _places(text, word):
                found += [_Match(at + match.start, at + match.end, match.terms) for match in known]
        for start, end, term, _ in spans(text):  # a telephone number has white space inside
            if term in self._wanted:
                found.append(_Match(start, end, frozenset((term,))))
        if self._begun and not found:
            found += self._beginnings(text)
        return sorted(found, key=lambda match: (match.start, match.end))

    def _beginnings(self, text: str) -> Iterator[_Match]:
        """Words that begin like the one still being typed, where nothing else matches."""
        size = len(self._begun)
        for match in islice(_LETTERS.finditer(text), _ANALYSED):
            if fold(match.group())[:size] == self._begun:
                yield _Match(match.start(), match.end(), frozenset((self._begun,)))

    def _long(self, words: Iterable[str]) -> Iterator[str]:
        """Long words that match, with what matches put down in `_hits`.

        A text without spaces is one long word. Its pairs of characters are looked for as they are written; the analyser
        sees only beginnings, and for a whole page no more than _ANALYSED characters of them: fifty chunks of Chinese
        took half a second, and a file of made-up words could have held up every page that it is found for.
        """
        for word in words:
            if word not in self._hits:
                beginning = word[: min(CACHED_LENGTH, self._budget)]
                self._budget -= len(beginning)
                hits = {(match.start, match.end): match for match in self._match(beginning)}
                for term in self._spaceless:
                    for at in islice(_all(word, term), _MARKS):
                        hits.setdefault((at, at + len(term)), _Match(at, at + len(term), frozenset((term,))))
                self._hits[word] = tuple(hits[place] for place in sorted(hits))
            if self._hits[word]:
                yield word

    def _match(self, word: str) -> tuple[_Match, ...]:
        """What of one word matches, by place in it."""
        hits: dict[tuple[int, int], set[str]] = {}
        for start, end, term, _ in self._analyser.word(word, self._languages):
            if term in self._wanted:
                hits.setdefault((start, end), set()).add(term)
        return tuple(_Match(start, end, frozenset(hits[start, end])) for start, end in sorted(hits))


def _all(text: str, term: str) -> Iterator[int]:
    """Where `term` stands in `text`, overlaps included."""
    at = text.find(term)
    while at >= 0:
        yield at
        at = text.find(term, at + 1)


def _places(text: str, word: str) -> Iterator[int]:
    """Where `word` stands between white spaces."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if (at == 0 or text[at - 1].isspace()) and (end == len(text) or text[end].isspace()):
            yield at
            at = text.find(word, end)
        else:
            at = text.find(word, at + 1)


def _window(text: str, matches: Sequence[_Match]) -> tuple[int, int]:
    """Where the snippet starts and ends: most distinct terms first, then most matches, then the earliest."""
    if not matches:
        return 0, _between_words(text, min(len(text), WIDTH), -1)
    best, best_score = (0, 0), (0, 0)
    last = 0
    counts: dict[str, int] = {}
    size = 0
    for first, match in enumerate(matches):
        while last < len(matches) and (last <= first or matches[last].end - match.start <= WIDTH):
            for term in matches[last].terms:
                counts[term] = counts.get(term, 0) + 1
            last, size = last + 1, size + 1
        score = (len(counts), size)
        if score > best_score:
            best, best_score = (match.start, max(m.end for m in matches[first:last])), score
        for term in match.terms:
            counts[term] -= 1
            if not counts[term]:
                del counts[term]
        size -= 1
    spare = max(0, WIDTH - (best[1] - best[0]))
    start = max(0, best[0] - spare // 2)
    end = min(len(text), start + max(WIDTH, best[1] - best[0]))
    start = max(0, min(start, end - WIDTH))
    start = _between_words(text, start, 1) if start else 0
    end = _between_words(text, end, -1)
    start = min(start, best[0])
    return start, min(max(end, best[1]), start + 2 * WIDTH)  # a blob that matched is not shown whole


def _between_words(text: str, at: int, step: int) -> int:
    """`at`, moved by at most _SLACK towards `step` so that no word is cut; `at` itself where there is no space."""
    if at <= 0 or at >= len(text):
        return at
    place = at
    for _ in range(_SLACK):
        if not 0 < place < len(text):
            break
        if text[place - 1].isspace() != text[place].isspace():
            return place
        place += step
    return at
