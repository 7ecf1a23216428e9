"""One question to a source of skills, and its answer as JSON."""

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from hermes_core.errors import UserError
from hermes_tool_skills.fetch import answer_of

MOST = 2_000_000  # bytes of an answer that lists things


def ask(base: str, path: str, **query: str) -> Any:
    """The JSON at a path below an address. Raises UserError, which says who did not answer and why."""
    words = urlencode({key: value for key, value in query.items() if value})
    address = f"{base.rstrip('/')}/{quote(path.lstrip('/'), safe='/-._~')}{f'?{words}' if words else ''}"
    return json_of(address)


def json_of(address: str) -> Any:
    """The JSON at an address. Raises UserError."""
    answer = answer_of(address, limit=MOST)
    refuse(address, answer.status, answer.headers, answer.body)
    return parsed(address, answer.body)


def parsed(address: str, body: bytes) -> Any:
    """What a body holds as JSON. Raises UserError."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise UserError(f"{address[:200]} did not answer in JSON.", hint="Is it the address of a source?") from None


def refuse(address: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Raise UserError for an answer that is none: with what the source said, and when to come back."""
    if status in (200, 201):
        return
    where = address.partition("?")[0][:200]
    said = " ".join(body[:300].decode("utf-8", "replace").split()) if "html" not in headers.get("content-type", "") else ""  # fmt: skip # noqa: E501
    if status == 429:
        wait = headers.get("retry-after", "")[:20]
        raise UserError(f"{where} has been asked too often.", hint=f"Try again in {wait} s." if wait else "Later.")
    raise UserError(f"{where} answered {status}{f': {said}' if said else ''}.", hint="Is the name right?")


def text(row: Any, *keys: str) -> str:
    """The first of these fields that holds a text or number, on one line."""
    for key in keys:
        value = row.get(key) if isinstance(row, dict) else None
        if isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
            return " ".join(str(value).split())[:2_000]
    return ""


def rows(data: Any, *keys: str) -> Iterable[Mapping[str, Any]]:
    """The objects of the first list that stands under one of these keys. Raises UserError where there is none."""
    for key in keys:
        found = data.get(key) if isinstance(data, dict) else None
        if isinstance(found, list):
            return [row for row in found[:2_000] if isinstance(row, dict)]
    raise UserError("The source answered in a form that is not known here.", hint="Is it of the kind that you named?")
