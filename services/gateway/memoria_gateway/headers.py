"""The headers of every reply: nothing loads from elsewhere, nothing frames us, no shared cache keeps anything."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)


def content_security_policy(issuer: str) -> str:
    """The policy; a form's redirect to the home's origin, of signing out or linking, counts as a form's target."""
    return CONTENT_SECURITY_POLICY.replace("form-action 'self'", f"form-action 'self' {issuer}".rstrip())


class SecurityHeaders:
    """Adds the headers. A static file may be cached; everything else may not be stored at all."""

    def __init__(self, app: ASGIApp, *, https: bool, issuer: str = "") -> None:
        """`issuer`: the home's origin, where forms that end there may be sent."""
        self._app = app
        self._https = https
        self._policy = content_security_policy(issuer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and dress its reply."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = self._policy
                headers["X-Content-Type-Options"] = "nosniff"
                headers["X-Frame-Options"] = "DENY"
                # Not `no-referrer`: under it browsers send our own forms with `Origin: null`, which CSRF must refuse.
                headers["Referrer-Policy"] = "same-origin"
                headers["Cross-Origin-Opener-Policy"] = "same-origin"
                headers["Cross-Origin-Resource-Policy"] = "same-origin"
                headers["Cross-Origin-Embedder-Policy"] = "require-corp"
                headers["X-Permitted-Cross-Domain-Policies"] = "none"
                # A page of results links to apps: looking their names up unasked would tell which ones were found.
                headers["X-DNS-Prefetch-Control"] = "off"
                headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=()"
                if self._https:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
                if scope["path"].startswith("/static/") and message["status"] in (200, 206, 304):
                    headers["Cache-Control"] = "public, max-age=3600"
                else:
                    headers["Cache-Control"] = "no-store"
            await send(message)

        await self._app(scope, receive, dressed)
