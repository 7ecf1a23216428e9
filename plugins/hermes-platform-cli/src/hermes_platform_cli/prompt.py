"""The input line. Imports prompt_toolkit: only when the first prompt is due."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.styles import Style

from hermes_core.types import Choice, SlashCommand
from hermes_platform_cli.config import LEAVING, Config
from hermes_platform_cli.history import LineHistory
from hermes_platform_cli.pastes import Pastes
from hermes_platform_kit.clean import clean

__all__ = ["Prompt", "Withdrawn"]

Complete = Callable[[str], Awaitable[Sequence[Choice]]]
AGAIN = 2.0  # seconds in which a second Ctrl+C leaves
_MENU_ROWS = 8

_STYLE = Style.from_dict(
    {
        "prompt": "bold ansicyan",
        "hint": "ansibrightblack",
        "rprompt": "ansibrightblack",
        "completion-menu": "noreverse bg:default",
        "completion-menu.completion": "noreverse bg:default",
        "completion-menu.completion.current": "bold reverse",
        "completion-menu.meta.completion": "bg:default ansibrightblack",
        "completion-menu.meta.completion.current": "bg:default noreverse",
        "scrollbar.background": "bg:default",
        "scrollbar.button": "bg:default",
    }
)


class Withdrawn(Exception):
    """The prompt was taken away because something has to be shown; ``text`` is what was typed so far."""

    def __init__(self, text: str) -> None:
        super().__init__("withdrawn")
        self.text = text


class _Commands(Completer):
    """Names of commands at once; what may follow them, which the kernel looks up, when it is asked for."""

    def __init__(self, commands: Callable[[], Sequence[SlashCommand]], complete: Complete | None) -> None:
        self._commands, self._complete = commands, complete

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        word = document.text_before_cursor
        if not word.startswith("/") or any(c.isspace() for c in word):
            return
        known = {f"/{command.name.lstrip('/')}": command.summary for command in self._commands()}
        for name, summary in sorted({**LEAVING, **known}.items()):
            if name.startswith(word):
                yield Completion(name, start_position=-len(word), display_meta=clean(summary))

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        names = list(self.get_completions(document, complete_event))
        for one in names:
            yield one
        if names or self._complete is None or not complete_event.completion_requested:
            return
        for choice in await self._complete(document.text_before_cursor):
            text = clean(choice.text)
            yield Completion(text, start_position=-choice.replaces, display_meta=clean(choice.summary))


class Prompt:
    """Asks for one message at a time: history, several lines, completion, pastes, editor."""

    def __init__(
        self,
        config: Config,
        history: Path | None,
        *,
        commands: Callable[[], Sequence[SlashCommand]],
        status: Callable[[int], str],
        trouble: Callable[[str], None],
        complete: Complete | None = None,
        stop: Callable[[], Awaitable[bool]] | None = None,
        source: Input | None = None,
        sink: Output | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._config = config
        self._status = status
        self._clock = clock
        self._pastes = Pastes(config.paste_lines, config.paste_characters)
        self._hinted = float("-inf")
        self._stop, self._stopping = stop, set[asyncio.Future[None]]()
        self._session: PromptSession[str] = PromptSession(
            message=[("class:prompt", f"{config.prompt} ")],
            multiline=True,
            prompt_continuation=self._continuation,
            history=LineHistory(history, self._pastes.expand, trouble),
            completer=_Commands(commands, complete),
            complete_while_typing=Condition(self._at_command),
            enable_open_in_editor=True,
            enable_suspend=True,
            tempfile_suffix=".md",
            key_bindings=self._keys(),
            rprompt=self._beside,
            style=_STYLE,
            color_depth=ColorDepth.DEPTH_4_BIT,
            reserve_space_for_menu=_MENU_ROWS,
            input=source,
            output=sink,
        )

    @property
    def open(self) -> bool:
        """Whether it is on the screen now."""
        return self._session.app.is_running

    def text(self) -> str:
        """What is typed so far."""
        return self._session.default_buffer.text

    def entries(self) -> Sequence[str]:
        """What was typed before, oldest first, as far as it is read."""
        return self._session.history.get_strings()

    async def ask(self, typed: str = "") -> str:
        """One message. Raises EOFError when the person leaves and Withdrawn when it was taken away."""
        self._hinted = float("-inf")
        self._session.app.erase_when_done = False
        text = await self._session.prompt_async(default=typed, handle_sigint=False, set_exception_handler=False)
        return self._pastes.expand(text)

    def withdraw(self) -> None:
        """Take the prompt away for now."""
        if self.open and not self._session.app.is_done:
            self._session.app.erase_when_done = True
            self._session.app.exit(exception=Withdrawn(self._session.default_buffer.text))

    def leave(self) -> None:
        """End the prompt as if the person had left."""
        if self.open and not self._session.app.is_done:
            self._session.app.exit(exception=EOFError())

    def interrupt(self) -> None:
        """Ctrl+C, from the keyboard or as a signal: clear the line, or say how to leave, or leave."""
        app, buffer = self._session.app, self._session.default_buffer
        if buffer.text:
            buffer.reset()
            self._hinted = float("-inf")
        elif self._clock() - self._hinted <= AGAIN:
            self.leave()
            return
        else:
            self._hinted = self._clock()
            self._stopping = {asyncio.ensure_future(self._stopped())}
        app.invalidate()

    async def _stopped(self) -> None:
        """What goes on beside the prompt is stopped, and then nobody wanted to leave."""
        if self._stop is not None and await self._stop():
            self._hinted = float("-inf")
            self._session.app.invalidate()

    async def above(self, show: Callable[[], None]) -> None:
        """Print something above the open prompt."""
        from prompt_toolkit.application import run_in_terminal
        from prompt_toolkit.application.current import set_app

        with set_app(self._session.app):
            await run_in_terminal(show)

    def _at_command(self) -> bool:
        return self._session.default_buffer.text.startswith("/")

    def _beside(self) -> StyleAndTextTuples:
        """What stands at the right of the line while it is empty or short; it does not stay when the line is sent."""
        if self._session.app.is_done:
            return []
        if self._hinted > float("-inf") and not self._session.default_buffer.text:
            return [("class:rprompt", "Ctrl+C again or Ctrl+D leaves")]
        return [("class:rprompt", self._status(self._session.app.output.get_size().columns // 2))]

    def _continuation(self, width: int, line: int, wrapped: int) -> StyleAndTextTuples:
        return [("class:hint", "· ".rjust(width) if not wrapped else " " * width)]

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        pastes = self._pastes

        @Condition
        def at_mark() -> bool:
            return pastes.mark_before(self._session.default_buffer.document.text_before_cursor) > 0

        @keys.add("enter")
        def _send(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.text.strip():
                buffer.validate_and_handle()
            else:
                buffer.reset()

        @keys.add("escape", "enter")
        @keys.add("c-j")
        def _newline(event: KeyPressEvent) -> None:
            event.current_buffer.newline(copy_margin=False)

        @keys.add("c-c")
        def _interrupt(event: KeyPressEvent) -> None:
            self.interrupt()

        @keys.add("tab")
        def _complete(event: KeyPressEvent) -> None:
            _accept(event.current_buffer)

        @keys.add(Keys.BracketedPaste)
        def _paste(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text(pastes.take(event.data))

        @keys.add("backspace", filter=at_mark)
        def _drop_paste(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            buffer.delete_before_cursor(pastes.mark_before(buffer.document.text_before_cursor))

        @keys.add("c-g")
        @keys.add("c-x", "c-e")
        def _edit(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            buffer.text = pastes.expand(buffer.text)
            buffer.open_in_editor()

        return keys


def _accept(buffer: Buffer) -> None:
    """Take the completion that is chosen, or the only one, or walk through them."""
    state = buffer.complete_state
    if state is None:
        fitting = list(buffer.completer.get_completions(buffer.document, CompleteEvent(completion_requested=True)))
        if len(fitting) == 1:
            buffer.apply_completion(fitting[0])
        else:
            buffer.start_completion(insert_common_part=True)
    elif state.current_completion is not None and len(state.completions) > 1:
        buffer.complete_next()
    elif state.completions:
        buffer.apply_completion(state.current_completion or state.completions[0])
