"""One conversation on the screen: what was said above, where to write below. Each is a chat of the platform."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from uuid import uuid4

from attrs import evolve
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from hermes_core.errors import HermesError, UnknownName
from hermes_platform_tui.composer import Composer
from hermes_platform_tui.config import Config, Fold
from hermes_platform_tui.look.statusbar import Facts, git_branch
from hermes_platform_tui.questions import Waiting
from hermes_platform_tui.usage import added, figures
from hermes_platform_tui.view_notices import Arrived, Changed, Rested

if TYPE_CHECKING:
    from hermes_core.kinds import Console
    from hermes_core.types import Blob, Choice, Ended, Envelope, Event, Message, Session, Started, Usage, Used
    from hermes_platform_tui.distant import Around
    from hermes_platform_tui.searchbar import SearchBar
    from hermes_platform_tui.transcript import Transcript

__all__ = ["ChatView"]

_BELOW = 6  # rows under the greeting: the input, and a notice
_LOOK = 2.0  # seconds between two looks at what runs beside the conversation


class ChatView(Vertical):
    """A conversation. ``facts`` are what the status bar shows of it; ``waiting`` the questions put in it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+f", "search", "Search", show=False),
        Binding("alt+c", "copy_last", "Copy answer", show=False),
        Binding("ctrl+up", "jump(-1)", "Previous message", show=False),
        Binding("ctrl+down", "jump(1)", "Next message", show=False),
        Binding("pageup", "scroll(-1)", "Up", show=False),
        Binding("pagedown", "scroll(1)", "Down", show=False),
    ]

    def __init__(
        self,
        chat: str,
        *,
        config: Config,
        ctx: "Around",
        console: "Console",
        person: str,
        send: "Callable[[Envelope], None]",
        history: Path | None,
        session: str = "",
        furnished: bool = True,
    ) -> None:
        """One that is not ``furnished`` has only where to write, until ``furnish``."""
        super().__init__(id=f"view-{chat}")
        self.chat, self.person = chat, person
        self._config, self._ctx, self._talks, self._send = config, ctx, console, send
        self.wanted = session  # an earlier session that is to be opened in it
        # What it goes on with is known now; what is said before that is shown must not be taken for it.
        self.session = console.status(chat).get("session", "")
        self.facts = Facts()
        self.waiting: deque[Waiting] = deque()
        self.opening = ""  # what it began with: its name as long as it has no title
        self.unseen = False  # something happened in it while another was looked at
        self.composer = Composer(
            complete=self._complete,
            history=history,
            paste_lines=config.paste_lines,
            paste_characters=config.paste_characters,
            placeholder="Ask anything. / for commands, @ for files, F1 for help",
        )
        self.greeting = Static("", id="greeting")
        self._room = None if furnished else Vertical()  # what the transcript will take
        self._began = 0.0
        self._sent: deque[str] = deque()  # what was said and has not begun
        self._syncing: asyncio.Task[None] | None = None

    # What a first frame does without is imported after it.

    @cached_property
    def transcript(self) -> "Transcript":
        """What was said."""
        from hermes_platform_tui.transcript import Transcript

        return Transcript(config=self._config, picture=self._picture)

    @cached_property
    def search_bar(self) -> "SearchBar":
        """Where one searches it."""
        from hermes_platform_tui.searchbar import SearchBar

        return SearchBar()

    @cached_property
    def usage(self) -> "Usage":
        """What the session used."""
        return self._before

    @cached_property
    def _before(self) -> "Usage":
        """What it used before the turn that runs."""
        from hermes_core.types import Usage

        return Usage()

    def compose(self) -> ComposeResult:
        """What was said, and where to write. The greeting, which has no words yet, comes after the first frame."""
        if self._room:
            yield self._room
        else:
            yield self.search_bar
            yield self.transcript
        yield self.composer

    async def furnish(self) -> None:
        """Put in what a first frame is without, as nothing was said yet."""
        if self._room:
            room, self._room = self._room, None
            with self.app.batch_update():
                await self.mount(self.search_bar, self.greeting, self.transcript, before=room)
                await room.remove()

    def on_mount(self) -> None:
        """Look now and then at what runs beside it."""
        self.set_interval(_LOOK, self._look)
        if self._room is None:
            self.call_after_refresh(self.mount, self.greeting, before=self.transcript)

    # --- what the person does -------------------------------------------------------------------------------------

    @on(Composer.Submitted)
    def _submitted(self, event: Composer.Submitted) -> None:
        event.stop()
        self.say(event.text, event.attachments)

    def say(self, text: str, attachments: Sequence["Blob"] = ()) -> None:
        """Send what a person says; a screen that has the name of a command opens instead."""
        if not self.app.overlays.opens(text, partial(self._tell, text, attachments)):  # type: ignore[attr-defined]
            self._tell(text, attachments)

    def _tell(self, text: str, attachments: Sequence["Blob"]) -> None:
        from hermes_core.types import Envelope, Message, Text

        self.begin()
        self._fold_as(text.split())
        command = text.lstrip().startswith("/") and not text.lstrip().startswith("//")
        self.transcript.say(text, attachments, pending=self.facts.busy and not command)
        if not command:
            self.opening = self.opening or text
            self._sent.append(text)
            self.facts_are(queued=len(self._sent) if self.facts.busy else 0)
        parts = (*((Text(text=text),) if text else ()), *attachments)
        self._send(
            Envelope(
                platform="tui",
                account="tty",
                event_id=uuid4().hex,
                chat=self.chat,
                sender=self.person,
                message=Message(role="user", parts=parts),
            )
        )

    def _fold_as(self, words: Sequence[str]) -> None:
        """``/reasoning show`` is kept by the kernel for the next start; here it holds at once."""
        states: dict[str, Fold] = {"show": "collapsed", "full": "expanded", "hide": "hidden"}
        if words[:1] == ["/reasoning"] and (state := states.get("".join(words[1:2]))):
            self.transcript.fold("reasoning", state)

    def greet(self, words: Content) -> None:
        """What an empty conversation shows."""
        self.greeting.update(words)
        self.greeting.display = self.transcript.is_empty

    def on_resize(self, event: events.Resize) -> None:
        """What greets leaves room for a notice, and for where to write."""
        self.greeting.styles.max_height = max(0, event.size.height - _BELOW)

    def begin(self) -> None:
        """Something is said: the greeting goes."""
        self.greeting.display = False

    async def interrupt(self) -> bool:
        """Stop the turn that runs; False when none does."""
        return await self._talks.interrupt(self.chat)

    async def _complete(self, text: str, cursor: int) -> Sequence["Choice"]:
        try:
            return await self._talks.complete(self.chat, text[:cursor])
        except HermesError:  # nobody is told so while they type; the turn will say it
            return ()

    def paste_picture(self) -> None:
        """Attach the picture that is in the clipboard."""
        self.run_worker(self.composer.take_clipboard(), group="paste", exclusive=True, exit_on_error=False)

    # --- reading ----------------------------------------------------------------------------------------------------

    def action_search(self) -> None:
        """Search what was said."""
        self.search_bar.open()

    def action_copy_last(self) -> None:
        """Copy the message in focus, else the last answer."""
        self.transcript.copying.message()

    def action_jump(self, step: Literal[-1, 1]) -> None:
        """To the message before, or after."""
        self.transcript.jump(step)

    def action_scroll(self, pages: int) -> None:
        """A page up or down."""
        self.transcript.turn_page(pages)

    def on_search_bar_sought(self, event: "SearchBar.Sought") -> None:
        """Other words are looked for."""
        event.stop()
        self.search_bar.show(self.transcript.search.begin(event.words))

    def on_search_bar_stepped(self, event: "SearchBar.Stepped") -> None:
        """Another hit is wanted."""
        event.stop()
        self.search_bar.show(self.transcript.search.step(1 if event.by > 0 else -1))

    def on_search_bar_closed(self, event: "SearchBar.Closed") -> None:
        """The search is over."""
        event.stop()
        self.transcript.search.begin("")
        self.composer.focus_input()

    def on_transcript_searched(self, event: "Transcript.Searched") -> None:
        """The search has gone on."""
        event.stop()
        self.search_bar.show(event.state)

    def _picture(self, blob: "Blob") -> Widget | None:
        from hermes_platform_tui.terminal.pictures import fitting

        return fitting(blob, self._config.images, self.size.width)

    # --- what the kernel says -------------------------------------------------------------------------------------

    @on(Arrived)
    def _arrived(self, event: Arrived) -> None:
        from hermes_core.types import Message

        event.stop()
        if isinstance(event.what, Message):
            self._told(event.what)
            return
        self.show(event.what)

    def show(self, event: "Event") -> None:
        """Show an event of a turn."""
        from hermes_core.types import Ended, Started, Used

        match event:
            case Started():
                self._started(event)
            case Used():
                self._used(event)
            case Ended():
                self.transcript.show(event)
                self._ended(event)
                return
        self.transcript.show(event)

    def _told(self, message: "Message") -> None:
        from hermes_core.types import Text

        text = "\n".join(part.text for part in message.parts if isinstance(part, Text))
        if text:
            self.transcript.answer(text)
        self.sync()

    def _started(self, event: "Started") -> None:
        if not self.facts.busy:
            self._began = time.monotonic()
            from hermes_platform_tui.markdown.code import warm

            warm()  # the model thinks now; what reads text and colours code is imported meanwhile
        if event.turn_id and self._sent:
            self._sent.popleft()
        model = {"model": event.model, "provider": event.provider} if event.model else {}
        self.facts_are(busy=True, queued=len(self._sent), **model)
        if event.session_id:
            self.session = event.session_id

    def _used(self, event: "Used") -> None:
        self.usage = added(self._before, event.usage)
        self.facts_are(used=event.context, window=event.window or self.facts.window, **figures(self.usage))

    def _ended(self, event: "Ended") -> None:
        seconds = time.monotonic() - self._began if self._began else 0.0
        self.usage = self._before = added(self._before, event.usage)
        self.facts_are(busy=False, seconds=seconds, queued=len(self._sent), **figures(self.usage))
        self.post_message(Rested(self, event, seconds))
        self.sync()
        # It is known for sure once the first command has made it.
        self.run_worker(self.see_wall(), group="wall", exclusive=True, exit_on_error=False)

    # --- what there is to know of it ------------------------------------------------------------------------------

    def facts_are(self, **known: Any) -> None:
        """Note facts, and say so when they are new."""
        if known.get("busy", self.facts.busy):  # the row counts on from here
            known.setdefault("seconds", time.monotonic() - self._began)
        fresh = evolve(self.facts, **known)
        if fresh != self.facts:
            self.facts = fresh
            self.post_message(Changed(self))

    def sync(self) -> None:
        """See what the kernel knows of this chat now: another session, another title, another model."""
        status = self._talks.status(self.chat)
        cwd = status.get("cwd", "")
        self.facts_are(
            model=status.get("model", "") or self.facts.model,
            provider=status.get("provider", "") or self.facts.provider,
            title=status.get("title", "") or (self.facts.title if self.session == status.get("session") else ""),
            mode=status.get("mode", "") or "ask",
            cwd=cwd,
            branch=git_branch(cwd) if cwd else "",
        )
        session = status.get("session", "")
        if session and session != self.session and not self.facts.busy:
            before, self.session = self.session, session
            if before:
                self.run_worker(self.load(), group="load", exclusive=True, exit_on_error=False)

    async def see_wall(self) -> None:
        """See what bounds the commands of this chat. Who cannot say costs no conversation."""
        with contextlib.suppress(HermesError):
            wall = await self._talks.wall(self.chat)
            self.facts_are(wall=wall.name if wall else "")

    async def start(self) -> None:
        """Open what was asked for, and show what was said in it. Raises HermesError."""
        if self.wanted:
            self.session = (await self._talks.open(self.chat, self.wanted)).id
            self.wanted = ""
        earlier = self.session and not self.facts.busy
        self.sync()
        if earlier:
            await self.load()

    async def load(self) -> None:
        """Show the session from the store; one that has no row yet is empty. What waits to be answered stays."""
        from hermes_core.types import Usage
        from hermes_platform_tui.markdown.inline import parser

        known: Session | None = None
        try:
            known = await self._ctx.sessions.get(self._ctx.owner, self.session)
            await asyncio.to_thread(parser)
            await self.transcript.load(self._ctx, known.id)
        except UnknownName:
            self.transcript.clear()
        for text in self._sent:
            self.transcript.say(text, pending=True)
        self.greeting.display = self.transcript.is_empty
        rows = await self._ctx.sessions.rows(self._ctx.owner, limit=200) if known else ()
        row = next((row for row in rows if known and row.session.id == known.id), None)
        self.usage = self._before = row.usage if row else Usage()
        self.opening = row.preview if row else ""
        self.facts_are(title=known.title if known else "", **figures(self.usage))

    async def _look(self) -> None:
        alive = self.facts.busy or self.facts.agents or self.facts.processes or self.facts.other
        if not (self.is_attached and self.session and alive):
            return
        try:
            jobs = await self._talks.jobs(self.chat)
        except HermesError:
            return
        working = [job for job in jobs if job.state != "idle"]
        agents = sum(job.kind == "agent" for job in working)
        named = [job.title.partition(":")[0] for job in working if job.kind == "other" and ":" in job.title[:25]]
        self.facts_are(agents=agents, processes=len(working) - agents - len(named), other=", ".join(named[:1]))

    def on_transcript_retry_wanted(self, event: "Transcript.RetryWanted") -> None:
        """The turn that failed is to be tried again."""
        event.stop()
        self.say("/retry")
