"""The command as it is typed: exit codes, one JSON document, one clear line (architecture.md, the commands)."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from memoria_chassis.keys import decode_key, service_key_from
from memoria_chassis.settings import SERVICES
from memoria_cli.app import main

Run = Callable[..., "Ended"]


@dataclass(frozen=True)
class Ended:
    """What a command left."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """`run(*words)`: the entry point in this process, in a folder of its own and without our variables."""
    for name in [name for name in os.environ if name.startswith("MEMORIA_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)

    def ended(*words: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["memoria", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main()
        said = capsys.readouterr()
        code = exit_.value.code
        return Ended(code if isinstance(code, int) else 0, said.out, said.err)

    return ended


NOT_RUNNING = "memoria is not running on {data}; start it with: memoria up, or name another place with --data"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("search", "x"), NOT_RUNNING),
        (("search", "--json", "x"), NOT_RUNNING),
        (("status", "--json"), NOT_RUNNING),
        (("add", "."), NOT_RUNNING),
        (("search", "--url", "http://localhost:1", "x"), "sign in first: memoria login --url http://localhost:1"),
        (("login", "--url", "http://localhost:1", "--as", "a@b.test"), "the instance cannot be reached"),
        (("login", "--url", "nonsense", "--as", "a@b.test"), "the instance cannot be reached"),
        (("login", "--url", "http://[::1", "--as", "a@b.test"), "that is no URL"),
        (("search", "--url", "http://[::1", "x"), "that is no URL"),
    ],
)
def test_a_failure_is_one_line_and_exit_code_1(run: Run, tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    """On stderr, without a traceback; stdout stays empty for the program that reads it."""
    ended = run(*words)
    assert (ended.returncode, ended.stdout, ended.stderr) == (
        1,
        "",
        f"memoria: {sentence.format(data=tmp_path / 'data')}\n",
    )


@pytest.mark.parametrize(
    "words",
    [
        *(("nonsense",), ("search",), ("search", "--limit", "51", "x"), ("search", "--page", "0", "x")),
        *(("add", "absent.md"), ("up", "--port", "0"), ("keys", "derive", "nobody", "key"), ("search", "x", "y")),
        ("keys", "derive", "search", "absent"),
    ],
)
def test_a_wrong_use_is_exit_code_2(run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    """And says how it is used, on stderr."""
    (tmp_path / "key").write_text("x")
    ended = run(*words)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "Usage" in ended.stderr


def test_keys_are_made_once(run: Run, tmp_path: Path) -> None:
    """Two fresh 32-byte keys, readable by their owner only; neither is ever written over, nor one without the other."""
    assert run("keys", "new", "--out", "keys").returncode == 0
    made = {name: (tmp_path / "keys" / name).read_text() for name in ("dek", "instance_key")}
    assert len({decode_key(text) for text in made.values()}) == 2
    assert {(tmp_path / "keys" / name).stat().st_mode & 0o777 for name in made} == {0o600}
    again = run("keys", "new", "--out", "keys")
    assert again.returncode == 2
    assert {name: (tmp_path / "keys" / name).read_text() for name in made} == made
    (tmp_path / "keys" / "dek").unlink()
    assert run("keys", "new", "--out", "keys").returncode == 2
    assert not (tmp_path / "keys" / "dek").exists()
    printed = dict(line.split("=", 1) for line in run("keys", "new").stdout.splitlines())
    assert list(printed) == ["MEMORIA_DEK", "MEMORIA_INSTANCE_KEY"]
    assert all(decode_key(value) not in {decode_key(text) for text in made.values()} for value in printed.values())


def test_a_service_key_is_derived_as_up_does(run: Run, tmp_path: Path) -> None:
    """One key a service, never the root; a file that holds no key is one line."""
    assert run("keys", "new", "--out", ".").returncode == 0
    root = decode_key((tmp_path / "dek").read_text())
    derived = {service: run("keys", "derive", service, "dek").stdout for service in SERVICES}
    assert {s: decode_key(text) for s, text in derived.items()} == {s: service_key_from(root, s).key for s in SERVICES}
    assert len({*derived.values(), (tmp_path / "dek").read_text()}) == len(SERVICES) + 1
    for garbage in (b"", b"\xff\xfe\x00", b"AAAA", b"x" * 10_000):
        (tmp_path / "bad").write_bytes(garbage)
        ended = run("keys", "derive", "search", "bad")
        assert ended.returncode == 1
        assert ended.stderr.startswith("memoria: a key ")
        assert ended.stderr.count("\n") == 1


def test_a_folder_without_files_is_said(run: Run, tmp_path: Path) -> None:
    """Exit code 1; with --json the document is still one, and whole."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".hidden").write_text("x")
    note = {"pid": os.getpid(), "url": "http://localhost:1", "run_dir": "r", "first_owner": "a@b.test", "outbox": True}
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "run.json").write_text(json.dumps(note))
    ended = run("add", "--json", "empty")
    assert ended.returncode == 1
    assert json.loads(ended.stdout) == {"added": 0, "refused": 0, "files": []}
    assert "there is no file" in ended.stderr
