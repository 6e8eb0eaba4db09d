"""`memoria add`: nine formats in, each found by a phrase from inside it; what is broken is one line, and alone."""

import io
import json
import zipfile
from email.message import EmailMessage
from pathlib import Path

import docx
import openpyxl
import pytest
from pptx import Presentation
from reportlab.pdfgen import canvas

pytestmark = pytest.mark.fleet


def write_papers(folder: Path) -> dict[str, tuple[str, str, list[str]]]:
    """One file of each format; returns file → (phrase, title, trail behind the folder's name)."""
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("# Orchard plan\n\nIntro.\n\n## Grafting\nScions of *bramley* wait in sand.\n")
    (folder / "b.txt").write_text("The gasket came from Tromsø on a Tuesday.\n")
    (folder / "c.html").write_text(
        "<title>Kiln log</title><h1>Kiln log</h1><h2>Firing</h2><p>Cone six was reached at <b>dawn</b>.</p>"
    )
    sheet = io.BytesIO()
    pdf = canvas.Canvas(sheet)
    pdf.drawString(80, 700, "Page one is about ballast.")
    pdf.showPage()
    pdf.drawString(80, 700, "The culvert was cleared by hand.")
    pdf.save()
    (folder / "d.pdf").write_bytes(sheet.getvalue())
    document = docx.Document()
    document.add_heading("Beekeeping", 1)
    document.add_heading("Swarms", 2)
    document.add_paragraph("A prime swarm leaves before noon.")
    document.save(str(folder / "e.docx"))
    workbook = openpyxl.Workbook()
    tab = workbook.active
    tab.title = "Feed"
    tab.append(["Item", "Tonnes"])
    tab.append(["Barley husks", 41])
    workbook.save(folder / "f.xlsx")
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Harbour"
    slide.placeholders[1].text = "Dredging starts after the regatta."
    deck.save(str(folder / "g.pptx"))
    (folder / "h.csv").write_text("name,role\nIngrid Falk,piano tuner\n")
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "a@example.test", "b@example.test", "Thatching reeds"
    mail.set_content("Forty bundles of reed lie at the mill.")
    (folder / "i.eml").write_bytes(bytes(mail))
    return {
        "a.md": ("scions bramley", "Orchard plan", ["Grafting"]),
        "b.txt": ("gasket Tromsø", "b.txt", []),
        "c.html": ("cone six dawn", "Kiln log", ["Firing"]),
        "d.pdf": ("culvert cleared", "d.pdf", ["Page 2"]),
        "e.docx": ("prime swarm noon", "Beekeeping", ["Swarms"]),
        "f.xlsx": ("barley husks", "f.xlsx", ["Feed"]),
        "g.pptx": ("dredging regatta", "g.pptx", ["Slide 1: Harbour"]),
        "h.csv": ("Ingrid Falk", "h.csv", []),
        "i.eml": ("bundles reed mill", "Thatching reeds", []),
    }


def test_nine_formats_and_their_broken_kin(new_fleet, tmp_path: Path) -> None:
    """Each phrase is found with title, trail and a link whose page holds it at its anchor; four bad files are said."""
    fleet = new_fleet("--no-demo")
    folder = tmp_path / "papers"
    expected = write_papers(folder)
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nthis is no body\n%%EOF")
    docx.Document().save(str(folder / "empty.docx"))
    with zipfile.ZipFile(folder / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("xl/workbook.xml", b"<workbook/>")
        bomb.writestr("xl/worksheets/sheet1.xml", bytes(400 * 1024 * 1024))
    with (folder / "big.txt").open("wb") as big:
        for _ in range(100):
            big.write(b"word " * (1024 * 1024 // 5))
    outcome = fleet.cli("add", "--json", str(folder))
    assert outcome.returncode == 1
    report = json.loads(outcome.stdout)
    refused = {Path(e["path"]).name: e["error"]["message"] for e in report["files"] if e["error"]}
    assert refused == {
        "broken.pdf": "This PDF is damaged and cannot be read.",
        "empty.docx": "There is no text in this file. A scanned page is a picture, and memoria reads no pictures.",
        "bomb.xlsx": "This Excel workbook unpacks to far more than it should, and was refused.",
        "big.txt": "This file is larger than 32 MiB, the most a file may have.",
    }
    assert report["added"] == 9
    you = fleet.person("you@localhost")
    for name, (phrase, title, trail) in expected.items():
        found = json.loads(fleet.cli("search", "--json", phrase).stdout)["results"]
        assert found, name
        first = found[0]
        assert (first["title"], first["trail"]) == (title, ["papers", *trail]), name
        address, _, anchor = first["link"].partition("#")
        page = you.browser.get(address)
        assert page.status_code == 200
        section = page.text.partition(f'<section id="{anchor}">')[2].partition("</section>")[0]
        assert all(word.lower() in section.lower() for word in phrase.split()), name
    again = json.loads(fleet.cli("add", "--json", str(folder / "a.md")).stdout)
    assert again["files"][0]["documents"][0]["outcome"] == "replaced"
    assert len(you.search("scions bramley")["results"]) == 1  # the same body is the same document (ING-14)


def test_the_server_refuses_too_large_a_file_itself(new_fleet) -> None:
    """A program that does not ask first is told the same, and the file behind it in the same upload is taken."""
    fleet = new_fleet("--no-demo")
    you = fleet.person("you@localhost")
    files = [("file", ("big.txt", b"w " * (17 * 1024 * 1024))), ("file", ("small.txt", b"the smallest heron"))]
    reply = you.program.post("/api/v1/documents", files=files)
    assert reply.status_code == 207
    big, small = reply.json()["files"]
    assert big["error"]["message"] == "This file is larger than 32 MiB, the most a file may have."
    assert small["error"] is None
    assert you.titles("smallest heron") == ["small.txt"]


def test_deleted_is_nowhere_and_stays_so(new_fleet) -> None:
    """Upload, find, delete with the confirmation, find no more: search, page, API, after a restart too (F10)."""
    fleet = new_fleet("--no-demo")
    you = fleet.person("you@localhost")
    you.program.post("/api/v1/documents", files={"file": ("z.md", b"# Zed\n\nthe word zqx81 stands here\n")})
    document = you.search("zqx81")["results"][0]["document_id"]
    asked = you.browser.get(f"/documents/{document}/delete")
    assert "Delete this document?" in asked.text
    assert you.search("zqx81")["results"]  # asking deletes nothing
    assert (
        you.browser.post(f"/documents/{document}/delete", data={"csrf": "0"}).status_code == 403
    )  # nor does a foreign form
    assert you.search("zqx81")["results"]
    you.browser.post(f"/documents/{document}/delete", data={"csrf": you.csrf()})
    for attempt in range(2):
        if attempt:
            fleet.restart()
            you = fleet.person("you@localhost")
        assert you.search("zqx81")["results"] == []
        assert you.browser.get(f"/documents/{document}").status_code == 404
        assert you.program.get(f"/api/v1/documents/{document}").status_code == 404
