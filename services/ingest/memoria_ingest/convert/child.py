"""The conversion child: a name and bytes on standard input, one JSON document on standard output."""

import importlib
import mimetypes
import os
import sys
from collections.abc import Callable

from memoria_chassis.errors import ServiceError
from memoria_ingest.convert.confine import confine
from memoria_ingest.convert.kinds import kind_of
from memoria_ingest.convert.result import BROKEN, Converted, Refused, to_bytes

_MODULES = {
    "markdown": "plain",
    "text": "plain",
    "log": "plain",
    "csv": "table",
    "html": "html",
    "pdf": "pdf",
    "docx": "docx",
    "xlsx": "xlsx",
    "pptx": "pptx",
    "eml": "mail",
}

_OUT_OF_MEMORY = 70
"""Exit code that says the memory limit was met (EX_SOFTWARE; no library here exits with it)."""


def convert(name: str, data: bytes) -> Converted:
    """The file as text. Raises Refused."""
    kind = kind_of(name, data)
    module = importlib.import_module(f"memoria_ingest.convert.formats.{_MODULES[kind]}")
    parser: Callable[[bytes, str], Converted] = module.convert
    try:
        converted = parser(data, kind)
    except (ServiceError, MemoryError):
        raise
    except Exception as error:  # a parser's own exceptions are as many as the ways a file can be broken
        raise Refused(BROKEN) from error
    if not converted.text.strip():
        raise Refused("There is no text in this file. A scanned page is a picture, and memoria reads no pictures.")
    return converted


def main() -> None:
    """Confine, read, convert, answer."""
    confine()
    mimetypes.knownfiles.clear()  # openpyxl would read the machine's own list, which is out of reach now
    incoming = sys.stdin.buffer.read()
    length = int.from_bytes(incoming[:2], "big")
    name = incoming[2 : 2 + length].decode("utf-8", "replace")
    try:
        outcome = to_bytes(convert(name, incoming[2 + length :]))
    except ServiceError as error:
        outcome = to_bytes(error)
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    sys.stdout.buffer.write(outcome)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
