"""OpenDocument's texts and presentations, by way of the HTML that says the same."""

import html
import zipfile
from xml.etree.ElementTree import Element

from hermes_documents.markdown import from_html
from hermes_documents.reading import Unreadable

DEEP = 200
REPEATED = 100  # cells and spaces that one element may stand for
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_ELEMENTS = {
    f"{_TEXT}p": "p",
    f"{_TEXT}list": "ul",
    f"{_TEXT}list-item": "li",
    f"{_TABLE}table": "table",
    f"{_TABLE}table-row": "tr",
}
_LEFT_OUT = {
    f"{_TEXT}tracked-changes",
    f"{_TEXT}note-citation",
    f"{_OFFICE}annotation",
    f"{_OFFICE}forms",
    f"{_TABLE}covered-table-cell",
}


def opendocument(archive: zipfile.ZipFile) -> str:
    """The document as Markdown. Raises Unreadable."""
    from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
    from defusedxml.ElementTree import ParseError, fromstring  # type: ignore[import-untyped]

    try:
        body = fromstring(archive.read("content.xml")).find(f"{_OFFICE}body")
    except (KeyError, ParseError, DefusedXmlException) as error:
        raise Unreadable(f"it is a broken OpenDocument file ({error})") from error
    if body is None:
        return ""
    return from_html(f"<html><body>{_html(body, 0)}</body></html>") + "\n"


def _html(element: Element, depth: int) -> str:
    if depth > DEEP or element.tag in _LEFT_OUT:
        return ""
    if element.tag in (f"{_TEXT}s", f"{_TEXT}tab", f"{_TEXT}line-break"):
        return "<br/>" if element.tag == f"{_TEXT}line-break" else " "
    inner = html.escape(element.text or "")
    for child in element:
        inner += _html(child, depth + 1) + html.escape(child.tail or "")
    if element.tag == f"{_TEXT}h":
        level = _number(element.get(f"{_TEXT}outline-level"), 6)
        return f"<h{level}>{inner}</h{level}>"
    if element.tag == f"{_TABLE}table-cell":
        return f"<td>{inner}</td>" * _number(element.get(f"{_TABLE}number-columns-repeated"), REPEATED if inner else 1)
    if element.tag == f"{_TEXT}a":
        return f'<a href="{html.escape(element.get(_LINK, ""), quote=True)}">{inner}</a>'
    if element.tag == f"{_TEXT}note":
        return f" ({inner})"
    if element.tag == f"{_DRAW}page":
        return f"<h2>{html.escape(element.get(f'{_DRAW}name', 'Page'))}</h2>{inner}"
    name = _ELEMENTS.get(element.tag)
    return f"<{name}>{inner}</{name}>" if name else inner


def _number(said: str | None, most: int) -> int:
    return max(1, min(int(said), most)) if said and said.isascii() and said.isdigit() else 1
