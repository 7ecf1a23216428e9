"""Which kind of document it is, and who reads it. Only the reader that is needed is imported."""

import io
import zipfile

from hermes_documents.reading import Unreadable

UNPACKED = 512 * 1024 * 1024  # bytes that an archive may say it holds
MEMBERS = 20_000


def convert(data: bytes, name: str, seconds: float) -> str:
    """The document's Markdown. Raises Unreadable, or whatever a parser raises for what is broken."""
    if b"%PDF-" in data[:1024]:
        from hermes_documents.pdf import pdf

        return pdf(data, seconds)
    if data.startswith(b"PK\x03\x04"):
        return _zipped(data)
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        from hermes_documents.sheets import sheets

        return sheets(data)
    if name.lower().endswith((".csv", ".tsv", ".tab")):
        from hermes_documents.sheets import separated

        return separated(data)
    raise Unreadable("it is no document that is read: PDF, Word, Excel, PowerPoint, OpenDocument, EPUB, CSV")


def _zipped(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _of(archive, data)
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise Unreadable(f"it is broken ({error})") from error
    except RuntimeError as error:  # zipfile says so of what is encrypted
        raise Unreadable(str(error)[:200]) from error


def _of(archive: zipfile.ZipFile, data: bytes) -> str:
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    if unpacked > UNPACKED or len(members) > MEMBERS:
        raise Unreadable(f"it unpacks to {unpacked:,} bytes in {len(members):,} files, more than are read")
    names = {member.filename for member in members}
    kind = archive.read("mimetype")[:200].decode("latin-1").strip() if "mimetype" in names else ""
    if "word/document.xml" in names:
        from hermes_documents.word import word

        return word(data)
    if "ppt/presentation.xml" in names:
        from hermes_documents.slides import slides

        return slides(data)
    if names & {"xl/workbook.xml", "xl/workbook.bin"} or kind.endswith("opendocument.spreadsheet"):
        from hermes_documents.sheets import sheets

        return sheets(data)
    if "opendocument" in kind:
        from hermes_documents.opendocument import opendocument

        return opendocument(archive)
    if "epub" in kind or "META-INF/container.xml" in names:
        from hermes_documents.books import book

        return book(archive)
    raise Unreadable("it is an archive, not a document; unpack it with a command")
