"""S1a: the re-announce, whose markers and count are checked whatever the case is about."""

from memoria.conformance.v1 import suite_pb2 as pb
from memoria.sibling.v1 import sibling_pb2 as sibling
from memoria_conformance.kit.http_client import Reply
from memoria_conformance.kit.scene import Announced, CallRefused, CheckFailed, NotMeant, Scene
from memoria_conformance.kit.steps.changes import facts_only, settle, some
from memoria_conformance.kit.steps.refusal import must_refuse, unexpected
from memoria_contract.limits import CURSOR_LENGTH, NAME_LENGTH, PAGE_ROWS, usable_name

_PAGES = 2000
_FACTS = {"itemId", "item_id", "revision"}
_AROUND = {"opening", "announceId", "announce_id", "items", "closing", "nextPageToken", "next_page_token"}


async def run(step: pb.Announce, scene: Scene) -> None:
    """Reads pages, to the end unless the case says how many."""
    if step.HasField("refused"):
        request = sibling.AnnounceRequest(page_token=str(scene.fill(step.page_token)))
        call = scene.call("Announce", request, sibling.AnnounceResponse, token=step.token)
        await must_refuse(call, step.refused, "an announce with this page token")
        return
    read = scene.announces[step.resume] if step.resume else Announced()
    if step.again:
        await _again(step, scene, read)
        return
    pages = 0
    while read.cursor is None and (not step.pages or pages < step.pages):
        if read.pages >= _PAGES:
            raise CheckFailed(f"the announce has no closing marker after {_PAGES} pages")
        request = sibling.AnnounceRequest(page_token=read.page_token)
        try:
            reply, raw = await scene.call("Announce", request, sibling.AnnounceResponse, token=step.token)
        except CallRefused as error:
            raise unexpected(error, "Announce") from None
        read.last_token, read.last_page = read.page_token, reply
        _take(read, reply, raw)
        pages += 1
    _keep(step, scene, read)


async def _again(step: pb.Announce, scene: Scene, read: Announced) -> None:
    """The page that came last, once more. Its next page's token is not compared: it may carry a time."""
    request = sibling.AnnounceRequest(page_token=read.last_token)
    try:
        reply, _ = await scene.call("Announce", request, sibling.AnnounceResponse, token=step.token)
    except CallRefused as error:
        raise unexpected(error, "Announce, asked for the same page again,") from None
    before = read.last_page or sibling.AnnounceResponse()
    if list(reply.items) != list(before.items):
        raise CheckFailed("the same page token brought other items")
    for name in ("opening", "closing"):
        if reply.HasField(name) is not before.HasField(name):
            raise CheckFailed(
                f"the same page token brought a page {'with' if reply.HasField(name) else 'without'} {name}"
            )
    if reply.announce_id != before.announce_id or reply.closing.item_count != before.closing.item_count:
        raise CheckFailed("the same page token brought another announce_id or another count")


def _take(read: Announced, reply: sibling.AnnounceResponse, raw: Reply) -> None:
    """Add one page, or CheckFailed."""
    first = read.pages == 0
    if reply.HasField("opening") is not first:
        raise CheckFailed("the opening marker belongs on the first page and only there")
    if first:
        read.announce_id = reply.opening.announce_id
    if not reply.announce_id or reply.announce_id != read.announce_id:
        raise CheckFailed("every page must repeat the announce_id of the opening marker")
    for item in reply.items:
        if not usable_name(item.item_id) or not usable_name(item.revision):
            raise CheckFailed(f"an item needs an id and a revision of 1 to {NAME_LENGTH} characters")
        if item.item_id in read.items:
            raise CheckFailed("an item is named twice in one announce")
        read.items[item.item_id] = item.revision
    facts_only(reply, raw, "items", _FACTS, _AROUND)
    if len(reply.items) > PAGE_ROWS or max(len(reply.next_page_token), len(reply.closing.cursor)) > CURSOR_LENGTH:
        raise CheckFailed(
            f"memoria takes {PAGE_ROWS} items a page, and tokens and cursors of {CURSOR_LENGTH} characters"
        )
    if reply.HasField("closing") is bool(reply.next_page_token):
        raise CheckFailed("next_page_token must be empty exactly when the closing marker is there")
    read.pages, read.page_token = read.pages + 1, reply.next_page_token
    if reply.HasField("closing"):
        if reply.closing.item_count != len(read.items):
            raise CheckFailed(f"the closing marker counts {reply.closing.item_count}, {len(read.items)} came")
        if not reply.closing.cursor:
            raise CheckFailed("the closing marker carries no cursor")
        read.cursor = reply.closing.cursor


def _keep(step: pb.Announce, scene: Scene, read: Announced) -> None:
    if step.in_pages and read.pages == 1 and read.cursor is not None:
        raise NotMeant("the announce came in one page")
    named = {alias: revision for item, revision in read.items.items() if (alias := scene.alias_of(item)) is not None}
    if wrong := [alias for alias in step.never if alias in named]:
        raise CheckFailed(f"the announce names {some(scene, wrong)}, not on the team rung")
    if step.settles:
        settle(scene, named, "the announce")
    if step.save:
        scene.announces[step.save] = read
        scene.held[step.save] = named
        scene.saved[f"{step.save}.page"] = read.page_token
        if read.cursor is not None:
            scene.saved[f"{step.save}.cursor"] = read.cursor
