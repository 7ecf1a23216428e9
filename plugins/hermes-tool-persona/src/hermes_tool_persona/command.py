"""``/personality``: how the agent speaks from the next message on."""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import UserError, nearest
from hermes_core.types import Choice, Session, SlashCommand
from hermes_tool_persona.overlay import Overlays
from hermes_tool_persona.presets import personalities, told

_OFF = ("off", "none")


def personality_command(ctx: PluginContext) -> SlashCommand:
    """The command; it changes the conversation that it is typed into and no other."""

    async def run(session: Session, rest: str) -> str:
        known, name = personalities(ctx.config), rest.strip().casefold()
        overlays = Overlays(ctx.documents, ctx.paths.data, session.owner)
        current = await _current(ctx, overlays, session)
        if not name:
            return _listed(ctx, current)
        if name not in _OFF and name not in known:
            close = nearest(name, known)
            hint = f"Did you mean {close}?" if close else "/personality lists them."
            raise UserError(f"There is no personality {rest.strip()[:60]!r}.", hint=hint)
        wanted = "" if name in _OFF else name
        if wanted == current:
            return f"It is {wanted} already." if wanted else "There is none to take off."
        await overlays.change(session.id, wanted, told(known[wanted]) if wanted else "")
        return f"From your next message on: {wanted}." if wanted else "From your next message on it speaks plainly."

    async def options(_session: Session, rest: str) -> Sequence[Choice]:
        wanted = rest.strip().casefold()
        known = {name: one.description for name, one in sorted(personalities(ctx.config).items())}
        return [Choice(name, what) for name, what in (known | {"off": "plainly"}).items() if name.startswith(wanted)]

    return SlashCommand(name="personality", run=run, options=options)


async def _current(ctx: PluginContext, overlays: Overlays, session: Session) -> str:
    """The personality of a session: the one it was told last, else the one it began with."""
    overlay = await overlays.get(session.id)
    if overlay:
        return overlay.name
    name = str(ctx.config.personality).strip().casefold()
    return name if name in personalities(ctx.config) else ""


def _listed(ctx: PluginContext, current: str) -> str:
    known = personalities(ctx.config)
    width = max(map(len, known))
    lines = [f"  {'*' if name == current else ' '} {name:{width}}  {known[name].description}" for name in sorted(known)]
    now = f"It speaks as {current} here." if current else "It speaks plainly here."
    return "\n".join([f"{now} Change it with /personality NAME, or /personality off.", "", *lines])
