"""Origins (RFC 6454) as a browser writes them, so that they can be compared with `Origin` as they come."""

import re
from urllib.parse import urlsplit

_PORTS = {"https": 443, "http": 80}
_HOST = re.compile(r"[a-z0-9.-]+|[0-9a-f:.]+")  # it may stand in a header: nothing in it may end a directive


def checked_origin(value: str, *, cleartext: bool = False) -> str:
    """The origin itself. Raises ValueError for what no browser would write so.

    `http` is for *.localhost alone, or for any host with `cleartext`.
    """
    try:
        parts = urlsplit(value)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("an origin is https://host, with a port where it has one") from None
    local = host == "localhost" or host.endswith(".localhost")
    known = parts.scheme == "https" or (parts.scheme == "http" and (cleartext or local))
    written = f"{parts.scheme}://{f'[{host}]' if ':' in host else host}" + (f":{port}" if port is not None else "")
    if not known or not _HOST.fullmatch(host) or value != written or port == _PORTS[parts.scheme]:
        raise ValueError("an origin is https outside *.localhost, in lower case, without a path or its own port")
    return value
