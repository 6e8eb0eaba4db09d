"""A judged collection: what `memoria eval` reads, checked before anything is started."""

import gzip
import json
import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoria_chassis.errors import Kind, ServiceError

MAX_BYTES = 512 << 20
"""Of the unpacked file: no larger collection fits a throw-away instance, and a small file may unpack to anything."""

_FORM = "{name, docs:{id:{title,text}}, queries:{id:text}, qrels:{query:{doc:grade}}}"


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents as (title, text), queries and judgments, by their own ids. Only queries with a relevant document."""

    name: str
    docs: dict[str, tuple[str, str]]
    queries: dict[str, str]
    qrels: dict[str, dict[str, float]]
    skipped: int


def read_collection(path: Path) -> Collection:
    """Raises INVALID with what is wrong with the file."""
    try:
        with gzip.open(path) as file:
            raw = file.read(MAX_BYTES + 1)
    except (gzip.BadGzipFile, zlib.error):
        raise _invalid("it is not a gzip file") from None
    except EOFError:
        raise _invalid("it is cut short") from None
    except OSError:
        raise _invalid("it cannot be read") from None
    if len(raw) > MAX_BYTES:
        raise _invalid(f"it unpacks to more than {MAX_BYTES >> 20} MiB")
    try:
        tree = json.loads(raw)
    except (ValueError, RecursionError):
        raise _invalid("it is not JSON") from None
    return _checked(tree)


def _checked(tree: Any) -> Collection:
    if not isinstance(tree, dict) or not all(isinstance(tree.get(key), dict) for key in ("docs", "queries", "qrels")):
        raise _invalid(f"it is not {_FORM}")
    docs: dict[str, tuple[str, str]] = {}
    for name, doc in tree["docs"].items():
        title, text = (doc.get("title", ""), doc.get("text", "")) if isinstance(doc, dict) else (None, None)
        if not isinstance(title, str) or not isinstance(text, str):
            raise _invalid("a document has a title and a text")
        docs[name] = (title, text)
    if not docs or not tree["queries"]:
        raise _invalid("it has no documents or no queries")
    if not all(isinstance(text, str) for text in tree["queries"].values()):
        raise _invalid("a query is a text")
    qrels: dict[str, dict[str, float]] = {}
    for query, grades in tree["qrels"].items():
        if query not in tree["queries"]:
            raise _invalid("a judgment names a query that is not in it")
        if not isinstance(grades, dict) or not all(_is_grade(grade) for grade in grades.values()):
            raise _invalid("a judgment is a number for a document")
        if not docs.keys() >= grades.keys():
            raise _invalid("a judgment names a document that is not in it")
        if any(grade > 0 for grade in grades.values()):
            qrels[query] = dict(grades)
    if not qrels:
        raise _invalid("no query has a relevant document")
    queries = {name: text for name, text in tree["queries"].items() if name in qrels}
    return Collection(str(tree.get("name", "")), docs, queries, qrels, len(tree["queries"]) - len(queries))


def _is_grade(grade: Any) -> bool:
    return isinstance(grade, int | float) and not isinstance(grade, bool) and math.isfinite(grade)


def _invalid(reason: str) -> ServiceError:
    return ServiceError(Kind.INVALID, f"this is no judged collection: {reason}")
