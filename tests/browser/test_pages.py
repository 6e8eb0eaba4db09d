"""What a person does, in a browser, with scripts on and off (RET-02, SRF-04)."""

import re
from pathlib import Path

import pytest
from harness import wait_for
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

BEN, SEFA = "ben@localhost", "sefa@localhost"


def search(page, words: str) -> None:
    """Type and submit."""
    page.goto("/")
    page.get_by_role("searchbox").fill(words)
    with page.expect_navigation(url=re.compile(r"\?q=")):  # live search may have written the address by itself before
        page.get_by_role("button", name="Search", exact=True).click()


def titles(page) -> list[str]:
    """The results' titles."""
    return page.locator(".results h2").all_inner_texts()


def test_sign_in_and_out(fleet, visit, scripts: bool) -> None:
    """Form, link from the mail, landed where the way began; signed out, and the door is shut again.

    Broken to see red: `Referrer-Policy: no-referrer`, under which Chromium sends the form with `Origin: null`.
    """
    page = visit(None, scripts=scripts)
    page.goto("/?q=harbour")
    assert "/signin" in page.url
    before = {path.name for path in fleet.outbox.glob("*.eml")}
    page.get_by_label("Your e-mail address").fill(f" {SEFA.upper()} ")
    page.get_by_role("button", name="Send me a link").click()
    expect(page.get_by_role("status")).to_contain_text("If this address is on the team's list")
    link = wait_for(lambda: fleet.link_to(SEFA, before), what="the mail")
    page.goto(link)
    assert page.url == f"{fleet.url}/?q=harbour"
    expect(page.get_by_label("Account")).to_contain_text(SEFA)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading")).to_have_text("Signed out")
    page.goto("/")
    assert page.url == f"{fleet.url}/signin"


def test_a_result_opens_at_its_passage(visit, scripts: bool) -> None:
    """Search, open a result, and the passage that matched is the page's target and in view."""
    page = visit(scripts=scripts)
    search(page, "jellyfish blocked the cooling intake")
    first = page.locator(".results li").first
    expect(first.locator("mark").first).to_be_visible()
    locator = first.locator(".locator").inner_text()
    first.locator("h2 a").click()
    assert page.url.endswith(locator)
    target = page.locator(f"section{locator}")
    expect(target).to_be_in_viewport()
    assert "jellyfish" in target.inner_text().lower()
    assert page.locator("section:target").count() == 1


def test_pages_of_fifty_follow_one_another(fleet, visit, scripts: bool) -> None:
    """Fifty on the first, others on the second, and back again to the same first (F28)."""
    you = fleet.person("you@localhost")
    if not you.search("paginationword")["results"]:
        files = [("f", (f"row{n}.md", f"# Row {n}\n\nThe paginationword is here.\n")) for n in range(60)]
        assert you.program.post("/api/v1/documents", files=files, timeout=120).status_code == 201
    page = visit(scripts=scripts)
    search(page, "paginationword")
    first = titles(page)
    assert len(first) == 50
    expect(page.get_by_role("link", name="Previous")).to_have_count(0)
    page.get_by_role("link", name="Next").click()
    page.wait_for_url(re.compile("page=2"))
    second = titles(page)
    assert len(second) == 10
    assert set(first) & set(second) == set()
    expect(page.get_by_role("link", name="Next")).to_have_count(0)
    assert page.locator("ol.results").get_attribute("start") == "51"
    page.get_by_role("link", name="Previous").click()
    page.wait_for_url(lambda url: "page=" not in url)
    assert titles(page) == first


def test_files_are_added_each_with_its_own_line(visit, scripts: bool, tmp_path: Path) -> None:
    """Three files: two taken and linked, the refused one said in words; what was taken is found."""
    word = f"upload{'with' if scripts else 'without'}scripts"
    (tmp_path / "good.md").write_text(f"# Good {word}\n\nHere stands {word}.\n")
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.7\nnothing\n%%EOF")
    (tmp_path / "more.txt").write_text(f"More of {word}.\n")
    page = visit(scripts=scripts)
    page.goto("/")
    page.get_by_label("Files to add").set_input_files([tmp_path / name for name in ("good.md", "bad.pdf", "more.txt")])
    page.get_by_role("button", name="Add to memoria").click()
    lines = page.locator("#upload-list li" if scripts else "ul.files li")
    expect(lines).to_have_count(3)
    expect(page.locator("li.good")).to_have_count(2)
    expect(page.locator("li.bad")).to_have_text(re.compile(r"bad\.pdf\s*This PDF is damaged and cannot be read\."))
    assert [line.split("\n")[0].strip() for line in page.locator(".files .name").all_inner_texts()] == [
        *("good.md", "bad.pdf", "more.txt"),
    ]
    expect(page.locator("progress")).to_have_count(0)
    page.get_by_role("link", name=f"Good {word}").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Good {word}")
    search(page, word)
    assert sorted(titles(page)) == [f"Good {word}", "more.txt"]


def test_progress_is_shown_while_a_file_is_sent(fleet, visit, tmp_path: Path) -> None:
    """With scripts each file has a bar until its answer is there."""
    (tmp_path / "slow.md").write_text("# Slow\n\nslow word\n")
    page = visit()
    page.goto("/")
    held = []
    page.route("**/documents", lambda route: held.append(route))
    page.get_by_label("Files to add").set_input_files(tmp_path / "slow.md")
    page.get_by_role("button", name="Add to memoria").click()
    expect(page.locator("#upload-list progress")).to_have_count(1)
    held[0].continue_()
    expect(page.locator("#upload-list li.good")).to_have_count(1)


def test_a_document_is_deleted_after_a_question(fleet, visit, scripts: bool) -> None:
    """Asking deletes nothing; keeping keeps; deleting deletes, is said, and its words are found no more (F10)."""
    word = f"deletion{'with' if scripts else 'without'}scripts"
    you = fleet.person("you@localhost")
    you.program.post("/api/v1/documents", files={"f": ("d.md", f"# Doomed {word}\n\n{word}\n")})
    page = visit(scripts=scripts)
    search(page, word)
    page.locator(".results h2 a").click()
    page.get_by_role("link", name="Delete…").click()
    expect(page.get_by_role("heading")).to_have_text("Delete this document?")
    page.get_by_role("link", name="Keep it").click()
    assert you.titles(word) == [f"Doomed {word}"]
    page.get_by_role("link", name="Delete…").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_role("status")).to_contain_text("The document was deleted")
    search(page, word)
    expect(page.locator(".empty")).to_contain_text("Nothing matched")


def test_a_siblings_document_is_not_deleted_here(visit, scripts: bool) -> None:
    """No button, and its app is named as the place to go."""
    page = visit(scripts=scripts)
    search(page, "jellyfish blocked the cooling intake")
    page.locator(".results h2 a").first.click()
    expect(page.get_by_role("link", name="Open in Docs")).to_be_visible()
    expect(page.get_by_role("link", name="Delete…")).to_have_count(0)


def test_tokens_are_made_and_revoked(fleet, visit, scripts: bool) -> None:
    """Shown once, works, listed, revoked, works no more."""
    import httpx

    page = visit(scripts=scripts)
    page.goto("/")
    page.get_by_role("link", name="Tokens").click()
    page.get_by_label("What is it for?").fill(f"laptop {scripts}")
    page.get_by_role("button", name="Make a token").click()
    token = page.locator("#new-token").inner_text()
    ask = {"url": f"{fleet.url}/api/v1/search?q=harbour", "headers": {"Authorization": f"Bearer {token}"}}
    assert httpx.get(**ask).status_code == 200
    page.goto("/account/tokens")
    assert token not in page.content()
    row = page.locator("li", has_text=f"laptop {scripts}")
    row.get_by_role("button", name="Revoke").click()
    expect(page.locator("li", has_text=f"laptop {scripts}")).to_have_count(0)
    assert httpx.get(**ask).status_code == 401


def test_the_appearance_is_kept_and_the_search_too(visit, scripts: bool) -> None:
    """Dark stays dark over pages, the search one was on comes back, system goes back to the browser's own."""
    page = visit(scripts=scripts)
    search(page, "harbour")
    paper = "() => getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(paper) if scripts else None
    page.get_by_role("button", name="dark").click()
    assert page.url.endswith("/?q=harbour")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    if scripts:
        assert page.evaluate(paper) != light
    page.goto("/account/tokens")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.get_by_role("button", name="system").click()
    assert page.locator("html").get_attribute("data-theme") == "system"


def test_two_people_see_different_results(fleet, visit, scripts: bool) -> None:
    """The same words at the same time in two browsers: one sees the paper, the other no trace of it (G05)."""
    words = "deckhands second season federation table"
    pages = {address: visit(address, scripts=scripts) for address in ("you@localhost", BEN)}
    for page in pages.values():
        search(page, words)
    assert "Salary review 2026, reasons" in titles(pages["you@localhost"])
    assert "Salary" not in pages[BEN].content()
    link = pages["you@localhost"].get_by_role("link", name="Salary review 2026, reasons").first.get_attribute("href")
    reply = fleet.person(BEN).browser.get(link)
    assert reply.status_code == 404


def test_live_search_replaces_the_region_and_nothing_else(visit) -> None:
    """Typing finds without a reload; the address follows; an earlier answer never overwrites a later one."""
    page = visit()
    page.goto("/")
    page.evaluate("window.kept = true")
    box = page.get_by_role("searchbox")
    box.press_sequentially("jellyfish", delay=20)
    expect(page.locator("#results .results li").first).to_contain_text(re.compile("jellyfish", re.IGNORECASE))
    expect(page).to_have_url(re.compile(r"\?q=jellyfish$"))
    expect(page).to_have_title("jellyfish · memoria")
    held = []
    page.route("**/search?q=tides", lambda route: held.append(route))
    box.fill("tides")
    wait_for(lambda: page.wait_for_timeout(50) or held, 5, "the held search")
    box.fill("zqxnothing")
    expect(page.locator("#results .empty")).to_contain_text("Nothing matched")
    held[0].abort()
    page.wait_for_timeout(200)
    expect(page.locator("#results .empty")).to_contain_text("Nothing matched")
    assert page.evaluate("window.kept") is True


def test_a_live_search_that_fails_says_so(visit, watch) -> None:
    """Neither the last answer nor silence stands for it (RUL-11)."""
    watch.expected = ("Failed to load resource",)
    page = visit()
    page.goto("/?q=jellyfish")
    assert page.locator(".results li").count()
    page.route("**/search?*", lambda route: route.abort())
    page.get_by_role("searchbox").fill("jellyfish and more")
    expect(page.locator("#results")).to_have_text("memoria cannot be reached. Try again in a moment.")
    page.unroute("**/search?*")
    page.get_by_role("searchbox").fill("é" * 1000)
    expect(page.locator("#results")).to_have_text("A query may have 1024 bytes.")


def test_a_late_sibling_is_said_on_the_page(fleet, visit, scripts: bool) -> None:
    """The page names the app and the count (F29)."""
    page = visit(scripts=scripts)
    with fleet.fault("docs", "sleep", seconds=5, call="Authorize"):
        search(page, "ferry crew winter")
        expect(page.locator(".notice").first).to_have_text(re.compile(r"^Docs did not answer; \d+ results withheld\.$"))
