"""Who may call what: caller tokens and the per-RPC allow-list. What is not listed is denied."""

import hashlib
import hmac
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from google.protobuf.descriptor import ServiceDescriptor

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.secret import token_print

TOKEN_KEY = "memoria-caller"  # noqa: S105 - the name of a metadata key
"""The metadata key a caller token travels under."""


def token_hash(token: str) -> str:
    """What is configured of a caller token: its SHA-256, hex. A token is 256 random bits, so no slow hash is needed."""
    return hashlib.sha256(token.encode()).hexdigest()


class UnknownCaller(ServiceError):
    """The process that calls is not known: its own trouble, and not that of the person it calls for."""

    def __init__(self) -> None:
        super().__init__(Kind.UNAUTHENTICATED, "the caller's token is missing or unknown")


class Callers:
    """Recognises callers by their tokens."""

    def __init__(self, hashes: Callable[[], Mapping[str, Sequence[str]]]) -> None:
        """`hashes`: those that are accepted as of now, by caller."""
        self._hashes = hashes
        self.seen: dict[str, str] = {}
        """The print of the token that each caller last came with."""

    def identify(self, token: str | None) -> str:
        """The caller's name. Raises UnknownCaller."""
        found = None
        presented = token_hash(token) if token else ""  # never the hash of nothing, which somebody could configure
        for name, accepted in self._hashes().items():
            for expected in accepted:
                if hmac.compare_digest(presented, expected):
                    found = name  # no early exit: which caller it is must not show in the time taken
        if found is None or token is None:
            raise UnknownCaller
        self.seen[found] = token_print(token)
        return found


class AllowList:
    """For each RPC path, the callers that may use it."""

    def __init__(self, rules: Mapping[str, Iterable[str]]) -> None:
        self._rules = {path: frozenset(callers) for path, callers in rules.items()}

    @classmethod
    def load(cls, path: Path, services: Iterable[ServiceDescriptor]) -> "AllowList":
        """Read an allow.toml: `[allow]` with `"package.Service/Method" = ["caller", …]`.

        Refuses a file that names an RPC the server does not have: a typing error would otherwise deny silently.
        """
        rules = tomllib.loads(path.read_text()).get("allow", {})
        known = {f"{service.full_name}/{method.name}" for service in services for method in service.methods}
        if set(rules) - known:
            raise ServiceError(Kind.INVALID, "the allow-list names an RPC this server does not have")
        return cls({f"/{name}": callers for name, callers in rules.items()})

    def check(self, path: str, caller: str) -> None:
        """Return if `caller` may use `path`; raises REFUSED otherwise."""
        if caller not in self._rules.get(path, frozenset()):
            raise ServiceError(Kind.REFUSED, "this caller may not use this RPC")
