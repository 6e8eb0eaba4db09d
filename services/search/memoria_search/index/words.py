"""What stands between two white spaces, taken apart into terms.

A text is stemmed in the one or two languages that it is in. A query is asked in every language that the index holds
texts in, so there a word has a stem in each.
"""

from collections.abc import Iterator

from memoria_search.index import compounds
from memoria_search.index.fold import fold, respell
from memoria_search.index.languages import ENGLISH, GERMAN, MARK, Stemmers
from memoria_search.index.literals import SURFACE, Part, humps, is_plain, take_apart
from memoria_search.index.paths import paths
from memoria_search.index.query import Word, words_of
from memoria_search.index.scripts import RUN, pairs, singles
from memoria_search.index.stopwords import CARRIERS, STOP_WORDS, STOPS
from memoria_search.index.tokens import DECORATED, Kind, Token, shifted


class Words:
    """Takes words apart in one set of languages, for a text the likelier first."""

    def __init__(self, stemmers: Stemmers, languages: tuple[str, ...], *, asked: bool = False) -> None:
        """`asked`: these are the words of a query, and every language counts alike."""
        self.languages = languages
        self._stemmers = stemmers
        self._asked = asked
        self._german = GERMAN in languages

    def tokens(self, word: str) -> Iterator[Token]:
        """Every term of what stands between two white spaces, with offsets from its start."""
        # Most words are lower-case letters and a comma at most: for them the patterns would find what is plain to see.
        plain = word.rstrip(",;:)").lstrip("(")
        if plain.isascii() and plain.isalpha() and plain[1:].islower():
            yield from shifted(self._plain(plain), len(word) - len(word.lstrip("(")))
            return
        for match in SURFACE.finditer(word):
            surface = match.group()
            spaced = surface.isascii() or not RUN.search(surface)
            yield from shifted(self._surface(surface) if spaced else self._runs(surface), match.start())
        for start, end, whole in paths(word):
            yield Token(start, end, whole, Kind.LITERAL)

    def words(self, run: str) -> tuple[Word, ...]:
        """What such a run of a query asks for: its surface forms, or the pairs of a script's run."""
        return self._simple(run) or tuple(words_of(self.tokens(run)))

    def _simple(self, run: str) -> tuple[Word, ...] | None:
        """The same for the commonest kind of run, in a fifth of the time: letters and digits, no German compound."""
        if not (run.isascii() and run.isalnum()):
            return None
        within = [hump.text for hump in humps(run)]
        word = fold(run)
        if self._german and any(compounds.split(respell(each)) for each in (word, *within)):
            return None
        if word in STOP_WORDS:
            whole = Word((), exact=(word,), carrier=word in CARRIERS)
        else:
            body = self._stemmers.every(word, self.languages)
            plain = body[0]  # the English stem, which is the only one without a mark
            whole = Word(body, (plain + DECORATED,), (word,), carrier=not CARRIERS.isdisjoint((word, *body)))
        bodies = [self._stemmers.every(each, self.languages) for each in within]
        return (whole, *(Word(body, carrier=not CARRIERS.isdisjoint(body)) for body in bodies if body))

    def _runs(self, surface: str) -> Iterator[Token]:
        """A surface form with characters of a script without spaces."""
        at = 0
        for run in RUN.finditer(surface):
            yield from self._between(surface, at, run.start())
            for start, end, term in pairs(run.group()):
                yield Token(run.start() + start, run.start() + end, term, Kind.BODY)
            for start, end, term in singles(run.group()):
                yield Token(run.start() + start, run.start() + end, term, Kind.SINGLE)
            at = run.end()
        yield from self._between(surface, at, len(surface))

    def _between(self, surface: str, start: int, end: int) -> Iterator[Token]:
        """What stands between two such runs."""
        for match in SURFACE.finditer(surface[start:end]):
            yield from shifted(self._surface(match.group()), start + match.start())

    def _surface(self, surface: str) -> Iterator[Token]:
        size = len(surface)
        if is_plain(surface):
            yield from self._plain(surface)
            yield from self._humps(surface, 0, size)
            return
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
            yield from self._stems(piece)
            yield from self._humps(surface, piece.start, piece.end)
        for joined in literal.joined:
            yield from self._parts(Part(0, size, joined))

    def _humps(self, surface: str, start: int, end: int) -> Iterator[Token]:
        """The words of a stretch like getUserName."""
        for hump in humps(surface[start:end]):
            yield from self._parts(Part(start + hump.start, start + hump.end, hump.text))

    def _parts(self, part: Part) -> Iterator[Token]:
        for token in self._stems(part):
            yield token._replace(kind=Kind.PART)

    def _plain(self, surface: str) -> Iterator[Token]:
        word = fold(surface)
        if word:
            own = list(self._stems(Part(0, len(surface), word)))
            if self._asked or not own or any(token.term.partition(MARK)[0] != word for token in own):
                yield Token(0, len(surface), word, Kind.EXACT)
            yield from own

    def _stems(self, part: Part) -> Iterator[Token]:
        """The stem of a word in each language that does not stop at it; then the parts of a German compound."""
        kind = Kind.BODY
        if self._asked:
            for term in self._stemmers.every(part.text, self.languages):
                yield Token(part.start, part.end, term, kind)
        else:
            for language in self.languages:
                if part.text not in STOPS.get(language, ()):
                    yield Token(part.start, part.end, self._stemmers.stem(part.text, language), kind)
                    kind = Kind.PART  # the second guess follows the first
        if self._german:
            word = respell(part.text)
            stretch = len(word) == part.end - part.start  # otherwise folding moved letters, and the whole is marked
            for start, end in compounds.split(word):
                term = self._stemmers.stem(word[start:end], GERMAN)
                first, last = (part.start + start, part.start + end) if stretch else (part.start, part.end)
                yield Token(first, last, term, Kind.PART)
