"""Compares what steps saved, byte for byte."""

from memoria.conformance.v1 import suite_pb2 as pb
from memoria_conformance.kit.scene import CheckFailed, Scene


async def run(step: pb.Same, scene: Scene) -> None:
    """CheckFailed where any of them differs from the first."""
    first, *others = step.saved
    for name in others:
        if scene.saved[name] != scene.saved[first]:
            one, two = scene.saved[first], scene.saved[name]
            at = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
            raise CheckFailed(
                f"the answers for {first} and {name} must be the same bytes, and differ from byte {at} on:"
                f" {_around(one, at)} against {_around(two, at)}"
            )


def _around(text: bytes, at: int) -> str:
    return text[max(0, at - 40) : at + 60].decode(errors="replace")
