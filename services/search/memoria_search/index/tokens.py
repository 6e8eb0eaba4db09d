"""What a text is taken apart into, and the terms of what reaches over white space."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from memoria_search.index.fold import fold
from memoria_search.index.phones import phones

# Groups of three that only a space of no width to break at holds together: 1 250 000 in French, Swiss and ISO style.
_SPACED_AMOUNT = re.compile(r"\d{1,3}(?:[\u00a0\u202f\u2009]\d{3})+(?!\d)")

_ACCOUNT = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?:[ \u00a0\u202f][A-Z\d]{4}){2,7}(?:[ \u00a0\u202f][A-Z\d]{1,3})?(?!\w)")
"""An IBAN as it is printed, in groups of four (ISO 13616); unspaced it is one word anyway."""

DECORATED = "^"
"""Ends the body term of a word with a symbol to it, #launch or C++, which is near the plain word and is not that."""


class Kind(Enum):
    """What a term is for."""

    BODY = "body"
    PART = "part"  # a piece of a word, or its stem in the less likely language: indexed after the text's own words
    EXACT = "exact"
    LITERAL = "literal"  # an exact form that is an identifier: it weighs more than a word's
    SINGLE = "single"  # one character out of a longer run: indexed as exact, asked for only on its own


class Token(NamedTuple):
    """A term and the characters of the text that it stands for."""

    start: int
    end: int
    term: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Terms:
    """A text as it is indexed: body terms in reading order, then those of parts; exact forms; repeats kept."""

    body: list[str]
    exact: list[str]


def spans(text: str) -> Iterator[Token]:
    """Terms of what reaches over white space: telephone and account numbers, amounts whose groups may not be parted."""
    for start, end, terms in phones(text):
        for term in terms:
            yield Token(start, end, term, Kind.LITERAL)
    for match in _ACCOUNT.finditer(text):
        yield Token(match.start(), match.end(), fold("".join(match.group().split())), Kind.PART)
    if not text.isascii():
        for match in _SPACED_AMOUNT.finditer(text):
            yield Token(match.start(), match.end(), re.sub(r"\D", "", match.group()), Kind.PART)


def shifted(tokens: Iterable[Token], by: int) -> Iterable[Token]:
    """The tokens, that many characters further on."""
    return [Token(start + by, end + by, term, kind) for start, end, term, kind in tokens] if by else tokens
