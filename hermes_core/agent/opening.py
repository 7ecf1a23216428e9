"""Where the store is, who opens it there, who sends to chats, who limits what is spent, and what people may do."""

import re
from typing import TypeVar

from hermes_core.brokers import Mailbox
from hermes_core.config.settings import Settings
from hermes_core.errors import PluginError, UserError
from hermes_core.kinds import Purse, Roles, StoreDriver
from hermes_core.plugins.consent import Consent
from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.index import Index
from hermes_core.plugins.loader import Loader, chosen

__all__ = ["address_of", "driver_for", "mailbox_of", "mended", "purses_of", "roles_of"]

_T = TypeVar("_T")
_HINT = "It looks like postgresql://USER:PASSWORD@HOST:5432/DATABASE; without store.url the store is a file."


def address_of(settings: Settings) -> str:
    """Say where the store's server is, with its password; empty when it is a file. Raises UserError."""
    given = settings.config.store.url
    url = settings.secret(given)
    if given.reference and not url:  # never quietly somewhere else
        hint = f"Set it with: {settings.home.brand} config set {given.reference} postgresql://…"
        raise UserError(f"store.url refers to {given.reference}, which is not set.", hint=hint)
    return url


def driver_for(url: str, index: Index, loader: Loader, dispatch: Dispatch) -> StoreDriver:
    """Find who opens the store at an address: the plugin that declares its scheme, and no other is loaded.

    Raises UserError when there is none, PluginError when it may not run or fails: the store is never quietly elsewhere.
    """
    found = re.match(r"([a-z][a-z0-9+.-]*)://", url)
    if not found:  # not a word of it: it may hold a password
        raise UserError("store.url is not an address of a server.", hint=_HINT)
    scheme = found[1]
    owners = index.contributing("stores", scheme)
    if not owners:
        hint = "For PostgreSQL: pip install 'hermes-core[postgresql]'. Without store.url the store is a file."
        raise UserError(f"store.url begins with {scheme}://, and no plugin here opens such a store.", hint=hint)
    loader.load(owners[0], named=True)
    driver: StoreDriver = chosen(owners[0], scheme, dispatch.contributions("register_stores"), dispatch)
    return driver


def mended(loader: Loader, dispatch: Dispatch) -> str:
    """Have what is damaged of the store put right by a plugin's check of it; what was done. It takes its time."""
    loader.load_contributing("checks", ["store"])
    for label, one in dispatch.contributions("register_checks"):
        if one.name == "store" and one.mend:
            try:
                return str(one.mend())
            except Exception as error:  # noqa: BLE001 - whoever waits hears of the damage
                dispatch.failed(label, "register_checks: store", error)
    return ""


def mailbox_of(loader: Loader, dispatch: Dispatch) -> Mailbox:
    """Find who sends to chats: what a plugin contributes. Raises UserError for none, and two."""
    loader.load_contributing("mailboxes")
    given: dict[str, Mailbox] = dict(dispatch.contributions("register_mailboxes"))
    if len(given) > 1:
        raise UserError(f"{' and '.join(given)} would both send messages.", hint="hermes plugins disable NAME")
    for mailbox in given.values():
        return mailbox
    raise UserError("No chat can be reached: no gateway is installed.", hint="pip install hermes-platform-gateway")


def purses_of(index: Index, consent: Consent, loader: Loader, dispatch: Dispatch) -> list[tuple[str, Purse]]:
    """Find who limits what is spent, with the labels of their plugins. Raises PluginError: see ``_whole``."""
    loader.load_contributing("purses")
    given: list[tuple[str, Purse]] = dispatch.contributions("register_purses")
    return _whole("purses", given, "limit what is spent", index, consent, dispatch)


def roles_of(index: Index, consent: Consent, loader: Loader, dispatch: Dispatch) -> Roles | None:
    """Find who says what people may do; None where no plugin does. Raises PluginError, also for two of them."""
    loader.load_contributing("roles")
    given: list[tuple[str, Roles]] = dispatch.contributions("register_roles")
    found = _whole("roles", given, "say what people may do", index, consent, dispatch)
    if len(found) > 1:
        raise PluginError(found[0][0], f"and {found[1][0]} would both say what people may do")
    return found[0][1] if found else None


def _whole(
    table: str, given: list[tuple[str, _T]], what: str, index: Index, consent: Consent, dispatch: Dispatch
) -> list[tuple[str, _T]]:
    """Return what plugins gave of something that nothing is done without, with their labels.

    Raises PluginError for an enabled plugin that declares it and has none.
    """
    there = {label for label, _ in given}
    for one in index.plugins:
        if one.manifest and one.manifest.contributes[table] and one.label not in there and consent.state(one).usable:
            fault = next((f.error for f in dispatch.faults if f.plugin == one.label), f"it has no {table}")
            hint = f"To go on without it: hermes plugins disable {one.label}"
            raise one.error(PluginError, f"is to {what}, and cannot: {fault}", hint)
    return given
