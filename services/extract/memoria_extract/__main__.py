"""Start extract."""

from memoria.extract.v1 import extract_pb2, extract_pb2_grpc
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.process import Process, run_service
from memoria_extract.server import ExtractServer

SERVICE = extract_pb2.DESCRIPTOR.services_by_name["ExtractService"]


async def build(process: Process) -> None:
    """Config, then server. A position that this build cannot keep is refused, not approximated."""
    if process.settings.ai.position != "off":
        raise ServiceError(
            Kind.PRECONDITION,
            "ai.position is not off, and this build has no model: the local and provider positions are not built yet",
        )
    server = process.serve_grpc("memoria_extract", [SERVICE])
    extract_pb2_grpc.add_ExtractServiceServicer_to_server(ExtractServer(), server)


if __name__ == "__main__":
    run_service("extract", build)
