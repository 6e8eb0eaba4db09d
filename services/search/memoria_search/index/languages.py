"""Which languages a text is stemmed as. Looks at that text alone: an index must not depend on what else it holds.

A text that is not surely in one language is stemmed as two: a title of three words is too short to know, and a wrong
guess alone would hide it.
"""

import re
import threading
from collections.abc import Callable
from functools import lru_cache

import Stemmer
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from memoria_search.index.fold import MARKS, respell
from memoria_search.index.stopwords import FUNCTION_WORDS, STOPS

ENGLISH, GERMAN, ARABIC = "en", "de", "ar"
MARK = "~"
"""Stands between a stem and its language, except English: "plan~es" is no English "plan". No surface form has it."""

_ALGORITHMS = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "it": "italian",
    "pt": "portuguese",
    "nl": "dutch",
    "pl": "polish",
    "sv": "swedish",
    "da": "danish",
    "no": "norwegian",
    "fi": "finnish",
    "hu": "hungarian",
    "ro": "romanian",
    "cs": "czech",
    "ru": "russian",
    "tr": "turkish",
    "el": "greek",
    "ar": "arabic",
    "fa": "persian",
    "hi": "hindi",
}

LANGUAGES = tuple(_ALGORITHMS)
"""ISO 639-1 codes, English first."""

_SAMPLE = 400  # characters, which take the model 76 µs; a language shows in the first sentences
_SURE, _LIKELY = 0.9, 0.4  # normalised probabilities; a single long word reaches the first, chance never the second
_SHORT = 80  # letters; of a longer text the model is sure, or it is code and tables, which are nobody's language
_LETTERS = re.compile(f"[^\\W\\d_](?:[^\\W\\d_]|[{MARKS}])+")
"""A word of letters, and vowel signs, as Devanagari has them."""
_FIRST_SPACELESS = "\u0e00"  # Thai and what comes after it is found by pairs and never stemmed
_ENGLISH_ONLY = frozenset(
    ("the", "and", "that", "with", "this", "from", "which", "have", "been", "are", "by", "it", "has", "were", "will")
)
_FOREIGN = FUNCTION_WORDS - STOPS[ENGLISH]
_FEW, _LONG = 3, 300
"""A text so long, in ASCII, with fewer function words of other languages than that is taken for English, code or a
table. The model took one in thirty of such for something else, and each language of an index costs every query."""
_PLAINLY = 3  # of the first, distinct, and none of the second: English prose, and the model need not be asked


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    """The model that ships with py3langid, asked about our languages only. Loading takes 0.6 s."""
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(LANGUAGES))
    return identifier


def load() -> None:
    """Load the model now: the first search would wait for it."""
    _identifier()


def mark(language: str) -> str:
    """The exact term that says that a chunk was stemmed in a language, so that a query need not try the others."""
    return MARK + language


def detect(text: str) -> tuple[str, ...]:
    """One or two codes of LANGUAGES, the first the likelier; English where nothing speaks for another."""
    runs = text.split()
    foreign = len(_FOREIGN.intersection(runs))
    if not foreign and len(_ENGLISH_ONLY.intersection(runs)) >= _PLAINLY:
        return (ENGLISH,)
    if foreign < _FEW and len(text) > _LONG and text.isascii():
        return (ENGLISH,)
    words = [word for word in _LETTERS.findall(text, 0, _SAMPLE) if word < _FIRST_SPACELESS]
    if not words:
        return (ENGLISH,)
    sample = " ".join(words)
    language, probability = _identifier().classify(sample)
    likely = round(probability, 2)  # the last bits of a dot product depend on the processor
    if language == ENGLISH or likely < (_LIKELY if len(sample) <= _SHORT else _SURE):
        return (ENGLISH,)
    return (language,) if likely >= _SURE else (ENGLISH, language)


class Stemmers:
    """Snowball stemmers. One belongs to one thread at a time, so each thread has its own."""

    def __init__(self) -> None:
        self._local = threading.local()

    def every(self, word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
        """The distinct stems of a folded word in those of `languages` that do not stop at it."""
        if not word.isalpha():
            return tuple(dict.fromkeys(self.stem(word, code) for code in languages if word not in STOPS.get(code, ())))
        try:
            each = self._local.each[languages]
        except (AttributeError, KeyError):
            each = self._each(languages)
        # Written out, because a query's words pass here for each language that the index holds.
        found: dict[str, None] = {}
        for stem, stops, suffix in each:
            if word not in stops:
                found[respell(stem(word) or word) + suffix] = None
        return tuple(found)

    def stem(self, word: str, language: str) -> str:
        """The stem of a folded word, umlauts respelled, its language marked."""
        if not word.isalpha() and not _LETTERS.fullmatch(word):  # 2041 is no word of any language
            return respell(word)
        try:
            stem = self._local.made[language]
        except (AttributeError, KeyError):
            stem = self._made(language)
        found = respell(stem(word) or word)
        return found if language == ENGLISH else found + mark(language)

    def _each(self, languages: tuple[str, ...]) -> list[tuple[Callable[[str], str], frozenset[str], str]]:
        each = self._local.__dict__.setdefault("each", {})
        each[languages] = [
            (self._made(code), STOPS.get(code, frozenset()), "" if code == ENGLISH else mark(code))
            for code in languages
        ]
        return each[languages]

    def _made(self, language: str) -> Callable[[str], str]:
        made = self._local.__dict__.setdefault("made", {})
        # Without its own memory of words, which is slower than stemming.
        stem = Stemmer.Stemmer(_ALGORITHMS[language], 0).stemWord
        made[language] = (lambda word: stem(_feminine(word))) if language == ARABIC else stem
        return made[language]


def _feminine(word: str) -> str:
    """An Arabic word with its last letter as the stemmer knows it: folding has made one of the two that sound alike,
    as people do, and the other is an ending to it."""
    return word[:-1] + "\u0629" if word.endswith("\u0647") else word
