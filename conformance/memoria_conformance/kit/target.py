"""The sibling under test: how to reach it, with which tokens, and how to change its state."""

import re
from dataclasses import dataclass, field
from typing import Any

from memoria_conformance.kit.hook_client import FunctionHook, Hook, HookFunction
from memoria_conformance.kit.http_client import AsgiChannel, Channel, NetworkChannel


@dataclass(frozen=True, slots=True)
class Target:
    """Everything a run needs to know about one sibling."""

    channel: Channel
    pull_token: str = field(repr=False)
    ask_token: str = field(repr=False)
    hook: Hook | None = None

    @classmethod
    def network(
        cls, url: str, *, pull_token: str, ask_token: str, hook: Hook | None = None, timeout: float = 10.0
    ) -> "Target":
        """A sibling at `url`, scheme://host[:port]; `timeout` in seconds for each request."""
        _check_tokens(pull_token, ask_token)
        return cls(NetworkChannel(url, timeout), pull_token, ask_token, hook)

    @classmethod
    def asgi(
        cls,
        app: Any,
        *,
        pull_token: str,
        ask_token: str,
        state: HookFunction | None = None,
        origin: str = "http://sibling.localhost",
    ) -> "Target":
        """An ASGI app of this process; `origin` is where its links point, `state` its state hook as a function."""
        _check_tokens(pull_token, ask_token)
        hook = FunctionHook(state) if state is not None else None
        return cls(AsgiChannel(app, origin), pull_token, ask_token, hook)


def _check_tokens(*tokens: str) -> None:
    """ValueError for a token that no header can carry."""
    if not all(re.fullmatch(r"[\x21-\x7e]{1,4096}", token) for token in tokens):
        raise ValueError("a token is printable ASCII without blanks, and there must be one")
