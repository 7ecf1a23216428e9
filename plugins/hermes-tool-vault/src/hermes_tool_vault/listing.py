"""The tool ``vault_list``: what there is, and no value of it."""

from hermes_core.context import PluginContext
from hermes_core.kinds import Tool, tool
from hermes_tool_vault.items import Item
from hermes_tool_vault.sealed import vault_of

__all__ = ["make_list", "row"]


def make_list(ctx: PluginContext) -> Tool:
    """The tool."""
    vault = vault_of(ctx)

    @tool(
        toolset="vault",
        idempotent=True,
        touches=lambda _: (),
    )
    async def vault_list() -> str:
        """List the person's passwords, cards and codes: handles and where each may go. You never see a value."""
        return "\n".join(row(item) for item in vault.read().values()) or "The vault is empty."

    return vault_list


def row(item: Item) -> str:
    """One thing in a line: its handles, and where they may go."""
    parts = item.parts if item.kind in ("password", "card") else item.parts[:1]
    handles = ", ".join(f"{{{{vault:{item.name}.{part}}}}}" for part in parts)
    bound = "; ".join(binding.words for binding in item.bindings) or "nothing yet, so it cannot be used"
    return f"{item.name} ({item.kind}): {handles}; bound to {bound}"
