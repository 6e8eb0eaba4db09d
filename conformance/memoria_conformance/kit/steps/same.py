"""Compares what steps saved, byte for byte."""

from memoria.conformance.v1 import suite_pb2 as pb
from memoria_conformance.kit.scene import CheckFailed, Scene


async def run(step: pb.Same, scene: Scene) -> None:
    """CheckFailed where any of them differs from the first."""
    first, *others = step.saved
    for name in others:
        if scene.saved[name] != scene.saved[first]:
            raise CheckFailed(
                f"the answers {first} and {name} must be the same bytes:"
                f" {scene.saved[first].decode(errors='replace')} against {scene.saved[name].decode(errors='replace')}"
            )
