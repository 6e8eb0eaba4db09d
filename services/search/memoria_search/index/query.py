"""A query as it is asked of the index: word by word, each with every term that may stand for it."""

from dataclasses import dataclass
from itertools import chain


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
