"""One case as it runs: the names and revisions of this state, what was saved, and the calls it makes."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from google.protobuf import json_format
from google.protobuf.message import Message

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_conformance.kit.hook_client import Json
from memoria_conformance.kit.http_client import NoReply, Reply, Request
from memoria_conformance.kit.model import Model
from memoria_conformance.kit.target import Target
from memoria_conformance.kit.transcript import Redactor, Transcript
from memoria_contract.codec import JSON, PROTO, MalformedBody, decode, encode, media_type

MessageT = TypeVar("MessageT", bound=Message)
SERVICE = "/memoria.sibling.v1.SiblingService/"
PULL_CALLS = frozenset({"Describe", "ListChanges", "Announce", "GetContent"})


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


class Scene:
    """Runs the steps of one case. `world` is None for cases that need none."""

    def __init__(self, target: Target, redactor: Redactor, described: pb.DescribeResponse, world: World | None) -> None:
        self.target, self.redactor, self.described, self._world = target, redactor, described, world
        self.transcript = Transcript(redactor, target.channel.origin)
        self.saved: dict[str, Any] = {}
        self.held: dict[str, dict[str, str]] = {}
        self.announces: dict[str, Announced] = {}
        self.unheard = False  # the last request found nobody listening
        self.tokens_added: set[tuple[str, str]] = set()
        self._tokens: dict[str, str] = {"pull": target.pull_token, "ask": target.ask_token}

    @property
    def world(self) -> World:
        """The loaded state."""
        if self._world is None:
            raise CannotTry("this case needs a state hook (--state-url, --state-cmd or --state-file)")
        return self._world

    @property
    def model(self) -> Model:
        """What the world has come to."""
        return self.world.model

    # --- names -------------------------------------------------------------------------------------------------

    @property
    def kind(self) -> int:
        """The subject kind the sibling keys on; the first, where it says more than one."""
        kinds = [kind for kind in self.described.subject_kinds if kind]
        return kinds[0] if kinds else pb.SUBJECT_KIND_ADDRESS

    @property
    def other_kind(self) -> int:
        """The one it does not key on."""
        address = self.kind == pb.SUBJECT_KIND_ADDRESS
        return pb.SUBJECT_KIND_PERSON_REF if address else pb.SUBJECT_KIND_ADDRESS

    def item_id(self, alias: str) -> str:
        """The sibling's id of an alias; an id it never had for `never.NAME`."""
        if alias.startswith("never."):
            return f"{self.world.prefix}-{alias}"
        if alias not in self.world.ids:
            raise CannotTry(f"the state hook gave no id for {alias}")
        return self.world.ids[alias]

    def alias_of(self, item_id: str) -> str | None:
        """The alias of an id, or None for what is not of this world."""
        return next((alias for alias, known in self.world.ids.items() if known == item_id), None)

    def revision(self, alias: str, which: str) -> str:
        """`` or `current`, `first`, `#N` (the N-th it ever had, from 0), or the text itself.

        Where the sibling has not told the revision any text does, for then the answer must not depend on it.
        """
        if alias.startswith("never."):
            return which.removeprefix("#") or "1"
        history = self.world.history.get(alias, [])
        if which in ("", "current"):
            item = self.model.items.get(alias)
            told = item.log[-1] if item is not None else history[-1]
        elif which == "first":
            told = history[0]
        elif which.startswith("#"):
            told = history[int(which[1:])]
        else:
            return which
        return told if told is not None else "1"

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
            name = "pull" if call in PULL_CALLS else "ask"
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
            case "saved" | "bent":
                if rest not in self.saved:
                    raise ValueError(f"nothing was saved as {rest}")
                return self.saved[rest] if word == "saved" else _bent(self.saved[rest])
        raise ValueError(f"unknown reference {value}")

    # --- calls -------------------------------------------------------------------------------------------------

    async def send(self, request: Request) -> Reply:
        """Send and write down. Raises NoReply."""
        try:
            reply = await self.target.channel.send(request)
        except NoReply as error:
            self.unheard = not error.connected
            self.transcript.http(request, None, str(error))
            raise
        self.transcript.http(request, reply)
        return reply

    async def call(
        self,
        method: str,
        message: Message,
        reply_type: type[MessageT],
        *,
        token: str = "",
        binary: bool = False,
        extra: Json | None = None,
    ) -> tuple[MessageT, Reply]:
        """One call as the contract has it. Raises CallRefused for an error, CheckFailed for what is no reply."""
        content_type = PROTO if binary else JSON
        body = encode(message, content_type)
        if extra:
            body = _with(message, extra)
        headers = (("Content-Type", content_type), ("Authorization", f"Bearer {self.token(token, method)}"))
        try:
            reply = await self.send(Request(SERVICE + method, headers, body))
        except NoReply as error:
            raise CheckFailed(f"{method}: {error}") from None
        if reply.status != 200:
            raise CallRefused(reply, error_code(reply))
        if media_type(reply.header("content-type")) != content_type:
            raise CheckFailed(
                f"{method}: a reply to {content_type} must be {content_type}, not {reply.header('content-type')!r}"
            )
        try:
            return decode(reply_type, reply.body, content_type), reply
        except MalformedBody:
            raise CheckFailed(f"{method}: the reply is not a {reply_type.DESCRIPTOR.name}") from None

    async def ask_hook(self, verb: str, params: Json, action: str = "setup") -> Json:
        """One request to the state hook, written down."""
        if self.target.hook is None:
            raise CannotTry("this case needs a state hook (--state-url, --state-cmd or --state-file)")
        answer = await self.target.hook.ask(verb, {"prefix": self.world.prefix, **params}, action)
        self.transcript.hook(verb, params, answer)
        return answer


def _bent(text: str) -> str:
    """One character in the middle changed for another of its kind."""
    middle = len(text) // 2
    other = {"0": "1", "a": "b", "A": "B"}
    here = text[middle : middle + 1]
    kind = "0" if here.isdigit() else "A" if here.isupper() else "a"
    return text[:middle] + (other[kind] if here == kind else kind) + text[middle + 1 :]


def error_code(reply: Reply) -> str:
    """The Connect code in a reply that is an error; "" where there is none."""
    if media_type(reply.header("content-type")) != JSON:
        return ""
    try:
        code = json.loads(reply.body)["code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return code if isinstance(code, str) else ""


def _with(message: Message, extra: Json) -> bytes:
    """A message in JSON with fields it does not have."""
    return json.dumps({**json_format.MessageToDict(message), **extra}).encode()
