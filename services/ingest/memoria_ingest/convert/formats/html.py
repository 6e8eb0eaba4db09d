"""HTML to text with Markdown headings, lists and tables. Nothing is fetched, no script or style is kept."""

import re

from lxml import etree
from lxml import html as lxml_html

from memoria_ingest.convert.decode import decode
from memoria_ingest.convert.formats.html_flat import flat_lines
from memoria_ingest.convert.formats.html_lines import lines_of
from memoria_ingest.convert.result import Converted, Refused

_SPACE = re.compile(r"[ \t\r\n\f]+")
_META_CHARSET = re.compile(rb"<meta[^>]+charset=[\"']?([A-Za-z0-9_-]+)", re.IGNORECASE)
_XML_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_LIMIT = "ERR_RESOURCE_LIMIT"
_TOO_DEEP = "This page nests too deep for its layout to be read; its text was taken line by line."


def convert(data: bytes, kind: str) -> Converted:
    """The page's text; its title is the `title` element's."""
    declared = _META_CHARSET.search(data[:4096])
    source, warnings = decode(data, declared.group(1).decode() if declared else "")
    text, title, more = html_to_text(source)
    return Converted(text, title, warnings=(*warnings, *more))


def html_to_text(source: str) -> tuple[str, str, list[str]]:
    """(text, title, warnings) of an HTML document or fragment. Raises Refused where a lenient parser finds nothing."""
    # libxml2 stops at 10 MB of text in one element unless told that trees may be huge; the child's own limits hold.
    parser = lxml_html.HTMLParser(no_network=True, huge_tree=True, remove_comments=True, remove_pis=True)
    declaration = _XML_DECLARATION.match(source)  # lxml refuses one in text that is decoded already
    try:
        root = lxml_html.document_fromstring(source[declaration.end() if declaration else 0 :], parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        raise Refused("There is no readable text in this HTML file.") from None
    title = _SPACE.sub(" ", root.findtext(".//title") or "").strip()
    # Past a depth of 2,048 it drops everything that follows, and says so only here.
    too_deep = any(entry.type_name == _LIMIT for entry in parser.error_log)
    text = "\n".join(flat_lines(source) if too_deep else lines_of(root))
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n"), title, [_TOO_DEEP] if too_deep else []
