"""S2: may this person read these revisions?"""

import json
from collections.abc import Sequence

from google.protobuf import unknown_fields

from memoria.conformance.v1 import suite_pb2 as pb
from memoria.sibling.v1 import sibling_pb2 as sibling
from memoria_conformance.kit.http_client import Reply
from memoria_conformance.kit.scene import CallRefused, CheckFailed, Scene
from memoria_conformance.kit.steps.refusal import must_refuse, unexpected
from memoria_contract.types import Pair, Verdict
from memoria_contract.wire import decode_verdicts, pair_from_wire, verdict_from_wire


async def run(step: pb.Ask, scene: Scene) -> None:
    """One call; every verdict that the case does not state is the model's."""
    asker = step.asker or None
    subject = scene.fill_subject(step.subject) if step.HasField("subject") else scene.subject(step.asker)
    asked = [(pair.item, scene.revision(pair.item, pair.revision), pair.verdict) for pair in step.pairs]
    asked += [(f"never.pad{n}", "1", 0) for n in range(step.pad_to - len(asked))]
    request = sibling.AuthorizeRequest(subject=subject)
    for alias, revision, _ in asked:
        request.items.add(item_id=scene.item_id(alias), revision=revision)
    call = scene.call("Authorize", request, sibling.AuthorizeResponse, binary=step.binary)
    if step.HasField("refused"):
        await must_refuse(call, step.refused, f"Authorize of {len(asked)} pairs")
        return
    try:
        reply, raw = await call
    except CallRefused as error:
        raise unexpected(error, f"Authorize of {len(asked)} pairs") from None
    verdicts = answered_once([pair_from_wire(item) for item in request.items], reply)
    for (alias, revision, stated), verdict in zip(asked, verdicts, strict=True):
        expected = stated_or_derived(verdict_from_wire(stated or step.all), scene.model.verdict(asker, alias, revision))
        if verdict is not expected:
            whom = step.asker or "this subject"
            raise CheckFailed(f"{whom}, {alias}: expected {expected.name}, got {verdict.name}")
    if step.save:
        scene.saved[step.save] = _blanked(request, reply, raw, binary=step.binary)


def stated_or_derived(stated: Verdict | None, derived: Verdict) -> Verdict:
    """What a case says, else what the model says. Where both speak a test of the suite holds them to each other."""
    return stated or derived


def answered_once(pairs: Sequence[Pair], reply: sibling.AuthorizeResponse) -> list[Verdict]:
    """The verdicts in the order asked. CheckFailed unless each pair has exactly one, of a value the contract knows."""
    decoded = decode_verdicts(pairs, reply)
    entries = {pair_from_wire(entry): entry.verdict for entry in reply.verdicts}
    if any(verdict_from_wire(value) is None for value in entries.values()):
        raise CheckFailed(f"a verdict the contract does not know: {sorted(set(entries.values()))}")
    missing, foreign = set(pairs) - set(entries), set(entries) - set(pairs)
    if missing or foreign or len(reply.verdicts) != len(pairs):
        raise CheckFailed(
            f"each of the {len(pairs)} pairs needs exactly one verdict, as asked: {len(reply.verdicts)} came,"
            f" {len(missing)} pairs have none, {len(foreign)} were not asked"
        )
    return [decoded[pair] for pair in pairs]


def _blanked(request: sibling.AuthorizeRequest, reply: sibling.AuthorizeResponse, raw: Reply, *, binary: bool) -> bytes:
    """The reply to one pair as bytes, with what the pair itself brought taken out."""
    head = f"{raw.status} {raw.header('content-type')} ".encode()
    if binary:
        unknown = [unknown_fields.UnknownFieldSet(message) for message in (reply, *reply.verdicts)]
        extra = sum(len(fields) for fields in unknown)
        return head + f"{len(reply.verdicts)} {reply.verdicts[0].verdict} {extra} unknown fields".encode()
    (pair,) = request.items
    body = raw.body
    for text in sorted((pair.item_id, pair.revision), key=len, reverse=True):
        body = body.replace(_json(text), b'"*"')
    return head + body


def _json(text: str) -> bytes:
    return json.dumps(text, ensure_ascii=False).encode()
