"""``hermes acp``."""

from typing import TYPE_CHECKING

from hermes_core.context import PluginContext

if TYPE_CHECKING:
    import click

__all__ = ["build"]


def build(ctx: PluginContext) -> "click.Command":
    """Make the command."""
    import click

    @click.command("acp")
    @click.option("--draft-v2", is_flag=True, help="Speak the draft of version 2 with editors that ask (acp.draft_v2).")
    async def command(draft_v2: bool) -> None:
        """Be the agent of an editor, over the Agent Client Protocol.

        An editor starts this and talks to it over standard input and output; by hand there is nothing to see. In Zed,
        for example, add to settings.json:

        \b
          "agent_servers": {"Hermes": {"type": "custom", "command": "hermes", "args": ["acp"]}}

        Sessions are those of `hermes sessions`: what was begun in an editor goes on in a terminal (`hermes -r ID`),
        and a turn that was cut off goes on when the editor loads its session again.
        """
        from hermes_platform_acp.config import Config
        from hermes_platform_acp.serving import serve

        config = ctx.config or Config()
        await serve(ctx, draft=draft_v2 or config.draft_v2)

    return command
