"""What slashes hold together: paths and URLs without their scheme.

Every pattern here is anchored so that it is tried once for each stretch between slashes: one that may begin at any
character costs the square of a long line's length.
"""

import re
from collections.abc import Iterator

from memoria_search.index.fold import fold

_STRETCH = re.compile(r"[\w.\-@+~/\\]+")
_SLASH = re.compile(r"[/\\]")
# From the stretch's start or a slash; a later match of a very long path begins at the slash where the last one ended.
_PATH = re.compile(r"(?:(?<![^/\\])[^/\\]*)?(?:[/\\][^/\\]+){2,40}|[/\\][^/\\]+")
_DRIVE = re.compile(r"(?<!\w)[A-Za-z]:")


def paths(word: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, folded whole) of each path in what stands between two white spaces, offsets from its start."""
    if not _SLASH.search(word):
        return
    for stretch in _STRETCH.finditer(word):
        for match in _PATH.finditer(stretch.group()):
            start, end = stretch.start() + match.start(), stretch.start() + match.end()
            if start == stretch.start() and start > 1 and _DRIVE.match(word, start - 2):
                start -= 2
            whole = fold(word[start:end].replace("\\", "/")).strip("/.")
            if "/" in whole:
                yield start, end, whole
