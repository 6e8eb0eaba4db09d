"""DOCX by way of mammoth's HTML, so that headings, lists and tables keep their meaning."""

import io
import zipfile

import mammoth
from lxml import etree

from memoria_ingest.convert.formats.html import html_to_text
from memoria_ingest.convert.result import Converted

_TITLE = "{http://purl.org/dc/elements/1.1/}title"


def convert(data: bytes, kind: str) -> Converted:
    """The document's text; pictures are left out."""
    result = mammoth.convert_to_html(
        io.BytesIO(data),
        convert_image=mammoth.images.img_element(lambda image: {"src": ""}),
        external_file_access=False,
        style_map="p[style-name='Title'] => h1:fresh",
    )
    text = html_to_text(result.value)[0] if result.value.strip() else ""
    title = next((line[2:].strip() for line in text.split("\n", 50)[:50] if line.startswith("# ")), "")
    return Converted(text, core_title(data) or title)


def core_title(data: bytes) -> str:
    """The title in an Office package's core properties, empty where there is none."""
    try:
        core = zipfile.ZipFile(io.BytesIO(data)).read("docProps/core.xml")
        root = etree.fromstring(core, etree.XMLParser(resolve_entities=False, no_network=True))
    except (KeyError, zipfile.BadZipFile, etree.XMLSyntaxError, ValueError, NotImplementedError):
        return ""
    return (root.findtext(_TITLE) or "").strip()
