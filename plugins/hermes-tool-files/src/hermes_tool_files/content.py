"""Files as text, and back to the very same bytes."""

import codecs

from hermes_core.errors import ToolError
from hermes_core.values import frozen

_PROBED = 8_192


@frozen
class Content:
    """A file's text, and what is needed to write it the way it was."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Another text in the same encoding. Raises ToolError when a character does not exist in it."""
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            odd = text[error.start : error.end]
            raise ToolError(
                f"Not written: the file is {self.encoding}, which has no {odd!r}.",
                hint="Use other characters, or write the whole file with write_file, which makes it UTF-8.",
            ) from error


def is_binary(data: bytes) -> bool:
    """Whether bytes are no text: a NUL near the beginning, and no mark that explains it."""
    return b"\0" in data[:_PROBED] and not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def decode(data: bytes) -> Content:
    """Text in UTF-8, UTF-16 with a mark, or else Latin-1, in which any bytes survive."""
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (b"", "utf-8"),
    ):
        if data.startswith(mark):
            try:
                return Content(data[len(mark) :].decode(encoding), encoding, mark)
            except UnicodeDecodeError:
                continue
    return Content(data.decode("latin-1"), "latin-1")
