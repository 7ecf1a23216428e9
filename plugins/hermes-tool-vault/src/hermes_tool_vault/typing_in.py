"""The tool ``vault_fill``: user names, passwords and codes in the fields of the page that is open in the browser.

The browser is another plugin's resource; it says where a field is. Whether the value belongs there is said here: the
field's document, and each one around it, is of an origin that a person bound, and so is what its form is sent to.
"""

from collections.abc import Sequence

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UnknownName, UserError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.options import option, settings
from hermes_core.types import Effect
from hermes_tool_kit.fields import Field, Fields, Guard
from hermes_tool_vault.consent import Use, agreed, owned
from hermes_tool_vault.filling import fill
from hermes_tool_vault.items import HANDLE, Binding, Item
from hermes_tool_vault.masker import hider
from hermes_tool_vault.sealed import vault_of

__all__ = ["make_fill"]

_MOST = 8  # fields of one call
_PUBLIC = frozenset({"user", "expiry", "holder"})  # what a page may show, and a model read


@settings
class Fill:
    """What the model gives."""

    fields: dict[str, str] = option('ref: handle, such as {"e4": "{{vault:NAME.user}}", "e5": "{{vault:NAME}}"}')
    submit: bool = option("press Enter then", default=False)


def make_fill(ctx: PluginContext) -> Tool:
    """The tool."""
    vault = vault_of(ctx)

    @tool(
        toolset="vault",
        effects={Effect.NETWORK, Effect.SEND, Effect.ASK},
        untrusted=True,
        touches=lambda _: ["browser"],
        needs=lambda _: None if _has_browser(ctx) else "no browser is enabled",
        seconds=420.0,
    )
    async def vault_fill(context: ToolContext, arguments: Fill) -> str:
        """Type handles of `vault_list` into fields of the page in the browser, by ref, all of a login at once."""
        owned(ctx, context)
        refs = _sound(arguments)
        browser = await _browser(context)
        found = dict(zip(refs, await browser.find(refs), strict=True))
        bound: set[str] = set()

        def bind(item: Item, part: str, place: str) -> Use:
            one = found[place]
            if item.kind == "password" and part in ("", "secret") and not one.hides:
                raise UserError(f"The field {place} shows what is typed, so no password goes there.")
            if part == "basic":
                raise UserError(f"{item.name}.basic is for headers, not for fields.")
            binding, names = _bound(item, one, ctx.program)
            bound.update(names)
            return Use(item=item, part=part, binding=binding, place=f"{one.words} on {one.origins[0]}")

        filled = fill(vault, arguments.fields, bind)
        given = {"fields": dict(arguments.fields), "submit": arguments.submit, "origins": sorted(bound)}
        subject = f"vault_fill({', '.join(arguments.fields.values())})"
        await agreed(ctx, context, filled.uses, subject, given, told=False)
        texts = filled.texts()
        secret = [texts[place] for place, use in zip(refs, filled.uses, strict=True) if use.part not in _PUBLIC]
        secret += [value for use in filled.uses if use.part not in _PUBLIC for value in use.item.secrets]
        guard = Guard(origins=frozenset(bound), hide=hider(secret))
        return await browser.fill([(found[ref], texts[ref]) for ref in refs], guard, submit=arguments.submit)

    return vault_fill


def _has_browser(ctx: PluginContext) -> bool:
    return any(row.enabled and "browser" in row.contributes.get("resources", ()) for row in ctx.plugins.list())


def _sound(arguments: Fill) -> Sequence[str]:
    """The references of a call. Raises ToolError for what is not one handle a field."""
    refs = list(arguments.fields)
    if not 1 <= len(refs) <= _MOST:
        raise ToolError(f"Not typed: give 1 to {_MOST} fields.")
    for ref, text in arguments.fields.items():
        if not HANDLE.fullmatch(text.strip()):
            raise ToolError(f"Not typed: what goes into {ref[:40]} is not one handle, such as {{{{vault:NAME}}}}.")
    return refs


async def _browser(context: ToolContext) -> Fields:
    try:
        browser = await context.resource("browser")
    except UnknownName:
        raise ToolError("There is no browser here.", hint="hermes plugins enable browser", retry=False) from None
    if not isinstance(browser, Fields):
        raise ToolError("The browser here can be filled by nobody.", retry=False)
    return browser


def _bound(item: Item, one: Field, program: str) -> tuple[Binding, set[str]]:
    """The binding for the document of a field, and all origins that the thing may go to. Raises UserError."""
    bindings = {binding.target: binding for binding in item.bindings if binding.kind == "origin"}
    for place in (*one.origins, *one.targets):
        if place not in bindings:
            where = "where the form is sent" if place in one.targets else "where the field is"
            raise UserError(
                f"{item.name} is not bound to {place}, {where}.",
                hint=f"If that is the right site, a person says so: {program} vault bind {item.name} --origin {place}",
            )
    used = [bindings[place] for place in (*one.origins, *one.targets)]
    return next((binding for binding in used if not binding.unattended), used[0]), set(bindings)
