"""Limits: what a person or a connector may send, with the sentences (AMD-06), and what is read of one app's reply."""

import re

MAX_FILE = 32 * 1024 * 1024
"""Bytes an uploaded file may have."""

FILE_TOO_LARGE = f"This file is larger than {MAX_FILE // 1024 // 1024} MiB, the most a file may have."

MAX_ITEM_TEXT = 1024 * 1024
"""Bytes of UTF-8 that the text of an item may have that a connector pushes."""

ITEM_TOO_LARGE = f"The text is larger than {MAX_ITEM_TEXT // 1024 // 1024} MiB, the most an item may have."

CONNECTOR_TOKEN_PREFIX = "memoria_con_"  # noqa: S105 - what a token starts with, so that secret scanners know one
CONNECTOR_ID_PREFIX = "push-"

CONNECTOR_NAME = 60
"""Characters of what an owner calls a push connector."""

CONNECTOR_ORIGINS = 10
ORIGIN_LENGTH = 200

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


LINK_LENGTH = 2000
_LINK = re.compile(r"https?://[^\s\\\x00-\x20\x7f]+", re.IGNORECASE)


def usable_link(text: str) -> bool:
    """Whether memoria takes this for a link that people follow: of no scheme that would run something."""
    return len(text) <= LINK_LENGTH and _LINK.fullmatch(text) is not None
