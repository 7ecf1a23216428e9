"""Recognizing file names, folders and kinds of files in a sentence."""

import re
from collections.abc import Sequence

from hermes_provider_offline.clause import TOKEN, Clause

IT = re.compile(
    r"\b(?:it|its|them|their|this|that|those|these|the (?:same )?file|the result|the results|the output"
    r"|the content|the answer|the (?:number|count|list|headings|matches|lines)|this file|that file)\b",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"(?<![\w/.@:~-])(?P<path>(?:~/|\.{0,2}/)?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,9}|"
    r"\.(?:env|gitignore|bashrc|profile|editorconfig|dockerignore)\b|(?:~/|\.{1,2}/|/)?(?:[\w.@+-]+/)+[\w.@+-]*|"
    r"\b(?:README|LICENSE|LICENCE|Makefile|Dockerfile|CHANGELOG|TODO|NOTICE|AUTHORS)\b(?!\s+(?:in|and|per"
    r"|from|comments?)\b))"
)
_NOT_FILES = frozenset({"e.g", "i.e", "and/or", "etc.", "yes/no"})
_FOLDER = re.compile(
    r"\b(?:in|under|inside|within|of|from|at)\s+(?:the\s+|my\s+)?(?:(?:folder|directory"
    r"|dir)\s+)?(?P<path>[\w./~@+-]+)",
    re.IGNORECASE,
)
_NO_FOLDER_WORDS = """
a all an any are be each every file files folder folders here is it its lines me md my our that the them there
these this those total which year day week month case general detail short order past conversation conversations
memory directory current past previous words characters and or
"""
_NOT_FOLDERS = frozenset(_NO_FOLDER_WORDS.split())
_CJK_VERBS = re.compile(
    r"^(?:请|請|帮我|读取|讀取|打开|打開|查看|阅读|显示|读|讀|看|在|把|将|將|写入|写|到|文件|ファイル|파일)+"
)
_KIND_NAMES = "markdown md, python py, text txt, yaml yaml, javascript js, typescript ts, rust rs, shell sh"
_KINDS = {name: name for name in ("md", "txt", "json", "yml", "toml", "html", "css", "csv", "log", "rst", "java")}
_KINDS |= {pair.split()[0]: pair.split()[1] for pair in _KIND_NAMES.split(", ")}
_EXTENSION = re.compile(r"(?<![\w*])\*?\.(?P<ext>[A-Za-z][A-Za-z0-9]{0,9})\b")
_KIND_WORD = re.compile(
    r"(?<![.\w/])(?P<kind>" + "|".join(_KINDS) + r")\b(?=\s*(?:files?|ones?|documents?|scripts?|sources?|$))",
    re.IGNORECASE,
)


def files_in(clause: Clause) -> list[str]:
    """File names and paths in a clause, quoted ones too, in the order they stand."""
    found: list[tuple[int, str]] = []
    for match in _FILE.finditer(clause.text):
        path = _CJK_VERBS.sub("", match["path"]).rstrip(".") or match["path"]
        if path.casefold() not in _NOT_FILES and "://" not in clause.text[match.start() : match.end() + 3]:
            found.append((match.start(), path))
    for token in TOKEN.finditer(clause.text):
        piece = clause.bare(token[0])
        if _FILE.fullmatch(piece) or re.fullmatch(r"[^\n*?|<>]{1,200}\.[A-Za-z][A-Za-z0-9]{0,9}", piece):
            found.append((token.start(), piece))
    return [path for _, path in sorted(found)]


def folder_in(clause: Clause) -> str:
    """The folder a clause speaks of, or an empty string; ``here`` is the folder one is in."""
    for match in _FOLDER.finditer(clause.text):
        word = match["path"].rstrip(".,")
        if word.casefold() not in _NOT_FOLDERS and word:
            return word
    found = clause.search(r"\b(?P<path>[\w./~@+-]+)\s+(?:folder|directory|dir)\b")
    if found and found["path"].casefold() not in {*_NOT_FOLDERS, "working", "list", "show", "what"}:
        return found["path"]
    quoted = re.search(
        rf"\b(?:in|under|of|from|inside)\s+(?:the\s+)?(?:folder\s+|directory\s+)?({TOKEN.pattern})",
        clause.text,
        re.IGNORECASE,
    )
    return clause.bare(quoted[1]) if quoted else ""


def extension_in(clause: Clause) -> str:
    """The kind of file meant, as an extension without its dot, or an empty string."""
    if found := _EXTENSION.search(clause.text):
        return found["ext"].lower()
    found = _KIND_WORD.search(clause.text)
    return _KINDS[found["kind"].lower()] if found else ""


def with_extension(paths: Sequence[str], extension: str) -> list[str]:
    """Those of the paths that end so; all of them when there is nothing to ask for."""
    return [path for path in paths if not extension or path.lower().endswith(f".{extension}")]
