"""Call 8 of the demo home: the roster of one team."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from memoria.home.v1 import home_pb2 as pb

SERVICE = pb.DESCRIPTOR.services_by_name["HomeService"]


@dataclass(slots=True)
class Roster:
    """Members by person_ref. `epoch` moves with every change, `generation` only when the roster is made anew."""

    members: list[str]
    ttl_seconds: int = 3600
    epoch: int = 1
    generation: str = field(default_factory=lambda: secrets.token_hex(8))

    def set_members(self, members: Sequence[str]) -> None:
        """Replace the members."""
        self.members = list(dict.fromkeys(members))
        self.epoch += 1


@dataclass(frozen=True, slots=True)
class HomeServer:
    """Implementation of `memoria.home.v1.HomeService` for `connect_app`."""

    roster: Roster

    async def get_roster(self, request: pb.GetRosterRequest, caller: str) -> pb.GetRosterResponse:
        """Call 8. Names no asker; the token alone says which team."""
        roster = self.roster
        return pb.GetRosterResponse(
            person_refs=roster.members,
            epoch=f"e{roster.epoch}",
            ttl_seconds=roster.ttl_seconds,
            generation=roster.generation,
        )
