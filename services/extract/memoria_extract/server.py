"""ExtractService in position *off*: it says so, and refuses all model work (AMD-11, EGR-02)."""

from typing import NoReturn

import grpc

from memoria.extract.v1 import extract_pb2, extract_pb2_grpc
from memoria_chassis.errors import Kind, ServiceError


def _off() -> NoReturn:
    raise ServiceError(Kind.PRECONDITION, "the assistant is off: this instance runs and calls no model")


class ExtractServer(extract_pb2_grpc.ExtractServiceServicer):
    """No client is wired, so there is nothing here that could send anything."""

    async def Describe(
        self, request: extract_pb2.DescribeRequest, context: grpc.aio.ServicerContext
    ) -> extract_pb2.DescribeResponse:
        """The switch position."""
        return extract_pb2.DescribeResponse(position=extract_pb2.POSITION_OFF)

    async def Embed(
        self, request: extract_pb2.EmbedRequest, context: grpc.aio.ServicerContext
    ) -> extract_pb2.EmbedResponse:
        """Refused."""
        _off()

    async def Locate(
        self, request: extract_pb2.LocateRequest, context: grpc.aio.ServicerContext
    ) -> extract_pb2.LocateResponse:
        """Refused."""
        _off()

    async def Answer(
        self, request: extract_pb2.AnswerRequest, context: grpc.aio.ServicerContext
    ) -> extract_pb2.AnswerResponse:
        """Refused."""
        _off()
