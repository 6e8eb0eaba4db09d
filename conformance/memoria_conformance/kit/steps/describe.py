"""Describe: what the sibling says of itself must be sound."""

from memoria.conformance.v1 import suite_pb2 as pb
from memoria.sibling.v1 import sibling_pb2 as sibling
from memoria_conformance.kit.scene import CallRefused, CheckFailed, Scene
from memoria_conformance.kit.steps.refusal import unexpected


async def run(step: pb.Describe, scene: Scene) -> None:
    """One call."""
    try:
        reply, _ = await scene.call("Describe", sibling.DescribeRequest(), sibling.DescribeResponse, token=step.token)
    except CallRefused as error:
        raise unexpected(error, "Describe") from None
    if not reply.app:
        raise CheckFailed("Describe must name the app")
    calls = list(reply.calls)
    if not calls or len(set(calls)) < len(calls) or 0 in calls:
        raise CheckFailed("Describe must list the calls that are served, each once")
    kinds = list(reply.subject_kinds)
    asks = {sibling.CALL_AUTHORIZE, sibling.CALL_AGGREGATE} & set(calls)
    if asks and (not kinds or 0 in kinds or len(set(kinds)) < len(kinds)):
        raise CheckFailed("a sibling that answers about people must list the subject kinds it keys on")
