"""Changes the sibling's state, and the model with it."""

import copy

from google.protobuf import json_format

from memoria.conformance.v1 import suite_pb2 as pb
from memoria_conformance.kit.hook_client import Json, Unsupported
from memoria_conformance.kit.learn import learn
from memoria_conformance.kit.scene import CannotTry, Scene


async def run(step: pb.State, scene: Scene) -> None:
    """One verb. Raises CannotTry where the hook does not have it, HookBroke where it fails."""
    written = json_format.MessageToDict(step.params)
    for number in range(1, max(1, step.times) + 1):
        params = scene.fill(written)
        if step.times:
            params = {key: _numbered(value, number) for key, value in params.items()}
        if params.get("consumer") == "second":
            params["consumer"] = scene.second
        await _once(step.verb, params, scene)


def _numbered(value: object, number: int) -> object:
    return value.replace("{n}", str(number)) if isinstance(value, str) else value


async def _once(verb: str, params: Json, scene: Scene) -> None:
    if (alias := params.get("item")) is not None:
        scene.item_id(alias)  # an item that the sibling could not hold cannot be changed
    try:
        answer = await scene.ask_hook(verb, params)
    except Unsupported:
        fixed = scene.target.hook is not None and scene.target.hook.fixed
        why = "a state file cannot change anything" if fixed else f"the state hook does not do {verb}"
        raise CannotTry(why) from None
    if verb == "add_token":
        scene.tokens_added.add((params["consumer"], params["scope"]))
    revision = answer.get("revision")
    scene.model.apply(verb, params, revision if isinstance(revision, str) else None)
    if verb in ("edit", "move_rung"):
        await _note_revision(params["item"], scene, fresh=verb == "edit")


async def _note_revision(alias: str, scene: Scene, *, fresh: bool) -> None:
    """What the item is at now, where the hook did not say; an app may count a move as a revision, too."""
    item = scene.model.items[alias]
    if item.rung == "team" and (item.log[-1] is None or not fresh):
        now = await learn(scene, alias)
        if now is not None and now != item.log[-1]:
            if fresh or item.log[-1] is None:
                item.log[-1] = now
            else:
                item.past.append((item.word, item.body, copy.deepcopy(item.tabs)))
                item.log.append(now)
                fresh = True
    if fresh:
        scene.world.history[alias].append(item.log[-1])
