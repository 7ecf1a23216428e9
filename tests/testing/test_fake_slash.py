"""A host can be tested without a kernel: its commands are those that the test puts in."""

from types import SimpleNamespace
from typing import Any

import pytest

from hermes_core.errors import NotPermitted, UserError
from hermes_core.plugins.manifest import Manifest
from hermes_core.testing import FakeSlash
from hermes_core.types import Session, SlashCommand


async def greet(session: Session, rest: str) -> str:
    return f"Hello {rest} in {session.id}."


async def taken_up() -> Session:
    return Session(id="s", origin="test")


def side(role: str) -> Any:
    return SimpleNamespace(role=role, envelope=None, take_up=taken_up)


async def test_what_was_put_in_is_run_for_who_may() -> None:
    fake = FakeSlash([SlashCommand(name="greet", aliases=("hi",), summary="greet", run=greet, where=("chat",))])
    commands = fake.commands("chat")
    assert await commands.run(side("admin"), "hi", "Ada") == "Hello Ada in s."
    assert fake.typed == [("greet", "Ada")]
    for who, place in (("user", "chat"), ("admin", "terminal")):
        with pytest.raises(UserError, match="There is no command /greet"):
            await fake.commands(place).run(side(who), "greet", "")


def test_without_the_permission_there_are_none() -> None:
    made = Manifest({"api": 1, "name": "pager", "kind": "platform", "summary": "Hears."})
    with pytest.raises(NotPermitted, match=r"host\.serve"):
        FakeSlash(manifest=made).commands("chat")
