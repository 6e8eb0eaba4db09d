"""Call 8 against homes that answer anything at all: a roster or nothing (AUT-16)."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.home.v1 import home_pb2 as pb
from memoria_authz.roster import home_client
from memoria_authz.roster.home_client import HomeClient
from memoria_chassis.errors import Kind, ServiceError


class Saying:
    """In a ConnectClient's place."""

    def __init__(self, reply: pb.GetRosterResponse) -> None:
        self.reply = reply
        self.request: Any = None

    async def call(self, method: str, request: Any, kind: Any, timeout: float, *, limit: int) -> pb.GetRosterResponse:
        """The reply."""
        assert method == "memoria.home.v1.HomeService/GetRoster"
        self.request = request
        return self.reply


def roster(**changes: Any) -> pb.GetRosterResponse:
    """A good one, changed."""
    values = {"person_refs": ["p-1", "p-2"], "epoch": "e", "ttl_seconds": 60, "generation": "g"}
    return pb.GetRosterResponse(**(values | changes))


def bad() -> Iterator[pb.GetRosterResponse]:
    """Answers that are no roster."""
    yield pb.GetRosterResponse()
    yield roster(epoch="")
    yield roster(generation="")
    yield roster(person_refs=["p-1", ""])
    yield roster(person_refs=["x" * 257])
    yield roster(epoch="x" * 1025)
    yield roster(generation="x" * 1025)


@pytest.mark.parametrize("reply", list(bad()))
async def test_what_is_no_roster_counts_for_nothing(reply: pb.GetRosterResponse) -> None:
    """UNAVAILABLE, as a home that does not answer. Broken to see it red: each check taken out in turn."""
    with pytest.raises(ServiceError) as refused:
        await HomeClient(Saying(reply)).fetch()  # type: ignore[arg-type] # a fake
    assert refused.value.kind is Kind.UNAVAILABLE


async def test_a_roster_for_a_city_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One more than a team may have."""
    monkeypatch.setattr(home_client, "MAX_MEMBERS", 3)
    await HomeClient(Saying(roster(person_refs=["a", "b", "c"]))).fetch()  # type: ignore[arg-type] # a fake
    with pytest.raises(ServiceError):
        await HomeClient(Saying(roster(person_refs=["a", "b", "c", "d"]))).fetch()  # type: ignore[arg-type] # a fake


async def test_nobody_is_named_in_the_question(monkeypatch: pytest.MonkeyPatch) -> None:
    """The token alone says which team; a ref that comes twice is one member."""
    saying = Saying(roster(person_refs=["a", "a", "b"]))
    found = await HomeClient(saying).fetch()  # type: ignore[arg-type] # a fake
    assert saying.request == pb.GetRosterRequest()
    assert found.members == {"a", "b"}
    assert "a" not in repr(found).replace("datetime", "").partition("epoch")[0]


@given(
    st.builds(
        pb.GetRosterResponse,
        person_refs=st.lists(st.text(max_size=300), max_size=5),
        epoch=st.text(max_size=2000),
        ttl_seconds=st.integers(0, 2**32 - 1),
        generation=st.text(max_size=2000),
    )
)
async def test_any_answer_is_a_roster_or_an_error(reply: pb.GetRosterResponse) -> None:
    """Nothing else is raised, and what counts is what was said."""
    found = None
    with suppress(ServiceError):
        found = await HomeClient(Saying(reply)).fetch()  # type: ignore[arg-type] # a fake
    if found is not None:
        assert found.members == set(reply.person_refs)
        assert (found.epoch, found.generation) == (reply.epoch, reply.generation)
