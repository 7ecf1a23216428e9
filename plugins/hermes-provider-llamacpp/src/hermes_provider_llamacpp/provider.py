"""Files of models as a Provider."""

from collections.abc import AsyncIterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import Refused, Unavailable, UserError
from hermes_core.kinds import Provider
from hermes_core.types import Delta, Endpoint, Feature, Model, Price, Request
from hermes_provider_llamacpp import engine, files
from hermes_provider_llamacpp.config import Config

__all__ = ["Gguf", "folder_of", "made"]

_MINUTE = 60.0
_GB = 1e9


class Gguf(Provider):
    """Answers with models of GGUF files. One is loaded when it is first asked."""

    name = "gguf"
    priority = 60  # after servers on this machine, which hold their models already

    def __init__(self, folder: Path, config: Config, endpoint: Endpoint | None = None) -> None:
        self.name = endpoint.name if endpoint else "gguf"
        self._folder, self._config, self._endpoint = folder, config, endpoint
        self._extra = endpoint.extra_body if endpoint else {}
        self._engine = engine.Engine(idle=config.idle * _MINUTE)

    def at(self, endpoint: Endpoint) -> "Gguf":
        """Give the same as the user set it. Raises UserError for an address."""
        if endpoint.base_url:
            hint = f"For a server of llama.cpp: providers.{endpoint.name}.like: llamacpp."
            raise UserError(f"Provider {endpoint.name} runs files, and takes no address.", hint=hint)
        return Gguf(self._folder, self._config, endpoint)

    def window(self, model: str) -> int:
        """Say for how many tokens room is made."""
        try:
            return self._file(model).room(self._wanted)
        except Refused:
            return self._wanted

    def price(self, model: str) -> Price | None:
        """Say that it costs nothing."""
        return Price(input=0.0, output=0.0)

    async def ready(self) -> bool:
        """Tell whether llama.cpp and a file are there."""
        return find_spec("xllamacpp") is not None and any(not one.problem for one in files.found(self._folder))

    async def models(self) -> Sequence[Model]:
        """List the files there, by name. What cannot be read is none."""
        return [
            Model(name=one.name, context=one.room(self._wanted), features=frozenset({Feature.TOOLS}))
            for one in files.found(self._folder)
            if not one.problem
        ]

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Answer a request. Raises ProviderError."""
        from hermes_provider_llamacpp.call import stream_events

        one = self._file(request.model)
        room = one.room(self._wanted)
        model = engine.Model(
            path=str(one.path), room=room, threads=self._config.threads, gpu_layers=self._config.gpu_layers
        )
        if self._config.check_memory and self._engine.model != model:
            self._check_memory(one, room)
        deltas = stream_events(self._engine, model, request, one.name, self._extra)
        try:
            async for delta in deltas:
                yield delta
        finally:
            await deltas.aclose()

    async def body(self, request: Request) -> bytes:
        """Give the body that ``stream`` would send to its process. Raises as it does."""
        from hermes_openai_wire.body import encode
        from hermes_provider_llamacpp.call import made_body

        return encode(made_body(request, self._file(request.model).name, self._extra))

    async def close(self) -> None:
        """Let go of the model, and of its memory. The provider may be used again."""
        await self._engine.close()

    @property
    def _wanted(self) -> int:
        return self._endpoint.context if self._endpoint else 0

    def _file(self, name: str) -> files.File:
        there = files.found(self._folder)
        if not there:
            hint = "Put one there, or set providers.gguf.folder."
            raise Refused(f"There is no GGUF file in {self._folder}.", reason="model_not_found", hint=hint)
        return files.named(there, name or next((one.name for one in there if not one.problem), there[0].name))

    def _check_memory(self, one: files.File, room: int) -> None:
        """Refuse what needs more memory than is free, with that of a model whose place it takes."""
        free, need, held = files.free_memory(), one.memory(room), self._engine.model
        if free and held:
            free += sum(other.memory(held.room) for other in files.found(self._folder) if str(other.path) == held.path)
        if not free or need <= free:
            return
        text = f"{one.name} needs about {need / _GB:.1f} GB of memory with room for {room:,} tokens"
        hint = "Set context_length lower, take a smaller file, or set check_memory to false, in providers.gguf."
        raise Unavailable(f"{text}, and {free / _GB:.1f} GB are free.", transient=False, hint=hint)


def folder_of(ctx: PluginContext) -> Path:
    """Say where the files are."""
    said = (ctx.config or Config()).folder
    return Path(said).expanduser() if said else ctx.paths.home / "models"


def made(ctx: PluginContext) -> Gguf:
    """Make the provider of a plugin's context."""
    return Gguf(folder_of(ctx), ctx.config or Config(), ctx.endpoints.get("gguf"))
