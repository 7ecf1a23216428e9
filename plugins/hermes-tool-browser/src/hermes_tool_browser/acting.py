"""The tools that act on a page as a person does. What each call sends is said in ``effects``."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import option, settings
from hermes_core.types import Effect
from hermes_tool_browser.browsing import Browsing
from hermes_tool_browser.calls import alone, located, shown, working
from hermes_tool_browser.effects import still_there
from hermes_tool_browser.tab import Tab

__all__ = ["acting", "after"]

_VALUE = 20_000  # characters of what an expression gives
_BOUNDED = """value => {
  let text;
  try { text = typeof value === 'string' ? value : JSON.stringify(value); } catch (error) { text = String(value); }
  return String(text === undefined ? value : text).slice(0, 20001);
}"""
_COPIES = re.compile(r"(?i)(?:Control|Meta|ControlOrMeta|Cmd).*\+|Insert|Cut|Copy|Shift\+Delete")
Doing = Callable[[], Awaitable[Any]]
_SENDS = frozenset({Effect.NETWORK, Effect.SEND})


@settings
class Click:
    """What the model gives."""

    ref: str = option("")
    double: bool = option("", default=False)
    right: bool = option("", default=False)


@settings
class Type:
    """What the model gives."""

    ref: str = option("")
    text: str = option("replaces what is there")
    submit: bool = option("press Enter then", default=False)


@settings
class Select:
    """What the model gives."""

    ref: str = option("")
    values: list[str] = option("of the options, or their labels")


@settings
class Press:
    """What the model gives."""

    key: str = option("such as Enter, Escape, ArrowDown, Control+a")
    ref: str = option("", default="")


@settings
class Hover:
    """What the model gives."""

    ref: str = option("")


@settings
class Drag:
    """What the model gives."""

    ref: str = option("")
    to: str = option("ref")


@settings
class Answer:
    """What the model gives."""

    action: Literal["accept", "dismiss"] = option("")
    prompt_text: str = option("", default="")


@settings
class Evaluate:
    """What the model gives."""

    expression: str = option("JavaScript")


def acting(ctx: PluginContext) -> Sequence[Tool]:
    """All of them."""
    return [*_pointing(ctx), *_typing(ctx), *_speaking(ctx)]


def _pointing(ctx: PluginContext) -> Sequence[Tool]:
    @tool(toolset="browser", effects=_SENDS, untrusted=True, touches=alone, seconds=120.0)
    async def browser_click(context: ToolContext, given: Click) -> str:
        """Click an element."""
        button: Literal["left", "right"] = "right" if given.right else "left"

        def what(tab: Tab) -> Doing:
            element = located(tab, given.ref)
            return lambda: (element.dblclick if given.double else element.click)(button=button)

        return await _done(ctx, context, what, given.ref)

    @tool(toolset="browser", untrusted=True, touches=alone, seconds=120.0)
    async def browser_hover(context: ToolContext, given: Hover) -> str:
        """Point at an element."""
        return await _done(ctx, context, lambda tab: located(tab, given.ref).hover, judged=False)

    @tool(toolset="browser", effects=_SENDS, untrusted=True, touches=alone, seconds=120.0)
    async def browser_drag(context: ToolContext, given: Drag) -> str:
        """Drag an element to another one."""

        def what(tab: Tab) -> Doing:
            one, other = located(tab, given.ref), located(tab, given.to)
            return lambda: one.drag_to(other)

        return await _done(ctx, context, what, given.ref, no="Not dragged")

    return [browser_click, browser_hover, browser_drag]


def _typing(ctx: PluginContext) -> Sequence[Tool]:
    @tool(toolset="browser", effects=_SENDS, untrusted=True, touches=alone, seconds=120.0)
    async def browser_type(context: ToolContext, given: Type) -> str:
        """Type into a field."""
        if "{{vault:" in given.text:
            raise ToolError("Not typed: a handle of the vault is for vault_fill.", hint="Or the person types it in.")

        def what(tab: Tab) -> Doing:
            element = located(tab, given.ref)

            async def fill() -> None:
                await element.fill(given.text)
                if given.submit:
                    await element.press("Enter")

            return fill

        return await _done(ctx, context, what, given.ref)

    @tool(toolset="browser", effects=_SENDS, untrusted=True, touches=alone, seconds=120.0)
    async def browser_select(context: ToolContext, given: Select) -> str:
        """Choose options of a list."""

        def what(tab: Tab) -> Doing:
            element = located(tab, given.ref)
            return lambda: element.select_option(list(given.values))

        return await _done(ctx, context, what, given.ref)

    @tool(toolset="browser", effects=_SENDS, untrusted=True, touches=alone, seconds=120.0)
    async def browser_press(context: ToolContext, given: Press) -> str:
        """Press a key, on an element or on the page."""

        def what(tab: Tab) -> Doing:
            if given.ref:
                element = located(tab, given.ref)
                return lambda: element.press(given.key)
            return lambda: tab.page.keyboard.press(given.key)

        return await _done(ctx, context, what, given.ref, no="Not pressed" if _COPIES.search(given.key) else "")

    return [browser_type, browser_select, browser_press]


def _speaking(ctx: PluginContext) -> Sequence[Tool]:
    @tool(toolset="browser", effects=_SENDS, untrusted=True, touches=alone, seconds=120.0)
    async def browser_dialog(context: ToolContext, given: Answer) -> str:
        """Answer a dialog of the page."""
        async with working(ctx, context) as (browsing, tab):
            still_there(ctx, context.call_id, tab)
            before = tab.snapshot
            await browsing.answer(tab, accept=given.action == "accept", text=given.prompt_text)
            return await shown(browsing, tab, after(browsing, tab, before))

    @tool(toolset="browser", effects=_SENDS, untrusted=True, touches=alone, seconds=120.0)
    async def browser_evaluate(context: ToolContext, given: Evaluate) -> str:
        """Run JavaScript in the page; gives its value."""
        values: list[str] = []
        async with working(ctx, context) as (browsing, tab):
            still_there(ctx, context.call_id, tab)
            browsing.kept.script(tab.page.url)

            async def evaluate() -> None:
                handle = await tab.page.evaluate_handle(given.expression)
                values.append(str(await handle.evaluate(_BOUNDED)))
                await handle.dispose()

            await browsing.act(tab, evaluate)
            value = values[0] if values else ""
            cut = f"\n(It is longer than {_VALUE:,} characters.)" if len(value) > _VALUE else ""
            return "\n".join([value[:_VALUE] + cut, *browsing.news()])

    return [browser_dialog, browser_evaluate]


async def _done(
    ctx: PluginContext,
    context: ToolContext,
    what: Callable[[Tab], Doing],
    ref: str = "",
    *,
    judged: bool = True,
    no: str = "",
) -> str:
    """Do what was ``judged``, to the element that it was judged on; tell what came of it.

    ``no`` is for what could carry a value of the vault away: the words with which it is refused where one stands.
    """
    async with working(ctx, context) as (browsing, tab):
        before, doing = tab.snapshot, what(tab)
        if no:
            browsing.kept.refuse(tab.page, no)
        if judged:
            still_there(ctx, context.call_id, tab, ref)
        await browsing.act(tab, doing)
        return await shown(browsing, tab, after(browsing, tab, before))


def after(browsing: Browsing, tab: Tab, before: Any) -> Callable[[], Awaitable[str]]:
    """What is new on the same page, or all of another one."""

    async def make() -> str:
        snapshot = await browsing.look(tab)
        if before is None or before.url.partition("#")[0] != snapshot.url.partition("#")[0]:
            return snapshot.piece(1, full=False)
        return snapshot.changed(before)

    return make
