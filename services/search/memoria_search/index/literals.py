"""What a run of word characters and joiners is made of: identifiers kept whole and in parts (F23, F25).

Whole, so that the exact document comes first; in parts, so that the near ones come after it.
"""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from memoria_search.index.fold import MARKS, fold

_INNER = "\u00ad\u200c\u200d\u2060"  # invisible characters that stand inside words: soft hyphen and joiners
_W = f"[\\w{MARKS}{_INNER}]+"
# Apostrophes, dots and hyphens; not the en dash: it joins ranges, "2019–2021".
_JOINERS = "['.\\-\u2018\u2019\u201b\u2032\u02bc\uff07\u2010-\u2012]"

SURFACE = re.compile(
    rf"[\w.+%\-]{{1,64}}@\w[\w\-]*(?:\.[\w\-]+)+"  # e-mail; bounded, or "a+a+a+…" costs the square of its length
    rf"|(?<![\w{MARKS}])[#@]{_W}(?:-{_W})*"  # #tag, @name
    rf"|(?<![\w.{MARKS}])\.[^\W\d_]\w*(?:[.\-]\w+)*"  # .NET, .env.local
    rf"|[^\W\d_]\w*\+\+(?:\d\d)?(?!\w)"  # C++, C++17
    rf"|(?<!\w)[^\W\d_]{{1,2}}\#(?!\w)"  # C#
    rf"|{_W}(?:(?:{_JOINERS}|(?<=\d)[,\u066b](?=\d)|&){_W})*"  # words, with what may stand inside one
)
"""One surface form. Sentence punctuation at its ends is outside it."""

_PLAIN = re.compile(rf"[^\W_](?:[^\W_]|[{MARKS}])*")
_SPLIT = re.compile(r"[^\w" + MARKS + _INNER + r"]+|_+")
_HUMPS = re.compile(
    r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"  # getUserName, HTTPServer
    r"|(?<=[A-Z]{2})(?=\d{2})|(?<=\d{2})(?=[A-Z]{2})"  # MX2041; not word11, of which "word" is no part
)
_GROUPED = re.compile(
    r"(\d{1,3}(?:[,']\d{3})+)(\.\d+)?$|(\d{1,3}(?:\.\d{3})+)(,\d+)?$"
)  # 1,250,000.00 and 1.250.000,00
_VERSION = re.compile(r"v(\d[\w.]*)$")
_RELEASE = re.compile(r"v?(\d+(?:\.\d+)+)[-+]")  # what "4.6.1-rc2" is a candidate of
_CLITIC = re.compile(r"'(?:s|t|re|ve|ll|d|m)$")
# What loses its vowel before another in French, Italian and Catalan. "O'Brien" is none, nor is "o'clock".
_ELISION = re.compile(
    r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu|presqu|quelqu|entr|(?:[dns]|co|su|da)?(?:e|a|o|u)?ll|gl|un|quest|quell"
    r"|sant|bell|tutt|mezz|grand|ciascun|nessun|alcun|com|dov|cos|anch|neanch|po)'(?=[^\W\d_]{2})"
)
_MAX_PARTS = 16  # of one surface form; a longer chain is data, found whole or by its first parts
_MAX_HUMPS = 8
_LONGEST_HUMPED = 40  # a longer run of letters and digits is a key or a blob: its parts are noise


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


def humps(surface: str) -> list[Part]:
    """The words of getUserName, of HTTPServer and of mx2041; empty for a form of one word."""
    if len(surface) > _LONGEST_HUMPED or (surface.islower() and surface.isalpha()):
        return []
    cuts = [match.start() for match in _HUMPS.finditer(surface)][:_MAX_HUMPS]
    if not cuts:
        return []
    bounds = [0, *cuts, len(surface)]
    found = (Part(start, end, fold(surface[start:end])) for start, end in itertools.pairwise(bounds))
    return [part for part in found if len(part.text) > 1]


def is_plain(surface: str) -> bool:
    """Letters, digits and vowel signs only: nothing to take apart at joiners."""
    return surface.isalnum() or (not surface.isascii() and _PLAIN.fullmatch(surface) is not None)


@dataclass(frozen=True, slots=True)
class Literal:
    """A surface form that is more than a word.

    `wholes` are the spellings under which it is found as itself, `joined` those under which it is found as a word, and
    `pieces` its words. `word` marks a word with an apostrophe or a hyphen, which is a word and no identifier.
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
    if "'" in whole:
        if (clitic := _CLITIC.search(whole)) and (base := whole[: clitic.start()]).isalnum():
            return Literal((whole,), (), (Part(0, len(surface), base),), word=True)
        if elided := _ELISION.match(whole):  # l'avion is a spelling of avion, which may be no plain word itself
            rest = whole[elided.end() :]
            return Literal((whole,), (), tuple(piece for piece in pieces[1:] if piece.text in rest), word=True)
    if grouped := _GROUPED.match(whole):  # an amount: its groups of three mean nothing apart
        return _amount(whole, *(grouped[1], grouped[2]) if grouped[1] else (grouped[3], grouped[4]))
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
    elif len(pieces) > 1 and (
        "-" in whole or "&" in whole or "'" in whole or all(len(piece.text) == 1 for piece in pieces)
    ):
        joined.append("".join(piece.text for piece in pieces))  # email, usa, mx2041b
    if release := _RELEASE.match(whole):
        joined.append(release[1])
    if "++" in whole:
        wholes.append(whole.rstrip("0123456789"))
    hyphenated = len(pieces) > 1 and all(len(p.text) > 1 and p.text.isalpha() for p in pieces) and "-" in whole
    return Literal(tuple(dict.fromkeys(wholes)), tuple(dict.fromkeys(joined)), tuple(pieces[:_MAX_PARTS]), hyphenated)


def _amount(whole: str, groups: str, decimals: str | None) -> Literal:
    digits = re.sub(r"\D", "", groups)
    spoken = dict.fromkeys((digits + (decimals or "").replace(",", "."), digits))
    heads = groups.split(".") if "." in whole and not decimals else []  # may be an address after all: 10.100.200.101
    near = [".".join(heads[:size]) for size in range(2, max(3, len(heads)))] if heads else []
    return Literal((whole, next(iter(spoken))), (*spoken, *near), ())
