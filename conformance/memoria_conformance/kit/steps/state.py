"""Changes the sibling's state, and the model with it."""

from google.protobuf import json_format

from memoria.conformance.v1 import suite_pb2 as pb
from memoria_conformance.kit.hook_client import Unsupported
from memoria_conformance.kit.learn import learn
from memoria_conformance.kit.scene import CannotTry, Scene

_NEW_REVISION = {"edit"}


async def run(step: pb.State, scene: Scene) -> None:
    """One verb. Raises CannotTry where the hook does not have it, HookBroke where it fails."""
    params = scene.fill(json_format.MessageToDict(step.params))
    if (alias := params.get("item")) is not None:
        scene.item_id(alias)  # an item that the sibling could not hold cannot be changed
    try:
        answer = await scene.ask_hook(step.verb, params)
    except Unsupported:
        fixed = scene.target.hook is not None and scene.target.hook.fixed
        why = "a state file cannot change anything" if fixed else f"the state hook does not do {step.verb}"
        raise CannotTry(why) from None
    if step.verb == "add_token":
        scene.tokens_added.add((params["consumer"], params["scope"]))
    revision = answer.get("revision")
    scene.model.apply(step.verb, params, revision if isinstance(revision, str) else None)
    if step.verb in _NEW_REVISION:
        item = scene.model.items[params["item"]]
        if item.log[-1] is None:
            item.log[-1] = await learn(scene, params["item"])
        scene.world.history[params["item"]].append(item.log[-1])
