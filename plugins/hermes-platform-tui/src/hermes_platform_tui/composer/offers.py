"""Choices for the word at the cursor: asked for behind the typing, shown in the menu, put in by a key."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_platform_tui.composer.chips import Chips
from hermes_platform_tui.composer.clean import plain
from hermes_platform_tui.composer.completion import common_part, is_wanted, is_whole
from hermes_platform_tui.composer.field import Field
from hermes_platform_tui.composer.menu import Menu

if TYPE_CHECKING:
    from hermes_core.types import Choice
    from hermes_platform_tui.composer.composer import Composer

__all__ = ["Offers"]

PAUSE = 0.03  # seconds of no typing before choices are asked for
MOST = 200  # choices that are looked at


class Offers:
    """What may be put in. An answer for another text than the one that stands there now is dropped."""

    def __init__(
        self,
        composer: "Composer",
        field: Field,
        menu: Menu,
        chips: Chips,
        complete: Callable[[str, int], Awaitable[Sequence["Choice"]]],
    ) -> None:
        self._composer, self._field, self._menu, self._chips, self._complete = composer, field, menu, chips, complete
        self._choices: Sequence[Choice] = ()
        self._for = ("", -1)
        self._asked = ("", -1)
        self._moved = False
        self._dismissed = False

    def take(self, key: str) -> bool:
        """Whether the key was for the menu."""
        if key == "tab":
            return self._tab()
        if not self._is_fresh():
            return False
        if key in ("up", "down"):
            self._moved = True
            self._menu.move(1 if key == "down" else -1)
        elif key == "escape":
            self.dismiss()
        elif key == "enter":
            if self._menu.index < 0 or (not self._moved and is_whole(self._choices, self._before())):
                return False
            self.accept()
        else:
            return False
        return True

    def look(self) -> None:
        """The text is another: ask, or close."""
        if not is_wanted(self._before()):
            self.close()
            self._dismissed = False
        elif not self._dismissed:
            self._ask(pressed=False)

    def check(self) -> None:
        """The cursor moved: what was offered for another place is of no use."""
        text, position = self._for
        if self._choices and text == self._field.text and position != self._field.position:
            self.close()

    def close(self) -> None:
        """Offer nothing."""
        self._choices, self._asked = (), ("", -1)
        self._menu.close()

    def dismiss(self) -> None:
        """Offer nothing until another word begins."""
        self.close()
        self._dismissed = True

    def accept(self) -> None:
        """Put the chosen one in."""
        if not self._choices:
            return
        choice = self._choices[max(self._menu.index, 0)]
        self.close()
        self._field.put(choice.text, choice.replaces)
        if not choice.final:
            self._ask(pressed=False)

    def _tab(self) -> bool:
        if not self._field.text:
            return False  # nothing to complete: on to the next widget
        if not self._is_fresh():
            self._ask(pressed=True)
        elif not self._moved and (shared := common_part(self._choices, self._before())):
            self._field.put(shared, self._choices[0].replaces)
        else:
            self.accept()
        return True

    def _here(self) -> tuple[str, int]:
        return self._field.text, self._field.position

    def _before(self) -> str:
        text, position = self._here()
        return text[:position]

    def _is_fresh(self) -> bool:
        return self._menu.is_open and bool(self._choices) and self._for == self._here()

    def _ask(self, pressed: bool) -> None:
        here = self._here()
        if here == self._asked and not pressed:
            return
        self._asked = here
        self._composer.run_worker(self._answer(here, pressed), group="complete", exclusive=True, exit_on_error=False)

    async def _answer(self, here: tuple[str, int], pressed: bool) -> None:
        if not pressed:
            await asyncio.sleep(PAUSE)
        text, position = here
        try:
            choices = await self._complete(self._chips.label(text), position)
        except Exception:  # noqa: BLE001 - completion is a favour; typing goes on without it
            self._composer.log.warning("no completion")
            choices = ()
        if self._here() != here or self._asked != here:
            return
        # Names of files are anybody's: no line break or control character of theirs gets into the menu or the text.
        self._choices = [
            evolve(choice, text=_row(choice.text), summary=_row(choice.summary)) for choice in choices[:MOST]
        ]
        self._show(here, pressed)

    def _show(self, here: tuple[str, int], pressed: bool) -> None:
        self._for, self._moved = here, False
        if not self._choices or (not pressed and self._is_done()):
            self._menu.close()
            return
        self._dismissed = False
        first = 0 if any(choice.replaces for choice in self._choices) else -1
        rows = [(choice.text, choice.summary) for choice in self._choices]
        self._menu.open(rows, first, *self._composer.room)
        if pressed and (len(rows) == 1 or common_part(self._choices, self._before())):
            self._tab()

    def _is_done(self) -> bool:
        """Whether the only choice stands there already."""
        return len(self._choices) == 1 and is_whole(self._choices, self._before())


def _row(text: str) -> str:
    return plain(text).replace("\n", " ")
