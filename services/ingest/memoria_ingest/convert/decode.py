"""Bytes to text: UTF-8 where it is, otherwise by its mark or by a careful guess."""

import codecs

from charset_normalizer import from_bytes

_SOME = 100  # up to one character in a hundred damaged: still UTF-8, with damage
_SAMPLE = 64 * 1024
_TOO_FEW = 4  # below this many bytes above ASCII a guess is a throw of dice
_HIGH = bytes(range(0x80, 0x100))
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE = ("utf_16", "utf_32", "utf_7")  # a file in these says so by its mark; without one they fit nearly any bytes

_NEVER_GUESSED = ["utf_7", "utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le"]
"""`café` in Latin-1 is two rare Han characters in UTF-16."""


def decode(data: bytes, declared: str = "") -> tuple[str, list[str]]:
    """(text, warnings). Line ends become `\\n`; a byte-order mark goes; NUL and everything else stays.

    `declared` is what the file says of itself; it is believed where the bytes are neither marked nor UTF-8.
    """
    text, warnings = _decode(data, declared)
    return text.replace("\r\n", "\n").replace("\r", "\n"), warnings


def _decode(data: bytes, declared: str) -> tuple[str, list[str]]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace"), []
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        pass
    if declared:
        try:
            name = codecs.lookup(declared).name
            if not name.replace("-", "_").startswith(_WIDE):
                # What calls itself Latin-1 on the web is Windows-1252 (WHATWG Encoding, "windows-1252").
                return data.decode("cp1252" if name in {"iso8859-1", "ascii"} else name), []
        except (LookupError, UnicodeError):
            pass
    replaced = data.decode("utf-8-sig", "replace")
    damaged = replaced.count("\ufffd")
    high = len(data) - len(data.translate(None, _HIGH))
    # Of real UTF-8 with damage, most bytes above ASCII are still parts of whole characters.
    if damaged <= max(3, len(replaced) // _SOME) and high > damaged * 3:
        return replaced, ["A few bytes of this file are no valid text and were replaced."]
    encoding = _guess(data)
    return data.decode(encoding, "replace"), [f"This file is not UTF-8; it was read as {encoding}."]


def _guess(data: bytes) -> str:
    if len(data) - len(data.translate(None, _HIGH)) < _TOO_FEW:
        return "cp1252"
    found = from_bytes(data[:_SAMPLE], cp_exclusion=_NEVER_GUESSED).best()
    # Of encodings that read the sample alike, the commonest names it.
    return found.encoding if found and str(found) != data[:_SAMPLE].decode("cp1252", "replace") else "cp1252"
