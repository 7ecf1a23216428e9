"""The door: what is a document, and its text as Markdown.

Parsers of other people's files run in a process of their own: it has no environment, its memory and its time are
bounded by the system, and when it dies nothing else does.
"""

import asyncio
import re
import signal
import subprocess
import sys

from hermes_core.errors import HermesError

__all__ = ["CHARACTERS", "Unreadable", "is_document", "markdown_of", "read_markdown"]

INPUT = 64 * 1024 * 1024  # bytes of one document
MEMORY = 1024 * 1024 * 1024  # bytes of address space of the process that reads it
CHARACTERS = 2_000_000  # of one answer
SECONDS = 45.0
_MORE = 5.0  # seconds beside those of the processor
_ENVIRONMENT = {"LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}

_NAMES = re.compile(r"\.(pdf|docx|docm|xlsx|xlsm|xlsb|xls|pptx|pptm|odt|ods|odp|epub)\Z", re.IGNORECASE)
_OLD = re.compile(r"\.(doc|ppt|msg)\Z", re.IGNORECASE)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = b"PK\x03\x04"
_ZIPPED = (b"[Content_Types].xml", b"mimetypeapplication/vnd.oasis.opendocument", b"mimetypeapplication/epub+zip")


class Unreadable(HermesError):
    """What cannot be read as a document; the text says why, after "it"."""


def is_document(data: bytes, name: str) -> bool:
    """Whether this is one of the documents that are no text themselves; cheap, by its first bytes and its name."""
    if b"%PDF-" in data[:1024]:
        return True
    if data.startswith(_ZIP):
        return bool(_NAMES.search(name)) or any(mark in data[:4096] for mark in _ZIPPED)
    return data.startswith(_OLE) and bool(_NAMES.search(name) or _OLD.search(name))


def markdown_of(data: bytes, name: str, *, seconds: float = SECONDS, memory: int = MEMORY) -> str:
    """The document's text as Markdown, at most ``CHARACTERS``. Blocks: see ``read_markdown``.

    ``name`` decides only where the bytes do not: a table of comma-separated values has no mark. Raises Unreadable with
    what is wrong with it: broken, encrypted, of a kind nobody here reads, larger than the bounds.
    """
    argv = _reader(data, name, seconds, memory)
    try:
        done = subprocess.run(
            argv, input=data, capture_output=True, timeout=seconds + _MORE, env=_ENVIRONMENT, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise Unreadable(_late(seconds)) from late
    return _text(done.returncode, done.stdout, done.stderr, seconds, memory)


async def read_markdown(data: bytes, name: str, *, seconds: float = SECONDS, memory: int = MEMORY) -> str:
    """The same without blocking; when it is cancelled, the reading ends at once. Raises Unreadable."""
    pipe = asyncio.subprocess.PIPE
    argv = _reader(data, name, seconds, memory)
    process = await asyncio.create_subprocess_exec(*argv, stdin=pipe, stdout=pipe, stderr=pipe, env=_ENVIRONMENT)
    try:
        async with asyncio.timeout(seconds + _MORE):
            out, said = await process.communicate(data)
    except TimeoutError as late:
        raise Unreadable(_late(seconds)) from late
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return _text(process.returncode or 0, out, said, seconds, memory)


def _reader(data: bytes, name: str, seconds: float, memory: int) -> list[str]:
    if len(data) > INPUT:
        raise Unreadable(f"it has {len(data):,} bytes, more than the {INPUT:,} that are read")
    if data.startswith(_OLE) and _OLD.search(name):
        raise Unreadable("it is in an old binary format; save it as .docx or .pptx")
    # Isolated: neither the folder of the project nor its environment says what is imported.
    argv = [sys.executable, "-I", "-m", "hermes_documents", name[-200:].encode("ascii", "replace").decode()]
    return [*argv, str(int(seconds)), str(memory)]


def _text(status: int, out: bytes, said: bytes, seconds: float, memory: int) -> str:
    if status:
        raise Unreadable(_why(status, said.decode(errors="replace"), seconds, memory))
    return out.decode(errors="replace")[: CHARACTERS + 1_000]


def _late(seconds: float) -> str:
    return f"reading it took longer than {seconds:.0f} s"


def _why(status: int, said: str, seconds: float, memory: int) -> str:
    if status == 3:
        return said.strip()[-500:]
    if status == 4 or "memory allocation" in said or "MemoryError" in said:
        return f"reading it needs more than {memory // 1024**2:,} MB of memory"
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"reading it took longer than {seconds:.0f} s of the processor"
    if status < 0:
        return f"it is broken: its reader was ended by {signal.Signals(-status).name}"
    last = said.strip().splitlines()[-1:]  # of a traceback
    return f"it is broken ({last[0][:200]})" if last else f"its reader ended with status {status}"
