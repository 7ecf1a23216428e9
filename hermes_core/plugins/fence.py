"""Calling plugin code so that nothing it does can take the caller down or hold it up."""

import asyncio
import logging
import threading
import types
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from contextvars import copy_context
from time import perf_counter
from typing import Any, TypeVar

from hermes_core.errors import HermesError, PluginError
from hermes_core.masking import masked

T = TypeVar("T")
Call = Callable[[], Coroutine[Any, Any, Any]]
Outcome = tuple[Any, BaseException | None]
BLOCKING = 0.2  # a step that holds the event loop longer than this is recorded

log = logging.getLogger("hermes.plugins")
log.addHandler(logging.NullHandler())  # without it Python prints tracebacks to a person who set up no logging


class Late(HermesError):
    """There was no answer within the deadline."""


def one_line(error: BaseException, masked: Callable[[str], str] = masked) -> str:
    """An error in one line for people, ``masked``; the traceback belongs into the log."""
    name = ""
    if isinstance(error, HermesError):
        text = error.cause if isinstance(error, PluginError) else error.text
    elif isinstance(error, SystemExit):
        text = f"called sys.exit({error.code!r})"
    else:
        name, text = type(error).__name__, str(error)
    told = text if isinstance(error, ModuleNotFoundError) else masked(text)
    if text.strip() and not told.strip("*\n "):  # nobody could judge it: what its author wrote is no secret
        from traceback import walk_tb

        own = {word for frame, _ in walk_tb(error.__traceback__) for word in _written(frame.f_code)}
        told = " ".join(word if word in own else "***" for word in text.split())
    text = told if isinstance(error, ModuleNotFoundError) else f"{name}: {told}".strip(": ")
    lines = text.strip().splitlines() or [type(error).__name__]
    return lines[0][:300] + (" …" if len(lines) > 1 or len(lines[0]) > 300 else "")


def _written(code: types.CodeType) -> set[str]:
    """The plain words in the texts that stand in a piece of code."""
    texts = (constant for constant in code.co_consts if isinstance(constant, str))
    return {word for text in texts for word in text.split() if word.strip(".,:;!?()'\"").isalpha()}


def finished(function: Callable[[], T], seconds: float) -> T:
    """What a plain function gives, called in a thread of its own. Raises what it raises; Late when it hangs.

    What hangs is left behind: its thread keeps no process alive.
    """
    made: Future[T] = Future()

    def run() -> None:
        try:
            made.set_result(function())
        except BaseException as error:  # noqa: BLE001 - handed on to who waits
            made.set_exception(error)

    threading.Thread(target=copy_context().run, args=(run,), name="hermes-register", daemon=True).start()
    try:
        return made.result(seconds)
    except TimeoutError:
        if made.done():
            raise
        raise Late(f"did not end within {seconds:g} s") from None


async def call_in_time(
    function: Call, seconds: float, on_blocking: Callable[[float], None], left_behind: set[asyncio.Task[Any]]
) -> Outcome:
    """Run plugin code in a task of its own: its result, or why there is none.

    A task, because code that swallows its cancellation would outlive ``asyncio.timeout`` around a plain await. What
    is late is cancelled and ``left_behind``, where it is kept until it ends.
    """
    task = asyncio.ensure_future(fenced(function, on_blocking))
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not done:
        left_behind.add(task)
        task.add_done_callback(left_behind.discard)
        task.cancel()
        return None, Late(f"no answer within {seconds:g} s")
    return (None, asyncio.CancelledError()) if task.cancelled() else task.result()


async def fenced(function: Call, on_blocking: Callable[[float], None]) -> Outcome:
    """Run plugin code as it is: its result, or what it raised, whatever that is."""
    try:
        return await _stepped(function(), on_blocking), None
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # SystemExit in a task would end the event loop
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
            raise  # else the plugin cancelled itself, nobody else wanted it
        return None, error


@types.coroutine
def _stepped(coroutine: Coroutine[Any, Any, Any], on_blocking: Callable[[float], None]) -> Generator[Any, Any, Any]:
    # One step, from one suspension to the next, is exactly how long this code holds the event loop.
    step: Callable[[Any], Any] = coroutine.send
    value: Any = None
    while True:
        began = perf_counter()
        try:
            waiting = step(value)
        except StopIteration as end:
            return end.value
        finally:
            held = perf_counter() - began
            if held > BLOCKING:
                on_blocking(held)
        try:
            step, value = coroutine.send, (yield waiting)
        except GeneratorExit:
            coroutine.close()
            raise
        except BaseException as error:  # noqa: BLE001 - handed on to the coroutine, as await does
            step, value = coroutine.throw, error
