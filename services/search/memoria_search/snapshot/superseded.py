"""A superseded generation: one small object that says when it may go and, sealed, which pieces go with it.

When and what it was current through stand in the name, so that what is due, and which deletions are complete, is known
from a listing. It is written once, before the head moves on; while its generation is still the head's it says nothing.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from memoria_chassis.aead import Sealer, SealError
from memoria_search.snapshot.names import SUPERSEDED, superseded_context


@dataclass(frozen=True, slots=True, order=True)
class Superseded:
    """What its name says. `superseded_at`: seconds since 1970. `deletions`: the cursor it was current through.

    `epoch` is that of the instance that wrote the record, and `attempt` the number of the generation that it was
    writing, so that no two instances and no two attempts of one write the same name.
    """

    superseded_at: int
    generation: int
    deletions: int
    epoch: int
    attempt: int

    @property
    def name(self) -> str:
        """Zero-padded, so that names sort as times do."""
        numbers = (self.generation, self.deletions, self.epoch, self.attempt)
        return f"{SUPERSEDED}{self.superseded_at:012d}-" + "-".join(f"{number:016d}" for number in numbers)

    def seal(self, sealer: Sealer, pieces: Iterable[str]) -> bytes:
        """The record: the names of the objects that go with it."""
        return sealer.seal(json.dumps(sorted(pieces)).encode(), superseded_context(self.name))

    def open(self, sealer: Sealer, sealed: bytes) -> list[str] | None:
        """The inverse. None for anything that `seal` did not make for this name."""
        try:
            pieces = json.loads(sealer.open(sealed, superseded_context(self.name)))
        except (SealError, ValueError, RecursionError):
            return None
        return pieces if isinstance(pieces, list) and all(isinstance(piece, str) for piece in pieces) else None


def parse(name: str) -> Superseded | None:
    """What a name says. None where it is none of ours."""
    parts = name.removeprefix(SUPERSEDED).split("-")
    if len(parts) != 5 or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    found = Superseded(*map(int, parts))
    return found if found.name == name else None
