"""Runs cases against one sibling: whether a case means something, the state it runs in, what came of it."""

import time
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase

from memoria.conformance.v1 import suite_pb2 as suite
from memoria_conformance.kit.hook_client import HookBroke, Unsupported
from memoria_conformance.kit.report import CaseResult, Level, Report, Status
from memoria_conformance.kit.scene import CallRefused, CannotTry, CheckFailed, NotMeant, Scene
from memoria_conformance.kit.stage import DECLARED, Stage
from memoria_conformance.kit.steps import STEPS
from memoria_conformance.kit.suite import Case, packaged_cases
from memoria_conformance.kit.target import Target

_NEEDED_CALLS = {
    suite.NEED_S1: "S1",
    suite.NEED_S1A: "S1a",
    suite.NEED_S2: "S2",
    suite.NEED_S3: "S3",
    suite.NEED_S6: "S6",
}

_APP = 100  # characters of the app's name that a report shows
_MESSAGE = 4000  # and of what was found

Progress = Callable[[CaseResult], None]


class Runner:
    """One run. Use it once."""

    def __init__(self, target: Target, prefix: str | None = None, *, stop: bool = False) -> None:
        """`prefix` keeps this run apart from others at the same sibling; by default it is made up.

        With `stop` the run ends at the first MUST that fails, and leaves the state it failed in.
        """
        self._stop = stop
        self._target = target
        self._stage = Stage(target, prefix)
        self._broken: str | None = None

    async def run(self, cases: Sequence[Case] | None = None, progress: Progress | None = None) -> Report:
        """Run `cases`, all that ship by default, and close the channel. Raises Unreachable and TokenRefused."""
        cases = packaged_cases() if cases is None else cases
        results: list[CaseResult] = []
        standing = False
        stage = self._stage
        try:
            notes = await stage.prepare()
            try:
                for case in cases:
                    results.append(await self._case(case))
                    if progress is not None:
                        progress(results[-1])
                    if self._stop and results[-1].status is Status.FAIL and results[-1].level is Level.MUST:
                        standing = True
                        notes.append(f"Stopped at the first failure; the state it failed in stands{stage.where}.")
                        break
            finally:
                if not standing:  # also when somebody interrupts: nothing of the suite is left behind
                    left = await stage.leave()
                    notes += left
                    self._broken = self._broken or "; ".join(left) or None
        finally:
            await self._target.channel.close()
        absent = tuple(call for call in DECLARED if not stage.declares(call))
        return Report(
            stage.redactor.clean(stage.described.app)[:_APP],
            self._target.channel.origin,
            tuple(results),
            absent,
            tuple(stage.redactor.clean(note)[:_MESSAGE] for note in notes),
            broken=self._stage.redactor.clean(self._broken or ""),
            left_out=len(packaged_cases()) - len(results),
        )

    async def _case(self, case: Case) -> CaseResult:
        began = time.monotonic()
        if why := self._not_meant(case):
            return self._result(case, Status.SKIP, why)
        if self._broken is not None and case.uses_world():
            return self._result(case, Status.SKIP, f"not run: {self._broken}", unshown=True)
        scene: Scene | None = None
        at = ""

        def failed(status: Status, message: str) -> CaseResult:
            return self._result(case, status, message, at, scene, seconds=time.monotonic() - began)

        try:
            world = await self._stage.world(case.data.extra_items) if case.uses_world() else None
            scene = self._stage.scene(world, name=case.id, binary=case.data.binary, second_kind=case.data.second_kind)
            taken = 0
            for number, step in enumerate(case.data.steps, start=1):
                kind = step.WhichOneof("action")
                if any(self._lacks(need) for need in step.needs):
                    continue
                taken += 1
                at = f"step {number} of {len(case.data.steps)}, {kind}" + (f": {step.note}" if step.note else "")
                await STEPS[kind](getattr(step, kind), scene)
            if not taken:
                raise NotMeant("none of its calls is declared")
        except CannotTry as why_not:
            return self._result(case, Status.SKIP, str(why_not), unshown=True)
        except NotMeant as why_not:
            return self._result(case, Status.SKIP, str(why_not))
        except HookBroke as broke:
            self._broken = str(broke)
            return failed(Status.ERROR, str(broke))
        except CheckFailed as wrong:
            return failed(Status.FAIL, str(wrong))
        except CallRefused as refused:
            return failed(Status.FAIL, f"refused: {refused}")
        except Exception as error:  # the suite's own fault must not pass for the sibling's
            return failed(Status.ERROR, f"the suite broke: {type(error).__name__}: {error}")
        finally:
            if case.changes_world():
                self._stage.spoil()
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
        if not self._stage.declares(case.call):
            return f"Describe does not declare {case.call}"
        return next((why for need in case.data.needs if (why := self._lacks(need))), "")

    def _lacks(self, need: int) -> str:
        """Why this sibling does not have what is needed, or ""."""
        call = _NEEDED_CALLS.get(need)
        if call is not None and not self._stage.declares(call):
            return f"needs {call}, which Describe does not declare"
        kinds = len(self._stage.described.subject_kinds)
        if need == suite.NEED_ONE_KIND and kinds > 1:
            return "the sibling keys on both subject kinds"
        if need == suite.NEED_BOTH_KINDS and kinds < 2:
            return "the sibling keys on one subject kind"
        if need == suite.NEED_TWO_TOKENS and self._target.pull_token == self._target.ask_token:
            return "one token serves for both scopes"
        if need == suite.NEED_NETWORK and not self._target.channel.network:
            return "the sibling is called in process, not over a network"
        return ""

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
            message=self._stage.redactor.clean(message)[:_MESSAGE],
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
