"""One service asked once: the request its row describes, and the results its answer holds."""

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from hermes_core.context import UrlRules
from hermes_core.errors import ToolError
from hermes_tool_kit.fetching import Fetched, Order, fetch
from hermes_tool_web.search.services import Service
from hermes_tool_web.visible import without_invisible

__all__ = ["Hit", "Keys", "Silent", "ask"]

LARGEST = 2_000_000  # bytes of an answer
_TITLE, _TEXT = 200, 400  # characters shown of a result
_TAG = re.compile(r"<[^<>]{0,300}>")


class Hit(NamedTuple):
    """One result."""

    url: str
    title: str
    text: str


class Keys(NamedTuple):
    """What a row's places are filled with besides the query: its secrets, and the address of a service of one's own."""

    key: str = ""
    other: str = ""
    base: str = ""


class Silent(Exception):
    """A service that gave no results to use. ``wait``: seconds it asked to be left alone; ``refused``: the key."""

    def __init__(self, why: str, *, wait: float = 0.0, refused: bool = False) -> None:
        super().__init__(why)
        self.why, self.wait, self.refused = why, wait, refused


async def ask(service: Service, query: str, limit: int, keys: Keys, rules: UrlRules, seconds: float) -> list[Hit]:
    """Return what a service finds, best first. Raises Silent."""
    url, order = _request(service, query, min(limit, service.most), keys)
    # The address is the row's or the person's own, not the model's; and it may hold a key, as some services want it.
    open_to = UrlRules(rules.allow_private or service.own, rules.blocked, None, rules.lookup)
    accept = "application/atom+xml" if service.shape == "feed" else "application/json"
    try:
        answer = await fetch(url, open_to, order=order, accept=accept, limit=LARGEST, seconds=seconds)
    except ToolError as error:
        raise Silent(_without(keys, _reason(error.text))) from error
    _must_be_fine(answer, keys)
    try:
        return [hit for hit in _hits(service, answer) if hit.url][:limit]
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise Silent("it answered in a form that is not documented") from error


def _reason(text: str) -> str:
    """Why an address was not opened, without the host: several services fail for one reason."""
    return text.partition(" was not opened: ")[2].rstrip(".") or text.rstrip(".")


def _request(service: Service, query: str, limit: int, keys: Keys) -> tuple[str, Order]:
    values = {"query": query, "limit": limit, **keys._asdict()}
    url = service.url if keys.key or not service.without_url else service.without_url
    url = url.replace("{base}", keys.base)
    headers = {**service.headers, **(service.with_key if keys.key else service.without_key)}
    headers = {name: str(_filled(value, values)) for name, value in headers.items()}
    if service.param:
        url += "?" + urlencode({name: _filled(value, values) for name, value in service.param.items()})
    if not service.json:
        return url, Order(headers=headers)
    import json

    body = json.dumps(_filled(service.json, values)).encode()
    return url, Order(method="POST", headers={**headers, "Content-Type": "application/json"}, body=body)


def _filled(template: Any, values: Mapping[str, Any]) -> Any:
    """Return a template with its places filled, each once: what a value holds is no place."""
    if isinstance(template, Mapping):
        return {name: _filled(value, values) for name, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    if template == "{limit}":
        return values["limit"]
    return re.sub(r"\{(\w+)\}", lambda place: str(values[place[1]]), template)


def _must_be_fine(answer: Fetched, keys: Keys) -> None:
    if answer.moved:
        raise Silent(f"it sends on to {_without(keys, answer.moved)}")
    if 200 <= answer.status < 300:
        return
    asked = answer.headers.get("retry-after", "")
    wait = float(asked) if asked.isascii() and asked.isdigit() and len(asked) < 7 else 0.0
    if answer.status in (401, 403) and keys.key:
        raise Silent(f"it refuses the key ({answer.status})", wait=wait, refused=True)
    why = "its limit is reached" if answer.status in (402, 429, 432, 433) else "it could not"
    raise Silent(f"{why} ({answer.status})", wait=wait)


def _without(keys: Keys, text: str) -> str:
    for secret in (keys.key, keys.other):
        text = text.replace(secret, "…") if secret else text
    return text


def _hits(service: Service, answer: Fetched) -> Iterator[Hit]:
    if service.shape == "feed":
        from hermes_tool_web.feeds import read_feed

        for entry in read_feed(answer.body, service.most).entries:
            yield Hit(entry.url, _plain(entry.title, _TITLE), _plain(entry.text, _TEXT))
        return
    import json

    found = json.loads(answer.body)
    lists = [_at(found, path) for path in service.results]
    if not any(isinstance(one, list) for one in lists) and any(one is not None for one in lists):
        raise ValueError
    if all(one is None for one in lists) and not isinstance(found, dict):
        raise ValueError
    for one in lists:
        for row in one or ():
            if isinstance(row, Mapping):
                yield _hit(service, row)


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _hit(service: Service, row: Mapping[str, Any]) -> Hit:
    got = {part: _words(row.get(name)) for part, name in service.fields.items()}
    url = got.get("url", "").strip()
    if not url and service.link and got.get("key"):
        from urllib.parse import quote

        url = service.link.replace("{key}", quote(got["key"], safe="()_,:"))
    return Hit(url, _plain(got.get("title", ""), _TITLE), _plain(got.get("text", ""), _TEXT))


def _words(value: Any) -> str:
    if isinstance(value, list):
        return " … ".join(_words(one) for one in value[:5])
    return str(value) if isinstance(value, str | int) else ""


def _plain(text: str, most: int) -> str:
    """Return a line without marks and without what nobody sees."""
    line = " ".join(without_invisible(html.unescape(_TAG.sub("", text[: most * 4])))[0].split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
