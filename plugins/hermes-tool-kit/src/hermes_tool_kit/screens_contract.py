"""What every service with screens promises, as tests to inherit: a subclass has a fixture ``service``, with cards."""

from collections.abc import Sequence

import pytest

from hermes_core.errors import HermesError
from hermes_tool_kit.screens import Card, Picture, Screen, Screens

__all__ = ["ScreensContract"]

_NOBODY = "no such card\n\x1b[31m"


class ScreensContract:
    """Each test asks all screens of ``service``. At least one of their pictures has a card, so that there is something.

    ``asyncio_mode = "auto"`` of pytest-asyncio runs them.
    """

    async def _pictures(self, service: Screens) -> Sequence[tuple[Screen, Picture]]:
        return [(one, await one.picture()) for one in service.screens()]

    async def test_names_can_be_typed_and_are_each_its_own(self, service: Screens) -> None:
        """A screen is opened by two words, ``/SERVICE SCREEN``.

        If this fails: give each a name of letters, and a title.
        """
        names = [one.name for one in service.screens()]
        assert names, "a service that is Screens has one at least"
        assert all(name.isidentifier() for name in names)
        assert len(set(names)) == len(names)
        assert all(one.title for one in service.screens())

    async def test_keys_are_letters_that_say_what_they_do(self, service: Screens) -> None:
        """Arrows, Enter and Escape belong to whoever shows it.

        If this fails: give each key one letter, another for each, and words for what it does.
        """
        for screen in service.screens():
            keys = [one.key for one in screen.keys]
            assert all(len(key) == 1 and key.isalnum() for key in keys)
            assert len(set(keys)) == len(keys)
            assert all(one.does for one in screen.keys)
            assert not [one.key for one in screen.keys if one.asks and one.sure]

    async def test_a_card_is_known_by_its_id(self, service: Screens) -> None:
        """A card that is chosen stays so when it is drawn again, wherever it went.

        If this fails: ids are unique in a picture, and the same while a card is.
        """
        some = 0
        for screen, picture in await self._pictures(service):
            columns = [one.id for one in picture.columns]
            assert len(set(columns)) == len(columns)
            assert picture.at in ("", *columns)
            ids = [card.id for card in _cards(picture)]
            assert len(set(ids)) == len(ids)
            assert all(card.title and set(card.goes) <= set(columns) for card in _cards(picture))
            assert [card.id for card in _cards(await screen.picture())] == ids
            some += len(ids)
        assert some, "the service of this test has no card: give it one"

    async def test_all_about_a_card_is_text(self, service: Screens) -> None:
        """Enter shows it.

        If this fails: ``about`` knows every card of the picture.
        """
        for screen, picture in await self._pictures(service):
            for card in _cards(picture):
                assert isinstance(await screen.about(card.id), str)

    async def test_what_has_gone_is_said_in_words(self, service: Screens) -> None:
        """A card may go while a person looks at it, and a key may come too late.

        If this fails: raise a HermesError for a card that is not there, and for a key that does nothing.
        """
        for screen in service.screens():
            keys = [one.key for one in screen.keys if not one.alone]
            for key in (*keys, "§"):
                with pytest.raises(HermesError):
                    await screen.press(key, _NOBODY, "text")
            with pytest.raises(HermesError):
                await screen.move(_NOBODY, "nowhere")


def _cards(picture: Picture) -> Sequence[Card]:
    return [card for column in picture.columns for card in column.cards]
