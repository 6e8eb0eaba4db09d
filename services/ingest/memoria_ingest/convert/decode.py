"""Bytes to text: UTF-8 where it is, otherwise by its mark or by a careful guess."""

from charset_normalizer import from_bytes

_SOME = 0.01  # up to one character in a hundred damaged: still UTF-8, with damage


def decode(data: bytes) -> tuple[str, list[str]]:
    """(text, warnings). Line ends become `\\n`; a byte-order mark goes; NUL and everything else stays."""
    text, warnings = _decode(data)
    return text.replace("\r\n", "\n").replace("\r", "\n"), warnings


def _decode(data: bytes) -> tuple[str, list[str]]:
    for mark, encoding in ((b"\xff\xfe\x00\x00", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace"), []
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        pass
    replaced = data.decode("utf-8-sig", "replace")
    if replaced.count("\ufffd") <= max(3, len(replaced) * _SOME) and any(byte >= 0xC3 for byte in data[:65536]):
        ascii_only = sum(byte >= 0x80 for byte in data) <= replaced.count("\ufffd") * 3
        if not ascii_only:
            return replaced, ["A few bytes of this file are no valid text and were replaced."]
    guess = from_bytes(data[: 1 << 20]).best()
    encoding = guess.encoding if guess else "cp1252"
    return data.decode(encoding, "replace"), [f"This file is not UTF-8; it was read as {encoding}."]
