"""The words of error bodies, whatever their dialect: the sentence for people in them, without secrets."""

import json
import re

from hermes_core.masking import masked
from hermes_core.types.base import JSON

__all__ = ["harmless", "page_title", "sentence_in", "without_secrets"]

_LONGEST = 600
_PAGE = r"(?i)\s*(<!doctype|<html|<head|<body|<\?xml|<!--|<h1|<center|<title)"
_KEYLIKE = r"(?i)\b(bearer\s+|sk-|hf_|gsk_|nvapi-|xai-|gh[opu]_|key[-_=: ]+)[A-Za-z0-9._\-*]{6,}"
_KEYS = (
    "error", "message", "msg", "detail", "details", "errors", "error_message", "base_resp", "status_msg", "title",
    "reason", "code", "type",
)  # fmt: skip


def page_title(body: str) -> str | None:
    """The title of a web page, empty when it has none; None when this is no web page."""
    if not re.match(_PAGE, body):
        return None
    found = re.search(r"(?is)<title[^>]*>(.*?)</title", body[:20_000])
    return harmless(" ".join(found[1].split())[:120]) if found else ""


def sentence_in(body: str) -> str:
    """The sentence for people in a body, short and on one line."""
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
    for key in _KEYS:
        if said := _sentence(found.get(key), depth - 1):
            inner = found.get("metadata")
            raw = inner.get("raw") if isinstance(inner, dict) else None  # what a router's upstream said
            return f"{said} ({raw})" if isinstance(raw, str) and raw and raw not in said else said
    return ""


def harmless(text: str) -> str:
    """The text without what a terminal obeys, or what hides or turns round the words beside it."""
    return "".join(sign for sign in text if sign.isprintable() or sign == "\n")


def without_secrets(text: str, key: str) -> str:
    """The text without the key, secrets, and what looks like a short or half hidden key, as services quote them.

    It is read in a terminal, so nothing in it drives one; nor does such a sign between its letters hide a key.
    """
    text = harmless(text)
    if len(key) >= 4:
        text = text.replace(key, "…")
    text = masked(text)
    return re.sub(_KEYLIKE, lambda found: found[1] + "…", text)
