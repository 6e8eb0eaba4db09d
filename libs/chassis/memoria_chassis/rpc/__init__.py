"""Calls between our own services: grpc.aio over Unix sockets in a pod, over mutual TLS between hosts."""
