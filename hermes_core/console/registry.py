"""The commands of one way in: which there are, how one is found, the question before a loss, and running it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from attrs import evolve

from hermes_core.agent.runtime import Runtime
from hermes_core.console.allowed import Place, named, usable
from hermes_core.console.at_hand import AtHand
from hermes_core.errors import HermesError, PluginError, UserError, nearest
from hermes_core.plugins.at_hand import typed_into
from hermes_core.plugins.fence import one_line
from hermes_core.types import Button, Buttons, Choice, Fault, Message, Question, Session, SlashCommand, Text, Verdict

__all__ = ["Registry", "named", "offered"]

_ANSWERS = {"--once": "once", "--always": "always", "--cancel": "cancel"}
_LABELS = {"once": "Yes", "always": "Yes, and never ask again", "cancel": "No"}
_MOST, _MOST_FROM = "tool/commands", "hermes-tool-commands"
_Ask = Callable[[Question], Awaitable[Verdict | None]]


class Registry:
    """The commands that there are where people write: ``table`` has them by name. Help and menus read it, too.

    The kernel's own come first, then those of the program's own plugins, ``more`` of a platform, those of other
    plugins, and what the person wrote into the settings. None takes a name that is taken.
    """

    def __init__(self, runtime: Runtime, place: Place = "terminal", more: Sequence[SlashCommand] = ()) -> None:
        from hermes_core.console.own import own_commands

        self.runtime, self.place = runtime, place
        self.table: dict[str, SlashCommand] = {}
        runtime.loader.load_contributing("slash")
        given = runtime.dispatch.contributions("register_slash_commands")
        ours = [(label, command) for label, command in given if runtime.loader.is_own(label)]
        theirs = [(label, command) for label, command in given if not runtime.loader.is_own(label)]
        mine = [("", command) for command in own_commands(self)]
        self._owners: dict[str, str] = {}
        for label, command in (*mine, *ours, *(("", command) for command in more), *theirs):
            self._add(command, label)
        if runtime.settings.config.quick_commands:
            from hermes_core.console.quick import quick_commands

            for command in quick_commands(self):
                self._add(command)

    def _add(self, command: SlashCommand, owner: str = "") -> None:
        """Take up a command, unless its name is taken; other names that are taken it does not get. Both are told."""
        lost = [name for name in (command.name, *command.aliases) if named(self.table, name)]
        if command.name not in lost:
            free = tuple(name for name in command.aliases if name not in lost)
            self.table[command.name], self._owners[command.name] = evolve(command, aliases=free), owner
        for name in lost if owner else ():
            error = f"/{name} is somebody else's; it goes without"
            hint = f"Its author chooses another name, or: hermes plugins disable {owner}"
            fault = Fault(plugin=owner, phase="call", where=f"/{command.name}", error=error, hint=hint)
            if fault not in self.runtime.dispatch.faults:
                self.runtime.dispatch.record(fault)

    async def run(self, here: AtHand, name: str, rest: str, ask: _Ask | None = None) -> str | Message:
        """What a command answers, after the person's yes where it asks for one. ``ask`` puts it to somebody who waits.

        Else the question is kept nowhere: its buttons say the command again, with the answer behind it. So a press is
        a message like any other, and a death between question and answer loses nothing and does nothing twice. Raises
        UserError when there is no such command for this person, and what it raises.
        """
        with typed_into(here):
            command = await self._find(here, name)
            return await self._carried_out(here, command, rest, ask)

    async def _carried_out(self, here: AtHand, command: SlashCommand, rest: str, ask: _Ask | None) -> str | Message:
        head, _, last = rest.rpartition(" ")
        word = _ANSWERS.get(last, "") if command.confirm else ""
        rest, wanted = head.strip() if word else rest, self.runtime.settings.config.display.confirm_commands
        if command.confirm and wanted and not word and (subject := command.confirm(rest)):
            choices = ("once", "always", "cancel") if here.role == "admin" else ("once", "cancel")
            verdict = await ask(Question(id="", kind="choice", subject=subject, choices=choices)) if ask else None
            if verdict is None:
                line = f"/{command.name} {rest}".strip()
                buttons = Buttons(buttons=tuple(Button(label=_LABELS[one], says=f"{line} --{one}") for one in choices))
                told = Text(text=f"{subject} Really? `{line} --once` is the yes.")
                return Message(role="assistant", parts=(told, buttons))
            word = verdict.choice if verdict.outcome == "allow" and verdict.choice in choices else "cancel"
        if word == "always":
            await here.configure("display.confirm_commands", "false")
        if word == "cancel":
            return "Nothing was done."
        try:
            return await command.run(here.session, rest)
        except (HermesError, asyncio.CancelledError):
            raise
        except (Exception, SystemExit) as error:
            owner = self._owners.get(command.name, "")
            if not owner:
                raise
            self.runtime.dispatch.failed(owner, f"/{command.name}", error)
            raise PluginError(owner, f"/{command.name} failed: {one_line(error)}") from error

    async def _find(self, here: AtHand, name: str) -> SlashCommand:
        """A command by its name, or by that of one of another's options: ``/NAME`` for ``/skill NAME``."""
        mine = usable(self.table, here.role, self.place)
        if known := named(mine, name):
            return known
        for one in mine.values():
            if one.each and any(o.text.strip() == name for o in await offered(self.runtime, one, here.session, name)):
                whole = one.run

                async def run(session: Session, rest: str) -> str | Message:
                    return await whole(session, f"{name} {rest}".strip())  # noqa: B023 - it is returned at once

                return evolve(one, run=run)
        close = nearest(name, mine)
        more = f"Did you mean /{close}?" if close else "/help lists all."
        raise UserError(f"There is no command /{name}. {more}", hint=self._missing(name))

    def _missing(self, name: str) -> str:
        """How a command comes to be there, where its plugin is not enabled, or the one with most of them is missing."""
        index, brand = self.runtime.index, self.runtime.home.brand
        if off := [
            one.label for one in index.contributing("slash", name) if one.label not in self.runtime.loader.loaded
        ]:
            return f"{off[0]} adds it: {brand} plugins enable {off[0]}"
        return "" if index.get(_MOST) else f"Most commands come with a plugin: pip install {_MOST_FROM}"


async def offered(runtime: Runtime, command: SlashCommand, session: Session, rest: str) -> Sequence[Choice]:
    """What may follow a command; nothing where it fails to say."""
    options = command.options

    async def ask() -> Sequence[Choice]:
        return await options(session, rest) if options else ()

    return await runtime.dispatch.shielded(f"/{command.name}", "options", ask) or ()
