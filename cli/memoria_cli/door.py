"""How the command signs in: as a person would, by following a link that was sent to an address.

Only a development instance lets it follow by itself: there the mails lie in the outbox of the data directory.
"""

import re
import time
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import httpx

from memoria_chassis.errors import Kind, ServiceError
from memoria_cli.place import Place

_CSRF = re.compile(r'name="csrf" value="([0-9a-f]+)"')
_TOKEN = re.compile(r'id="new-token">([^<]+)<')
_LINK = re.compile(r"https?://\S+/auth/verify\?\S+")
_WAIT_SECONDS = 10.0


def request_link(client: httpx.Client, address: str) -> None:
    """Ask for a sign-in link. Raises EXHAUSTED where too many were asked for."""
    page = client.get("/signin/local")  # the form, also where /signin leads to a home
    reply = client.post("/auth/begin", data={"csrf": _csrf(page), "address": address, "next": "/"})
    if reply.status_code != 303:
        raise ServiceError(Kind.UNAVAILABLE, "the instance did not take the sign-in request")
    if "err=rate" in reply.headers.get("location", ""):
        raise ServiceError(Kind.EXHAUSTED, "too many sign-in links were asked for; wait a quarter of an hour")


def follow_free(place: Place, address: str, seen: set[str], *, taken: bool = False) -> str | None:
    """The link in the newest mail to `address` that is not in `seen`; waits for it, and notes it as seen.

    `taken` says that the caller follows the link itself: the mail is then taken out of the outbox.
    """
    deadline = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < deadline:
        for path in sorted(place.outbox.glob("*.eml"), reverse=True) if place.outbox.is_dir() else []:
            if path.name in seen:
                continue
            recipient, link = read_mail(path)
            if recipient == address and link:
                seen.add(path.name)
                if taken:
                    path.unlink(missing_ok=True)  # used up in a moment: nobody should find it and try
                return link
        time.sleep(0.05)
    return None


def read_mail(path: Path) -> tuple[str, str | None]:
    """(recipient, link) of one mail in the outbox."""
    message = message_from_bytes(path.read_bytes(), policy=policy.default)
    assert isinstance(message, EmailMessage)
    found = _LINK.search(str(message.get_content()))
    return str(message["To"] or ""), found.group(0) if found else None


def sign_in_from_outbox(place: Place, client: httpx.Client, address: str) -> str:
    """Sign in as `address` and make a personal token. Raises REFUSED where no link arrives: not on the list."""
    seen = {path.name for path in place.outbox.glob("*.eml")} if place.outbox.is_dir() else set()
    request_link(client, address)
    link = follow_free(place, address, seen, taken=True)
    if link is None:
        raise ServiceError(Kind.REFUSED, "no sign-in link arrived: the address is not on this team's list")
    return token_from_link(client, link)


def token_from_link(client: httpx.Client, link: str) -> str:
    """Follow a sign-in link, make a personal token for this command, sign out again."""
    query = httpx.URL(link).query.decode()
    reply = client.get(f"/auth/verify?{query}")
    if reply.status_code != 303:
        raise ServiceError(Kind.REFUSED, "the sign-in link was not accepted: used already, expired, or not on the list")
    page = client.get("/account/tokens")
    fields = {"csrf": _csrf(page), "name": "memoria command", "scope": "write", "days": "90"}
    made = client.post("/account/tokens", data=fields)
    token = _TOKEN.search(made.text)
    if token is None:
        raise ServiceError(Kind.UNAVAILABLE, "the instance gave no token; revoke old ones at /account/tokens")
    client.post("/signout", data={"csrf": _csrf(made)})
    return token.group(1)


def _csrf(page: httpx.Response) -> str:
    found = _CSRF.search(page.text)
    if page.status_code != 200 or found is None:
        raise ServiceError(Kind.UNAVAILABLE, "the instance's sign-in page could not be read")
    return found.group(1)
