"""The space that vectors belong to, and what is asked of whoever makes them."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memoria_chassis.errors import Kind, ServiceError

MAX_WIDTH = 512
"""Values kept of a vector (IDX-05). A model with fewer keeps all of its own."""


@dataclass(frozen=True, slots=True)
class Space:
    """A model at one width. Vectors of different spaces are never compared, ranked or stored under one another."""

    model: str
    digest: str  # of the weights or of the provider's model version
    width: int

    def __post_init__(self) -> None:
        if not 1 <= self.width <= MAX_WIDTH:
            raise ServiceError(Kind.INVALID, f"a vector space is 1 to {MAX_WIDTH} wide")

    @property
    def description(self) -> str:
        """All of it as text, the same for equal spaces. It names a model, so it is sealed where it is stored."""
        return json.dumps([self.model, self.digest, self.width])

    @classmethod
    def read(cls, description: str) -> "Space":
        """The inverse. Raises INTERNAL for a text that `description` never made."""
        try:
            model, digest, width = json.loads(description)
            return cls(str(model), str(digest), int(width))
        except (ValueError, TypeError, ServiceError) as error:
            raise ServiceError(Kind.INTERNAL, "the description of a vector space cannot be read") from error

    @property
    def tag(self) -> bytes:
        """16 bytes that stand for the space in a serialised piece."""
        return hashlib.sha256(self.description.encode()).digest()[:16]


class Embedder(Protocol):
    """Turns texts into vectors. Similar texts come out near; how long that takes is its own affair."""

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    @property
    def digest(self) -> str:
        """What tells two versions of the model apart."""
        ...

    @property
    def native(self) -> int:
        """Values in a vector as the model makes it."""
        ...

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """One vector a text, in order: float32 [len(texts), native]. `query`: what is searched with, not for.

        Raises ServiceError where it cannot be had now.
        """
        ...


def space_of(embedder: Embedder) -> Space:
    """The space an embedder's vectors are kept in."""
    return Space(embedder.model, embedder.digest, min(embedder.native, MAX_WIDTH))
