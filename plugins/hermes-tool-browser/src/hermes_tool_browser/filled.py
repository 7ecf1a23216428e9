"""Values that were typed into pages without a model reading them, and what keeps them there.

What holds: all that a tool gives goes through the guards; no script of the model runs on a site where a value stands,
nor did one before; a request that holds a value, in a form that the guards know, leaves for no other origin; pictures
have their fields covered; keys that copy, drags and prints are refused. What the site itself does with it is its own.
It holds until all tabs are closed: what was typed is gone with the documents.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import field

from hermes_core.errors import ToolError
from hermes_core.values import frozen
from hermes_tool_kit.fields import Field, Guard, origin

if TYPE_CHECKING:
    from playwright.async_api import ElementHandle, Page, Route

    from hermes_tool_browser.tab import Tab

__all__ = ["FILLABLE", "Kept", "Place", "facts_of"]

_AGAIN = "Close all tabs with browser_tabs and open the page again; logins stay."
_BODY = 200_000  # characters of a request that are looked through
FILLABLE = "input, textarea, select, [contenteditable]"
_FACTS = """e => {
  const get = (kind, name) => Object.getOwnPropertyDescriptor(kind.prototype, name).get;
  const kind = e instanceof HTMLInputElement ? HTMLInputElement
    : e instanceof HTMLTextAreaElement ? HTMLTextAreaElement : null;
  if (!kind) return null;
  const form = get(kind, 'form').call(e), targets = [];
  if (form) {
    targets.push(String(get(HTMLFormElement, 'action').call(form)));
    const named = '[formaction]';
    for (const one of Document.prototype.querySelectorAll.call(get(Node, 'ownerDocument').call(e), named)) {
      const by = one instanceof HTMLButtonElement ? HTMLButtonElement
        : one instanceof HTMLInputElement ? HTMLInputElement : null;
      if (by && get(by, 'form').call(one) === form) targets.push(String(get(by, 'formAction').call(one)));
    }
  }
  const box = Element.prototype.getBoundingClientRect.call(e);
  const seen = Element.prototype.checkVisibility.call(e, {opacityProperty: true, visibilityProperty: true});
  return {type: kind === HTMLInputElement ? get(kind, 'type').call(e) : 'textarea', targets: targets.slice(0, 50),
          seen: seen && box.width >= 4 && box.height >= 4};
}"""
_TYPES = frozenset({"text", "password", "email", "tel", "number", "search", "url", "textarea"})
_TEXTS = """() => [document.body ? document.body.innerText : '', ...Array.from(
  document.querySelectorAll('*'), e => e.shadowRoot ? e.shadowRoot.textContent : '')].join('\\n').slice(0, 500000)"""


@frozen(kw_only=True, eq=False)
class Place(Field):
    """A field with the element itself, which is gone with its document, and the tab it is in."""

    tab: "Tab" = field(repr=False)
    handle: "ElementHandle" = field(repr=False)


class Kept:
    """The guards of one browser, and the origins where scripts of the model ran."""

    def __init__(self) -> None:
        self._guards: list[Guard] = []
        self._typed: set[str] = set()
        self._scripted: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._typed)

    def hide(self, text: str) -> str:
        """A text without what was typed in this browser, also long after."""
        for guard in self._guards:
            text = guard.hide(text)
        return text

    def begin(self, guard: Guard, origins: Sequence[str]) -> None:
        """Guard values from now on, which are about to be typed into documents of these origins."""
        self._guards.append(guard)
        self._typed.update(origins)

    def forget(self) -> None:
        """All documents are gone."""
        self._typed.clear()
        self._scripted.clear()

    def script(self, url: str) -> None:
        """A script of the model is about to run there. Raises ToolError where a value stands on that site."""
        if origin(url) in self._typed:
            raise ToolError("Not run: a value of the vault was typed in on this site.", hint=_AGAIN, retry=False)
        self._scripted.add(origin(url))

    def clean(self, origins: Sequence[str]) -> None:
        """Raises ToolError where a script of the model may wait for what is typed."""
        if self._scripted.intersection(origins):
            raise ToolError("Not typed: browser_evaluate ran on this site.", hint=_AGAIN)

    def stands(self, page: "Page") -> bool:
        """Whether a page, or a frame of it, is of a site where a value was typed in."""
        return bool(self._typed) and any(origin(frame.url) in self._typed for frame in page.frames)

    def refuse(self, page: "Page", what: str) -> None:
        """Raises ToolError where a value stands in a page."""
        if self.stands(page):
            raise ToolError(f"{what}: a value of the vault was typed in on this site.", hint=_AGAIN, retry=False)

    async def covered(self, page: "Page") -> dict[str, Any]:
        """How a picture is to be taken, so that no field shows a value. Raises ToolError where the page shows one."""
        if not self._typed:
            return {}
        for frame in page.frames:
            text = str(await frame.evaluate(_TEXTS))
            if self.hide(text) != text:
                raise ToolError("No picture: the page shows a value of the vault.", hint=_AGAIN, retry=False)
        return {"mask": [frame.locator(FILLABLE) for frame in page.frames]}

    async def judge(self, route: "Route") -> None:
        """Stop a request that carries a value to where it was not meant for."""
        request = route.request
        to = origin(request.url)
        for guard in self._guards:
            if to not in guard.origins and any(guard.hide(text) != text for text in _parts(request)):
                await route.abort("accessdenied")
                return
        await route.fallback()


def _parts(request: Any) -> list[str]:
    body = request.post_data_buffer or b""
    sent = body[:_BODY].decode("utf-8", "replace")
    heads = "\n".join(f"{name}: {value}" for name, value in request.headers.items())  # a page sets what it likes there
    return [request.url, heads, sent]


async def facts_of(handle: "ElementHandle") -> dict[str, Any]:
    """Where a field is and what it does: origins, targets, whether it hides. Raises ToolError for what is none."""
    chain, frame = list[str](), await handle.owner_frame()
    facts = await handle.evaluate(_FACTS)
    while frame is not None:
        chain.append(origin(frame.url))
        frame = frame.parent_frame
    if facts is None or facts["type"] not in _TYPES:
        raise ToolError("Not typed: that is no field for text.")
    if not chain or not all(chain):
        raise ToolError("Not typed: the field is in a document without an address of its own.", retry=False)
    if not facts["seen"]:
        raise ToolError("Not typed: nobody sees that field.", retry=False)
    targets = {to for url in facts["targets"] if (to := origin(str(url))) and to != chain[0]}
    return {"origins": tuple(chain), "targets": tuple(sorted(targets)), "hides": facts["type"] == "password"}
