"""What came back from a server, as text that a model can read."""

import asyncio
import html
import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice

from hermes_core.errors import ToolError
from hermes_core.values import frozen
from hermes_tool_kit.fetching import Fetched
from hermes_tool_web.charset import decode, is_binary
from hermes_tool_web.feeds import Entry, looks_like_feed, read_feed
from hermes_tool_web.visible import without_invisible

HTML = 2_000_000  # characters that are converted; the converter holds up everything else meanwhile, an eighth of a
# second for each million
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_TEXT_TYPES = re.compile(
    r"text/.*|.*[/+](json|xml|yaml|toml|csv)|application/(x-)?(javascript|ecmascript|ld\+json|x-ndjson|sql|graphql|sh)"
)
_BEGINS_AS_HTML = re.compile(r"\s*(<!--.{0,500}?-->\s*)?<(!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_LONG = 100_000  # bytes above which a page is read in a thread: all but the converter lets others run meanwhile
_SHOWN = 600  # characters of an entry of a feed
_LEAST = 250  # characters that the marked main part of a page must have to stand for it
_MAIN = re.compile(r"<main\b|<(?:div|section)\s[^<>]{0,300}?role\s*=\s*[\"']?main\b")
_ARTICLE = re.compile(r"<article\b")
_ARTICLES, _ARTICLE_WORDS = 40, 80  # that are looked at; that one has
_MARKUP = re.compile(r"<(script|style)\b.{0,200000}?</\1|<[^<>]{0,2000}>", re.IGNORECASE | re.DOTALL)
# What stands in an article and is not of it. Comments are: of a discussion they are the whole.
_BESIDE = (
    *("aside", "footer", "[role=complementary]", "[role=contentinfo]", "[role=navigation]", ".sidebar", "#sidebar"),
    *(".related", ".share", ".social", ".newsletter", ".breadcrumb", ".breadcrumbs", ".tags", ".cookie", ".promo"),
    *(".advertisement", ".author-bio"),
)
_LINK = re.compile(
    r"""<a\s[^<>]{0,500}?\bhref\s*=\s*(?:"([^"<>]{1,2000})"|'([^'<>]{1,2000})'|([^\s"'<>]{1,2000}))""", re.IGNORECASE
)
_DOCUMENTS = {"application/pdf": ".pdf", "application/epub+zip": ".epub", "application/vnd.ms-excel": ".xls"}
_DOCUMENTS |= {
    f"application/vnd.openxmlformats-officedocument.{name}": ending
    for name, ending in (
        ("wordprocessingml.document", ".docx"),
        ("spreadsheetml.sheet", ".xlsx"),
        ("presentationml.presentation", ".pptx"),
    )
}
_DOCUMENTS |= {
    f"application/vnd.oasis.opendocument.{name}": ending
    for name, ending in (("text", ".odt"), ("spreadsheet", ".ods"), ("presentation", ".odp"))
}
# Styles that hide and that the converter does not know; what is hidden by rules elsewhere cannot be told from here.
_STYLED = re.compile(r"""(<[a-zA-Z][^<>]{0,2000}?\s)style\s*=\s*(?:"([^"<>]{0,2000})"|'([^'<>]{0,2000})')""")
_HIDES = re.compile(
    r"(?:^|[;\s])(?:opacity\s*:\s*0*\.?0*\s*(?:[;!]|$)|font-size\s*:\s*[01](?:\.\d*)?\s*(?:px|pt)?\s*(?:[;!]|$)"
    r"|(?:left|right|top|bottom|text-indent|margin-left|margin-top)\s*:\s*-\d{3}|clip(?:-path)?\s*:\s*(?:rect|inset)\("
    r"|(?:max-)?(?:width|height)\s*:\s*[01](?:px|pt)?\s*(?:[;!]|$)|color\s*:\s*transparent)",
    re.IGNORECASE,
)
_NO_PLACE = re.compile(r"\]\(<?(?:javascript|data|vbscript|blob):[^)\n]*(\)?)", re.IGNORECASE)


@frozen(kw_only=True)
class Page:
    """A page to read. ``notes`` say what is missing from it."""

    url: str
    title: str
    kind: str
    text: str
    notes: tuple[str, ...] = ()


async def read(answer: Fetched, *, links: bool, seconds: float) -> Page:
    """Return the page in an answer, documents too, without holding up what else runs. Raises ToolError."""
    kind, _ = _content_type(answer.headers.get("content-type", ""))
    if (name := _document_name(answer, kind)) is not None:
        return await _document(answer, kind, name, seconds)
    if len(answer.body) > _LONG:
        return await asyncio.to_thread(readable, answer, links=links)
    return readable(answer, links=links)


def readable(answer: Fetched, *, links: bool) -> Page:
    """The page in an answer: HTML and feeds as Markdown, other text as it is. Raises ToolError for what is no text."""
    kind, charset = _content_type(answer.headers.get("content-type", ""))
    body = answer.body
    if (kind and kind != "application/octet-stream" and not _is_text(kind)) or is_binary(body):
        what = kind if kind and not _is_text(kind) else "binary data"
        raise ToolError(f"{answer.url} is {what}, not text ({len(body):,} bytes).", retry=False)
    text = decode(body, charset)
    notes = [f"The page was cut: {answer.cut}."] if answer.cut else []
    title = ""
    if _is_html(kind, text):
        kind = "text/html"
        if len(text) > HTML:
            notes.append(f"Only the first {HTML:,} characters of the page's source were read.")
        title, text = _markdown(text[:HTML], answer.url, links=links)
    elif looks_like_feed(kind, text):
        title, text, more = _feed(body, text)
        notes += more
    text, removed = without_invisible(text)
    if removed:
        notes.append(f"Removed {removed:,} invisible character{'s' * (removed > 1)}; somebody may have hidden text.")
    return Page(url=answer.url, title=title, kind=kind or "text", text=text.strip("\n"), notes=tuple(notes))


def links_of(answer: Fetched) -> list[str]:
    """Return where the links of a page lead, each once, in their order; of what is no HTML none."""
    kind, charset = _content_type(answer.headers.get("content-type", ""))
    text = decode(answer.body[: HTML * 2], charset)
    if is_binary(answer.body) or not _is_html(kind, text):
        return []
    from urllib.parse import urljoin

    found: dict[str, None] = {}
    for match in _LINK.finditer(text[:HTML]):
        try:
            url = urljoin(answer.url, html.unescape(match[1] or match[2] or match[3]).strip())
        except ValueError:
            continue
        if url.startswith(("http://", "https://")):
            found.setdefault(url.partition("#")[0])
    return list(found)


def _document_name(answer: Fetched, kind: str) -> str | None:
    """Return a name with the ending that tells what a document is; None for what is none."""
    from urllib.parse import unquote, urlsplit

    body, ending = answer.body, _DOCUMENTS.get(kind)
    if ending is None and not body.startswith((b"%PDF", b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        return None
    if ending:
        return f"document{ending}"
    name = unquote(urlsplit(answer.url).path).rpartition("/")[2]
    try:
        from hermes_documents.reading import is_document
    except ImportError:
        return "document.pdf" if body.startswith(b"%PDF") else None
    return name if is_document(body, name) else None


async def _document(answer: Fetched, kind: str, name: str, seconds: float) -> Page:
    what = "a PDF" if answer.body.startswith(b"%PDF") or name.endswith(".pdf") else f"a document ({kind or name})"
    try:
        from hermes_documents.reading import Unreadable, read_markdown
    except ImportError:
        raise ToolError(
            f"{answer.url} is {what}, which this Hermes does not read.",
            hint="A person can add hermes-tool-web[documents]. Or look for the same as a web page.",
            retry=False,
        ) from None
    if answer.cut:
        raise ToolError(
            f"{answer.url} is {what} that did not come whole: {answer.cut}.",
            hint="A person can raise tools.web.megabytes.",
            retry=False,
        )
    try:
        text = await read_markdown(answer.body, name, seconds=seconds)
    except Unreadable as error:
        raise ToolError(f"{answer.url} is {what} that cannot be read: {error}.", retry=False) from error
    text, removed = without_invisible(text)
    notes = (f"Removed {removed:,} invisible characters; somebody may have hidden text.",) if removed else ()
    return Page(url=answer.url, title="", kind=kind or name, text=text.strip("\n"), notes=notes)


def _feed(body: bytes, text: str) -> tuple[str, str, list[str]]:
    """Return title, text and notes of a feed; one that cannot be read stays as it is."""
    try:
        feed = read_feed(body)
    except ValueError as error:
        return "", text, [f"This feed was not read as one: {error}."]
    shown = [_entry(entry) for entry in feed.entries]
    notes = [f"The first {len(shown)} of {feed.count:,} entries."] if feed.count > len(shown) else []
    if feed.broken:
        notes.append(f"The feed is broken behind its entry {feed.count:,}: {feed.broken}.")
    return feed.title, "\n\n".join(shown), notes


def _entry(entry: Entry) -> str:
    about = ", ".join(filter(None, (entry.date, entry.author)))
    text = " ".join(html.unescape(re.sub(r"<[^<>]{0,2000}>", " ", entry.text)).split())
    text = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
    return "\n".join(filter(None, (f"## {entry.title or '(no title)'}", about, entry.url, text)))


def _is_html(kind: str, text: str) -> bool:
    wide = kind in ("", "application/octet-stream", "text/plain")
    return kind in _HTML_TYPES or (wide and _BEGINS_AS_HTML.match(text[:1_000]) is not None)


def _content_type(header: str) -> tuple[str, str]:
    kind, *rest = header.split(";")
    charset = next((p.split("=", 1)[1].strip(" \"'") for p in rest if p.strip().lower().startswith("charset=")), "")
    return kind.strip().lower(), charset


def _is_text(kind: str) -> bool:
    return kind in _HTML_TYPES or bool(_TEXT_TYPES.fullmatch(kind))


def _hidden(match: re.Match[str]) -> str:
    return f"{match[1]}hidden" if _HIDES.search(html.unescape(match[2] or match[3] or "")) else match[0]


def _markdown(source: str, url: str, *, links: bool) -> tuple[str, str]:
    """Title and text of a page. Scripts, comments, navigation and what its styles hide are left out."""
    from html_to_markdown import ConversionOptions, convert

    def converted(part: str, beside: Sequence[str]) -> str:
        options = ConversionOptions(
            extract_metadata=False,
            skip_images=True,
            autolinks=False,
            base_url=url,
            hidden_content="drop",
            strip_tags=[] if links else ["a"],
            exclude_selectors=list(beside),
        )
        return convert(_STYLED.sub(_hidden, part), options).content or ""

    main, text = _main_part(source), ""
    try:
        if main:
            with suppress(Exception):  # it fails with what is left out where it does not with the whole
                text = converted(main, _BESIDE)
        if len(text) < _LEAST:
            text = converted(source, ())
    except Exception as error:  # its errors have no base of their own; a page must not end a turn
        text = f"{type(error).__name__}: {error}"[:200]
        raise ToolError(f"{url} could not be made readable ({text}).", retry=False) from error
    found = re.search(r"<title[^>]{0,200}>(.{0,1000}?)</title", source[:50_000], re.IGNORECASE | re.DOTALL)
    title = without_invisible(html.unescape(found[1]))[0] if found else ""
    return " ".join(title.split())[:300], _NO_PLACE.sub(lambda found: "](…)" if found[1] else found[0], text)


def _main_part(source: str) -> str:
    """Return the article of a page, else what it marks as its main part; empty where it marks none."""
    lower = source.lower()
    if len(lower) != len(source):  # a few letters become two: places in one are not those in the other
        return ""
    starts = [match.start() for match in islice(_ARTICLE.finditer(lower), _ARTICLES)]
    ends = [*starts[1:], None]
    parts = [_until(source, lower, start, "</article", ends[n]) for n, start in enumerate(starts)]
    sized = sorted(((_words_in(part), part) for part in parts), key=lambda one: -one[0])
    alone = len(sized) == 1 or (len(sized) > 1 and sized[0][0] >= sized[1][0] * 3)  # else they are teasers of others
    if alone and sized[0][0] >= _ARTICLE_WORDS:
        return sized[0][1]
    starts = [match.start() for match in islice(_MAIN.finditer(lower), 2)]
    return _until(source, lower, starts[0], "</main", None) if len(starts) == 1 else ""


def _until(source: str, lower: str, start: int, end: str, before: int | None) -> str:
    stop = lower.rfind(end, start, len(lower) if before is None else before)
    return source[start : stop if stop > start else before]


def _words_in(part: str) -> int:
    return len(_MARKUP.sub(" ", part).split())
