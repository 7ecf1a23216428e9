"""A workspace as one tool may use it: for what its declared effects say, and nothing else."""

from collections.abc import Callable, Sequence

from attrs import evolve

from hermes_core.errors import ToolError
from hermes_core.kinds import Process, Tool, Workspace
from hermes_core.types import Effect, ExecRequest, ExecResult

__all__ = ["Permitted", "refused"]

_FILES = frozenset({Effect.READ_FILES, Effect.WRITE_FILES, Effect.EXECUTE})


class Permitted(Workspace):
    """Another workspace, behind the effects of a tool. What they do not cover is refused and reported.

    Looking into files may need a program, such as a search; so a tool that reads files may run one. What it runs then
    is not judged as a command of the model: its author has to see that no argument becomes one. ``hosts`` are the only
    ones that it may reach, None: as its place has it.
    """

    hosts: Sequence[str] | None = None

    def __init__(self, inner: Workspace, tool: Tool, report: Callable[[Tool, BaseException], None]) -> None:
        self._inner, self._tool, self._report = inner, tool, report
        self.features, self.cwd, self.wall = inner.features, inner.cwd, inner.wall

    @property
    def shell_cwd(self) -> str:
        return self._inner.shell_cwd

    @property
    def busy(self) -> bool:
        return self._inner.busy

    async def run(self, request: ExecRequest) -> ExecResult:
        self._need(_FILES, "run a program")
        return await self._inner.run(request if self.hosts is None else evolve(request, hosts=self.hosts))

    async def start(self, request: ExecRequest) -> Process:
        self._need({Effect.EXECUTE}, "start a program")
        return await self._inner.start(request if self.hosts is None else evolve(request, hosts=self.hosts))

    async def read(self, path: str) -> bytes:
        self._need(_FILES, "read a file")
        return await self._inner.read(path)

    async def write(self, path: str, data: bytes) -> None:
        self._need({Effect.WRITE_FILES, Effect.EXECUTE}, "write a file")
        await self._inner.write(path, data)

    async def close(self) -> None:
        raise refused(self._tool, "close the workspace: it does not declare that effect", self._report)

    def _need(self, effects: frozenset[Effect] | set[Effect], what: str) -> None:
        if self._tool.effects.isdisjoint(effects):
            raise refused(self._tool, f"{what}: it does not declare that effect", self._report)


def refused(tool: Tool, what: str, report: Callable[[Tool, BaseException], None]) -> ToolError:
    """Return what a tool is told when it reaches for more than it declares; it is reported too."""
    error = ToolError(f"{tool.name} may not {what}.", retry=False)
    report(tool, error)
    return error
