"""ULIDs that only ever grow: 48 bits of time and 80 of chance, as 26 characters of Crockford's base 32."""

import secrets
import time

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Ulids:
    """Makes ULIDs; each is greater than the one before, also within a millisecond or when the clock steps back."""

    def __init__(self) -> None:
        self._last = 0

    def __call__(self) -> str:
        """The next one."""
        fresh = (time.time_ns() // 1_000_000 << 80) | secrets.randbits(80)
        self._last = max(fresh, self._last + 1)
        return "".join(_ALPHABET[self._last >> shift & 31] for shift in range(125, -1, -5))
