"""EPUB: the chapters in their order."""

import posixpath
import zipfile
from urllib.parse import unquote

from hermes_documents.markdown import from_html
from hermes_documents.reading import CHARACTERS, Unreadable

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_PACKAGE = "{http://www.idpf.org/2007/opf}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"


def book(archive: zipfile.ZipFile) -> str:
    """The book as Markdown. Raises Unreadable."""
    from defusedxml import DefusedXmlException  # type: ignore[import-untyped]
    from defusedxml.ElementTree import ParseError, fromstring  # type: ignore[import-untyped]

    try:
        root = next(fromstring(archive.read("META-INF/container.xml")).iter(_CONTAINER)).get("full-path", "")
        package = fromstring(archive.read(root))
    except (KeyError, StopIteration, ParseError, DefusedXmlException) as error:
        raise Unreadable(f"it is a broken EPUB ({error})") from error
    files = {item.get("id", ""): item.get("href", "") for item in package.iter(f"{_PACKAGE}item")}
    title = next((one.text for one in package.iter(_TITLE) if one.text), "")
    parts = [f"# {' '.join(title.split())}"] if title else []
    size = 0
    for item in package.iter(f"{_PACKAGE}itemref"):
        member = posixpath.normpath(
            posixpath.join(posixpath.dirname(root), unquote(files.get(item.get("idref", ""), "")))
        )
        try:
            chapter = from_html(archive.read(member).decode("utf-8-sig", errors="replace"))
        except KeyError:
            chapter = f"[missing: {member}]"
        if chapter:
            parts.append(chapter)
            size += len(chapter)
        if size > CHARACTERS:
            break
    if "META-INF/encryption.xml" in archive.namelist() and not size:
        raise Unreadable("it is locked by its shop (DRM)")
    return "\n\n".join(parts) + "\n"
