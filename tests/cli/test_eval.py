"""`memoria eval`: its refusals, its measures against values worked by hand, a whole run on a collection of our own."""

import gzip
import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest

from memoria_chassis.errors import ServiceError
from memoria_cli import eval_collection
from memoria_cli.app import main
from memoria_cli.eval_collection import read_collection
from memoria_cli.eval_metrics import average_precision, ndcg, recall

GOOD: dict[str, Any] = {
    "name": "tiny",
    "docs": {
        "a": {"title": "Lease of the office", "text": "The lease ends in May. The landlord is Ann."},
        "b": {"title": "Lunch", "text": "Soup on Monday, pasta on Tuesday. No lease of anything."},
        "c": {"title": "Budget", "text": "Paper, pens & <b>nothing</b> else."},
        "d": {"title": "Copy of the budget", "text": ""},
        "e": {"title": "", "text": ""},
    },
    "queries": {"1": "office lease", "2": "budget", "3": "nobody judged this"},
    "qrels": {"1": {"a": 2, "b": 1, "c": 0}, "2": {"c": 1, "d": 1}},
}
PACKED = gzip.compress(json.dumps(GOOD).encode(), mtime=0)


def put(path: Path, tree: Any) -> Path:
    """`tree` as a collection file."""
    path.write_bytes(gzip.compress(json.dumps(tree).encode()))
    return path


def without(key: str) -> dict[str, Any]:
    """A good collection but for one key."""
    return {name: value for name, value in GOOD.items() if name != key}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is not JSON"),
        (b"{}", "it is not a gzip file"),
        (PACKED[:-20], "it is cut short"),
        (PACKED[:10] + b"\xff" * 40, "it is not a gzip file"),
        (gzip.compress(b"\xff\xfe not json", mtime=0), "it is not JSON"),
        (gzip.compress(b"[" * 100_000, mtime=0), "it is not JSON"),
    ],
    ids=["empty", "not packed", "cut", "garbled", "not text", "nested"],
)
def test_a_file_that_is_none_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    """Empty, not packed, cut short, garbled, not JSON, nested without end: one sentence each."""
    path = tmp_path / "x.json.gz"
    path.write_bytes(content)
    with pytest.raises(ServiceError, match=reason):
        read_collection(path)


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ([], "it is not {name"),
        (without("docs"), "it is not {name"),
        (without("queries"), "it is not {name"),
        (without("qrels"), "it is not {name"),
        (GOOD | {"docs": {}}, "no documents or no queries"),
        (GOOD | {"queries": {}}, "no documents or no queries"),
        (GOOD | {"docs": {"a": "text"}}, "a title and a text"),
        (GOOD | {"docs": {"a": {"title": 1, "text": ""}}}, "a title and a text"),
        (GOOD | {"queries": {"1": ["x"]}}, "a query is a text"),
        (GOOD | {"qrels": {"9": {"a": 1}}}, "names a query that is not in it"),
        (GOOD | {"qrels": {"1": {"zz": 1}}}, "names a document that is not in it"),
        (GOOD | {"qrels": {"1": {"a": "1"}}}, "a number for a document"),
        (GOOD | {"qrels": {"1": {"a": math.nan}}}, "a number for a document"),
        (GOOD | {"qrels": {"1": ["a"]}}, "a number for a document"),
        (GOOD | {"qrels": {"1": {"a": 0}}}, "no query has a relevant document"),
        (GOOD | {"qrels": {}}, "no query has a relevant document"),
    ],
)
def test_a_collection_that_is_not_whole_is_refused(tmp_path: Path, tree: Any, reason: str) -> None:
    """Before anything is started: a judgment of nothing known would quietly count as a miss."""
    with pytest.raises(ServiceError, match=reason):
        read_collection(put(tmp_path / "x.json.gz", tree))


def test_a_giant_is_refused_without_being_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file that unpacks to more than the bound is read no further than that."""
    monkeypatch.setattr(eval_collection, "MAX_BYTES", 1 << 20)
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(b" " * (4 << 20)))
    with pytest.raises(ServiceError, match="unpacks to more than"):
        read_collection(path)


def test_queries_without_a_relevant_document_are_left_out(tmp_path: Path) -> None:
    """They would divide by nothing; how many there were is said."""
    found = read_collection(put(tmp_path / "x.json.gz", GOOD))
    assert (sorted(found.queries), found.skipped) == (["1", "2"], 1)


def test_a_refusal_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1 for a file that is no collection, 2 for a wrong use; nothing on stdout, also with --json."""
    (tmp_path / "bad").write_bytes(b"bad")
    for words, code in ((["--json", str(tmp_path / "bad")], 1), ([str(tmp_path / "absent")], 2), ([], 2)):
        monkeypatch.setattr(sys, "argv", ["memoria", "eval", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert (ended.value.code, said.out) == (code, "")
        if code == 1:
            assert said.err == "memoria: this is no judged collection: it is not a gzip file\n"


def test_ndcg_is_trec_evals() -> None:
    """Gain is the grade and not a power of two; the ideal holds what was not found too.

    By hand: 0/1 + 2/log2(3) + 1/2 = 1.7619 of 2 + 1/log2(3) + 1/2 = 3.1309.
    Broken to see it red: gains of 2 ** grade - 1.
    """
    grades = {"a": 2, "b": 1, "c": 0, "d": 1}
    assert ndcg(["x", "a", "b"], grades) == pytest.approx((2 / math.log2(3) + 0.5) / (2 + 1 / math.log2(3) + 0.5))
    assert ndcg(["x", "a", "b"], grades) == pytest.approx(0.5627, abs=1e-4)
    assert ndcg(["a", "b", "d"], grades) == 1.0
    assert ndcg(["x"] * 10 + ["a"], grades) == 0.0
    assert ndcg(["a"], {"a": 1, "b": -1}) == 1.0
    assert ndcg([], {}) == 0.0


def test_average_precision_and_recall() -> None:
    """By hand: relevant at ranks 1 and 3 of three relevant ones, (1/1 + 2/3) / 3; two of three found."""
    grades = {"a": 1, "b": 2, "c": 1, "d": 0}
    ranking = ["a", "d", "b", "x"]
    assert average_precision(ranking, grades) == pytest.approx((1 + 2 / 3) / 3)
    assert recall(ranking, grades) == pytest.approx(2 / 3)
    assert recall(["x"] * 100 + ["a"], grades) == average_precision(["x"] * 100 + ["a"], grades) == 0.0


@pytest.mark.slow
def test_a_whole_run_measures_what_a_person_gets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Through upload, chunking, search and gate of an instance of its own; the numbers are those worked by hand.

    Query 1 finds a before b: 1.0. Query 2 finds c and d, the only ones: 1.0. Paging and HTML in a text do no harm.
    """
    monkeypatch.setattr(sys, "argv", ["memoria", "eval", "--json", str(put(tmp_path / "x.json.gz", GOOD))])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code in (0, None)
    assert json.loads(said.out) == {
        "name": "tiny",
        "documents": 5,
        "queries": 2,
        "skipped_queries": 1,
        "ndcg@10": 1.0,
        "map": 1.0,
        "recall@100": 1.0,
    }
