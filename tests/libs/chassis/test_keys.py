"""The key tree: what derives from what, and what a key never shows."""

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import ServiceKey, decode_key, encode_key, fingerprint, new_key, service_key_from

DEK = bytes(range(32))


def hkdf(key: bytes, info: bytes, length: int = 32) -> bytes:
    """RFC 5869 with no salt, from HMAC alone."""
    prk = hmac.digest(bytes(32), key, "sha256")
    return hmac.digest(prk, info + b"\x01", "sha256")[:length]


@pytest.mark.parametrize("key", [b"", b"short", bytes(31), bytes(33)])
def test_keys_of_another_length_are_refused(key: bytes) -> None:
    """A root and a service key have 32 bytes."""
    for make in (lambda: ServiceKey(key), lambda: service_key_from(key, "search"), lambda: decode_key(encode_key(key))):
        with pytest.raises(ServiceError) as caught:
            make()
        assert caught.value.kind is Kind.INVALID


@pytest.mark.parametrize("text", ["", "=", "ä" * 43, "a b" * 20, "x" * 44, "\ud800", "!" * 43, "A" * 42 + "="])
def test_what_is_no_key_is_refused_without_being_repeated(text: str) -> None:
    """The sentence never holds what was given."""
    with pytest.raises(ServiceError) as caught:
        decode_key(text)
    assert not text or text not in caught.value.message


def test_the_tree_is_hkdf_sha256_with_fixed_names() -> None:
    """TRU-01: computed beside the library, so that a changed name or hash is seen: every sealed value hangs on it."""
    service = service_key_from(DEK, "search")
    assert service.key == hkdf(DEK, b"memoria/service/search/v1")
    purpose = service.purpose("chunk")
    assert purpose.key == hkdf(service.key, b"memoria/purpose/chunk/v1")
    assert purpose.key_id == hkdf(purpose.key, b"memoria/key-id/v1", 4)


def test_each_service_and_each_purpose_has_its_own_key() -> None:
    """A stolen key opens what is its own and nothing beside it."""
    services = [service_key_from(root, name) for root in (DEK, bytes(32)) for name in ("search", "ingest")]
    keys = {service.purpose(purpose).key for service in services for purpose in ("chunk", "title")}
    assert len(keys) == 8


def test_a_fingerprint_is_keyed() -> None:
    """TRU-05: HMAC under the purpose key; a bare hash would confirm a file to anybody."""
    one, two = (ServiceKey(bytes([n]) * 32).purpose("external-id") for n in (1, 2))
    assert fingerprint(one, b"body") == hmac.digest(one.key, b"body", "sha256") != fingerprint(two, b"body")
    assert fingerprint(one, b"body") != hashlib.sha256(b"body").digest()


def test_no_key_shows_itself() -> None:
    """Neither in a repr nor in an f-string."""
    service = ServiceKey(b"canary-canary-canary-canary-cana")
    assert "canary" in repr(service.key)
    for shown in (service, service.purpose("chunk")):
        assert "canary" not in f"{shown!r} {shown}"
        assert repr(service.purpose("chunk").key) not in repr(shown)


@given(st.binary(min_size=32, max_size=32))
def test_a_key_survives_its_text(key: bytes) -> None:
    """With and without padding, with white space around it."""
    assert decode_key(encode_key(key)) == decode_key(f" {encode_key(key)}=\n") == key


def test_new_keys_differ() -> None:
    """32 bytes each."""
    assert len({new_key() for _ in range(100)}) == 100
    assert len(new_key()) == 32
