"""Nothing readable reaches storage or a log (G01, G04, TRU-05, TRU-06)."""

import base64
import gzip
import hashlib
from pathlib import Path

import pytest
from harness import wait_for

pytestmark = pytest.mark.fleet

WORDS = "zyzzyva quincunx brouhaha"
NAME = "flibbertigibbet-report.md"
BODY = f"# Canary {WORDS}\n\n## Trail of the serendipity\n\nThe passage says {WORDS} once.\n"


def holders(folder: Path, needle: bytes, *, leave: tuple[str, ...] = ()) -> list[str]:
    """The files under `folder`, WAL and bucket included, whose bytes hold `needle`, packed or not."""
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.relative_to(folder).parts[0] in leave:
            continue
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        if needle.lower() in data.lower():
            found.append(str(path.relative_to(folder)))
    return found


def test_what_apps_told_us_is_sealed_too(new_fleet) -> None:
    """Titles, texts, item ids and orders of siblings' items stand in no file of the services (TRU-02, RUL-05).

    An item that could not be fetched is owed, one that moved on is ordered again: both are written down, sealed. Left
    out of the grep: the demo apps' own databases. Broken to see red: the owed pair written unsealed.
    """
    fleet = new_fleet()
    fleet.settled()
    made = fleet.sibling("docs", "create", alias="doc.k", title="Zyzzyva", body="# Zyzzyva\n\nquincunx\n", rung="team")
    item = made["aliases"]["doc.k"]
    you = fleet.person("you@localhost")
    wait_for(lambda: you.titles("quincunx") == ["Zyzzyva"], what="the pull")
    with fleet.fault("docs", "status", call="GetContent", status=503):
        fleet.sibling("docs", "edit", item="doc.k", body="# Zyzzyva\n\nquincunx brouhaha\n")
        wait_for(lambda: any(n["kind"] == "stale" for n in you.search("quincunx")["notices"]), what="STALE")
        wait_for(lambda: next(s for s in fleet.status()["sources"] if s["app"] == "docs")["owed"] == 1, what="the debt")
        for needle in (b"zyzzyva", b"quincunx", item.encode()):
            assert holders(fleet.data, needle, leave=("demo", "outbox")) == [], needle
    wait_for(lambda: [r["title"] for r in you.search("brouhaha")["results"]] == ["Zyzzyva"], what="the refetch")
    assert holders(fleet.data, item.encode(), leave=("outbox",)) != []  # the grep sees it where it stands readable


def test_a_canary_is_found_by_search_and_by_no_grep(new_fleet, tmp_path: Path) -> None:
    """Title, trail, text, file name and query stand in no file of ours, nor do a person's address and token.

    Presence first: the search finds them, and the same grep finds the canary in the file it came from. Left out of the
    grep: `demo/`, the demo apps' own databases, and `outbox/` and `cli-tokens.json`, which exist only where no mail
    server is configured. Broken to see red: the chunk's text written unsealed; the query added to a log line.
    """
    fleet = new_fleet("--no-demo")
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / NAME).write_text(BODY)
    assert holders(folder, WORDS.encode()) == [NAME]
    assert fleet.cli("add", str(folder)).returncode == 0
    you = fleet.person("you@localhost")
    assert you.titles(WORDS) == [f"Canary {WORDS}"]
    for number in range(100):
        you.search(f"{WORDS} {number}")
    you.page(f"{WORDS} page")
    you.browser.get("/documents/zyzzyva-none")
    you.browser.get("/", params={"q": WORDS * 100})
    token = you.program.headers["Authorization"].split()[1]
    digest = hashlib.sha256(BODY.encode())
    needles = [
        b"zyzzyva",
        b"quincunx",
        b"serendipity",
        b"flibbertigibbet",
        b"you@localhost",
        token.encode(),
        digest.hexdigest().encode(),
        digest.digest(),
        base64.b64encode(digest.digest()),
    ]
    private = ("demo", "outbox", "cli-tokens.json", "run.json")
    for running in (True, False):
        if not running:
            fleet.stop()
        for needle in needles:
            assert holders(fleet.data, needle, leave=private) == [], needle
    assert b"zyzzyva" not in fleet.output.read_bytes()
    assert any(path.stat().st_size for path in (fleet.data / "logs").iterdir())
