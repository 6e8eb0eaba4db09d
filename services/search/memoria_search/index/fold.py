"""Folding: the form in which two spellings of one word are the same word.

NFKC, then case folding, then the accents of Latin, Greek and Cyrillic go, and the vowel signs of Arabic and Hebrew.
Marks that carry meaning in other scripts stay: without its vowel signs a Thai or Devanagari word is another word.
"""

import re
import unicodedata
from collections.abc import Iterator

MAX_TERM = 64
"""Characters of a term that are kept. A longer one is a blob or a hash; both sides cut it alike, so it is found."""

_CONSIDERED = 4 * MAX_TERM  # characters, for some fall away

_ACCENTS = re.compile(
    r"[\u0300-\u036f\u1dc4-\u1dff\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]+"
)
_DROPPED = re.compile(r"[\u00ad\u0640\u200b-\u200d\u2060\ufeff\s]+")
_DASHES = re.compile(r"[\u2010-\u2013\u2212\ufe63\uff0d]")
_QUOTES = re.compile(r"[\u2018\u2019\u201b\u2032\u02bc\uff07\u00b4`]")

# Letters that have no decomposition and that people type without their stroke.
_STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ة": "ه", "ى": "ي"}
)


# "ae", "oe", "ue" where they can spell an umlaut: not after a vowel or q ("neue", "queue"), and before a consonant
# ("value"). "Mueller" then meets "Muller", which is also what folding makes of "Müller"; "poet" meeting "pot" is the
# price, and the exact field tells those two apart.
_UMLAUT = re.compile(r"(?<![aeiouq])([aou])e(?=[b-df-hj-np-tv-z])")

# A breve makes another letter of the Cyrillic i, one that endings are known by: it is no accent.
_SHORT_I, _KEPT = "\u0439", "\ue000"


def respell(stem: str) -> str:
    """A folded stem in the spelling that its spellings with ä, ae and a share (ö and ü likewise)."""
    # Three looks cost a tenth of the pattern, and hardly any word passes them.
    return _UMLAUT.sub(r"\1", stem) if "ae" in stem or "oe" in stem or "ue" in stem else stem


def fold(text: str) -> str:
    """The match form of one token; at most MAX_TERM characters, never with white space inside."""
    if text.isascii():
        return text.lower()[:MAX_TERM]
    text = text[:_CONSIDERED]  # before all else: putting a long run of marks in order costs the square of its length
    text = _QUOTES.sub("'", _DASHES.sub("-", unicodedata.normalize("NFKC", text)))
    text = unicodedata.normalize("NFKC", _DROPPED.sub("", text)).casefold()
    kept = text.replace(_KEPT, "").replace(_SHORT_I, _KEPT)
    text = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", kept)))
    return _DROPPED.sub("", text).translate(_STROKES).replace(_KEPT, _SHORT_I)[:MAX_TERM]


def _mark_ranges() -> Iterator[str]:
    """The combining marks of the basic plane as ranges for a character class; Python's `\\w` leaves them out."""
    start = None
    for code in range(0x300, 0x10000):
        is_mark = unicodedata.category(chr(code)) in ("Mn", "Mc")
        if is_mark and start is None:
            start = code
        elif not is_mark and start is not None:
            yield f"\\u{start:04x}-\\u{code - 1:04x}"
            start = None


MARKS = "".join(_mark_ranges())
"""For use inside a regular expression's character class."""
