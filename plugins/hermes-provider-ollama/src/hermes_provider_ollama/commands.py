"""``hermes ollama``: the models that are there, and fetching one."""

import asyncio
import json
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Command, Model

if TYPE_CHECKING:
    import click

    from hermes_provider_ollama.line import Line

__all__ = ["commands"]


def commands(ctx: PluginContext) -> Sequence[Command]:
    """Give all of them."""
    made = {"ollama list": _list, "ollama pull": _pull}
    return [Command(name=name, build=partial(build, ctx)) for name, build in made.items()]


def _opened(ctx: PluginContext) -> "Line":
    from hermes_provider_ollama.line import open_line

    return open_line("ollama", ctx.secrets, ctx.endpoints.get("ollama"))


def _list(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command("list")
    @json_option
    def command(as_json: bool) -> None:
        """Print the models that Ollama has, for how many tokens room is made, and what each can do."""
        from hermes_provider_ollama.shown import list_models

        async def models() -> list[dict[str, object]]:
            line = _opened(ctx)
            try:
                found = await list_models(line)
            finally:
                await line.close()
            return [{"model": one.name, "room": one.context, "can": _can(one, as_list=as_json)} for one in found]

        empty = "Ollama has no model here. Fetch one: hermes ollama pull qwen3:8b"
        emit(asyncio.run(models()), ("model", "room", "can"), as_json=as_json, empty=empty)

    return command


def _can(model: Model, *, as_list: bool) -> object:
    words = sorted(feature.value for feature in model.features)
    return words if as_list else ", ".join(words)


def _pull(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("pull")
    @click.argument("model")
    def command(model: str) -> None:
        """Have Ollama fetch MODEL. What was fetched before an interrupt is kept, and gone on with."""
        asyncio.run(_fetched(_opened(ctx), model))
        click.echo(f"{model} is there. Use it: hermes --model ollama:{model}")

    return command


async def _fetched(line: "Line", model: str) -> None:
    """Fetch a model, and show how far it is. Raises HermesError."""
    from hermes_provider_kit.exchange import json_lines, posted

    url, bars = f"{line.service.url}/api/pull", _Bars()
    try:
        async with posted(
            line, url, {"model": model, "stream": True}, model=model, headers=line.request_headers()
        ) as pieces:
            status = ""
            async for event in json_lines(line, pieces):
                if not isinstance(event, dict):
                    continue
                if event.get("error"):
                    raise HermesError(f"Ollama cannot fetch {model}: {event['error']}", hint="Check the name.")
                status = str(event.get("status") or status)
                bars.show(status, event.get("completed"), event.get("total"))
        if status != "success":
            raise HermesError(f"Fetching {model} broke off after: {json.dumps(status)}.", hint="Run it again to go on.")
    finally:
        bars.end()
        await line.close()


class _Bars:
    """One bar for each piece that is fetched; a line for each on what is no terminal."""

    def __init__(self) -> None:
        self._status = ""
        self._bar: object = None
        self._done = 0

    def show(self, status: str, done: object, total: object) -> None:
        """Show that something is done of something."""
        import click

        if status != self._status:
            self.end()
            self._status = status
            if not (isinstance(total, int) and total > 0):
                click.echo(status)
                return
        if not (isinstance(total, int) and total > 0):
            return
        if self._bar is None:
            self._bar, self._done = click.progressbar(length=total, label=status[:40]), 0
            self._bar.__enter__()
        now = done if isinstance(done, int) else 0
        self._bar.update(max(0, now - self._done))  # type: ignore[attr-defined]
        self._done = max(now, self._done)

    def end(self) -> None:
        """End the bar that is shown."""
        if self._bar is not None:
            self._bar.__exit__(None, None, None)  # type: ignore[attr-defined]
            self._bar = None
