"""S2: may this person read these revisions?"""

import json
from collections.abc import Sequence

from google.protobuf import unknown_fields

from memoria.conformance.v1 import suite_pb2 as pb
from memoria.sibling.v1 import sibling_pb2 as sibling
from memoria_conformance.kit.http_client import Reply
from memoria_conformance.kit.scene import CallRefused, CannotTry, CheckFailed, Scene
from memoria_conformance.kit.steps.refusal import must_refuse, unexpected
from memoria_contract.codec import PROTO, media_type
from memoria_contract.types import Pair, Verdict
from memoria_contract.wire import decode_verdicts, pair_from_wire, verdict_from_wire


async def run(step: pb.Ask, scene: Scene) -> None:
    """One call; every verdict that the case does not state is the model's."""
    asker = step.asker or None
    subject = scene.fill_subject(step.subject) if step.HasField("subject") else scene.subject(step.asker)
    pairs = [(name, pair) for pair in step.pairs for name in _names(pair)]
    asked = [(name, _revision(scene, asker, name, pair.revision), pair.verdict) for name, pair in pairs]
    asked += [(f"never.pad{n}", "1", 0) for n in range(step.pad_to - len(asked))]
    request = sibling.AuthorizeRequest(subject=subject)
    for alias, revision, _ in asked:
        request.items.add(item_id=scene.item_id(alias), revision=revision)
    call = scene.call("Authorize", request, sibling.AuthorizeResponse, binary=step.binary, token=step.token)
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
            raise CheckFailed(f"{whom}, {scene.called(alias)}: expected {expected.name}, got {verdict.name}")
    if step.save:
        binary = media_type(raw.header("content-type")) == PROTO
        scene.saved[step.save] = _blanked(request, reply, raw, binary=binary)


def _names(pair: pb.AskedPair) -> list[str]:
    return [f"{pair.item}{n}" for n in range(pair.numbered)] or [pair.item]


def _revision(scene: Scene, asker: str | None, alias: str, which: str) -> str:
    """The revision to ask about. CannotTry where nobody told it and the answer depends on it."""
    told = scene.told(alias, which)
    if told is None and scene.model.verdict(asker, alias, "") is not Verdict.NOT_VISIBLE:
        raise CannotTry(f"the revision of {alias} is not known: give `revisions` in the state hook's answer")
    return told or "1"


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
    head = raw.comparable_head()
    if binary:
        unknown = [unknown_fields.UnknownFieldSet(message) for message in (reply, *reply.verdicts)]
        extra = sum(len(fields) for fields in unknown)
        return head + f"{len(reply.verdicts)} {reply.verdicts[0].verdict} {extra} unknown fields".encode()
    (pair,) = request.items
    body = raw.body
    for text in sorted((pair.item_id, pair.revision), key=len, reverse=True):
        for spelling in _spellings(text):
            body = body.replace(spelling, b'"*"')
    return head + body


def _spellings(text: str) -> set[bytes]:
    """A text in JSON as encoders write it: with and without escapes for what is not ASCII, `/`, `<`, `>` and `&`."""
    plain = {json.dumps(text, ensure_ascii=ascii_only) for ascii_only in (True, False)}
    slashed = {one.replace("/", "\\/") for one in plain}
    marked = {one.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026") for one in plain | slashed}
    return {one.encode() for one in plain | slashed | marked}
