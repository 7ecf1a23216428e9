"""A child agent, seen from its parent: started in a process of its own, listened to, ended, and asked for its result.

The pipe between them carries one JSON object a line. Down: the order, ``answer``, ``interrupt``. Up: ``step``,
``used``, ``ask``, ``end``. It shows what happens; what has happened is read from the store, where the child's session
has an id that follows from its parent's call. So a call that is run again, after a crash, finds the child it had.
"""

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Mapping
from typing import TypeVar

from attrs import asdict, evolve

from hermes_core.agent.bounds import MOST_CHILDREN, Bounds, Limits, inherit
from hermes_core.agent.environment import child_environment, descendants, masked_tail
from hermes_core.agent.usage import CERTAINTY
from hermes_core.errors import HermesError, UnknownName
from hermes_core.store.outside import outside
from hermes_core.types import JSON, ChildResult, ChildStatus, ChildTask, Question, Usage, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.agent.tools import CallRunner

__all__ = ["Child"]

log = logging.getLogger(__name__)
T = TypeVar("T")
_LINE = 256 * 1024  # bytes of one line
_MOST = 16 * 1024 * 1024  # bytes a child may say in all
_TAIL = 4_000  # bytes of its stderr that are kept
_LATE = 1.0  # seconds a child may take to notice by itself that its time is up
_GRACE = 0.2  # seconds it may take to end when asked, and again when told
_STEP = 200  # characters of a step that are shown


class Child:
    """One child of one call."""

    def __init__(self, runner: "CallRunner", task: ChildTask, show: Callable[[str], None]) -> None:
        self._runner, self._task, self._parts = runner, task, runner.parts
        self._show = show
        self._tail = bytearray()
        self._said = self._ended = self._failure = ""
        self._stopped: tuple[ChildStatus, str] | None = None
        self.id = ""

    async def run(self, call_id: str, number: int) -> ChildResult:
        """Start it, or find it again, and see it through. ``number`` tells equal tasks of one call apart."""
        runner, began, self._call_id = self._runner, time.monotonic(), call_id
        row = await runner.store.call_row(runner.turn, call_id)
        place = (runner.session.id, runner.turn.id, row, self._task.goal, self._task.context, number)
        self.id = f"child_{hashlib.sha256(json.dumps(place).encode()).hexdigest()[:16]}"
        past = await runner.store.last_turn(self.id)
        if past is not None and past.state != "open":
            return await self._result("failed", "", past.ended - past.started)
        if problem := self._problem():
            return ChildResult(status="refused", error=problem, session_id=self.id if past else "")
        runner.meter.started += 1
        async with runner.meter.places:
            limits = await runner.left()
            if limits.exhausted:
                return ChildResult(status="refused", error=f"No {limits.exhausted} is left for a child.")
            known = self._parts.toolbox().offered(runner.session).values()
            status, error = await self._work(inherit(self._reach(limits), known, self._task))
        return await self._result(status, error, time.monotonic() - began)

    def _problem(self) -> str:
        """Why it must not be started, or nothing."""
        toolbox = self._parts.toolbox()
        if self._parts.levels < 1:
            return "This agent is a child that may not have children of its own."
        if self._runner.meter.started >= MOST_CHILDREN:
            return f"This turn has started {MOST_CHILDREN} children; that is the most."
        if not self._parts.recipe:
            return "This program did not say how a child of it is started."
        if unknown := set(self._task.toolsets) - toolbox.toolsets:
            known = ", ".join(sorted(toolbox.toolsets))
            return f"There is no toolset {min(unknown)!r} here; there is: {known}."
        return ""

    def _reach(self, limits: Limits) -> Bounds:
        """What the parent itself may do, now."""
        parts, session = self._parts, self._runner.session
        policy, tools = parts.policy, parts.toolbox().offered(session)
        mode, deny, allow = policy.mode_of(session), policy.deny_in(session), policy.allow
        return Bounds(mode=mode, deny=deny, allow=allow, tools=frozenset(tools), levels=parts.levels, limits=limits)

    # --- the process ----------------------------------------------------------------------------------------------

    async def _work(self, bounds: Bounds) -> tuple[ChildStatus, str]:
        """Let it work to its end, whoever sets that; how it ended, and why."""
        environment, secrets = child_environment(os.environ, self._parts.index)
        session = self._runner.session
        pipe = asyncio.subprocess.PIPE
        cwd = session.cwd if os.path.isdir(session.cwd) else None  # noqa: PTH112 - it may be a folder of another machine
        words = (sys.executable, "-P", "-m", "hermes_core.child")
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                cwd=cwd,
                env=environment,
                limit=_LINE,
                start_new_session=True,
            )
        except OSError as error:
            return "crashed", f"It could not be started: {error.strerror}."
        self._process = process
        self._runner.meter.running[self.id] = Usage()
        reading = asyncio.create_task(self._read_stderr())
        seconds = bounds.limits.seconds + _LATE
        try:
            async with asyncio.timeout(seconds if seconds < 1e9 else None):
                await self._talk({**self._order(bounds), "secrets": secrets})
        except TimeoutError:
            self._stopped = "timeout", f"Its {bounds.limits.seconds:g} seconds were up."
        except (ValueError, TypeError, KeyError, RecursionError, AttributeError) as error:
            self._stopped = "crashed", f"It did not keep to its protocol ({error})."[:300]
        except asyncio.CancelledError:
            self._stopped = "interrupted", "It was stopped."
            raise
        finally:
            await _surely(self._end())
            reading.cancel()
            self._said = masked_tail(bytes(self._tail), secrets, self._parts.settings.masks)
            if self._stopped and self._stopped[0] != "crashed":
                await _surely(self._give_up())
        return self._stopped or self._how_it_ended()

    def _order(self, bounds: Bounds) -> dict[str, JSON]:
        task, session, route = self._task, self._runner.session, self._parts.route
        name = "" if ":" in task.model or route is None else route.name
        text = f"{task.goal}\n\nWhat you should know:\n{task.context}" if task.context else task.goal
        return {
            "parent": os.getpid(),
            "recipe": self._parts.recipe,
            "session": {"id": self.id, "parent": session.id, "cwd": session.cwd},
            "owner": asdict(session.owner),
            "host": asdict(self._parts.host),
            "message": text,
            "untrusted": session.untrusted,
            "provider": name,
            "model": task.model or (route.model if route else ""),
            "effort": task.effort,
            "bounds": {**asdict(bounds), "tools": sorted(bounds.tools)},
            "gates": sorted(self._parts.gates()),
        }

    async def _talk(self, order: Mapping[str, JSON]) -> None:
        """Give the order, then listen until it says nothing more. Raises what a garbled line makes of it."""
        process, said, asking = self._process, 0, set[asyncio.Task[None]]()
        assert process.stdout
        self._tell(order)
        try:
            while line := await process.stdout.readline():
                said += len(line)
                if said > _MOST:
                    raise ValueError(f"it said more than {_MOST:,} bytes")
                heard = json.loads(line)
                if "ask" in heard:
                    asking.add(asyncio.create_task(self._ask(_question(heard["ask"]))))
                elif self._heard(heard):
                    return
            await process.wait()
        finally:
            for task in asking:
                task.cancel()

    def _heard(self, heard: Mapping[str, JSON]) -> bool:
        """Take a line in; whether the child must be stopped for it."""
        if "step" in heard:
            self._step(" ".join(str(heard["step"]).split()))
        elif "used" in heard:
            self._runner.meter.running[self.id] = _usage(heard["used"])
            if what := evolve(self._runner.meter.left, seconds=1).exhausted:
                self._stopped = "budget", f"No {what} was left for it."
                return True
        elif "end" in heard:
            self._ended = str(heard["end"])
            if self._ended == "timeout":
                self._stopped = "timeout", "Its time was up."
            self._failure = str(heard.get("error", ""))
        else:
            raise ValueError(f"an unknown line: {sorted(heard)}")
        return False

    def _step(self, text: str) -> None:
        shown = "".join(c for c in text if c.isprintable())[:_STEP]
        if self._task.on_step is None:
            self._show(shown)
            return
        try:
            self._task.on_step(self.id, shown)
        except Exception:  # who only watches must not end the work
            log.exception("a child's step could not be shown")

    async def _ask(self, question: Question) -> None:
        """Put the child's question to the person of this turn, as one of the parent's own."""
        note = f"a child agent asks, at work on: {' '.join(self._task.goal.split())[:80]}"
        told = evolve(question, risk=f"{question.risk} ({note})".strip())
        try:
            verdict = await self._runner.ask(told) or Verdict(outcome="deny", reason="Nobody is here to ask")
        except Exception:  # the child must not wait for ever for an answer that does not come
            log.exception("a child's question could not be put")
            verdict = Verdict(outcome="deny", reason="The question could not be put to anybody")
        self._tell({"answer": question.id, "verdict": asdict(verdict)})

    def _tell(self, line: Mapping[str, JSON]) -> None:
        stdin = self._process.stdin
        if stdin and not stdin.is_closing():
            stdin.write(json.dumps(line).encode() + b"\n")

    async def _read_stderr(self) -> None:
        assert self._process.stderr
        while piece := await self._process.stderr.read(_LINE):
            self._tail += piece
            if len(self._tail) > _TAIL:  # a secret cut in two would not be known as one: whole lines only
                del self._tail[: max(len(self._tail) - _TAIL, self._tail.find(b"\n", -_TAIL) + 1)]

    async def _end(self) -> None:
        """See to it that it is gone, with all it started: asked first, then told, then killed. Within a second."""
        process = self._process
        if self._stopped:
            self._tell({"interrupt": True})
        for politely in (True, False):
            if process.returncode is None:
                with contextlib.suppress(OSError, TimeoutError):
                    if not politely:
                        process.terminate()
                    await asyncio.wait_for(process.wait(), _GRACE)
        for pid in descendants(process.pid) if process.returncode is None else ():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        if process.stdin:
            process.stdin.close()

    # --- what came of it ------------------------------------------------------------------------------------------

    def _how_it_ended(self) -> tuple[ChildStatus, str]:
        status = self._process.returncode or 0
        if self._ended:
            return "failed", self._failure
        name = signal.Signals(-status).name if status < 0 else ""
        how = f"was killed by {name}" if name else f"ended with exit status {status}"
        return "crashed", f"Its process {how} before it was done."

    async def _give_up(self) -> None:
        """Close the turn of a child that was stopped: nobody goes on with it."""
        store = self._runner.store
        with contextlib.suppress(HermesError):  # then it stays as it is, and nobody goes on with it either
            if taken := await store.resume_turn(self.id, holder=self._runner.turn.holder):
                await store.close_turn(taken.turn, state="interrupted", error=self._stopped[1] if self._stopped else "")

    async def _result(self, status: ChildStatus, error: str, seconds: float) -> ChildResult:
        """What the store has of it. ``status`` and ``error`` say how it ended, when its turn does not."""
        store, owner = self._runner.store, self._runner.session.owner
        last = await store.last_turn(self.id)
        if last is None:
            known = ""
            with contextlib.suppress(UnknownName):
                known = (await store.session(self.id, owner)).id
            error = self._with_tail(status, error)
            return ChildResult(status=status, error=error, session_id=known, seconds=round(seconds, 3))
        if last.state == "done":
            status, error = "done", ""
        elif last.state == "failed" and status == "failed":
            error = last.error or error
            status = "budget" if "(budget." in error else status
        elif last.state == "interrupted" and status == "failed":
            status, error = "interrupted", last.error or "It was stopped."
        self._runner.meter.running[self.id] = last.usage  # until it is booked with the call's result
        self._runner.spent.setdefault(self._call_id, set()).add(self.id)
        calls = await store.tool_history(owner, session_id=self.id, limit=1_000)
        return ChildResult(
            status=status,
            answer=last.answer,
            session_id=self.id,
            error=self._with_tail(status, error),
            model=last.model,
            usage=last.usage,
            seconds=round(seconds, 3),
            untrusted=outside(await store.history(self.id)),
            trace=tuple(f"{call.name}: {call.outcome}" for call in reversed(calls)),
        )

    def _with_tail(self, status: ChildStatus, error: str) -> str:
        said = self._said if status == "crashed" else ""
        return f"{error}\nIts last words on stderr:\n{said}" if said else error


def _question(asked: Mapping[str, JSON]) -> Question:
    words = {name: str(asked[name]) for name in ("id", "subject", "risk", "covers")}
    kind = {"choice": "choice", "text": "text"}.get(asked["kind"], "approval")
    to = "admin" if asked["to"] == "admin" else "person"
    return Question(kind=kind, choices=tuple(map(str, asked["choices"])), to=to, **words)  # type: ignore[arg-type]


def _usage(used: Mapping[str, JSON]) -> Usage:
    figures = {name: max(0, n + 0) for name, n in used.items() if name != "priced"}
    return Usage(**figures, priced=CERTAINTY[CERTAINTY.index(used.get("priced", ""))])


async def _surely(work: Coroutine[None, None, T]) -> T:
    """Do it to its end, even when the caller is cancelled meanwhile; that is then told afterwards."""
    task, cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
    return task.result()
