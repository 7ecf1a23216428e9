"""The browser of a session as what other plugins may fill: the vault types into it what no model reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from hermes_core.errors import ToolError
from hermes_tool_browser.acting import after
from hermes_tool_browser.browsing import Browsing
from hermes_tool_browser.calls import located, reference, shown
from hermes_tool_browser.filled import Place, facts_of
from hermes_tool_kit.fields import Field, Fields, Guard

__all__ = ["Open"]

_WORDS = 80  # characters of a name that a page gave to a field


class Open(Browsing, Fields):
    """One that is open."""

    async def find(self, refs: Sequence[str]) -> Sequence[Field]:
        """Return these fields of the tab that is worked in. Raises ToolError."""
        async with self.lock:
            found = [await self._found(ref) for ref in refs]
            self.kept.clean([name for field in found for name in field.origins])
            return found

    async def _found(self, ref: str) -> Place:
        tab = self.tab
        locator = located(tab, ref)
        handle = await self.bounded(locator.element_handle())
        await self.bounded(handle.scroll_into_view_if_needed())
        facts = await self.bounded(facts_of(handle))
        await self.bounded(handle.click(trial=True))  # what lies over it would be clicked in its place
        name = tab.snapshot.elements[reference(ref)].name if tab.snapshot else ""
        name = " ".join("".join(sign if sign.isprintable() else " " for sign in name).split())[:_WORDS]
        words = f"the field “{name}”" if name else "a field"
        if not self.backend.here:
            words += f" of {self.backend.describe()}, which others keep,"
        return Place(ref=ref, tab=tab, handle=handle, words=words, **facts)

    async def fill(self, values: Sequence[tuple[Field, str]], guard: Guard, *, submit: bool) -> str:
        """Type into fields that are as they were found. Raises ToolError, without what was typed."""
        places = [(field, value) for field, value in values if isinstance(field, Place)]
        try:
            async with self.lock:
                return self.kept.hide(await self._filled(places, guard, submit=submit))
        except ToolError as error:
            raise ToolError(guard.hide(error.text), hint=error.hint, retry=error.retry) from None

    async def _filled(self, places: Sequence[tuple[Place, str]], guard: Guard, *, submit: bool) -> str:
        tab = places[0][0].tab
        if tab not in self.tabs:
            raise ToolError("Not typed: that tab is closed.")
        before, origins = tab.snapshot, [name for place, _ in places for name in place.origins]
        self.kept.clean(origins)
        await self.guard(guard, origins)

        async def type_all() -> None:
            for place, value in places:
                await _same(place)
                await place.handle.fill(value)
            if submit:
                await places[-1][0].handle.press("Enter")

        await self.act(tab, type_all)
        return await shown(self, tab, after(self, tab, before))


async def _same(place: Place) -> None:
    """Raises ToolError where a field is not what a person agreed to any more."""
    from playwright.async_api import Error

    try:
        facts: Mapping[str, Any] = await facts_of(place.handle)
    except Error:
        raise ToolError("Not typed: the page changed meanwhile.", hint="Look at it again: browser_snapshot.") from None
    now = facts["origins"], facts["targets"], facts["hides"]
    if now != (place.origins, place.targets, place.hides):
        raise ToolError("Not typed: the field changed meanwhile.", hint="Look at it again: browser_snapshot.")
