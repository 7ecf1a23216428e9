"""The parts of the plugin in one home, made when first needed."""

from collections.abc import Collection, Sequence
from typing import Protocol, TypeVar, runtime_checkable

from hermes_core.context import PluginContext
from hermes_core.types import Principal
from hermes_tool_roles.accounts import Accounts
from hermes_tool_roles.config import Config
from hermes_tool_roles.gate import Gate
from hermes_tool_roles.purse import PersonsDay
from hermes_tool_roles.rights import HomeRoles

__all__ = ["Blocks", "OpensFolders", "accounts_of", "further_of", "gate_of", "purse_of", "roles_of"]

T = TypeVar("T")


@runtime_checkable
class Blocks(Protocol):
    """A mailbox of a plugin that says who is blocked."""

    async def blocked(self, people: Collection[str]) -> Collection[str]:
        """Return which of these persons, accounts or groups are. Asked before anything is done for one of them."""


@runtime_checkable
class OpensFolders(Protocol):
    """A service of a plugin that says which folders somebody reaches besides their own."""

    async def opened(self, owner: Principal) -> Sequence[tuple[str, bool]]:
        """Return the folders, each with whether they write there. Asked when a call would be refused otherwise."""


def roles_of(ctx: PluginContext) -> HomeRoles:
    """Who says what people may do."""
    if "roles" not in ctx.state:
        config = ctx.config or Config()

        async def blocked(people: Collection[str]) -> Collection[str]:
            found, _ = ctx.host.contributed("mailboxes", config.blocks)
            asked = [one for one in found.values() if isinstance(one, Blocks)]
            return [person for one in asked for person in await one.blocked(people)]

        ctx.state["roles"] = HomeRoles(
            config,
            host=ctx.owner,
            blocked=blocked,
            opened=lambda owner: _opened(ctx, config, owner),
        )
    return _known(ctx, "roles", HomeRoles)


def accounts_of(ctx: PluginContext) -> Accounts:
    """Whom something is spent for."""
    if "accounts" not in ctx.state:
        ctx.state["accounts"] = Accounts(ctx.documents, ctx.owner)
    return _known(ctx, "accounts", Accounts)


def gate_of(ctx: PluginContext) -> Gate:
    """What judges calls."""
    if "gate" not in ctx.state:
        ctx.state["gate"] = Gate(roles_of(ctx), ctx.owner, ctx.paths.home / "people")
    return _known(ctx, "gate", Gate)


def purse_of(ctx: PluginContext) -> PersonsDay:
    """What limits a day."""
    if "purse" not in ctx.state:
        ctx.state["purse"] = PersonsDay(roles_of(ctx), accounts_of(ctx), ctx.sessions, ctx.documents, ctx.owner)
    return _known(ctx, "purse", PersonsDay)


async def further_of(ctx: PluginContext, owner: Principal) -> Sequence[tuple[str, bool]]:
    """Return which folders services that ``roles.opens`` names open to somebody. One that fails refuses the call."""
    return await _opened(ctx, roles_of(ctx).config, owner)


async def _opened(ctx: PluginContext, config: Config, owner: Principal) -> Sequence[tuple[str, bool]]:
    if "opens" not in ctx.state:  # each command asks for it; who is there stays as it is while this process lives
        found, _ = ctx.host.contributed("services", config.opens)
        ctx.state["opens"] = [one for one in found.values() if isinstance(one, OpensFolders)]
    return [folder for one in ctx.state["opens"] for folder in await one.opened(owner)]


def _known(ctx: PluginContext, name: str, kind: type[T]) -> T:
    found = ctx.state[name]
    assert isinstance(found, kind)
    return found
