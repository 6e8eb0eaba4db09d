"""Tokens of the demo apps: scopes, at most two, three-phase rotation (CON-15 … -17, G12)."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from memoria_chassis.errors import ServiceError
from memoria_conformance.sibling import Sibling, make_sibling

PULL, ASK = ("ListChanges", "Announce", "GetContent"), ("Authorize", "Aggregate")


async def test_each_token_is_good_for_its_calls_only(sheets: Sibling, call: Any) -> None:
    """No token and a foreign one are `unauthenticated`; the other scope's is `permission_denied`."""
    for method in (*PULL, *ASK, "Describe"):
        for token in ("", "nobody", "pull ", "PULL"):
            assert await call(sheets, method, token=token) == (401, "unauthenticated")
    for method in PULL:
        assert await call(sheets, method, token="ask") == (403, "permission_denied")
    for method in ASK:
        assert await call(sheets, method, token="pull") == (403, "permission_denied")
    assert "rows" in await call(sheets, "ListChanges", token="pull")


async def test_rotation_in_three_phases(docs: Sibling, call: Any) -> None:
    """Old and new side by side, each step twice, then the old one retired; a third token is refused (G12).

    Broken on 2026-11-30 to see red: retiring before the new token was added.
    """
    with pytest.raises(ServiceError):
        docs.consumers.retire_others("memoria.pull", "new")
    assert "rows" in await call(docs, "ListChanges", token="pull")
    for _ in range(2):
        docs.consumers.add_token("memoria.pull", "pull", "new")
    page = await call(docs, "ListChanges", token="pull")
    assert "rows" in await call(docs, "ListChanges", {"cursor": page["nextCursor"]}, "new")  # one consumer, one state
    with pytest.raises(ServiceError):
        docs.consumers.add_token("memoria.pull", "pull", "third")
    assert docs.store.query("select epoch from tokens where consumer = 'memoria.pull' order by 1") == [(1,), (2,)]
    for _ in range(2):
        docs.consumers.retire_others("memoria.pull", "new")
    assert await call(docs, "ListChanges", token="pull") == (401, "unauthenticated")
    assert "rows" in await call(docs, "ListChanges", token="new")


def test_tokens_are_stored_hashed(docs: Sibling) -> None:
    """The database holds no token as it is sent."""
    docs.consumers.add_token("memoria.pull", "pull", "canary-token")
    assert docs.store.query("select count(*) from tokens") == [(3,)]
    assert b"canary-token" not in docs.store.checkpoint()


async def test_a_hash_is_enough_to_rotate(docs: Sibling, call: Any) -> None:
    """Added and kept by hash, each step twice; one that the row never knew can be kept, as in an emergency."""
    hashed = {name: hashlib.sha256(name.encode()).digest() for name in ("new", "other")}
    for _ in range(2):
        docs.consumers.add_hash("memoria.pull", "pull", hashed["new"])
    assert "rows" in await call(docs, "ListChanges", token="pull")
    assert "rows" in await call(docs, "ListChanges", token="new")
    for _ in range(2):
        docs.consumers.keep_hash("memoria.pull", "pull", hashed["other"])
    for token in ("pull", "new"):
        assert await call(docs, "ListChanges", token=token) == (401, "unauthenticated")
    assert "rows" in await call(docs, "ListChanges", token="other")


async def test_a_restart_brings_no_retired_token_back(tmp_path: Path, call: Any) -> None:
    """Started again with the tokens of its first start, the row is what it was made since; with other ones, those.

    Broken to see it red: the row set to the given tokens at every start.
    """
    db = str(tmp_path / "docs.sqlite")
    made = make_sibling("docs", db=db, pull_tokens=["first"])
    made.consumers.keep_hash("memoria.pull", "pull", hashlib.sha256(b"rotated").digest())
    made.store.close()
    again = make_sibling("docs", db=db, pull_tokens=["first"])
    assert await call(again, "ListChanges", token="first") == (401, "unauthenticated")
    assert "rows" in await call(again, "ListChanges", token="rotated")
    again.store.close()
    other = make_sibling("docs", db=db, pull_tokens=["second"])
    assert await call(other, "ListChanges", token="rotated") == (401, "unauthenticated")
    assert "rows" in await call(other, "ListChanges", token="second")
    other.store.close()
