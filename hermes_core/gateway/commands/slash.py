"""The registry of slash commands: terminal, chats, help and menus all read this one table. Plugins add theirs.

What a command does is in the rooms beside this one, and is imported when it runs. Some need more than the kernel has:
who carries conversations fills in those.
"""

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from hermes_core.agent.runtime import Runtime
from hermes_core.config.schema import EFFORTS
from hermes_core.errors import UserError
from hermes_core.gateway.commands.deck import Deck, add
from hermes_core.gateway.commands.places import chat_slash_commands
from hermes_core.gateway.conversation import Conversation
from hermes_core.gateway.people.access import Place
from hermes_core.types import Choice, Message, Session, SlashCommand

__all__ = ["BEHIND", "QUEUED", "STEERED", "WAITS", "deck_of"]

QUEUED = "Queued: it has its turn when this one ends. /steer says it now, /stop ends the turn."
STEERED = "Passed on: the model sees it with the next result, or as the next message."
WAITS = "This command waits for the end of the turn; /stop ends it."
BEHIND = "This comes after the command that waits."

_Where = tuple[Place, ...]
_HERE: _Where = ("terminal",)
_CHAT: _Where = ("chat",)
_LEVELS = f"[{'|'.join(EFFORTS)}|show|hide] [--global]"
_MODEL = "[[provider:]model|default] [--provider NAME] [--global|--session|--once]"
# name and other names, what may follow, what it does, and where that is written
_OWN = (
    ("help start", "[COMMAND]", "list the commands, or explain one", "words:help"),
    ("commands", "[PAGE]", "list the commands, a page at a time", "words:commands"),
    ("new reset", "", "start a new session; this one stays", "talk:new"),
    ("resume", "ID|title|latest", "go on in an earlier session", "talk:resume"),
    ("sessions", "[N]", "list earlier sessions", "talk:sessions"),
    ("title", "TEXT", "name this session", "talk:title"),
    ("history", "[N]", "show the last messages of this session", "talk:history"),
    ("search", "WORDS", "search all sessions", "talk:search"),
    ("undo", "[N]", "take back the last exchange, or N of them", "talk:undo"),
    ("branch fork", "[TITLE]", "go on in a copy of this session", "talk:branch"),
    ("save", "[FILE.md|FILE.json]", "write this session into a file", "talk:save"),
    ("stop", "", "stop the running turn", "talk:stop"),
    ("steer", "TEXT", "say something to the running turn", "talk:steer"),
    ("queue q", "[TEXT|clear]", "say something after the running turn; show what waits, or give it up", "talk:queue"),
    ("retry", "", "ask the last question again", "talk:retry"),
    ("background bg btw", "TEXT", "have something done beside this conversation", ""),
    ("approve", "[ID] [once|session|always]", "say yes to a question", ""),
    ("deny", "[ID]", "say no to a question", ""),
    ("status", "", "this conversation, and how Hermes is", "words:status"),
    ("why", "[MESSAGE]", "what became of your last message", "words:why"),
    ("usage cost", "", "tokens and cost of this session", "words:usage"),
    ("insights", "[DAYS]", "tokens and cost of the last days, by model", "words:insights"),
    ("model", _MODEL, "show or change the model", "conduct:model"),
    ("reasoning effort", _LEVELS, "show or change how hard the model thinks, or is seen to", "conduct:reasoning"),
    ("permission", "[ask|smart|off|grants|forget N]", "show or change what needs your yes", "conduct:permission"),
    ("yolo", "", "ask nothing any more in this session, or ask again", "conduct:yolo"),
    ("busy", "[queue|steer|interrupt]", "what becomes of what you say during a turn", "conduct:busy"),
    ("tools", "[enable|disable NAME…]", "list the tools; switch some on or off on this platform", "house:tools"),
    ("toolsets", "", "list the groups of tools", "house:toolsets"),
    ("config", "[KEY [VALUE]]", "show or change settings", "house:config"),
    ("reload", "", "read the settings again, and say what needs a new start", "house:reload"),
    ("plugins", "", "list the plugins, and how each is", "house:plugins"),
    ("profile", "", "which profile this is, and where it lives", "house:profile"),
    ("whoami", "", "who you are here, and what you may do", "words:whoami"),
    ("pair", "CODE", "let somebody in", "house:pair"),
    ("version v", "", "which Hermes this is", "house:version"),
    ("debug", "", "versions, paths and who answers, to be passed on; no secrets", "house:debug"),
    ("quit exit", "[--delete]", "leave; with --delete this session is deleted", ""),
)  # fmt: skip
# Those that need not wait for the end of a turn, as they change nothing that it works with.
_AT_ONCE = {
    "approve", "background", "busy", "commands", "debug", "deny", "help", "history", "insights", "permission",
    "plugins", "profile", "queue", "search", "sessions", "status", "steer", "stop", "tools", "toolsets", "usage",
    "version", "whoami", "why",
}  # fmt: skip
_ADMIN = {"config", "debug", "pair", "plugins", "profile", "reload"}
_PLACES = {
    "commands": _CHAT, "approve": _CHAT, "deny": _CHAT, "pair": _CHAT, "save": _HERE, "busy": _HERE, "quit": _HERE,
}  # fmt: skip
_OPTIONS = {"busy", "config", "help", "model", "permission", "queue", "quit", "reasoning", "resume", "tools"}
_CONFIRM: dict[str, Callable[[str], str]] = {
    # What cannot simply be had back. /new is not among them: the session stays, and /resume goes on in it.
    "undo": lambda rest: (
        f"The last {'exchange' if rest in ('', '1') else f'{rest} exchanges'} of this session would be"
        " taken back: the model is not told of it any more."
    ),
    "queue": lambda rest: "What waits for its turn would be given up." if rest == "clear" else "",
    "quit": lambda rest: "This session would be deleted, with all that was said in it." if rest == "--delete" else "",
}


def deck_of(
    runtime: Runtime, conversation: Callable[[str], Conversation], place: Place = "terminal", more: Sequence[Any] = ()
) -> Deck:
    """All commands, and what they work with: the kernel's own, ``more`` of a platform, those of plugins, the person's.

    None takes a name that is taken.
    """
    deck = Deck(runtime, conversation, {}, place)
    for names, usage, summary, where in _OWN:
        name, *aliases = names.split()
        deck.table[name] = SlashCommand(
            name=name,
            aliases=tuple(aliases),
            usage=usage,
            summary=summary,
            run=partial(_do, deck, where),
            at_once=name in _AT_ONCE,
            who="admin" if name in _ADMIN else "everyone",
            where=_PLACES.get(name, ("terminal", "chat", "api")),
            confirm=_CONFIRM.get(name),
            options=partial(_options, deck, name) if name in _OPTIONS else None,
        )
    for command in (*chat_slash_commands(runtime, conversation), *more):
        add(deck.table, command)
    runtime.loader.load_contributing("slash")
    for _, command in runtime.dispatch.contributions("register_slash_commands"):
        if isinstance(command, SlashCommand):
            add(deck.table, command)
    if runtime.settings.config.quick_commands:
        from hermes_core.gateway.commands.quick import quick_commands

        for command in quick_commands(deck):
            add(deck.table, command)
    return deck


async def _do(deck: Deck, where: str, session: Session, rest: str) -> str | Message:
    """What a command does, imported when it does it."""
    room, _, name = where.partition(":")
    if not room:
        raise UserError("This does not work here.")
    desk = getattr(import_module(f"hermes_core.gateway.commands.{room}"), room.title())(deck)
    answer: str | Message = await getattr(desk, name)(session, rest)
    return answer


async def _options(deck: Deck, name: str, session: Session, rest: str) -> Sequence[Choice]:
    from hermes_core.gateway.commands.options import options_of

    return await options_of(deck, name, session, rest)
