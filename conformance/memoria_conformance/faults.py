"""Faults a test asks a demo app to commit, so that memoria can be seen to survive them."""

import asyncio
from dataclasses import dataclass

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from memoria_chassis.errors import Kind, ServiceError

KINDS = (
    *("none", "sleep", "garbage", "redirect", "status", "close"),  # whole replies
    *("short", "duplicate", "foreign", "sixth_value", "all_visible"),  # Authorize
    *("cut", "miscount"),  # Announce
)
"""`none` ends the fault of its call, or all of them."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault and its parameters; those that do not apply are ignored."""

    kind: str
    seconds: float = 5.0
    status: int = 503
    location: str = ""


class Faults:
    """Faults by method name; "" is every method."""

    def __init__(self, elsewhere: str) -> None:
        self._elsewhere = elsewhere
        self._by_call: dict[str, Fault] = {}

    def set(self, fault: Fault, call: str = "") -> None:
        """Commit `fault` on `call` from now on. ServiceError(INVALID) for an unknown kind."""
        if fault.kind not in KINDS:
            raise ServiceError(Kind.INVALID, "unknown kind of fault")
        if fault.kind != "none":
            self._by_call[call] = fault
        elif call:
            self._by_call.pop(call, None)
        else:
            self._by_call.clear()

    def of(self, call: str) -> Fault:
        """What is to go wrong with this call; kind `none` mostly."""
        return self._by_call.get(call) or self._by_call.get("") or Fault("none")

    def around(self, app: ASGIApp) -> ASGIApp:
        """`app` with the faults that concern whole replies."""

        async def faulty(scope: Scope, receive: Receive, send: Send) -> None:
            fault = self.of(scope["path"].rpartition("/")[2])
            match fault.kind:
                case "sleep":
                    await asyncio.sleep(fault.seconds)
                    await app(scope, receive, send)
                case "garbage":
                    kind = next((v for k, v in scope["headers"] if k == b"content-type"), b"application/proto")
                    await Response(b"\xff\x00 garbage \xff", media_type=kind.decode("latin-1"))(scope, receive, send)
                case "status":
                    await Response(b"out of order", fault.status, media_type="text/plain")(scope, receive, send)
                case "redirect":
                    location = fault.location or self._elsewhere + scope["path"]
                    await Response(b"", 307, {"Location": location})(scope, receive, send)
                case "close":
                    # A reply that ends before it is whole: the server hangs up on us and the caller.
                    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"100")]})
                    await send({"type": "http.response.body", "body": b"x", "more_body": True})
                case _:
                    await app(scope, receive, send)

        return faulty
