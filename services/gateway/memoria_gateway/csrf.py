"""CSRF protection: a token bound to the browser's cookie, and the browser's own word on where a request came from."""

import hmac

from starlette.requests import Request

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import PurposeKey, fingerprint

FIELD = "csrf"
HEADER = "x-csrf-token"


class Csrf:
    """Makes and checks tokens. A token is an HMAC of the session cookie, or of the visitor cookie before sign-in."""

    def __init__(self, key: PurposeKey, origin: str) -> None:
        self._key = key
        self._origin = origin

    def token(self, cookie: str) -> str:
        """The token for a browser that holds `cookie`."""
        return fingerprint(self._key, cookie.encode()).hex()

    def check(self, request: Request, cookie: str, presented: str) -> None:
        """Return if the request came from our own page. Raises REFUSED."""
        self.check_origin(request)
        # As bytes: what a browser presents may hold anything, and text beyond ASCII is refused with an exception.
        if not cookie or not hmac.compare_digest(self.token(cookie).encode(), presented.encode()):
            raise ServiceError(Kind.REFUSED, "This form has expired. Go back, reload the page, and send it again.")

    def check_origin(self, request: Request) -> None:
        """Refuse what the browser itself says is from elsewhere. Old browsers and programs say nothing."""
        site = request.headers.get("sec-fetch-site", "same-origin")
        origin = request.headers.get("origin")
        own = {self._origin}
        if not self._origin.startswith("https:"):  # development: every loopback name that OwnHosts lets through
            own.add(f"{request.url.scheme}://{request.headers.get('host', '')}")
        if site not in {"same-origin", "none"} or (origin is not None and origin not in own):
            raise ServiceError(Kind.REFUSED, "This request came from another site and was refused.")
