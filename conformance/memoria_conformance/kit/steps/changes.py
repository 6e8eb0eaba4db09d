"""S1: the change feed, read to its end as memoria reads it."""

import json
from collections.abc import Collection

from google.protobuf import unknown_fields
from google.protobuf.message import Message

from memoria.conformance.v1 import suite_pb2 as pb
from memoria.sibling.v1 import sibling_pb2 as sibling
from memoria_conformance.kit.http_client import Reply
from memoria_conformance.kit.scene import CallRefused, CheckFailed, Scene
from memoria_conformance.kit.steps.refusal import unexpected
from memoria_contract.codec import PROTO, media_type
from memoria_contract.limits import CURSOR_LENGTH, NAME_LENGTH, PAGE_ROWS, usable_name

_PAGES = 10_000  # an app whose pages are of one row tells of every world there ever was
_EMPTY_PAGES = 50  # one or a few may be empty; a feed that only ever says "more" never ends
_NAMED = 6  # items that a message names
_FACTS = {"itemId", "item_id", "revision", "gone", "touchedAt", "touched_at"}
_AROUND = {"rows", "nextCursor", "next_cursor", "hasMore", "has_more", "reannounceRequired", "reannounce_required"}


async def run(step: pb.Changes, scene: Scene) -> None:
    """Calls until nothing more waits, folds the rows, and compares."""
    cursor = str(scene.fill(step.cursor))
    rows: list[sibling.ChangeRow] = []
    empty = 0
    for _ in range(_PAGES):
        reply, raw = await _page(step, scene, cursor)
        if step.reannounce_required:
            if not reply.reannounce_required:
                raise CheckFailed("this cursor must be answered with reannounce_required")
            return
        _check(reply, raw, first_contact=not cursor)
        rows += reply.rows
        empty = 0 if reply.rows else empty + 1
        if empty > _EMPTY_PAGES:
            raise CheckFailed(f"the feed says has_more on {empty} pages in a row without a row")
        cursor = reply.next_cursor
        if not reply.has_more:
            break
    else:
        raise CheckFailed(f"the feed still says has_more after {_PAGES} pages")
    held = dict(scene.held.get(step.onto, {}))
    touched: dict[str, bool] = {}
    for row in rows:
        alias = scene.alias_of(row.item_id)
        if alias is None:
            continue  # of another run, or of people
        touched[alias] = row.gone
        ever = [known for known in scene.world.history.get(alias, ()) if known is not None]
        if row.gone and ever and row.revision not in ever:
            raise CheckFailed(
                f"the gone row of {scene.called(alias)} names the revision {row.revision!r}, which it never had:"
                " that tells why it is gone"
            )
        if row.gone:
            held.pop(alias, None)
        else:
            held[alias] = row.revision
    _compare(step, scene, touched, held)
    if step.save:
        scene.held[step.save] = held
        scene.saved[f"{step.save}.cursor"] = cursor


async def _page(step: pb.Changes, scene: Scene, cursor: str) -> tuple[sibling.ListChangesResponse, Reply]:
    request = sibling.ListChangesRequest(cursor=cursor)
    try:
        return await scene.call("ListChanges", request, sibling.ListChangesResponse, token=step.token)
    except CallRefused as error:
        raise unexpected(error, "ListChanges") from None


def _check(reply: sibling.ListChangesResponse, raw: Reply, *, first_contact: bool) -> None:
    if reply.reannounce_required:
        what = "on first contact" if first_contact else "for the cursor it gave just now"
        raise CheckFailed(f"reannounce_required {what}")
    if not 0 < len(reply.next_cursor) <= CURSOR_LENGTH:
        raise CheckFailed(f"a page needs a next_cursor of 1 to {CURSOR_LENGTH} characters")
    if len(reply.rows) > PAGE_ROWS:
        raise CheckFailed(f"a page of {len(reply.rows)} rows; memoria takes {PAGE_ROWS}")
    for row in reply.rows:
        if not usable_name(row.item_id) or not usable_name(row.revision):
            raise CheckFailed(
                f"a row needs an item id and a revision of 1 to {NAME_LENGTH} characters, also where it is gone"
            )
        if not row.HasField("touched_at"):
            raise CheckFailed("a row without touched_at")
    facts_only(reply, raw, "rows", _FACTS, _AROUND)


def facts_only(reply: Message, raw: Reply, rows: str, facts: set[str], around: set[str]) -> None:
    """CheckFailed where a reply of the feed or the announce carries more than the contract names (CON-13)."""
    if media_type(raw.header("content-type")) == PROTO:
        messages = (reply, *getattr(reply, rows))
        if any(len(unknown_fields.UnknownFieldSet(message)) for message in messages):
            raise CheckFailed(f"the reply or one of its {rows} carries an unknown field")
        return
    document = json.loads(raw.body)
    if more := set(document) - around:
        raise CheckFailed(f"the reply carries more than the contract names: {', '.join(sorted(more)[:_NAMED])}")
    for row in document.get(rows) or ():
        if more := set(row) - facts:
            names = ", ".join(sorted(more)[:_NAMED])
            raise CheckFailed(f"one of the {rows} carries more than the contract names: {names}")


def _compare(step: pb.Changes, scene: Scene, touched: dict[str, bool], held: dict[str, str]) -> None:
    if named := [alias for alias in step.never if alias in touched]:
        raise CheckFailed(f"the feed names {some(scene, named)}, which never stood on the team rung")
    if step.nothing and touched:
        raise CheckFailed(f"nothing changed, and the feed tells of {some(scene, touched)}")
    if step.rows:
        wanted = {row.item: row.gone for row in step.rows}
        if wanted != touched:
            raise CheckFailed(f"expected rows {_told(wanted)}, got {_told(touched)}")
    if step.settles:
        settle(scene, held, "the feed")


def settle(scene: Scene, held: dict[str, str], what: str) -> None:
    """CheckFailed unless `held`, alias → revision, is what stands on the team rung."""
    team = {alias: revision for alias, revision in scene.model.team().items() if alias in scene.world.ids}
    if missing := set(team) - set(held):
        raise CheckFailed(f"{what} does not name {some(scene, missing)}, on the team rung")
    if extra := set(held) - set(team):
        raise CheckFailed(f"{what} leaves {some(scene, extra)} standing, which is not on the team rung")
    if other := {alias for alias, revision in team.items() if revision not in (None, held[alias])}:
        raise CheckFailed(f"{what} names another revision than the current one of {some(scene, other)}")


def some(scene: Scene, names: Collection[str]) -> str:
    """The first few with their ids, and how many more."""
    first = ", ".join(scene.called(name) for name in sorted(names)[:_NAMED])
    return first if len(names) <= _NAMED else f"{first} and {len(names) - _NAMED} more"


def _told(rows: dict[str, bool]) -> str:
    return ", ".join(f"{alias} {'gone' if gone else 'there'}" for alias, gone in sorted(rows.items())) or "none"
