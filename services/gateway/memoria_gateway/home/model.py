"""What a hand-off with the home comes to: an assertion, or nothing."""

from dataclasses import dataclass, field

from memoria_chassis.errors import Kind, ServiceError


class Rejected(ServiceError):
    """A hand-off that counts for nothing: 400, and one sentence for every reason."""

    def __init__(self) -> None:
        super().__init__(Kind.INVALID, "This sign-in did not come through, or has been used already.")


@dataclass(frozen=True, slots=True)
class Assertion:
    """What the home vouches for."""

    subject: str = field(repr=False)
    nonce: str = field(repr=False)
    id: str = field(repr=False)
    expires: int  # seconds since the epoch
