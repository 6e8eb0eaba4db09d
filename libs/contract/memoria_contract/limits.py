"""Limits: what a person may upload, with its sentence (AMD-06), and what memoria takes of one reply of an app."""

MAX_FILE = 32 * 1024 * 1024
"""Bytes an uploaded file may have."""

FILE_TOO_LARGE = f"This file is larger than {MAX_FILE // 1024 // 1024} MiB, the most a file may have."

REPLY_BYTES = 4 * 1024 * 1024
"""Of a reply: 256 verdicts are 30 kB, a feed page well under 1 MB."""

CONTENT_BYTES = 8 * 1024 * 1024
"""Of a reply to S3: 2 MiB of text (AMD-06) as JSON, with room for escapes."""

NAME_LENGTH = 1024
"""Characters of an item id or a revision; NUL is none of them."""

CURSOR_LENGTH = 64 * 1024
"""Characters of a cursor or a page token."""

PAGE_ROWS = 20_000
"""Rows of one page of the feed, or items of one page of an announce."""

SHEET_TABS = 500
SHEET_CELLS = 200_000
"""Of one sheet: a budget by day for a century has as many."""


def verdict_bytes(request_bytes: int) -> int:
    """Bytes of a reply to S2: it repeats the pairs of the request and adds a few to each.

    A reply at REPLY_BYTES could hold two million empty verdicts, and reading those would hold up the event loop, with
    every other app's answer, for 100 ms.
    """
    return 64 * 1024 + 4 * request_bytes


def usable_name(text: str) -> bool:
    """Whether memoria takes this for an item id or a revision."""
    return 0 < len(text) <= NAME_LENGTH and "\0" not in text
