"""Four settings or none, and a key of its own (AUT-22)."""

import base64
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memoria_chassis.config import load_settings
from memoria_chassis.errors import Kind, ServiceError
from memoria_chassis.keys import encode_key, service_key_from
from memoria_chassis.settings import SERVICES
from memoria_cli.place import Place
from memoria_cli.up.provision import Environments
from memoria_gateway.__main__ import make_home

WHOLE = {
    "MEMORIA_HOME_ISSUER": "https://home.example.test",
    "MEMORIA_HOME_CONSUMER_ID": "memoria-demo",
    "MEMORIA_HOME_KEYS_BASE64": base64.b64encode(b'{"keys": []}').decode(),
    "MEMORIA_HOME_DEK_BASE64": base64.b64encode(b"\xfb\xff" * 16).decode(),
}


def start(environment: dict[str, str], own: bytes = b"o" * 32) -> bytes | None:
    """The exchange key with which a gateway of this environment would start; `own` is its service key."""
    home = load_settings(environment).home_sign_in
    return home.exchange_key([own]) if home else None


def refusal(environment: dict[str, str], own: bytes = b"o" * 32) -> str:
    """The sentence that stops the start; it repeats no value."""
    with pytest.raises(ServiceError) as stopped:
        start(environment, own)
    assert "\n" not in stopped.value.message
    assert WHOLE["MEMORIA_HOME_DEK_BASE64"] not in stopped.value.message
    return stopped.value.message


@pytest.mark.parametrize("given", [c for n in (1, 2, 3) for c in combinations(sorted(WHOLE), n)])
@pytest.mark.parametrize("rest", ["absent", "empty"])
def test_some_without_the_others_stop_the_start(given: tuple[str, ...], rest: str) -> None:
    """Every part of the four; a variable that is empty is not set.

    Broken to see it red, each in turn: the public three not compared; the key not asked about.
    """
    empty = {} if rest == "absent" else dict.fromkeys(WHOLE.keys() - set(given), "")
    assert "set together or not at all" in refusal({name: WHOLE[name] for name in given} | empty)


def test_all_and_none_start() -> None:
    """With all, there is a home to sign in by and still the lone shape; with a roster, no home to sign in by."""
    assert start(WHOLE) == b"\xfb\xff" * 16
    settings = load_settings(WHOLE)
    assert settings.roster_home is None
    assert WHOLE["MEMORIA_HOME_DEK_BASE64"] not in repr(settings.home_sign_in)
    assert load_settings({}).home_sign_in is None
    suite = load_settings({"MEMORIA_HOME_URL": "https://demo.home.example.test"})
    assert suite.roster_home is not None
    assert suite.home_sign_in is None


def test_a_roster_beside_it_stops_the_start() -> None:
    """The adapter is the lone shape's: a subject is no member of a roster. Broken to see it red: both let through."""
    assert "exclude each other" in refusal(WHOLE | {"MEMORIA_HOME_URL": "https://demo.home.example.test"})


def test_a_root_key_is_no_exchange_key() -> None:
    """Where the roots are at hand, as at provisioning, and in the gateway, which has only what one of them leads to.

    Broken to see it red, each in turn: the roots not compared; the derived key not compared.
    """
    key = base64.b64decode(WHOLE["MEMORIA_HOME_DEK_BASE64"])
    for own in (key, service_key_from(key, "gateway").key):
        assert "not a key of its own" in refusal(WHOLE, own)


@pytest.mark.parametrize("root", ["MEMORIA_DEK", "MEMORIA_INSTANCE_KEY"])
def test_provisioning_hands_no_root_out_as_the_exchange_key(tmp_path: Path, root: str) -> None:
    """And the exchange key to the gateway alone; whom it is withheld from starts all the same.

    Broken to see it red, each in turn: the key not looked at in provisioning; handed to every service.
    """
    place, run = Place(tmp_path), tmp_path / "run"
    base = WHOLE | {root: encode_key(base64.b64decode(WHOLE["MEMORIA_HOME_DEK_BASE64"]))}
    with pytest.raises(ServiceError, match="not a key of its own"):
        Environments(place, load_settings(base), base, run, 8080)
    base = WHOLE | {root: encode_key(b"r" * 32)}
    made = Environments(place, load_settings(base), base, run, 8080)
    for service in SERVICES:
        environment = made.of(service)
        assert ("MEMORIA_HOME_DEK_BASE64" in environment) == (service == "gateway")
        assert load_settings({name: environment[name] for name in environment if name.startswith("MEMORIA_HOME_")})


@pytest.mark.parametrize("key", ["AAAA", "not a key", "é"])
def test_an_exchange_key_that_is_none_stops_the_start(key: str) -> None:
    """32 bytes of base64, or one clear sentence."""
    assert "home.dek_base64" in refusal(WHOLE | {"MEMORIA_HOME_DEK_BASE64": key})


BAD = [
    "http://home.example.test",
    "https://home.example.test/",
    "https://home.example.test/path",
    "https://HOME.example.test",
    "https://user@home.example.test",
    "https://home.example.test:443",
    "https://home.example.test:0x50",
    "https://home.example.test?x",
    "https://home.example.test; script-src *",
    "https://hôme.example.test",
    "https://",
    "home.example.test",
    "javascript:alert(1)",
]


@pytest.mark.parametrize("origin", BAD)
@pytest.mark.parametrize("name", ["MEMORIA_HOME_ISSUER", "MEMORIA_HOME_DIRECTORY_ORIGIN"])
def test_an_origin_is_written_as_a_browser_writes_it(name: str, origin: str) -> None:
    """It is compared with `Origin` and stands in the policy's `form-action`: nothing else may be in it."""
    assert "origin" in refusal(WHOLE | {name: origin})


def test_a_local_home_may_be_cleartext_and_have_a_port() -> None:
    """`http` on *.localhost alone."""
    for origin in ("http://localhost:9000", "http://demo.home.localhost:9000", "https://home.example.test:8443"):
        found = load_settings(WHOLE | {"MEMORIA_HOME_ISSUER": origin}).home_sign_in
        assert found is not None
        assert found.issuer == origin


def test_another_teams_home_is_refused() -> None:
    """RUL-07: a browser is sent to our own team's host in the zone, or to one that is nobody's."""
    zone = WHOLE | {"MEMORIA_ZONE": "suite.test", "MEMORIA_TEAM_LABEL": "demo"}
    assert "another team's" in refusal(zone | {"MEMORIA_HOME_ISSUER": "https://other.home.suite.test"})
    for origin in ("https://demo.home.suite.test", "https://home.suite.test"):
        assert load_settings(zone | {"MEMORIA_HOME_ISSUER": origin}).home_sign_in


def test_the_directory_has_the_suites_own_name_too() -> None:
    """`HOME_DIRECTORY_ORIGIN`, validated like the other; ours wins; without a home it is nothing to us."""
    suites = WHOLE | {"HOME_DIRECTORY_ORIGIN": "https://apps.example.test"}
    for environment, expected in (
        (suites, "https://apps.example.test"),
        (suites | {"MEMORIA_HOME_DIRECTORY_ORIGIN": "https://mine.example.test"}, "https://mine.example.test"),
    ):
        found = load_settings(environment).home_sign_in
        assert found is not None
        assert found.directory_origin == expected
    assert "origin" in refusal(WHOLE | {"HOME_DIRECTORY_ORIGIN": "apps"})
    assert load_settings({"HOME_DIRECTORY_ORIGIN": "apps"}).home is None


def test_keys_that_are_none_stop_the_gateway() -> None:
    """An empty key set is found at the start and not at the first sign-in; so is an issuer that is ourselves."""
    process: Any = SimpleNamespace(settings=load_settings(WHOLE), clock=None)
    process.key = lambda: service_key_from(b"i" * 32, "gateway")
    database: Any = None  # no file is touched before the refusal
    with pytest.raises(ServiceError) as stopped:
        make_home(process, database, "https://demo.memoria.example")
    assert stopped.value.kind is Kind.INVALID
    with pytest.raises(ServiceError, match="own origin"):
        make_home(process, database, WHOLE["MEMORIA_HOME_ISSUER"])
    process.settings = load_settings({})
    assert make_home(process, database, "https://demo.memoria.example") is None
