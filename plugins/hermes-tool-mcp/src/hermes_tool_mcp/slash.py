"""``/prompt SERVER:NAME``: what a server offers to be asked, in the person's words and the server's."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.types import JSON, Choice, Message, Session, SlashCommand, Text
from hermes_tool_mcp.given import hidden
from hermes_tool_mcp.known import closed_to, lists_of, servers_of

__all__ = ["slash_commands"]


def slash_commands(ctx: PluginContext) -> Sequence[SlashCommand]:
    """The one there is."""

    async def run(session: Session, rest: str) -> str | Message:
        there = _there(ctx, session)
        try:
            name, *words = shlex.split(rest) or [""]
        except ValueError as error:
            raise UserError(f"That cannot be read: {error}.") from None
        if name not in there:
            if not there:
                raise UserError("No MCP server offers a prompt.")
            raise UserError(f"Say which one: /prompt {' | '.join(there)}")
        server, _, prompt = name.partition(":")
        text = await _written(ctx, session, server, prompt, _arguments(name, there[name], words))
        # The person typed the command, and the server wrote the words: they are its, and fenced as such.
        return Message(role="user", parts=(Text(text=f"/prompt {rest}"), Text(text=text, quotes=f"mcp:{server}")))

    async def options(session: Session, rest: str) -> Sequence[Choice]:
        if " " in rest:
            return ()
        there = _there(ctx, session)
        return [
            Choice(name, str(one.get("summary", ""))[:80], len(rest))
            for name, one in there.items()
            if name.startswith(rest)
        ]

    return [SlashCommand(name="prompt", run=run, options=options)]


def _there(ctx: PluginContext, session: Session) -> dict[str, Mapping[str, JSON]]:
    lists, found = lists_of(ctx), dict[str, Mapping[str, JSON]]()
    for name, server in servers_of(ctx, session.id).items():
        listed = None if closed_to(ctx, server, session) else lists.get(name, server)
        for one in listed.prompts if listed else ():
            found[f"{name}:{one['name']}"] = one
    return found


def _arguments(name: str, prompt: Mapping[str, JSON], words: Sequence[str]) -> dict[str, str]:
    """Read WORD=VALUE pairs; a single argument may stand there without its name. Raises UserError."""
    known = {str(one["name"]): bool(one["required"]) for one in prompt.get("arguments", ())}
    if words and len(known) == 1 and not words[0].startswith(f"{next(iter(known))}="):
        return {next(iter(known)): " ".join(words)}
    given = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in known:
            raise UserError(f"{name} takes {', '.join(f'{one}=…' for one in known) or 'nothing'}, and not {word!r}.")
        given[key] = value
    if missing := [one for one, required in known.items() if required and one not in given]:
        raise UserError(f"{name} needs {', '.join(f'{one}=…' for one in missing)}.")
    return given


async def _written(ctx: PluginContext, session: Session, server: str, prompt: str, arguments: dict[str, str]) -> str:
    from hermes_tool_mcp.pool import pool_of

    pool, holder, given = pool_of(ctx), f"prompt {session.id}", servers_of(ctx, session.id)[server]
    folder = session.cwd if session.backend in ("", "local") else ""
    try:
        connection = pool.hold(holder, server, given, session.owner, folder)
        answer: Any = await connection.use(lambda client: client.get_prompt(prompt, arguments))
    except ToolError as error:
        raise UserError(hidden(given, error.text), hint=error.hint) from error
    finally:
        await pool.release(holder)
    return hidden(given, "\n\n".join(_text(one.content) for one in answer.messages))


def _text(content: Any) -> str:
    if content.type == "text":
        return str(content.text)
    if content.type == "resource" and hasattr(content.resource, "text"):
        return f"{content.resource.uri}:\n{content.resource.text}"
    return f"[{content.type}]"
