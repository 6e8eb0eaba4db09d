"""What a case can do, one file a kind of step. Each takes its message and the scene, and raises CheckFailed."""

from collections.abc import Awaitable, Callable
from typing import Any

from memoria_conformance.kit.scene import Scene
from memoria_conformance.kit.steps import aggregate, announce, ask, changes, content, describe, http, same, state

StepFunction = Callable[[Any, Scene], Awaitable[None]]

STEPS: dict[str, StepFunction] = {
    "state": state.run,
    "ask": ask.run,
    "changes": changes.run,
    "announce": announce.run,
    "content": content.run,
    "aggregate": aggregate.run,
    "describe": describe.run,
    "http": http.run,
    "same": same.run,
}
"""By the name of the field in `Step.action`."""
