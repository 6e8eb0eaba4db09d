"""Landlock: a process gives up the file system, the network and its neighbours, as far as the kernel knows how.

The structures are in linux/landlock.h; each version of the interface adds rights, and asking an older kernel for one it
does not know is an error, so the version is asked first.
"""

import ctypes
import os
import struct
from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION = 1  # flag: answer the version instead
_PATH_BENEATH = 1
_READ_FILE, _READ_DIR = 4, 8
_NET_FROM, _SCOPE_FROM = 4, 6


def version(libc: ctypes.CDLL) -> int:
    """The kernel's version of Landlock; 0 or less where there is none."""
    return int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION))


def restrict(libc: ctypes.CDLL, readable: Iterable[str]) -> bool:
    """Leave only reading below `readable`. False where the kernel has no Landlock, and nothing was given up.

    Needs PR_SET_NO_NEW_PRIVS.
    """
    known = version(libc)
    if known < 1:
        return False
    ruleset = libc.syscall(_CREATE_RULESET, *_attributes(known), 0)
    if ruleset < 0:
        return False
    for path in readable:
        try:
            handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        rights = _READ_FILE | _READ_DIR if os.path.isdir(path) else _READ_FILE
        libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, handle), 0)
        os.close(handle)
    done = libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return done


def _attributes(known: int) -> tuple[bytes, ctypes.c_size_t]:
    """struct landlock_ruleset_attr: everything the version can take away is taken away."""
    # 13 rights in version 1, then REFER, TRUNCATE (a file cut to nothing needs no write), and IOCTL_DEV in version 5.
    rights = 13 + (known >= 2) + (known >= 3) + (known >= 5)
    fields = [(1 << rights) - 1]
    if known >= _NET_FROM:
        fields.append(0b11)  # bind and connect over TCP
    if known >= _SCOPE_FROM:
        fields.append(0b11)  # abstract Unix sockets, and signals to anybody outside
    packed = struct.pack(f"={len(fields)}Q", *fields)
    return packed, ctypes.c_size_t(len(packed))
