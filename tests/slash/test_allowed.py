"""Which slash commands somebody may use, and where."""

from typing import Any

from attrs import evolve

from hermes_core.agent.slash.registry import Registry
from hermes_core.slash import may_use, usable
from hermes_core.types import SlashCommand


async def nothing(session: Any, rest: str) -> str:
    return ""


def test_commands_are_for_admins_unless_they_say_otherwise() -> None:
    plain = SlashCommand(name="wipe", summary="wipe all", run=nothing)
    shared = evolve(plain, name="mine", summary="show what is mine", who="everyone", usage="[N]")
    local = evolve(shared, name="here", summary="only in a terminal", where=("terminal",))
    table = {c.name: c for c in (plain, shared, local)}
    assert may_use(plain, "admin", "chat")
    assert not may_use(plain, "user", "chat")
    assert list(usable(table, "user", "chat")) == ["mine"]
    assert list(usable(table, "admin", "chat")) == ["wipe", "mine"]
    assert list(usable(table, "user", "terminal")) == ["mine", "here"]


def test_what_users_may_use_of_the_kernels_own(hermes: Any) -> None:
    table = Registry(hermes.runtime).table
    assert sorted(usable(table, "admin", "chat").keys() - usable(table, "user", "chat").keys()) == [
        "config",
        "debug",
        "plugins",
        "profile",
        "reload",
        "yolo",
    ]
