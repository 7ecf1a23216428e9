"""What the files themselves say: their number, size, kind and names, and characters that nobody can see."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import PurePosixPath

from hermes_tool_skills.scan import Finding
from hermes_tool_skills.scan.packages import alike
from hermes_tool_skills.tree import MAIN, BadTree, Tree, text_of
from hermes_tool_skills.unpack import unpack

_FILES, _BYTES, _FILE_BYTES = 50, 1_024 * 1024, 256 * 1024  # more is rare, and told
_PROGRAMS = (
    (b"\x7fELF", "a Linux program"),
    (b"MZ", "a Windows program"),
    (b"\xcf\xfa\xed\xfe", "a macOS program"),
    (b"\xca\xfe\xba\xbe", "a macOS program or Java class"),
    (b"\xfe\xed\xfa", "a macOS program"),
    (b"\0asm", "a WebAssembly program"),
    (b"!<arch>", "a package or library"),
)
_ARCHIVES = (
    (b"PK\x03\x04", "zip"), (b"PK\x05\x06", "zip"), (b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"),
    (b"7z\xbc\xaf", "7z"), (b"Rar!", "rar"), (b"\x28\xb5\x2f\xfd", "zstd"),
)  # fmt: skip
_ARCHIVE_NAMES = {".zip", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".tar", ".zst", ".jar", ".whl", ".egg", ".war"}
_OPENED = {".zip", ".gz", ".tgz", ".bz2", ".xz"}
_PROGRAM_NAMES = {
    ".exe", ".dll", ".so", ".dylib", ".msi", ".scr", ".com", ".app", ".dmg", ".pkg", ".deb", ".rpm", ".pyc", ".pyd",
    ".class", ".lnk", ".vbs", ".hta", ".wasm", ".apk", ".o",
}  # fmt: skip
_STARTUP_NAMES = {"sitecustomize.py", "usercustomize.py", ".mcp.json", "mcp.json", "autorun.inf", "conftest.py"}
_PICTURES = {".png": b"\x89PNG", ".jpg": b"\xff\xd8\xff", ".jpeg": b"\xff\xd8\xff", ".gif": b"GIF8", ".pdf": b"%PDF"}
_DOCUMENTS = {".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp"}  # zip files by their nature; templates hold them
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_TAGS = re.compile("[\U000e0000-\U000e007f]")
_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f")
_ZERO = "\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\u180e\ufeff\u034f"
_SPLIT = re.compile(f"[A-Za-z][{_ZERO}]+[A-Za-z]")
_RUN = re.compile(f"[{_ZERO}\ufe00-\ufe0f\U000e0100-\U000e01ef]{{6,}}")
_MIXED = re.compile(r"[^\W\d_]{3,}")


def of_tree(tree: Tree, known: Iterable[str] = ()) -> Iterator[Finding]:
    """The skill as a whole."""
    if len(tree) > _FILES:
        yield _say("structure-many-files", "note", f"it has {len(tree)} files; skills rarely have over {_FILES}")
    if (size := sum(map(len, tree.values()))) > _BYTES:
        yield _say("structure-large", "note", f"it has {size // 1024:,} KB; skills rarely have over 1,024")
    name = _name(tree)
    for other in known:
        if name and name != other and alike(name, other):
            why = f"its name {name!r} can be taken for {other!r}, which is here"
            yield _say("structure-imitated-name", "dangerous", why, MAIN)


def of_file(path: str, data: bytes) -> Iterator[Finding]:
    """One file: what it is, what it claims to be, and what cannot be seen in it."""
    pure = PurePosixPath(path)
    end = pure.suffix.lower()
    if not path.isascii():
        yield _say("structure-odd-name", "caution", "its name has letters outside of ASCII", path)
    if pure.name.lower() in _STARTUP_NAMES or end == ".pth":
        yield _say("persistence-planted-file", "dangerous", "other programs run or obey a file of this name", path)
    if len(data) > _FILE_BYTES:
        yield _say("structure-large-file", "note", f"it has {len(data) // 1024:,} KB; over 256 is rare", path)
    if end not in _DOCUMENTS:
        yield from _kind(path, end, data)
    text = text_of(data)
    if text is not None:
        yield from _unseen(path, text)
    elif end not in {*_PICTURES, *_DOCUMENTS, *_ARCHIVE_NAMES, ".ico", ".webp", ".ttf", ".otf", ".woff", ".woff2"}:
        yield _say("structure-binary", "caution", "it is not text, so nobody can read what it holds", path)


def _kind(path: str, end: str, data: bytes) -> Iterator[Finding]:
    for magic, what in _PROGRAMS:
        if data.startswith(magic) and (magic != b"MZ" or b"\0" in data[:64]):
            yield _say("structure-program", "dangerous", f"it is {what}", path)
    if end in _PROGRAM_NAMES:
        yield _say("structure-program", "dangerous", f"its name ends in {end}: a program or library", path)
    if _archived(data) or end in _ARCHIVE_NAMES:
        yield from _archive(path, data)
    if end in _PICTURES:
        if not data.startswith(_PICTURES[end]):
            yield _say("structure-polyglot", "dangerous", f"it is called {end} and is something else", path)
        if b"PK\x03\x04" in data[16:] and b"PK\x05\x06" in data[-70_000:]:
            yield _say("structure-polyglot", "dangerous", "a zip archive is hidden behind a picture or document", path)
        if re.search(rb"<script\b|<\?php|#!/(?:usr/)?bin/|\bimport os\b|/JavaScript\b|/Launch\b", data, re.IGNORECASE):
            yield _say("structure-polyglot", "dangerous", "it holds a script beside its picture or pages", path)


def inside(path: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """The files in an archive of a skill; nothing of one in another archive, or that cannot be opened."""
    if PurePosixPath(path).suffix.lower() in _OPENED and _archived(data) and not _within_archive(path):
        with suppress(BadTree):
            yield from sorted(unpack(data)[0].items())


def _archive(path: str, data: bytes) -> Iterator[Finding]:
    why = ""
    if PurePosixPath(path).suffix.lower() not in _OPENED:
        why = "it is an archive of a kind that nobody looks into"
    elif _within_archive(path):
        why = "it is an archive in an archive; nobody looks into it"
    else:
        try:
            unpack(data)
        except BadTree as error:
            why = f"it is an archive that cannot be looked into: {error.text}"
    if why:
        yield _say("structure-archive", "dangerous", why, path)
    else:
        yield _say("structure-archive", "note", "it is an archive; what is in it was looked at like other files", path)


def _within_archive(path: str) -> bool:
    return any(above.suffix.lower() in _ARCHIVE_NAMES for above in PurePosixPath(path).parents)


def _archived(data: bytes) -> bool:
    return any(data.startswith(magic) for magic, _ in _ARCHIVES)


def _unseen(path: str, text: str) -> Iterator[Finding]:
    if _BIDI.search(text):
        why = "it turns the direction of text around, so that people read other words than the model"
        yield _say("injection-direction", "dangerous", why, path)
    if _TAGS.search(_FLAG.sub("", text)):
        yield _say("injection-unseen", "dangerous", "it holds characters that nobody can see (Unicode tags)", path)
    if len(_SPLIT.findall(text)) >= 1 or _RUN.search(text):
        yield _say("injection-unseen", "dangerous", "it hides characters that nobody can see in words or rows", path)
    for word in _MIXED.findall(text):
        if (not word.isascii() and _alphabets(word) >= {"LATIN", "CYRILLIC"}) or _alphabets(word) >= {"LATIN", "GREEK"}:
            why = f"it mixes alphabets in one word ({word[:30]!r}), so that it looks like another"
            yield _say("obfuscation-mixed-letters", "dangerous", why, path)
            return


def _alphabets(word: str) -> set[str]:
    return {unicodedata.name(c, "?").partition(" ")[0] for c in word if c.isalpha() and c not in "µμΩπ"}


def _name(tree: Tree) -> str:
    found = re.search(r"^name:[ \t]*[\"']?([^\s\"'#]+)", (text_of(tree.get(MAIN, b"")) or ""), re.MULTILINE)
    return found[1] if found else ""


def _say(rule: str, level: str, why: str, path: str = "") -> Finding:
    return Finding(rule=rule, level=level, why=why, path=path)  # type: ignore[arg-type]
