"""Which format a file is in: its ending says, its first bytes must agree."""

import io
import zipfile

from memoria_chassis.errors import Kind
from memoria_ingest.convert.result import Refused

ENDINGS = {
    "md": "markdown",
    "markdown": "markdown",
    "txt": "text",
    "text": "text",
    "log": "log",
    "html": "html",
    "htm": "html",
    "xhtml": "html",
    "pdf": "pdf",
    "docx": "docx",
    "xlsx": "xlsx",
    "xlsm": "xlsx",
    "pptx": "pptx",
    "csv": "csv",
    "tsv": "csv",
    "eml": "eml",
}

_PARTS = {"docx": "word/document.xml", "xlsx": "xl/workbook.xml", "pptx": "ppt/presentation.xml"}
_NAMES = {"docx": "Word document", "xlsx": "Excel workbook", "pptx": "PowerPoint presentation"}

MAX_UNPACKED = 256 * 1024 * 1024
_MAX_MEMBERS = 10_000


def kind_of(name: str, data: bytes) -> str:
    """The format of a file called `name`. Raises Refused with a sentence for what is not read."""
    if not data:
        raise Refused("This file is empty.")
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    kind = ENDINGS.get(ending) or _sniff(data)
    if kind == "pdf" and b"%PDF-" not in data[:1024]:
        raise Refused("This file is called .pdf but is not a PDF.")
    if kind in _PARTS:
        check_package(data, kind)
    return kind


def _sniff(data: bytes) -> str:
    """For endings we do not know."""
    if data.startswith(b"%PDF-"):
        return "pdf"
    if data.startswith(b"PK\x03\x04"):
        try:
            names = set(zipfile.ZipFile(io.BytesIO(data)).namelist())
        except Exception:  # on a damaged directory zipfile raises nearly anything
            names = set()
        for kind, part in _PARTS.items():
            if part in names:
                return kind
    head = data[:4096]
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return "text"
    control = sum(byte < 32 and byte not in (9, 10, 12, 13) for byte in head)
    if control > len(head) // 100:
        raise Refused(
            "This kind of file is not read. memoria reads Markdown, text, HTML, PDF, DOCX, XLSX, PPTX, CSV and EML.",
            Kind.UNIMPLEMENTED,
        )
    return "text"


def check_package(data: bytes, kind: str) -> None:
    """Refuse what is no Office package, and what unpacks to more than is ever needed, before a parser opens it."""
    name = _NAMES[kind]
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise Refused(f"This {name} is encrypted or in the old binary format; save it as .{kind} without a password.")
    try:
        members = zipfile.ZipFile(io.BytesIO(data)).infolist()
    except Exception:  # on a damaged directory zipfile raises nearly anything
        raise Refused(f"This {name} is damaged: it is not a readable package.") from None
    unpacked = sum(member.file_size for member in members)
    if unpacked > MAX_UNPACKED or len(members) > _MAX_MEMBERS:
        raise Refused(f"This {name} unpacks to far more than it should, and was refused.", Kind.TOO_LARGE)
    if _PARTS[kind] not in {member.filename for member in members}:
        raise Refused(f"This file is called .{kind} but is no {name}.")
