"""Finds out at which revision an item stands, from the sibling's own calls, where its state hook does not say."""

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_conformance.kit.scene import CallRefused, CheckFailed, Scene

_PAGES = 400  # more than any world of the suite has items


async def learn(scene: Scene, alias: str) -> str | None:
    """The current revision by S3, else by S1a, else by S1; None where none of them tells it.

    A sibling whose answers here are wrong fails the cases about those answers: this only looks.
    """
    if scene.model.items[alias].rung != "team" or alias not in scene.world.ids:
        return None
    return await _by_content(scene, alias) or (await _listed(scene)).get(scene.item_id(alias))


async def learn_all(scene: Scene) -> None:
    """Fill in what the hook left open for every item on the team rung, reading the announce or the feed once."""
    open_ones = [item for item in scene.model.items.values() if item.log[-1] is None and item.rung == "team"]
    if not open_ones:
        return
    listed = await _listed(scene)
    for item in open_ones:
        if item.alias in scene.world.ids:
            item.log[-1] = listed.get(scene.item_id(item.alias)) or await _by_content(scene, item.alias)


async def _by_content(scene: Scene, alias: str) -> str | None:
    """As S3 says."""
    if pb.CALL_GET_CONTENT not in scene.described.calls:
        return None
    request = pb.GetContentRequest(item_id=scene.item_id(alias))
    try:
        return (await scene.call("GetContent", request, pb.GetContentResponse))[0].revision or None
    except (CallRefused, CheckFailed):
        return None


async def _listed(scene: Scene) -> dict[str, str]:
    """Item id → revision as S1a says, else as S1 does; empty where neither can be read."""
    try:
        if pb.CALL_ANNOUNCE in scene.described.calls:
            return await _announced(scene)
        if pb.CALL_LIST_CHANGES in scene.described.calls:
            return await _fed(scene)
    except (CallRefused, CheckFailed):
        pass  # its own cases say what is wrong with it
    return {}


async def _announced(scene: Scene) -> dict[str, str]:
    found: dict[str, str] = {}
    token = ""
    for _ in range(_PAGES):
        reply, _raw = await scene.call("Announce", pb.AnnounceRequest(page_token=token), pb.AnnounceResponse)
        found |= {item.item_id: item.revision for item in reply.items}
        token = reply.next_page_token
        if not token:
            break
    return found


async def _fed(scene: Scene) -> dict[str, str]:
    found: dict[str, str] = {}
    cursor = ""
    for _ in range(_PAGES):
        reply, _raw = await scene.call("ListChanges", pb.ListChangesRequest(cursor=cursor), pb.ListChangesResponse)
        found |= {row.item_id: row.revision for row in reply.rows}
        cursor = reply.next_cursor
        if not reply.has_more:
            break
    return found
