"""A request by hand: the wrong ones that a server meets."""

import gzip
import json
from functools import cache
from typing import Any

from google.protobuf import json_format
from google.protobuf.message_factory import GetMessageClass

from memoria.conformance.v1 import suite_pb2 as pb
from memoria.sibling.v1 import sibling_pb2 as sibling
from memoria_conformance.kit.http_client import NoReply, Reply, Request
from memoria_conformance.kit.scene import (
    CONNECT_HEADERS,
    SERVICE,
    CallRefused,
    CannotTry,
    CheckFailed,
    Scene,
    error_code,
)
from memoria_conformance.kit.steps.ask import answered_once
from memoria_contract.codec import JSON, PROTO, MalformedBody, decode, media_type
from memoria_contract.wire import pair_from_wire, verdict_from_wire

_METHODS = sibling.DESCRIPTOR.services_by_name["SiblingService"].methods_by_name


async def run(step: pb.Http, scene: Scene) -> None:
    """One request, its reply, and then a well-formed one: whatever came, the sibling must still answer."""
    request = _build(step, scene)
    if request.cut and not scene.target.channel.network:
        raise CannotTry("half a request can only be sent over a network")
    reply: Reply | None = None
    try:
        reply = await scene.send(request)
    except NoReply as error:
        if not (step.reply.refused or step.reply.survives):
            raise CheckFailed(f"a reply must come: {error}") from None
    if reply is not None:
        _check(step, request, reply, scene)
    try:
        await scene.call("Describe", sibling.DescribeRequest(), sibling.DescribeResponse)
    except (CallRefused, CheckFailed) as error:
        raise CheckFailed(f"the sibling does not answer Describe after this request: {error}") from None


def _build(step: pb.Http, scene: Scene) -> Request:
    body, content_type, more = _body(step, scene)
    headers = [("Content-Type", content_type), *CONNECT_HEADERS]
    match step.token:
        case "none":
            pass
        case "wrong":
            headers.append(("Authorization", "Bearer " + "x" * 32))
        case _:
            headers.append(("Authorization", f"Bearer {scene.token(step.token, step.call)}"))
    headers += more
    own = [(header.name, _header(header.value, scene)) for header in step.headers]
    replaced = {name.lower() for name, _ in own}
    headers = [(name, value) for name, value in headers if name.lower() not in replaced] + own
    return Request(
        path=SERVICE + step.call + _header(step.suffix, scene),
        headers=tuple((name, value) for name, value in headers if value),
        body=body,
        verb=step.verb or "POST",
        cut=step.body.WhichOneof("kind") == "cut",
    )


def _header(value: str, scene: Scene) -> str:
    """`Bearer $token:NAME` is filled in, like any word of its own."""
    return " ".join(str(scene.fill(word)) for word in value.split(" "))


def _body(step: pb.Http, scene: Scene) -> tuple[bytes, str, list[tuple[str, str]]]:
    """(bytes, content type, further headers)."""
    document: dict[str, Any] = scene.fill(json_format.MessageToDict(step.json)) if step.HasField("json") else {}
    text = json.dumps(document).encode()
    kind = step.body.WhichOneof("kind")
    match kind:
        case "text":
            return step.body.text.encode(), JSON, []
        case "binary":
            return _binary(step.call, document), PROTO, []
        case "truncated":
            return text[: max(1, len(text) // 2)], JSON, []
        case "oversized":
            return text[:-1] + b" " * step.body.oversized + text[-1:], JSON, []
        case "gzip_bomb":
            # A right message in white space: a server that unpacks it first has already lost.
            return _bomb(text, step.body.gzip_bomb), JSON, [("Content-Encoding", "gzip")]
        case "nested":
            return b'{"deep":' + b"[" * step.body.nested + b"]" * step.body.nested + b"}", JSON, []
        case "garbage":
            return bytes((n * 37 + 11) % 256 | 0x80 for n in range(step.body.garbage)), PROTO, []
    return text, JSON, []


@cache
def _bomb(text: bytes, size: int) -> bytes:
    """Made once: packing 64 megabytes of blanks takes a third of a second."""
    return gzip.compress(text[:-1] + b" " * size + text[-1:])


def _binary(call: str, document: dict[str, Any]) -> bytes:
    """The document as its message; with a field 1000, which no message has, where it has fields of its own."""
    message = GetMessageClass(_METHODS[call].input_type)()
    json_format.ParseDict(document, message, ignore_unknown_fields=True)
    known = {name for field in message.DESCRIPTOR.fields for name in (field.name, field.json_name)}
    return message.SerializeToString() + (b"\xc2\x3e\x05later" if set(document) - known else b"")


def _check(step: pb.Http, request: Request, reply: Reply, scene: Scene) -> None:
    wanted = step.reply
    if wanted.survives:
        return
    if 300 <= reply.status < 400:
        raise CheckFailed(f"a redirect (status {reply.status}): memoria follows none")
    if wanted.unmoved:
        return
    if wanted.refused and reply.status < 400:
        raise CheckFailed(f"this request must be refused, and was answered with status {reply.status}")
    statuses = list(wanted.statuses) or ([] if wanted.refused or wanted.codes else [200])
    if statuses and reply.status not in statuses:
        raise CheckFailed(f"expected status {' or '.join(map(str, statuses))}, got {reply.status}")
    if reply.status == 200 and media_type(reply.header("content-type")) != dict(request.headers).get("Content-Type"):
        raise CheckFailed(f"a reply must be of the request's content type, not {reply.header('content-type')!r}")
    if wanted.codes and reply.status < 400:
        raise CheckFailed(f"an error must come with an error's status, not with {reply.status}")
    if wanted.codes and (code := error_code(reply)) not in wanted.codes:
        raise CheckFailed(
            f"expected the code {' or '.join(wanted.codes)}, got {code or 'none'} (status {reply.status})"
        )
    if wanted.verdicts or wanted.HasField("holds"):
        _check_content(step, reply, scene)


def _check_content(step: pb.Http, reply: Reply, scene: Scene) -> None:
    method = _METHODS[step.call]
    content_type = media_type(reply.header("content-type"))
    try:
        message = decode(GetMessageClass(method.output_type), reply.body, content_type)
    except MalformedBody:
        raise CheckFailed(f"the reply is not a {method.output_type.name}") from None
    came = json_format.MessageToDict(message)
    for key, value in scene.fill(json_format.MessageToDict(step.reply.holds)).items():
        if came.get(key) != value:
            raise CheckFailed(f"the reply must hold {key}: {value!r}")
    if step.reply.verdicts:
        asked = json_format.ParseDict(
            scene.fill(json_format.MessageToDict(step.json)), sibling.AuthorizeRequest(), ignore_unknown_fields=True
        )
        verdicts = answered_once([pair_from_wire(item) for item in asked.items], message)
        expected = [verdict_from_wire(value) for value in step.reply.verdicts]
        if verdicts != expected:
            raise CheckFailed(f"expected {[v.name for v in expected if v]}, got {[v.name for v in verdicts]}")
