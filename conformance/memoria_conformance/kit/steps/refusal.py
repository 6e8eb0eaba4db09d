"""Whether a call failed as it had to."""

from collections.abc import Awaitable

from memoria.conformance.v1 import suite_pb2 as pb
from memoria_conformance.kit.http_client import Reply
from memoria_conformance.kit.scene import CallRefused, CheckFailed


async def must_refuse(call: Awaitable[object], refused: pb.Refused, what: str) -> Reply:
    """The refusal's reply. Raises CheckFailed where the call was served, or refused with another code."""
    wanted = " or ".join(refused.codes)
    try:
        await call
    except CallRefused as error:
        if error.code not in refused.codes:
            raise CheckFailed(f"{what} must be refused with {wanted}, not with {_came(error)}") from None
        return error.reply
    raise CheckFailed(f"{what} must be refused with {wanted}, and was served")


def unexpected(error: CallRefused, what: str) -> CheckFailed:
    """A call that had to be served was refused."""
    own = error.code in ("internal", "unknown") or error.reply.status == 500
    hint = "; your app failed at it, and its own log may say how" if own else ""
    return CheckFailed(f"{what} must be served, and was refused with {_came(error)}{hint}")


def _came(error: CallRefused) -> str:
    return f"{error.code} (status {error.reply.status})" if error.code else f"status {error.reply.status} and no code"
