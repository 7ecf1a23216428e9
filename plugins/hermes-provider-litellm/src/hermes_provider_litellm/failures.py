"""The library's exceptions as the errors that the kernel knows how to act on."""

import json

from hermes_core.errors import AuthError, ContextTooLong, ProviderError, Unavailable
from hermes_provider_kit.failures import Service, failure

__all__ = ["failed"]

_UNREACHED = ("APIConnectionError", "Timeout")
_SAYS_SO = "Connection error"  # how the library says, with a status of 500, that nobody answered


def failed(error: Exception, service: Service) -> ProviderError:
    """Make the error of what the library raised; ``service`` names who was asked, and its key is taken out."""
    kind = type(error).__name__
    message = str(getattr(error, "message", "") or error).removeprefix("litellm.").removeprefix(f"{kind}: ")
    status = getattr(error, "status_code", 0)
    if kind in _UNREACHED or message.endswith(_SAYS_SO):
        told = failure(503, json.dumps({"error": {"message": message}}), service=service)
        return Unavailable(told.text, hint=service.place_hint)
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    body = json.dumps({"error": {"message": message}})
    told = failure(status if isinstance(status, int) else 0, body, dict(headers), service=service)
    if kind == "ContextWindowExceededError" and not isinstance(told, ContextTooLong):
        return ContextTooLong(told.text, hint="Start a new session, or compact this one.")
    if isinstance(told, AuthError) and not service.key:
        hint = "Set the variables that LiteLLM's page of this service names, in the environment."
        return AuthError(told.text, permanent=told.permanent, hint=hint, reason=told.reason)
    return told
