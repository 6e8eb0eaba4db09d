"""Nothing readable reaches storage or a log (G01, G04, TRU-05, TRU-06)."""

import base64
import gzip
import hashlib
from pathlib import Path

import pytest

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
