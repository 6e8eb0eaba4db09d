"""The page against a naive oracle, over generated histories, for two people: issue B's oracle, asked of what is read.

The oracle knows four things of a paper: that it exists, its rung, who was removed from it, and which of its texts
stands. After every act, before memoria can have pulled anything, a page must hold nothing that the oracle refuses, and
where it lacks what the oracle allows and memoria held, it must say so. Once things have settled, a page must hold
exactly what is allowed, as it stands, and withhold nothing.
"""

import copy
import os
import random
import re
import time
from dataclasses import dataclass, field
from html import unescape
from typing import Any

import pytest

pytestmark = [pytest.mark.fleet, pytest.mark.slow]

HISTORIES = int(os.environ.get("HISTORIES", "7"))
"""`HISTORIES=500` takes some minutes; each history has a seed of its own, so a failure names what to run again."""
ACTS = 6
PEOPLE = {"you": "you@localhost", "ben": "ben@localhost"}
RUNGS = ("team", "team", "granted", "private")
VERBS = ("edit", "edit", "edit", "move_rung", "move_rung", "grant", "remove_person", "remove_person", "restore_person")
VERBS += ("delete", "rewind", "rewind", "lose", "restore_to")
_NOTICE = re.compile(r'<p class="notice" role="status">([^<]*)</p>')
_TAG = re.compile(r"<[^>]*>")


@dataclass
class Paper:
    """One paper at the source. `log`: for each revision a word that stands in it alone; the last one stands now."""

    alias: str
    log: list[str]
    rung: str = "team"
    removed: set[str] = field(default_factory=set)
    exists: bool = True

    @property
    def pulled(self) -> bool:
        """memoria holds it, once it has settled."""
        return self.exists and self.rung == "team"

    def allows(self, person: str) -> bool:
        """The oracle."""
        return self.pulled and person not in self.removed


class History:
    """Three papers that share one word, what is done to them, and what pages about that word must then say."""

    def __init__(self, fleet: Any, seed: int) -> None:
        self.fleet = fleet
        self.draw = random.Random(seed)
        self.word = f"quill{seed}zq"
        self.ever: dict[str, set[str]] = {}
        self.did: list[str] = []
        self.papers = {alias: Paper(alias, []) for alias in (f"{self.word}.{n}" for n in range(3))}
        for paper in self.papers.values():
            fleet.sibling("docs", "create", alias=paper.alias, title="Paper", body=self._write(paper), rung="team")
            fleet.sibling("docs", "edit", item=paper.alias, body=self._write(paper))  # now it can be rewound
        self.held: set[str] = set()
        self.tampered = False

    def save(self) -> None:
        """A backup of the whole app, for `restore_to`."""
        self.fleet.sibling("docs", "checkpoint", name=self.word)
        self._saved = copy.deepcopy(self.papers)

    def _write(self, paper: Paper) -> str:
        word = f"stamp{self.draw.randrange(10**12)}q"
        paper.log.append(word)
        self.ever.setdefault(paper.alias, set()).add(word)
        return f"The {self.word} stands here beside {word}."

    def act(self) -> None:
        """Do one thing at the source, and in the oracle."""
        verb, paper = self.draw.choice(VERBS), self.draw.choice(list(self.papers.values()))
        person, rung = self.draw.choice(list(PEOPLE)), self.draw.choice(RUNGS)
        if verb == "restore_to":
            self.papers = copy.deepcopy(self._saved)
            self._do(verb, name=self.word)
            if self.tampered:  # it undoes what nobody was told of, and no feed and no answer can show it: AUT-10
                self.fleet.person(PEOPLE["you"]).reannounce("docs")
        elif not paper.exists or (verb == "rewind" and len(paper.log) == 1):
            return
        elif verb == "edit":
            self._do(verb, item=paper.alias, body=self._write(paper))
        elif verb == "move_rung":
            paper.rung = rung
            self._do(verb, item=paper.alias, rung=rung)
        elif verb == "rewind":
            self.tampered = True
            paper.log.pop()
            self._do("partial_restore", item=paper.alias, steps=1)
        elif verb == "lose":
            self.tampered = True
            paper.exists = False
            self._do("partial_restore", item=paper.alias, lose=True)
        elif verb == "delete":
            paper.exists = False
            self._do(verb, item=paper.alias)
        else:
            if verb != "grant":  # a grant brings nothing into memoria
                (paper.removed.add if verb == "remove_person" else paper.removed.discard)(person)
            self._do(verb, item=paper.alias, person=person)

    def _do(self, verb: str, **params: Any) -> None:
        self.did.append(f"{verb} {params}")
        self.fleet.sibling("docs", verb, **params)

    def look(self, person: str) -> tuple[set[str], list[str]]:
        """The papers that a page speaks, and its notices. Fails on anything that is refused, and on an older text."""
        reply = self.fleet.person(PEOPLE[person]).browser.get("/search", params={"q": self.word})
        assert reply.status_code == 200, self.did
        text = unescape(_TAG.sub("", reply.text))
        spoken = set()
        for alias, words in self.ever.items():
            paper = self.papers[alias]
            said = {word for word in words if word in text}
            assert said <= ({paper.log[-1]} if paper.allows(person) else set()), (person, paper, self.did)
            if said:
                spoken.add(alias)
        self.read = text
        return spoken, _NOTICE.findall(reply.text)

    def allowed(self, person: str) -> set[str]:
        """What the oracle allows."""
        return {paper.alias for paper in self.papers.values() if paper.allows(person)}

    def at_once(self) -> None:
        """Nothing refused, and nothing that was held withheld without a word."""
        for person in PEOPLE:
            spoken, notices = self.look(person)
            silent = self.allowed(person) & self.held - spoken
            told = [said for said in notices if said.startswith("Docs")]
            assert told or not silent, (person, silent, self.did, self.read)

    def settled(self) -> None:
        """In the end exactly what is allowed, and nothing withheld. The limit is there to fail, not to measure."""
        deadline = time.monotonic() + 20
        for person in PEOPLE:
            while True:
                spoken, notices = self.look(person)
                if spoken == self.allowed(person) and not [said for said in notices if "Docs" in said]:
                    break
                assert time.monotonic() < deadline, (person, spoken, self.allowed(person), notices, self.did)
                time.sleep(0.02)
        self.held = {paper.alias for paper in self.papers.values() if paper.pulled}


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_the_page_says_what_the_oracle_allows(fleet: Any, seed: int) -> None:
    """Edits, moves between rungs, grants, removals, deletions, rows lost and put back, whole backups restored.

    Broken to see it red, each in turn: NOT_VISIBLE spoken; STALE spoken, and omitted; AHEAD spoken, and omitted; a
    verdict kept from one search to the next; no order to announce anew; one pair in each call not asked about;
    a replaced revision dropped like a deleted one (as it was, until this found it).
    """
    history = History(fleet, seed)
    history.settled()
    assert history.held == set(history.papers)
    history.save()
    for _ in range(ACTS):
        history.act()
        history.at_once()
        history.settled()
    for paper in history.papers.values():  # the next history's restore must not bring these back
        if paper.exists:
            fleet.sibling("docs", "delete", item=paper.alias)
