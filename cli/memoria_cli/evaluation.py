"""`memoria eval`: how well the real search finds what people judged to be relevant.

A throw-away instance is started, filled through its upload and asked through its search API, so that what is measured
is what a person gets: conversion, chunking, analysis, ranking, the gate and paging.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from memoria_chassis.errors import Kind, ServiceError
from memoria_cli.eval_collection import Collection, read_collection
from memoria_cli.eval_metrics import DEPTH, average_precision, ndcg, recall
from memoria_cli.place import Place
from memoria_cli.session import Session

_AT_ONCE = 4
_PAGE = 50
_MOST_PAGES = 20  # to 1,000 of the 1,024 candidates that paging is bounded to (AMD-05)
_MAX_QUERY_BYTES = 1024  # SRF-02
_START_SECONDS = 180.0


def evaluate(path: Path, *, quiet: bool) -> dict[str, Any]:
    """Measure the collection in `path`. Raises ServiceError for one that is none and for an instance that fails."""
    collection = read_collection(path)
    with _instance() as session, _progress(quiet) as progress:
        names = _fill(session, collection, progress)
        rankings = _ask(session, collection, names, progress)
    judged = [(rankings[query], grades) for query, grades in collection.qrels.items()]
    return {
        "name": collection.name,
        "documents": len(collection.docs),
        "queries": len(judged),
        "skipped_queries": collection.skipped,
        "ndcg@10": _mean([ndcg(*each) for each in judged]),
        "map": _mean([average_precision(*each) for each in judged]),
        "recall@100": _mean([recall(*each) for each in judged]),
    }


def show(console: Console, found: dict[str, Any]) -> None:
    """The measures, one a line."""
    console.print(f"{found['name']}: {found['documents']} documents, {found['queries']} judged queries", markup=False)
    for name in ("ndcg@10", "map", "recall@100"):
        console.print(f"{name:<11} {found[name]:.4f}", markup=False)


def _mean(values: list[float]) -> float:
    return round(sum(values) / len(values), 4)


def _progress(quiet: bool) -> Progress:
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, console=console, disable=quiet or not console.is_terminal)


@contextmanager
def _instance() -> Iterator[Session]:
    """A fresh instance without demo and without the settings of this shell, gone afterwards with all it held."""
    with TemporaryDirectory(prefix="memoria-eval-") as folder:
        place = Place(Path(folder) / "data")
        env = {name: value for name, value in os.environ.items() if not name.startswith("MEMORIA_")}
        command = [sys.executable, "-m", "memoria_cli.app", "up", "--no-demo", "--data", str(place.data)]
        said = Path(folder) / "said"
        with (
            said.open("wb") as log,
            subprocess.Popen(command, env=env, cwd=folder, stdout=log, stderr=log) as process,  # noqa: S603 - ourselves
        ):
            try:
                _until_up(process, place, said)
                yield Session(place, None, None)
            finally:
                process.terminate()
                process.wait()


def _until_up(process: "subprocess.Popen[bytes]", place: Place, said: Path) -> None:
    """Wait for the note that an instance leaves once it serves. Raises PRECONDITION where it ends before."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            last = said.read_text(errors="replace").strip().splitlines() or ["it gave no reason"]
            raise ServiceError(Kind.PRECONDITION, f"the instance did not start: {last[-1]}")
        try:
            place.running()
        except ServiceError:
            time.sleep(0.1)
        else:
            return
    raise ServiceError(Kind.DEADLINE, "the instance did not start in time")


def _fill(session: Session, collection: Collection, progress: Progress) -> dict[str, str]:
    """Upload every document; the collection's ids by the instance's."""
    with TemporaryDirectory(prefix="memoria-eval-") as folder:

        def upload(at: int, name: str) -> list[str]:
            title, text = collection.docs[name]
            if not (text.strip() or title.strip()):
                return []  # memoria refuses a file without text; such a document is found by nothing
            file = Path(folder) / f"{at}.html"
            file.write_text(_page(name, title, text), "utf-8", "replace")
            report = session.post_file("/api/v1/documents", "d.html", file)  # one name: it is indexed too
            file.unlink()
            if report["error"]:
                raise ServiceError(Kind.INVALID, f"a document was refused: {report['error']['message']}")
            return [made["document_id"] for made in report["documents"]]

        task = progress.add_task("filling", total=len(collection.docs))
        names: dict[str, str] = {}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for name, made in zip(
                collection.docs, pool.map(upload, range(len(collection.docs)), collection.docs), strict=True
            ):
                names |= dict.fromkeys(made, name)
                progress.advance(task)
    return names


def _page(name: str, title: str, text: str) -> str:
    """A document as HTML, in which no character of a text means anything. Two that are alike stay two: their ids
    stand in a comment."""
    body = "".join(f"<p>{escape(paragraph)}</p>\n" for paragraph in text.split("\n\n"))
    if not text.strip():  # memoria takes no file that is a title alone, so here the title is what it says as well
        body = f"<p>{escape(title)}</p>\n"
    mark = name.encode().hex()
    return f'<!-- {mark} --><meta charset="utf-8"><title>{escape(title)}</title>\n{body}'


def _ask(session: Session, collection: Collection, names: dict[str, str], progress: Progress) -> dict[str, list[str]]:
    """Each query's documents in order, each by its first chunk."""
    task = progress.add_task("asking", total=len(collection.queries))
    rankings = {}
    for query, text in collection.queries.items():
        ranking: dict[str, None] = {}
        words = text.encode("utf-8", "replace")[:_MAX_QUERY_BYTES].decode("utf-8", "ignore")
        for page in range(1, _MOST_PAGES + 1):
            found = session.get("/api/v1/search", {"q": words, "limit": _PAGE, "page": page})
            ranking |= dict.fromkeys(names[row["document_id"]] for row in found["results"])
            if not found["more"] or len(ranking) >= DEPTH:
                break
        rankings[query] = list(ranking)
        progress.advance(task)
    return rankings
