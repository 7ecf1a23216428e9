"""How a turn is run: who answers, how hard it thinks, what needs a yes, what a message during it does."""

from typing import Literal

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.kinds import Conversation
from hermes_core.types import Session

_MODES = {
    "ask": "a person decides what is risky.",
    "smart": "a model looks at risky commands first; you decide what it does not.",
    "off": "nothing is asked. Hard blocks, policy.deny and what a plugin refuses still hold.",
}


async def model(ctx: PluginContext, session: Session, rest: str) -> str:
    """Show or change who answers."""
    wanted, span = wanted_model(rest)
    here = ctx.conversation(session)
    chat = here.place == "chat"
    provider, name = await (here.model.choose(wanted, span=span) if wanted else here.model.current())
    if span == "global" and (wanted or not chat):
        await here.configure("model.provider", provider)
        await here.configure("model.default", name)
        return f"From now on {name} from {provider} answers, here and in every new conversation."
    if chat:
        said = f"{'From now on' if wanted else 'Here'} {name} from {provider} answers in this chat."
        models = here.rights().models
        return said if models is None or wanted else f"{said} You may choose: {', '.join(models)}."
    if span == "once" and wanted:
        return f"Your next message is answered by {name} from {provider}."
    return f"{'Now answering' if wanted else 'Answering'}: {name} from {provider}."


def wanted_model(rest: str) -> tuple[str, Literal["session", "once", "global"]]:
    """The ``provider:model`` that is asked for, and for how long. Raises UserError."""
    spans: dict[str, Literal["session", "once", "global"]] = {
        "--global": "global",
        "--session": "session",
        "--once": "once",
    }
    words = rest.split()
    said = [spans[word] for word in words if word in spans]
    words = [word for word in words if word not in spans]
    provider = ""
    if "--provider" in words:
        at = words.index("--provider")
        provider, words = f"{(words[at + 1 :] or [''])[0]}:", [*words[:at], *words[at + 2 :]]
    if len(words) > 1 or any(word.startswith("--") for word in words):
        raise UserError("Write /model [provider:]model, with --global or --once behind it.")
    return provider + "".join(words), said[-1] if said else "session"


async def reasoning(ctx: PluginContext, session: Session, rest: str) -> str:
    """Show or change how hard the model thinks, here or for good, or what is seen of it."""
    here = ctx.conversation(session)
    lasting, level = "--global" in rest.split(), rest.replace("--global", "").strip()
    if here.place == "chat" and not lasting:
        return f"Effort in this chat: {await here.model.effort(rest) or 'as it is set up'}."
    if level in ("show", "hide"):
        shown = {"show": "full", "hide": "off"}[level]
        return await here.configure(f"platforms.{session.origin}.reasoning", shown)
    if level and lasting:
        return await here.configure("model.effort", level)
    now = await here.model.effort(level)
    return f"Effort: {now or 'as the provider likes'}, as far as the model knows it, until the program ends."


async def permission(ctx: PluginContext, session: Session, rest: str) -> str:
    """Show or change what needs a yes, and what was granted."""
    here = ctx.conversation(session)
    word, _, which = rest.partition(" ")
    public = here.envelope is not None and here.envelope.kind != "dm"  # what holds elsewhere is nothing for others
    given = [g for g in await ctx.approvals.grants(session.owner) if g.session_id in ("", session.id)]
    grants = [g for g in given if g.session_id] if public else given
    if word == "forget":
        here.need_person()
        if not which.strip().isdecimal():
            raise UserError("Say which one: /permission forget N. /permission grants lists them.")
        known = not public or int(which) in {g.id for g in grants}
        if not (known and await ctx.approvals.revoke(session.owner, int(which))):
            raise UserError(f"There is no grant {which.strip()}. /permission grants lists them.")
        return f"Grant {which.strip()} is taken back; it will be asked about again."
    mode = here.mode("" if rest == "grants" else rest)
    said = "" if rest == "grants" else f"Mode: {mode}, {_MODES[mode]} In this session, until the program ends.\n"
    if not grants:
        return f"{said}You granted nothing beyond single calls."
    lines = (f"    {g.id}  {g.words}  ({'this session' if g.session_id else 'always'})" for g in grants)
    return "\n".join((f"{said}You granted:", *lines, "/permission forget N takes one back."))


async def yolo(ctx: PluginContext, session: Session, _rest: str) -> str:
    """Ask nothing any more, or ask again."""
    here = ctx.conversation(session)
    here.need_person()
    if _toggled(here) == "off":
        return f"YOLO: in this session, until the program ends, {_MODES['off']} /yolo ends it."
    return f"Asking again. Mode: ask, {_MODES['ask']}"


def _toggled(here: Conversation) -> str:
    return here.mode("ask" if here.mode() == "off" else "off")


async def busy(ctx: PluginContext, session: Session, rest: str) -> str:
    """Show or change what becomes of what is said during a turn."""
    now = ctx.conversation(session).busy(rest)
    return f"What you say during a turn: {now}. In this terminal; /config agent.busy {now} makes it last."
