"""Values that stand behind the name of a secret: settings, fields, headers, parameters, options, plain sentences."""

import re

from hermes_tool_redaction.headers import AUTH, authorization, cookies
from hermes_tool_redaction.look import Where, drawn_by_lot, is_secret_value
from hermes_tool_redaction.names import strength
from hermes_tool_redaction.patterns import compiled as _re
from hermes_tool_redaction.patterns import rule as _rule
from hermes_tool_redaction.patterns import words
from hermes_tool_redaction.places import just_before, line_begin, line_end
from hermes_tool_redaction.quick import is_own_id
from hermes_tool_redaction.values import PLAIN, between_quotes, judged, trimmed

__all__ = ["Found", "behind", "is_named_secret"]

Found = tuple[list[tuple[int, int, bool]], str]  # spans, and the strength of a value that the next line holds

_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_AFTER = re.compile(r"[A-Za-z0-9_.-]*").match
_SECOND = frozenset(
    ["codes", "Codes", "key", "keys", "Key", "Keys", "KEY", "token", "Token", "TOKEN", "phrase", "code", "Code", "pin"]
)  # of a name of two words
_AS = {"your": "verification", "netw": "wpa", "wifi": "wpa", "wi-f": "wpa"}  # what a word says of a code or a key
_QUOTES = frozenset("\"'`")
# A field of JSON whose value is too short for a secret of its kind, as most are: a third of the time of any other way.
_SHORT = {
    kind: rf"""["']: ?(["'])[^"'`\\\s]{{1,{least - 1}}}\1[,}}\]\n]"""
    for kind, least in (("W", 16), ("H", 16), ("S", 8))
}
_TOLD = {  # what is said before the name
    "N": r"\b(\d{4,8}) (?:is|as) your [\w -]{0,20}$",
    "P": r"[\"'`]((?=[^\"'`]*\d)(?=[^\"'`]*[A-Za-z])[^\s\"'`<>=:/(),]{6,64})[\"'`]"
    r" (?:is|was|as) (?:the|my|our|your|a) (?:\w{1,12} )?$",
}


def name_around(text: str, begin: int, end: int) -> tuple[int, int]:
    """The whole name around a word in it."""
    before = text[max(0, begin - 48) : begin]
    first = begin - len(before) + len(before.rstrip(_NAME)) if before and before[-1] in _NAME else begin
    return first, _AFTER(text, end, end + 48).end()  # type: ignore[union-attr]


def behind(text: str, begin: int, end: int) -> Found:
    """What is secret behind the name around ``text[begin:end]``."""
    if not text[end - 1].isalnum() and text[end - 1] != "_":
        end -= 1
    first, last = name_around(text, begin, end)
    if text[begin:last].lower() == "contrase":
        last += len("ña")
    last = end + len(text[end:last].rstrip(".-"))
    if text[first - 1 : first] == "\\" and text[first] in "nrt":
        first += 1
    name = text[first:last]
    if name in _SECOND and (word := just_before(_rule("named.two_words"), text, first, 20)):
        name = f"{_AS.get(word[0].strip().lower()[:4], word[0].strip())}_{name}"
    kind = strength(name)
    if not kind or (name == "PASS" and text.startswith(":", last)):  # as test runners begin a line
        return [], ""
    spans, pending = _beside(text, first, last, name, kind)
    if not spans and kind in _TOLD and (told := just_before(_TOLD[kind], text, first, 100)):
        return [(*told.span(1), True)], ""
    if "{" in text[last : last + 3] and not spans and not pending and _declared(text, first, last):
        pending = kind
    if kind == "P" and not spans and not pending:
        spans += _near(text, first, last)
        alone = text[last : last + 1] in ("\n", "\r") and just_before(
            r"(?:^|\n)[^\w\n]{0,4}(?:\w{1,12}[ ])?$", text, first, 18
        )
        pending = "P" if alone else ""
    return spans, pending


def _declared(text: str, first: int, last: int) -> bool:
    """Whether a name is that of a variable, whose default a line below holds."""
    if not _re(r"[\"']? \{[ \t]*\r?(?:\n|$)").match(text, last):
        return False
    return just_before(r"(?:^|\n)[ \t]*variable[ ]+[\"']$", text, first, 40) is not None


def _beside(text: str, first: int, last: int, name: str, kind: str) -> Found:
    if kind in _SHORT and _re(_SHORT[kind]).match(text, last) and name.lower() not in AUTH:
        return [], ""
    gap = _rule("named.between").match(text, last)
    if gap is None:
        return [], ""
    if kind == "C":
        return cookies(text, gap, name), ""
    return _value(text, first, last, name, kind, gap)


def _near(text: str, first: int, last: int) -> list[tuple[int, int, bool]]:
    """What looks like a password on the line of the word, behind it or in quotes before it, however it is said."""
    for begin, end in ((last, line_end(text, last, 100)), (line_begin(text, first, 50), first)):
        for word in _rule("named.alike").finditer(text, begin, end):
            said = begin == last or text[word.start() - 1 : word.start()] in _QUOTES or "|" in text[word.end() : first]
            if said and word.start() < last + 60 and not _rule("named.common").match(word[0]):
                return [(*word.span(), True)]
    return []


def is_named_secret(name: str, value: str) -> bool:
    """Whether the value of a field is a secret, by the field's name."""
    if is_own_id(value):
        return False
    kind = strength(name)
    return kind not in ("", "C") and is_secret_value(value, kind, Where(quoted=True))


def _value(text: str, first: int, last: int, name: str, kind: str, gap: re.Match[str]) -> Found:
    place, flag = gap.end(), text[first : first + 1] == "-"
    sign = gap["sign"]
    if name.lower() in AUTH and sign:
        return authorization(text, place if not gap["scheme"] else gap.start("scheme"), gap), ""
    where = Where(
        env=bool(sign) and name == name.upper(),
        prose=bool(gap["words"] or gap["about"]),
    )
    if name.lower() in ("code", "key") and (
        text[first - 1 : first] in ("?", "&") or _re(r"=[\w-]{16,}&").match(text, last)
    ):
        kind = "S"
    if _stands_otherwise(text, first, last, name, kind, gap, flag):
        return [], ""
    if (sign or gap["xml"]) and _re(r"(?:[|>][+-]?\d?)?[ \t]*\r?(?:\n|$)").match(text, place):
        return [], (kind if (not sign or sign.strip() == ":" or "\\" in sign or _is_defined(text, first)) else "")
    if gap["blank"] and text[place : place + 1] == "\\":
        return [], (kind if flag else "")
    quoted = between_quotes(text, place)
    if quoted:
        return _in_quotes(text, quoted, kind, where, gap, name), ""
    many = _re(r"[^\s,\[\]\"'`]+(?:,[ \t]*[^\s,\[\]\"'`]+)+(?=\])").match(text, place) if "[" in gap[0] else None
    if many:  # a list without quotes
        values = _re(r"[^\s,]+").finditer(text, *many.span())
        return [span for value in values for span in judged(text, *value.span(), kind, where)], ""
    return _bare(text, first, place, kind, where, gap), ""


def _is_defined(text: str, first: int) -> bool:
    """Whether a name is one that a Makefile defines, whose lines follow."""
    return just_before(r"(?:^|\n)[ ]*(?:(?:override|export)[ ]+)*define[ ]+$", text, first, 40) is not None


def _stands_otherwise(text: str, first: int, last: int, name: str, kind: str, gap: re.Match[str], flag: bool) -> bool:
    """Whether what stands between the name and the rest says that the rest is not its value."""
    place, sign = gap.end(), (gap["sign"] or "").strip()
    if gap["xml"] is not None and text[first - 2 : first] == "</":
        return True
    if (
        gap["xml"] is not None and name.lower() == "code" and not _re(r"[\w.$-]{30,}<").match(text, place)
    ):  # of a manual
        return True
    if name in ("PWD", "OLDPWD") and text[first - 1 : first] != ";":  # where a shell is, more often than not
        return not _rule("named.made_up").match(text, place)
    if "</key>" in gap[0] or "</name>" in gap[0]:
        return False
    if (
        text[first - 1 : first] == ":" and sign == ":" and _re(r"[a-z]+(?![^\s:}`'\"])").match(text, place)
    ):  # parts of a word
        return True
    if text[first - 2 : first] == "${" and (sign not in (":", ":-", ":=") or text[place : place + 1] in ("?", "+")):
        return True
    if gap["blank"]:
        return not _blank_will_do(text, first, last, name, flag, place)
    if gap["comma"] and not gap["mark"]:
        return (
            kind != "P"
            or not _rule("named.made_up").match(text, place + 1)
            or bool(_rule("named.common").match(text, place + 1))
        )
    if text[first - 1 : first] == "<" and _re(r"[^<\n\"'][^<\n]{0,4095}</|[ \t]*\r?(?:\n|$)").match(text, place):
        return False
    tag = r"<[\w/!?:][^<>]*$|<!\[CDATA\[$"
    return gap["xml"] is not None and not just_before(tag, text, first, 60)


def _in_quotes(
    text: str, found: tuple[int, int], kind: str, where: Where, gap: re.Match[str], name: str
) -> list[tuple[int, int, bool]]:
    begin, end = found
    where.quoted, where.prose = True, False
    spans = []
    comma = gap["comma"] is not None
    for _ in range(20):  # more of a list, or what a plan changes it to
        value = text[begin:end]
        inner = _re(
            rf"(?:{'|'.join(words('schemes'))})[ ]+(?=\S)",
        ).match(value.lower())
        if inner and kind != "P":
            begin += inner.end()
            value = text[begin:end]
        if (
            value[:1] in (",", ")")
            or ("=" in value.rstrip("=") and name.lower() == "auth")
            or (comma and not _looks_single(value))
        ):
            break
        if is_secret_value(value, kind, where) and not (comma and value.isalpha()):
            spans.append((begin, end, kind == "P"))
        more = _re(r"""\\*["'`][ \t]{0,4}(?:,|->|=>)[ \t]{0,20}(?=\\*["'`])""").match(text, end)
        if more is None or (">" not in more[0] and "[" not in gap[0]):
            break
        begin, end = between_quotes(text, more.end())  # type: ignore[misc]
    return spans


def _looks_single(value: str) -> bool:
    names = r"[a-z]+(?:[_ .-][a-z]+)*|[A-Z][A-Z\d]*(?:_[A-Z\d]+)+|--?[a-z][\w-]*|(?:%2e|%2f|[./])+.*"
    return not _re(names).fullmatch(value)


def _element(text: str, place: int, kind: str) -> list[tuple[int, int, bool]]:
    match = _re(r"([^<\n]{1,4096})<").match(text, place)
    return judged(text, place, match.end(1), kind, Where(quoted=True)) if match else []


def _rest(text: str, place: int, *, env: bool) -> int:
    """Where a value ends that is the rest of its word, as in files of variables; 0 when it does not look like one."""
    match = _re(r"[^\s\"'`]\S{0,4095}").match(text, place)
    if match is None or (match[0][-1] in "\"'`;,)]}" and not env):
        return 0
    return 0 if "&" in match[0] and _re(r"&[\w.-]+=").search(match[0]) else match.end()


def _bare(
    text: str, first: int, place: int, kind: str, where: Where, gap: re.Match[str]
) -> list[tuple[int, int, bool]]:
    if gap["xml"] is not None:
        return _element(text, place, kind)
    sign = (gap["sign"] or "").strip(" \t")
    spaced = "=" in sign and sign != gap["sign"]
    where.code = (spaced or sign in (":=", "=>")) and not (where.env and kind == "P" and sign == ":=")  # a Makefile
    where.env = where.env and not (spaced and _re(r"[\w.]+\(").match(text, place))
    lone = just_before(_rule("named.line_start"), text, first, 120) is not None
    before = text[first - 1 : first]
    if _re("[=!]=").search(gap[0]):
        return []
    if lone and sign == "=" and not spaced and (end := _rest(text, place, env=where.env)):
        where.env = not text[first:place].islower() or kind == "P"
        return judged(text, place, end, kind, where)
    if sign == ":" and lone and kind == "P":
        value = _re(r"[ \t]+(?:\#|//).*$|\s+$").sub("", text[place : line_end(text, place, 4096)])
        if _re(r"[a-z]{3,10}(?: [a-z]{3,10}){3,9}").fullmatch(value):
            return judged(text, place, place + len(value), kind, where)
        if " " in value and not value.startswith(("{", "[", "(")) and not is_secret_value(value, "P", Where()):
            word = value.split()[0]
            where.prose = True
            return judged(text, place, place + len(word), kind, where)
    match = _re(PLAIN).match(text, place)
    if match is None:
        return []
    end = trimmed(text, place, match.end())
    if "=" in sign and not lone and before not in ("?", "&") and text[end : end + 1] in (",", ")") and not where.env:
        where.code = where.code or not _re(r"\d|[^\w]").search(text[place:end])
    if gap["blank"]:
        where.env = True
    if where.prose or (sign == ":" and kind == "P" and _re(r"[ \t]+(?!\w+[=:])[A-Za-z]").match(text, end)):
        where.prose = True
        end = (
            len(text[place:end].rstrip(".,;:!?" if not _re(r"[\w][!?]+$").search(text[place:end]) else ".,;:")) + place
        )
    return judged(text, place, end, kind, where)


def _blank_will_do(text: str, first: int, last: int, name: str, flag: bool, place: int) -> bool:
    """Whether a blank may stand between this name and its value: after an option, in .netrc, and alone on a line."""
    if _re(r"""[ \t]+(["'])(?=[^"'\n]*[\d!@#$%])[^"'\n ]{4,100}\1""").match(text, last):
        return True
    kind, word = strength(name), _re(r"[^\s\"'<>(),]{6,200}(?=[\s.,;]|$)").match(text, place)
    if word and not _re(r"[v#(]?[\d.:-]+$|\d{4}-|\w+[=:]|/").match(word[0]):
        if (kind == "P" or name.lower() == "secret") and _rule("named.made_up").match(text, place):
            return name.lower() != "pass" or not _re(r"-|\w+_\w").match(word[0])  # what functions are told to pass
        if (
            kind == "S"
            and text[first - 1 : first] != "/"
            and (drawn_by_lot(word[0]) or _re(r"[0-9a-f]{32,}\b").match(word[0]))
        ):
            return True
    if name.lower() == "secret" and just_before("(?i)enable $", text, first, 10):
        return True
    if flag:  # in a sentence a word of it follows, and no value
        return not _re(r" -|[ \t]+(?:and|or|with|for|when|to|is|in|from|options?|flags?|description)\b(?!\S*\d)").match(
            text, last
        )
    line = text[line_begin(text, first, 300) : first]
    told = line.rstrip().lower()
    if (
        told[-3:] == "set"
        and not told[-4:-3].isalnum()
        and any(map(str.isalnum, told[:-3]))
        and not _re(r"\S*[\d!@#$%]").match(text, place)
    ):  # a sentence
        return False
    if name.lower() in ("password", "account", "passwd", "requirepass", "masterauth"):
        if _re(r"[ \t]+(?:for|is|of|to|in|from|with|was|and|or|by|on|at|must|field|has|reset|hash)\b").match(
            text, last
        ):
            return False
        return bool(
            _re(
                r"(?i)\blogin\s+\S+\s*$|\bmachine\b|\bset\s+$|^\s*$|\bidentified\s+by\s+|\buser\s+\S+\s+(?:with\s+)?(?:encrypted\s+)?$|\bwith\s+(?:encrypted\s+)?$|\brole\b"
            ).search(line)
        ) and not _re(r"[ \t]+[a-z]+(?:[ \t]+[a-z:=]+|[ \t]*$)").match(text, last)
    return bool(_rule("named.commands").search(line)) or (
        name.isupper() and _re(r"[ \t]+([A-Za-z0-9_-]{20,})(?:\s|$)").match(text, last) is not None
    )
