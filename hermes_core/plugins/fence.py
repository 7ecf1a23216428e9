"""Calling plugin code so that nothing it does can take the caller down or hold it up."""

import asyncio
import logging
import signal
import sys
import threading
import types
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from time import perf_counter
from traceback import walk_tb
from typing import Any, NamedTuple, TypeVar

from hermes_core.errors import HermesError, PluginError
from hermes_core.masking import masked
from hermes_core.masking.watched import Hung

T = TypeVar("T")
Call = Callable[[], Coroutine[Any, Any, Any]]
Outcome = tuple[Any, BaseException | None]
BLOCKING = 0.2  # a step that holds the event loop longer than this is recorded
# Most of what plugins do waits for nothing: it is done at once.
_EAGER: dict[str, Any] = {"eager_start": True} if sys.version_info >= (3, 12) else {}

log = logging.getLogger("hermes.plugins")
log.addHandler(logging.NullHandler())  # without it Python prints tracebacks to a person who set up no logging


class Late(HermesError):
    """There was no answer within the deadline. Its words are our own."""


class Entered(NamedTuple):
    """Where plugin code is entered: whose it is, by what, and who is told of both and the seconds when it blocks."""

    label: str
    where: str
    held: Callable[[str, str, float], None]


_entered: ContextVar[Entered | None] = ContextVar("entered", default=None)  # tasks and threads begun here have it too
in_threads: dict[Future[Any], Entered] = {}  # the work that plugin code has begun in threads of a command's loop
_waited = 0.0  # seconds that code has waited here for what was ``finished`` elsewhere
_held = 0.0  # seconds in which code of plugins let nobody else go on


def keep_thread(work: Future[Any]) -> None:
    """Take note of who began work in a thread, until it ends."""
    if entered := _entered.get():
        in_threads[work] = entered
        work.add_done_callback(lambda _: in_threads.pop(work, None))


def one_line(error: BaseException, masked: Callable[[str], str] = masked) -> str:
    """Return an error in one line for people, ``masked``; the traceback belongs into the log."""
    name = ""
    if isinstance(error, HermesError):
        text = error.cause if isinstance(error, PluginError) else error.text
    elif isinstance(error, SystemExit):
        text = f"called sys.exit({error.code!r})"
    else:
        name, text = type(error).__name__, str(error)
    plain = isinstance(error, ModuleNotFoundError | Late | Hung)
    told = text if plain else masked(text)
    if text.strip() and not told.strip("*\n "):  # nobody could judge it: what its author wrote is no secret
        own = {word for frame, _ in walk_tb(error.__traceback__) for word in _written(frame.f_code)}
        told = " ".join(word if word in own else "***" for word in text.split())
    text = told if plain else f"{name}: {told}".strip(": ")
    lines = text.strip().splitlines() or [type(error).__name__]
    return lines[0][:300] + (" …" if len(lines) > 1 or len(lines[0]) > 300 else "")


def _written(code: types.CodeType) -> set[str]:
    """Return the plain words in the texts that stand in a piece of code."""
    texts = (constant for constant in code.co_consts if isinstance(constant, str))
    return {word for text in texts for word in text.split() if word.strip(".,:;!?()'\"").isalpha()}


def finished(function: Callable[[], T], seconds: float, *, own: bool = False) -> T:
    """Return what a plain function gives, called in a thread of its own. Raises what it raises; Late when it hangs.

    What hangs is left behind: its thread keeps no process alive. Our ``own`` is called as it is, and not waited for.
    """
    if own:
        return function()
    made: Future[T] = Future()

    def run() -> None:
        try:
            made.set_result(function())
        except BaseException as error:  # noqa: BLE001 - handed on to who waits
            made.set_exception(error)

    global _waited
    began = perf_counter()
    threading.Thread(target=copy_context().run, args=(run,), name="hermes-register", daemon=True).start()
    try:
        return made.result(seconds)
    except TimeoutError:
        if made.done():
            raise
        raise Late(f"did not end within {seconds:g} s") from None
    finally:
        _waited += perf_counter() - began


async def call_in_time(
    function: Call, seconds: float, entered: Entered, left_behind: set[asyncio.Task[Any]]
) -> Outcome:
    """Run plugin code in a task of its own: its result, or why there is none.

    A task, because code that swallows its cancellation would outlive ``asyncio.timeout`` around a plain await. What
    is late is cancelled and ``left_behind``, where it is kept until it ends.
    """
    before = _held
    task = asyncio.Task(fenced(function, entered), loop=asyncio.get_running_loop(), **_EAGER)
    if not _EAGER:
        _begin(task)
    try:
        if not task.done():
            await asyncio.sleep(0)
            if not task.done():
                await asyncio.wait({task}, timeout=seconds)
            if not task.done() and _held > before:  # not its time; once, as it may be the one who held the loop
                await asyncio.wait({task}, timeout=min(_held - before, seconds))
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not task.done():
        left_behind.add(task)
        task.add_done_callback(left_behind.discard)
        task.cancel()
        return None, Late(f"no answer within {seconds:g} s")
    return (None, asyncio.CancelledError()) if task.cancelled() else task.result()


def _begin(task: asyncio.Task[Any]) -> None:
    """Take the first step of a new task at once, as Python 3.11 cannot: it is what its loop was told last."""
    loop: Any = task.get_loop()
    if (here := asyncio.current_task(loop)) and hasattr(loop, "_ready"):
        asyncio.tasks._leave_task(loop, here)
        try:
            loop._ready.pop()._run()
        finally:
            asyncio.tasks._enter_task(loop, here)


async def stopped(task: "asyncio.Task[Any]", seconds: float) -> bool:
    """Cancel a task and wait for its end. False: it still runs after ``seconds``, and nobody waits for it any more."""
    task.cancel()
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # nobody else will look at it
    await asyncio.wait({task}, timeout=seconds)
    return task.done()


def holder(thread: int) -> Entered | None:
    """Say which plugin's code holds the event loop of a thread at this moment, if one's does."""
    frame = sys._current_frames().get(thread)
    while frame and frame.f_code is not _stepped.__code__:
        frame = frame.f_back
    return frame.f_locals["entered"] if frame else None


async def fenced(function: Call, entered: Entered) -> Outcome:
    """Run plugin code as it is: its result, or what it raised, whatever that is."""
    before = _entered.get()
    _entered.set(entered)
    try:
        return await _stepped(function(), entered), None
    except GeneratorExit:
        raise
    except BaseException as error:  # SystemExit in a task would end the event loop
        if isinstance(error, KeyboardInterrupt) and _typed(error):
            raise
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
            raise  # else the plugin cancelled itself, nobody else wanted it
        return None, error
    finally:
        _entered.set(before)


def _typed(error: KeyboardInterrupt) -> bool:
    """Tell whether a person pressed Ctrl-C again, or on a loop that does not listen for it; else code has raised it."""
    *_, (innermost, _) = walk_tb(error.__traceback__)
    return innermost.f_code.co_name == "_on_sigint" or signal.getsignal(signal.SIGINT) is signal.default_int_handler


@types.coroutine
def _stepped(coroutine: Coroutine[Any, Any, Any], entered: Entered) -> Generator[Any, Any, Any]:
    # One step, from one suspension to the next, is exactly how long this code holds the event loop.
    global _held
    step: Callable[[Any], Any] = coroutine.send
    value: Any = None
    while True:
        began = perf_counter() - _waited
        try:
            waiting = step(value)
        except StopIteration as end:
            return end.value
        finally:
            held = perf_counter() - _waited - began  # who waits for another plugin does not hold it
            if held > BLOCKING:
                _held += held
                entered.held(entered.label, entered.where, held)
        try:
            step, value = coroutine.send, (yield waiting)
        except GeneratorExit:
            coroutine.close()
            raise
        except BaseException as error:  # noqa: BLE001 - handed on to the coroutine, as await does
            step, value = coroutine.throw, error
