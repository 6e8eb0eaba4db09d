"""The text that benchmarks search: documentation and sources found on this machine, cut into chunks of some 1.3 KB.

The same machine gives the same corpus. It is kept in a cache folder (MEMORIA_BENCH_CACHE, or one in the system's place
for temporary files), never in the tree.
"""

import gzip
import hashlib
import html
import json
import mmap
import os
import random
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

CHUNK_CHARS = 1325  # the mean of the chunks that the design was measured with
CHUNKS_PER_DOCUMENT = 12
DISTINCT_AT_MOST = 330_000  # what is read at most; more is made of these

_ROOTS = ("/usr/share/doc", "/usr/share/man", "/usr/share", "/usr/lib", "/usr/local", "/opt", sys.base_prefix)
_DOCUMENTATION = (".rst", ".md", ".txt", ".html", ".htm", ".pod")
_LARGEST = 2 << 20  # longer files are tables and fixtures rather than text
_TAG = re.compile(r"<(script|style).*?</\1>|<[^>]+>", re.DOTALL | re.IGNORECASE)
_ROFF = re.compile(r"^\.\\\".*$|^[.']\s*[A-Za-z]{1,3}\b ?|\\f[A-Z]|\\[&|^-]|\\\(..", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]{3,}")
_TRANSLATED = re.compile(r"/man/(?!man\d)[^/]+/")
"""Manual pages of other languages: some machines have them in fifteen, and no team writes in so many."""
_VERSION = 2


@dataclass(frozen=True, slots=True)
class Corpus:
    """`texts`: the chunks. `distinct`: how many of them stand on this machine; the rest was drawn from their lines."""

    texts: Sequence[str]
    distinct: int
    said: str

    def queries(self, count: int, seed: int = 7) -> list[str]:
        """`count` times 2 to 6 words as somebody has them in mind: from one place of one chunk, in any order."""
        drawn = random.Random(seed)
        found: list[str] = []
        while len(found) < count:
            words = _WORD.findall(self.texts[drawn.randrange(len(self.texts))])
            wanted = drawn.randint(2, 6)
            if len(words) < 40:
                continue
            at = drawn.randrange(len(words) - 30)
            found.append(" ".join(drawn.sample(words[at : at + 30], wanted)))
        return found


class _Stored(Sequence[str]):
    """Texts in one file, read where they lie."""

    def __init__(self, path: Path, offsets: np.ndarray) -> None:
        self._offsets = offsets
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, at):  # an index or a slice
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        if not 0 <= at < len(self):
            raise IndexError(at)
        return self._map[self._offsets[at] : self._offsets[at + 1]].decode()


def corpus(count: int) -> Corpus:
    """The first `count` chunks: a shuffle of what is distinct, then what is made of it."""
    folder = Path(os.environ.get("MEMORIA_BENCH_CACHE", Path(tempfile.gettempdir()) / "memoria-bench"))
    folder.mkdir(parents=True, exist_ok=True)
    real = folder / f"distinct-{_VERSION}"
    if not real.with_suffix(".json").exists():
        _write(real, _distinct(), {"kinds": _KINDS})
    texts, about = _read(real)
    kinds = ", ".join(f"{number} from {kind}" for kind, number in about["kinds"].items())
    said = f"{min(count, len(texts))} distinct chunks (of {len(texts)} found on this machine: {kinds})"
    if count > len(texts):
        made = folder / f"made-{_VERSION}-{count}"
        if not made.with_suffix(".json").exists():
            _write(made, _derived(texts, count), {})
        said += (
            f" and {count - len(texts)} made of their lines in another order, with new words at the rate of the rest"
        )
        return Corpus(_read(made)[0], len(texts), said)
    return Corpus(_First(texts, count), count, said)


class _First(Sequence[str]):
    def __init__(self, texts: Sequence[str], count: int) -> None:
        self._texts, self._count = texts, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at):  # an index or a slice
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(self._count))]
        if not 0 <= at < self._count:
            raise IndexError(at)
        return self._texts[at]


def _write(path: Path, texts: Iterator[str], about: dict) -> None:
    offsets = [0]
    with path.with_suffix(".tmp").open("wb") as file:
        for text in texts:
            offsets.append(offsets[-1] + file.write(text.encode("utf-8", "replace")))
    np.save(path.with_suffix(".npy"), np.array(offsets))
    path.with_suffix(".tmp").rename(path.with_suffix(".text"))
    path.with_suffix(".json").write_text(json.dumps(about))


def _read(path: Path) -> tuple[_Stored, dict]:
    offsets = np.load(path.with_suffix(".npy"))
    return _Stored(path.with_suffix(".text"), offsets), json.loads(path.with_suffix(".json").read_text())


_KINDS: dict[str, int] = {}


def _distinct() -> Iterator[str]:
    """Documentation first, then Python sources; shuffled, so that any first part is like the whole."""
    _KINDS.clear()
    seen: set[bytes] = set()
    chunks: list[str] = []
    for kind, paths in (("documentation and manual pages", _files(True)), ("Python sources", _files(False))):
        before = len(chunks)
        for path in paths:
            for chunk in _chunks(_text(path)):
                digest = hashlib.blake2b(chunk.encode("utf-8", "replace"), digest_size=12).digest()
                if digest not in seen:
                    seen.add(digest)
                    chunks.append(chunk)
            if len(chunks) >= DISTINCT_AT_MOST:
                break
        _KINDS[kind] = len(chunks) - before
    random.Random(1).shuffle(chunks)
    yield from chunks


def _files(documentation: bool) -> Iterator[str]:
    seen: set[str] = set()
    for root in _ROOTS:
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                manual = name.endswith(".gz") and ("/man/man" in path or "changelog" not in name)
                wanted = (name.endswith(_DOCUMENTATION) or manual) if documentation else name.endswith(".py")
                if not wanted or path in seen or _TRANSLATED.search(path):
                    continue
                if os.path.isfile(path) and not os.path.islink(path):
                    seen.add(path)
                    if os.path.getsize(path) <= _LARGEST:
                        yield path


def _text(path: str) -> str:
    try:
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
            text = file.read(_LARGEST).decode("utf-8", "replace")
    except (OSError, EOFError, gzip.BadGzipFile):
        return ""
    if "\0" in text:
        return ""
    if path.endswith((".html", ".htm")):
        return html.unescape(_TAG.sub(" ", text))
    return _ROFF.sub("", text) if "/man/" in path else text


def _chunks(text: str) -> Iterator[str]:
    """Whole lines up to the size of a chunk; a remainder of less than half of one is left out."""
    held: list[str] = []
    size = 0
    for line in text.splitlines():
        line = line.rstrip()[:CHUNK_CHARS]
        if size + len(line) > CHUNK_CHARS:
            yield "\n".join(held)
            held, size = [], 0
        held.append(line)
        size += len(line) + 1
    if size > CHUNK_CHARS // 2:
        yield "\n".join(held)


def _derived(texts: Sequence[str], count: int) -> Iterator[str]:
    """The texts themselves, then chunks of lines drawn from five of them each.

    As many words of a derived chunk are new to the corpus as of the last tenth of the real ones, so that the vocabulary
    goes on growing: each is a word with a suffix of its own.
    """
    known: set[str] = set()
    fresh = 0
    for at, text in enumerate(texts):
        words = set(_WORD.findall(text))
        if at >= 0.9 * len(texts):
            fresh += len(words - known)
        known |= words
        yield text
    rate = fresh / (0.1 * len(texts))
    drawn = random.Random(2)
    for at in range(len(texts), count):
        lines: list[str] = []
        size = 0
        while size < CHUNK_CHARS:
            source = texts[drawn.randrange(len(texts))].split("\n")
            first = drawn.randrange(len(source))
            taken = source[first : first + max(3, len(source) // 5)]
            lines += taken
            size += sum(map(len, taken)) + len(taken)
        text = "\n".join(lines)[:CHUNK_CHARS]
        coined = int(rate) + (drawn.random() < rate % 1)
        for _ in range(coined):
            word = drawn.choice(_WORD.findall(text) or ["word"])
            text = text.replace(word, f"{word}{_letters(at)}", 1)
        yield text


def _letters(number: int) -> str:
    """A number as letters: digits would make another kind of word."""
    made = ""
    while number:
        number, rest = divmod(number, 20)
        made += "bcdfghjklmnpqrstvwxz"[rest]
    return made
