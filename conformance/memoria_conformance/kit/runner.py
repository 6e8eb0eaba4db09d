"""Runs cases against one sibling: what it declares, what a case needs, the state it runs in, what came of it."""

import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase

from memoria.conformance.v1 import suite_pb2 as suite
from memoria.sibling.v1 import sibling_pb2 as pb
from memoria_conformance.kit.hook_client import HookBroke, Unsupported
from memoria_conformance.kit.learn import learn_all
from memoria_conformance.kit.model import Model, world_params
from memoria_conformance.kit.report import CaseResult, Level, Report, Status
from memoria_conformance.kit.scene import CallRefused, CannotTry, CheckFailed, NotMeant, Scene, World
from memoria_conformance.kit.steps import STEPS
from memoria_conformance.kit.suite import Case, packaged_cases
from memoria_conformance.kit.target import Target
from memoria_conformance.kit.transcript import Redactor

DECLARED = {
    "S1": pb.CALL_LIST_CHANGES,
    "S1a": pb.CALL_ANNOUNCE,
    "S2": pb.CALL_AUTHORIZE,
    "S3": pb.CALL_GET_CONTENT,
    "S6": pb.CALL_AGGREGATE,
}
"""Group → the call that Describe declares."""

_NEEDED_CALLS = {
    suite.NEED_S1: "S1",
    suite.NEED_S1A: "S1a",
    suite.NEED_S2: "S2",
    suite.NEED_S3: "S3",
    suite.NEED_S6: "S6",
}

Progress = Callable[[CaseResult], None]


class Unreachable(Exception):
    """Nobody answers at the URL (exit 2)."""


class Runner:
    """One run. Use it once."""

    def __init__(self, target: Target, prefix: str | None = None) -> None:
        """`prefix` keeps this run apart from others at the same sibling; by default it is made up."""
        self._target = target
        self._prefix = prefix or f"k{secrets.token_hex(3)}"
        self._redactor = Redactor()
        if target.pull_token == target.ask_token:
            self._redactor.hide(target.pull_token, "MEMORIA_TOKEN")
        self._redactor.hide(target.pull_token, "MEMORIA_PULL_TOKEN")
        self._redactor.hide(target.ask_token, "MEMORIA_ASK_TOKEN")
        self._described = pb.DescribeResponse()
        self._declared: set[int] = set()
        self._world: World | None = None
        self._worlds = 0
        self._dirty = False
        self._broken: str | None = None

    async def run(self, cases: Sequence[Case] | None = None, progress: Progress | None = None) -> Report:
        """Run `cases`, all that ship by default, and close the channel. Raises Unreachable."""
        cases = packaged_cases() if cases is None else cases
        results: list[CaseResult] = []
        try:
            notes = await self._describe()
            for case in cases:
                results.append(await self._case(case))
                if progress is not None:
                    progress(results[-1])
            notes += await self._leave()
        finally:
            await self._target.channel.close()
        absent = tuple(call for call, number in DECLARED.items() if number not in self._declared)
        return Report(self._described.app, self._target.channel.origin, tuple(results), absent, tuple(notes))

    async def _describe(self) -> list[str]:
        """What the sibling declares. Without Describe every call but S6 is taken as declared, and S6 as absent."""
        scene = Scene(self._target, self._redactor, self._described, None)
        try:
            reply, _ = await scene.call("Describe", pb.DescribeRequest(), pb.DescribeResponse)
        except (CallRefused, CheckFailed) as error:
            last = scene.transcript.exchanges[-1]
            if last.status is None and last.reply_body == "nobody listens there":
                raise Unreachable(f"nobody listens at {self._target.channel.origin}") from None
            self._declared = set(DECLARED.values()) - {pb.CALL_AGGREGATE}
            self._described.calls.extend(sorted(self._declared))
            return [f"Describe failed ({error}): S1, S1a, S2 and S3 are taken as declared."]
        self._described.CopyFrom(reply)
        self._declared = set(reply.calls)
        return []

    # --- one case ----------------------------------------------------------------------------------------------

    async def _case(self, case: Case) -> CaseResult:
        began = time.monotonic()
        if why := self._not_meant(case):
            return self._result(case, Status.SKIP, why)
        if self._broken is not None and case.uses_world():
            return self._result(case, Status.SKIP, f"not run: {self._broken}", unshown=True)
        scene: Scene | None = None
        at = ""
        try:
            world = await self._state_for(case)
            scene = Scene(self._target, self._redactor, self._described, world)
            for number, step in enumerate(case.data.steps, start=1):
                kind = step.WhichOneof("action")
                at = f"step {number} of {len(case.data.steps)}, {kind}" + (f": {step.note}" if step.note else "")
                await STEPS[kind](getattr(step, kind), scene)
        except CannotTry as why_not:
            return self._result(case, Status.SKIP, str(why_not), unshown=True)
        except NotMeant as why_not:
            return self._result(case, Status.SKIP, str(why_not))
        except HookBroke as broke:
            self._broken = str(broke)
            return self._result(case, Status.ERROR, str(broke), at, scene, seconds=time.monotonic() - began)
        except CheckFailed as failed:
            return self._result(case, Status.FAIL, str(failed), at, scene, seconds=time.monotonic() - began)
        except CallRefused as refused:
            return self._result(case, Status.FAIL, f"refused: {refused}", at, scene, seconds=time.monotonic() - began)
        except Exception as error:  # the suite's own fault must not pass for the sibling's
            message = f"the suite broke: {type(error).__name__}: {error}"
            return self._result(case, Status.ERROR, message, at, scene, seconds=time.monotonic() - began)
        finally:
            if case.changes_world():
                self._dirty = True
            await self._withdraw_tokens(scene)
        return self._result(case, Status.PASS, seconds=time.monotonic() - began)

    async def _withdraw_tokens(self, scene: Scene | None) -> None:
        """No token of a case outlives it."""
        if scene is None:
            return
        for consumer, scope in sorted(scene.tokens_added):
            try:
                await scene.ask_hook("retire_tokens", {"consumer": consumer, "scope": scope, "keep": ""})
            except Unsupported:
                pass  # then they stay, known to nobody
            except HookBroke as broke:
                self._broken = str(broke)

    def _not_meant(self, case: Case) -> str:
        """Why a case means nothing for this sibling, or ""."""
        if case.call in DECLARED and DECLARED[case.call] not in self._declared:
            return f"Describe does not declare {case.call}"
        for need in case.data.needs:
            if need in _NEEDED_CALLS and DECLARED[_NEEDED_CALLS[need]] not in self._declared:
                return f"needs {_NEEDED_CALLS[need]}, which Describe does not declare"
            if need == suite.NEED_ONE_KIND and len(self._described.subject_kinds) != 1:
                return "the sibling keys on both subject kinds"
            if need == suite.NEED_TWO_TOKENS and self._target.pull_token == self._target.ask_token:
                return "one token serves for both scopes"
            if need == suite.NEED_NETWORK and not self._target.channel.network:
                return "the sibling is called in process, not over a network"
        return ""

    async def _state_for(self, case: Case) -> World | None:
        """The world a case runs in: the one that stands, where nothing has changed it, else a new one."""
        hook = self._target.hook
        if hook is None or not case.uses_world():
            return None
        extra = case.data.extra_items
        if extra and hook.fixed:
            raise CannotTry("this case needs a larger world, and a state file cannot load one")
        if self._world is not None and not self._dirty and not extra:
            return self._world
        await self._teardown()
        self._worlds += 1
        prefix = self._prefix if hook.fixed else f"{self._prefix}-{self._worlds}"
        params = world_params(prefix, sheets=pb.CALL_AGGREGATE in self._declared, extra=extra)
        try:
            answer = await hook.ask("load_world", params)
        except Unsupported:
            raise HookBroke("the state hook does not do load_world") from None
        self._world = await self._learn(prefix, Model(params), answer)
        self._dirty = extra > 0
        return self._world

    async def _learn(self, prefix: str, model: Model, answer: dict[str, object]) -> World:
        aliases = answer.get("aliases")
        if not isinstance(aliases, dict):
            raise HookBroke("the state hook's answer to load_world has no `aliases`")
        ids = {alias: str(aliases[alias]) for alias in model.items if alias in aliases}
        subjects = {alias: aliases[alias] for alias in model.people if alias in aliases}
        revisions = answer.get("revisions")
        for alias, revision in (revisions if isinstance(revisions, dict) else {}).items():
            if alias in model.items:
                model.items[alias].log = [str(revision)]
        world = World(prefix, model, ids, subjects, {})
        await learn_all(Scene(self._target, self._redactor, self._described, world))
        world.history = {alias: list(item.log) for alias, item in model.items.items()}
        model.loaded()
        return world

    async def _teardown(self) -> None:
        """Take the standing world away; a hook that has no teardown keeps it, which is its business."""
        if self._world is None or self._target.hook is None:
            return
        prefix, self._world = self._world.prefix, None
        try:
            await self._target.hook.ask("teardown", {"prefix": prefix}, "teardown")
        except Unsupported:
            pass  # its data, its choice

    async def _leave(self) -> list[str]:
        try:
            await self._teardown()
        except HookBroke as broke:
            return [f"The last teardown failed: {broke}."]
        return []

    def _result(
        self,
        case: Case,
        status: Status,
        message: str = "",
        step: str = "",
        scene: Scene | None = None,
        *,
        seconds: float = 0.0,
        unshown: bool = False,
    ) -> CaseResult:
        return CaseResult(
            id=case.id,
            call=case.call,
            level=case.level,
            section=case.data.section,
            rule=case.data.rule,
            status=status,
            message=self._redactor.clean(message),
            step=step,
            exchanges=scene.transcript.exchanges if scene is not None else (),
            seconds=seconds,
            unshown=unshown and case.level is Level.MUST,
        )


def matching(cases: Iterable[Case], *, calls: Sequence[str] = (), ids: Sequence[str] = ()) -> list[Case]:
    """The cases of these calls (any case of letters) whose id fits one of these patterns (`S2-*`); all where empty."""
    wanted = {call.lower() for call in calls}
    return [
        case
        for case in cases
        if (not wanted or case.call.lower() in wanted) and (not ids or any(fnmatchcase(case.id, i) for i in ids))
    ]
