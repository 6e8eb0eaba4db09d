"""Who may call the reference app: hashed bearer tokens, at most two a consumer and scope."""

import hashlib
import hmac

SCOPES = {
    "pull": frozenset({"Describe", "ListChanges", "Announce", "GetContent"}),
    "ask": frozenset({"Describe", "Authorize", "Aggregate"}),
}


class Tokens:
    """The tokens that are good now."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], list[bytes]] = {}

    def add(self, consumer: str, scope: str, token: str) -> None:
        """Accept this one too; again is nothing. ValueError for an unknown scope, no token, or a third."""
        held = self._held.setdefault((consumer, scope), [])
        if scope not in SCOPES or not token or (_digest(token) not in held and len(held) >= 2):
            raise ValueError("an unknown scope, no token, or one too many")
        if _digest(token) not in held:
            held.append(_digest(token))

    def retire(self, consumer: str, scope: str, keep: str) -> None:
        """Accept only `keep`, or none where it is ""; again is nothing. ValueError where it is not held."""
        if keep and _digest(keep) not in self._held.get((consumer, scope), []):
            raise ValueError("the token to keep is not held")
        self._held[consumer, scope] = [_digest(keep)] if keep else []

    def admit(self, authorization: str, call: str) -> tuple[str | None, bool]:
        """(the consumer, whether the token's scope has this call); no consumer for a token that is not good."""
        scheme, _, token = authorization.partition(" ")
        digest = _digest(token)
        admitted, may = None, False
        for (consumer, scope), held in self._held.items():
            for known in held:
                if hmac.compare_digest(known, digest) and scheme.lower() == "bearer":
                    admitted, may = consumer, may or call in SCOPES[scope]
        return admitted, may


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
