"""What the service says when it fails, as the error that decides what is done.

The library reads bodies; the name of the error, which stands in a header or is that of a frame, knows better.
Source: the errors of ConverseStream in the service's own description.
"""

import json
from collections.abc import Mapping

from hermes_core.errors import AuthError, ProviderError, RateLimited, Refused, Unavailable
from hermes_provider_kit.failures import Service, failure, message_of, redact, seconds_to_wait

__all__ = ["broken_off", "refused"]

_STATUS = {
    "validationexception": 400,
    "accessdeniedexception": 403,
    "resourcenotfoundexception": 404,
    "modeltimeoutexception": 408,
    "modelerrorexception": 424,
    "modelstreamerrorexception": 424,
    "throttlingexception": 429,
    "servicequotaexceededexception": 429,
    "modelnotreadyexception": 429,
    "internalserverexception": 500,
    "serviceunavailableexception": 503,
}
_SIGNED = ("invalidsignatureexception", "signaturedoesnotmatch")
_KEYS = ("unrecognizedclientexception", "expiredtokenexception", "missingauthenticationtokenexception", *_SIGNED)
_AGAIN = "Try again in a moment, or choose another provider."
_WRITTEN_AGAIN = "Ask again; a larger model writes fewer broken calls."


def refused(status: int, body: str, headers: Mapping[str, str], *, service: Service) -> ProviderError:
    """Make the error for an unsuccessful reply; ``headers`` are in lower case."""
    name = headers.get("x-amzn-errortype", "").partition(":")[0] or _type_in(body)
    return _judged(name, status, body, headers, service, f"{service.title} answered {status}")


def broken_off(name: str, body: Mapping[str, object], *, service: Service) -> ProviderError:
    """Make the error for one that came as a frame of a reply that began well."""
    status = _STATUS.get(name.lower(), 500)
    return _judged(name, status, json.dumps(dict(body)), {}, service, f"{service.title} broke off with {name}")


def _judged(
    name: str, status: int, body: str, headers: Mapping[str, str], service: Service, began: str
) -> ProviderError:
    kind = name.rpartition("#")[2].lower()
    if kind in _SIGNED:  # what it says holds all that was signed
        text, hint = f"{began}: the signature is not right.", "Check AWS_SECRET_ACCESS_KEY, the region and the clock."
        return AuthError(text, hint=hint)
    said = redact(message_of(body), service.key)
    text = f"{began}: {said}" if said else f"{began}."
    low = said.lower()
    if kind in _KEYS or (status == 403 and ("bearer" in low or "api key" in low)):
        return AuthError(text, hint="The credentials of AWS are wrong or have expired: log in again, or change them.")
    if "on-demand throughput" in low or "inference profile" in low:
        hint = "Name the model by its inference profile, as us.NAME, eu.NAME or global.NAME: see `hermes model`."
        return Refused(text, hint=hint, reason="model_not_found")
    mine = "is not authorized to perform:" not in low  # else it names the model only as what was asked for
    if kind == "accessdeniedexception" and mine and ("model" in low or "use case" in low):
        hint = "Ask for access to this model in the console of Bedrock, or choose another one with --model."
        return Refused(text, hint=hint, reason="model_not_found")
    if kind == "accessdeniedexception":
        hint = "These credentials may not do that: they need bedrock:InvokeModelWithResponseStream."
        return AuthError(text, hint=hint)
    if kind == "resourcenotfoundexception":
        return Refused(text, hint="Choose another model with --model, or another region.", reason="model_not_found")
    if kind == "modelnotreadyexception":
        return Unavailable(text, hint="The model is being made ready; try again in a minute.", reason="overloaded")
    if kind in ("throttlingexception", "servicequotaexceededexception"):
        wait = seconds_to_wait(headers, body)
        return RateLimited(text, retry_after=wait, hint="Wait a moment, or raise the quota of this model in AWS.")
    if kind == "modeltimeoutexception":
        return Unavailable(text, hint=_AGAIN, reason="timeout")
    if kind in ("modelerrorexception", "modelstreamerrorexception"):
        broken = "tool" in low and ("invalid" in low or "sequence" in low)
        reason, hint = ("invalid_output", _WRITTEN_AGAIN) if broken else ("server_error", _AGAIN)
        return Unavailable(text, hint=hint, reason=reason)
    return failure(status, body, headers, service=service)


def _type_in(body: str) -> str:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    return str(found.get("__type") or "") if isinstance(found, Mapping) else ""
