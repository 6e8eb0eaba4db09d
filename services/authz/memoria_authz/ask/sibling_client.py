"""S2 to one sibling: split over 256, all parts at once, one deadline, and a total answer."""

import asyncio
import time
from collections.abc import Sequence

from memoria.sibling.v1 import sibling_pb2
from memoria_chassis import log, metrics
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.rpc import deadline
from memoria_contract.connect_client import ConnectClient
from memoria_contract.limits import verdict_bytes
from memoria_contract.types import MAX_PAIRS, Pair, Subject, Verdict
from memoria_contract.wire import authorize_request, decode_verdicts

SIBLING_SECONDS = 0.8
"""A person waits about a second for a page; 800 ms leaves the rest of it to us (RET-07)."""

_AUTHORIZE = "memoria.sibling.v1.SiblingService/Authorize"


class SiblingAsker:
    """Asks one sibling. Holds no verdict past the call that asked for it."""

    def __init__(self, app: str, client: ConnectClient) -> None:
        self._app = app
        self._client = client

    async def ask(self, subject: Subject, pairs: Sequence[Pair]) -> dict[Pair, Verdict]:
        """A verdict for every one of `pairs`, which are distinct. Never raises: what goes wrong is UNKNOWN (CON-08)."""
        parts = [list(pairs[start : start + MAX_PAIRS]) for start in range(0, len(pairs), MAX_PAIRS)]
        answers = await asyncio.gather(*(self._ask_part(subject, part) for part in parts))
        return {pair: verdict for answer in answers for pair, verdict in answer.items()}

    async def _ask_part(self, subject: Subject, pairs: list[Pair]) -> dict[Pair, Verdict]:
        began = time.perf_counter()
        kind = "ok"
        try:
            request = authorize_request(subject, pairs)
            reply = await self._client.call(
                _AUTHORIZE,
                request,
                sibling_pb2.AuthorizeResponse,
                deadline.budget(SIBLING_SECONDS),
                limit=verdict_bytes(request.ByteSize()),
            )
            return decode_verdicts(pairs, reply)
        except ServiceError as error:
            kind = error.kind.value
            return dict.fromkeys(pairs, Verdict.UNKNOWN)
        except Exception as error:
            # Not foreseen, and all the same no reason to lose what the other siblings said.
            kind = Kind.INTERNAL.value
            log.get_logger().error("asking a sibling failed", app=self._app, exc_info=error)
            return dict.fromkeys(pairs, Verdict.UNKNOWN)
        finally:
            metrics.observe_sibling(self._app, "Authorize", kind, time.perf_counter() - began)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
