"""POST /connectors/{id}/items: what a program pushes, taken with its connector's token and no other credential."""

import asyncio
import re
from collections import Counter
from typing import Any

from starlette.requests import Request
from starlette.routing import Route

from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.limits import CONNECTOR_ID_PREFIX, CONNECTOR_TOKEN_PREFIX
from memoria_gateway.desk import Desk
from memoria_gateway.push_client import Presented
from memoria_gateway.push_items import BODY_TOO_LARGE, MAX_BODY, PushedItem, read_items
from memoria_gateway.render import Json, json_error

CONNECTOR_ID = re.compile(CONNECTOR_ID_PREFIX + "[0-9a-f]{16}")
_TOKEN = re.compile(CONNECTOR_TOKEN_PREFIX + "[A-Za-z0-9_-]{43}")
_AT_ONCE = 16
"""Requests that are taken at a time, of all connectors: each holds up to 8 MiB, and several times that in parsing."""

_EACH = 2
"""And of one connector: one whose bodies drip in holds itself up and no other."""

_BODY_SECONDS = 60


def routes(desk: Desk) -> list[Route]:
    """The door of programs that push."""
    under_way: Counter[str] = Counter()

    async def push(request: Request) -> Json:
        presented = _presented(request)
        await desk.pushes.check(presented)  # before a byte of the body is read
        connector = presented.connector_id
        if under_way[connector] >= _EACH or under_way.total() >= _AT_ONCE:
            raise ServiceError(Kind.EXHAUSTED, "Too many requests at once; nothing of this one was taken. Try again.")
        under_way[connector] += 1
        try:
            return await _push_all(desk, presented, await asyncio.to_thread(read_items, await _in_time(request)))
        finally:
            under_way[connector] -= 1
            if not under_way[connector]:
                del under_way[connector]

    return [Route("/connectors/{id}/items", push, methods=["POST"])]


def _presented(request: Request) -> Presented:
    """What the program shows. Raises UNAUTHENTICATED for what could not be a connector's token at all."""
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    connector_id, token = request.path_params["id"], token.strip()
    if kind.lower() != "bearer" or not _TOKEN.fullmatch(token) or not CONNECTOR_ID.fullmatch(connector_id):
        raise ServiceError(Kind.UNAUTHENTICATED, "This connector's own token is needed.")
    return Presented(connector_id, token, ", ".join(request.headers.getlist("origin")))  # two are none that is allowed


async def _in_time(request: Request) -> bytes:
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            return await _body(request)
    except TimeoutError:
        raise ServiceError(Kind.DEADLINE, "The body did not arrive in time; nothing of it was taken.") from None


async def _body(request: Request) -> bytes:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise ServiceError(Kind.INVALID, "Items are sent as application/json.")
    held = bytearray()
    async for data in request.stream():
        held += data
        if len(held) > MAX_BODY:
            raise ServiceError(Kind.TOO_LARGE, BODY_TOO_LARGE)
    return bytes(held)


async def _push_all(desk: Desk, presented: Presented, items: list[PushedItem]) -> Json:
    """One item after the other. Where one fails, the reply says which were taken before it, and those stay taken."""
    taken: list[dict[str, Any]] = []
    for index, item in enumerate(items):
        try:
            status = await desk.pushes.push(presented, item)
        except ServiceError as error:
            shown = ServiceError(error.kind, f"items[{index}] was not taken, nor were those behind it. {error.message}")
            return json_error(shown, taken)
        taken.append({"index": index, "status": status})
    return Json({"items": taken})
