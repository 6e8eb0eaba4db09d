"""Which URLs the host rule accepts (CON-19, RUL-07, G11)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria_chassis.errors import Kind, ServiceError
from memoria_contract.connect_client import ConnectClient
from memoria_contract.hosts import Origin, check_sibling_url, sibling_host
from memoria_contract.resolver import LoopbackResolver

HOSTILE = [
    "https://evil.docs.oficina.works",
    "https://acme-evil.docs.oficina.works",
    "https://evil-acme.docs.oficina.works",
    "https://acm.docs.oficina.works",
    "https://acme.docs.evil.oficina.works",
    "https://evil.acme.docs.oficina.works",
    "https://acme.docs.oficina.works.evil.example",
    "https://acme.docs.oficina.works.",
    "https://acme.docs.oficina.works.:443",
    "https://acme.sheets.oficina.works",
    "https://acme.docsx.oficina.works",
    "https://docs.oficina.works",
    "https://acmexdocs.oficina.works",
    "https://ACME.docs.oficina.works",
    "https://acme.docs.Oficina.works",
    "HTTPS://acme.docs.oficina.works",
    "https://acme.docs.oficina.works@evil.example",
    "https://evil.example@acme.docs.oficina.works",
    "https://user:pw@acme.docs.oficina.works",
    "https://acme.docs.oficina.works:443@evil.example",
    "https://acme.docs.oficina.works\\@evil.example",
    "https://acme.docs.oficina.works/path",
    "https://acme.docs.oficina.works//",
    "https://acme.docs.oficina.works?x=1",
    "https://acme.docs.oficina.works#x",
    "https://acme.docs.oficina.works/?",
    "https://acme.docs.oficina.works:0",
    "https://acme.docs.oficina.works:65536",
    "https://acme.docs.oficina.works:4٤3",
    "https://acme.docs.oficina.works:",
    "https://acme%2edocs.oficina.works",
    "https://acme.docs.oficina。works",
    "https://аcme.docs.oficina.works",
    "https://acme.docs.oficina.works\n",
    " https://acme.docs.oficina.works",
    "https://acme.docs.oficina.works\x00",
    "https:acme.docs.oficina.works",
    "//acme.docs.oficina.works",
    "acme.docs.oficina.works",
    "ftp://acme.docs.oficina.works",
    "file:///etc/passwd",
    "http://acme.docs.oficina.works",
    "https://127.0.0.1",
    "https://[::1]",
    "https://2130706433",
    "",
]


@pytest.mark.parametrize("url", HOSTILE)
def test_refused_by_production_constructor(url: str) -> None:
    """The one constructor refuses every host that is not ours.

    Broken on 2026-11-30 to see red: `host != expected` removed.
    """
    with pytest.raises(ServiceError) as caught:
        ConnectClient(url, "token", team="acme", zone="oficina.works", app="docs")
    assert caught.value.kind in (Kind.INVALID, Kind.REFUSED)
    assert "evil" not in caught.value.message


def test_cleartext_is_refused_where_the_zone_only_looks_local() -> None:
    """`http` needs a zone that ends in the label `localhost`, not in those letters."""
    for zone in ("notlocalhost", "localhost.example", "oficina.works"):
        with pytest.raises(ServiceError) as caught:
            check_sibling_url(f"http://acme.docs.{zone}", "acme", zone, "docs")
        assert caught.value.kind is Kind.REFUSED


@pytest.mark.parametrize(
    ("team", "zone", "app"),
    [
        ("", "localhost", "docs"),
        ("a.b", "localhost", "docs"),
        ("Acme", "localhost", "docs"),
        ("acme", "", "docs"),
        ("acme", "localhost.", "docs"),
        ("acme", "localhost", ""),
        ("acme", "localhost", "docs/"),
        ("-acme", "localhost", "docs"),
        ("a" * 64, "localhost", "docs"),
        ("127", "0.1", "0"),
    ],
)
def test_labels_that_are_no_labels_are_refused(team: str, zone: str, app: str) -> None:
    """Team, app and zone come from configuration, and could smuggle a host of their own."""
    with pytest.raises(ServiceError) as caught:
        sibling_host(team, zone, app)
    assert caught.value.kind is Kind.INVALID


@given(st.text(max_size=80))
def test_any_text_is_refused_or_is_ours(url: str) -> None:
    """Whatever the text, the answer is a ServiceError or exactly our host."""
    try:
        origin = check_sibling_url(url, "acme", "localhost", "docs")
    except ServiceError:
        return
    assert origin.host == "acme.docs.localhost"


def test_our_own_host_is_accepted() -> None:
    """Ours with https, with a port, with the one slash, and with http under localhost in any configured zone."""
    assert check_sibling_url("https://acme.docs.oficina.works/", "acme", "oficina.works", "docs") == Origin(
        "https", "acme.docs.oficina.works", 443
    )
    origin = check_sibling_url("http://demo.docs.localhost:9102", "demo", "localhost", "docs")
    assert origin.url == "http://demo.docs.localhost:9102"
    assert check_sibling_url("http://demo.docs.dev.localhost", "demo", "dev.localhost", "docs").port == 80


@pytest.mark.parametrize(
    ("link", "owned"),
    [
        ("http://demo.docs.localhost:9102", True),
        ("http://demo.docs.localhost:9102/items/1#x", True),
        ("http://demo.docs.localhost:91020/items/1", False),
        ("http://demo.docs.localhost:9102@evil.example/", False),
        ("http://demo.docs.localhost:9102\\@evil.example/", False),
        ("http://demo.docs.localhost:9102/a\nb", False),
        ("https://demo.docs.localhost:9102/items/1", False),
        ("javascript:alert(1)", False),
        ("", False),
    ],
)
def test_links_stay_on_the_apps_own_host(link: str, owned: bool) -> None:
    """A link is the app's own only under its exact origin."""
    assert Origin("http", "demo.docs.localhost", 9102).owns(link) is owned


async def test_localhost_is_resolved_by_us() -> None:
    """Names under .localhost are 127.0.0.1 without a question to DNS (RFC 6761)."""
    resolver = LoopbackResolver()
    assert [found["host"] for found in await resolver.resolve("demo.docs.localhost", 9102)] == ["127.0.0.1"]
    assert resolver._system is None
    await resolver.close()
