"""What came back from a server, as text that a model can read."""

import html
import re

from hermes_core.errors import ToolError
from hermes_core.values import frozen
from hermes_tool_kit.fetching import Fetched
from hermes_tool_web.charset import decode, is_binary
from hermes_tool_web.visible import without_invisible

HTML = 2_000_000  # characters that are converted; the converter holds up everything else meanwhile, an eighth of a
# second for each million
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_TEXT_TYPES = re.compile(
    r"text/.*|.*[/+](json|xml|yaml|toml|csv)|application/(x-)?(javascript|ecmascript|ld\+json|x-ndjson|sql|graphql|sh)"
)
_BEGINS_AS_HTML = re.compile(r"\s*(<!--.{0,500}?-->\s*)?<(!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
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


def readable(answer: Fetched, *, links: bool) -> Page:
    """The page in an answer: HTML as Markdown, other text as it is. Raises ToolError for what is no text."""
    kind, charset = _content_type(answer.headers.get("content-type", ""))
    body = answer.body
    if body.startswith(b"%PDF") or kind == "application/pdf":
        raise ToolError(
            f"{answer.url} is a PDF, which web_fetch does not read.",
            hint="Look for the same as a web page, or download it with a command and read it with pdftotext.",
            retry=False,
        )
    if (kind and kind != "application/octet-stream" and not _is_text(kind)) or is_binary(body):
        what = kind if kind and not _is_text(kind) else "binary data"
        raise ToolError(f"{answer.url} is {what}, not text ({len(body):,} bytes).", retry=False)
    text = decode(body, charset)
    notes = [f"The page was cut: {answer.cut}."] if answer.cut else []
    title = ""
    looks_so = re.match(
        r"\s*(<!--.{0,500}?-->\s*)?<(!doctype html|html|head|body)\b", text[:1_000], re.IGNORECASE | re.DOTALL
    )
    if kind in _HTML_TYPES or (looks_so and kind in ("", "application/octet-stream", "text/plain")):
        kind = "text/html"
        if len(text) > HTML:
            notes.append(f"Only the first {HTML:,} characters of the page's source were read.")
        title, text = _markdown(text[:HTML], answer.url, links=links)
    text, removed = without_invisible(text)
    if removed:
        notes.append(f"Removed {removed:,} invisible character{'s' * (removed > 1)}; somebody may have hidden text.")
    return Page(url=answer.url, title=title, kind=kind or "text", text=text.strip("\n"), notes=tuple(notes))


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

    options = ConversionOptions(
        extract_metadata=False,
        skip_images=True,
        autolinks=False,
        base_url=url,
        hidden_content="drop",
        strip_tags=[] if links else ["a"],
    )
    try:
        text = convert(_STYLED.sub(_hidden, source), options).content or ""
    except Exception as error:  # its errors have no base of their own; a page must not end a turn
        text = f"{type(error).__name__}: {error}"[:200]
        raise ToolError(f"{url} could not be made readable ({text}).", retry=False) from error
    found = re.search(r"<title[^>]{0,200}>(.{0,1000}?)</title", source[:50_000], re.IGNORECASE | re.DOTALL)
    title = without_invisible(html.unescape(found[1]))[0] if found else ""
    return " ".join(title.split())[:300], _NO_PLACE.sub(lambda found: "](…)" if found[1] else found[0], text)
