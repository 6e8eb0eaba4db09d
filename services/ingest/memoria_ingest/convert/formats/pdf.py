"""PDF, page by page, with pdfium."""

import pypdfium2

from memoria_ingest.convert.result import Converted, Refused

_MAX_PAGES = 5000
_NO_TITLES = frozenset({"untitled", "untitled document", "(anonymous)", "document"})  # what writers put for none


def convert(data: bytes, kind: str) -> Converted:
    """The text under one heading a page, so that a passage says where it stands."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise Refused("This PDF is protected by a password; save it without one.") from None
        raise Refused("This PDF is damaged and cannot be read.") from None
    if len(document) > _MAX_PAGES:
        raise Refused(f"This PDF has more than {_MAX_PAGES} pages; split it.")
    warnings: list[str] = []
    pages: list[str] = []
    unread = 0
    for number in range(len(document)):
        try:
            text = document[number].get_textpage().get_text_bounded()
        except pypdfium2.PdfiumError:
            unread += 1
            continue
        text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufffe", "").strip()
        if text:
            # A line that begins with `#` is the page's, not a heading of ours.
            body = "\n".join("\\" + line if line.startswith("#") else line for line in text.split("\n"))
            pages.append(f"## Page {number + 1}\n\n{body}")
    if unread:
        warnings.append("Some pages of this PDF are damaged and were left out.")
    title = str(document.get_metadata_dict().get("Title", "")).strip()
    if title.lower() in _NO_TITLES:
        title = ""
    return Converted("\n\n".join(pages), title, warnings=tuple(warnings))
