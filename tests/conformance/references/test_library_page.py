"""docs/siblings/README.md has every name of memoria_contract.serve, with its parameters as they are."""

import doctest
import inspect
import json
import re
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from memoria_contract import serve
from memoria_contract.serve import (
    AggregateFunction,
    Author,
    Consumers,
    Refusal,
    SubjectKind,
    TokenHash,
    Verdict,
    cursors,
)

PAGE = (Path(__file__).resolve().parents[3] / "docs/siblings/README.md").read_text()
LIBRARY = PAGE.partition("\n## The library, name by name\n")[2].partition("\n## ")[0]
LEFT_TO_THE_SOURCE = {"now", "purpose"}  # of Cursors, for its tests and for Announces


def call(name: str, made: Any) -> str:
    """A callable as the page writes it: parameters without types, defaults as they are written in code."""
    words = []
    for parameter in inspect.signature(made).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        if parameter.name in LEFT_TO_THE_SOURCE:
            words += [] if words[-1] == "…" else ["…"]
        elif parameter.default is inspect.Parameter.empty:
            words.append(parameter.name)
        else:
            words.append(f"{parameter.name}={written(parameter.default)}")
    return f"{name}({', '.join(words)})"


def written(default: object) -> str:
    """A default value in code."""
    if isinstance(default, Enum):
        return f"{type(default).__name__}.{default.name}"
    return json.dumps(default) if isinstance(default, str) else repr(default)


def is_enum(thing: Any) -> bool:
    """Whether a name of the library is an enum."""
    return inspect.isclass(thing) and issubclass(thing, Enum)


@pytest.mark.parametrize("name", serve.__all__)
def test_every_name_is_there_with_its_parameters(name: str) -> None:
    """And the methods of the classes that are no plain data. Broken on 2026-11-30 to see red: `trail` left out of
    Content; `keep` of retire_tokens called `kept`."""
    assert re.search(rf"`(?:\w+\.)?{name}\b", LIBRARY), name
    thing = getattr(serve, name)
    if is_enum(thing) or not (inspect.isclass(thing) or inspect.isfunction(thing)):
        return
    assert f"`{call(name, thing)}`" in LIBRARY, call(name, thing)
    if name in {"Cursors", "Announces", "Consumers"}:
        for method, made in inspect.getmembers(thing, inspect.isfunction):
            if not method.startswith("_"):
                assert f"`{call(method, made)}`" in LIBRARY, call(method, made)


@pytest.mark.parametrize("enum", [SubjectKind, Verdict, Author, AggregateFunction, Refusal])
def test_every_member_of_an_enum_is_there(enum: type[Enum]) -> None:
    """On one line with its name."""
    lines = [line for line in LIBRARY.splitlines() if f"`{enum.__name__}`" in line]
    assert any(all(member.name in line for member in enum) for line in lines), lines


def test_the_limits_are_those_of_the_code() -> None:
    """How many announces are kept, and how long a cursor is good."""
    assert f"the last {cursors._RUNNING} of each consumer" in LIBRARY
    assert f"too old ({cursors.DEFAULT_TTL / 86400:g} days)" in LIBRARY


def test_hashes_are_stored_and_loaded_as_the_page_shows() -> None:
    """Its code, run: the consumers that come of it accept what was accepted, and rows are plain texts."""
    (shown,) = re.findall(r"^```pycon\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    before = Consumers()
    before.add_token("first", "pull", "pull-1")
    names: dict[str, Any] = {"consumers": before, "Consumers": Consumers, "TokenHash": TokenHash}
    for example in doctest.DocTestParser().get_examples(shown):
        exec(example.source, names)
    after = names["consumers"]
    assert after is not before
    assert after.admit("Bearer pull-1", "Announce").name == "first"
    assert all(isinstance(text, str) for row in names["rows"] for text in row)
