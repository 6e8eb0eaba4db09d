"""What a conversion child gives up before it reads the first hostile byte.

Limits on memory, time, file writes and open files always hold. Two more are taken where the kernel offers them: a
network namespace with no way out, and a Landlock ruleset under which only the interpreter's own files can be read.
"""

import ctypes
import resource
import signal
import sys

from memoria_ingest.convert.landlock import restrict

MEMORY = 1024 * 1024 * 1024
CPU_SECONDS = 30
_OPEN_FILES = 64

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_DUMPABLE = 4
_PR_SET_PDEATHSIG = 1


def confine() -> dict[str, bool]:
    """Give up what can be given up. Called once, first thing in the child.

    Says which of the two that depend on the kernel were taken: `network` (none) and `files` (the interpreter's only).
    """
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))  # no helper that would outlive its parent's limits
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    taken = {"network": False, "files": False}
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        # A user namespace first, also for root: what is left of root then owns nothing outside of it.
        taken["network"] = libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0 or libc.unshare(_CLONE_NEWNET) == 0
        libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # an orphan would only burn its CPU seconds
        taken["files"] = restrict(libc, readable())
    return taken


def readable() -> set[str]:
    """The interpreter's own files and its libraries: all that a parser has to read."""
    return {sys.prefix, sys.base_prefix, "/usr/lib", "/lib", "/lib64", "/usr/share"} | {
        path for path in sys.path if path
    }
