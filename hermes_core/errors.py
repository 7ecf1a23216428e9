"""The errors of Hermes.

::

    HermesError
    |- UserError            the person can fix it: shown without a traceback, exit 2
    |  |- BudgetReached     a limit of the user's; nothing more is spent
    |  |- ConfigError       all problems at once, each with file, line and path
    |  `- UnknownName       lists near misses and what there is
    |- PluginError          a plugin is at fault: names plugin and version, exit 3 when the person named it
    |  |- ManifestError     the manifest cannot be read
    |  |- Incompatible      the plugin needs another kernel
    |  |- LoadError         the import failed
    |  |- ContractError     what it registered is not what the contract asks for
    |  `- NotPermitted      it reached for something it did not declare
    |- ProviderError        the model could not answer
    |  |- AuthError         the key is missing, wrong or without rights
    |  |- RateLimited       too many requests; retry_after in seconds
    |  |- ContextTooLong    the conversation does not fit
    |  |- Refused           the provider will not do this
    |  `- Unavailable       down, slow, or not speaking its protocol; transient says whether waiting helps
    |- ToolError            shown to the model; retry=False ends the attempt
    `- StoreError           the store cannot be read or written

Messages say who, what and what now, in that order.
"""

import difflib
from collections.abc import Iterable, Sequence

__all__ = [
    "AuthError",
    "BudgetReached",
    "ConfigError",
    "ContextTooLong",
    "ContractError",
    "HermesError",
    "Incompatible",
    "LoadError",
    "ManifestError",
    "NotPermitted",
    "PluginError",
    "ProviderError",
    "RateLimited",
    "Refused",
    "StoreError",
    "ToolError",
    "Unavailable",
    "UnknownName",
    "UserError",
    "nearest",
]


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name most like ``name``, or an empty string when none is close."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return close[0] if close else ""


class HermesError(Exception):
    """Any error Hermes raises on purpose. ``hint`` says what to do now."""

    def __init__(self, text: str, *, hint: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.text}\n{self.hint}" if self.hint else self.text


class UserError(HermesError):
    """The person can fix it."""


class BudgetReached(UserError):
    """A limit on what may be spent is reached: ``scope`` is turn, session or day; ``what`` is calls, tokens, money…"""

    def __init__(self, scope: str, what: str, used: float, limit: float) -> None:
        of = {"turn": "This turn", "session": "This session", "day": "Today you"}[scope]
        amount = {"money": f"${used:.4f} of ${limit:g}", "seconds": f"{used:.0f} of {limit:g} seconds"}
        spent = amount.get(what, f"{used:,.0f} of {limit:,.0f} {'model calls' if what == 'calls' else what}")
        hint = f"Raise it with: hermes config set budget.{scope}.{what} {2 * limit:g} (0 sets no limit)."
        super().__init__(f"{of} {'have' if scope == 'day' else 'has'} used {spent} (budget.{scope}.{what}).", hint=hint)
        self.scope, self.what = scope, what


class ConfigError(UserError):
    """Everything that is wrong with the configuration, one problem a line: ``file:line path: what``."""

    def __init__(self, problems: Sequence[str], *, hint: str = "") -> None:
        super().__init__("\n".join(problems), hint=hint)
        self.problems = tuple(problems)


class UnknownName(UserError):
    """No such thing. Says what is close and what there is."""

    def __init__(self, what: str, name: str, known: Iterable[str] = (), *, hint: str = "") -> None:
        there = sorted(known)
        close = nearest(name, there)
        text = f"There is no {what} named {name!r}."
        if close:
            text += f" Did you mean {close!r}?"
        elif there:
            text += f" There is: {', '.join(there[:20])}{', …' if len(there) > 20 else ''}."
        super().__init__(text, hint=hint)
        self.name = name


class PluginError(HermesError):
    """A plugin is at fault."""

    def __init__(self, plugin: str, text: str, *, version: str = "", hint: str = "") -> None:
        super().__init__(f"Plugin {plugin}{' ' + version if version else ''}: {text}", hint=hint)
        self.plugin = plugin
        self.cause = text
        self.version = version


class ManifestError(PluginError):
    """The manifest is missing or cannot be read."""


class Incompatible(PluginError):
    """The plugin needs another kernel."""


class LoadError(PluginError):
    """The plugin could not be imported."""


class ContractError(PluginError):
    """What the plugin registered is not what the contract asks for."""


class NotPermitted(PluginError):
    """The plugin reached for something its manifest does not declare."""


class ProviderError(HermesError):
    """The model could not answer."""


class AuthError(ProviderError):
    """The key is missing, wrong or without rights."""


class RateLimited(ProviderError):
    """Too many requests. ``retry_after`` is seconds to wait, or None when the provider did not say."""

    def __init__(self, text: str, *, retry_after: float | None = None, hint: str = "") -> None:
        super().__init__(text, hint=hint)
        self.retry_after = retry_after


class ContextTooLong(ProviderError):
    """The conversation does not fit into the model's context."""


class Refused(ProviderError):
    """The provider will not do this: unknown model, bad request, content policy, no credit."""


class Unavailable(ProviderError):
    """The provider is down, slow, or not speaking its protocol. ``transient`` says whether waiting may help."""

    def __init__(self, text: str, *, transient: bool = True, hint: str = "") -> None:
        super().__init__(text, hint=hint)
        self.transient = transient


class ToolError(HermesError):
    """A tool failed in a way the model can act on. ``retry=False`` says that trying again is useless."""

    def __init__(self, text: str, *, retry: bool = True, hint: str = "") -> None:
        super().__init__(text, hint=hint)
        self.retry = retry


class StoreError(HermesError):
    """The store cannot be read or written. Nothing that was acknowledged is lost."""
