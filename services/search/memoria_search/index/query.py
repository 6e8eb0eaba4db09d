"""A query as it is asked of the index: word by word, each with every term that may stand for it."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from memoria_search.index.languages import MARK
from memoria_search.index.scripts import RUN
from memoria_search.index.stopwords import CARRIERS, STOP_WORDS
from memoria_search.index.tokens import DECORATED, Kind, Token

_MOST_PIECES = 3  # that an identifier counts for


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a query.

    `body` holds one stem a language, distinct, English first: which of them the index knows is found out when it is
    asked. `parts` are terms of a piece of the word, worth less than the whole. `times` is how often it was typed,
    `carrier` that it carries a request more than it names a subject, `pieces` how many words' worth it has.
    """

    body: tuple[str, ...]
    parts: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    literal: tuple[str, ...] = ()
    times: int = 1
    carrier: bool = False
    pieces: int = 1
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # Words are looked up ten times a query. Enough to tell them apart, without all the stems.
        object.__setattr__(self, "_hash", hash((self.body[:1], self.exact, self.literal, self.times)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """A query's words in reading order, distinct; `pairs` are places in `words` that stand beside each other.

    `prefix` is the beginning of a word that is still being typed, or nothing.
    """

    words: tuple[Word, ...]
    pairs: tuple[tuple[int, int], ...] = ()
    prefix: str = ""

    @property
    def empty(self) -> bool:
        """Nothing to look for: only white space and punctuation."""
        return not self.words and not self.prefix

    @property
    def body(self) -> tuple[str, ...]:
        """Every body term, distinct."""
        return tuple(dict.fromkeys(chain.from_iterable((*word.body, *word.parts) for word in self.words)))

    @property
    def exact(self) -> tuple[str, ...]:
        """Every exact form that is a word, distinct."""
        return tuple(dict.fromkeys(chain.from_iterable(word.exact for word in self.words)))

    @property
    def literal(self) -> tuple[str, ...]:
        """Every exact form that is an identifier, distinct."""
        return tuple(dict.fromkeys(chain.from_iterable(word.literal for word in self.words)))


def words_of(tokens: Iterable[Token]) -> Iterator[Word]:
    """The words that one run without white space asks for: its surface forms, or the pairs of a script's run."""
    forms: dict[tuple[int, int], dict[Kind, dict[str, None]]] = {}
    for start, end, term, kind in tokens:
        forms.setdefault((start, end), {}).setdefault(kind, {})[term] = None
    ordered = sorted(forms)
    for (start, end), kinds in forms.items():
        body, parts = tuple(kinds.get(Kind.BODY, ())), tuple(kinds.get(Kind.PART, ()))
        exact, literal = tuple(kinds.get(Kind.EXACT, ())), tuple(kinds.get(Kind.LITERAL, ()))
        if not (body or parts or exact or literal):
            continue  # characters of a longer run
        exact += tuple(kinds.get(Kind.SINGLE, ())) if body else ()
        if exact and STOP_WORDS.intersection(exact):
            body = ()
        parts += tuple(_undecorated(body))
        pieces = 1
        if not body:  # mx2041b is all of MX-2041-B; 10.100 is less than 10.100.200.101
            body = tuple(term for term in parts if not literal or "." not in term)
            parts = tuple(term for term in parts if term not in body)
            if literal:  # written as one it is worth as much as its pieces
                pieces = _pieces(start, end, ordered)
        yield Word(body, parts, exact, literal, 1, bool(CARRIERS.intersection((*exact, *body))), pieces)


def _pieces(start: int, end: int, ordered: list[tuple[int, int]]) -> int:
    """How many forms lie inside one, at most _MOST_PIECES; it does not look at those of the rest of a long line."""
    inside = 0
    for at in range(bisect_left(ordered, (start, 0)), len(ordered)):
        first, last = ordered[at]
        if first >= end or inside == _MOST_PIECES:
            break
        inside += last <= end and (first, last) != (start, end)
    return inside or 1


def _undecorated(body: Iterable[str]) -> Iterator[str]:
    """A word's other nature: "launch" finds "#launch" after itself, and the other way round."""
    for term in body:
        if term.endswith(DECORATED):
            yield term[: -len(DECORATED)]
        elif MARK not in term and not RUN.match(term):
            yield term + DECORATED
