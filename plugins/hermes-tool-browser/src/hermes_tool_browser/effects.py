"""What one act on a page does to the world, so that the policy asks about what sends and about nothing else.

To look, to point, to follow a link of the same site, to choose in a form: nothing leaves that was not on the page. To
press what is a button, to type, to answer a dialog: that sends something in the person's name. On a site that the
person listed in ``tools.browser.sites`` it asks nobody. What a page says of itself (roles, names) decides nothing on a
page of a stranger, where nothing of the person's is to be had; on an honest one it is true.
"""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError
from hermes_core.types import Effect, Session, ToolCall, Verdict
from hermes_core.values import frozen
from hermes_tool_browser.calls import host_of, reference
from hermes_tool_browser.lasting import open_one
from hermes_tool_browser.snapshot import Element

if TYPE_CHECKING:
    from hermes_tool_browser.tab import Tab

__all__ = ["judged", "still_there"]

_JUDGED = "judged"  # of the plugin's state: what acts were judged on, by their calls
_MOST = 200
_SENDS = frozenset({Effect.NETWORK, Effect.SEND})
_ACTS = frozenset({
    "browser_click", "browser_type", "browser_select", "browser_press", "browser_drag", "browser_dialog",
    "browser_evaluate", "browser_upload",
})  # fmt: skip
_ALWAYS = frozenset({"browser_evaluate", "browser_upload"})  # also on listed sites
_LOOKS = frozenset(  # roles that a click only shows, chooses or points at something with
    ("tab", "treeitem", "textbox", "searchbox", "checkbox", "radio", "option", "combobox", "listbox", "heading", "img")
)
_KEYS = re.compile(r"(?:Shift\+)?(?:Tab|Escape|Arrow(?:Up|Down|Left|Right)|PageUp|PageDown|Home|End)")


@frozen(kw_only=True)
class _Judged:
    """What an act was judged on: it is done to this and to nothing that came in its place."""

    tab: int
    host: str
    element: Element | None


def judged(ctx: PluginContext, session: Session, call: ToolCall) -> Verdict | None:
    """The verdict on an act; None for what is none."""
    if call.name not in _ACTS:
        return None
    browsing = open_one(ctx, session.id)
    tab = browsing.tab if browsing is not None and browsing.tabs else None
    known = _judgements(ctx)
    while len(known) >= _MOST:
        known.pop(next(iter(known)))
    if tab is None:
        known[call.id] = None
        return Verdict(outcome="allow", effects=frozenset())  # it will only say that no page is open
    host, element = host_of(tab.page.url), _element(tab, call.arguments)
    known[call.id] = _Judged(tab=tab.number, host=host, element=element)
    if call.name not in _ALWAYS:
        if any(fnmatchcase(host, site.strip().lower()) for site in _sites(ctx)):
            return Verdict(outcome="allow", effects=frozenset())
        effects = _effects(call, tab, element)
        if effects is not None:
            return Verdict(outcome="allow", effects=effects)
    return Verdict(outcome="ask", reason=f"{_deed(call, tab, element)} on {host or 'a page without an address'}")


def _judgements(ctx: PluginContext) -> "dict[str, _Judged | None]":
    """What acts were judged on that were not done yet, by their calls; None: no page was open then."""
    found: dict[str, _Judged | None] = ctx.state.setdefault(_JUDGED, {})
    return found


def still_there(ctx: PluginContext, call_id: str, tab: "Tab", ref: str = "") -> None:
    """Make sure that a call acts on what it was judged on. Raises ToolError."""
    found = _judgements(ctx).pop(call_id, None)
    now = tab.snapshot.elements.get(reference(ref)) if ref and tab.snapshot else None
    if (
        found is None
        or (found.tab, found.host) != (tab.number, host_of(tab.page.url))
        or (ref and found.element != now)
    ):
        raise ToolError(
            "Not done: the page changed since this call was allowed.", hint="Look at it again: browser_snapshot."
        )


def _sites(ctx: PluginContext) -> list[str]:
    return list(ctx.config.sites) if ctx.config else []


def _element(tab: "Tab", arguments: Mapping[str, Any]) -> Element | None:
    try:
        ref = reference(str(arguments.get("ref", "")))
    except ToolError:
        return None
    return tab.snapshot.elements.get(ref) if tab.snapshot else None


def _effects(call: ToolCall, tab: "Tab", element: Element | None) -> frozenset[Effect] | None:
    """What an act does that sends nothing; None for one that does."""
    nothing = frozenset[Effect]()
    if call.name == "browser_select":
        return nothing
    if call.name == "browser_press" and _KEYS.fullmatch(str(call.arguments.get("key", ""))):
        return nothing
    if call.name == "browser_dialog" and (
        call.arguments.get("action") != "accept" or tab.dialog is None or tab.dialog.type == "alert"
    ):
        return nothing
    if call.name != "browser_click" or element is None:
        return None
    if element.role == "link" and element.url:
        target = urlsplit(urljoin(tab.page.url, element.url))
        if target.scheme in ("http", "https"):
            return nothing if target.hostname == host_of(tab.page.url) else frozenset({Effect.NETWORK})
        return None
    return nothing if element.role in _LOOKS else None


def _deed(call: ToolCall, tab: "Tab", element: Element | None) -> str:
    """What is done, in words for who is asked. What a page says is quoted and short."""
    thing = f"{element.role} {_short(element.name)}".strip() if element else "something"
    arguments = call.arguments
    if call.name == "browser_type":
        sent = " and sends it" if arguments.get("submit") else ""
        return f"types {_short(str(arguments.get('text', '')))} into {thing}{sent}"
    if call.name == "browser_press":
        return f"presses the key {_short(str(arguments.get('key', '')))}"
    if call.name == "browser_dialog":
        return f"agrees to the dialog {_short(tab.dialog.message if tab.dialog else '')}"
    if call.name == "browser_evaluate":
        return "runs JavaScript of the model"
    if call.name == "browser_upload":
        return f"gives {', '.join(map(str, arguments.get('paths', ())))[:200]}"
    return f"{'drags' if call.name == 'browser_drag' else 'presses'} {thing}"


def _short(text: str) -> str:
    text = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return f"“{text[:80]}…”" if len(text) > 80 else f"“{text}”" if text else ""
