"""The packaged world, and what a world may not be."""

import re

import pytest

from memoria_conformance.formats import display
from memoria_conformance.world import load_world, packaged_world

PEOPLE = "people:\n  ann: {person_ref: p-1, address: ann@example.test, name: A}\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "people: []",
        PEOPLE.replace("ann@", "Ann@"),
        PEOPLE + "docs: [{alias: a, title: T, date: 2026-01-01, rung: public}]",
        PEOPLE + "docs: [{alias: a, title: T, date: 2026-01-01, removed: [eve]}]",
        PEOPLE + "docs: [{alias: a, title: T, date: 2026-01-01, rung: granted, removed: [ann]}]",
        PEOPLE + "docs: [{alias: a, title: T, date: 2026-01-01, colour: red}]",
        PEOPLE + "docs: [{alias: a, title: T, date: 2026-01-01}, {alias: a, title: T, date: 2026-01-01}]",
        PEOPLE + "sheets: [{alias: a, title: T, date: 2026-01-01}]",
        PEOPLE + "sheets: [{alias: a, title: T, date: 2026-01-01, tabs: [{name: t, columns: [A], rows: [[1, 2]]}]}]",
    ],
)
def test_a_wrong_world_is_refused(text: str) -> None:
    """Whatever would make rights or tables mean something else is a ValueError."""
    with pytest.raises(ValueError):
        load_world(text)


def test_the_packaged_world_is_worth_searching() -> None:
    """Documents, sheets and events by the dozen, with rights that differ both ways between the two people."""
    world = packaged_world()
    assert [len(world.of(app)) for app in ("docs", "sheets", "calendar")] == [87, 23, 61]
    assert {person.alias for person in world.people} >= {"you", "ben"}
    barred = {person: {i.alias for i in world.items if person in i.removed} for person in ("you", "ben")}
    assert len(barred["ben"]) >= 8
    assert len(barred["you"]) >= 3
    assert not barred["you"] & barred["ben"]
    assert {item.rung for item in world.items} == {"team", "granted", "private"}
    for alias in re.findall(r"Codeword for tests: (\w+ \w+)", " ".join(i.content.body for i in world.items)):
        assert alias not in " ".join(i.content.body for i in world.items if i.rung == "team")


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (1350000, "€#,##0", "€1,350,000"),
        (1350000, '€#,##0,"k"', "€1,350k"),
        (-1234.5, "€#,##0.00", "-€1,234.50"),
        (0.125, "0.0%", "12.5%"),
        (2.5, "0", "2"),
        (1.5, "General", "1.5"),
        (1234567, "General", "1234567"),
        (7, "0.00 kg", "7.00 kg"),
    ],
)
def test_displays(value: float, code: str, shown: str) -> None:
    """Numbers as a spreadsheet shows them."""
    assert display(value, code) == shown


def test_a_format_without_a_number_is_refused() -> None:
    """`yyyy-mm-dd` shows no number."""
    with pytest.raises(ValueError):
        display(1, "yyyy-mm-dd")
