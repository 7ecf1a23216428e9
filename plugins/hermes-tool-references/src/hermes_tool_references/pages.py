"""A page of the web as text. Whatever is on it comes from outside."""

import asyncio
import html
import re

from hermes_core.context import UrlRules
from hermes_core.errors import HermesError
from hermes_tool_kit.fetching import Fetched, fetch
from hermes_tool_references.found import Found, Refused
from hermes_tool_references.parsing import Reference

ACCEPT = "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5"
_SOURCE = 1_000_000  # characters that are converted; a tenth of a second
_TEXT = re.compile(r"text/.*|.*[/+](json|xml|yaml|toml|csv)|application/(x-)?(javascript|x-ndjson|sql|sh)|")
_HTML = re.compile(r"\s*(<!--.{0,500}?-->\s*)?<(!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title[^>]{0,200}>(.{0,1000}?)</title", re.IGNORECASE | re.DOTALL)
_CHARSET = re.compile(r"charset=[\"']?(utf-?8|iso-8859-1|windows-1252|us-ascii)", re.IGNORECASE)
# What shows nothing to people, and is read by a model all the same.
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufffb"
    "\U000e0000-\U000e0fff]"
)


async def read_page(wanted: Reference, rules: UrlRules, most: int, seconds: float) -> Found:
    """The text of a page. Raises Refused when it may not or cannot be opened, or is no text."""
    url = wanted.value if re.match(r"[a-zA-Z][\w+.-]*:", wanted.value) else f"https://{wanted.value}"
    try:
        answer = await fetch(url, rules, accept=ACCEPT, limit=max(most, _SOURCE) * 2, seconds=seconds)
    except HermesError as error:
        raise Refused((error.text.partition(" was not opened: ")[2] or error.text).rstrip(".")) from None
    if answer.moved:
        raise Refused(f"it sends you on to another site: {answer.moved}")
    if not 200 <= answer.status < 300:
        raise Refused(f"it was answered with status {answer.status}")
    title, text = await asyncio.to_thread(_readable, answer)
    cut = f" (cut: {answer.cut})" if answer.cut else ""
    shown = f"{' '.join(title.split())[:200]}, {answer.url}" if title else answer.url
    return Found(label=answer.url, title=f"{shown}{cut}", text=text or "(no text)", untrusted=True)


def _readable(answer: Fetched) -> tuple[str, str]:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not (_TEXT.fullmatch(kind) or kind == "application/xhtml+xml") or b"\0" in answer.body[:8_192]:
        raise Refused(f"it is {kind or 'binary data'}, not text")
    charset = _CHARSET.search(answer.headers.get("content-type", ""))
    latin = charset is not None and charset[1].lower() in ("iso-8859-1", "windows-1252")
    text = answer.body.decode("cp1252" if latin else "utf-8", "replace")
    title = ""
    if "html" in kind or _HTML.match(text[:1_000]):
        found = _TITLE.search(text[:50_000])
        title = _UNSEEN.sub("", html.unescape(found[1])) if found else ""
        text = _markdown(text[:_SOURCE], answer.url)
    return title, _UNSEEN.sub("", text).strip()


def _markdown(source: str, url: str) -> str:
    from html_to_markdown import ConversionOptions, convert

    options = ConversionOptions(
        extract_metadata=False, skip_images=True, autolinks=False, base_url=url, hidden_content="drop"
    )
    try:
        return convert(source, options).content or ""
    except Exception as error:  # its errors have no base of their own; a page must not cost a message
        raise Refused(f"it could not be made readable ({type(error).__name__})") from error
