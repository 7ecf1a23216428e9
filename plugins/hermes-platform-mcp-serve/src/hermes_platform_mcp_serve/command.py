"""``hermes mcp-serve``."""

from typing import TYPE_CHECKING

from hermes_core.context import PluginContext

if TYPE_CHECKING:
    import click

__all__ = ["build"]


def build(ctx: PluginContext, name: str) -> "click.Command":
    """Return the command."""
    import click

    @click.command(name)
    @click.option(
        "--tools", multiple=True, metavar="NAME[,NAME]", help="Tools or toolsets of Hermes that it may call besides."
    )
    async def command(tools: tuple[str, ...]) -> None:
        """Serve your conversations to an MCP client that starts this, on standard input and output.

        It reads your conversations, waits for what happens in them, sends messages to your chats, and answers what
        waits for your yes. With --tools it calls tools of Hermes, too, judged by the same rules as ever: web, browser,
        vision, images, skills, speech, but nothing that runs commands and nothing of files.

        Over HTTP the same is at /platform/mcp-serve/mcp of `hermes api`, for who has a key.
        """
        from hermes_platform_mcp_serve.serving import serve_pipes

        await serve_pipes(ctx, [word for one in tools for word in one.split(",") if word.strip()])

    return command
