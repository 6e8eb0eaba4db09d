"""Serves a demo app on the loopback until it is told to stop or its parent is gone."""

import os
import sys
import threading

import uvicorn
from starlette.types import ASGIApp


def serve(app: ASGIApp, port: int) -> None:
    """Serve on 127.0.0.1 without access logs. With MEMORIA_LIFELINE=1 the end of stdin stops it: the parent died."""
    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=port,
        access_log=False,
        log_level="warning",
        lifespan="off",
        ws="none",
        date_header=False,
        timeout_graceful_shutdown=1,  # seconds; a call that a test told to sleep must not outlive the test
    )
    server = uvicorn.Server(config)
    if os.environ.get("MEMORIA_LIFELINE") == "1":
        threading.Thread(target=_watch, args=(server,), daemon=True).start()
    server.run()


def _watch(server: uvicorn.Server) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass  # whatever is written there says that the parent lives
    server.should_exit = True
