"""Revisions as three sorts of sibling make them, and the content a revision stands for as text."""

import datetime as dt
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict

from memoria_conformance.world import Cell, Content

RevisionStyle = Callable[[str, int, str], str]
"""(item id, how many revisions came before, content) -> the next revision."""


def _hash(item_id: str, n: int, content: str) -> str:
    return hashlib.sha256(f"{item_id}\0{n}\0{content}".encode()).hexdigest()[:16]


def _counter(item_id: str, n: int, content: str) -> str:
    return str(n + 1)


def _ulid(item_id: str, n: int, content: str) -> str:
    alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    number = (int(time.time() * 1000) << 80) | secrets.randbits(80)
    return "".join(alphabet[(number >> shift) & 31] for shift in range(125, -1, -5))


REVISIONS: dict[str, RevisionStyle] = {"hash": _hash, "counter": _counter, "ulid": _ulid}
"""A consumer may not tell them apart: revisions are compared for equality only (CON-04)."""


def freeze(content: Content) -> str:
    """Content as JSON, for the log."""
    return json.dumps(asdict(content), default=lambda moment: moment.isoformat(), ensure_ascii=False)


def thaw(text: str) -> Content:
    """What `freeze` made, back."""
    raw = json.loads(text)
    raw["trail"] = tuple(raw["trail"])
    raw["date"] = dt.datetime.fromisoformat(raw["date"])
    raw["tabs"] = tuple((name, tuple(Cell(**cell) for cell in cells)) for name, cells in raw["tabs"])
    return Content(**raw)
