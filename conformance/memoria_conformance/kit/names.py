"""What is called what in one case: the sibling's ids and revisions for ours, and the words that begin with `$`."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_conformance.kit.http_client import Reply
from memoria_conformance.kit.model import Model
from memoria_conformance.kit.target import Target
from memoria_conformance.kit.transcript import Redactor, Transcript
from memoria_contract.types import SCOPES

NO_HOOK = "this case needs a state hook (--state-url, --state-cmd or --state-file)"


class CheckFailed(Exception):
    """The sibling broke the rule; the text says what was expected and what came."""


class CannotTry(Exception):
    """The case cannot be run against this sibling; the text says why. Conformance is then not shown."""


class NotMeant(Exception):
    """The case means nothing for this sibling; the text says why. Nothing is held against it."""


class CallRefused(Exception):
    """The sibling answered with an error."""

    def __init__(self, reply: Reply, code: str) -> None:
        super().__init__(f"status {reply.status}, code {code or 'none'}")
        self.reply, self.code = reply, code


@dataclass(slots=True)
class Announced:
    """An announce as far as it was read."""

    announce_id: str = ""
    items: dict[str, str] = field(default_factory=dict)
    page_token: str = ""
    pages: int = 0
    cursor: str | None = None  # set by the closing marker
    last_token: str = ""  # what the page that came last was asked for with
    last_page: pb.AnnounceResponse | None = None


@dataclass(slots=True)
class World:
    """A loaded state, and how the sibling names what is in it."""

    prefix: str
    model: Model
    ids: dict[str, str]
    subjects: dict[str, str | Mapping[str, str]]
    history: dict[str, list[str | None]]  # every revision an item ever had here, also those a restore took back


class Names:
    """What is called what in one case: items, revisions, people, tokens, and what steps saved."""

    def __init__(
        self,
        target: Target,
        redactor: Redactor,
        described: pb.DescribeResponse,
        world: World | None,
        *,
        name: str = "",
        binary: bool = False,
        second_kind: bool = False,
    ) -> None:
        """`name` is the case's id. `binary` and `second_kind` as in the suite's Case."""
        self.target, self.redactor, self.described, self._world = target, redactor, described, world
        self._name, self._binary, self._second_kind = name, binary, second_kind
        self.transcript = Transcript(redactor, target.channel.origin)
        self.saved: dict[str, Any] = {}
        self.held: dict[str, dict[str, str]] = {}
        self.announces: dict[str, Announced] = {}
        self.no_reply = ""  # why the last request that got none got no reply
        self.tokens_added: set[tuple[str, str]] = set()
        self._tokens: dict[str, str] = {"pull": target.pull_token, "ask": target.ask_token}

    @property
    def world(self) -> World:
        """The loaded state."""
        if self._world is None:
            raise CannotTry(NO_HOOK)
        return self._world

    @property
    def model(self) -> Model:
        """What the world has come to."""
        return self.world.model

    @property
    def kind(self) -> int:
        """The subject kind people are named by: the first that the sibling keys on, or the second."""
        kinds = [kind for kind in self.described.subject_kinds if kind]
        if not kinds:
            return pb.SUBJECT_KIND_ADDRESS
        return kinds[1] if self._second_kind and len(kinds) > 1 else kinds[0]

    @property
    def other_kind(self) -> int:
        """The one it does not key on."""
        address = self.kind == pb.SUBJECT_KIND_ADDRESS
        return pb.SUBJECT_KIND_PERSON_REF if address else pb.SUBJECT_KIND_ADDRESS

    @property
    def second(self) -> str:
        """The name of the other consumer: the case's own, so that what one case leaves is nothing to the next."""
        return f"second-{self.world.prefix}-{self._name}"

    def item_id(self, alias: str) -> str:
        """The sibling's id of an alias; an id it never had for `never.NAME`."""
        if alias.startswith("never."):
            return f"{self.world.prefix}-{alias}"
        if alias not in self.world.ids:
            raise CannotTry(f"the state hook gave no id for {alias}")
        return self.world.ids[alias]

    def called(self, alias: str) -> str:
        """An alias and the sibling's own id for it, as messages name it."""
        known = self.world.ids.get(alias)
        return alias if known is None else f"{alias} ({known})"

    def alias_of(self, item_id: str) -> str | None:
        """The alias of an id, or None for what is not of this world."""
        return next((alias for alias, known in self.world.ids.items() if known == item_id), None)

    def revision(self, alias: str, which: str) -> str:
        """What `told` says, and any text where the sibling has not told it; for answers that cannot depend on it."""
        return self.told(alias, which) or "1"

    def told(self, alias: str, which: str) -> str | None:
        """`` or `current`, `first`, `#N` (the N-th it ever had, from 0), or the text itself. None: nobody told us."""
        if alias.startswith("never."):
            return which.removeprefix("#") or "1"
        history = self.world.history.get(alias, [])
        if which in ("", "current"):
            item = self.model.items.get(alias)
            return item.log[-1] if item is not None else history[-1]
        if which == "first":
            return history[0]
        return history[int(which[1:])] if which.startswith("#") else which

    def subject(self, alias: str, kind: int | None = None) -> pb.Subject:
        """A person as the sibling knows them; as the suite wrote them where it knows only one kind."""
        kind = kind or self.kind
        field_name = "address" if kind == pb.SUBJECT_KIND_ADDRESS else "person_ref"
        told = self.world.subjects.get(alias)
        if isinstance(told, Mapping):
            value = told.get(field_name, "")
        else:
            value = told if told is not None and kind == self.kind else self.model.people[alias][field_name]
        return pb.Subject(kind=kind, value=value)

    def fill_subject(self, subject: pb.Subject) -> pb.Subject:
        """A subject that the case writes out; kind 0 is the sibling's own, and `$subject:ALIAS` is of that kind."""
        kind = subject.kind or self.kind
        word, _, alias = subject.value.partition(":")
        return self.subject(alias, kind) if word == "$subject" else pb.Subject(kind=kind, value=subject.value)

    def token(self, name: str, call: str = "") -> str:
        """A token by name, made on first use; the fitting one for ``."""
        if not name:
            name = "pull" if call in SCOPES["pull"] else "ask"
        name = name.removeprefix("$token:")
        if name not in self._tokens:
            self._tokens[name] = secrets.token_urlsafe(24)
            self.redactor.hide(self._tokens[name], f"MEMORIA_{name.upper()}_TOKEN")
        return self._tokens[name]

    def fill(self, value: Any) -> Any:
        """`value` with every `$…` string replaced."""
        if isinstance(value, Mapping):
            return {key: self.fill(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [self.fill(entry) for entry in value]
        if isinstance(value, float) and value.is_integer():
            return int(value)  # a Struct knows no integers
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        word, _, rest = value[1:].partition(":")
        match word:
            case "item":
                return self.item_id(rest)
            case "rev":
                alias, _, which = rest.partition(":")
                return self.revision(alias, f"#{which}" if which else "")
            case "subject":
                return self.subject(rest).value
            case "kind" | "other_kind":
                return pb.SubjectKind.Name(self.kind if word == "kind" else self.other_kind)
            case "token":
                return self.token(rest)
            case "other":
                return self.subject(rest, self.other_kind).value
            case "text":
                return " ".join(f"charophyte{n}" for n in range(int(rest)))
            case "padded":
                return f"{self.fill(f'${rest}')} "
            case "swapped":
                text = str(self.fill(f"${rest}"))
                if text.swapcase() == text:
                    raise NotMeant("there is no letter in it to change the case of")
                return text.swapcase()
            case "saved" | "bent":
                if rest not in self.saved:
                    raise ValueError(f"nothing was saved as {rest}")
                return self.saved[rest] if word == "saved" else _bent(self.saved[rest])
        raise ValueError(f"unknown reference {value}")


def _bent(text: str) -> str:
    """One character in the middle changed for another of its kind."""
    middle = len(text) // 2
    other = {"0": "1", "a": "b", "A": "B"}
    here = text[middle : middle + 1]
    kind = "0" if here.isdigit() else "A" if here.isupper() else "a"
    return text[:middle] + (other[kind] if here == kind else kind) + text[middle + 1 :]
