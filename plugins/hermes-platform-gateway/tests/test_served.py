"""Which platforms are served: those that are set up, or those that a person names."""

from typing import Any

import pytest
from gateway_house import context_of

from hermes_core import hookimpl
from hermes_core.errors import UnknownName, UserError
from hermes_core.testing import Bench, FakePlatform
from hermes_platform_gateway.served import served


async def test_without_a_name_it_is_what_is_set_up(hermes: Bench) -> None:
    hermes.tmp_plugin(FakePlatform(name="quiet", features=()))
    room = FakePlatform(name="room", features=())
    hermes.tmp_plugin(room)
    hermes.configure({"platforms.room.enabled": True})
    assert served(context_of(hermes)) == ([room], "")


async def test_what_is_not_installed_is_said_and_the_others_are_served(hermes: Bench) -> None:
    room = FakePlatform(name="room", features=())
    hermes.tmp_plugin(room)
    hermes.configure({"platforms.room.enabled": True, "platforms.gone.enabled": True, "platforms.off.enabled": False})
    told = "Platform gone is not installed: pip install hermes-platform-gone"
    assert served(context_of(hermes)) == ([room], told)
    with pytest.raises(UnknownName, match="pip install hermes-platform-nowhere"):
        served(context_of(hermes), ["nowhere"])


async def test_one_that_cannot_be_had_costs_itself_and_is_raised_where_it_was_named(hermes: Bench) -> None:
    @hookimpl
    def register_platforms() -> list[Any]:
        return []

    room = FakePlatform(name="room", features=())
    hermes.tmp_plugin(room)
    hermes.tmp_plugin(register_platforms, name="hollow", manifest={"contributes": {"platforms": ["ghost"]}})
    hermes.configure({"platforms.room.enabled": True, "platforms.ghost.enabled": True})
    found, told = served(context_of(hermes))
    assert found == [room]
    assert told.startswith("Platform ghost cannot be served: ")
    with pytest.raises(UserError, match="Platform ghost cannot be served"):
        served(context_of(hermes), ["ghost"])
