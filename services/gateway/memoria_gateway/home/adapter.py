"""The sign-in by a home as the pages use it: whom it trusts, where it sends a browser, what waits in its cookie."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from memoria_gateway.home.model import Assertion
from memoria_gateway.home.pending import PENDING_SECONDS, Pending, PendingSealer, Purpose
from memoria_gateway.home.store import HomeStore


@dataclass(frozen=True)
class HomeAdapter:
    """One home. `verify` raises Rejected; the rest of a hand-off is the pages'."""

    issuer: str
    consumer_id: str
    verify: Callable[[str, datetime], Assertion]
    store: HomeStore
    sealer: PendingSealer
    https: bool

    @property
    def cookie(self) -> str:
        """The name of the cookie of a hand-off."""
        return f"{'__Host-' if self.https else ''}memoria_handoff"

    def begin(self, purpose: Purpose, next_path: str, status: int, session: bytes = b"") -> Response:
        """Send the browser to the home. A browser has one hand-off under way: the latest one's cookie."""
        pending = self.sealer.begin(purpose, next_path, self.store.now(), session.hex())
        asked = {"consumer_id": self.consumer_id, "state": pending.state, "nonce": pending.nonce}
        response = RedirectResponse(f"{self.issuer}/authorize?{urlencode(asked)}", status)
        # Lax: it comes along on the GET of /auth/finish, though the home's page led there.
        response.set_cookie(
            self.cookie,
            self.sealer.seal(pending),
            max_age=PENDING_SECONDS,
            path="/",
            secure=self.https,
            httponly=True,
            samesite="lax",
        )
        return response

    def pending(self, request: Request) -> Pending | None:
        """The hand-off that this browser began, if it is still under way."""
        return self.sealer.open(request.cookies.get(self.cookie, ""), self.store.now())

    def forget(self, response: Response) -> None:
        """End the hand-off in the browser."""
        response.delete_cookie(self.cookie, path="/", secure=self.https, httponly=True, samesite="lax")
