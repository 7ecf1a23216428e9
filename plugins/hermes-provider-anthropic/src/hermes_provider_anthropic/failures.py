"""What went wrong, from a status, headers and a body to the one right ProviderError."""

import json
import math
import re
import time
from collections.abc import Mapping

from attrs import frozen

from hermes_core.errors import AuthError, ContextTooLong, ProviderError, RateLimited, Refused, Unavailable, nearest
from hermes_core.types import JSON
from hermes_provider_anthropic.service import Service

__all__ = ["Reply", "from_error_object", "from_reply", "message_of", "redact", "unreadable"]

_LONGEST = 600
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "conflict_error": 409,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_TOO_LONG = re.compile(
    r"prompt (is )?too long|input (is )?too long|exceed\w* .{0,40}context|maximum context|context[_ ](length|window)"
    r"|too many (input )?tokens|input token count",
    re.IGNORECASE,
)
_CREDIT = re.compile(r"credit balance|insufficient[_ ](balance|quota|credit)|billing|usage limit|spend", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"\bmodel\b.{0,80}(not found|not exist|not supported|unknown|invalid|deprecated|retired)"
    r"|(unknown|invalid|no such|unsupported)[_ ]model|model_not_found|\"model: ",
    re.IGNORECASE,
)
_AUTH = re.compile(r"(invalid|incorrect|missing|expired|no)[_ ]?(x-)?(api[_ -]?key|token|credential)", re.IGNORECASE)
_RATE = re.compile(r"rate[_ -]?limit|too many requests|throttl", re.IGNORECASE)
_PAGE = re.compile(r"\s*(<!doctype|<html|<head|<body|<\?xml|<!--|<h1|<center|<title)", re.IGNORECASE)
_SECRET = re.compile(r"(?i)\b(bearer\s+|sk-|key[-_=: ]+)[A-Za-z0-9._\-*]{6,}")
ADD_CREDIT = "Add credit to the account or raise its limit, or choose another provider."


@frozen(kw_only=True)
class Reply:
    """An answer that is not a success: status, headers in lower case, and the (capped) body."""

    status: int
    headers: Mapping[str, str]
    body: str


def from_reply(service: Service, reply: Reply, known_models: tuple[str, ...] = ()) -> ProviderError:
    """The error for an unsuccessful HTTP reply. ``known_models`` helps with an unknown one."""
    said = redact(message_of(reply.body), service.key)
    text = f"{service.title} answered {reply.status}" + (f": {said}" if said else ".")
    return _judge(service, reply, text, known_models)


def from_error_object(service: Service, error: JSON) -> ProviderError:
    """The error for an error object inside a reply that began as a success."""
    body = error.get("error") if isinstance(error, dict) and isinstance(error.get("error"), dict) else error
    raw = json.dumps({"error": body})
    kind = body.get("type") if isinstance(body, dict) else ""
    status = _STATUS.get(str(kind), 0)
    if not status:
        guesses = ((_TOO_LONG, 400), (_CREDIT, 402), (_RATE, 429), (_AUTH, 401))
        status = next((guess for pattern, guess in guesses if pattern.search(raw)), 500)
    text = f"{service.title} broke off with an error: {redact(message_of(raw), service.key) or 'it says nothing more'}"
    return _judge(service, Reply(status=status, headers={}, body=raw), text, ())


def _judge(service: Service, reply: Reply, text: str, known: tuple[str, ...]) -> ProviderError:
    status, raw = reply.status, reply.body[:4000]
    if status == 401:
        return AuthError(text, hint=service.key_hint)
    if status == 402 or (status in (400, 403, 429) and _CREDIT.search(raw)):
        return Refused(text, hint=ADD_CREDIT)
    if status == 403:
        return AuthError(text, hint=service.key_hint)
    if status == 413 or (status in (400, 422) and _TOO_LONG.search(raw)):
        return ContextTooLong(text, hint="Start a new session, or compact this one.")
    if status == 429:
        wait = _seconds_to_wait(reply.headers)
        hint = f"It asks to wait {wait:.0f} s." if wait else "Wait a moment, or choose another provider."
        return RateLimited(text, retry_after=wait, hint=hint)
    if status in (400, 404, 422) and _NO_MODEL.search(raw):
        return _unknown_model(service, text, known)
    if status in (404, 405):
        hint = f"Check base_url, now {service.url}: /v1/messages is added to it."
        return Unavailable(text, transient=False, hint=hint)
    if status in (400, 422) and _AUTH.search(raw):
        return AuthError(text, hint=service.key_hint)
    if status >= 500 or status in (408, 409, 425):
        return Unavailable(text, hint="Try again in a moment, or choose another provider.")
    if 300 <= status < 400:
        target = redact(reply.headers.get("location", ""), service.key)[:200]
        return Unavailable(
            f"{service.title} sent us elsewhere ({status} to {target or 'nowhere'}).",
            transient=False,
            hint=f"Check base_url, now {service.url}.",
        )
    return Refused(text)


def _unknown_model(service: Service, text: str, known: tuple[str, ...]) -> Refused:
    close = nearest(service.model, known)
    names = [close] if close else []
    names += [name for name in sorted(known) if name not in names][: 8 - len(names)]
    hint = f"It has: {', '.join(names)}." if names else "Choose another model with --model."
    return Refused(text, hint=f"Did you mean {close}? {hint}" if close else hint)


def _seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after", "").strip()
    try:
        number = float(value)
    except ValueError:
        number = _until(value)
    return number if math.isfinite(number) and number >= 0 else None


def _until(value: str) -> float:
    from email.utils import parsedate_to_datetime

    try:
        return max(parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, OverflowError):
        return math.nan


def unreadable(service: Service, body: str) -> Unavailable:
    """The error for a success whose body is neither events nor JSON."""
    if not body.strip():
        return Unavailable(f"{service.title} sent an empty body.", hint=f"Check base_url, now {service.url}.")
    if _PAGE.match(body):
        return Unavailable(
            f"{service.title} sent {message_of(body)} instead of an answer.",
            transient=False,
            hint=f"Check base_url, now {service.url}; a proxy or a login page may be in the way.",
        )
    shown = redact(" ".join(body.split())[:200], service.key)
    return Unavailable(
        f"{service.title} sent something that is not the Messages wire: {shown}", hint=f"Check base_url: {service.url}."
    )


def message_of(body: str) -> str:
    """The sentence for people in an error body, short and on one line."""
    if _PAGE.match(body):
        found = re.search(r"<title[^>]*>(.*?)</title", body[:20_000], re.IGNORECASE | re.DOTALL)
        return f"a web page titled “{' '.join(found.group(1).split())[:120]}”" if found else "a web page"
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = body
    return " ".join(_sentence(value).split())[:_LONGEST]


def _sentence(found: JSON, depth: int = 6) -> str:
    if isinstance(found, str):
        return found
    if not isinstance(found, dict) or not depth:
        return ""
    for key in ("error", "message", "detail", "base_resp", "status_msg", "msg", "type"):
        if said := _sentence(found.get(key), depth - 1):
            return said
    return ""


def redact(text: str, key: str) -> str:
    """The text without the key and without what looks like one."""
    if len(key) >= 4:
        text = text.replace(key, "…")
    return _SECRET.sub(lambda found: found.group(1) + "…", text)
