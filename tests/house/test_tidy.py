"""What may not stand in the tree: loose ends, secrets, this machine's paths, download addresses."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRACKED = [
    ROOT / name
    for name in subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    if (ROOT / name).is_file()
]
TEXTS = {path: path.read_text(errors="replace") for path in TRACKED if path.suffix not in {".png", ".binpb", ".gz"}}


def test_ruff_is_content() -> None:
    """Lint and format, for everything that is tracked."""
    for words in (["check"], ["format", "--check"]):
        ended = subprocess.run([sys.executable, "-m", "ruff", *words, "."], cwd=ROOT, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout[-3000:]


def test_no_loose_ends() -> None:
    """Nothing is left for later in a comment; what is not built says so in its own error message."""
    loose = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
    assert [p.relative_to(ROOT).as_posix() for p, text in TEXTS.items() if loose.search(text)] == []


def test_each_ignored_lint_has_its_reason_on_the_line() -> None:
    """An ignore without a reason is a rule switched off by accident."""
    bare = re.compile(r"#\s*(noqa(:\s*[A-Z0-9, ]+)?|type:\s*ignore(\[[a-z\-, ]+\])?)\s*$", re.MULTILINE)
    found = [p.relative_to(ROOT).as_posix() for p, text in TEXTS.items() if p.suffix == ".py" and bare.search(text)]
    assert found == []


def test_no_machine_no_registry_no_secret() -> None:
    """No path of a developer's machine, no download address in a lock file, no key material."""
    home = re.compile(r"(?<![\w.])/(work|home|root|Users)/[a-z]")
    key = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
    for path, text in TEXTS.items():
        name = path.relative_to(ROOT).as_posix()
        assert not home.search(text), name
        assert not key.search(text), name
        if name.startswith("requirements/"):
            assert "://" not in text, name


def test_files_stay_small() -> None:
    """A file that wants a second topic sentence becomes two; generated code, data and tests apart."""
    long = {
        path.relative_to(ROOT).as_posix(): len(text.splitlines())
        for path, text in TEXTS.items()
        if path.suffix == ".py"
        and path.relative_to(ROOT).parts[0] in {"libs", "services", "cli", "conformance"}
        and "libs/contract/memoria/" not in path.as_posix()
    }
    assert {name: lines for name, lines in long.items() if lines > 270} == {}
