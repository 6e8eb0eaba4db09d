"""HTML to text with Markdown headings, lists and tables. Nothing is fetched, no script or style is kept."""

import re
from collections.abc import Iterator

from lxml import etree
from lxml import html as lxml_html

from memoria_ingest.convert.decode import decode
from memoria_ingest.convert.result import Converted, Refused

_SKIP = frozenset({"script", "style", "template", "noscript", "svg", "head", "iframe", "object", "canvas"})
_BLOCK = frozenset(
    {"p", "div", "section", "article", "main", "header", "footer", "aside", "nav", "blockquote", "figure", "ul", "ol"}
    | {"dl", "dt", "dd", "li", "form", "address", "details", "summary", "table", "tr", "pre", "hr", "figcaption"}
)
_SPACE = re.compile(r"[ \t\r\n\f]+")  # not U+00A0: a no-break space is the author's
_META_CHARSET = re.compile(rb"<meta[^>]+charset=[\"']?([A-Za-z0-9_-]+)", re.IGNORECASE)


def convert(data: bytes, kind: str) -> Converted:
    """The page's text; its title is the `title` element's, or the first heading's."""
    declared = _META_CHARSET.search(data[:4096])
    warnings: list[str] = []
    try:
        source = data.decode(declared.group(1).decode()) if declared else ""
    except (LookupError, UnicodeDecodeError):
        source = ""
    if not source:
        source, warnings = decode(data)
    text, title = html_to_text(source)
    return Converted(text, title, warnings=tuple(warnings))


def html_to_text(source: str) -> tuple[str, str]:
    """(text, title) of an HTML document or fragment. Raises Refused for what even a lenient parser finds nothing in."""
    parser = lxml_html.HTMLParser(no_network=True, huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        # A leading declaration of encoding would be refused by lxml for text that is decoded already.
        root = lxml_html.document_fromstring(re.sub(r"\A\s*<\?xml[^>]*\?>", "", source), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        raise Refused("There is no readable text in this HTML file.") from None
    title = _SPACE.sub(" ", root.findtext(".//title") or "").strip()
    text = "\n".join(_lines(root))
    text = re.sub(r"\n{3,}", "\n\n", text).strip("\n")
    return text, title


def _lines(root: etree._Element) -> Iterator[str]:
    """Lines of text, blank ones between blocks. Walks without recursion: nesting is the sender's to choose."""
    line: list[str] = []
    prefix = ""
    preformatted = skipping = in_cell = 0

    def flush() -> Iterator[str]:
        nonlocal prefix
        text = "".join(line).strip(" ")
        line.clear()
        if text:
            yield prefix + text
            prefix = ""

    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag if isinstance(element.tag, str) else ""
        if event == "start":
            skipping += tag in _SKIP
            if skipping:
                continue
            if in_cell and tag not in {"td", "th", "tr", "table"}:
                # Whatever stands in a cell stays in its row.
                if tag in _BLOCK or tag == "br":
                    line.append(" ")
            elif tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
                yield from flush()
                yield ""
                prefix = "#" * int(tag[1]) + " "
            elif tag == "li":
                yield from flush()
                prefix = "- "
            elif tag in {"td", "th"}:
                line.append("| ")
                in_cell += 1
            elif tag == "br":
                yield from flush()
            elif tag in _BLOCK:
                yield from flush()
                if tag != "tr":
                    yield ""
            if tag == "pre" and not in_cell:
                preformatted += 1
                yield "```"
            if element.text:
                yield from _text(element.text, preformatted, line)
        else:
            if tag in _SKIP:
                skipping -= 1
            elif not skipping:
                if tag == "tr":
                    if line:
                        line.append("|")
                    cells = sum(cell.tag in {"td", "th"} for cell in element)
                    yield from flush()
                    if cells and element.getprevious() is None and _first_of_table(element):
                        yield "|" + " --- |" * cells
                elif tag in {"td", "th"}:
                    line.append(" ")
                    in_cell -= 1
                elif in_cell:
                    pass  # as above: the row goes on
                elif tag in _BLOCK or tag in {"h1", "h2", "h3", "h4", "h5", "h6"}:
                    yield from flush()
                    if tag != "li":
                        prefix = ""
                        yield ""
                if tag == "pre" and not in_cell:
                    preformatted -= 1
                    yield "```"
            if element.tail and not skipping:
                yield from _text(element.tail, preformatted, line)
    yield from flush()


def _first_of_table(row: etree._Element) -> bool:
    parent = row.getparent()
    return parent is not None and (parent.tag == "table" or parent.getprevious() is None or parent.tag == "thead")


def _text(text: str, preformatted: int, line: list[str]) -> Iterator[str]:
    if not preformatted:
        flat = _SPACE.sub(" ", text)
        if flat.strip(" ") or (line and not line[-1].endswith(" ")):
            line.append(flat if line else flat.lstrip(" "))
        return
    first, *rest = text.split("\n")
    line.append(first)
    for following in rest:
        yield "".join(line)
        line.clear()
        line.append(following)
