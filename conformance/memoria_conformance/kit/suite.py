"""Reads the suites: YAML in the JSON form of `memoria.conformance.v1.Suite`, checked whole before anything runs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

import yaml
from google.protobuf import json_format

from memoria.conformance.v1 import suite_pb2 as pb
from memoria_conformance.kit.report import CALLS, Level

_ID = re.compile(r"(?:D|T|S1|S1a|S2|S3|S6)-\d\d")
_PREFIX = {"Describe": "D", "transport": "T"}
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one is ten times as fast
_SECTION = re.compile(r"[a-z0-9-]+")


class BadSuite(ValueError):
    """A suite file that is not what it should be; the text names the file or the case."""


@dataclass(frozen=True, slots=True)
class Case:
    """A case and the group it is reported under."""

    call: str
    data: pb.Case

    @property
    def id(self) -> str:
        """Frozen."""
        return self.data.id

    @property
    def level(self) -> Level:
        """How binding it is."""
        return Level(pb.Level.Name(self.data.level).removeprefix("LEVEL_"))

    @property
    def text(self) -> str:
        """The case as YAML, for `show`."""
        return str(yaml.safe_dump(json_format.MessageToDict(self.data), sort_keys=False, allow_unicode=True, width=110))

    def uses_world(self) -> bool:
        """Whether it needs the world loaded."""
        text = json_format.MessageToJson(self.data)
        worldly = {"state", "ask", "changes", "announce", "content", "aggregate"}
        kinds = {step.WhichOneof("action") for step in self.data.steps}
        return bool(kinds & worldly) or any(f'"${word}:' in text for word in ("item", "rev", "subject"))

    def changes_world(self) -> bool:
        """Whether the next case needs it loaded anew."""
        apart = {"add_token", "retire_tokens", "expire_cursor"}
        verbs = {step.state.verb for step in self.data.steps if step.WhichOneof("action") == "state"}
        return bool(verbs - apart) or self.data.extra_items > 0


@cache
def packaged_cases() -> tuple[Case, ...]:
    """Every case of the suites that ship with this package, in the order they are reported."""
    folder = resources.files("memoria_conformance").joinpath("suites")
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".yaml") and f.name != "world.yaml"), key=_name)
    cases = [case for file in files for case in read_suite(file.name, file.read_text("utf-8"))]
    ids = [case.id for case in cases]
    if len(set(ids)) < len(ids):
        raise BadSuite(f"ids used twice: {sorted({i for i in ids if ids.count(i) > 1})}")
    return tuple(sorted(cases, key=lambda case: CALLS.index(case.call)))


def read_suite(name: str, text: str) -> Iterator[Case]:
    """The cases of one file. Raises BadSuite for YAML that is not a suite."""
    try:
        suite = json_format.ParseDict(yaml.load(text, Loader=_LOADER), pb.Suite())  # noqa: S506 — both are safe loaders
    except (yaml.YAMLError, json_format.ParseError, AttributeError, TypeError) as error:
        raise BadSuite(f"{name}: {error}") from None
    if suite.call not in CALLS:
        raise BadSuite(f"{name}: call must be one of {', '.join(CALLS)}")
    for case in suite.cases:
        if not _ID.fullmatch(case.id) or case.id.partition("-")[0] != _PREFIX.get(suite.call, suite.call):
            raise BadSuite(f"{name}: {case.id!r} is no id of this group")
        if not case.level or not case.rule.endswith(".") or not _SECTION.fullmatch(case.section) or not case.steps:
            raise BadSuite(f"{case.id}: a case has a level, a section, a rule that is a sentence, and steps")
        if any(step.WhichOneof("action") is None for step in case.steps):
            raise BadSuite(f"{case.id}: a step does nothing")
        yield Case(suite.call, case)


def _name(file: Traversable) -> str:
    return file.name
