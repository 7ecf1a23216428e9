"""The program: its tools, settings, plugins and versions."""

import platform
import sys

from hermes_core import __version__
from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Session

_IDLE = "not needed yet, or not enabled"


async def tools(ctx: PluginContext, session: Session, rest: str) -> str:
    """List the tools, or switch some on or off for new conversations."""
    here, (verb, *names) = ctx.conversation(session), rest.split() or [""]
    rows = await here.tools()
    off = {row.name for row in rows if row.off}
    if verb in ("enable", "disable") and names:
        known = [row.name for row in rows if row.toolset]
        for name in names:
            if name not in known:
                raise UnknownName("tool", name, known)
        off = off - set(names) if verb == "enable" else off | set(names)
        await here.configure(f"agent.disabled_on.{session.origin}", f"[{', '.join(sorted(off))}]")
        done = "offered again" if verb == "enable" else "offered no more"
        return f"{', '.join(names)}: {done} on {session.origin}, in conversations that begin from now on."
    if verb:
        raise UserError("Write /tools, /tools enable NAME or /tools disable NAME.")
    told = [row for row in rows if not row.hidden and not row.off]
    lines = [f"    {row.name:<16}{row.description.splitlines()[0]}" for row in told]
    kept = sorted((row.name, row.hidden) for row in rows if row.hidden)
    lines += [f"    {name:<16}(hidden: {why})" for name, why in kept]
    return "\n".join([*lines, *(f"    {name:<16}(switched off here)" for name in sorted(off))]) or "No tool is offered."


async def toolsets(ctx: PluginContext, session: Session, _rest: str) -> str:
    """List the groups of tools."""
    groups: dict[str, list[str]] = {}
    for row in await ctx.conversation(session).tools():
        if row.toolset:
            groups.setdefault(row.toolset, []).append(row.name)
    return "\n".join(f"    {name:<12}{', '.join(found)}" for name, found in sorted(groups.items())) or "No tool."


async def config(ctx: PluginContext, session: Session, rest: str) -> str:
    """Show or change settings. Secrets are never shown."""
    here = ctx.conversation(session)
    key, _, text = rest.partition(" ")
    if text.strip():
        return await here.configure(key, text.strip())
    rows = await ctx.settings.list()
    if not key:
        lines = [f"    {r.key} = {'(secret)' if r.secret else r.value}" for r in rows if r.written]
        return "\n".join([*lines, "/config KEY shows one, /config KEY VALUE sets it."])
    within = [r for r in rows if r.key == key or r.key.startswith(f"{key}.")]
    if not within:
        raise UnknownName("setting", key, [r.key for r in rows])
    if len(within) > 1:
        return "\n".join(f"    {r.key} = {'(secret)' if r.secret else r.value}" for r in within)
    row = within[0]
    locked = f"\n    locked by {row.locked}" if row.locked else ""
    value = "(secret)" if row.secret else row.value
    return f"{row.key} = {value}\n    {row.help}\n    {row.type}; default: {row.default}{locked}"


async def reload(ctx: PluginContext, session: Session, _rest: str) -> str:
    """Read settings and secrets again."""
    later = ctx.conversation(session).reload()
    told = f" These need a new start: {', '.join(later)}." if later else ""
    return f"Settings and secrets were read again.{told} So do plugins that were installed, changed or enabled."


async def plugins(ctx: PluginContext, session: Session, _rest: str) -> str:
    """List the plugins, and how each is."""
    lines = []
    for one in ctx.plugins.list():
        state = f"failed: {one.faults[-1].error}" if one.faults else "at work" if one.loaded else _IDLE
        lines.append(f"    {one.label:<28}{one.version:<10}{state}")
    return "\n".join(lines) or "No plugin is installed."


async def profile(ctx: PluginContext, _session: Session, _rest: str) -> str:
    """Say which profile this is."""
    return f"Profile {ctx.owner.profile}, in {ctx.paths.home}. Another one: {ctx.program} -p NAME."


async def version(ctx: PluginContext, _session: Session, _rest: str) -> str:
    """Say which Hermes this is."""
    return f"{ctx.program} {__version__}, Python {platform.python_version()}"


async def debug(ctx: PluginContext, session: Session, rest: str) -> str:
    """Say what helps to find out what is wrong, without secrets."""
    here = ctx.conversation(session)
    state, known = await here.state(), ctx.plugins.list()
    at = f" at {state.endpoint}" if state.endpoint else ""
    lines = [
        f"{await version(ctx, session, rest)}, {sys.platform} {platform.machine()}",
        f"home: {ctx.paths.home}",
        f"store: {state.store}",
        f"session: {session.id} on {session.origin}, backend {session.backend}",
        f"model: {state.model} from {state.provider}{at}",
        f"window: {state.window or 'unknown'} tokens",
        f"plugins: {', '.join(one.label for one in known if one.loaded)}",
        *(f"fault: {fault.plugin} ({fault.phase}): {fault.error}" for one in known for fault in one.faults),
    ]
    return ctx.masks.text("\n".join(lines))
