"""Which model answers: what each provider offers now, and what it costs."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Feature, ModelRow, Price, ProviderRow
from hermes_core.values import frozen
from hermes_platform_tui.screens.dialog import Hint, begin
from hermes_platform_tui.screens.picker import Picker, matches
from hermes_platform_tui.screens.rows import Row, Rows, columns, heading
from hermes_platform_tui.screens.shown import fault, one_line, tokens

__all__ = ["ModelChoice", "ModelPicker", "Scope"]

Scope = Literal["session", "global"]
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_KINDS = {"hosted": "hosted", "local": "on this machine", "rules": "rules, no model"}


@frozen
class ModelChoice:
    """``provider:model``, for this conversation or from now on."""

    model: str
    scope: Scope


class ModelPicker(Picker[ModelChoice | None]):
    """Ends with a ModelChoice or None. ``current`` is ``provider:model``; ``scopes`` are those that may be chosen."""

    TITLE_TEXT = "Models"
    PLACEHOLDER = "Type to find a model or provider"
    DEFAULT_CSS = """
    ModelPicker {
        & #about { height: 1; display: none; color: $text-muted; }
        &.-narrow #about { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "always", show=False, priority=True),
        Binding("f5", "again", show=False),
    ]

    def __init__(
        self, ctx: PluginContext, current: str = "", *, scopes: Sequence[Scope] = ("session", "global")
    ) -> None:
        super().__init__()
        self._ctx, self._current, self._scopes = ctx, current, tuple(scopes)
        self._providers: Sequence[ProviderRow] = ()
        self._answers: dict[str, Sequence[ModelRow] | str | None] = {}  # models, what went wrong, or None: asked
        self._frame = 0
        self._moved = False
        self._spin: Timer | None = None

    def body(self) -> ComposeResult:
        """The list; below it, where it has no room for that, what the current one costs."""
        yield from super().body()
        yield Static("", id="about", markup=False)

    def on_mount(self) -> None:
        """Ask who there is."""
        self._hints()
        self.say_empty("Asking which providers there are …")
        self._spin = self.set_interval(0.1, self._turn_spinner, pause=True)
        begin(self, "providers", self._ask_providers)

    def on_key(self, event: events.Key) -> None:
        """From now on the cursor stays where the person puts it."""
        self._moved = True
        super().on_key(event)

    def on_click(self) -> None:
        """The same."""
        self._moved = True

    def _hints(self) -> None:
        both = len(self._scopes) > 1
        first = "use here" if self._scopes[0] == "session" else "use from now on"
        hints = [Hint("Enter", first, "choose"), Hint("Esc", "close", "cancel")]
        hints += [Hint("^S", "use from now on", "always")] if both else []
        self.hint([*hints, Hint("F5", "ask again", "again")])

    async def _ask_providers(self) -> None:
        try:
            found = await self._ctx.models.providers()
        except HermesError as error:
            self.notice(fault(error), error=True)
            self.say_empty("The providers could not be asked.")
            return
        first = self._current.partition(":")[0]
        rank = {"hosted": 0, "local": 0, "rules": 1}
        self._providers = sorted(found, key=lambda row: (not row.ready, row.name != first, rank[row.kind]))
        self.say_empty(self.EMPTY if found else "No provider is installed. hermes setup installs one.")
        for row in self._providers:
            if row.ready:
                self._ask(row.name)
        self.narrow()

    def _ask(self, provider: str) -> None:
        self._answers[provider] = None
        if self._spin:
            self._spin.resume()
        begin(self, f"models {provider}", partial(self._ask_models, provider))

    async def _ask_models(self, provider: str) -> None:
        try:
            self._answers[provider] = await self._ctx.models.list(provider)
        except HermesError as error:
            self._answers[provider] = fault(error) or "It did not say why."
        self.narrow()

    def _turn_spinner(self) -> None:
        self._frame += 1
        if None not in self._answers.values() and self._spin:
            self._spin.pause()
        self.rows.refresh()

    def narrow(self) -> None:
        """The providers that have something that fits, each with it."""
        rows: list[Row] = []
        for provider in self._providers:
            found = self._of(provider)
            if found or not self.words or matches(self.words, provider.name):
                rows += [heading(" ", f"gap {provider.name}")] if rows else []
                rows += [Row(f"provider {provider.name}", partial(self._draw_head, provider), choosable=False), *found]
        self.rows.show(rows, at=None if self._moved else self._current)

    def _of(self, provider: ProviderRow) -> list[Row]:
        answer, name = self._answers.get(provider.name), provider.name
        if isinstance(answer, str):
            fits = not self.words or matches(self.words, name)
            return [_line(f"again {name}", f"! {one_line(answer)}", "$text-error")] if fits else []
        if provider.name not in self._answers:
            fits = not self.words or matches(self.words, name)
            return [_line(f"ask {name}", "Not set up. Enter asks it all the same.", "$text-muted")] if fits else []
        fitting = [row for row in answer or () if not self.words or matches(self.words, name, row.model.name)]
        rows = [Row(f"{name}:{row.model.name}", partial(self._draw, row)) for row in fitting]
        if not rows and answer is not None and not self.words:
            rows = [_line(f"again {name}", "It offers no model. Enter asks again.", "$text-muted")]
        return rows

    def _draw_head(self, provider: ProviderRow, width: int) -> Content:
        said = _KINDS[provider.kind] if provider.ready else "not set up"
        if self._answers.get(provider.name, ()) is None:
            said = f"{_SPINNER[self._frame % len(_SPINNER)]} asking"
        name = Content.assemble((one_line(provider.name, 60), "bold"), "  ", (said, "$text-muted"))
        if not isinstance(self._answers.get(provider.name), (list, tuple)):
            return name
        return columns(
            width, (name, 0), (_muted("context"), -8), (_muted("$ in / out per M"), -18), (_muted("can"), 24)
        )

    def _draw(self, row: ModelRow, width: int) -> Content:
        name = one_line(row.model.name, 120)
        if f"{row.provider}:{row.model.name}" == self._current:
            name = f"{name}  • in use"
        window = tokens(row.model.context) if row.model.context else "unknown"
        return columns(width, (name, 0), (window, -8), (price(row.price), -18), (_features(row.model.features), 24))

    @on(Rows.Moved)
    def _tell(self) -> None:
        current = self.rows.current.id if self.rows.current else ""
        found = [row for answer in self._answers.values() if isinstance(answer, Sequence) for row in answer]
        said = ""
        for row in found:
            if not isinstance(row, str) and f"{row.provider}:{row.model.name}" == current:
                said = f"$ {price(row.price)} per M · {_features(row.model.features)}"
        self.query_one("#about", Static).update(Content(said))

    @on(Rows.Chosen)
    def action_choose(self) -> None:
        """Take it, as Enter does."""
        self._take(self._scopes[0])

    def action_always(self) -> None:
        """Take it from now on."""
        if "global" in self._scopes:
            self._take("global")

    def action_again(self) -> None:
        """Ask all again."""
        self._answers.clear()
        begin(self, "providers", self._ask_providers)

    def _take(self, scope: Scope) -> None:
        if self.rows.current is None:
            return
        what, _, name = self.rows.current.id.partition(" ")
        if what in ("again", "ask"):
            self._ask(name)
            self.narrow()
        else:
            self.finish(ModelChoice(self.rows.current.id, scope))


def price(known: Price | None) -> str:
    """What a million tokens in and out cost."""
    if known is None:
        return "unknown"
    if not known.input and not known.output:
        return "free"
    return f"{_amount(known.input)} / {_amount(known.output)}"


def _amount(dollars: float) -> str:
    return f"{dollars:.2f}" if dollars >= 0.01 or not dollars else f"{dollars:.2g}"


def _features(features: frozenset[Feature]) -> str:
    return ", ".join(sorted(feature.value for feature in features))


def _muted(text: str) -> Content:
    return Content.styled(text, "$text-muted")


def _line(ident: str, text: str, style: str) -> Row:
    return Row(ident, lambda width: Content.styled(text, style))
