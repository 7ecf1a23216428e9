"""The tools ``draw`` and ``film``: a picture or a video from words, or from a picture that is there."""

import mimetypes
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from attrs import evolve

from hermes_core import Tool, option, settings, tool
from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, ToolError
from hermes_core.kinds import ToolContext
from hermes_core.types import Effect, MediaRequest
from hermes_tool_images.config import Config
from hermes_tool_images.files import picture, written

__all__ = ["draw_tool", "film_tool"]

_SECONDS = 3_200.0  # of a call; the setting bounds it before


@settings
class Draw:
    """What the model gives."""

    prompt: str = option("What the picture shows.")
    path: str = option("File to write, without an ending: the picture says it.", default="picture")
    size: str = option("Such as 1024x1024; empty: the model's own.", default="")
    begin_with: Sequence[str] = option("Paths of pictures to change or combine.", factory=list)


@settings
class Film:
    """What the model gives."""

    prompt: str = option("What happens in it.")
    path: str = option("", default="video")
    aspect_ratio: str = option("Such as 16:9.", default="")
    begin_with: str = option("Path of a picture it begins with.", default="")


def draw_tool(ctx: PluginContext) -> Tool:
    """The tool, asking through this plugin's context."""
    config = ctx.config if isinstance(ctx.config, Config) else Config()

    @tool(toolset="images", effects={Effect.READ_FILES, Effect.WRITE_FILES, Effect.NETWORK}, seconds=_SECONDS)
    async def draw(context: ToolContext, wanted: Draw) -> str:
        """Make a picture, or change pictures; gives the path of the new one."""
        if not wanted.prompt.strip():
            raise ToolError("Nothing says what to draw.", hint="Give a prompt.")
        begin = [await picture(context, path) for path in wanted.begin_with]
        if config.draw_with:
            from hermes_tool_images.making import Order, made, noted

            if len(begin) > 1:
                raise ToolError(f"{config.draw_with} begins with one picture.", hint="Give one of them.")
            order = Order(verb="draw", prompt=wanted.prompt, size=wanted.size, picture=begin[0] if begin else None)
            async with noted(ctx, context):
                return await written(context, wanted.path, await made(ctx, context, config.draw_with, order))
        options = {"size": wanted.size} if wanted.size else {}
        asked = MediaRequest(texts=(wanted.prompt,), blobs=begin, options=options)
        try:
            found = (await ctx.llm.media("draw", asked, session=context.session)).blobs[0]
        except HermesError as error:
            raise ToolError(f"Nobody could draw it: {error}", retry=False) from error
        said = mimetypes.guess_extension(found.media_type) or ".bin"
        return await written(context, wanted.path, found.data or b"", said)

    return evolve(draw, left=_left(ctx))


def film_tool(ctx: PluginContext) -> Tool:
    """The tool; there is one only where a service is set."""
    config = ctx.config if isinstance(ctx.config, Config) else Config()

    @tool(
        toolset="images",
        effects={Effect.READ_FILES, Effect.WRITE_FILES, Effect.NETWORK},
        needs=lambda _: None if config.film_with else "no service for videos is set: tools.images.film_with",
        seconds=_SECONDS,
    )
    async def film(context: ToolContext, wanted: Film) -> str:
        """Make a short video; it takes minutes. Gives its path."""
        from hermes_tool_images.making import Order, made, noted

        if not wanted.prompt.strip():
            raise ToolError("Nothing says what happens in it.", hint="Give a prompt.")
        if not config.film_with:
            raise ToolError("No service for videos is set.", hint="tools.images.film_with", retry=False)
        begin = await picture(context, wanted.begin_with) if wanted.begin_with else None
        order = Order(verb="film", prompt=wanted.prompt, size=wanted.aspect_ratio, picture=begin)
        async with noted(ctx, context):
            return await written(context, wanted.path, await made(ctx, context, config.film_with, order))

    return evolve(film, left=_left(ctx))


def _left(ctx: PluginContext) -> Callable[[ToolContext, Any], Awaitable[str]]:
    async def left(context: ToolContext, wanted: Draw | Film) -> str:
        from hermes_tool_images.making import finished, noted, unfinished

        job = await unfinished(ctx, context)
        if job is None:
            raise ToolError("It was cut off before anything came; nothing was written.")
        async with noted(ctx, context):
            return await written(context, wanted.path, await finished(ctx, context, job))

    return left
