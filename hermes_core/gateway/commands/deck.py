"""What every slash command works with, what only some people may do with it, and the question before a loss."""

from collections.abc import Awaitable, Callable, Mapping

from attrs import define, evolve

from hermes_core.agent.policy.itself import run_by_tool
from hermes_core.agent.runtime import Runtime
from hermes_core.config.schema import PLUGIN_SPACES
from hermes_core.errors import UserError
from hermes_core.gateway.conversation import Conversation
from hermes_core.gateway.people.access import OWNER, Place, Role
from hermes_core.types import Button, Buttons, Message, Question, Session, SlashCommand, Text, Verdict

__all__ = ["Deck", "Room", "add", "carried_out", "named"]

_ANSWERS = {"--once": "once", "--always": "always", "--cancel": "cancel"}
_LABELS = {"once": "Yes", "always": "Yes, and never ask again", "cancel": "No"}


@define(eq=False)
class Deck:
    """The kernel, the conversation that a session plays in, and all commands of one way in.

    ``place`` is what kind of way in it is, ``role`` whose command runs now.
    """

    runtime: Runtime
    conversation: Callable[[str], Conversation]
    table: dict[str, SlashCommand]
    place: Place = "terminal"
    role: Callable[[], Role] = lambda: "admin"

    def need_person(self, *, admin: bool = False) -> None:
        """Raises UserError when a tool started this conversation, or for somebody who is no admin."""
        if run_by_tool(self.runtime.home.brand):
            raise UserError("Only a person changes this, and a tool started this conversation.")
        if admin and self.role() != "admin":
            raise UserError("This holds for everybody, so only an admin changes it.")

    def need_owner(self, session: Session) -> None:
        """Raises UserError for anybody but the owner of this Hermes, in a conversation of their own."""
        self.need_person(admin=True)
        if session.owner.person != OWNER:
            raise UserError("Only the owner of this Hermes does this, and in their own conversations.")

    async def write(self, key: str, text: str) -> str:
        """Change a setting for good, and here as far as that goes; how it stands. Raises HermesError."""
        from hermes_core.agent.settings import HomeSettings

        self.need_person(admin=True)
        row = await HomeSettings(self.runtime, lambda: None).set(key, text)
        section, later = key.partition(".")[0], self.runtime.reread()
        when = "from the next start" if section in (*later, *PLUGIN_SPACES) else "from now on"
        return f"{key} is {'set' if row.secret or row.key != key else row.value}, {when}."


class Room:
    """Some commands; each is a method of its name."""

    def __init__(self, deck: Deck) -> None:
        self._deck, self._runtime = deck, deck.runtime


def named(commands: Mapping[str, SlashCommand], name: str) -> SlashCommand | None:
    """The command of a name, or of another name of it."""
    return commands.get(name) or next((one for one in commands.values() if name in one.aliases), None)


def add(commands: dict[str, SlashCommand], command: SlashCommand) -> None:
    """Take up a command, unless its name is taken; other names that are taken it does not get."""
    if named(commands, command.name) is None:
        free = tuple(name for name in command.aliases if named(commands, name) is None)
        commands[command.name] = evolve(command, aliases=free)


async def carried_out(
    deck: Deck,
    command: SlashCommand,
    session: Session,
    rest: str,
    ask: Callable[[Question], Awaitable[Verdict | None]] | None = None,
) -> str | Message:
    """What a command answers, after the person's yes where it asks for one. ``ask`` puts it to somebody who waits.

    Else the question is kept nowhere: its buttons say the command again, with the answer behind it. So a press is a
    message like any other, and a death between question and answer loses nothing and does nothing twice.
    """
    head, _, last = rest.rpartition(" ")
    word = _ANSWERS.get(last, "") if command.confirm else ""
    rest, wanted = head.strip() if word else rest, deck.runtime.settings.config.display.confirm_commands
    if command.confirm and wanted and not word and (subject := command.confirm(rest)):
        choices = ("once", "always", "cancel") if deck.role() == "admin" else ("once", "cancel")
        verdict = await ask(Question(id="", kind="choice", subject=subject, choices=choices)) if ask else None
        if verdict is None:
            line = f"/{command.name} {rest}".strip()
            buttons = Buttons(buttons=tuple(Button(label=_LABELS[one], says=f"{line} --{one}") for one in choices))
            return Message(
                role="assistant", parts=(Text(text=f"{subject} Really? `{line} --once` is the yes."), buttons)
            )
        word = verdict.choice if verdict.outcome == "allow" and verdict.choice in choices else "cancel"
    if word == "always":
        await deck.write("display.confirm_commands", "false")
    return "Nothing was done." if word == "cancel" else await command.run(session, rest)
