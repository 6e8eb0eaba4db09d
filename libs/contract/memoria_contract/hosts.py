"""Which hosts we dial: `<team>.<app>.<zone>` of our own team and nothing else (CON-19, RUL-07, G11).

The rule is a full match on the text of the URL, not a question to a URL parser: parsers disagree about userinfo,
backslashes, case and dots, and each disagreement has been somebody's way past a check like this one.
"""

import re
from dataclasses import dataclass

from memoria_chassis.errors import Kind, ServiceError

_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_URL = re.compile(r"(https?)://([a-z0-9.-]{1,253})(?::([1-9][0-9]{0,4}))?/?")
_DEFAULT_PORT = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Origin:
    """A scheme, host and port that passed the host rule."""

    scheme: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """The origin as text, without a trailing slash; a default port is left out."""
        port = "" if self.port == _DEFAULT_PORT[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"

    def owns(self, link: str) -> bool:
        """Whether `link` opens on this very origin; a link that does not is not shown (AUT-03 names the app asked)."""
        if any(ord(char) <= 0x20 or ord(char) == 0x7F or char == "\\" for char in link):
            return False  # browsers drop tabs and newlines and turn a backslash into a slash
        return link == self.url or link.startswith((self.url + "/", self.url + "?", self.url + "#"))


def sibling_host(team: str, zone: str, app: str) -> str:
    """The one host at which `app` of `team` lives. ServiceError(INVALID) where a label is no DNS label."""
    labels = [_check_label(team), _check_label(app), *(_check_label(part) for part in zone.split("."))]
    if labels[-1].isdigit():
        raise ServiceError(Kind.INVALID, "the zone looks like an IP address")
    return ".".join(labels)


def is_localhost(host: str) -> bool:
    """Whether a host is the loopback by name (RFC 6761): resolved by us, and alone allowed cleartext."""
    return host == "localhost" or host.endswith(".localhost")


def check_sibling_url(url: str, team: str, zone: str, app: str) -> Origin:
    """The origin in `url` if it is `<team>.<app>.<zone>`, https unless under `.localhost`, and nothing more.

    Raises ServiceError(INVALID) for a URL that is not of the form scheme://host[:port][/], which covers userinfo, IP
    literals in brackets, paths, queries, fragments, upper case and anything not ASCII; ServiceError(REFUSED) for
    another host, a trailing dot included, and for cleartext.
    """
    expected = sibling_host(team, zone, app)
    match = _URL.fullmatch(url)
    if match is None:
        raise ServiceError(Kind.INVALID, "an app's URL must be scheme://host[:port] in lower case and nothing more")
    scheme, host, port = match.group(1), match.group(2), int(match.group(3) or _DEFAULT_PORT[match.group(1)])
    if port > 65535:
        raise ServiceError(Kind.INVALID, "an app's URL has a port above 65535")
    if host != expected:
        raise ServiceError(Kind.REFUSED, "an app's host is not <team>.<app>.<zone> of this team")
    if scheme == "http" and not is_localhost(host):
        raise ServiceError(Kind.REFUSED, "an app outside .localhost must be reached over https")
    return Origin(scheme, host, port)


def _check_label(text: str) -> str:
    if _LABEL.fullmatch(text) is None:
        raise ServiceError(Kind.INVALID, "team, app and zone are made of lower-case DNS labels")
    return text
