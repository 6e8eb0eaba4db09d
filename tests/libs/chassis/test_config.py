"""Settings: unknown keys refused, secrets neither in the file nor in anything shown, garbage one clear line."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria_chassis.config import SHORT, Settings, load_settings
from memoria_chassis.errors import Kind, ServiceError

DIGEST = "a" * 64


def load(tmp_path: Path, text: str = "", **env: str) -> Settings:
    """Settings from a file and variables."""
    path = tmp_path / "memoria.toml"
    path.write_text(text, "utf-8")
    return load_settings({"MEMORIA_CONFIG": str(path), "PATH": "/bin", **env})


def refusal(tmp_path: Path, text: str = "", **env: str) -> str:
    """The one line of a refusal."""
    with pytest.raises(ServiceError) as caught:
        load(tmp_path, text, **env)
    assert caught.value.kind in {Kind.INVALID, Kind.PRECONDITION}
    assert "\n" not in caught.value.message
    assert "canary" not in caught.value.message
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[teams]\nlabel = 'x'", "teams"),
        ("[team]\nlable = 'x'", "team.lable"),
        ("[[sibling]]\napp = 'docs'\nurl = 'x'\ntokn = 'canary'", "tokn"),
        ("top = 1", "top"),
        ("[team]\nlabel = 'Not A Label canary'", "team.label"),
        ("[team]\nowners = ['canary']", "owners"),
        ("[team]\nowners = 'canary@x'", "owners"),
        ("[gateway]\nport = 70000", "port"),
        ("[ai]\nposition = 'canary'", "ai.position"),
        ("team = 3", "team"),
        ("sibling = ['canary']", "sibling"),
        ("[sibling]\napp = 'x'", "sibling"),
        ("[[sibling]]\napp='a'\nurl='x'\n[[sibling]]\napp='a'\nurl='y'", "twice"),
        ("[rpc]\ncallers = {gateway = 'canary'}", "rpc.callers.gateway"),
        (f"[rpc]\ncallers = {{gateway = '{DIGEST.upper()}'}}", "rpc.callers.gateway"),
    ],
)
def test_what_is_unknown_or_wrong_in_the_file_is_refused_by_its_name(tmp_path: Path, text: str, where: str) -> None:
    """The key is said, the value is not.

    Broken on 2026-11-30 to see red: extra="ignore" in the sections.
    """
    assert load(tmp_path).team.label == "demo"
    assert where in refusal(tmp_path, text)


@pytest.mark.parametrize(
    "variable",
    [
        "MEMORIA_TEAM",
        "MEMORIA_TEAM_LABLE",
        "MEMORIA_X",
        "MEMORIA_",
        "MEMORIA_SIBLING_DOCS_TOKEN",
        "MEMORIA_SIBLING_DOCS",
    ],
)
def test_what_is_unknown_in_the_environment_is_refused_by_its_name(tmp_path: Path, variable: str) -> None:
    """A typing error must not silently leave a default standing."""
    assert variable in refusal(tmp_path, **{variable: "canary"})


@pytest.mark.parametrize(
    "text",
    [
        "[keys]\ndek = 'canary'",
        "[keys]\nservice_key = 'canary'",
        "[home]\nurl = 'x'\ntoken = 'canary'",
        "[mail]\nurl = 'smtp://canary'",
        "[rpc]\ncaller_token = 'canary'",
        "[[sibling]]\napp = 'docs'\nurl = 'x'\npull_token = 'canary'",
        "[[sibling]]\napp = 'docs'\nurl = 'x'\nask_token = 'canary'",
    ],
)
def test_a_secret_by_value_in_the_file_is_refused(tmp_path: Path, text: str) -> None:
    """It names the two other ways; the secret itself is not repeated.

    Broken on 2026-11-30 to see red: `_is_secret` always False.
    """
    assert "_file or in the environment" in refusal(tmp_path, text)


def test_secrets_come_from_the_environment_or_from_files_and_show_in_nothing(tmp_path: Path) -> None:
    """Read where asked for, by value first; masked in repr, str and JSON."""
    (tmp_path / "token").write_text(" canary-file \n")
    settings = load(
        tmp_path,
        f"[[sibling]]\napp = 'docs'\nurl = 'http://x'\npull_token_file = '{tmp_path / 'token'}'",
        MEMORIA_DEK="canary-dek",
        MEMORIA_SIBLING_DOCS_ASK_TOKEN="canary-ask",
        MEMORIA_MAIL_URL="smtp://canary:canary@host",
    )
    assert settings.sibling[0].secret("pull_token") == "canary-file"
    assert settings.sibling[0].secret("ask_token") == "canary-ask"
    assert settings.keys.secret("dek") == "canary-dek"
    shown = f"{settings!r} {settings} {settings.model_dump_json()} {json.dumps(settings.model_dump(), default=str)}"
    assert "**********" in shown
    assert "canary" not in shown


def test_a_secret_that_is_missing_empty_or_unreadable_is_refused(tmp_path: Path) -> None:
    """Where it is asked for, with the names of both ways."""
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for text in ("", *(f"[keys]\ndek_file = '{tmp_path / name}'" for name in ("empty", "binary", "absent", ""))):
        with pytest.raises(ServiceError) as caught:
            load(tmp_path, text).keys.root("dek")
        assert caught.value.kind is Kind.PRECONDITION


def test_the_environment_goes_over_the_file(tmp_path: Path) -> None:
    """Lists by comma, tables as JSON, siblings by their app, paths and numbers by their kind."""
    settings = load(
        tmp_path,
        "[team]\nlabel = 'one'\nzone = 'example.test'\n[[sibling]]\napp = 'docs'\nurl = 'http://a'\nbodies = true",
        MEMORIA_TEAM_LABEL="two",
        MEMORIA_SIBLING_DOCS_URL="http://b",
        MEMORIA_SIBLING_SHEETS_URL="http://c",
        MEMORIA_RPC_CALLERS=json.dumps({"gateway": DIGEST}),
        MEMORIA_RPC_TLS_CERT_FILE="/x",
        MEMORIA_GATEWAY_PORT="0",
        MEMORIA_LIFELINE="1",
    )
    assert (settings.team.label, settings.team.zone, settings.gateway.port) == ("two", "example.test", 0)
    assert [(s.app, s.url, s.bodies) for s in settings.sibling] == [
        ("docs", "http://b", True),
        ("sheets", "http://c", None),
    ]
    assert settings.rpc.callers == {"gateway": DIGEST}
    assert settings.address_of("search").endswith("search.sock")
    assert "MEMORIA_RPC_CALLERS" in refusal(tmp_path, MEMORIA_RPC_CALLERS="{")
    assert "rpc.callers" in refusal(tmp_path, MEMORIA_RPC_CALLERS="[]")
    assert "sibling" in refusal(tmp_path, "sibling = ['x']", MEMORIA_SIBLING_DOCS_URL="x")
    assert "team" in refusal(tmp_path, "team = 3", MEMORIA_TEAM_LABEL="x")


def test_the_short_names_of_the_specification(tmp_path: Path) -> None:
    """DEP-01, AMD-09, EGR-02; owners are lowercased addresses, blanks and empty parts left out (AUT-13)."""
    settings = load(
        tmp_path,
        MEMORIA_OWNERS=" Ann@Example.test, ,bob@example.test,",
        MEMORIA_ZONE="oficina.works",
        MEMORIA_AI="local",
        MEMORIA_INSTANCE_KEY="x",
        MEMORIA_SERVICE_KEY="y",
    )
    assert settings.team.owners == ["ann@example.test", "bob@example.test"]
    assert (settings.team.zone, settings.ai.position) == ("oficina.works", "local")
    assert (settings.keys.secret("instance_key"), settings.keys.secret("service_key")) == ("x", "y")
    assert load(tmp_path).team.owners == []
    assert set(SHORT) == {f"MEMORIA_{name}" for name in ("DEK", "INSTANCE_KEY", "SERVICE_KEY", "OWNERS", "ZONE", "AI")}
    for owners in ("ann", "a@b@c", "@x", "x@", "a b@c"):
        refusal(tmp_path, MEMORIA_OWNERS=owners)


@pytest.mark.parametrize(
    "data", [b"=", b"[", b"\xff\xfe", b"a = 'canary", b"x = " + b"[" * 100_000, b"\x00", b"[a]\n[a]"]
)
def test_a_file_that_is_no_toml_is_one_line(tmp_path: Path, data: bytes) -> None:
    """And quotes nothing of it; a folder, or nothing, in its place likewise."""
    (tmp_path / "bad.toml").write_bytes(data)
    for path in (tmp_path / "bad.toml", tmp_path, tmp_path / "absent"):
        with pytest.raises(ServiceError) as caught:
            load_settings({"MEMORIA_CONFIG": str(path)})
        assert "canary" not in caught.value.message
        assert caught.value.__cause__ is None or "canary" not in str(caught.value.__cause__)


KEYS = st.sampled_from(["team", "keys", "sibling", "rpc", "mail", "home", "ai", "label", "owners", "x"])
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(KEYS, TREES, max_size=4),
    st.dictionaries(KEYS.map(lambda k: f"MEMORIA_{k.upper()}_LABEL"), st.text(max_size=5)),
)
def test_any_tree_is_settings_or_one_line(tree: dict[str, object], env: dict[str, str]) -> None:
    """Whatever the shape, with variables on top: never another exception."""
    from memoria_chassis import config

    copied = json.loads(json.dumps(tree))
    try:
        config._overlay(copied, env)
        config.Settings(**copied)
    except (ServiceError, ValueError):
        return
