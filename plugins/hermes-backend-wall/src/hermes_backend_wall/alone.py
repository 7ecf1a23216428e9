"""One command behind a wall of its own: for what may reach less than the commands of a workspace.

The sandbox is made for this command and ends with it, and so does everything that the command started.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from hermes_backend_kit.endings import TIMED_OUT
from hermes_backend_kit.output import Capture
from hermes_backend_wall.bounds import Bounds
from hermes_backend_wall.home import PREFIX, sweep
from hermes_backend_wall.interpreter import python
from hermes_backend_wall.job import Job, asked
from hermes_backend_wall.limits import Limits
from hermes_backend_wall.plan import INSTALL, chosen, home_of
from hermes_backend_wall.protected import Protected
from hermes_backend_wall.raising import raised
from hermes_backend_wall.sandbox import OnConnection, Sandbox
from hermes_backend_wall.system import USUAL, WHOLE, inside
from hermes_core.errors import ToolError
from hermes_core.types import ExecRequest, ExecResult
from hermes_core.values import frozen

__all__ = ["Reach", "run_alone"]


@frozen(kw_only=True)
class Reach:
    """What one command may reach besides what every program needs of the system.

    ``folder`` is where it begins; inside it is empty unless it is among the others. ``readable`` and ``writable`` are
    absolute files and folders. What is not there to be read is left out; what is not there to be changed is made, as a
    file where its name has a dot in it and as a folder else, and taken away again where it stays empty. ``hidden``
    belongs to Hermes. What it changes in files that run by themselves is put back and kept in ``aside``; ``records`` is
    where commands of workspaces are known too (``plan.records_of``).
    ``on_connection`` is the way out, whose port ``HTTPS_PROXY`` names; None closes the network.
    """

    folder: str
    aside: Path
    records: Path
    readable: Sequence[str] = ()
    writable: Sequence[str] = ()
    hidden: Sequence[Path] = ()
    limits: Limits = Limits()
    on_connection: OnConnection | None = None


async def run_alone(reach: Reach, request: ExecRequest, wall: str = "") -> tuple[ExecResult, str]:
    """Run a command to its end; what it came to, and the wall that it ran behind: ``bubblewrap`` or ``landlock``.

    ``wall`` is the one that held before, which is tried first. Raises ToolError where none can be made; nothing runs.
    """
    name = wall or chosen("auto")
    if name == "none":
        raise ToolError("This system has nothing to make a wall of.", hint=INSTALL, retry=False)
    with ExitStack() as stack:
        sweep()
        scratch = os.path.realpath(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        stack.enter_context(_there(reach.writable))
        bounds = _bounds(reach, scratch)
        sandbox, name = await raised("auto", name, lambda _: bounds, reach.limits, reach.on_connection)
        guarded = [
            Protected(path, reach.aside, Path(home_of(reach.records, path)))
            for path in bounds.writable
            if os.path.isdir(path)  # noqa: PTH112
        ]
        begun: list[Protected] = []
        capture = Capture(request.limit, request.on_output)
        try:
            for one in guarded:
                one.begin()
                begun.append(one)
            status = await _played(sandbox, request, capture, bounds, name)
        finally:
            await sandbox.close()  # with all it started, before what it changed is looked at
            said = [text for text in (one.close() for one in begun) if text]
        if said:
            capture.take("\n".join(("", *said, "")).encode())
        return capture.result(status), name


def _bounds(reach: Reach, scratch: str) -> Bounds:
    own = {part: f"{scratch}/{part}" for part in ("home", "tmp", "place")}
    for path in own.values():
        os.mkdir(path, mode=0o700)  # noqa: PTH102
    person = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
    real = os.path.realpath(reach.folder)
    wide = {reach.folder, real} & set(WHOLE) or inside(person, real)
    folder = own["place"] if wide else reach.folder
    tools = [path for path in (python()[1], os.path.realpath(python()[1])) if not inside(path, "/usr")]
    writable = list(dict.fromkeys(map(os.path.realpath, reach.writable)))
    readable = [path for path in dict.fromkeys((*tools, *reach.readable)) if os.path.exists(path)]  # noqa: PTH110
    return Bounds(
        folder=folder,
        source=real if not wide and real in writable else own["place"],
        home=own["home"],
        scratch=own["tmp"],
        person=person,
        # What may be changed may be read; the other way round it would be closed again.
        readable=[path for path in readable if not any(inside(os.path.realpath(path), one) for one in writable)],
        writable=writable,
        hidden=[os.path.realpath(path) for path in reach.hidden],
        shared_memory=False,
    )


@contextmanager
def _there(paths: Sequence[str]) -> Iterator[None]:
    """What is to be changed exists meanwhile. Raises ToolError."""
    made: list[str] = []
    try:
        for path in paths:
            if not os.path.lexists(path):
                _make(path)
                made.append(path)
        yield
    finally:
        for path in made:
            with suppress(OSError):
                if os.path.isdir(path):  # noqa: PTH112
                    os.rmdir(path)  # noqa: PTH106
                elif not os.path.getsize(path):  # noqa: PTH202
                    os.unlink(path)  # noqa: PTH108


def _make(path: str) -> None:
    try:
        if "." in os.path.basename(path):  # noqa: PTH119
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY, 0o644))
        else:
            os.mkdir(path)  # noqa: PTH102
    except OSError as error:
        raise ToolError(f"{path} cannot be made: {error.strerror}.") from error


async def _played(sandbox: Sandbox, request: ExecRequest, capture: Capture, bounds: Bounds, wall: str) -> int:
    """The status of a command. Raises ToolError where it did not start."""
    mounted = wall == "bubblewrap"
    environment = {
        "HOME": bounds.person if mounted else bounds.home,
        "TMPDIR": "/tmp" if mounted else bounds.scratch,  # noqa: S108 - inside it is the scratch folder
        "LANG": "C.UTF-8",
        "PATH": ":".join((*USUAL, f"{python()[1]}/bin")),
    }
    if sandbox.door:
        environment["HTTP_PROXY"] = environment["HTTPS_PROXY"] = f"http://127.0.0.1:{sandbox.door}"
    job = Job(sandbox, capture.take)
    try:
        await job.start(asked(request.argv, bounds.folder, {**environment, **request.env}), request.stdin)
        async with asyncio.timeout(request.seconds):
            return await job.finished
    except TimeoutError:
        return TIMED_OUT
    finally:
        job.forget()
