"""extract in position off: it says so, refuses the rest, and refuses to start in any other (AMD-11, EGR-02)."""

import importlib.metadata
import sys
from pathlib import Path
from typing import Any

import pytest

from memoria.extract.v1 import extract_pb2 as pb
from memoria_chassis.config import load_settings
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.process import Process
from memoria_extract.__main__ import build
from memoria_extract.server import ExtractServer


@pytest.mark.parametrize("position", ["local", "provider"])
async def test_a_position_that_cannot_be_kept_is_refused(tmp_path: Path, position: str) -> None:
    """Not approximated, not silently off. Broken to see red: the check taken out."""
    settings = load_settings({"MEMORIA_AI": position, "MEMORIA_DATA_RUN_DIR": str(tmp_path)})
    with pytest.raises(ServiceError) as refused:
        await build(Process("extract", settings))
    assert refused.value.kind is Kind.PRECONDITION


@pytest.mark.parametrize(("call", "request_of"), [("Embed", "Embed"), ("Locate", "Locate"), ("Answer", "Answer")])
async def test_all_model_work_is_refused(call: str, request_of: str) -> None:
    """PRECONDITION, whatever is asked."""
    request = getattr(pb, f"{request_of}Request")()
    context: Any = None
    with pytest.raises(ServiceError) as refused:
        await getattr(ExtractServer(), call)(request, context)
    assert refused.value.kind is Kind.PRECONDITION


async def test_it_says_where_it_stands(tmp_path: Path) -> None:
    """OFF, and it starts without a key, a database or a peer."""
    context: Any = None
    assert (await ExtractServer().Describe(pb.DescribeRequest(), context)).position == pb.POSITION_OFF
    process = Process("extract", load_settings({"MEMORIA_DATA_RUN_DIR": str(tmp_path)}))
    await build(process)
    assert process._closers == []
    await process._grpc.stop(0)  # type: ignore[union-attr]  # build made it


def test_it_can_reach_nobody() -> None:
    """No HTTP client is among its modules or its own requirements, so there is nothing to send with (G15)."""
    source = Path(sys.modules["memoria_extract"].__file__ or "").parent
    text = "".join(path.read_text() for path in source.glob("*.py"))
    assert "grpc" in text
    for client in ("aiohttp", "httpx", "urllib", "requests", "socket", "Peer", "dial"):
        assert f"import {client}" not in text
        assert f"{client}(" not in text
    named = {name.split()[0].split("[")[0] for name in importlib.metadata.requires("memoria-extract") or []}
    assert named <= {"memoria-chassis", "memoria-contract"}
