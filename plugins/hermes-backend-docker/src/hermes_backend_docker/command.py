"""One command in a container, from its start to the last byte of its output."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from uuid import uuid4

from attrs import field

from hermes_backend_docker import scripts
from hermes_backend_docker.attach import Attached, attach
from hermes_backend_docker.daemon import Address
from hermes_backend_docker.marks import Marks
from hermes_backend_kit.files import sh
from hermes_core.values import frozen

__all__ = ["Command", "Site", "wrapped"]

STARTS = 5.0  # seconds a command that was ordered may take to appear before it is ended
INPUT = 65_536  # bytes of input sent at once


@frozen
class Site:
    """A running container as commands need to know it. ``init`` is a program that adopts orphans, if there is one."""

    address: Address
    version: str
    container: str
    owner: str
    init: str = ""
    base: Mapping[str, str] = field(factory=dict)
    bash: str = ""
    home: str = "/"


def wrapped(
    site: Site,
    token: str,
    argv: Sequence[str],
    *,
    cwd: str,
    stdin: bytes = b"",
    open_input: bool = False,
    state: str = "",
) -> Sequence[str]:
    """A command inside our shell, and that inside the init that adopts what it leaves behind."""
    count = "-" if open_input else str(len(stdin))
    words = sh(scripts.EVAL, token, cwd, state, count, *argv)
    return (site.init, "-s", "--", *words) if site.init else words


class Command:
    """A command that runs. Await ``ended`` for its marks; without ``status`` in them it was lost.

    ``run`` is the mark that the kernel gave it; in the container it says too whose it is, so that all are found.
    """

    def __init__(self, site: Site, sink: Callable[[bytes], None], run: str = "", *, lasting: bool = False) -> None:
        self.token = uuid4().hex
        self.run = f"{site.owner}.{run}"
        self._lasting = lasting
        self.marks = Marks(self.token, sink)
        self._site = site
        self._attached: Attached | None = None
        self._reading: asyncio.Task[None] | None = None
        self._feeding: asyncio.Task[None] | None = None
        self._started = asyncio.Event()
        self._told = asyncio.Event()
        self._error: Exception | None = None

    async def begin(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        script: str = scripts.RUN,
        stdin: bytes = b"",
        open_input: bool = False,
    ) -> None:
        """Start it: ``argv`` evaluates the script. Raises Refused.

        Also when it is cancelled in the middle, what may have started can be ended.
        """
        site = self._site
        starting = asyncio.ensure_future(
            attach(
                site.address,
                site.version,
                site.container,
                argv,
                env={**env, "HERMES_SH": script},
                stdin=bool(stdin) or open_input,
            )
        )
        try:
            self._attached = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # What was ordered may come to life any moment, and then there must be somebody who can end it.
            await asyncio.wait({starting}, timeout=STARTS)
            if starting.done() and not starting.cancelled() and not starting.exception():
                self._attached = starting.result()
                self._reading = asyncio.create_task(self._read(self._attached))
            else:
                starting.cancel()
            raise
        self._reading = asyncio.create_task(self._read(self._attached))
        if stdin:
            self._feeding = asyncio.create_task(self._feed(self._attached, stdin))

    async def _read(self, attached: Attached) -> None:
        def sink(stream: int, data: bytes) -> None:
            try:
                if stream == 1:
                    self.marks.feed(data)
                else:
                    self.marks.complain(data)
            except Exception as error:  # noqa: BLE001 - the listener's error belongs to whoever waits for the command
                self._error = error
            if self.marks.started:
                self._started.set()
            if self.marks.complete:
                self._told.set()
            if (self.marks.complete and not self._lasting) or self._error:
                raise _Complete

        try:
            await attached.frames(sink)
        except _Complete:
            pass
        finally:
            self._started.set()
            self._told.set()

    @staticmethod
    async def _feed(attached: Attached, stdin: bytes) -> None:
        view = memoryview(stdin)
        for start in range(0, len(view), INPUT):
            await attached.write(bytes(view[start : start + INPUT]))

    async def appeared(self) -> bool:
        """Whether our shell runs, or ran; waits until that is known."""
        await self._started.wait()
        return self.marks.started

    async def told(self) -> None:
        """Wait for the last mark, behind which a ``lasting`` command runs on, or for its end."""
        await self._told.wait()

    async def ended(self) -> Marks:
        """Wait for its end. Raises what the listener raised."""
        await self.silent()
        if self._error:
            raise self._error
        return self.marks

    async def silent(self) -> None:
        """Wait until nothing more is heard of it."""
        if self._reading:
            await asyncio.wait({self._reading})

    @property
    def over(self) -> bool:
        """Whether it has ended, or was lost."""
        return self._reading is None or self._reading.done()

    @property
    def begun(self) -> bool:
        """Whether the daemon was told to start it."""
        return self._attached is not None

    @property
    def exec_id(self) -> str:
        """The daemon's name for it."""
        return self._attached.exec_id if self._attached else ""

    async def write(self, data: bytes) -> None:
        """Send to its input."""
        if self._attached:
            await self._attached.write(data)

    async def settle(self) -> None:
        """Wait, but not for long, until it has appeared, so that it can be found and ended."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STARTS):
                await self._started.wait()

    async def close(self) -> None:
        """Let go of the connection."""
        tasks = {task for task in (self._reading, self._feeding) if task}
        for task in tasks:
            task.cancel()
        if self._attached:
            self._attached.close()
        if tasks:
            await asyncio.wait(tasks)


class _Complete(Exception):
    pass
