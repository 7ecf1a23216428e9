"""A slash command by itself, where a fake conversation is at hand, and in a whole kernel."""

import pytest

from hermes_core import hookimpl
from hermes_core.errors import UserError
from hermes_core.testing import FakeConversation, plugin_context
from hermes_core.types import SlashCommand


async def shout(ctx, session, rest):
    """Name the session in capitals."""
    title = rest.upper()
    if not title:
        raise UserError("Say the title: /shout TEXT")
    await ctx.conversation(session).rename(title)
    return f"This is {title} now."


@hookimpl
def register_slash_commands(ctx):
    return [SlashCommand(name="shout", run=lambda s, rest: shout(ctx, s, rest))]


MANIFEST = {
    "slash": {"shout": {"summary": "name this session loudly"}},
    "permissions": {"kernel": ["conversation.change"]},
}


async def test_by_itself(tmp_path):
    from hermes_core.plugins.manifest import parse_manifest

    manifest = parse_manifest({"api": 1, "name": "shout", "kind": "tool", "summary": "Shouts.", **MANIFEST}, where="")
    here = FakeConversation()
    ctx = plugin_context(manifest, tmp_path, conversation=here)
    assert await shout(ctx, here.session, "oslo") == "This is OSLO now."
    assert here.done == [("rename", "OSLO")]


async def test_in_a_kernel(hermes, scripted):
    hermes.tmp_plugin(scripted())
    hermes.tmp_plugin(register_slash_commands, manifest=MANIFEST)
    assert await hermes.slash("/shout oslo") == "This is OSLO now."
    with pytest.raises(UserError, match="Say the title"):
        await hermes.slash("/shout")
