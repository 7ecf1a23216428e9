"""Changing one setting, in the form that its schema asks for."""

import json
import operator
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from hermes_core.types import JSON, Setting
from hermes_platform_tui.screens.dialog import Dialog, Hint, begin
from hermes_platform_tui.screens.line import Area, Line
from hermes_platform_tui.screens.rows import Row, Rows
from hermes_platform_tui.screens.shown import clean, one_line

__all__ = ["ValueDialog", "form_of", "read_line", "shown", "text_of"]

Form = Literal["switch", "choice", "line", "text", "yaml", "secret"]
Save = Callable[[str, str | None], Awaitable[str]]
_HIDDEN = "[secret]"
_REFERENCE = re.compile(r"env:\w{1,200}")  # where a secret is kept; anything else may be one
_EMPTY = "(empty)"
_LIMITS: Sequence[tuple[str, Callable[[float, float], bool], str]] = (
    ("minimum", operator.lt, "at least"),
    ("maximum", operator.gt, "at most"),
    ("exclusiveMinimum", operator.le, "more than"),
    ("exclusiveMaximum", operator.ge, "less than"),
)


def form_of(row: Setting) -> Form:
    """How it is changed."""
    kinds = _kinds(row.schema)
    if row.secret:
        return "secret"
    if kinds == ["boolean"]:
        return "switch"
    if isinstance(row.schema.get("enum"), list) or set(kinds) == {"boolean", "null"}:
        return "choice"
    if {"array", "object"} & set(kinds) or "anyOf" in row.schema or not kinds:
        return "yaml"
    return "text" if "\n" in text_of(row.value) else "line"


def _kinds(schema: Mapping[str, JSON]) -> list[str]:
    kind = schema.get("type", [])
    return [kind] if isinstance(kind, str) else [one for one in kind if isinstance(one, str)]


def text_of(value: JSON) -> str:
    """A value as a person types it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def shown(row: Setting) -> str:
    """A value as lists show it; of a secret only where it is kept."""
    if row.secret:
        kept = str(row.value or "")
        return f"kept in {kept}" if _REFERENCE.fullmatch(kept) else "set, hidden" if kept else "not set"
    if isinstance(row.value, bool):
        return "on" if row.value else "off"
    if row.value in ([], {}):
        return "(none)"
    return text_of(row.value) or _EMPTY


class ValueDialog(Dialog[None]):
    """Asks for a value and has it written by ``save``, which says what is wrong with it, or nothing."""

    AUTO_HEIGHT = True
    AUTO_FOCUS = "#value"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", show=False, priority=True),
        Binding("ctrl+r", "reset", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    ValueDialog {
        & > #box { max-width: 90; }
        & #what { height: auto; max-height: 8; margin-bottom: 1; }
        &.-short #what { max-height: 4; margin-bottom: 0; }
        & Rows { height: auto; max-height: 12; }
        & TextArea { height: 12; max-height: 1fr; }
        &.-short Input { border: none; height: 1; padding: 0; }
        &.-short TextArea { height: 1fr; border: none; padding: 0; }
    }
    """

    def __init__(self, row: Setting, save: Save) -> None:
        super().__init__()
        self._row, self._save, self._form = row, save, form_of(row)
        text = text_of(row.value)
        self._hidden = self._form == "yaml" and _HIDDEN in text
        self._unseen = self._form in ("yaml", "line", "text") and clean(text) != text

    @property
    def _fixed(self) -> bool:
        return bool(self._row.locked) or self._form == "secret" or self._hidden or self._unseen

    def body(self) -> ComposeResult:
        """What it is, then the widget."""
        yield Static(self._what(), id="what", markup=False)
        if self._fixed:
            yield Static(Content(self._why()), id="value", markup=False)
        elif self._form in ("choice", "switch"):
            yield Rows("value")
        elif self._form in ("yaml", "text"):
            text = _yaml(self._row.value) if self._form == "yaml" else text_of(self._row.value)
            yield Area(text, id="value", show_line_numbers=False)
        else:
            yield Line(text_of(self._row.value), placeholder=_EMPTY, id="value", select_on_focus=False)

    def _what(self) -> Content:
        row = self._row
        kind = "YAML" if self._form == "yaml" else row.type
        facts = [f"{kind}; default {one_line(text_of(row.default), 200) or _EMPTY}"] if self._form != "secret" else []
        examples = row.schema.get("examples")
        if isinstance(examples, list) and examples and self._form != "secret":
            facts.append(f"for example {one_line(text_of(examples[0]), 200)}")
        return Content.assemble(clean(row.help), *(f"\n{fact}" for fact in map(clean, facts)))

    def _why(self) -> str:
        if self._row.locked:
            return f"It is {one_line(shown(self._row), 200)}, and locked by {self._row.locked}: it cannot be changed."
        if self._form == "secret":
            return (
                f"Now: {one_line(shown(self._row), 200)}. Its value is never shown.\n\n"
                "Keep a secret in .env beside config.yaml, from a shell:\n"
                "  hermes config set SOME_API_KEY …\n"
                "and refer to it here:\n"
                f"  hermes config set {one_line(self._row.key)} env:SOME_API_KEY"
            )
        if self._unseen:
            return "It holds characters that cannot be shown here.\nChange it with:\n  hermes config edit"
        return (
            "It holds a secret, which is not shown here; saving would lose it.\nChange it with:\n  hermes config edit"
        )

    def on_mount(self) -> None:
        """The value in force is the current one."""
        self.set_title(self._row.key, "changed" if self._row.written and not self._fixed else "")
        reset = [Hint("^R", "default", "reset")] if self._row.written and not self._row.locked else []
        if self._fixed:
            self.hint([Hint("Esc", "close", "cancel"), *reset])
            return
        key = "^S" if self._form in ("yaml", "text") else "Enter"
        self.hint([Hint(key, "save", "save"), Hint("Esc", "leave it", "cancel"), *reset])
        if self._form in ("choice", "switch"):
            rows = self.query_one(Rows)
            rows.show([self._choice(value) for value in self._values()], at=json.dumps(self._row.value))

    def _values(self) -> Sequence[JSON]:
        choices = self._row.schema.get("enum")
        if isinstance(choices, list):
            return choices
        return [True, False, None] if "null" in _kinds(self._row.schema) else [True, False]

    def _choice(self, value: JSON) -> Row:
        text = {True: "on", False: "off"}.get(value) if isinstance(value, bool) else one_line(text_of(value), 200)
        marks = [mark for mark, other in (("now", self._row.value), ("default", self._row.default)) if other == value]
        return Row(json.dumps(value), partial(_draw, text or _EMPTY, ", ".join(marks)))

    def _typed(self) -> tuple[str, str]:
        """What to write, and what is wrong with it as far as the schema tells."""
        if self._form in ("choice", "switch"):
            current = self.query_one(Rows).current
            value = json.loads(current.id) if current else None
            return ("null" if value is None else text_of(value)), ""
        if self._form == "yaml":
            return _read_yaml(self.query_one(TextArea).text)
        if self._form == "text":
            return json.dumps(self.query_one(TextArea).text, ensure_ascii=False), ""
        text = self.query_one(Input).value
        return read_line(text, self._row.schema)

    def action_save(self) -> None:
        """Write what is there, and close when it is allowed."""
        if self._fixed:
            return
        text, wrong = self._typed()
        if wrong:
            self.notice(wrong, error=True)
        else:
            begin(self, "save", partial(self._do, text))

    def action_reset(self) -> None:
        """Take it back to its default."""
        if self._row.written and not self._row.locked:
            begin(self, "save", partial(self._do, None))

    async def _do(self, text: str | None) -> None:
        wrong = await self._save(self._row.key, text)
        if wrong:
            self.notice(wrong, error=True)
        else:
            self.finish(None)

    @on(Input.Submitted)
    @on(Rows.Chosen)
    def _submitted(self) -> None:
        self.action_save()


def _draw(text: str, mark: str, width: int) -> Content:
    return Content.assemble(text, "  ", (f"({mark})" if mark else "", "$text-muted"))


def _yaml(value: JSON) -> str:
    import yaml

    return clean(yaml.safe_dump(value, allow_unicode=True, sort_keys=False)) if value else ""


def _read_yaml(text: str) -> tuple[str, str]:
    import yaml

    try:
        return json.dumps(yaml.safe_load(text), ensure_ascii=False), ""
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        return "", f"{where}{getattr(error, 'problem', None) or 'this is not YAML'}"
    except (TypeError, ValueError) as error:  # a date, or a key that is no text
        return "", f"Only text, numbers, lists and mappings can be kept: {error}"


def read_line(text: str, schema: Mapping[str, JSON]) -> tuple[str, str]:
    """What a line means as text that a setting reads, and what is wrong with it."""
    kinds = _kinds(schema)
    if "string" in kinds:
        return text, ""
    typed = text.strip()
    if not typed:
        return ("null", "") if "null" in kinds else ("", "A number is needed here.")
    try:
        number = float(typed)
    except ValueError:
        return "", f"{typed[:40]!r} is not a number."
    if kinds[0] == "integer" and not number.is_integer():
        return "", "A whole number is needed here."
    return typed, _beyond(number, schema)


def _beyond(number: float, schema: Mapping[str, JSON]) -> str:
    for name, beyond, words in _LIMITS:
        limit = schema.get(name)
        if isinstance(limit, int | float) and beyond(number, limit):
            return f"It must be {words} {limit}."
    return ""
