"""How pages look where a test can tell: width, contrast, focus, names (issue A, 6)."""

import pytest

pytestmark = pytest.mark.browser

LONG = "Wordwithoutanybreak" * 12

CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const linear = (v) => v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = rgba(getComputedStyle(e).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim().slice(0, 30);
    if (!text || !element.getClientRects().length) continue;
    const both = [light(rgba(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
    found.push([(both[0] + 0.05) / (both[1] + 0.05), element.tagName + "." + element.className, text]);
  }
  return found;
}"""
"""WCAG 2.2, 1.4.3: the ratio of every run of text to what is behind it."""

NAME = """e => (e.getAttribute("aria-label") || (e.labels && e.labels[0] || e).textContent).trim()"""


@pytest.fixture(scope="module")
def pages(fleet) -> dict[str, str]:
    """A path for each kind of page."""
    you = fleet.person("you@localhost")
    body = f"# {LONG}\n\n## {LONG}\n\nlayoutword {LONG}\n\n| a | b |\n|---|---|\n| {LONG} | 2 |\n\n```\n{LONG}\n```\n"
    reply = you.program.post("/api/v1/documents", files={"f": (f"{LONG}.md", body)})
    document = reply.json()["files"][0]["documents"][0]["document_id"]
    you.browser.post("/account/tokens", data={"csrf": you.csrf(), "name": LONG[:60], "scope": "read", "days": "7"})
    sheet = next(r for r in you.search("crew wages")["results"] if r["app"] == "sheets")["document_id"]
    return {
        "start": "/",
        "results": "/?q=ferry+crew+winter",
        "long": f"/?q=layoutword+{LONG}",
        "nothing": "/?q=zqxnothing",
        "further": "/?q=zqxnothing&page=3",
        "document": f"/documents/{document}",
        "sheet": f"/documents/{sheet}",
        "delete": f"/documents/{document}/delete",
        "tokens": "/account/tokens",
        "sources": "/connectors?said=announce&app=docs",
        "absent": "/documents/none",
        "wrong": "/?q=x&page=0",
        "licences": "/help/open-source",
        "signed-out": "/signed-out",
    }


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_and_can_be_read(visit, watch, pages: dict[str, str], width: int, scheme: str) -> None:
    """No sideways scrolling, contrast of at least 4.5 to 1, every control named, one main heading at most."""
    watch.expected = ("Failed to load resource",)
    page = visit(width=width, scheme=scheme)
    door = visit(None, width=width, scheme=scheme)
    doors = {"sign-in": "/signin", "sent": "/signin?sent=1", "rate": "/signin?err=rate"}
    for name, path in (pages | doors).items():
        seen = door if name in doors else page
        seen.goto(path)
        inner, outer = seen.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert inner <= outer, name
        for ratio, where, text in seen.evaluate(CONTRAST):
            assert ratio >= 4.5, (name, where, text, round(ratio, 2))
        for control in seen.locator("a, button, input:not([type=hidden]), select, summary").element_handles():
            named = control.evaluate(NAME)
            assert named, (name, control.evaluate("e => e.outerHTML"))
        assert seen.locator("h1").count() <= 1, name


def test_the_focus_can_be_seen_and_the_content_skipped_to(visit) -> None:
    """The first Tab shows the way past the header; each focused control has an outline."""
    page = visit()
    page.goto("/account/tokens")
    for number in range(8):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
        assert outline == "3px", page.evaluate("document.activeElement.outerHTML")
        if number == 0:
            assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
            assert page.evaluate("document.activeElement.getAttribute('href')") == "#main"


def test_a_link_within_a_result_is_a_link_and_no_box(visit) -> None:
    """Links of a result's second line stand in it as words do. Broken to see it red: the class of the owner's cards."""
    page = visit()
    page.goto("/?q=harbour")
    link = page.locator(".results a", has_text="Open in").first
    shape = link.evaluate("e => [getComputedStyle(e).borderTopWidth, getComputedStyle(e).paddingTop]")
    assert shape == ["0px", "0px"]
