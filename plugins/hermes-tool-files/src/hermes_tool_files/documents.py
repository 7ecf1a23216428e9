"""Documents and notebooks as the text a model reads, and how much of it is kept meanwhile."""

import hashlib
import posixpath
from collections import OrderedDict

from hermes_core.errors import ToolError

KEPT = 8  # documents whose text is kept, so that their next page costs no second reading
KEPT_CHARACTERS = 8_000_000
_MARKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


class Documents:
    """Turns documents into text; remembers the last few by what they hold."""

    def __init__(self) -> None:
        self._texts: OrderedDict[bytes, str] = OrderedDict()

    async def text_of(self, path: str, data: bytes) -> str | None:
        """The Markdown of a document, None for what is none. Raises ToolError for one that cannot be read."""
        if not data.startswith(_MARKS) and b"%PDF-" not in data[:1024]:
            return None
        name = posixpath.basename(path)
        try:
            from hermes_documents.reading import Unreadable, is_document, read_markdown
        except ModuleNotFoundError as error:
            raise ToolError(
                f"{path} is no plain text, and what reads documents is not installed.",
                hint="Tell the person: pip install 'hermes-tool-files[documents]'",
                retry=False,
            ) from error
        if not is_document(data, name):
            return None
        key = hashlib.blake2b(data, digest_size=16).digest()
        if key not in self._texts:
            try:
                self._texts[key] = await read_markdown(data, name)
            except Unreadable as error:
                raise ToolError(f"{path} cannot be read: {error.text}.", retry=False) from error
        self._texts.move_to_end(key)
        text = self._texts[key]
        while len(self._texts) > KEPT or sum(map(len, self._texts.values())) > max(KEPT_CHARACTERS, len(text)):
            self._texts.popitem(last=False)
        return text
