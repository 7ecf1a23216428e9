"""Work that begins at once, in a task of its own: most of what plugins do waits for nothing, and needs no more."""

import asyncio
import sys
from asyncio.tasks import _enter_task, _leave_task  # documented: "Extending asyncio"
from collections.abc import Coroutine, Generator
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")


def begun(work: Coroutine[Any, Any, T]) -> "asyncio.Future[T]":
    """Take the first step of work in a task of its own, and return that; what is over then is done already."""
    loop = asyncio.get_running_loop()
    if sys.version_info >= (3, 12):
        return asyncio.Task(work, loop=loop, eager_start=True)
    rest, context, outer = _Rest(work), copy_context(), asyncio.current_task()
    task: asyncio.Task[T] = asyncio.Task(rest, loop=loop, context=context)
    if outer:
        _leave_task(loop, outer)
    _enter_task(loop, task)
    try:
        rest.first.append(context.run(work.send, None))
    except StopIteration as end:
        rest.work, task._log_destroy_pending = _raised(end), False
        done = loop.create_future()
        done.set_result(end.value)
        return done
    except BaseException as error:  # noqa: BLE001 - the task raises it
        rest.work = _raised(error)
    finally:
        _leave_task(loop, task)
        if outer:
            _enter_task(loop, outer)
    return task


class _Rest:
    """What a task is left with of a coroutine whose first step was taken already, and led to ``first``."""

    def __init__(self, work: Coroutine[Any, Any, Any]) -> None:
        self.work: Coroutine[Any, Any, Any] | Generator[Any, Any, Any] = work
        self.first = list[Any]()

    def send(self, value: Any) -> Any:
        return self.first.pop() if self.first else self.work.send(value)

    def throw(self, *error: Any) -> Any:
        if self.first and (waiting := self.first.pop()):
            waiting.cancel()
        return self.work.throw(*error)

    def close(self) -> None:
        self.work.close()


Coroutine.register(_Rest)


def _raised(error: BaseException) -> Generator[Any, Any, Any]:
    if not isinstance(error, StopIteration):
        raise error
    return
    yield
