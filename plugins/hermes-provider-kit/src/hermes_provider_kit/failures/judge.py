"""Which reason a failed reply has, and the error that carries it.

The rules are tried in order and the first that fits decides; what no rule knows is judged by its status. A rule has
a reason, the statuses it is for (0 stands for an error inside a reply that began well), and a pattern for the body.
"""

import re
from collections.abc import Mapping

from hermes_core.errors import AuthError, ContextTooLong, ProviderError, RateLimited, Refused, Unavailable, nearest
from hermes_provider_kit.failures import Service
from hermes_provider_kit.failures.waiting import wait_in
from hermes_provider_kit.failures.words import harmless, page_title

__all__ = ["judged", "status_in"]

_BAD = (0, 400, 422)
_RULES: tuple[tuple[str, tuple[int, ...], tuple[str, ...]], ...] = (
    # what asking differently mends
    (
        "thinking_signature",
        _BAD,
        ("signature.{0,40}thinking", "thought_signature", "expected `thinking`", "thinking.{0,30}block"),
    ),
    ("invalid_encrypted_content", _BAD, ("invalid_encrypted_content", "encrypted content.{0,300}could not be")),
    (
        "grammar_pattern",
        (*_BAD, 500),
        (r"(pars|generat|compil|invalid|convert)\w*.{0,40}grammar", "grammar.{0,40}(error|fail)"),
    ),
    (
        "invalid_output",
        (*_BAD, 500),
        (
            "tool_use_failed|output_parse_failed|failed to call a function|error parsing tool call",
            "failed to parse (input at pos|tool call|function)",
        ),
    ),
    (
        "image_too_large",
        (*_BAD, 413),
        ("image.{0,80}(exceed|too (large|big))", "image dimensions|image size|too many pixels"),
    ),
    (
        "multimodal_unsupported",
        (*_BAD, 404, 500),
        (
            r"(image|vision|multimodal|image_url|mmproj)\w*.{0,60}(not (yet )?support|unsupported|must provide)",
            r"(not|n't) (yet )?support \w*\W?(image|vision|multimodal)",
            "support image input|unknown variant `image_url`|not a multimodal model|unsupported image",
        ),
    ),
    # limits of tokens in a minute that a single request exceeds, before anything that speaks of limits
    ("payload_too_large", (413, 429), ("request too large.{0,200}(tpm|tokens per min)",)),
    (
        "long_context_tier",
        (400, 403, 429),
        ("long[- ]context.{0,80}(not (yet )?available|extra usage|beta)", "usage.{0,30}long context"),
    ),
    # money; limits that pass by themselves often speak of quotas and plans too
    (
        "rate_limit",
        (429,),
        (
            r"retryinfo|per[ _-]?(minute|day|hour)|\b[rt]p[md]\b",
            r"throttling\.|error-code#token-limit|usage_limit_reached",
        ),
    ),
    (
        "billing",
        (0, 400, 401, 402, 403, 412, 429, 500),
        (
            r"insufficient[_ ](user[_ ])?(account[_ ])?(quota|balance|credit|funds)",
            "exceeded (your )?current[_ ]quota|credit balance|not enough credit|requires more credits",
            "(no|any|out of) (remaining )?credits(?! were)|credits? (expired|exhausted|depleted)|no resource package",
            "billing[_ ](hard|not|limit|error)|payment required|arrear|good standing|余额不足|欠费",
            "api usage limits|usage limits? (reached|exceeded)|monthly (usage|included)|spend(ing)?[ _]limit",
        ),
    ),
    (
        "auth_permanent",
        (400, 401, 403),
        ("token_revoked|invalid_grant|refresh_token_reused|deactivated", "(been|was|is) (revoked|disabled)"),
    ),
    (
        "overloaded",
        (0, 429, 500, 503, 529),
        ("overloaded|over capacity|capacity[_ ]exceeded|at capacity", "loading( the)? model|is currently loading"),
    ),
    (
        "upstream_rate_limit",
        (429,),
        ("rate[- ]limited upstream|(error from|by) provider|provider returned error",),
    ),
    # what does not fit
    (
        "context_overflow",
        (*_BAD, 413, 500),
        (
            "context[_ -]?(length|window|size)|maximum context|context limit|reduce the length",
            "max(imum)? (input |prompt |sequence |model )?(length|tokens)|larger than .{0,30}context",
            "(prompt|input) (is )?too long|too many (input )?tokens|exceed\\w* .{0,40}(context|token limit)",
            r"input length .{0,60}exceed|token count exceeds|token count \(|input length should be|n_ctx",
            "prompt exceeds|string_above_max_length|`inputs` tokens|`inputs` must have less|context the overflows",
            "token length (is )?too long",
            "maximum number of tokens allowed|tokens? limit exceeded|token limit:|上下文|超过.{0,12}(长度|token)",
        ),
    ),
    # what it will not do
    (
        "provider_policy_blocked",
        (400, 403, 404),
        ("data policy|guardrail restrictions|no allowed providers|privacy settings",),
    ),
    (
        "content_policy_blocked",
        (0, 400, 403, 422, 451, 500),
        (
            "content[_ ]?(policy|filter|management|exists risk)|responsibleai|data[_ ]?inspection|invalid_prompt",
            r"\bsafety\b|safety_check|moderation|flagged|sensitive (content|words)|new_sensitive|敏感",
            "usage (policy|policies|guidelines)|prohibited",
        ),
    ),
    (
        "model_not_found",
        (*_BAD, 401, 403, 404, 410),
        (
            "model.{0,80}(not found|does ?n.t exist|does not exist|not exist|unknown|not supported|no longer)",
            "model.{0,80}(decommission|retired|deprecated)|(unknown|invalid|no such|unsupported)[_ ]model",
            "model_not_found|not a valid model|no endpoints found|not found the model|no models? loaded",
            "model (identifier|name|id).{0,20}invalid|deploymentnotfound|access to (the |this )?model",
            '"model: |not found for account|unable to access model',
        ),
    ),
    (
        "auth",
        _BAD,
        (
            "(invalid|incorrect|missing|expired|no)[_ ]?(x-)?(api[_ -]?key|token|auth|credential)",
            "unauthorized|authenticat|key not valid|permission",
        ),
    ),
    # an error inside a reply has no status to go by
    ("rate_limit", (0,), ("rate[_ -]?limit|too many requests|quota|throttl|concurren|速率|频率",)),
    ("timeout", (0,), ("time[d_ -]*out",)),
)
_OUTPUT_ONLY = (
    r"(?i)max_(completion_|output_)?tokens.{0,40}(is too large|must be|should be|invalid)|maximum tokens you requested"
)
_BUSY = r"(?i)overloaded|capacity|unavailable|try again|upstream|loading model"
_BY_STATUS = {401: "auth", 402: "billing", 403: "auth", 404: "wrong_address", 405: "wrong_address", 408: "timeout"}
_BY_STATUS |= {
    501: "format_error",
    413: "payload_too_large",
    429: "rate_limit",
    498: "overloaded",
    503: "overloaded",
    504: "timeout",
}
_BY_STATUS |= {409: "server_error", 425: "server_error", 522: "timeout", 524: "timeout", 529: "overloaded"}
_BY_TYPE = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500,
    "timeout_error": 504, "overloaded_error": 529,
}  # fmt: skip
_LENGTH = r"(?:maximum (?:context|prompt|model|input) (?:length|size)|context (?:length|window|size)|token limit"
_WINDOW = (
    _LENGTH + r"|\"n_ctx\"|n_ctx)(?: is| of)?(?: only)?:? ?\(?(\d{3,8})",
    r"> ?(\d{3,8})(?: maximum|,|\.|\)|$| *\")",
    r"with (\d{3,8}) maximum context",
    r"tokens allowed \(?(\d{3,8})",
    r"length should be \[\d+, ?(\d{3,8})",
    r"must be <= (\d{3,8})|must have less than (\d{3,8})",
    r"limit:? (\d{3,8}), requested",
)
_HINTS = {
    "billing": "Add credit to the account or raise its limit, or choose another provider.",
    "context_overflow": "Start a new session, or compact this one.",
    "payload_too_large": "Start a new session, or compact this one.",
    "long_context_tier": "Start a new session, or compact this one.",
    "content_policy_blocked": "Its content policy refused this; say it differently or choose another model.",
    "provider_policy_blocked": "Change the data policy in the account's settings, or choose another model.",
    "image_too_large": "Send a smaller picture.",
    "multimodal_unsupported": "Choose a model that takes pictures.",
    "invalid_output": "Ask again; a larger model writes fewer broken calls.",
}
_AGAIN = "Try again in a moment, or choose another provider."
_LONG_TIER = 200_000  # what accounts without the long window may send


def judged(
    status: int, body: str, headers: Mapping[str, str], text: str, service: Service, models: tuple[str, ...]
) -> ProviderError:
    """The error for a reply; ``headers`` are in lower case. A status of 0 is an error inside a good reply."""
    raw = body[:8000]
    reason = _reason(status, raw, models)
    hint, wait = _HINTS.get(reason, ""), wait_in(headers, body)
    if reason in ("auth", "auth_permanent"):
        return AuthError(text, permanent=reason == "auth_permanent", hint=service.key_hint, reason=reason)
    if reason in ("rate_limit", "upstream_rate_limit") or (reason == "billing" and wait):
        told = f"Wait {f'{wait:.0f} s, as it asks' if wait else 'a moment'}, or choose another provider."
        return RateLimited(text, retry_after=wait, hint=hint or told, reason=reason)
    if reason in ("context_overflow", "payload_too_large", "long_context_tier"):
        window = _LONG_TIER if reason == "long_context_tier" else _window(raw)
        return ContextTooLong(text, window=window, hint=hint, reason=reason)
    if reason == "wrong_address":
        return Unavailable(text, transient=False, hint=service.place_hint, reason=reason)
    if reason in ("server_error", "overloaded", "timeout", "invalid_output"):
        return Unavailable(text, retry_after=wait, hint=hint or _AGAIN, reason=reason)
    return Refused(text, hint=_other_model(service, models) if reason == "model_not_found" else hint, reason=reason)


def _reason(status: int, raw: str, models: tuple[str, ...]) -> str:
    if 300 <= status < 400 or (status in (403, 404) and page_title(raw) is not None):
        return "wrong_address"
    for reason, statuses, patterns in _RULES:
        if status not in statuses or not re.search("|".join(patterns), raw, re.IGNORECASE | re.DOTALL):
            continue
        if reason != "context_overflow" or not _is_something_else(status, raw):
            return reason
    if status in (404, 410) and models:
        return "model_not_found"
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return "server_error" if status == 0 or status >= 500 else "format_error"


def _is_something_else(status: int, raw: str) -> bool:
    """Whether what speaks of lengths is about the reply's length, or about a lack of room."""
    return bool(re.search(_OUTPUT_ONLY, raw) or (status in (0, 500) and re.search(_BUSY, raw)))


def _window(raw: str) -> int:
    for pattern in _WINDOW:
        if found := re.search(pattern, raw, re.IGNORECASE):
            return int(found[found.lastindex or 1])
    return 0


def status_in(body: str) -> int:
    """The status that an error object names, or 0."""
    if found := re.search(r'"(?:code|status|status_code|http_status|http_code)": ?"?([45]\d\d)\b', body):
        return int(found[1])
    found = re.search(r'"type": ?"(\w+)"', body)
    return _BY_TYPE.get(found[1], 0) if found else 0


def _other_model(service: Service, models: tuple[str, ...]) -> str:
    models = tuple(name for name in models if name != service.model)  # listed, and yet not to be had
    close = nearest(service.model, models)
    names = [close] if close else []
    names += [name for name in sorted(models) if name not in names][: 8 - len(names)]
    more = len(models) - len(names)
    if not names:
        return "Choose another model with --model."
    there = f"It has: {', '.join(names)}" + (f", and {more} more." if more > 0 else "")
    return harmless(f"Did you mean {close}? {there}" if close else there)
