"""The conversion child: a name and bytes on standard input, one JSON document on standard output."""

import importlib
import json
import mimetypes
import os
import sys
from collections.abc import Callable

from memoria_chassis.errors import ServiceError
from memoria_ingest.convert.confine import confine
from memoria_ingest.convert.kinds import kind_of
from memoria_ingest.convert.result import BROKEN, OUT_OF_MEMORY, Converted, Refused, to_bytes

PROBE = "--probe"
"""Argument on which a child says what it could give up, and reads nothing."""

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


def convert(name: str, data: bytes) -> Converted:
    """The file as text. Raises Refused."""
    try:
        kind = kind_of(name, data)
        module = importlib.import_module(f"memoria_ingest.convert.formats.{_MODULES[kind]}")
        parser: Callable[[bytes, str], Converted] = module.convert
        converted = parser(data, kind)
    except (ServiceError, MemoryError):
        raise
    except Exception as error:  # a parser's own exceptions are as many as the ways a file can be broken
        raise Refused(BROKEN) from error
    if not converted.text.strip():
        raise Refused("There is no text in this file. A scanned page is a picture, and memoria reads no pictures.")
    return converted


def run(converter: Callable[[str, bytes], Converted] = convert) -> None:
    """Confine, read, convert, answer, end. Tests hand in a converter that tries what a hostile file would."""
    taken = confine()
    if sys.argv[1:] == [PROBE]:
        sys.stdout.write(json.dumps(taken))
        return
    answer = os.dup(1)
    os.dup2(2, 1)  # what a parser prints is no answer of ours
    mimetypes.knownfiles.clear()  # openpyxl would read the machine's own list, which is out of reach now
    try:
        incoming = sys.stdin.buffer.read()
        length = int.from_bytes(incoming[:2], "big")
        name = incoming[2 : 2 + length].decode("utf-8", "replace")
        try:
            outcome = to_bytes(converter(name, incoming[2 + length :]))
        except ServiceError as error:
            outcome = to_bytes(error)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    with open(answer, "wb", closefd=False) as out:
        out.write(outcome)
    os._exit(0)  # without tearing the parsers down: the answer is given, and some of them crash on their way out


if __name__ == "__main__":
    run()
