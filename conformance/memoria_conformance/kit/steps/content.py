"""S3: the content of one item, which must be the item of the world."""

from google.protobuf import json_format

from memoria.conformance.v1 import suite_pb2 as pb
from memoria.sibling.v1 import sibling_pb2 as sibling
from memoria_conformance.kit.model import Item
from memoria_conformance.kit.scene import CallRefused, CannotTry, CheckFailed, Scene
from memoria_conformance.kit.steps.refusal import must_refuse, unexpected
from memoria_contract.hosts import Origin


async def run(step: pb.Content, scene: Scene) -> None:
    """One call."""
    revision = (scene.told(step.item, step.revision) or "") if step.revision else ""
    if step.revision and not revision:
        if not step.HasField("refused"):
            raise CannotTry(f"the revision of {step.item} is not known: give `revisions` in the state hook's answer")
        revision = "1"
    request = sibling.GetContentRequest(item_id=scene.item_id(step.item), revision=revision)
    extra = scene.fill(json_format.MessageToDict(step.extra)) if step.HasField("extra") else None
    call = scene.call("GetContent", request, sibling.GetContentResponse, token=step.token, extra=extra)
    what = f"GetContent of {step.item}"
    if step.HasField("refused"):
        reply = await must_refuse(call, step.refused, what)
        if step.save:
            scene.saved[step.save] = reply.comparable_head() + reply.body
        return
    try:
        content, _ = await call
    except CallRefused as error:
        if error.code and error.code in step.or_refused.codes:
            return
        raise unexpected(error, what) from None
    if not content.revision or (revision and content.revision != revision):
        raise CheckFailed(f"{what}: the reply must say the revision asked for")
    item = scene.model.items[step.item]
    if revision and revision != item.log[-1]:
        _older(content, item, revision, what)
        return
    _compare(content, item, scene, what)


def _older(content: sibling.GetContentResponse, item: Item, revision: str, what: str) -> None:
    """An older revision that the sibling still holds must be that one's text."""
    if revision in item.log[:-1]:
        word = item.past[item.log.index(revision)][0]
        if not any(word in text for text in _shown(content)):
            raise CheckFailed(f"{what}: an older revision came with another text than its own")


def _shown(content: sibling.GetContentResponse) -> list[str]:
    return [content.body, *(cell.display for tab in content.tabs for cell in tab.cells)]


def _compare(content: sibling.GetContentResponse, item: Item, scene: Scene, what: str) -> None:
    if item.log[-1] not in (None, content.revision):
        raise CheckFailed(f"{what}: the revision is not the current one")
    if content.title != item.title:
        raise CheckFailed(f"{what}: the title is not the item's")
    if not any(item.word in text for text in _shown(content)):
        raise CheckFailed(f"{what}: the text it must hold is neither in body nor in a cell")
    if not content.HasField("date"):
        raise CheckFailed(f"{what}: there is no date")
    if content.author not in sibling.AuthorKind.values():
        raise CheckFailed(f"{what}: an author kind the contract does not know")
    if not _origin(scene).owns(content.link):
        raise CheckFailed(f"{what}: the link must open on this sibling's own origin, {scene.target.channel.origin}")
    if item.tabs:
        _compare_cells(content, item, what)


def _compare_cells(content: sibling.GetContentResponse, item: Item, what: str) -> None:
    for tab in content.tabs:
        places = [(cell.row, cell.column) for cell in tab.cells]
        if places != sorted(places) or len(set(places)) < len(places) or (0, 0) in places:
            raise CheckFailed(f"{what}: cells come by row, then column, counted from 1, each once")
        if any(not cell.display or not cell.format_code for cell in tab.cells):
            raise CheckFailed(f"{what}: a cell without a display or a format code")
    names = [tab.name for tab in content.tabs]
    wanted = [tab["name"] for tab in item.tabs]
    if [name for name in names if name in wanted] != wanted:
        raise CheckFailed(f"{what}: the tabs are not all there, or not in their order")
    came = {(tab.name, cell.row, cell.column): cell for tab in content.tabs for cell in tab.cells}
    for place, cell in item.cells().items():
        if place not in came:
            raise CheckFailed(f"{what}: the cell at {place} is missing")
        if "text" in cell and came[place].display != cell["text"]:
            raise CheckFailed(f"{what}: the text at {place} is another")
        if "value" in cell and came[place].format_code != cell["format"]:
            raise CheckFailed(f"{what}: the format code at {place} is another")


def _origin(scene: Scene) -> Origin:
    scheme, _, rest = scene.target.channel.origin.partition("://")
    host, _, port = rest.rpartition(":") if rest.rpartition(":")[2].isdigit() else (rest, "", "")
    return Origin(scheme, host, int(port) if port else {"http": 80, "https": 443}[scheme])
