"""Who is at the door: cookie or token to address, address to standing, asked of authz every time (AUT-19, AUT-26)."""

import secrets
from dataclasses import dataclass, field
from typing import assert_never

from starlette.requests import Request
from starlette.responses import Response

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.csrf import Csrf
from memoria_gateway.home.store import HomeStore
from memoria_gateway.peers_client import GateClient
from memoria_gateway.store import TOKEN_PREFIX, Method, Session, Store, session_lifetime
from memoria_gateway.views import Person


class SignInNeeded(ServiceError):
    """No session: a page sends the browser to sign in."""

    def __init__(self) -> None:
        super().__init__(Kind.UNAUTHENTICATED, "Sign in first.")


@dataclass(frozen=True, slots=True)
class Visit:
    """A browser at the door: its cookie, the token its forms must carry, and who it is, if anyone."""

    cookie: str = field(repr=False)
    csrf: str = field(repr=False)
    person: Person | None
    fresh: bool = False


class Door:
    """Cookies in and out. On https the names carry `__Host-`, which ties them to this origin and to Secure."""

    def __init__(
        self, store: Store, gate: GateClient, csrf: Csrf, *, https: bool, home: HomeStore | None = None
    ) -> None:
        self._store = store
        self._home = home
        self._gate = gate
        self._csrf = csrf
        self._https = https
        prefix = "__Host-" if https else ""
        self.session_cookie = f"{prefix}memoria_session"
        self.visitor_cookie = f"{prefix}memoria_visitor"

    async def person(self, request: Request) -> Person:
        """The admitted person whose session this is. Raises SignInNeeded, or REFUSED where standing is gone."""
        session = await self.session(request)
        address = await self._address(session) if session else None
        if address is None:
            raise SignInNeeded
        return await self._gate.admit(address)

    async def session(self, request: Request) -> Session | None:
        """This browser's session, if any. Says nothing of standing."""
        cookie = request.cookies.get(self.session_cookie, "")
        return await self._store.session(cookie) if cookie else None

    async def _address(self, session: Session) -> str | None:
        match session.method:
            case Method.LINK:
                return session.holder
            case Method.HOME:
                # Without a home nothing is left that could say whose subject it was: it is no address (AUT-27).
                binding_id, _, subject = session.holder.partition(" ")
                binding = await self._home.binding_of(subject) if self._home else None
                # One that was made since is another: whoever removed the link meant that this session ends.
                return binding.address if binding and binding.id == binding_id else None
            case _:
                assert_never(session.method)

    async def member(self, request: Request) -> Visit:
        """A visit by an admitted person."""
        person = await self.person(request)
        cookie = request.cookies[self.session_cookie]
        return Visit(cookie, self._csrf.token(cookie), person)

    def visitor(self, request: Request) -> Visit:
        """A visit by whoever it is, for the pages before sign-in."""
        cookie = request.cookies.get(self.session_cookie) or request.cookies.get(self.visitor_cookie)
        fresh = not cookie
        cookie = cookie or secrets.token_urlsafe(16)
        return Visit(cookie, self._csrf.token(cookie), None, fresh)

    def check_form(self, request: Request, presented: str) -> None:
        """CSRF, for a session or a visitor. Raises REFUSED."""
        cookie = request.cookies.get(self.session_cookie) or request.cookies.get(self.visitor_cookie, "")
        self._csrf.check(request, cookie, presented)

    def remember_visitor(self, response: Response, visit: Visit) -> None:
        """Give a fresh visitor the cookie that their form's token is bound to."""
        if visit.fresh:
            self._set(response, self.visitor_cookie, visit.cookie, None)

    async def sign_in(self, request: Request, response: Response, holder: str, method: Method = Method.LINK) -> None:
        """Begin a session in this browser, in place of the one it may have had."""
        await self._end_session(request)
        secret = await self._store.new_session(holder, method)
        self._set(response, self.session_cookie, secret, int(session_lifetime().total_seconds()))

    async def sign_out(self, request: Request, response: Response) -> None:
        """End this browser's session, here and in its cookie."""
        await self._end_session(request)
        for name in (self.session_cookie, self.visitor_cookie):
            response.delete_cookie(name, path="/", secure=self._https, httponly=True, samesite="lax")

    async def _end_session(self, request: Request) -> None:
        cookie = request.cookies.get(self.session_cookie)
        if cookie:
            await self._store.end_session(cookie)

    def _set(self, response: Response, name: str, value: str, max_age: int | None) -> None:
        # Lax, not Strict: the session must come along when a mail's link or another app's page leads here.
        response.set_cookie(name, value, max_age=max_age, path="/", secure=self._https, httponly=True, samesite="lax")

    async def bearer(self, request: Request, scope: str) -> Person:
        """The admitted person whose personal token this is. Raises UNAUTHENTICATED, or REFUSED without `scope`."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        found = None
        if kind.lower() == "bearer" and token.startswith(TOKEN_PREFIX):
            found = await self._store.token_bearer(token.strip())
        if found is None:
            raise ServiceError(Kind.UNAUTHENTICATED, "A personal access token is needed; make one at /account/tokens.")
        address, held = found
        if scope == "write" and held != "write":
            raise ServiceError(Kind.REFUSED, "This token may only read.")
        return await self._gate.admit(address)
