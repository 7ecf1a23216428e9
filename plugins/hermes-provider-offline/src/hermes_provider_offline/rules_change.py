"""Rules, in English, that change files: write, append, replace."""

import re

from hermes_provider_offline.clause import Clause
from hermes_provider_offline.names import IT, files_in
from hermes_provider_offline.step import Step

_FILE_WORD = r"(?:(?:a|the|my)\s+)?(?:new\s+)?(?:file\s+)?(?:(?:called|named)\s+)?"


def write_rule(clause: Clause) -> Step | None:
    """Write a whole file: ``write X to F``, ``create F with X``, ``write to F: X``."""
    files = files_in(clause)
    if not files or not clause.match(r"(?:write|save|put|store|create|make|touch|overwrite|generate)\b"):
        return None
    quoted = [piece for piece in clause.quoted() if piece not in files]
    found = (
        clause.match(
            rf"(?:write|save|put|store)\s+(?P<content>.+?)\s+(?:in|into|to|as"
            rf"|inside)\s+{_FILE_WORD}\S+\s*$"
        )
        or clause.match(
            rf"(?:create|make|write|generate|overwrite)\s+{_FILE_WORD}\S+\s+(?:with|containing|that (?:says"
            rf"|contains|holds))\s+(?:the\s+)?(?:(?:text|content|contents|words?"
            rf"|lines?)\b)?:?\s*(?P<content>.+)"
        )
        or clause.match(
            rf"(?:write|save|put|create|make)\s+(?:in|into"
            rf"|to)?\s*{_FILE_WORD}\S+?\s*:\s*(?P<content>.+)"
        )
    )
    if found and not quoted and IT.fullmatch(found["content"].strip()):
        return Step(kind="write", path=files[-1], here=True)
    if found and not quoted and re.match(r"(?:an?|some|your|something|anything)\s+\w", found["content"], re.IGNORECASE):
        return Step(kind="write_unclear", text=clause.bare(found["content"]))
    if fence := clause.quoted("fence"):
        return Step(kind="write", path=files[-1], text=fence[0] + "\n")
    if quoted or found:
        content = quoted[0] if quoted else clause.bare(found["content"]) if found else ""
        content = (
            re.sub(r"^(?:the\s+)?(?:text|words?|line|content|string)\s+(?=\S)", "", content, flags=re.IGNORECASE)
            if not quoted
            else content
        )
        return Step(kind="write", path=files[-1], text=content)
    if clause.match(r"(?:create|make|touch)\b"):
        return Step(kind="write", path=files[0])
    return None


def append_rule(clause: Clause) -> Step | None:
    """Add to the end of a file."""
    files = files_in(clause)
    found = clause.match(
        r"(?:append|add)\s+(?P<content>.+?)\s+(?:to|at|onto|in|into)\s+(?:the\s+(?:end"
        r"|bottom)\s+(?:of\s+)?)?(?:the\s+)?(?:file\s+)?(?P<where>\S+)\s*$"
    )
    if not found:
        found = clause.match(r"(?:append|add)\s+to\s+(?:the\s+)?(?:file\s+)?(?P<where>\S+?)\s*:\s*(?P<content>.+)")
    if not found:
        return None
    if not files and not IT.fullmatch(found["where"]):
        return None
    quoted = [piece for piece in clause.quoted() if piece not in files]
    content = (
        quoted[0]
        if quoted
        else re.sub(r"^(?:the|a)\s+(?:text|line|words?)\s+", "", clause.bare(found["content"]), flags=re.IGNORECASE)
    )
    return Step(kind="append", path=files[-1] if files else "", here=not files, text=content)


def edit_rule(clause: Clause) -> Step | None:
    """Replace one text by another in a file."""
    found = clause.match(
        r"(?:in\s+\S+,?\s+)?(?:replace|change|substitute|swap)\s+(?P<old>.+?)\s+(?:with|by|to"
        r"|for)\s+(?P<new>.+?)(?:\s+in\s+(?P<where>(?:the\s+file\s+)?\S+))?\s*$"
    )
    files = files_in(clause)
    if not found or not (files or IT.search(clause.text)):
        return None
    return Step(
        kind="edit",
        path=files[-1] if files else "",
        here=not files,
        text=clause.bare(found["old"]),
        other=clause.bare(found["new"]),
    )
