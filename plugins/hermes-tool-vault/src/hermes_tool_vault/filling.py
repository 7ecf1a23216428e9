"""Putting values in the place of handles, and taking them out of what comes back."""

from collections.abc import Callable, Mapping, Sequence

from attrs import field

from hermes_core.errors import ToolError, UserError
from hermes_core.values import frozen
from hermes_tool_vault.consent import Use
from hermes_tool_vault.items import HANDLE, Item, handles
from hermes_tool_vault.sealed import Vault

__all__ = ["Bind", "Filled", "fill"]

Bind = Callable[[Item, str, str], Use]  # item, part and place of a handle: what lets it be there; raises UserError


@frozen(kw_only=True)
class Filled:
    """Texts of a call with their handles, and the ``uses`` in them. Values are put in when ``texts`` is asked."""

    vault: Vault = field(repr=False)
    given: Mapping[str, str]
    uses: Sequence[Use]
    _values: list[str] = field(factory=list, repr=False)

    def texts(self) -> Mapping[str, str]:
        """The texts with the values, by their places."""
        made = {(use.item.name, use.part): self._value(use) for use in self.uses}
        return {
            place: HANDLE.sub(lambda found: made[found[1], found[2] or ""], text) for place, text in self.given.items()
        }

    def hide(self, text: str) -> str:
        """What came back, without the values and what they were made of."""
        from hermes_tool_vault.masker import hide

        return hide(text, [*self._values, *(value for use in self.uses for value in use.item.secrets)])

    def _value(self, use: Use) -> str:
        value = use.item.value(use.part)
        if use.item.kind == "totp":
            self.vault.used(value)
        self._values.append(value)
        return value


def fill(vault: Vault, texts: Mapping[str, str], bind: Bind) -> Filled:
    """Look the handles of some texts up. ``texts`` are those that may hold some, by their places.

    Raises ToolError for a handle that means nothing, or that is not bound to where it stands.
    """
    uses = []
    try:
        for place, text in texts.items():
            for name, part in handles(text):
                item = vault.get(name)
                if part not in ("", *item.parts) or (not part and item.kind == "card"):
                    item.value(part)
                uses.append(bind(item, part, place))
    except UserError as error:
        raise ToolError(error.text, hint=error.hint, retry=False) from None
    return Filled(vault=vault, given=texts, uses=uses)
