"""What an assertion may be, tried on the check itself (AUT-29): refusals first."""

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from home_issuer import HomeIssuer, encode
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jws
from joserfc.jwk import ECKey

from memoria_chassis.errors import Kind, ServiceError
from memoria_gateway.home.assertion import LIFETIME_SECONDS, MAX_BYTES, SKEW_SECONDS, Verifier
from memoria_gateway.home.model import Rejected

ISSUER, CONSUMER, NONCE = "https://home.example.test", "memoria-demo", "n" * 43
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
T = int(NOW.timestamp())
HOME = HomeIssuer(ISSUER, CONSUMER, "", clock=lambda: T)
VERIFIER = Verifier(ISSUER, CONSUMER, HOME.keys_base64())


def refused(token: str, now: datetime = NOW) -> bool:
    """Whether it is; anything but our one refusal is a failure of the test."""
    try:
        VERIFIER.verify(token, now)
    except Rejected:
        return True
    return False


def jwks(*keys: dict[str, Any]) -> str:
    """A JWK set as it is configured."""
    return base64.b64encode(json.dumps({"keys": list(keys)}).encode()).decode()


PAYLOAD = json.dumps(HOME.claims(NONCE))
PUBLIC = HOME.key.public_key().public_bytes_raw()


def test_a_good_one_is_taken() -> None:
    """Presence: what the refusals below start from; its subject, nonce and end are what it says."""
    found = VERIFIER.verify(HOME.assertion(NONCE, aud=[CONSUMER]), NOW)
    assert (found.subject, found.nonce, found.expires) == ("person-1", NONCE, T + 120)
    assert "person-1" not in repr(found)


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example"},
        {"iss": ISSUER + "/"},
        {"iss": None},
        {"aud": "another"},
        {"aud": [CONSUMER, "another"]},
        {"aud": []},
        {"aud": None},
        {"exp": T},
        {"exp": T - 1},
        {"exp": T + LIFETIME_SECONDS + 1},
        {"exp": None},
        {"exp": float(T + 60)},
        {"exp": str(T + 60)},
        {"exp": True},
        {"iat": T + SKEW_SECONDS + 1, "exp": T + 120},
        {"iat": None},
        {"nbf": T + SKEW_SECONDS + 1},
        {"nbf": None},
        {"nonce": None},
        {"nonce": ""},
        {"nonce": "é" * 43},
        {"jti": None},
        {"jti": ""},
        {"jti": 5},
        {"sub": None},
        {"sub": ""},
        {"sub": ["person-1"]},
        {"sub": "x" * 257},
        {"sub": "a\nb"},
    ],
)
def test_a_claim_that_is_missing_or_wrong_refuses(changes: dict[str, Any]) -> None:
    """Issuer, audience, times, nonce, id, subject; signed by the right key all the same.

    Broken to see it red, each in turn: the audience not compared; the issuer not compared; `exp` not compared with now;
    its distance from `iat` not bounded; `iat` and `nbf` not compared.
    """
    assert not refused(HOME.assertion(NONCE))
    assert refused(HOME.assertion(NONCE, **changes))


@pytest.mark.parametrize(
    "header",
    [
        {"alg": "none", "kid": HOME.kid},
        {"alg": "HS256", "kid": HOME.kid},
        {"alg": "ES256", "kid": HOME.kid},
        {"alg": "EdDSA", "kid": "another"},
        {"alg": "EdDSA"},
        {"alg": "EdDSA", "kid": [HOME.kid]},
        {"alg": ["EdDSA"], "kid": HOME.kid},
        {"kid": HOME.kid},
        {"alg": "EdDSA", "kid": HOME.kid, "crit": ["exp"]},
        {"alg": "EdDSA", "kid": HOME.kid, "jku": "https://evil.example/keys"},
        {"alg": "EdDSA", "kid": HOME.kid, "jwk": {"kty": "OKP", "crv": "Ed25519", "x": encode(PUBLIC)}},
        {"alg": "EdDSA", "kid": HOME.kid, "typ": "at+jwt"},
    ],
)
def test_a_header_that_is_not_the_one_expected_refuses(header: dict[str, Any]) -> None:
    """Signed by the right key: the algorithm is the key's, the key is a pinned one, and nothing else is heeded.

    Broken to see it red: further members of the header let through.
    """
    assert refused(HOME.sign(PAYLOAD.encode(), header))


def test_a_signature_by_nobody_or_by_what_is_public_refuses() -> None:
    """None at all, HS256 with the public key as its secret, another's key under the pinned name, one byte changed.

    Broken to see it red: the payload read without checking the signature.
    """
    body = f"{encode(json.dumps({'alg': 'none', 'kid': HOME.kid}).encode())}.{encode(PAYLOAD.encode())}"
    assert refused(f"{body}.")
    assert refused(body)
    head = encode(json.dumps({"alg": "HS256", "kid": HOME.kid}).encode())
    signed = f"{head}.{encode(PAYLOAD.encode())}"
    for secret in (PUBLIC, encode(PUBLIC).encode(), HOME.keys_base64().encode()):
        assert refused(f"{signed}.{encode(hmac.digest(secret, signed.encode(), hashlib.sha256))}")
    other = HomeIssuer(ISSUER, CONSUMER, "", clock=lambda: T)
    assert refused(other.sign(PAYLOAD.encode(), {"alg": "EdDSA", "kid": HOME.kid}))
    good = HOME.assertion(NONCE)
    head, payload, signature = good.split(".")
    assert refused(f"{head}.{encode(PAYLOAD.replace('person-1', 'person-2').encode())}.{signature}")
    assert refused(f"{head}.{payload}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}")


def test_two_members_of_one_name_refuse() -> None:
    """Two subjects, two audiences, two algorithms: which one counts is not left to a parser.

    Broken to see it red: `_once` keeping the last one.
    """
    for doubled in ('"sub": "person-2"', f'"aud": "{CONSUMER}"', f'"exp": {T + 60}'):
        assert refused(HOME.sign((PAYLOAD[:-1] + f", {doubled}}}").encode()))
    head = encode(f'{{"alg": "none", "alg": "EdDSA", "kid": "{HOME.kid}"}}'.encode())
    signed = f"{head}.{encode(PAYLOAD.encode())}"
    assert refused(f"{signed}.{encode(HOME.key.sign(signed.encode()))}")


def test_what_is_overlong_or_no_object_refuses() -> None:
    """Beyond 8 KiB, a list, a number, deep nesting, broken UTF-8; all of it signed."""
    for payload in (
        b"[]",
        b"5",
        b"null",
        b"",
        b"\xff",
        b"[" * 3000,
        json.dumps(HOME.claims(NONCE) | {"x": "y" * MAX_BYTES}).encode(),
    ):
        assert refused(HOME.sign(payload))


@given(
    st.one_of(
        st.text(),
        st.binary().map(encode),
        st.lists(st.binary(max_size=60).map(encode), min_size=3, max_size=3).map(".".join),
    )
)
def test_garbage_is_refused_and_never_more_than_that(token: str) -> None:
    """No other exception, whatever comes."""
    assert refused(token)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(sorted(HOME.claims(NONCE))), JSON, st.booleans())
def test_any_value_in_any_claim_is_taken_or_refused(name: str, value: Any, header: bool) -> None:
    """Signed, with one claim or one member of the header replaced by anything: a decision, and no exception."""
    if header:
        member = "alg" if name < "j" else "kid"
        good = {"alg": ("EdDSA", "Ed25519"), "kid": (HOME.kid,)}[member]
        head = {"alg": "EdDSA", "kid": HOME.kid} | {member: value}
        assert refused(HOME.sign(PAYLOAD.encode(), head)) == (value not in good)
    else:
        refused(HOME.sign(json.dumps(HOME.claims(NONCE) | {name: value}).encode()))


def test_p256_and_both_names_of_ed25519_are_taken() -> None:
    """ES256 (RFC 7518), EdDSA (RFC 8037) and Ed25519 (RFC 9864), signed by another library where there is one."""
    key = ECKey.import_key(generate_private_key(SECP256R1()))
    public = key.as_dict(private=False) | {"kid": "p"}
    verifier = Verifier(ISSUER, CONSUMER, jwks({k: public[k] for k in ("kty", "crv", "x", "y", "kid")}))
    token = jws.serialize_compact({"alg": "ES256", "kid": "p"}, PAYLOAD, key, algorithms=["ES256"])
    assert verifier.verify(token, NOW).subject == "person-1"
    for name in ("EdDSA", "Ed25519"):
        assert not refused(HOME.sign(PAYLOAD.encode(), {"alg": name, "kid": HOME.kid}))


OKP = {"kty": "OKP", "crv": "Ed25519", "x": encode(PUBLIC), "kid": "a"}


@pytest.mark.parametrize(
    "keys",
    [
        "",
        "not base64!",
        base64.b64encode(b"{}").decode(),
        base64.b64encode(b'{"keys": 5}').decode(),
        jwks(),
        jwks(OKP, OKP),
        jwks({**OKP, "d": encode(Ed25519PrivateKey.generate().private_bytes_raw())}),
        jwks({**OKP, "kid": ""}),
        jwks({k: v for k, v in OKP.items() if k != "kid"}),
        jwks({**OKP, "crv": "X25519"}),
        jwks({**OKP, "x": "AAAA"}),
        jwks({"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "r"}),
        jwks({"kty": "oct", "k": encode(b"k" * 32), "kid": "o"}),
        jwks({"kty": "EC", "crv": "P-384", "x": "AA", "y": "AA", "kid": "e"}),
        jwks({"kty": "EC", "crv": "P-256", "x": encode(b"\1" * 32), "y": encode(b"\1" * 32), "kid": "e"}),
    ],
)
def test_keys_that_are_not_pinned_public_ones_stop_the_start(keys: str) -> None:
    """Empty, doubled, private, without a name, of another kind, no point of the curve: one sentence (AUT-22).

    Broken to see it red: `d` let through.
    """
    with pytest.raises(ServiceError, match=r"home\.keys_base64 is not") as stopped:
        Verifier(ISSUER, CONSUMER, keys)
    assert stopped.value.kind is Kind.INVALID
