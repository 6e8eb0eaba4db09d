"""What a conversion child gives up before it reads the first hostile byte.

Limits on memory, time, file writes and open files always hold. Two more are taken where the kernel offers them: a
network namespace with no way out, and a Landlock ruleset under which only the interpreter's own files can be read.
"""

import ctypes
import os
import resource
import signal
import struct
import sys

MEMORY = 1024 * 1024 * 1024
CPU_SECONDS = 30
_OPEN_FILES = 64

_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_DUMPABLE = 4
_PR_SET_PDEATHSIG = 1
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_PATH_BENEATH = 1
_EXECUTE, _READ_FILE, _READ_DIR = 1, 4, 8
_ALL_V1 = (1 << 13) - 1  # every right of Landlock's first version


def confine() -> None:
    """Give up what can be given up. Called once, first thing in the child."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # an orphan would only burn its CPU seconds
        if libc.unshare(_CLONE_NEWNET) != 0:
            libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
        _landlock(libc)


def _landlock(libc: ctypes.CDLL) -> None:
    """Only the interpreter's files can be read, nothing written or executed. Older kernels answer an error: left."""
    attributes = struct.pack("=Q", _ALL_V1)
    ruleset = libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return
    readable = {sys.prefix, sys.base_prefix, "/usr/lib", "/lib", "/lib64", "/usr/share", "/etc/ssl"}
    readable |= {path for path in sys.path if path}
    for path in readable:
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        rights = _READ_FILE | _READ_DIR if os.path.isdir(path) else _READ_FILE
        libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, handle), 0)
        os.close(handle)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
