"""The outermost handler: whatever goes wrong unforeseen becomes a page with our headers on it."""

from collections.abc import Callable

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoria_chassis import log


class ErrorEdge:
    """Turns an unforeseen exception into a reply.

    A middleware of ours and not an exception handler, because the framework runs the latter outside all middleware:
    its page went out without a single security header.
    """

    def __init__(self, app: ASGIApp, *, render: Callable[[Request], Response]) -> None:
        self._app = app
        self._render = render

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, and catch."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            return  # the browser went away in the middle of an upload: nobody to answer, and no fault of ours
        except Exception as error:
            log.get_logger().error("page failed", exc_info=error)
            if started:
                raise  # half a reply is out; only cutting the connection tells that it is not whole
            await self._render(Request(scope, receive))(scope, receive, send)
