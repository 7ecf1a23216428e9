"""Answering a question on the terminal: one key, or a line. Imports prompt_toolkit: only when something is asked."""

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import FormattedTextControl, Layout, Window
from prompt_toolkit.output import Output, create_output

from hermes_core.types import Question
from hermes_platform_kit.asking import Instead, choice_of, keys_of

__all__ = ["answer"]


async def answer(question: Question, source: Input | None, sink: Output | None) -> str | None:
    """The picked choice or the typed text, or Instead; None when the person says no with Ctrl+C or Ctrl+D.

    What was typed before the question appeared is no answer to it: it is kept for the next prompt.
    """
    source, sink = source or create_input(), sink or create_output()
    early = get_typeahead(source)
    try:
        if question.kind == "text":
            return await _line(source, sink)
        if len(question.choices) <= 9:
            picked = await _key(question, source, sink)
            if not isinstance(picked, Instead):
                return picked
            return None if (words := await _line(source, sink, "  instead ❯ ")) is None else Instead(words)
        while (typed := await _line(source, sink)) is not None:
            if choice := choice_of(question, typed):
                return choice
        return None
    finally:
        store_typeahead(source, early)


async def _key(question: Question, source: Input, sink: Output) -> str | None:
    keys, bindings = dict(keys_of(question)), KeyBindings()
    if question.kind == "approval":
        keys.setdefault("i", Instead())

    @bindings.add(Keys.Any)
    def _pressed(event: KeyPressEvent) -> None:
        choice = keys.get(event.data.casefold())
        if choice is not None:
            event.app.exit(result=choice)

    @bindings.add("c-c")
    @bindings.add("c-d")
    def _refused(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    hint = "A key chooses; Ctrl+C refuses. " if question.kind == "approval" else "A number chooses; Ctrl+C skips. "
    app: Application[str | None] = Application(
        layout=Layout(Window(FormattedTextControl(FormattedText([("ansibrightblack", hint)])), height=1)),
        key_bindings=bindings,
        erase_when_done=True,
        input=source,
        output=sink,
    )
    return await app.run_async(handle_sigint=False, set_exception_handler=False)


async def _line(source: Input, sink: Output, head: str = "  ❯ ") -> str | None:
    session: PromptSession[str] = PromptSession(message=FormattedText([("bold", head)]), input=source, output=sink)
    try:
        while not (text := (await session.prompt_async(handle_sigint=False, set_exception_handler=False)).strip()):
            pass
    except (KeyboardInterrupt, EOFError):
        return None
    return text
