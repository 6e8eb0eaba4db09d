"""Opening and sealing one chunk of 1.3 KB, beside the bare cipher."""

import os

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from bench.measure import Figure, figure, time_sync
from memoria_chassis.aead import SealContext, Sealer
from memoria_chassis.keys import ServiceKey

BODY = os.urandom(1325)  # the mean chunk of the benchmark corpus
COUNT = 20_000


def run() -> list[tuple[Figure, Figure | None]]:
    """(figure, peer) rows."""
    sealer, context = Sealer(ServiceKey(bytes(32))), SealContext("chunk", "chunks", "document#7", "text")
    bare = AESGCM(bytes(32))
    nonce, data = os.urandom(12), context.associated_data(b"12345")
    sealed, raw = sealer.seal(BODY, context), bare.encrypt(nonce, BODY, data)
    peer_open = figure("AESGCM.decrypt, 1.3 KB", time_sync(COUNT, lambda: bare.decrypt(nonce, raw, data)))
    peer_seal = figure("AESGCM.encrypt, 1.3 KB", time_sync(COUNT, lambda: bare.encrypt(os.urandom(12), BODY, data)))
    return [
        (peer_open, None),
        (figure("Sealer.open, 1.3 KB", time_sync(COUNT, lambda: sealer.open(sealed, context))), peer_open),
        (peer_seal, None),
        (figure("Sealer.seal, 1.3 KB", time_sync(COUNT, lambda: sealer.seal(BODY, context))), peer_seal),
    ]
