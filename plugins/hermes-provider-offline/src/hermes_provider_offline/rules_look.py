"""Rules, in English, that look at files: list, find, search, read, count."""

import re

from hermes_provider_offline.clause import TOKEN, Clause
from hermes_provider_offline.names import IT, extension_in, files_in, folder_in
from hermes_provider_offline.step import Step, Which

_WHICH = re.compile(
    r"\b(?P<order>longest|largest|biggest|shortest|smallest|newest|latest|oldest|first|last|most"
    r" recent)\b(?!\s+(?:\d+|two|three|five|ten|line|lines|few|week|month|year|time))",
    re.IGNORECASE,
)
_ORDERS = {
    "largest": "longest",
    "biggest": "longest",
    "smallest": "shortest",
    "latest": "newest",
    "most recent": "newest",
}
_NUMBERS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "few": 5,
}


def _which(clause: Clause) -> Which | None:
    found = _WHICH.search(clause.text)
    if not found:
        return None
    order = found["order"].lower()
    return Which(order=_ORDERS.get(order, order), extension=extension_in(clause))


def _about_file(clause: Clause, kind: str, **rest: object) -> Step | None:
    """A step about a named file, a described one, or the one spoken of before."""
    if files := files_in(clause):
        return Step(kind=kind, path=files[0], words=files[1:], **rest)  # type: ignore[arg-type]
    if which := _which(clause):
        return Step(kind=kind, which=which, path=folder_in(clause), **rest)  # type: ignore[arg-type]
    if IT.search(clause.text):
        return Step(kind=kind, here=True, **rest)  # type: ignore[arg-type]
    return None


def _number(word: str) -> int:
    return int(word[:6]) if word.isdecimal() else _NUMBERS.get(word.lower(), 0)


def headings_rule(clause: Clause) -> Step | None:
    """The headings of a text file."""
    if not clause.search(r"\b(?:headings?|headers|outline|table of contents|section titles|sections)\b"):
        return None
    return _about_file(clause, "headings") or (Step(kind="headings", here=True) if len(clause.text) < 60 else None)


def lines_rule(clause: Clause) -> Step | None:
    """The first or last lines of a file."""
    found = clause.search(
        r"\b(?P<end>first|last|top|bottom)\s+(?P<number>\d+|one|two|three|four|five|six|seven|eight|nine"
        r"|ten|few)?\s*lines?\b"
    )
    if not found:
        return None
    kind = "tail" if found["end"].lower() in ("last", "bottom") else "head"
    number = _number(found["number"]) if found["number"] else 1 if "lines" not in found[0].lower() else 5
    files = files_in(clause)
    return Step(kind=kind, path=files[0] if files else "", here=not files, number=number or 5)


def count_rule(clause: Clause) -> Step | None:
    """Count lines, words or characters of a file, files of a folder, or matches."""
    found = clause.search(
        r"\b(?:how many|count(?:\s+(?:the|its|their|all))*|number of"
        r"|total)\s+(?:of\s+)?(?:all\s+)?(?:the\s+)?(?P<unit>lines?|words?|characters?|chars|headings?"
        r"|files?|matches|occurrences|hits|\S+)"
    )
    if not found:
        return None
    unit = re.sub(r"s$", "", found["unit"].lower())
    if (
        clause.search(r"\bper\s+file\b|\b(?:in|for|by)\s+each\s+file\b")
        and not files_in(clause)
        and not folder_in(clause)
    ):
        return Step(kind="per_file", here=True)
    if unit in ("line", "word", "character", "char", "heading"):
        step = _about_file(clause, "count", other=unit.replace("char", "character") if unit == "char" else unit)
        return step or Step(kind="count", here=True, other="character" if unit == "char" else unit)
    if unit == "file" or extension_in(clause):
        return Step(kind="count_files", path=folder_in(clause), text=extension_in(clause))
    if unit in ("matche", "match", "occurrence", "hit"):
        return Step(kind="per_file", here=True)
    return _counted_search(clause)


def _counted_search(clause: Clause) -> Step | None:
    pattern = clause.quoted()[:1]
    found = clause.match(
        r"(?:how many|count(?:\s+the)?|number of)\s+(?:all\s+)?(?:the\s+)?(?P<what>\S+)\s+(?:are\s+|is\s+"
        r"|there\s+|occurs?\s+|comments?\s+|lines?\s+|appears?\s+)*(?:in|under|per)\b"
    )
    if not pattern and not found:
        return None
    what = pattern[0] if pattern else clause.bare(found["what"]) if found else ""
    what = re.sub(r"(?<=[A-Z]{3})s$", "", what)
    return Step(kind="search", text=what, path=_where(clause), per_file=True)


def _where(clause: Clause) -> str:
    files = [path for path in files_in(clause) if path not in clause.quoted("code")[:1]]
    return folder_in(clause) or (
        files[-1] if files and re.search(r"\b(?:in|under|inside|within|of)\b", clause.text, re.IGNORECASE) else ""
    )


def find_rule(clause: Clause) -> Step | None:
    """Find files by name."""
    if not clause.match(r"(?:find|locate|look for|where(?:'s| is| are)|which|search for|list|show|give me|what)\b"):
        return None
    if glob := clause.search(r"(?<!\S)(?P<glob>[\w./-]*\*[\w.*/-]*)"):
        return Step(kind="find", text=glob["glob"], path=folder_in(clause))
    named = clause.search(rf"\bfiles?\s+(?:are\s+|is\s+)?(?:called|named)\s+(?P<name>\S+|{TOKEN.pattern})")
    if named:
        return Step(kind="find", text=clause.bare(named["name"]).rstrip(".,?"), path="")
    files = files_in(clause)
    if files and clause.match(r"(?:find|locate|where(?:'s| is))\b") and not clause.search(r"\b(?:in|for)\s"):
        return Step(kind="find", text=files[0])
    extension = extension_in(clause)
    if extension and clause.match(r"(?:find|locate|look for|search for)\b") and clause.search(r"\bfiles?\b|\*?\.\w+"):
        return None if clause.quoted() else Step(kind="find", text=f"*.{extension}", path=folder_in(clause))
    return None


def search_rule(clause: Clause) -> Step | None:
    """Search for a text in files."""
    per_file = bool(clause.search(r"\bper\s+file\b|\b(?:in|for|by)\s+each\s+file\b|\bhow many\b|\bcount\b"))
    patterns = (
        (
            r"(?:search|grep|look|find|scan|check)\s+(?:(?:the\s+|all\s+)?(?:files?|code|everything|here"
            r"|(?P<in>\S+))\s+)?for\s+(?:the\s+(?:word|text|string|pattern)\s+)?(?P<what>.+?)(?:\s+(?:in|under"
            r"|within|inside|across|per|here)\b.*)?$"
        ),
        (
            r"(?:grep|search|find)\s+(?:for\s+)?(?:all\s+|every\s+)?(?:the\s+)?(?:lines?\s+(?:with"
            r"|containing)\s+|occurrences?\s+of\s+|word\s+|text\s+|string\s+)?(?P<what>.+?)\s+(?:in|under"
            r"|within|inside|across)\b.*$"
        ),
        (
            r"(?:which|what)\s+files?\s+(?:here\s+)?(?:contain|mention|have|hold|use|include"
            r"|say)s?\s+(?P<what>.+?)(?:\s+(?:in|under)\b.*)?$"
        ),
        r"where\s+(?:is|are)\s+(?P<what>.+?)\s+(?:used|mentioned|defined|called)\b.*$",
        r"grep\s+(?:-\w+\s+)*(?P<what>\S+)(?:\s+(?P<in>[\w./~-]+))?\s*$",
    )
    for pattern in patterns:
        if found := clause.match(pattern):
            what = (
                clause.quoted()[0]
                if clause.quoted() and TOKEN.search(found["what"])
                else clause.bare(found["what"]).strip()
            )
            where = found.groupdict().get("in") or _where(clause)
            return Step(kind="search", text=what, path="" if where == what else where, per_file=per_file)
    return None


def which_rule(clause: Clause) -> Step | None:
    """Which file is the longest."""
    which = _which(clause)
    if (
        which
        and clause.match(r"(?:what(?:'s| is)|which(?: \S+)?(?: file)? is|which file|tell me|find)\b")
        and clause.search(r"\b(?:file|one)\b")
    ):
        return Step(kind="which", which=which, path=folder_in(clause))
    return None


def summary_rule(clause: Clause) -> Step | None:
    """Summaries and explanations need a model; an outline of the file does not."""
    if not clause.match(
        r"(?:summari[sz]e|sum up|explain|describe|tl;?dr|what(?:'s| is) (?:in |inside"
        r" )?.*\babout)\b"
    ):
        return None
    return _about_file(clause, "outline")


def read_rule(clause: Clause) -> Step | None:
    """Show a file."""
    if TOKEN.fullmatch(clause.text) or (files_in(clause) and re.fullmatch(r"\S+", clause.text)):
        return Step(kind="read", path=files_in(clause)[0]) if files_in(clause) else None
    if not clause.match(
        r"(?:read|open|show|print|display|cat|view|see|look|tell|give|check|get|load|what(?:'s| is| does|"
        r" are| do)?)\b"
    ):
        return None
    files = files_in(clause)
    if files and files[0].endswith("/"):
        return None
    if clause.match(r"(?:read|open|print|display|cat|view|load)\b"):
        return _about_file(clause, "read")
    if files or _which(clause):
        return _about_file(clause, "read")
    return (
        Step(kind="read", here=True)
        if clause.match(r"(?:show|look at|see)\s+(?:me\s+)?(?:it|that file|this file|the file)\b")
        else None
    )


def list_rule(clause: Clause) -> Step | None:
    """List a folder."""
    words = clause.match(r"ls\b(?:\s+(?P<path>[^\s-]\S*))?\s*$") or clause.match(r"list\s+(?P<path>[\w./~-]+)\s*$")
    if words and (words["path"] or "").casefold() not in {
        "files",
        "everything",
        "all",
        "it",
        "here",
        "them",
        "folders",
    }:
        return Step(kind="list", path=words["path"] or "")
    asks = clause.match(r"(?:list|show|what|which|see|display|give|tell|look|are there|dir\b)")
    things = clause.search(
        r"\b(?:files?|folders?|director(?:y|ies)|contents?|everything)\b|\b(?:what(?:'s| is)|look)"
        r" (?:around )?(?:in )?here\b"
    )
    if not asks:
        return None
    folder = next((path for path in files_in(clause) if path.endswith("/")), "") or folder_in(clause)
    if things or (clause.match(r"(?:list|what(?:'s| is) in)\b") and (folder or clause.search(r"\bhere\b"))):
        return Step(kind="list", path=folder, text=extension_in(clause))
    return None
