"""The errors of Hermes.

::

    HermesError
    |- UserError            the person can fix it: shown without a traceback, exit 2
    |  |- BoundReached      a turn has used up what it was given
    |  |  `- BudgetReached  a limit of the user's; nothing more is spent
    |  |- Conflict          somebody else changed it meanwhile; nothing was written
    |  |- ConfigError       all problems at once, each with file, line and path
    |  `- UnknownName       lists near misses and what there is
    |- PluginError          a plugin is at fault: names plugin and version, exit 3 when the person named it
    |  |- ManifestError     the manifest cannot be read
    |  |- Incompatible      the plugin needs another kernel
    |  |- LoadError         the import failed
    |  |- ContractError     what it registered is not what the contract asks for
    |  `- NotPermitted      it reached for something it did not declare
    |- ProviderError        the model could not answer; reason says why in one word of REASONS
    |  |- AuthError         the key is missing, wrong or without rights; permanent: it will never work again
    |  |- RateLimited       too many requests; retry_after in seconds
    |  |- ContextTooLong    the conversation does not fit; window is what does, in tokens
    |  |- Refused           the provider will not do this
    |  `- Unavailable       down, slow, or not speaking its protocol; transient says whether waiting helps
    |- DeliveryError        a message could not be sent; it may have arrived all the same
    |  |- NotSent            it surely did not; retry_after in seconds
    |  `- Undeliverable      it never will: the chat is gone, or closed to us
    |- ToolError            shown to the model; retry=False ends the attempt
    |  `- OutOfReach        a rule forbids this URL, path or archive
    `- StoreError           the store cannot be read or written
       `- Duplicate         it was stored before; nothing was written

Messages say who, what and what now, in that order.
"""

from collections.abc import Iterable, Sequence

__all__ = [
    "REASONS",
    "AuthError",
    "BudgetReached",
    "ConfigError",
    "Conflict",
    "ContextTooLong",
    "ContractError",
    "DeliveryError",
    "Duplicate",
    "HermesError",
    "Incompatible",
    "LoadError",
    "ManifestError",
    "NotPermitted",
    "NotSent",
    "OutOfReach",
    "PluginError",
    "ProviderError",
    "RateLimited",
    "Refused",
    "StoreError",
    "ToolError",
    "Unavailable",
    "Undeliverable",
    "UnknownName",
    "UserError",
    "nearest",
]


REASONS = {
    "auth": "the key is missing, wrong or without rights",
    "auth_permanent": "the key was revoked or its account closed",
    "billing": "no credit, or a limit of the account is used up",
    "rate_limit": "too many requests of this account",
    "upstream_rate_limit": "too many requests of everybody, at a service behind this one",
    "overloaded": "the service has no room now",
    "server_error": "the service failed",
    "timeout": "the service did not answer in time",
    "ssl_cert_verification": "the connection is not safe",
    "wrong_address": "something else answers at this address",
    "context_overflow": "the conversation is longer than the model's window",
    "payload_too_large": "the request has too many bytes",
    "long_context_tier": "the account may not use the model's long window",
    "image_too_large": "a picture is too large",
    "multimodal_unsupported": "the model takes no pictures, or none in tool results",
    "model_not_found": "the service has no such model",
    "provider_policy_blocked": "the account's own data policy leaves nobody to answer",
    "content_policy_blocked": "the service will not answer this",
    "format_error": "the service does not understand the request",
    "invalid_output": "the model wrote a tool call that its server could not read",
    "thinking_signature": "thoughts of earlier replies are no longer accepted",
    "invalid_encrypted_content": "encrypted thoughts of earlier replies are no longer accepted",
    "grammar_pattern": "the server cannot make a grammar of a tool's schema",
    "unknown": "it is not known why",
}


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """Return the known name most like ``name``, or an empty string when none is so close."""
    import difflib  # a name is seldom wrong

    close = difflib.get_close_matches(name, list(known), n=1, cutoff=likeness)
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


class BoundReached(UserError):
    """A turn has used up what it was given by whoever ordered it, or what the turn that it works for has left.

    ``closing``: a last request, without tools, may still be made for the words that end it.
    """

    def __init__(self, text: str, *, hint: str = "", closing: bool = False) -> None:
        super().__init__(text, hint=hint)
        self.closing = closing


class BudgetReached(BoundReached):
    """A limit on what may be spent is reached; nothing more is spent."""


class ConfigError(UserError):
    """Everything that is wrong with the configuration, one problem a line: ``file:line path: what``."""

    def __init__(self, problems: Sequence[str], *, hint: str = "Mend them with `hermes config edit`.") -> None:
        super().__init__("\n".join(problems), hint=hint)
        self.problems = tuple(problems)


class Conflict(UserError):
    """Somebody else changed it meanwhile; nothing was written."""


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
    """The model could not answer. ``reason`` is one of REASONS; it decides what is done about it."""

    usual = "unknown"  # the reason when none is given

    def __init__(self, text: str, *, hint: str = "", reason: str = "") -> None:
        super().__init__(text, hint=hint)
        self.reason = reason or self.usual


class AuthError(ProviderError):
    """The key is missing, wrong or without rights. ``permanent``: it was revoked and will never work again."""

    usual = "auth"

    def __init__(self, text: str, *, permanent: bool = False, hint: str = "", reason: str = "") -> None:
        super().__init__(text, hint=hint, reason=reason or ("auth_permanent" if permanent else ""))
        self.permanent = permanent


class RateLimited(ProviderError):
    """Too many requests. ``retry_after`` is seconds to wait, or None when the provider did not say."""

    usual = "rate_limit"

    def __init__(self, text: str, *, retry_after: float | None = None, hint: str = "", reason: str = "") -> None:
        super().__init__(text, hint=hint, reason=reason)
        self.retry_after = retry_after


class ContextTooLong(ProviderError):
    """The conversation does not fit into the model's context. ``window`` is what fits in tokens, 0 if unsaid."""

    usual = "context_overflow"

    def __init__(self, text: str, *, window: int = 0, hint: str = "", reason: str = "") -> None:
        super().__init__(text, hint=hint, reason=reason)
        self.window = window


class Refused(ProviderError):
    """The provider will not do this: unknown model, bad request, content policy, no credit."""

    usual = "format_error"


class Unavailable(ProviderError):
    """The provider is down, slow, or not speaking its protocol.

    ``transient`` says whether waiting may help; ``retry_after`` is how long, in seconds, when the provider said it.
    """

    usual = "server_error"

    def __init__(
        self, text: str, *, transient: bool = True, retry_after: float | None = None, hint: str = "", reason: str = ""
    ) -> None:
        super().__init__(text, hint=hint, reason=reason)
        self.transient = transient
        self.retry_after = retry_after


class DeliveryError(HermesError):
    """A message could not be sent. Unless it is one of the two below, it may have arrived all the same."""


class NotSent(DeliveryError):
    """It surely did not arrive, and may be sent again. ``retry_after`` is seconds to wait, when the service said it.

    ``everywhere``: the whole account has to wait, not this chat alone.
    """

    def __init__(
        self, text: str, *, retry_after: float | None = None, everywhere: bool = False, hint: str = ""
    ) -> None:
        super().__init__(text, hint=hint)
        self.retry_after, self.everywhere = retry_after, everywhere


class Undeliverable(DeliveryError):
    """It never will arrive: the chat is gone, the bot was put out of it, the service refuses what it says."""


class ToolError(HermesError):
    """A tool failed in a way the model can act on. ``retry=False`` says that trying again is useless."""

    def __init__(self, text: str, *, retry: bool = True, hint: str = "") -> None:
        super().__init__(text, hint=hint)
        self.retry = retry


class OutOfReach(ToolError):
    """A rule forbids this URL, path or archive, or it could not be shown to be allowed. Trying again is useless.

    ``opened``: something was opened before, so its words may hold what came from there.
    """

    def __init__(self, text: str, *, hint: str = "", opened: bool = False) -> None:
        super().__init__(text, retry=False, hint=hint)
        self.opened = opened


class StoreError(HermesError):
    """The store cannot be read or written. Nothing that was acknowledged is lost."""


class Duplicate(StoreError):
    """This incoming message was stored before; nothing was written."""
