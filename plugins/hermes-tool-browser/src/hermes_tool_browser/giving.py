"""The tools that move files: from the workspace into a page, and from a page into the workspace."""

import mimetypes
import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import OutOfReach, ToolError
from hermes_core.kinds import Tool, ToolContext, Workspace, tool
from hermes_core.options import option, settings
from hermes_core.types import Effect, Feature
from hermes_tool_browser.browsing import Browsing
from hermes_tool_browser.calls import located, shown, working
from hermes_tool_browser.effects import still_there
from hermes_tool_browser.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import FilePayload

__all__ = ["giving"]

_LARGEST = 45_000_000  # bytes of one upload: playwright carries no more in one message


@settings
class Upload:
    """What the model gives."""

    ref: str = option("field for files, or the button that asks for one")
    paths: list[str] = option("")


@settings
class Save:
    """What the model gives."""

    download: int = option("its number")
    path: str = option("")


@settings
class Print:
    """What the model gives."""

    path: str = option("", default="page.pdf")


def giving(ctx: PluginContext) -> Sequence[Tool]:
    """All of them."""

    @tool(
        toolset="browser",
        effects={Effect.READ_FILES, Effect.NETWORK, Effect.SEND},
        untrusted=True,
        touches=lambda given: [f"file:{path}" for path in given.paths],
        seconds=120.0,
    )
    async def browser_upload(context: ToolContext, given: Upload) -> str:
        """Give files of the workspace to the page."""
        async with working(ctx, context) as (browsing, tab):
            still_there(ctx, context.call_id, tab, given.ref)
            element = located(tab, given.ref)
            files = [await _file(context.workspace, path) for path in given.paths]

            async def give() -> None:
                if await element.evaluate("e => e instanceof HTMLInputElement && e.type === 'file'"):
                    await element.set_input_files(files)
                    return
                async with tab.page.expect_file_chooser(timeout=5_000) as chosen:
                    await element.click()
                await (await chosen.value).set_files(files)

            await browsing.act(tab, give)
            return await shown(browsing, tab, _look(browsing, tab))

    @tool(
        toolset="browser",
        effects={Effect.WRITE_FILES},
        untrusted=True,
        touches=lambda given: [f"file:{given.path}"],
        seconds=180.0,
    )
    async def browser_save(context: ToolContext, given: Save) -> str:
        """Write a download of the page into the workspace."""
        async with working(ctx, context) as (browsing, _):
            saved = browsing.downloads.get(given.download)
            if saved is None:
                known = ", ".join(f"{one.number} ({one.name})" for one in browsing.downloads.values()) or "none"
                raise ToolError(f"There is no download {given.download}; there are: {known}.")
            path = _inside(context.workspace, given.path)
            data = await _downloaded(browsing, given.download)
            await context.workspace.write(path, data)
            del browsing.downloads[given.download]
            await browsing.bounded(saved.download.delete())
            return f"Written: {given.path} ({len(data):,} bytes)"

    @tool(toolset="browser", effects={Effect.WRITE_FILES}, untrusted=True, touches=lambda given: [f"file:{given.path}"])
    async def browser_pdf(context: ToolContext, given: Print) -> str:
        """Write the page as a PDF into the workspace."""
        async with working(ctx, context) as (browsing, tab):
            path = _inside(context.workspace, given.path)
            browsing.kept.refuse(tab.page, "Not printed")
            data = await browsing.bounded(tab.page.pdf())
            await context.workspace.write(path, data)
            return f"Written: {given.path} ({len(data):,} bytes)"

    return [browser_upload, browser_save, browser_pdf]


def _look(browsing: Browsing, tab: Tab) -> Callable[[], Awaitable[str]]:
    async def make() -> str:
        return (await browsing.look(tab)).piece(1, full=False)

    return make


def _inside(workspace: Workspace, path: str) -> str:
    """A path in the folder of the session, links followed. Raises OutOfReach for any other."""
    local = Feature.LOCAL in workspace.features
    root = os.path.realpath(workspace.cwd) if local else os.path.normpath(workspace.cwd)
    whole = os.path.join(workspace.cwd, path)  # noqa: PTH118 - may be a path of another machine
    real = os.path.realpath(whole) if local else os.path.normpath(whole)
    if not path.strip() or not real.startswith(f"{root.rstrip('/')}/"):
        raise OutOfReach(f"{path[:200]!r} is not in the session's folder.", hint="The browser moves no other files.")
    return real


async def _file(workspace: Workspace, path: str) -> "FilePayload":
    data = await workspace.read(_inside(workspace, path))
    if len(data) > _LARGEST:
        raise ToolError(f"{path} has {len(data):,} bytes; {_LARGEST:,} can be given to a page.")
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return {"name": PurePosixPath(path).name, "mimeType": kind, "buffer": data}


async def _downloaded(browsing: Browsing, number: int) -> bytes:
    """The bytes of a download, once it is there. Raises ToolError."""
    saved = browsing.downloads[number]
    if not browsing.backend.here:
        raise ToolError(
            "What this browser downloads stays on its own machine.", hint="Use web_fetch, or backend local."
        )
    try:
        path = Path(await browsing.bounded(saved.download.path(), 150.0))
    except ToolError as error:
        failed = await browsing.bounded(saved.download.failure()) if browsing.alive else ""
        raise ToolError(f"The download failed: {failed or error.text}") from None
    return path.read_bytes()
