"""Call 8: the roster, asked of the home with the consumer's token, and about nobody."""

from datetime import timedelta

from memoria.home.v1 import home_pb2 as pb
from memoria_authz.roster.model import Roster
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc import deadline
from memoria_contract.connect_client import ConnectClient

MAX_MEMBERS = 50_000
_REF_LENGTH = 256  # characters; the contract's subjects are no longer
_WORD_LENGTH = 1024
_REPLY_BYTES = 8 << 20
_SECONDS = 2.0
_METHOD = "memoria.home.v1.HomeService/GetRoster"


class HomeClient:
    """Fetches the roster."""

    def __init__(self, client: ConnectClient) -> None:
        self._client = client

    async def fetch(self) -> Roster:
        """The roster of now. Raises ServiceError; an answer that is no roster is UNAVAILABLE, and nothing of it counts.

        An empty roster is one: then nobody but the owners is on the team.
        """
        reply = await self._client.call(
            _METHOD, pb.GetRosterRequest(), pb.GetRosterResponse, deadline.budget(_SECONDS), limit=_REPLY_BYTES
        )
        if len(reply.person_refs) > MAX_MEMBERS:
            raise ServiceError(Kind.UNAVAILABLE, "the roster is larger than a team's")
        if not all(0 < len(ref) <= _REF_LENGTH for ref in reply.person_refs):
            raise ServiceError(Kind.UNAVAILABLE, "the roster has a member without a ref, or with an overlong one")
        if not all(0 < len(word) <= _WORD_LENGTH for word in (reply.epoch, reply.generation)):
            raise ServiceError(Kind.UNAVAILABLE, "the roster has no epoch or generation, or an overlong one")
        return Roster(frozenset(reply.person_refs), reply.epoch, timedelta(seconds=reply.ttl_seconds), reply.generation)
