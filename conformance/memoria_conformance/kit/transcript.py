"""What was sent and what came back, fit to be shown: no token in it, nothing endless, nothing unprintable."""

import base64
import json
import re
import shlex
from collections.abc import Callable

from memoria_conformance.kit.http_client import Reply, Request
from memoria_conformance.kit.report import Exchange

SHOWN = 4000
"""Characters of a body that are shown; what follows is counted."""

_IN_CURL = 60 * 1024  # bytes of a body; a command line takes 128 kB
_ABOUT = ("item", "person", "rung", "steps", "lose", "point", "consumer", "scope")
"""Params of the state hook that say in a line what was done."""

_TELLING = 8  # characters from which a secret is replaced wherever it stands


class Redactor:
    """Puts `$NAME` in the place of every secret it was told of."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def hide(self, secret: str, name: str) -> None:
        """From now on `secret` reads `$name`; the first name told stays."""
        if secret:
            self._names.setdefault(secret, f"${name}")

    def clean(self, text: str) -> str:
        """`text` without secrets. The longest first, for one may hold another."""
        for secret in sorted(self._names, key=len, reverse=True):
            name = self._names[secret]
            if len(secret) >= _TELLING:
                text = text.replace(secret, name)
                continue
            # A short one, as people have on their own machine, would be found inside other words.
            text = text.replace(f"Bearer {secret}", f"Bearer {name}").replace(f'"{secret}"', f'"{name}"')
        return text

    def clean_bytes(self, body: bytes) -> bytes:
        """The same of bytes, before they are cut or encoded for showing: afterwards a secret is no longer one piece."""
        return self.clean(body.decode("latin-1")).encode("latin-1", "replace")


class Transcript:
    """The exchanges of one case, kept as they were until somebody wants to see them."""

    def __init__(self, redactor: Redactor, origin: str) -> None:
        self._redactor, self._origin = redactor, origin
        self._kept: list[Callable[[], Exchange]] = []

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """What was sent and came back so far, redacted."""
        return tuple(make() for make in self._kept)

    def http(self, request: Request, reply: Reply | None, why: str = "") -> None:
        """One HTTP exchange; `why` says why no reply came."""
        self._kept.append(lambda: self._http(request, reply, why))

    def hook(self, verb: str, params: dict[str, object], answer: dict[str, object]) -> None:
        """One request to the state hook."""
        self._kept.append(lambda: self._hook(verb, params, answer))

    def _http(self, request: Request, reply: Reply | None, why: str) -> Exchange:
        clean = self._redactor.clean
        return Exchange(
            request_line=f"{request.verb} {request.path}",
            request_headers=tuple((key, clean(value)) for key, value in request.headers),
            request_body=_shown(self._redactor.clean_bytes(request.body)),
            status=reply.status if reply else None,
            reply_headers=tuple((clean(key), _cut(clean(value))) for key, value in reply.headers) if reply else (),
            reply_body=_shown(self._redactor.clean_bytes(reply.body)) if reply else why,
            curl=self._curl(request),
        )

    def _hook(self, verb: str, params: dict[str, object], answer: dict[str, object]) -> Exchange:
        clean = self._redactor.clean
        asked = json.dumps({"state": verb, "params": params}, ensure_ascii=False)
        answered = json.dumps(answer, ensure_ascii=False)
        about = " ".join(f"{key}={params[key]}" for key in _ABOUT if key in params)
        line = clean(f"state hook: {verb} {about}".rstrip())
        return Exchange(line, (), _cut(clean(asked)), None, (), _cut(clean(answered)), "")

    def _curl(self, request: Request) -> str:
        if request.cut or len(request.body) > _IN_CURL:
            return ""  # half a request, or one too long for a command line
        words = ["curl", "-sS", "-i", "-X", request.verb, shlex.quote(self._origin + request.path)]
        for key, value in request.headers:
            words += ["-H", _quoted(self._redactor.clean(f"{key}: {value}"))]
        if not request.body:
            return " ".join(words)
        try:
            body = request.body.decode("utf-8")
            printable = all(char >= " " or char in "\n\t" for char in body)
        except UnicodeDecodeError:
            printable = False
        if printable:
            return " ".join([*words, "--data-raw", _quoted(self._redactor.clean(body))])
        packed = base64.b64encode(request.body).decode()
        return f"printf %s {packed} | base64 -d | {' '.join(words)} --data-binary @-"


_VARIABLE = re.compile(r"(\$MEMORIA_[A-Z0-9_]+)")


def _quoted(text: str) -> str:
    """For a shell: every piece in single quotes but the names of tokens, which it is left to fill in.

    A reply's text can come back in a later request, and whoever pastes the line must not run it.
    """
    pieces = [piece for piece in _VARIABLE.split(text) if piece]
    if not pieces:
        return "''"
    return "".join(f'"{piece}"' if _VARIABLE.fullmatch(piece) else shlex.quote(piece) for piece in pieces)


def _shown(body: bytes) -> str:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        text = "base64: " + base64.b64encode(body[:SHOWN]).decode()
        return text if len(body) <= SHOWN else f"{text} … ({len(body)} bytes in all)"
    if any(ord(char) < 0x20 and char not in "\t\n\r" for char in text):
        return "base64: " + base64.b64encode(body[:SHOWN]).decode()
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} … ({len(text)} characters in all)"
