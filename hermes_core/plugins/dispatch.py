"""Calling hooks: five modes, each with its own loop, its own deadline and its own way to fail.

pluggy knows which functions exist and whether they fit. It does not call them: its loop has no fences, no deadlines
and no async.
"""

import asyncio
import sys
import time
from bisect import insort
from collections import Counter, deque
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import redirect_stdout, suppress
from functools import cache, partial
from types import FunctionType, MethodType, ModuleType
from typing import Any, TextIO, TypeVar

import pluggy
from attrs import evolve

from hermes_core import hooks, masking
from hermes_core.context import PluginContext
from hermes_core.errors import ContextTooLong, ContractError, PluginError
from hermes_core.modes import DEADLINES, MODEL_DEADLINE, PROJECT, REGISTER_DEADLINE, Mode
from hermes_core.plugins.fence import Call, Entered, Late, call_in_time, finished, in_threads, log, one_line
from hermes_core.plugins.implementation import KINDS, Implementation, expected, implementations
from hermes_core.plugins.index import Installed, owners
from hermes_core.plugins.manifest import PRIVATE
from hermes_core.types import Fault, Outcome, Phase, Verdict
from hermes_shapes.sound import unsound

T = TypeVar("T")
Judge = Callable[[Installed, T, T], T]
_STRENGTH = {"allow": 0, "ask": 1, "deny": 2}
_LONG = 5.0  # seconds without the event loop from which the person is told who held it
_BEHIND = 100  # events that plugins have not heard yet, from which who tells them slows down
_ROUNDS = 2  # of the loop, until observers hear of an event
_PATIENCE, _WINDOW = 3, 600.0  # so many failures of one kind in so many seconds suspend a hook of a plugin


class _Plugins(pluggy.PluginManager):
    def parse_hookimpl_opts(self, plugin: Any, name: str) -> Any:
        """Do as pluggy does, which is slow: a hook in a module is a function, and bears the mark itself."""
        if isinstance(plugin, ModuleType):
            one = vars(plugin).get(name)
            return one.__dict__.get(f"{PROJECT}_impl") if isinstance(one, FunctionType | MethodType) else None
        return super().parse_hookimpl_opts(plugin, name)


class Dispatch:
    """The registered plugins, and the only way to call their hooks.

    ``faults`` holds the first failure of each kind, loading included, ``counts`` how often each happened, ``blocked``
    the plugins that took long to register or held the event loop (times, longest in seconds).
    """

    def __init__(
        self, *, order: Sequence[str] = (), strict: bool = False, trace: TextIO | None = None,
        deadlines: Mapping[Mode, float] | None = None, clock: Callable[[], float] = time.monotonic,
        masked: Callable[[str], str] = masking.masked,
    ) -> None:  # fmt: skip
        """Take secrets out of what is said of faults with ``masked``."""
        self.masked = masked
        self.entered = cache(partial(Entered, held=self.held))  # of label and hook: what the fence around it is told
        self._manager = _Plugins(PROJECT)
        self._manager.add_hookspecs(hooks)
        self._modes = hooks.modes()
        self._hooks: dict[tuple[Mode, str], list[Implementation]] = {(m, hook): [] for hook, m in self._modes.items()}
        self._order, self._strict, self._trace, self._clock = order, strict, trace, clock
        self._deadlines = {**DEADLINES, **(deadlines or {})}
        self._running: set[asyncio.Task[Any]] = set()
        self._left_behind: set[asyncio.Task[Any]] = set()
        self._contributed: dict[str, list[tuple[str, Any]]] = {}
        self._tails: dict[str, asyncio.Task[Any]] = {}
        self._untold: deque[Fault] = deque()
        self._times: dict[tuple[str, str, str], deque[float]] = {}
        self.slow = ""  # the plugin that others wait for again and again
        self.faults: list[Fault] = []
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.blocked: dict[str, tuple[int, float]] = {}

    def register(
        self, installed: Installed, module: Any, context: PluginContext, *,
        on_hang: Callable[[str], None] | None = None,
    ) -> None:  # fmt: skip
        """Take up a plugin's hooks, all or none. Raises ContractError or NotPermitted.

        With ``on_hang`` what it contributes is waited for only so long; then that is told there, and all else goes on.
        """
        found = list(implementations(self._manager, installed, module, context, self._order))
        try:
            self._manager.register(module, name=installed.label)
        except ValueError as error:
            raise installed.error(ContractError, one_line(error, self.masked)) from error
        self._contributed.clear()
        for one in found:
            one.on_hang = on_hang
            insort(self._hooks[one.mode, one.hook], one, key=lambda implementation: implementation.order)

    def implementations(self, hook: str) -> list[str]:
        """Return the labels of the plugins behind a hook, in the order they are called."""
        return [one.label for one in self._hooks[self._modes[hook], hook]]

    def contributions(self, hook: str, only: Container[str] | None = None) -> list[tuple[str, Any]]:
        """Return what plugins, or ``only`` some, add through a ``register_*`` hook, by label. Each is asked once."""
        if hook in self._contributed:
            return self._contributed[hook][:]
        line, table = self._hooks["contribute", hook], KINDS[hook][0]
        while waiting := [one for one in line if one.given is None and (only is None or one.label in only)]:
            self._ask(waiting[0])  # others may come while one is asked
        claims = (
            (one.installed, [thing.name for thing in one.given or ()]) for one in line if table not in ("", *PRIVATE)
        )
        winners, clashes = owners(table, claims)
        for fault in clashes:
            if fault not in self.faults:
                self.record(fault)
        given = ((one, thing) for one in line for thing in one.given or ())
        found = [
            (one.label, thing)
            for one, thing in given
            if winners.get(getattr(thing, "name", ""), one.installed) is one.installed
        ]
        if only is None:
            self._contributed[hook] = found[:]
        return found

    def _ask(self, one: Implementation) -> None:
        began = time.perf_counter()
        error: BaseException | None = None
        try:
            one.given = []
            with redirect_stdout(sys.stderr):  # what it prints is no answer
                one.given = finished(one.ask, REGISTER_DEADLINE) if one.on_hang else one.ask()
        except KeyboardInterrupt:
            raise
        except BaseException as raised:  # noqa: BLE001 - a plugin's fault costs its own feature only
            error = raised
        taken = time.perf_counter() - began
        self._traced(one, taken, error)
        if isinstance(error, Late) and one.on_hang:
            one.on_hang(f"{one.hook} did not end within {REGISTER_DEADLINE:g} s")
        elif taken > self._deadlines["contribute"]:
            self.held(one.label, one.hook, taken)
        if error:
            signature = f"Write: {expected(one.hook)}" if isinstance(error, ContractError) else ""
            self._failed(one, error, phase="register", hint=getattr(error, "hint", "") or signature)

    async def observe(self, hook: str, **arguments: Any) -> None:
        """Say that something happened. Each plugin hears its events in order; waits only where they are far behind."""
        self._tell()
        if (behind := len(self._running) - _BEHIND) > 0:  # what an event says is held until it is heard
            await asyncio.sleep(min(1.0, behind / 1_000))
        for one in self._hooks["observe", hook]:
            if self._strict:
                await self._run(one, arguments)
            else:
                self._tails[one.label] = self._spawn(self._in_turn(self._tails.get(one.label), one, arguments))

    async def settle(self, seconds: float | None = None) -> None:
        """Wait for what observers still do: until their deadlines, or only so long; who is late is told and ended."""
        loop = asyncio.get_running_loop()
        until = None if seconds is None else loop.time() + seconds
        while True:
            mine = {task for task in self._running if task.get_loop() is loop and not task.done()}
            threads = [(work, by) for work, by in list(in_threads.items()) if until and by.held == self.held]
            if not (mine or threads) or (until is not None and loop.time() >= until):
                break
            waiting = {*mine, *(asyncio.wrap_future(work) for work, _ in threads)}
            await asyncio.wait(waiting, timeout=until and until - loop.time())
        for label in [name for name, task in self._tails.items() if task in mine]:
            self._late(label, "observers", f"was still at work {seconds:g} s after the end, and was stopped")
        for _, by in threads:
            text = f"left a thread that was still at work {seconds:g} s after the end, and nobody waits for it"
            self._late(by.label, by.where, text)
        for task in mine:
            task.cancel()

    def _late(self, label: str, where: str, what: str) -> None:
        self.failed(self.slow or label, where, Late(f"held {label} up, which {what}" if self.slow else what))

    async def _in_turn(self, before: "asyncio.Task[Any] | None", one: Implementation, arguments: Any) -> None:
        if before and not before.done() and before.get_loop() is asyncio.get_running_loop():
            await asyncio.wait({before})
        for _ in range(_ROUNDS):  # who told it goes on first, as far as it can: it shows an answer, or begins a command
            await asyncio.sleep(0)
        await self._run(one, arguments)

    def _spawn(self, coroutine: Any) -> "asyncio.Task[Any]":
        task: asyncio.Task[Any] = asyncio.get_running_loop().create_task(coroutine)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def transform(
        self, hook: str, name: str, value: T, /, *, judge: Judge[T] | None = None, **arguments: Any
    ) -> T:
        """Pass a value through the plugins; ``name`` is the argument that holds it.

        ``judge(plugin, before, after)`` says what stands, or raises a PluginError.
        """
        for one in self._hooks["transform", hook]:
            changed, _ = await self._run(one, {**arguments, name: value})
            if changed is None:
                continue
            try:
                if not isinstance(changed, type(value)):
                    raise self._wrong(one, changed)
                if wrong := unsound(changed, value):
                    raise one.installed.error(ContractError, f"what {hook} gave back was not used: {wrong}")
                value = judge(one.installed, value, changed) if judge else changed
            except PluginError as error:
                self._failed(one, error)
        return value

    async def decide(self, hook: str, *, failing: Outcome = "deny", **arguments: Any) -> Verdict:
        """Ask the gates: deny beats ask beats allow, the first deny ends it. Who cannot decide says ``failing``."""
        strongest = Verdict(outcome="allow")
        for one in self._hooks["decide", hook]:
            verdict = self._verdict(one, *await self._run(one, arguments), failing)
            if verdict and verdict.outcome == "deny":
                return verdict
            strongest = stricter(strongest, verdict) if verdict else strongest
        return strongest

    def _verdict(
        self, one: Implementation, answer: Any, error: BaseException | None, failing: Outcome = "deny"
    ) -> Verdict | None:
        if isinstance(answer, Verdict) and not unsound(answer):
            return answer if answer.by else evolve(answer, by=one.label)
        if answer is not None:
            error = self._wrong(one, answer)
            self._failed(one, error)
        if error is None or one.mode != "decide":
            return None
        reason = f"{one.label} could not decide: {one_line(error, self.masked)}. To go on without it: {_off(one.label)}"
        return Verdict(outcome=failing, reason=reason, by=one.label)

    async def ask(self, hook: str, **arguments: Any) -> Verdict | None:
        """Ask a person in every way there is at once; the first answer wins and the other questions are withdrawn."""
        asked = {asyncio.ensure_future(self._run(one, arguments)): one for one in self._hooks["ask", hook]}
        waiting = set(asked)
        try:
            while waiting:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task, one in asked.items():
                    if task in done and (verdict := self._verdict(one, *task.result())):
                        return verdict
        finally:
            for task in waiting:
                task.cancel()
        return None

    async def _run(self, one: Implementation, arguments: Mapping[str, Any]) -> tuple[Any, BaseException | None]:
        if one.suspended:
            return None, None
        began = time.perf_counter()
        seconds = self._deadlines[one.mode]
        if (one.mode == "transform" or one.hook == "second_opinion") and one.installed.may("llm.call"):
            seconds = max(seconds, MODEL_DEADLINE)
        call = (lambda: _timely(one, arguments, seconds)) if one.mode == "decide" else (lambda: one.call(arguments))
        answer, error = await call_in_time(call, seconds, self.entered(one.label, one.hook), self._left_behind)
        self._traced(one, time.perf_counter() - began, error)
        if isinstance(error, ContextTooLong) and one.installed.may("history.rewrite"):
            raise error  # not its fault: there is nothing left to compact, and the person has to decide
        if error:
            self._failed(one, error)
        return answer, error

    async def shielded(self, label: str, where: str, call: Call, seconds: float = 0.0) -> Any:
        """Return a contributed thing's answer in time, as observers must unless said; None if it fails: recorded."""
        answer, error = await self.tried(label, where, call, seconds or self._deadlines["observe"])
        if error:
            self.failed(label, where, error)
        return answer

    async def tried(self, label: str, where: str, call: Call, seconds: float) -> tuple[Any, BaseException | None]:
        """Return what a contributed thing answers in time, or why it does not."""
        return await call_in_time(call, seconds, self.entered(label, where), self._left_behind)

    def failed(
        self, label: str, where: str, error: BaseException, phase: Phase = "call", hint: str = "", version: str = ""
    ) -> None:
        """Log that a plugin's code failed, and record the first time of each kind."""
        log.error("%s failed in %s", label, where, exc_info=error)
        self.counts[label, where, type(error).__name__] += 1
        if self.counts[label, where, type(error).__name__] == 1:
            text = one_line(error, self.masked)
            hint = hint or _off(label)
            self.record(Fault(plugin=label, phase=phase, where=where, error=text, hint=hint, version=version))

    def _failed(self, one: Implementation, error: BaseException, *, phase: Phase = "call", hint: str = "") -> None:
        self.failed(one.label, one.hook, error, phase, hint, one.installed.version)
        times = self._times.setdefault((one.label, one.hook, type(error).__name__), deque(maxlen=_PATIENCE))
        times.append(self._clock())
        often = len(times) == _PATIENCE and times[-1] - times[0] <= _WINDOW
        if often and phase == "call" and one.mode != "decide" and not one.suspended:
            one.suspended = True
            text = f"suspended until the next start: failed {_PATIENCE} times in ten minutes"
            self.record(one.installed.faulted(phase, one.hook, text, _off(one.label)))
        if self._strict:
            raise error

    def _wrong(self, one: Implementation, answer: Any) -> ContractError:
        text = f"{one.hook} returned a {type(answer).__name__}"
        return one.installed.error(ContractError, text, f"Write: {expected(one.hook)}")

    def held(self, label: str, where: str, seconds: float) -> None:
        """Record that a plugin's code did not let go of the event loop for some time."""
        times, longest = self.blocked.get(label, (0, 0.0))
        self.blocked[label] = (times + 1, max(longest, seconds))
        if seconds >= _LONG and longest < _LONG:
            error = f"held everything up for {seconds:.0f} s"
            self.record(Fault(plugin=label, phase="call", where=where, error=error, hint=_off(label)))
        log.warning("%s held the event loop for %.0f ms in %s", label, seconds * 1000, where)

    def _traced(self, one: Implementation, seconds: float, error: BaseException | None) -> None:
        if self._trace:
            outcome = one_line(error, self.masked) if error else "ok"
            self._trace.write(f"hook {one.hook} {one.label} {seconds * 1000:.1f} ms {outcome}\n")

    def record(self, fault: Fault) -> None:
        """Keep a fault, and tell observers of ``on_fault`` of all but their own failures."""
        self.faults.append(fault)
        if fault.where != "on_fault":
            self._untold.append(fault)
        with suppress(RuntimeError):  # without an event loop it waits for one
            asyncio.get_running_loop()
            self._tell()

    def _tell(self) -> None:
        while self._untold:
            self._spawn(self.observe("on_fault", fault=self._untold.popleft()))


def stricter(one: Verdict, other: Verdict) -> Verdict:
    """Let the stronger of two verdicts count; neither hides what the other knows, or does not know, of the call."""
    said = [each for each in (one, other) if each.by]
    if len(said) == 1 and (said[0].commands is not None or not said[0].lasting):
        return said[0]
    effects = [each.effects for each in (one, other) if each.effects is not None]
    looked = bool(said) and all(each.commands is not None for each in said)
    return evolve(
        max(one, other, key=lambda each: (bool(each.by), _STRENGTH[each.outcome])),
        effects=effects[0].union(*effects) if effects else None,
        commands=tuple(part for each in said for part in each.commands or ()) if looked else None,
        lasting=looked and all(each.lasting for each in said),
    )


async def _timely(one: Implementation, arguments: Mapping[str, Any], seconds: float) -> Any:
    """Return a gate's answer. Raises Late also where it held the event loop, and no deadline could end it."""
    began = time.perf_counter()
    answer = await one.call(arguments)
    if time.perf_counter() - began > seconds:
        raise Late(f"no answer within {seconds:g} s")
    return answer


def _off(label: str) -> str:
    return f"hermes plugins disable {label}"
