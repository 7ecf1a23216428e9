"""The commands of one way in: which there are, how one is found, the question before a loss, and running it."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

from attrs import evolve

from hermes_core.agent.kernel import Kernel
from hermes_core.agent.policy.itself import only_by_a_person
from hermes_core.agent.slash.at_hand import AtHand
from hermes_core.agent.slash.recorded import slash_commands
from hermes_core.errors import HermesError, PluginError, UserError, nearest
from hermes_core.kinds import Completer
from hermes_core.kinds.console import AskPerson
from hermes_core.plugins.at_hand import typed_into
from hermes_core.plugins.fence import one_line
from hermes_core.slash import HostSide, Place, SlashBroker, SlashCommands, named, usable
from hermes_core.types import Button, Buttons, Choice, Fault, Message, Question, Session, SlashCommand, Text, Wall

__all__ = ["Registry", "Slash"]

_ANSWERS = {"--once": "once", "--always": "always", "--cancel": "cancel"}
_LABELS = {"once": "Yes", "always": "Yes, and never ask again", "cancel": "No"}
_MOST, _MOST_FROM = "tool/commands", "hermes-tool-commands"


class Slash(SlashBroker):
    """The slash commands of one kernel."""

    def __init__(self, runtime: Kernel) -> None:
        self._runtime = runtime

    def commands(self, place: Place, more: Sequence[SlashCommand] = ()) -> SlashCommands:
        return Registry(self._runtime, place, more)


class Registry(SlashCommands):
    """The commands that there are where people write. Help and menus read the table, too."""

    def __init__(self, runtime: Kernel, place: Place = "terminal", more: Sequence[SlashCommand] = ()) -> None:
        self.runtime, self.place, self._more = runtime, place, more
        self._table: dict[str, SlashCommand] = {}
        self._owners: dict[str, str] = {}
        self._filled = False

    @property
    def table(self) -> dict[str, SlashCommand]:  # type: ignore[override]
        """See SlashCommands; made when it is first wanted."""
        if not self._filled:
            self._filled = True
            self._fill()
        return self._table

    def _fill(self) -> None:
        runtime, given = self.runtime, [*slash_commands(self.runtime)]
        ours = [(label, command) for label, command in given if runtime.loader.is_own(label)]
        theirs = [(label, command) for label, command in given if not runtime.loader.is_own(label)]
        for label, command in (*ours, *(("", command) for command in self._more), *theirs):
            self._add(command, label)
        if runtime.settings.config.quick_commands:
            from hermes_core.agent.slash.quick import quick_commands

            for command in quick_commands(runtime, self._table):
                self._add(command)

    def _add(self, command: SlashCommand, owner: str = "") -> None:
        """Take up a command, unless its name is taken; other names that are taken it does not get. Both are told."""
        lost = [name for name in (command.name, *command.aliases) if named(self._table, name)]
        if command.name not in lost:
            free = tuple(name for name in command.aliases if name not in lost)
            self._table[command.name], self._owners[command.name] = evolve(command, aliases=free), owner
        for name in lost if owner else ():
            error = f"/{name} is somebody else's; it goes without"
            hint = f"Its author chooses another name, or: hermes plugins disable {owner}"
            fault = Fault(plugin=owner, phase="call", where=f"/{command.name}", error=error, hint=hint)
            if fault not in self.runtime.dispatch.faults:
                self.runtime.dispatch.record(fault)

    async def run(self, side: HostSide, name: str, rest: str, ask: AskPerson | None = None) -> str | Message:
        """See SlashCommands.

        A question that nobody waits for is kept nowhere: its buttons say the command again, with the answer behind it.
        So a press is a message like any other, and a death between question and answer loses nothing and does nothing
        twice.
        """
        here = self.conversation(side, await side.take_up())
        with typed_into(here):
            command = await self._find(here, name)
            only_by_a_person(self.runtime.home.brand, command.who == "person")
            return await self._carried_out(here, command, rest, ask)

    def conversation(self, side: HostSide, session: Session) -> AtHand:
        here = AtHand(self.runtime, side, session)
        here.commands = lambda: side.offered(usable(self.table, here.role, self.place))
        return here

    async def options(self, side: HostSide, name: str, rest: str) -> Sequence[Choice]:
        command = named(usable(self.table, side.role, self.place), name)
        if command is None or command.options is None:
            return ()
        session = await side.take_up()
        with typed_into(self.conversation(side, session)):
            return await self._options(command, session, rest)

    async def words(self, side: HostSide, word: str) -> Sequence[Choice]:
        self.runtime.loader.load_contributing("completers")
        known = self.runtime.dispatch.contributions("register_completers")
        fits = [one for one in known if isinstance(one[1], Completer) and one[1].trigger]
        fits = [one for one in fits if word.startswith(one[1].trigger)]
        if not fits:
            return ()
        choices: list[Choice] = []
        session = await side.take_up()
        with typed_into(self.conversation(side, session)):
            for label, one in fits:
                call = partial(one.complete, session, word)
                choices += await self.runtime.dispatch.shielded(label, "register_completers", call) or ()
        return choices

    async def open(self, folder: str, ask: AskPerson) -> Sequence[str]:
        self.runtime.loader.load_contributing("openings")
        shielded, told = self.runtime.dispatch.shielded, []
        for label, one in self.runtime.dispatch.contributions("register_openings"):
            if question := await shielded(label, "register_openings", partial(one.question, folder)):
                answer = await ask(question)
                told.append(await shielded(label, "register_openings", partial(one.answered, folder, answer)) or "")
        return [text for text in told if text]

    def status(self, session: Session | None) -> Mapping[str, str]:
        route = self.runtime.routes.current
        return {
            "session": session.id if session else "",
            "title": session.title if session else "",
            "provider": route.name if route else "",
            "model": route.model if route else "",
            "notice": route.notice if route else "",
            "cwd": (session.cwd if session else "") or self.runtime.sessions.folder("", self.runtime.owner),
            "mode": self.runtime.mode(session.id if session else ""),
        }

    async def wall(self, session: Session | None) -> Wall | None:
        state = await self.runtime.sessions.take(session.id, session.origin, session.owner) if session else None
        place, owner = state and state.workspace, session.owner if session else self.runtime.owner
        return place.wall if place else self.runtime.workspaces.wall(owner)

    async def prepare(self) -> None:
        await self.runtime.routes.get()
        await self.runtime.store()

    async def _carried_out(
        self, here: AtHand, command: SlashCommand, rest: str, ask: AskPerson | None
    ) -> str | Message:
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
        """Find a command by its name, or by that of one of another's options: ``/NAME`` for ``/skill NAME``."""
        mine = usable(self.table, here.role, self.place)
        if known := named(mine, name):
            return known
        for one in mine.values():
            if one.each and any(o.text.strip() == name for o in await self._options(one, here.session, name)):
                whole = one.run

                async def run(session: Session, rest: str) -> str | Message:
                    return await whole(session, f"{name} {rest}".strip())  # noqa: B023 - it is returned at once

                return evolve(one, run=run)
        close = nearest(name, mine)
        rest = "/help lists all." if "help" in mine else f"There is: /{', /'.join(mine)}." if mine else ""
        more = f"Did you mean /{close}?" if close else rest
        raise UserError(f"There is no command /{name}. {more}".strip(), hint=self._missing(name))

    def _missing(self, name: str) -> str:
        """Say how to get a command whose plugin is not enabled, or where the one with most of them is missing."""
        index, brand = self.runtime.index, self.runtime.home.brand
        there = self.runtime.loader.contributing("slash")
        if off := [one.label for one in index.contributing("slash", name) if one not in there]:
            return f"{off[0]} adds it: {brand} plugins enable {off[0]}"
        return "" if index.get(_MOST) else f"Most commands come with a plugin: pip install {_MOST_FROM}"

    async def _options(self, command: SlashCommand, session: Session, rest: str) -> Sequence[Choice]:
        """Return what may follow a command; nothing where it fails to say."""
        options = command.options

        async def ask() -> Sequence[Choice]:
            return await options(session, rest) if options else ()

        return await self.runtime.dispatch.shielded(f"/{command.name}", "options", ask) or ()
