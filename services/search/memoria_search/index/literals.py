"""What a run of word characters and joiners is made of: identifiers kept whole and in parts (F23, F25).

Whole, so that the exact document comes first; in parts, so that the near ones come after it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memoria_search.index.fold import MARKS, fold

_INNER = "\u00ad\u200c\u200d\u2060"  # invisible characters that stand inside words: soft hyphen and joiners
_W = f"[\\w{MARKS}{_INNER}]+"
_JOINERS = "['.\\-\u2018\u2019\u02bc\uff07\u2010-\u2012]"  # not the en dash: it joins ranges, "2019–2021"

SURFACE = re.compile(
    rf"[\w.+%\-]{{1,64}}@\w[\w\-]*(?:\.[\w\-]+)+"  # e-mail; bounded, or "a+a+a+…" costs the square of its length
    rf"|(?<![\w{MARKS}])[#@]{_W}(?:-{_W})*"  # #tag, @name
    rf"|(?<![\w.{MARKS}])\.[^\W\d_]\w*"  # .NET
    rf"|[^\W\d_]\w*(?:\+\+)(?!\w)"  # C++
    rf"|(?<!\w)[^\W\d_]{{1,2}}\#(?!\w)"  # C#
    rf"|{_W}(?:(?:{_JOINERS}|(?<=\d),(?=\d)|&){_W})*"  # words, with what may stand inside one
)
"""One surface form. Sentence punctuation at its ends is outside it."""

_SPLIT = re.compile(r"[^\w" + MARKS + _INNER + r"]+|_+")
_GROUPED = re.compile(r"(\d{1,3}(?:[,']\d{3})+)(\.\d+)?$")  # 1,250,000.00
_VERSION = re.compile(r"v(\d[\w.]*)$")
_CLITIC = re.compile(r"'(?:s|t|re|ve|ll|d|m)$")
_MAX_PARTS = 16  # of one surface form; a longer chain is data, found whole or by its first parts


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a surface form: where it stands in it (characters) and its folded text."""

    start: int
    end: int
    text: str


def parts(surface: str) -> Iterator[Part]:
    """The words inside a surface form."""
    start = 0
    for cut in [*(match.span() for match in _SPLIT.finditer(surface)), (len(surface), len(surface))]:
        if cut[0] > start and (text := fold(surface[start : cut[0]])):
            yield Part(start, cut[0], text)
        start = cut[1]


def is_plain(surface: str) -> bool:
    """Letters and digits only: nothing to take apart."""
    return surface.isalnum()


@dataclass(frozen=True, slots=True)
class Literal:
    """A surface form that is more than a word.

    `wholes` are the spellings under which it is found as itself, `joined` those under which it is found as a word, and
    `pieces` its words. `word` marks an English word with an apostrophe, which is a word and no identifier.
    """

    wholes: tuple[str, ...]
    joined: tuple[str, ...]
    pieces: tuple[Part, ...]
    word: bool = False


def take_apart(surface: str) -> Literal:
    """The spellings and pieces of a surface form that is not plain."""
    whole = fold(surface)
    bare = whole.strip("_")
    pieces = list(parts(surface))
    if not pieces:  # underscores only
        return Literal((), (), ())
    if len(pieces) <= 1 and bare.isalnum():  # underscores of Markdown emphasis around a word, or marks inside one
        return Literal(tuple(dict.fromkeys((bare, whole))), (), tuple(pieces), word=True)
    if clitic := _CLITIC.search(whole):
        base = whole[: clitic.start()]
        if base.isalnum():
            return Literal((whole,), (), (Part(0, len(surface), base),), word=True)
    if grouped := _GROUPED.match(whole):  # an amount: its groups of three mean nothing apart
        digits = grouped[1].replace(",", "").replace("'", "")
        spoken = dict.fromkeys((digits + (grouped[2] or ""), digits))
        return Literal((whole, next(iter(spoken))), tuple(spoken), ())
    wholes, joined = [whole], []
    if version := _VERSION.match(whole):
        wholes.append(version[1])
    number = wholes[-1]
    if "@" in whole[1:]:
        wholes.append(whole.partition("@")[2])
    elif number[:1].isdigit() and "." in number:
        heads = number.split(".")
        joined += [".".join(heads[:size]) for size in range(2, min(len(heads), _MAX_PARTS))]  # 10.100, 10.100.200
        joined.append(number)
    elif len(pieces) > 1 and ("-" in whole or "&" in whole or all(len(piece.text) == 1 for piece in pieces)):
        joined.append("".join(piece.text for piece in pieces))  # email, usa, mx2041b
    hyphenated = (
        len(pieces) > 1 and all(len(piece.text) > 1 and piece.text.isalpha() for piece in pieces) and "-" in whole
    )
    return Literal(tuple(dict.fromkeys(wholes)), tuple(dict.fromkeys(joined)), tuple(pieces[:_MAX_PARTS]), hyphenated)
