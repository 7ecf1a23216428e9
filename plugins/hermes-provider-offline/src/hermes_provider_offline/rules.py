"""The rules, in English: each looks at one clause and says what step it is, or None. The first that does, counts."""

import re
from collections.abc import Callable, Sequence

from hermes_provider_offline.clause import TOKEN, Clause
from hermes_provider_offline.foreign import foreign_rule
from hermes_provider_offline.names import extension_in, files_in, folder_in
from hermes_provider_offline.step import Step, Which
from hermes_provider_offline.talk import talk_rule

Rule = Callable[[Clause], Step | None]

_IT = re.compile(
    r"\b(?:it|its|them|their|this|that|those|these|the (?:same )?file|the result|the results|the output|the content|the answer|this file|that file)\b",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"\b(?P<order>longest|largest|biggest|shortest|smallest|newest|latest|oldest|first|last|most recent)\b(?!\s+(?:\d+|two|three|five|ten|line|lines|few|week|month|year|time))",
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


def _match(pattern: str, clause: Clause) -> "re.Match[str] | None":
    return re.match(pattern, clause.text, re.IGNORECASE | re.DOTALL)


def _search(pattern: str, clause: Clause) -> "re.Match[str] | None":
    return re.search(pattern, clause.text, re.IGNORECASE)


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
    if _IT.search(clause.text):
        return Step(kind=kind, here=True, **rest)  # type: ignore[arg-type]
    return None


def _number(word: str) -> int:
    return int(word[:6]) if word.isdecimal() else _NUMBERS.get(word.lower(), 0)


def run_rule(clause: Clause) -> Step | None:
    """Run a command: ``$ ls``, a lone ``code`` piece, or ``run`` and the command."""
    if found := _match(r"[$!]\s+(?P<command>\S.*)", clause):
        return Step(kind="run", text=clause.bare(found["command"]))
    code = clause.quoted("code", "fence")
    if code and TOKEN.fullmatch(clause.text):
        return None if files_in(clause) else Step(kind="run", text=code[0])
    found = _match(
        r"(?:run|execute|launch|exec|start|try)\b(?:\s+(?:the\s+)?(?:following\s+)?(?:shell\s+|terminal\s+)?command\b)?:?\s*(?P<rest>.*)",
        clause,
    )
    if not found:
        return None
    if quoted := clause.quoted():
        if TOKEN.match(found["rest"]):
            return Step(kind="run", text=quoted[0])
    rest = clause.show(found["rest"]).strip()
    if not rest or re.match(r"(?:the|a|an|my|all|some|it|this|that|your)\b", rest, re.IGNORECASE):
        return Step(kind="run_unclear", text=rest) if rest else None
    return Step(kind="run", text=rest)


def tool_rule(clause: Clause) -> Step | None:
    """Use any tool by its name: ``use the tool add with a=2, b=3``."""
    found = _match(
        r"(?:use|call|invoke)\s+(?:the\s+)?(?:tool\s+(?P<name>[\w-]+|\ue000\d+\ue001)|(?P<name2>[\w-]+|\ue000\d+\ue001)\s+tool)\b\s*(?:(?:to|with|on|for)\b|:)?\s*(?P<rest>.*)",
        clause,
    )
    if not found:
        return None
    rest = found["rest"]
    quoted = [clause.bare(token[0]) for token in TOKEN.finditer(rest)]
    return Step(kind="tool", text=clause.bare(found["name"] or found["name2"]), other=clause.bare(rest), words=quoted)


def remember_rule(clause: Clause) -> Step | None:
    """Keep a fact: what follows ``remember that``."""
    found = _match(
        r"(?:remember|memori[sz]e|keep in mind|bear in mind|don'?t forget|do not forget|make a note|take a note|note down|note|write down)"
        r"\b(?:\s+(?:that|this|of)\b|\s*:)*\s*(?P<fact>.+)",
        clause,
    )
    if not found or re.match(r"(?:what|when|who|how|where|why|which)\b", found["fact"], re.IGNORECASE):
        return None
    if re.match(r"note|write", clause.text, re.IGNORECASE) and not _match(
        r"(?:note|write)\s+(?:down\s+)?(?:that\b|this\b|:)|note:", clause
    ):
        return None
    return Step(kind="remember", text=clause.bare(found["fact"]).strip(" :"))


def forget_rule(clause: Clause) -> Step | None:
    """Remove a fact."""
    found = _match(
        r"(?:forget|stop remembering|remove from (?:your )?memory|delete from (?:your )?memory)\b(?:\s+(?:about|that|what I (?:said|told you) about)\b|:)*\s*(?P<fact>.+)",
        clause,
    )
    return Step(kind="forget", text=clause.bare(found["fact"])) if found else None


def sessions_rule(clause: Clause) -> Step | None:
    """Look into past conversations."""
    said = _match(
        r"(?:what|when|did|have|where)\b.*\b(?:we|i|you)\b.*\b(?:say|said|talk(?:ed)?|discuss(?:ed)?|mention(?:ed)?|decide[d]?|spoke|speak|chat(?:ted)?|agree[d]?)\b(?P<rest>.*)",
        clause,
    )
    if said and not _search(r"\btold? you\b|\btell you\b", clause):
        return Step(kind="sessions", text=_about(clause.bare(said["rest"])))
    found = _match(
        r"(?:search|look|find|check|browse|go)\b.*\b(?:sessions?|conversations?|chats?|history)\b\s*(?:for|about|on|where|mentioning)?\s*(?P<rest>.*)",
        clause,
    ) or _match(r"recall\s+(?P<rest>.+)", clause)
    if found:
        return Step(kind="sessions", text=_about(clause.bare(found["rest"])))
    if _match(
        r"(?:list|show|what are|which)\b.*\b(?:sessions|conversations|chats)\b|what did we do\b|where (?:did|were) we\b",
        clause,
    ):
        return Step(kind="sessions")
    return None


def _about(rest: str) -> str:
    words = re.sub(r"^.*?\b(?:about|on|regarding|of|concerning)\s+", "", rest.strip(), flags=re.IGNORECASE)
    return re.sub(
        r"\b(?:last|this|past|previous|earlier|some|the other|an?|two|three|few)?\s*(?:yesterday|today|recently|before|ago|earlier|(?:week|month|year|time|day|night|session|conversation)s?(?:\s+ago)?)\b|[?.!]",
        " ",
        words,
        flags=re.IGNORECASE,
    ).strip()


def question_rule(clause: Clause) -> Step | None:
    """Ask for something that was told before."""
    asked = _match(
        r"(?:what|who|where|when|which|how|whose)(?:'s|\b).*\b(?:my|mine|me|i|our)\b"
        r"|(?:do|can) you (?:still )?(?:remember|recall|know)\b|what do you (?:know|remember)\b"
        r"|(?:did|have) i (?:ever )?(?:tell|told)\b|(?:is|are|was|do|does|am) (?:my|i|our)\b",
        clause,
    )
    return Step(kind="question", text=clause.bare(clause.text)) if asked and not files_in(clause) else None


_FILE_WORD = r"(?:(?:a|the|my)\s+)?(?:new\s+)?(?:file\s+)?(?:(?:called|named)\s+)?"


def write_rule(clause: Clause) -> Step | None:
    """Write a whole file: ``write X to F``, ``create F with X``, ``write to F: X``."""
    files = files_in(clause)
    if not files or not _match(r"(?:write|save|put|store|create|make|touch|overwrite|generate)\b", clause):
        return None
    quoted = [piece for piece in clause.quoted() if piece not in files]
    found = (
        _match(rf"(?:write|save|put|store)\s+(?P<content>.+?)\s+(?:in|into|to|as|inside)\s+{_FILE_WORD}\S+\s*$", clause)
        or _match(
            rf"(?:create|make|write|generate|overwrite)\s+{_FILE_WORD}\S+\s+(?:with|containing|that (?:says|contains|holds))\s+(?:the\s+)?(?:(?:text|content|contents|words?|lines?)\b)?:?\s*(?P<content>.+)",
            clause,
        )
        or _match(rf"(?:write|save|put|create|make)\s+(?:in|into|to)?\s*{_FILE_WORD}\S+?\s*:\s*(?P<content>.+)", clause)
    )
    if found and not quoted and _IT.fullmatch(found["content"].strip()):
        return Step(kind="write", path=files[-1], here=True)
    if quoted or found:
        content = quoted[0] if quoted else clause.bare(found["content"]) if found else ""
        content = (
            re.sub(r"^(?:the\s+)?(?:text|words?|line|content|string)\s+(?=\S)", "", content, flags=re.IGNORECASE)
            if not quoted
            else content
        )
        return Step(kind="write", path=files[-1], text=content)
    if _match(r"(?:create|make|touch)\b", clause):
        return Step(kind="write", path=files[0])
    return None


def append_rule(clause: Clause) -> Step | None:
    """Add to the end of a file."""
    files = files_in(clause)
    found = _match(
        r"(?:append|add)\s+(?P<content>.+?)\s+(?:to|at|onto|in|into)\s+(?:the\s+(?:end|bottom)\s+(?:of\s+)?)?(?:the\s+)?(?:file\s+)?(?P<where>\S+)\s*$",
        clause,
    )
    if not found:
        found = _match(r"(?:append|add)\s+to\s+(?:the\s+)?(?:file\s+)?(?P<where>\S+?)\s*:\s*(?P<content>.+)", clause)
    if not found:
        return None
    if not files and not _IT.fullmatch(found["where"]):
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
    found = _match(
        r"(?:in\s+\S+,?\s+)?(?:replace|change|substitute|swap)\s+(?P<old>.+?)\s+(?:with|by|to|for)\s+(?P<new>.+?)(?:\s+in\s+(?P<where>(?:the\s+file\s+)?\S+))?\s*$",
        clause,
    )
    files = files_in(clause)
    if not found or not (files or _IT.search(clause.text)):
        return None
    return Step(
        kind="edit",
        path=files[-1] if files else "",
        here=not files,
        text=clause.bare(found["old"]),
        other=clause.bare(found["new"]),
    )


def headings_rule(clause: Clause) -> Step | None:
    """The headings of a text file."""
    if not _search(r"\b(?:headings?|headers|outline|table of contents|section titles|sections)\b", clause):
        return None
    return _about_file(clause, "headings") or (Step(kind="headings", here=True) if len(clause.text) < 60 else None)


def lines_rule(clause: Clause) -> Step | None:
    """The first or last lines of a file."""
    found = _search(
        r"\b(?P<end>first|last|top|bottom)\s+(?P<number>\d+|one|two|three|four|five|six|seven|eight|nine|ten|few)?\s*lines?\b",
        clause,
    )
    if not found:
        return None
    kind = "tail" if found["end"].lower() in ("last", "bottom") else "head"
    number = _number(found["number"]) if found["number"] else 1 if "lines" not in found[0].lower() else 5
    files = files_in(clause)
    return Step(kind=kind, path=files[0] if files else "", here=not files, number=number or 5)


def count_rule(clause: Clause) -> Step | None:
    """Count lines, words or characters of a file, files of a folder, or matches."""
    found = _search(
        r"\b(?:how many|count(?:\s+the)?|number of|total)\s+(?:of\s+)?(?:all\s+)?(?:the\s+)?(?P<unit>lines?|words?|characters?|chars|headings?|files?|matches|occurrences|hits|\S+)",
        clause,
    )
    if not found:
        return None
    unit = re.sub(r"s$", "", found["unit"].lower())
    if (
        _search(r"\bper\s+file\b|\b(?:in|for|by)\s+each\s+file\b", clause)
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
    found = _match(
        r"(?:how many|count(?:\s+the)?|number of)\s+(?:all\s+)?(?:the\s+)?(?P<what>\S+)\s+(?:are\s+|is\s+|there\s+|occurs?\s+|comments?\s+|lines?\s+|appears?\s+)*(?:in|under|per)\b",
        clause,
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
    if not _match(r"(?:find|locate|look for|where(?:'s| is| are)|which|search for|list|show|give me|what)\b", clause):
        return None
    if glob := _search(r"(?<!\S)(?P<glob>[\w./-]*\*[\w.*/-]*)", clause):
        return Step(kind="find", text=glob["glob"], path=folder_in(clause))
    named = _search(rf"\bfiles?\s+(?:are\s+|is\s+)?(?:called|named)\s+(?P<name>\S+|{TOKEN.pattern})", clause)
    if named:
        return Step(kind="find", text=clause.bare(named["name"]).rstrip(".,?"), path="")
    files = files_in(clause)
    if files and _match(r"(?:find|locate|where(?:'s| is))\b", clause) and not _search(r"\b(?:in|for)\s", clause):
        return Step(kind="find", text=files[0])
    extension = extension_in(clause)
    if (
        extension
        and _match(r"(?:find|locate|look for|search for)\b", clause)
        and _search(r"\bfiles?\b|\*?\.\w+", clause)
    ):
        return None if clause.quoted() else Step(kind="find", text=f"*.{extension}", path=folder_in(clause))
    return None


def search_rule(clause: Clause) -> Step | None:
    """Search for a text in files."""
    per_file = bool(_search(r"\bper\s+file\b|\b(?:in|for|by)\s+each\s+file\b|\bhow many\b|\bcount\b", clause))
    patterns = (
        r"(?:search|grep|look|find|scan|check)\s+(?:(?:the\s+|all\s+)?(?:files?|code|everything|here|(?P<in>\S+))\s+)?for\s+(?:the\s+(?:word|text|string|pattern)\s+)?(?P<what>.+?)(?:\s+(?:in|under|within|inside|across|per|here)\b.*)?$",
        r"(?:grep|search|find)\s+(?:for\s+)?(?:all\s+|every\s+)?(?:the\s+)?(?:lines?\s+(?:with|containing)\s+|occurrences?\s+of\s+|word\s+|text\s+|string\s+)?(?P<what>.+?)\s+(?:in|under|within|inside|across)\b.*$",
        r"(?:which|what)\s+files?\s+(?:here\s+)?(?:contain|mention|have|hold|use|include|say)s?\s+(?P<what>.+?)(?:\s+(?:in|under)\b.*)?$",
        r"where\s+(?:is|are)\s+(?P<what>.+?)\s+(?:used|mentioned|defined|called)\b.*$",
        r"grep\s+(?P<what>\S+)\s*$",
    )
    for pattern in patterns:
        if found := _match(pattern, clause):
            what = (
                clause.quoted()[0]
                if clause.quoted() and TOKEN.search(found["what"])
                else clause.bare(found["what"]).strip()
            )
            where = found.groupdict().get("in") or _where(clause)
            return Step(kind="search", text=what, path="" if where == what else where, per_file=per_file)
    return None


def summary_rule(clause: Clause) -> Step | None:
    """Summaries and explanations need a model; an outline of the file does not."""
    if not _match(
        r"(?:summari[sz]e|sum up|explain|describe|tl;?dr|what(?:'s| is) (?:in |inside )?.*\babout)\b", clause
    ):
        return None
    return _about_file(clause, "outline")


def read_rule(clause: Clause) -> Step | None:
    """Show a file."""
    if TOKEN.fullmatch(clause.text) or (files_in(clause) and re.fullmatch(r"\S+", clause.text)):
        return Step(kind="read", path=files_in(clause)[0]) if files_in(clause) else None
    if not _match(
        r"(?:read|open|show|print|display|cat|view|see|look|tell|give|check|get|load|what(?:'s| is| does| are| do)?)\b",
        clause,
    ):
        return None
    files = files_in(clause)
    if files and files[0].endswith("/"):
        return None
    if _match(r"(?:read|open|print|display|cat|view|load)\b", clause):
        return _about_file(clause, "read")
    if files or _which(clause):
        return _about_file(clause, "read")
    return (
        Step(kind="read", here=True)
        if _match(r"(?:show|look at|see)\s+(?:me\s+)?(?:it|that file|this file|the file)\b", clause)
        else None
    )


def list_rule(clause: Clause) -> Step | None:
    """List a folder."""
    words = _match(r"ls\b\s*(?P<path>[^\s-]\S*)?", clause)
    if words:
        return Step(kind="list", path=words["path"] or "")
    asks = _match(r"(?:list|show|what|which|see|display|give|tell|look|are there|dir\b)", clause)
    things = _search(
        r"\b(?:files?|folders?|director(?:y|ies)|contents?|everything)\b|\b(?:what(?:'s| is)|look) (?:around )?(?:in )?here\b",
        clause,
    )
    if not asks:
        return None
    folder = next((path for path in files_in(clause) if path.endswith("/")), "") or folder_in(clause)
    if things or (_match(r"(?:list|what(?:'s| is) in)\b", clause) and (folder or _search(r"\bhere\b", clause))):
        return Step(kind="list", path=folder, text=extension_in(clause))
    return None


RULES: Sequence[Rule] = (
    tool_rule, run_rule, forget_rule, sessions_rule, remember_rule, talk_rule, write_rule, append_rule, edit_rule, headings_rule, lines_rule,
    count_rule, question_rule, find_rule, search_rule, summary_rule, list_rule, read_rule, foreign_rule,
)  # fmt: skip


def understand(clause: Clause) -> Step | None:
    """The step a clause asks for, or None when no rule knows it."""
    if not clause.text:
        return None
    return next((step for rule in RULES if (step := rule(clause))), None)


def kind_of(clause: Clause) -> str:
    """The name of the rule a clause falls under, or an empty string."""
    step = understand(clause)
    return step.kind if step else ""
