"""HTML's text without its nesting, for pages that nest deeper than a tree may be."""

from collections.abc import Iterator
from html.parser import HTMLParser

_SKIP = frozenset({"script", "style", "template", "noscript", "svg", "head", "title"})
_INLINE = frozenset({"a", "b", "i", "u", "em", "strong", "span", "font", "small", "code", "sub", "sup", "mark", "wbr"})


class _Flat(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._skipping = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._skipping += tag in _SKIP
        if tag not in _INLINE:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._skipping = max(0, self._skipping - (tag in _SKIP))
        if tag not in _INLINE:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self.parts.append(data)


def flat_lines(source: str) -> Iterator[str]:
    """The lines that are not blank, a paragraph each. A line that looks like a heading is escaped: it is none."""
    parser = _Flat()
    parser.feed(source)
    parser.close()
    for line in "".join(parser.parts).split("\n"):
        text = line.strip(" \t\r\f")
        if text:
            yield "\\" + text if text.startswith("#") else text
            yield ""
