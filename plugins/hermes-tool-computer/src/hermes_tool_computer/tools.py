"""The tools of the screen: one looks, the other acts."""

import asyncio
from collections.abc import Sequence
from typing import Literal, cast

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import ge, le, max_len, option, settings
from hermes_core.types import Blob, Effect, Part, Session, Text
from hermes_tool_computer.asking import agreed
from hermes_tool_computer.lasting import NAME
from hermes_tool_computer.looked import Looked
from hermes_tool_computer.own import OwnScreen
from hermes_tool_computer.screen import Way, Window, key_of, line

__all__ = ["tools_of"]

_SETTLE = 0.3  # seconds until a program has drawn what an act did
_POINTED = ("click", "double_click", "right_click", "middle_click", "drag", "scroll")
_CLICKS = {
    "click": ("left", 1),
    "double_click": ("left", 2),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
}
_Action = Literal["click", "double_click", "right_click", "middle_click", "drag", "scroll", "type", "key", "focus"]


@settings
class Looking:
    """When."""

    wait: float = option("Seconds before.", default=0.0, validator=[ge(0), le(30)])


@settings
class Acting:
    """What is done, and where."""

    action: _Action = option("")
    x: int | None = option("In the last picture.", default=None)
    y: int | None = option("", default=None)
    to_x: int | None = option("drag: where to.", default=None)
    to_y: int | None = option("", default=None)
    text: str = option("type: the text; key: as ctrl+s; focus: the window's id.", default="", validator=max_len(10_000))
    way: Way = option("scroll", default="down")
    amount: int = option("scroll", default=3, validator=[ge(1), le(50)])


def tools_of(ctx: PluginContext) -> Sequence[Tool]:
    """Both."""

    def needs(session: Session) -> str | None:
        return None if session.owner == ctx.owner else "this screen is its owner's alone"

    @tool(
        toolset="computer", effects=[Effect.READ_FILES, Effect.EXECUTE], untrusted=True, needs=needs,
        touches=lambda _: ("screen",),
    )  # fmt: skip
    async def computer_screen(context: ToolContext, looking: Looking) -> Sequence[Part]:
        """See the screen: a picture, and its windows."""
        await asyncio.sleep(looking.wait)
        return await _told(await _looked(context), "")

    @tool(
        toolset="computer", effects=[Effect.SEND, Effect.ASK, Effect.EXECUTE], untrusted=True, needs=needs,
        touches=lambda _: ("screen",),
    )  # fmt: skip
    async def computer_act(context: ToolContext, acting: Acting) -> Sequence[Part]:
        """Use mouse and keyboard, and see the screen after it. A person is asked."""
        looked = await _looked(context)
        points = _points(looked, acting)
        deed = _deed(looked, acting, points)
        await agreed(ctx, context, deed, looked.screen.words)
        await looked.still(points, keys=acting.action in ("type", "key"))
        await _do(looked, acting, points)
        await asyncio.sleep(_SETTLE)
        return await _told(looked, f"Done: {deed}.")

    return (computer_screen, computer_act)


async def _looked(context: ToolContext) -> Looked:
    return cast("Looked", await context.resource(NAME))


async def _told(looked: Looked, done: str) -> Sequence[Part]:
    picture = await looked.look()
    lines = [done] if done else []
    lines.append(f"{looked.screen.words[0].upper()}{looked.screen.words[1:]}, {picture.width} x {picture.height}.")
    for window in looked.windows:
        here = " (has the focus)" if window.id == looked.focus else ""
        at = [round(one / picture.scale) for one in (window.x, window.y, window.width, window.height)]
        lines.append(
            f"window {window.id}: {line(window.name) or '(no name)'}, {at[2]} x {at[3]} at {at[0]},{at[1]}{here}"
        )
    if not looked.windows:
        lines.append("There are no windows.")
    if isinstance(looked.screen, OwnScreen):
        env = " ".join(f"{name}={value}" for name, value in looked.screen.environment.items())
        lines.append(f"What terminal starts in the background with {env} shows here.")
    return [Text(text="\n".join(lines)), Blob(media_type="image/png", data=picture.png, name="screen.png")]


def _points(looked: Looked, acting: Acting) -> Sequence[tuple[int, int]]:
    """The points of an act, on the screen. Raises ToolError where one is missing."""
    looked.seen()
    if acting.action not in _POINTED:
        return ()
    if acting.x is None or acting.y is None:
        raise ToolError(f"{acting.action} needs x and y.")
    if acting.action != "drag":
        return (looked.point(acting.x, acting.y),)
    if acting.to_x is None or acting.to_y is None:
        raise ToolError("drag needs to_x and to_y.")
    return (looked.point(acting.x, acting.y), looked.point(acting.to_x, acting.to_y))


def _deed(looked: Looked, acting: Acting, points: Sequence[tuple[int, int]]) -> str:
    """What is done, in words for who is asked. Raises ToolError for what is never done."""
    action = acting.action
    if action == "type":
        if not acting.text:
            raise ToolError("type needs a text.")
        if "{{vault:" in acting.text.replace(" ", ""):
            text = "A value of the vault is not typed on a screen: nobody can tell there which field takes it."
            raise ToolError(text, hint="Its person types it, or browser_type fills it on a page.", retry=False)
        if any((ord(sign) < 32 and sign not in "\n\t") or "\ud800" <= sign <= "\udfff" for sign in acting.text):
            raise ToolError("The text holds signs that nobody can type.", hint="Keys go by the action key.")
        return f"types {acting.text!r} into {_quoted(looked.front())}"
    if action == "key":
        return f"presses {key_of(acting.text)} in {_quoted(looked.front())}"
    if action == "focus":
        window = next((one for one in looked.windows if one.id == acting.text.strip()), None)
        if window is None:
            raise ToolError(f"There is no window {line(acting.text, 20)!r}.", hint="Look again: computer_screen.")
        return f"brings {_quoted(window)} to the front"
    place = f"at {acting.x},{acting.y} in {_quoted(looked.at(*points[0]))}"
    if action == "drag":
        return f"drags from {acting.x},{acting.y} to {acting.to_x},{acting.to_y} in {_quoted(looked.at(*points[0]))}"
    if action == "scroll":
        return f"scrolls {acting.way} {place}"
    return f"{action.replace('_', ' ').replace('click', 'clicks')} {place}"


def _quoted(window: Window | None) -> str:
    return f"“{line(window.name)}”" if window and window.name else "the window below the pointer"


async def _do(looked: Looked, acting: Acting, points: Sequence[tuple[int, int]]) -> None:
    screen = looked.screen
    match acting.action:
        case "type":
            await screen.type(acting.text)
        case "key":
            await screen.key(key_of(acting.text))
        case "focus":
            await screen.focus(acting.text.strip())
        case "drag":
            await screen.drag(*points[0], *points[1])
        case "scroll":
            await screen.scroll(*points[0], acting.way, acting.amount)
        case _:
            await screen.click(*points[0], *_CLICKS[acting.action])
