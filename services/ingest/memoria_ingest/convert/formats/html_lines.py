"""An HTML tree as lines: Markdown headings, lists, tables, fences. Walked without recursion, however deep it nests."""

import re
from collections.abc import Iterator

from lxml import etree

SKIP = frozenset({"script", "style", "template", "noscript", "svg", "head", "iframe", "object", "canvas"})
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
BLOCK = frozenset(
    {"p", "div", "section", "article", "main", "header", "footer", "aside", "nav", "blockquote", "figure", "ul", "ol"}
    | {"dl", "dt", "dd", "li", "form", "address", "details", "summary", "table", "tr", "pre", "hr", "figcaption"}
    | {"caption", "center", "fieldset", "legend", "option"}
)
_CELLS = frozenset({"td", "th"})
_SPACE = re.compile(r"[ \t\r\n\f]+")  # not U+00A0: a no-break space is the author's


def lines_of(root: etree._Element) -> Iterator[str]:
    """Lines of text, blank ones between blocks."""
    walk = _Walk()
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag if isinstance(element.tag, str) else ""
        yield from walk.start(element, tag) if event == "start" else walk.end(element, tag)
    yield from walk.flush()


class _Walk:
    def __init__(self) -> None:
        self._line: list[str] = []
        self._prefix = ""
        self._skipping = 0
        self._pre = 0
        self._fence = ""
        self._row: etree._Element | None = None  # the row whose cells go on one line
        self._headed: set[etree._Element] = set()  # tables whose first row has been written

    def flush(self) -> Iterator[str]:
        """The line so far."""
        text = "".join(self._line).strip(" ")
        self._line.clear()
        if text:
            if not self._prefix and text.startswith("#") and self._row is None:
                text = "\\" + text  # the page's own sign, not a heading of ours
            yield self._prefix + text
            self._prefix = ""

    def start(self, element: etree._Element, tag: str) -> Iterator[str]:
        """An element begins."""
        self._skipping += tag in SKIP
        if self._skipping:
            return
        if self._row is not None:
            # Whatever stands in a row stays on its line.
            if tag in _CELLS and element.getparent() is self._row:
                self._line.append("| ")
            elif tag in BLOCK or tag == "br":
                self._line.append(" ")
        elif tag == "tr" and _is_row_of_cells(element):
            yield from self.flush()
            self._prefix = ""
            self._row = element
        elif tag in HEADINGS:
            yield from self.flush()
            yield ""
            self._prefix = "#" * int(tag[1]) + " "
        elif tag == "li":
            yield from self.flush()
            self._prefix = "- "
        elif tag == "pre":
            yield from self.flush()
            if not self._pre:
                # Longer than any run in it, so that a page about Markdown cannot close it from within.
                runs = re.findall(r"`{3,}", "".join(element.itertext()))
                self._fence = "`" * max(3, 1 + max(map(len, runs), default=0))
                yield ""
                yield self._fence
            self._pre += 1
        elif tag == "br" or tag in BLOCK or tag in _CELLS:
            yield from self._break(quiet=tag in {"br", "tr"})
        if element.text:
            yield from self._text(element.text)

    def end(self, element: etree._Element, tag: str) -> Iterator[str]:
        """An element ends, and what follows it up to the next tag."""
        if tag in SKIP:
            self._skipping -= 1
        elif self._skipping:
            return
        elif self._row is not None and element is self._row:
            self._line.append(" |")
            yield from self.flush()
            self._row = None
            table = next(element.iterancestors("table"), None)
            if table is not None and table not in self._headed:
                self._headed.add(table)
                cells = sum(cell.tag in _CELLS for cell in element)
                if next(table.iter("tr")) is element:
                    yield "|" + " --- |" * cells
        elif self._row is not None:
            if tag in _CELLS:
                self._line.append(" ")
        elif tag == "pre":
            self._pre -= 1
            yield from self._break(quiet=True)
            if not self._pre:
                yield self._fence
                yield ""
        elif tag in BLOCK or tag in HEADINGS or tag in _CELLS:
            yield from self._break(quiet=tag in {"li", "tr"})
            if tag != "li":
                self._prefix = ""
        if element.tail and not self._skipping:
            yield from self._text(element.tail)

    def _break(self, *, quiet: bool) -> Iterator[str]:
        if self._pre:
            if self._line:
                yield "".join(self._line)
                self._line.clear()
            return
        yield from self.flush()
        if not quiet:
            yield ""

    def _text(self, text: str) -> Iterator[str]:
        if not self._pre or self._row is not None:
            flat = _SPACE.sub(" ", text)
            if flat.strip(" ") or (self._line and not self._line[-1].endswith(" ")):
                self._line.append(flat if self._line else flat.lstrip(" "))
            return
        first, *rest = text.split("\n")
        self._line.append(first)
        for following in rest:
            yield "".join(self._line)
            self._line.clear()
            self._line.append(following)


def _is_row_of_cells(row: etree._Element) -> bool:
    """Whether a row is data: two cells or more, and none that lays out headings or a table of its own.

    Mails and old pages are laid out in tables; a whole page must not become one line.
    """
    if sum(cell.tag in _CELLS for cell in row) < 2:
        return False
    return next(row.iterdescendants("table", "pre", *HEADINGS), None) is None
