"""One case as it runs: the calls it makes, each written down."""

import json
from typing import TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message

from memoria_conformance.kit.hook_client import HookBroke, Json
from memoria_conformance.kit.http_client import NoReply, Reply, Request
from memoria_conformance.kit.names import (
    NO_HOOK,
    Announced,
    CallRefused,
    CannotTry,
    CheckFailed,
    Names,
    NotMeant,
    World,
)
from memoria_contract.codec import JSON, PROTO, MalformedBody, decode, encode, media_type
from memoria_contract.limits import CONTENT_BYTES, REPLY_BYTES, verdict_bytes

MessageT = TypeVar("MessageT", bound=Message)
CONNECT_HEADERS = (("Connect-Protocol-Version", "1"), ("Connect-Timeout-Ms", "10000"))
"""What memoria's own client sends besides."""

_LIMITS = {"GetContent": CONTENT_BYTES}

SERVICE = "/memoria.sibling.v1.SiblingService/"

__all__ = ["Announced", "CallRefused", "CannotTry", "CheckFailed", "NotMeant", "Scene", "World", "error_code"]


class Scene(Names):
    """Makes the calls of one case. `world` is None for cases that need none."""

    async def send(self, request: Request) -> Reply:
        """Send and write down. Raises NoReply."""
        try:
            reply = await self.target.channel.send(request)
        except NoReply as error:
            self.no_reply = str(error)
            self.transcript.http(request, None, str(error))
            raise
        self.transcript.http(request, reply)
        return reply

    async def call(
        self,
        method: str,
        message: Message,
        reply_type: type[MessageT],
        *,
        token: str = "",
        binary: bool = False,
        extra: Json | None = None,
    ) -> tuple[MessageT, Reply]:
        """One call as memoria makes it. Raises CallRefused for an error, CheckFailed for what is no reply."""
        binary = (binary or self._binary) and not extra
        content_type = PROTO if binary else JSON
        body = encode(message, content_type)
        if extra:
            body = _with(message, extra)
        headers = (
            ("Content-Type", content_type),
            *CONNECT_HEADERS,
            ("Authorization", f"Bearer {self.token(token, method)}"),
        )
        try:
            reply = await self.send(Request(SERVICE + method, headers, body))
        except NoReply as error:
            raise CheckFailed(f"{method}: {error}") from None
        limit = verdict_bytes(len(body)) if method == "Authorize" else _LIMITS.get(method, REPLY_BYTES)
        if len(reply.body) > limit:
            raise CheckFailed(f"{method}: a reply of {len(reply.body)} bytes; memoria takes {limit}")
        if reply.status != 200:
            raise CallRefused(reply, error_code(reply))
        if media_type(reply.header("content-type")) != content_type:
            raise CheckFailed(
                f"{method}: a reply to {content_type} must be {content_type}, not {reply.header('content-type')!r}"
            )
        try:
            return decode(reply_type, reply.body, content_type), reply
        except MalformedBody:
            raise CheckFailed(f"{method}: the reply is not a {reply_type.DESCRIPTOR.name}") from None

    async def ask_hook(self, verb: str, params: Json, action: str = "setup") -> Json:
        """One request to the state hook, written down."""
        if self.target.hook is None:
            raise CannotTry(NO_HOOK)
        try:
            answer = await self.target.hook.ask(verb, {"prefix": self.world.prefix, **params}, action)
        except HookBroke as broke:
            self.transcript.hook(verb, params, {"broke": str(broke)})
            raise
        self.transcript.hook(verb, params, answer)
        return answer


def error_code(reply: Reply) -> str:
    """The Connect code in a reply that is an error; "" where there is none."""
    if media_type(reply.header("content-type")) != JSON:
        return ""
    try:
        code = json.loads(reply.body)["code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return code if isinstance(code, str) else ""


def _with(message: Message, extra: Json) -> bytes:
    """A message in JSON with fields it does not have."""
    return json.dumps({**json_format.MessageToDict(message), **extra}).encode()
