"""Setting something up: the steps that plugins have, and one of them with its fields, its login and its test."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError, UserError
from hermes_core.kinds import LoginPrompt, SetupField, SetupStep
from hermes_core.records import Record
from hermes_core.types import JSON, Setting
from hermes_platform_tui.screens.dialog import Dialog, Hint, begin
from hermes_platform_tui.screens.line import Line
from hermes_platform_tui.screens.picker import Picker, matches
from hermes_platform_tui.screens.prompt import PromptDialog
from hermes_platform_tui.screens.rows import Row, Rows, columns
from hermes_platform_tui.screens.shown import clean, fault, one_line
from hermes_platform_tui.screens.value import read_line, text_of

__all__ = ["SetupDialog", "SetupPicker"]


class SetupPicker(Picker[str]):
    """What can be set up, as the manifests tell it. Ends with the name of the step that was chosen."""

    TITLE_TEXT = "Set up"
    PLACEHOLDER = "Type to find a service"
    HINTS: ClassVar[Sequence[Hint]] = (Hint("Enter", "set up", "choose"), Hint("Esc", "close", "cancel"))

    def __init__(self, ctx: PluginContext) -> None:
        super().__init__()
        self._records = sorted(ctx.plugins.records("setup"), key=lambda one: one.words)

    def on_mount(self) -> None:
        """Show them: no plugin is imported for it."""
        self.say_empty(self.EMPTY if self._records else "No plugin that is enabled has anything to set up.")
        self.narrow()

    def narrow(self) -> None:
        """Those that fit."""
        fitting = (one for one in self._records if matches(self.words, one.words, one.summary))
        self.rows.show([Row(one.words, partial(_draw, one)) for one in fitting])

    @on(Rows.Chosen, "#rows")
    def action_choose(self) -> None:
        """Take the current one."""
        if self.rows.current:
            self.finish(self.rows.current.id)


def _draw(record: Record, width: int) -> Content:
    return columns(width, (one_line(record.words, 30), 22), (one_line(record.summary, 200), 0), least=10)


class SetupDialog(Dialog[bool]):
    """The fields of one step. Nothing is written before ^S, and only what could be written is tested."""

    AUTO_HEIGHT = True
    FLEXIBLE = "#fields"
    AUTO_FOCUS = "Line"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", show=False, priority=True),
        Binding("ctrl+t", "test", show=False, priority=True),
        Binding("ctrl+l", "login", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    SetupDialog {
        & > #box { max-width: 90; }
        & #what { height: auto; max-height: 6; margin-bottom: 1; }
        &.-short #what { max-height: 2; margin-bottom: 0; }
        & #fields { height: auto; }
        & .asked { height: auto; color: $text-muted; }
        &.-short Input { border: none; height: 1; padding: 0; }
    }
    """

    def __init__(self, ctx: PluginContext, step: SetupStep) -> None:
        super().__init__()
        self._ctx, self._step = ctx, step
        self._known: Mapping[str, Setting] = {}
        self._kept: set[str] = set()  # the names of fields that are set

    def body(self) -> ComposeResult:
        """What it is, then a line for each field."""
        yield Static(Content(clean(self._step.summary)), id="what", markup=False)
        with VerticalScroll(id="fields", can_focus=False):
            for one in self._step.fields:
                yield Static(_asked(one), classes="asked", markup=False)
                yield Line(password=one.secret, id=f"field-{one.name}", select_on_focus=False)

    def on_mount(self) -> None:
        """Show what is set; a secret only as one that is there."""
        self.set_title(f"Set up {self._step.name}")
        login = [Hint("^L", "log in", "login")] if self._step.login_label else []
        self.hint([Hint("Esc", "leave it", "cancel"), Hint("^S", "write", "save"), Hint("^T", "test", "test"), *login])
        begin(self, "read", self._read)

    async def _read(self) -> None:
        settings = self._ctx.settings
        try:
            self._known = {row.key: row for row in await settings.list()}
            for one in self._step.fields:
                now = "" if one.secret else text_of(self._known[one.key].value) if one.key in self._known else ""
                if one.secret and await settings.has_secret(one.key):
                    self._line(one).placeholder = "it is set; empty keeps it"
                elif not now:
                    self._line(one).value = self._line(one).value or one_line(one.default, 4000)
                    continue
                self._kept.add(one.name)
                self._line(one).value = self._line(one).value or one_line(now, 4000)
        except HermesError as error:
            self.notice(fault(error), error=True)

    def _line(self, one: SetupField) -> Line:
        return self.query_one(f"#field-{one.name}", Line)

    # what was typed

    def _typed(self) -> tuple[dict[str, str], dict[str, JSON], dict[str, str]]:
        """By the names of fields, and as settings and secrets. Raises UserError for what cannot be."""
        said = {one.name: self._line(one).value.strip() for one in self._step.fields}
        settings: dict[str, JSON] = {}
        secrets: dict[str, str] = {}
        for one in self._step.fields:
            value = said[one.name]
            if not value and one.required and one.name not in self._kept:
                raise UserError(f"{one.prompt}: this is needed.")
            if not value:
                continue
            row = self._known.get(one.key)
            text, wrong = read_line(value, row.schema) if row and not one.secret else (value, "")
            if wrong := wrong or _wrong(one, value):
                raise UserError(f"{one.prompt}: {wrong}")
            if one.secret:
                secrets[one.key] = value
            elif value != (text_of(row.value) if row else ""):
                settings[one.key] = json.loads(text) if row and _is_number(row) else value
        return {name: value for name, value in said.items() if value}, settings, secrets

    # what can be done

    def action_test(self) -> None:
        """Find out whether it works."""
        self.notice("Asking …")
        begin(self, "do", partial(self._do, self._test))

    def action_save(self) -> None:
        """Write it, and close."""
        begin(self, "do", partial(self._do, self._write))

    def action_login(self) -> None:
        """Log in: what comes of it stands in the fields."""
        if self._step.login_label:
            begin(self, "do", partial(self._do, self._login))

    @on(Input.Submitted)
    def _next(self) -> None:
        self.focus_next("Line")

    async def _do(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except HermesError as error:
            self.notice(self._hidden(fault(error)), error=True)

    async def _test(self) -> None:
        values, settings, secrets = self._typed()
        async with self._ctx.settings.trial(settings, secrets):
            pass  # what cannot be written is not tried
        found = await self._ctx.settings.test(self._step.name, values)
        self.notice(self._hidden(found) or f"{self._step.name} works.")

    async def _write(self) -> None:
        _, settings, secrets = self._typed()
        if settings or secrets:
            await self._ctx.settings.change(settings, secrets)
        self.finish(bool(settings or secrets))

    async def _login(self) -> None:
        try:
            values = await self._step.login(self._show)
        except HermesError:
            raise
        except Exception as error:  # a plugin's: nothing came of it, and nothing is written
            raise UserError(f"The login of {self._step.name} failed: {type(error).__name__}: {error}") from error
        for one in self._step.fields:
            if one.name in values:
                self._line(one).value = one_line(values[one.name], 4000)
        self.notice("You are logged in. ^S writes it.")

    async def _show(self, prompt: LoginPrompt) -> str:
        """Show a step of a login, and take what the person brings back. Raises UserError when they leave."""
        parts = (("Open", prompt.url), ("Code", prompt.code), ("Scan as a QR code", prompt.scan))
        text = "\n".join([prompt.text, *(f"{label}: {part}" for label, part in parts if part)])
        if not prompt.paste:
            self.notice(text)
            return ""
        typed = await self.app.push_screen_wait(PromptDialog("Log in", text=text, placeholder="Paste it here"))
        if typed is None:
            raise UserError("Left: nothing was changed.")
        return typed.strip()

    def _hidden(self, text: str) -> str:
        """A text without the secrets that were typed."""
        for one in self._step.fields:
            if one.secret and (value := self._line(one).value.strip()):
                text = text.replace(value, "…")
        return text


def _asked(one: SetupField) -> Content:
    more = [f"({', '.join(one.choices)})"] if one.choices else []
    return Content(clean(" ".join([one.prompt, *more, *([] if one.required else ["(may stay empty)"])])))


def _is_number(row: Setting) -> bool:
    return row.schema.get("type") in ("integer", "number", "boolean")


def _wrong(one: SetupField, value: str) -> str:
    """What is wrong with an answer; empty when nothing is."""
    if one.choices and value not in one.choices:
        return f"one of: {', '.join(one.choices)}."
    try:
        return one.check(value) if one.check else ""
    except Exception as error:  # noqa: BLE001 - a plugin's; what nobody could check is not written
        return f"it cannot be checked: {type(error).__name__}. Tell the author of the plugin."
