"""Documents that would like to call out: nothing leaves the browser, nothing of theirs is clickable (F31)."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

MARKDOWN = """# Hostile <img src=https://evil.example/title.png> hostileword

![a](https://evil.example/?p=hostileword) and [a link](https://evil.example/click) and [ref][r].

<img src="https://evil.example/img.png" onerror="window.hit=1"><script>window.hit = 1</script>
<style>body { background: url(https://evil.example/css.png) }</style>
<svg onload="window.hit=1"></svg><iframe src="https://evil.example/frame"></iframe>

[data](data:text/html,<script>window.hit=1</script>) [script](javascript:window.hit=1) <https://evil.example/auto>

</mark></p></li><form action="https://evil.example/form"><button>hostileword</button></form>

[r]: https://evil.example/ref
"""
HTML = """<!doctype html><title>Hostile page <b>bold</b> hostileword</title><base href="https://evil.example/">
<meta http-equiv="refresh" content="0;url=https://evil.example/refresh">
<link rel="stylesheet" href="https://evil.example/style.css"><link rel="prefetch" href="https://evil.example/next">
<body background="https://evil.example/bg.png" onload="window.hit=1">
<h1>hostileword</h1><p style="background:url(https://evil.example/inline.png)">hostileword again</p>
<a href="https://evil.example/click">a</a><a href="javascript:window.hit=1">b</a><img src="https://evil.example/i.png">
&lt;script&gt;window.hit = 1&lt;/script&gt;<p>&lt;img src=https://evil.example/second.png onerror=window.hit=1&gt;</p>
"""
NAME = '<img src=x onerror=window.hit=1>"&.md'


@pytest.fixture(scope="module", autouse=True)
def papers(fleet) -> list[str]:
    """Both documents, taken in; their ids."""
    files = [
        ("f", (NAME, MARKDOWN)),
        ("f", ("page.html", HTML)),
        ("f", ("<script>window.hit=1</script>.txt", "hostileword")),
    ]
    reply = fleet.person("you@localhost").program.post("/api/v1/documents", files=files)
    assert reply.status_code == 201, reply.text
    return [document["document_id"] for entry in reply.json()["files"] for document in entry["documents"]]


def test_no_page_that_shows_them_calls_out_or_runs_them(fleet, visit, papers: list[str], scripts: bool) -> None:
    """Results, live results, document pages, deletion question. The watch sees every request and every console line.

    Presence: their text is on the page, address and all. Broken to see red: `autoescape=False` (elements of theirs),
    and with the policy left out too (requests).
    """
    page = visit(scripts=scripts)
    for path in ["/?q=hostileword", *(f"/documents/{id_}" for id_ in papers)]:
        page.goto(path)
        page.wait_for_load_state("networkidle")
        assert "hostileword" in page.inner_text("body")
        only_ours(fleet, page)
    page.goto(f"/documents/{papers[0]}")
    assert "https://evil.example/?p=hostileword" in page.inner_text("main")
    page.goto(f"/documents/{papers[0]}/delete")
    only_ours(fleet, page)
    page.goto("/")
    if scripts:
        page.get_by_role("searchbox").press_sequentially("hostileword")
        expect(page.locator("#results .results li").first).to_be_visible()
        only_ours(fleet, page)


def test_a_hostile_name_is_text_in_the_upload_list(fleet, visit, scripts: bool) -> None:
    """The script writes names as text, the page escapes them."""
    page = visit(scripts=scripts)
    page.goto("/")
    page.get_by_label("Files to add").set_input_files(
        {"name": NAME, "mimeType": "text/plain", "buffer": MARKDOWN.encode()}
    )
    page.get_by_role("button", name="Add to memoria").click()
    expect(page.locator("li.good .name")).to_have_text(re.compile("^<img src=x onerror=window.hit=1>"))
    only_ours(fleet, page)


@pytest.mark.parametrize(
    "query", ["<script>window.hit=1</script>", '"><img src=https://evil.example/q>', "';alert(1)//"]
)
def test_a_hostile_query_is_text(fleet, visit, query: str, scripts: bool) -> None:
    """In the box, the title, the links of paging."""
    page = visit(scripts=scripts)
    page.goto("/")
    page.get_by_role("searchbox").fill(query)
    with page.expect_navigation(url=re.compile(r"\?q=")):  # live search may have written the address by itself before
        page.get_by_role("button", name="Search", exact=True).click()
    assert page.get_by_role("searchbox").input_value() == query
    only_ours(fleet, page)


def only_ours(fleet, page) -> None:
    """Every element that loads, links or posts is ours; nothing of a document's became an element or ran."""
    found = page.locator("[href], [src], [action], [formaction], [style], [onerror], [onload], [background]")
    for element in found.element_handles():
        for name in ("href", "src", "action", "formaction"):
            value = element.get_attribute(name)
            assert value is None or re.match(
                r"/(?![/\\])|#(?:main|p\d+)$|http://demo\.(docs|sheets|calendar)\.localhost:", value
            ), value
        for name in ("style", "onerror", "onload", "background"):
            assert element.get_attribute(name) is None
    assert page.locator("main img, main svg, main iframe, main style, main script, main base, main meta").count() == 0
    assert page.evaluate("window.hit") is None
