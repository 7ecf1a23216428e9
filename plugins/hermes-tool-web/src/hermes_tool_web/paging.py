"""A long page, piece by piece."""

from collections import OrderedDict

from hermes_core.errors import ToolError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_web.readable import Page

PIECE = 40_000  # bytes of one answer; the kernel's own bound is a little above
KEPT = 8
LONGEST = 2_000_000  # characters that are kept


class PageCache:
    """The last pages that sessions read, so that the next piece is of the same page. Bounded; the oldest goes."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[str, str, bool], Page] = OrderedDict()

    def put(self, session: str, url: str, links: bool, page: "Page") -> None:
        """Keep a page."""
        self._pages[session, url, links] = page
        self._pages.move_to_end((session, url, links))
        while len(self._pages) > KEPT or sum(len(p.text) for p in self._pages.values()) > LONGEST * 2:
            if len(self._pages) == 1:
                break
            self._pages.popitem(last=False)

    def get(self, session: str, url: str, links: bool) -> "Page | None":
        """A page that was kept, or None."""
        return self._pages.get((session, url, links))


def piece(page: "Page", offset: int, *, room: int = PIECE, number: int = 0) -> str:
    """What a model is shown of a page: head, text from ``offset`` on, how to go on. Raises ToolError.

    ``room`` is how many bytes of text are shown, ``number`` the page's own among the sources of the conversation.
    """
    if offset and offset >= len(page.text):
        raise ToolError(f"{page.url} has only {len(page.text):,} characters; offset {offset:,} is beyond its end.")
    head = [f"# {page.title}"] if page.title else []
    cited = f"[{number}] " if number else ""
    head += [f"{cited}{page.url} ({page.kind})", *(f"[{note}]" for note in page.notes)]
    if not page.text.strip():
        return "\n".join([*head, "", "[The page has no text. It may be made by scripts, which are not run.]"])
    part = _part(page.text, offset, room)
    end = offset + len(part)
    if offset or end < len(page.text):
        on = f"; go on with offset={end}" if end < len(page.text) else ""
        part += f"\n\n[characters {offset:,}-{end:,} of {len(page.text):,}{on}]"
    return "\n".join([*head, "", part])


def _part(text: str, offset: int, room: int) -> str:
    """As much as fits from ``offset`` on, up to the end of a line or of a word where there is one."""
    part = text[offset : offset + room]
    encoded = part.encode(errors="replace")
    if len(encoded) > room:
        part = encoded[:room].decode(errors="ignore")
    if offset + len(part) == len(text):
        return part
    for mark in ("\n", " "):
        at = part.rfind(mark, len(part) // 2)
        if at > 0:
            return part[: at + 1]
    return part
