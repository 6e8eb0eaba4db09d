"""The known-failure file: failures agreed to, each with its reason and, if wanted, the day it must be gone by."""

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import yaml

from memoria_conformance.kit.report import CaseResult, Status

_FIELDS = ("case", "reason", "until")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BLANK = {"", "~", "null", "-"}


class KnownFileError(Exception):
    """The file cannot be used; the message is one sentence that names the entry."""


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """One entry. `until` is the last day on which the failure is still accepted; None has no such day."""

    case: str
    reason: str
    until: date | None = None


def load_known(text: str, case_ids: Iterable[str]) -> tuple[KnownFailure, ...]:
    """The entries of a file, which is a YAML list of `{case, reason, until?}`; an empty file has none.

    `case_ids` are the ids of every case of the suite, also of those that this run leaves out. Raises KnownFileError.
    """
    entries: dict[str, KnownFailure] = {}
    known_ids = frozenset(case_ids)
    for number, raw in enumerate(_parse(text), start=1):
        entry = _entry(number, raw)
        if entry.case not in known_ids:
            raise KnownFileError(f"entry {number} ({entry.case}) names a case that the suite does not have")
        if entry.case in entries:
            raise KnownFileError(f"entry {number} ({entry.case}) is a second entry for the same case")
        entries[entry.case] = entry
    return tuple(entries.values())


def apply_known(results: Iterable[CaseResult], known: Iterable[KnownFailure], today: date) -> tuple[CaseResult, ...]:
    """The results, in order, with each FAIL that has an entry KNOWN, and STALE where the entry is wrong.

    An entry is wrong about a case that passes and, after its `until`, about one that still fails. A skip stays a skip
    and an error an error: neither says whether the failure is still there.
    """
    entries = {entry.case: entry for entry in known}
    return tuple(_judge(result, entries.get(result.id), today) for result in results)


def _judge(result: CaseResult, entry: KnownFailure | None, today: date) -> CaseResult:
    if entry is None or result.status not in {Status.PASS, Status.FAIL}:
        return result
    if result.status is Status.PASS:
        message = f"passes, though the known-failure file says it fails: {entry.reason}. Take its entry out."
        return replace(result, status=Status.STALE, message=message)
    reason = f"known: {entry.reason}" + (f" (until {entry.until})" if entry.until else "")
    if entry.until is not None and today > entry.until:
        message = f"still fails after {entry.until}, the last day agreed to\n{reason}\n{result.message}"
        return replace(result, status=Status.STALE, message=message)
    return replace(result, status=Status.KNOWN, message=f"{reason}\n{result.message}")


class _Loader(yaml.BaseLoader):
    """Plain text for every scalar, so that nothing depends on what YAML takes for a date; no key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """A mapping, or a refusal where a key appears twice and one of its values would be lost."""
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        for key in keys:
            if keys.count(key) > 1:
                raise KnownFileError(f"line {node.start_mark.line + 1} begins an entry that says {_shown(key)} twice")
        return super().construct_mapping(node, deep=deep)


def _parse(text: str) -> list[Any]:
    try:
        loaded = yaml.load(text, Loader=_Loader)  # noqa: S506 — a BaseLoader makes nothing but text, lists and mappings
    except KnownFileError:
        raise
    except yaml.MarkedYAMLError as error:
        line = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise KnownFileError(f"the file is not YAML: {error.problem or 'something is wrong'}{line}") from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise KnownFileError("the file is not YAML that can be read") from None
    if loaded in (None, ""):
        return []
    if not isinstance(loaded, list):
        raise KnownFileError("the file is not a list of entries, each with a case and a reason")
    return loaded


def _entry(number: int, raw: object) -> KnownFailure:
    if not isinstance(raw, dict):
        raise KnownFileError(f"entry {number} is not a mapping with a case and a reason")
    fields = {key: value for key, value in raw.items() if isinstance(key, str)}
    case = fields.get("case", "")
    if not isinstance(case, str) or case.strip() in _BLANK:
        raise KnownFileError(f"entry {number} names no case")
    where = f"entry {number} ({_shown(case)})"
    for key in raw:
        if key not in _FIELDS:
            raise KnownFileError(f"{where} has a field {_shown(key)}; there are only {', '.join(_FIELDS)}")
    reason = fields.get("reason", "")
    if not isinstance(reason, str) or reason.strip() in _BLANK:
        raise KnownFileError(f"{where} gives no reason")
    return KnownFailure(case, " ".join(reason.split()).rstrip("."), _until(where, fields.get("until")))


def _until(where: str, value: object) -> date | None:
    if value is None:
        return None
    if isinstance(value, str) and _DAY.fullmatch(value):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass  # the thirteenth month
    raise KnownFileError(f"{where} has an until that is not a day such as 2027-03-31")


def _shown(value: object) -> str:
    """A word of the file, short and on one line, for a message."""
    text = value if isinstance(value, str) else type(value).__name__
    return text if text.isprintable() and len(text) <= 60 else ascii(text[:60])
