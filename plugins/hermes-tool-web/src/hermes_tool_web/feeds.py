"""RSS, Atom and JSON feeds as entries, whatever their length; what makes a parser grow is refused."""

import io
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from hermes_core.values import frozen

__all__ = ["Entry", "Feed", "looks_like_feed", "read_feed"]

MOST = 50  # entries that are kept
_TEXT = 4_000  # characters that are kept of one
_KINDS = ("application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml")
_ENDS = frozenset(
    (
        "title",
        "link",
        "guid",
        "id",
        "summary",
        "description",
        "content",
        "encoded",
        "pubDate",
        "published",
        "updated",
        "date",
        "creator",
        "name",
    )
)
_INSIDE = frozenset(("div", "p", "a", "b", "i", "em", "strong", "span", "br", "li", "ul", "ol", "code", "pre"))


class Entry(NamedTuple):
    """One entry; ``text`` as it is written, often HTML."""

    title: str
    url: str
    date: str
    author: str
    text: str


@frozen(kw_only=True)
class Feed:
    """A feed's title and its first entries; ``count`` is how many it has, ``broken`` why it was not read to its end."""

    title: str
    entries: list[Entry]
    count: int
    broken: str = ""


def looks_like_feed(kind: str, text: str) -> bool:
    """Tell whether a body is a feed, by its type, and by its beginning where the type is a wider one."""
    if kind in _KINDS:
        return True
    head = text[:1_000]
    if kind.endswith("json"):
        return "https://jsonfeed.org/version/" in head
    if kind and not kind.endswith("xml") and kind not in ("text/plain", "application/octet-stream"):
        return False
    return head.lstrip("\ufeff \r\n\t").startswith("<") and any(mark in head for mark in ("<rss", "<feed", "<rdf:RDF"))


def read_feed(body: bytes, most: int = MOST) -> Feed:
    """Return the first entries of a feed. Raises ValueError for what is none."""
    start = body[:64].lstrip(b"\xef\xbb\xbf \r\n\t")
    return _json_feed(body, most) if start.startswith(b"{") else _xml_feed(body, most)


def _json_feed(body: bytes, most: int) -> Feed:
    try:
        found = json.loads(body)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    items = found.get("items") if isinstance(found, dict) else None
    if not isinstance(items, list):
        raise ValueError("it has no items")
    rows = [item for item in items if isinstance(item, dict)]
    return Feed(title=_line(found.get("title")), entries=[_of_json(row) for row in rows[:most]], count=len(rows))


def _of_json(item: Mapping[str, Any]) -> Entry:
    authors = item.get("authors") or [item.get("author")]
    author = authors[0] if isinstance(authors, list) and isinstance(authors[0], dict) else {}
    text = item.get("content_text") or item.get("summary") or item.get("content_html") or ""
    url, date = _line(item.get("url") or item.get("external_url")), _line(item.get("date_published"))
    return Entry(_line(item.get("title")), url, date, _line(author.get("name")), str(text)[:_TEXT])


def _xml_feed(body: bytes, most: int) -> Feed:
    from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
    from defusedxml.ElementTree import ParseError, iterparse  # type: ignore[import-untyped]

    reading, broken = _Reading(most), ""
    try:
        for event, element in iterparse(io.BytesIO(body), events=("start", "end")):
            name = element.tag.rpartition("}")[2]
            if event == "start":
                reading.begin(name)
            else:
                reading.end(name, element)
    except DefusedXmlException:
        raise ValueError("it defines entities, which make a small text a huge one") from None
    except ParseError as error:
        broken = str(error)
    if not reading.count and reading.root not in ("rss", "feed", "RDF"):
        raise ValueError(broken or "it is no feed")
    return Feed(title=_line(reading.title), entries=reading.entries, count=reading.count, broken=broken)


class _Reading:
    """What was read of an XML feed so far. Elements that are done with are emptied, so a long one takes no memory."""

    def __init__(self, most: int) -> None:
        self.root = self.title = ""
        self.entries: list[Entry] = []
        self.count = 0
        self._most, self._inside, self._parts = most, False, dict[str, str]()

    def begin(self, name: str) -> None:
        self.root = self.root or name
        if name in ("item", "entry"):
            self._inside, self._parts = True, {}

    def end(self, name: str, element: Any) -> None:
        if name in ("item", "entry"):
            self._inside, self.count = False, self.count + 1
            if len(self.entries) < self._most:
                self.entries.append(_of_xml(self._parts))
        elif name in _ENDS:
            if self._inside:
                _keep(self._parts, name, element, _content(element))
            elif name == "title" and not self.title and not self.count:
                self.title = _content(element)
        if name not in _INSIDE:  # of XHTML in an Atom entry the whole is wanted
            element.clear()


def _content(element: Any) -> str:
    """Return the text of an element, of those in it too, up to a bound."""
    pieces, size = [], 0
    for piece in element.itertext():
        pieces.append(piece)
        size += len(piece)
        if size > _TEXT:
            break
    return "".join(pieces)[:_TEXT].strip()


def _keep(parts: dict[str, str], name: str, element: Any, text: str) -> None:
    if name == "link" and element.get("href"):
        if element.get("rel", "alternate") == "alternate" or "link" not in parts:
            parts["link"] = element.get("href", "")
    elif name == "guid" and element.get("isPermaLink", "true") != "true":
        return
    elif text:
        parts.setdefault(name, text)


def _of_xml(parts: Mapping[str, str]) -> Entry:
    def first(*names: str) -> str:
        return next((parts[name] for name in names if parts.get(name)), "")

    url = first("link", "guid", "id")
    text = first("encoded", "content", "summary", "description")
    date, author = first("published", "pubDate", "date", "updated"), first("creator", "name")
    return Entry(_line(first("title")), url if url.startswith("http") else "", _line(date), _line(author), text)


def _line(value: object) -> str:
    return " ".join(value.split())[:300] if isinstance(value, str) else ""
