"""What went wrong, from a status, headers and a body in any dialect to the one right ProviderError."""

import json
import re
from collections.abc import Mapping

from attrs import frozen

from hermes_core.errors import (
    AuthError,
    ContextTooLong,
    ProviderError,
    RateLimited,
    Refused,
    Unavailable,
    nearest,
)
from hermes_core.types import JSON
from hermes_provider_openai.service import Service
from hermes_provider_openai.waiting import seconds_to_wait

__all__ = ["Reply", "from_error_object", "from_reply", "message_of", "page_title", "redact", "unreadable"]

_LONGEST = 600
_TOO_LONG = re.compile(
    r"context[_ -]?(length|window|size)|maximum context|max(imum)? (input |prompt |sequence )?(length|tokens)"
    r"|prompt (is )?too long|input (is )?too long|too many (input )?tokens|exceed\w* .{0,40}(context|token limit)"
    r"|reduce the length|input length .{0,60}exceed|input token count|token count exceeds|larger than .{0,30}context"
    r"|(range of )?input length should be|n_ctx|prompt exceeds|string_above_max_length|上下文|超过.{0,12}(长度|token)",
    re.IGNORECASE,
)
_OUTPUT_ONLY = re.compile(
    r"max_(completion_|output_)?tokens.{0,40}(is too large|must be|should be|invalid)", re.IGNORECASE
)
_CREDIT = re.compile(
    r"insufficient[_ ](quota|balance|credit|funds)|exceeded your current quota|credit balance|not enough credit"
    r"|no (remaining )?credits|requires more credits|billing[_ ](hard|not)|payment required|余额不足|欠费",
    re.IGNORECASE,
)
_POLICY = re.compile(
    r"content[_ ](policy|filter)|safety|moderation|flagged|data[_ ]inspection|sensitive", re.IGNORECASE
)
_NO_MODEL = re.compile(
    r"model.{0,80}(not found|does ?n.t exist|does not exist|not exist|unknown|not supported|no longer|invalid)"
    r"|(unknown|invalid|no such|unsupported)[_ ]model|model_not_found|not a valid model|no endpoints found",
    re.IGNORECASE,
)
_AUTH = re.compile(
    r"(invalid|incorrect|missing|expired|no)[_ ]?(api[_ ]?key|token|auth|credential)|unauthorized|authenticat"
    r"|key not valid",
    re.IGNORECASE,
)
_RATE = re.compile(r"rate[_ -]?limit|too many requests|quota|throttl|concurren|速率|频率", re.IGNORECASE)
_BUSY = re.compile(
    r"overloaded|capacity|unavailable|server[_ ]error|internal[_ ]error|temporar|time[d_ -]*out|try again|upstream"
    r"|loading model|engine.{0,20}(busy|dead)",
    re.IGNORECASE,
)
_SECRET = re.compile(r"(?i)\b(bearer\s+|sk-|hf_|gsk_|nvapi-|xai-|gh[opu]_|key[-_=: ]+)[A-Za-z0-9._\-*]{6,}")


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
    status = reply.status
    raw = reply.body[:4000]
    if status == 401 or (status == 403 and not _POLICY.search(raw)):
        if status == 403 and _CREDIT.search(raw):
            return Refused(text, hint="Add credit to the account, or choose another provider.")
        return AuthError(text, hint=service.key_hint)
    if status == 402:
        return Refused(text, hint="Add credit to the account, or choose another provider.")
    if status == 429:
        return _too_many(text, raw, reply)
    if status in (400, 404, 405, 410, 413, 422):
        return _bad_request(service, status, text, raw, known_models)
    if status >= 500 and _TOO_LONG.search(raw) and not _BUSY.search(raw):
        return ContextTooLong(text, hint="Start a new session, or compact this one.")
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


def _too_many(text: str, raw: str, reply: Reply) -> ProviderError:
    if _CREDIT.search(raw) and not re.search(r"per (minute|day|hour)|rpm|tpm", raw, re.IGNORECASE):
        return Refused(text, hint="Add credit to the account, or choose another provider.")
    wait = seconds_to_wait(reply.headers, reply.body)
    hint = f"It asks to wait {wait:.0f} s." if wait else "Wait a moment, or choose another provider."
    return RateLimited(text, retry_after=wait, hint=hint)


def _bad_request(service: Service, status: int, text: str, raw: str, known: tuple[str, ...]) -> ProviderError:
    if status == 413 or (_TOO_LONG.search(raw) and not _OUTPUT_ONLY.search(raw)):
        return ContextTooLong(text, hint="Start a new session, or compact this one.")
    if _CREDIT.search(raw):
        return Refused(text, hint="Add credit to the account, or choose another provider.")
    if _NO_MODEL.search(raw) or (status in (404, 410) and known):
        return _unknown_model(service, text, known)
    if status in (404, 405):
        hint = f"Check base_url, now {service.url}."
        if not service.url.rstrip("/").endswith(("/v1", "/v2", "/v3", "/v4")):
            hint = f"Check base_url: most servers want it to end with /v1, as in {service.url.rstrip('/')}/v1."
        return Unavailable(text, transient=False, hint=hint)
    if status in (400, 422) and _AUTH.search(raw):
        return AuthError(text, hint=service.key_hint)
    if _POLICY.search(raw):
        return Refused(text, hint="Its content policy refused this; say it differently or choose another model.")
    return Refused(text)


def _unknown_model(service: Service, text: str, known: tuple[str, ...]) -> Refused:
    close = nearest(service.model, known)
    names = [close] if close else []
    names += [name for name in sorted(known) if name not in names][: 8 - len(names)]
    hint = "Choose another model with --model."
    if close:
        hint = f"Did you mean {close}? It has: {', '.join(names)}"
    elif names:
        hint = f"It has: {', '.join(names)}"
    more = len(known) - len(names)
    return Refused(text, hint=hint + (f", and {more} more." if names and more > 0 else ""))


def from_error_object(service: Service, error: JSON) -> ProviderError:
    """The error for an error object inside a reply that began as a success."""
    body = error if isinstance(error, dict) else {"message": error}
    if isinstance(body.get("error"), dict):
        body = body["error"]
    raw = json.dumps({"error": body}, ensure_ascii=True)
    for key in ("code", "status", "status_code", "http_status"):
        code = body.get(key)
        number = int(code) if isinstance(code, str) and re.fullmatch(r"[3-5]\d\d", code) else code
        if isinstance(number, int) and not isinstance(number, bool) and 300 < number < 600:
            return from_reply(service, Reply(status=number, headers={}, body=raw))
    guess = 500
    for status, pattern in ((402, _CREDIT), (400, _TOO_LONG), (429, _RATE), (401, _AUTH), (503, _BUSY), (400, _POLICY)):
        if pattern.search(raw):
            guess = status
            break
    found = from_reply(service, Reply(status=guess, headers={}, body=raw))
    found.text = f"{service.title} broke off with an error: {redact(message_of(raw), service.key)}"
    found.args = (found.text,)
    return found


def unreadable(service: Service, body: str) -> Unavailable:
    """The error for a success whose body is neither events nor JSON."""
    if not body.strip():
        return Unavailable(f"{service.title} sent an empty body.", hint=f"Check base_url, now {service.url}.")
    if (title := page_title(body)) is not None:
        shown = f" titled “{title}”" if title else ""
        return Unavailable(
            f"{service.title} sent a web page{shown} instead of an answer.",
            transient=False,
            hint=f"Check base_url, now {service.url}; a proxy or a login page may be in the way.",
        )
    shown = redact(" ".join(body.split())[:200], service.key)
    return Unavailable(
        f"{service.title} sent something that is not JSON: {shown}", hint=f"It was asked at {service.url}."
    )


def page_title(body: str) -> str | None:
    """The title of a web page, empty when it has none; None when this is no web page."""
    head = body[:20_000]
    if not re.match(r"\s*(<!doctype|<html|<head|<body|<\?xml|<!--|<h1|<center|<title)", head, re.IGNORECASE):
        return None
    found = re.search(r"<title[^>]*>(.*?)</title", head, re.IGNORECASE | re.DOTALL)
    return " ".join(found.group(1).split())[:120] if found else ""


def message_of(body: str) -> str:
    """The sentence for people in an error body of any dialect, short and on one line."""
    if (title := page_title(body)) is not None:
        return f"a web page titled “{title}”" if title else "a web page"
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = body
    return " ".join(_sentence(found).split())[:_LONGEST]


def _sentence(found: JSON, depth: int = 6) -> str:
    if isinstance(found, str):
        return found
    if isinstance(found, list) and depth:
        return "; ".join(filter(None, (_sentence(item, depth - 1) for item in found[:5])))
    if not isinstance(found, dict) or not depth:
        return ""
    for key in (
        "error",
        "message",
        "msg",
        "detail",
        "details",
        "errors",
        "error_message",
        "title",
        "reason",
        "code",
        "type",
    ):
        if said := _sentence(found.get(key), depth - 1):
            inner = found.get("metadata")
            raw = inner.get("raw") if isinstance(inner, dict) else None  # what a router's upstream said
            return f"{said} ({raw})" if isinstance(raw, str) and raw and raw not in said else said
    return ""


def redact(text: str, key: str) -> str:
    """The text without the key and without what looks like one."""
    if len(key) >= 4:
        text = text.replace(key, "…")
    return _SECRET.sub(lambda found: found.group(1) + "…", text)
