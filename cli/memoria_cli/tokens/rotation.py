"""Three phases for each token, none of which can leave memoria without one that its sibling accepts.

1. The sibling accepts the new token beside the old one.
2. The new token is in memoria's file. memoria reads the file again when it has changed.
3. memoria was seen to be answered with the new one; then, and not before, the sibling accepts no other.

Whatever has been done is done again without effect, so a run that was cut short, or that could not reach some sibling,
is simply run again. A note beside the tokens says which are finished; while it lies there no second rotation begins.
"""

import json
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc.allow import token_hash
from memoria_cli.place import write_private
from memoria_cli.tokens.rows import ConsumerRows, Row


class Phase(IntEnum):
    """How far a token is."""

    NOTHING = 0
    ADDED = 1
    DELIVERED = 2
    DONE = 3


@dataclass(frozen=True, slots=True)
class Credential:
    """A token of memoria's: the row that accepts it and the file that memoria reads it from."""

    row: Row
    file: Path

    @property
    def held(self) -> str:
        """The token in the file; empty where there is none that can be read."""
        return _read(self.file)

    @property
    def next(self) -> Path:
        """Where the new token lies until the rotation is done."""
        return self.file.with_name(f"{self.file.name}.next")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How far one token came, and why no further."""

    row: Row
    phase: Phase
    reason: str = ""


def unfinished(note: Path) -> list[str]:
    """The rows that a rotation under way has not finished; empty where none is under way. Raises CONFLICT."""
    if not note.exists():
        return []
    try:
        return [str(name) for name in json.loads(note.read_text())["left"]]
    except (OSError, ValueError, KeyError, TypeError):
        raise ServiceError(Kind.CONFLICT, f"{note} cannot be read; remove it and rotate again") from None


Observe = Callable[[Credential, str], None]
"""Returns once memoria was seen to be answered with a token. Raises ServiceError where it was not."""


class Rotation:
    """One rotation, begun or gone on with."""

    def __init__(self, note: Path, rows: ConsumerRows, observe: Observe) -> None:
        self._note = note
        self._rows = rows
        self._observe = observe

    def run(self, credentials: Iterable[Credential], *, emergency: bool = False) -> list[Outcome]:
        """Rotate these tokens, or what is left of them of the rotation under way; one outcome for each.

        `emergency`: the old token is in wrong hands. It is retired at once, and memoria goes without until it has read
        the new one: the outage is accepted.
        """
        wanted = list(credentials)
        left = unfinished(self._note)
        if left and not emergency:
            wanted = [each for each in wanted if str(each.row) in left]
            if not wanted:
                raise ServiceError(Kind.CONFLICT, f"finish the rotation of {', '.join(left)} first")
        if not left or emergency:
            left = sorted({*left, *(str(each.row) for each in wanted)})
            self._write(left)
            for each in wanted:
                # One that is used already was left by a kill at the very end. Any other one is gone on with, for its
                # row may know it, and has room for two: unless it may be in wrong hands too.
                if emergency or _read(each.next) == each.held:
                    each.next.unlink(missing_ok=True)
        outcomes = []
        for credential in wanted:
            outcome = self._one(credential, emergency=emergency)
            outcomes.append(outcome)
            if outcome.phase is Phase.DONE:
                left.remove(str(credential.row))
                self._write(left)
        return outcomes

    def forget(self, known: Iterable[Credential]) -> None:
        """Leave out what a rotation under way has left of tokens that are no more: of an app that was taken out of the
        settings, or of services that were started anew and have others."""
        left = unfinished(self._note)
        rows = {str(each.row) for each in known}
        if not set(left) <= rows:
            self._write([name for name in left if name in rows])

    def _write(self, left: list[str]) -> None:
        if left:
            write_private(self._note, json.dumps({"left": left}))
        else:
            self._note.unlink(missing_ok=True)

    def _one(self, credential: Credential, *, emergency: bool) -> Outcome:
        phase = Phase.NOTHING
        try:
            token = self._new(credential)
            if emergency:
                self._rows.keep(credential.row, token_hash(token))
            else:
                self._rows.add(credential.row, token_hash(token))
            phase = Phase.ADDED
            if credential.held != token:
                write_private(credential.file, token + "\n")
            phase = Phase.DELIVERED
            self._observe(credential, token)
            self._rows.keep(credential.row, token_hash(token))
            credential.next.unlink()
        except ServiceError as error:
            return Outcome(credential.row, phase, error.message)
        except OSError:
            return Outcome(credential.row, phase, "a token file could not be written")
        return Outcome(credential.row, Phase.DONE)

    @staticmethod
    def _new(credential: Credential) -> str:
        """The new token: the one that a run before made, or a fresh one."""
        found = _read(credential.next)
        if found:
            return found
        token = secrets.token_urlsafe(32)
        write_private(credential.next, token + "\n")
        return token


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except (OSError, ValueError):
        return ""
