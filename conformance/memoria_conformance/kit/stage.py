"""Where cases play: what the sibling declares, and the worlds that its state hook loads and takes away."""

import json
import secrets

from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_conformance.kit.hook_client import HookBroke, Json, Unsupported
from memoria_conformance.kit.learn import learn_all
from memoria_conformance.kit.model import Model, world_params
from memoria_conformance.kit.scene import CallRefused, CannotTry, CheckFailed, Scene, World
from memoria_conformance.kit.target import Target
from memoria_conformance.kit.transcript import Redactor
from memoria_contract.limits import NAME_LENGTH, usable_name

DECLARED = {
    "S1": pb.CALL_LIST_CHANGES,
    "S1a": pb.CALL_ANNOUNCE,
    "S2": pb.CALL_AUTHORIZE,
    "S3": pb.CALL_GET_CONTENT,
    "S6": pb.CALL_AGGREGATE,
}
"""Group → the call that Describe declares."""


class Unreachable(Exception):
    """Nobody answers at the URL (exit 2)."""


class TokenRefused(Exception):
    """The sibling does not accept a token that the run was given (exit 2)."""


class Stage:
    """One sibling for the time of one run. `prefix` keeps the run apart from others; by default it is made up."""

    def __init__(self, target: Target, prefix: str | None = None) -> None:
        self.target = target
        self.redactor = Redactor()
        self.described = pb.DescribeResponse()
        self._prefix = prefix or f"k{secrets.token_hex(3)}"
        self._standing: World | None = None
        self._dirty = False
        self._loaded = 0
        if target.pull_token == target.ask_token:
            self.redactor.hide(target.pull_token, "MEMORIA_TOKEN")
        self.redactor.hide(target.pull_token, "MEMORIA_PULL_TOKEN")
        self.redactor.hide(target.ask_token, "MEMORIA_ASK_TOKEN")
        self.redactor.hide(getattr(target.hook, "secret", ""), "MEMORIA_STATE_TOKEN")

    async def prepare(self) -> list[str]:
        """Ask what the sibling declares; returns what the reader should know. Raises Unreachable and TokenRefused.

        Without Describe every call but S6 is taken as declared, and S6 as absent.
        """
        scene = self.scene(None)
        try:
            reply, _ = await scene.call("Describe", pb.DescribeRequest(), pb.DescribeResponse)
        except (CallRefused, CheckFailed) as error:
            if not isinstance(error, CallRefused) and scene.no_reply:
                raise Unreachable(f"no answer from {self.target.channel.origin}: {scene.no_reply}") from None
            if isinstance(error, CallRefused) and error.code == "unauthenticated":
                raise TokenRefused("the sibling does not accept the pull token: Describe is unauthenticated") from None
            self.described.calls.extend(sorted(set(DECLARED.values()) - {pb.CALL_AGGREGATE}))
            return [f"Describe failed ({error}): S1, S1a, S2 and S3 are taken as declared."]
        self.described.CopyFrom(reply)
        try:
            await scene.call("Describe", pb.DescribeRequest(), pb.DescribeResponse, token="ask")  # noqa: S106 — its name
        except (CallRefused, CheckFailed) as error:  # anything else is for the cases to find
            if isinstance(error, CallRefused) and error.code == "unauthenticated" and await self._unknown_to_s2():
                raise TokenRefused("the sibling does not accept the ask token: its calls are unauthenticated") from None
        return []

    async def _unknown_to_s2(self) -> bool:
        """Whether S2 knows the ask token no better than Describe did: then it is the token, and not Describe (D-02)."""
        try:
            await self.scene(None).call("Authorize", pb.AuthorizeRequest(), pb.AuthorizeResponse)
        except CallRefused as error:
            return error.code == "unauthenticated"
        except CheckFailed:
            return False
        return False

    def declares(self, call: str) -> bool:
        """Whether Describe names the call of this group; true of the groups that are no calls."""
        return call not in DECLARED or DECLARED[call] in self.described.calls

    def scene(self, world: World | None, *, name: str = "", binary: bool = False, second_kind: bool = False) -> Scene:
        """A scene in this world, for the case of this name."""
        return Scene(
            self.target, self.redactor, self.described, world, name=name, binary=binary, second_kind=second_kind
        )

    def spoil(self) -> None:
        """The standing world was changed: whoever comes next gets a new one."""
        self._dirty = True

    async def world(self, extra: int = 0) -> World | None:
        """The standing world where nothing has changed it, else a new one; None without a hook.

        `extra` more team items make a world of its own. Raises CannotTry where a state file would have to hold it, and
        HookBroke.
        """
        hook = self.target.hook
        if hook is None:
            return None
        if extra and hook.fixed:
            raise CannotTry("this case needs a larger world, and a state file cannot load one")
        if self._standing is not None and not self._dirty and not extra:
            return self._standing
        await self._teardown()
        self._loaded += 1
        prefix = self._prefix if hook.fixed else f"{self._prefix}-{self._loaded}"
        params = world_params(prefix, sheets=self.declares("S6"), extra=extra)
        model = Model(params)  # before a hook of this process can change what it is given
        try:
            answer = await hook.ask("load_world", params)
        except Unsupported:
            raise HookBroke("the state hook does not do load_world") from None
        self._standing = await self._learn(prefix, model, answer)
        self._dirty = extra > 0
        if missing := [
            alias for alias in self._standing.model.items if "extra" in alias and alias not in self._standing.ids
        ]:
            raise CannotTry(f"the state hook gave no id for {len(missing)} of {extra} further items")
        return self._standing

    @property
    def where(self) -> str:
        """Where the standing world is, and how to take it away by hand; "" where there is none."""
        if self._standing is None:
            return ""
        prefix = self._standing.prefix
        request = json.dumps({"state": "teardown", "params": {"prefix": prefix}, "action": "teardown"})
        return f" under the prefix {prefix} (tell the state hook {request} to take it away)"

    async def leave(self) -> list[str]:
        """Take the standing world away; returns what the reader should know."""
        try:
            await self._teardown()
        except HookBroke as broke:
            return [f"The last teardown failed: {broke}."]
        return []

    async def _learn(self, prefix: str, model: Model, answer: Json) -> World:
        aliases = answer.get("aliases")
        if not isinstance(aliases, dict):
            raise HookBroke("the state hook's answer to load_world has no `aliases`")
        ids = {alias: aliases[alias] for alias in model.items if alias in aliases}
        if not all(isinstance(item_id, str) and usable_name(item_id) for item_id in ids.values()):
            raise HookBroke(f"the state hook's `aliases` of items must be texts of 1 to {NAME_LENGTH} characters")
        subjects = {alias: aliases[alias] for alias in model.people if alias in aliases}
        self._check_people(model, subjects)
        revisions = answer.get("revisions")
        for alias, revision in (revisions if isinstance(revisions, dict) else {}).items():
            if not isinstance(revision, str):
                raise HookBroke("the state hook's `revisions` must be texts")
            if alias in model.items:
                model.items[alias].log = [revision]
        world = World(prefix, model, ids, subjects, {})
        await learn_all(self.scene(world))
        world.history = {alias: list(item.log) for alias, item in model.items.items()}
        model.loaded()
        return world

    def _check_people(self, model: Model, subjects: Json) -> None:
        """What a hook calls a person must be what Describe says people are known by, or no answer means anything."""
        for alias, value in subjects.items():
            if isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
                continue
            if not isinstance(value, str):
                raise HookBroke("the state hook's `aliases` of people must be texts, or {address, person_ref}")
            address = self.scene(None).kind == pb.SUBJECT_KIND_ADDRESS
            if address and ("@" not in value or value != value.lower()):
                raise HookBroke(f"Describe says that people are known by address, and the hook's {alias} is none")
            if not address and value == model.people[alias]["address"]:
                raise HookBroke(
                    f"Describe says that people are known by person_ref, and the hook's {alias} is an address"
                )

    async def _teardown(self) -> None:
        """A hook that has no teardown keeps its data, which is its business."""
        if self._standing is None or self.target.hook is None:
            return
        prefix, self._standing = self._standing.prefix, None
        try:
            await self.target.hook.ask("teardown", {"prefix": prefix}, "teardown")
        except Unsupported:
            pass
