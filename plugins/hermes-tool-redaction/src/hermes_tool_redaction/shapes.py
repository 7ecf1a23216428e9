"""Secrets that their surroundings give away: in addresses, in commands, in key files, in recovery phrases."""

import re
from functools import cache

from hermes_tool_redaction.look import Where, drawn_by_lot, is_pair, is_placeholder, is_secret_value
from hermes_tool_redaction.named import behind
from hermes_tool_redaction.patterns import compiled as _re
from hermes_tool_redaction.patterns import rule as _rule
from hermes_tool_redaction.patterns import table, words
from hermes_tool_redaction.places import just_before, line_begin, line_end

__all__ = [
    "after_access_key",
    "bearer_or_basic",
    "before_host",
    "encoded",
    "in_address",
    "in_pgpass",
    "key_block",
    "key_line",
    "listed",
    "option",
    "phrase",
    "piped",
    "signed",
    "statement",
]

Span = tuple[int, int, bool]
_VALUE = r"""(?:"((?:[^"\\\n]|\\.){1,512})"|'([^'\n]{1,512})'|([^\s"'|;&<>]{1,512}))"""
_PART = r"[^\s\"'`<>\\]"  # of an address


def _held(match: re.Match[str] | None) -> list[Span]:
    """What the last group of a match holds, unless it only stands for a secret."""
    if match is None or is_placeholder(match[match.lastindex]):  # type: ignore[index]
        return []
    return [(*match.span(match.lastindex), True)]  # type: ignore[arg-type]


def in_address(text: str, begin: int, place: int) -> list[Span]:
    """The password, or token, before the host of an address whose ``://`` ends at a place; secret paths of hooks."""
    match = _re(r"[^\s\"'`<>\\]{1,1000}").match(text, place)
    if match is None:
        return []
    rest, spans = match[0], []
    hook = _rule("shapes.hooks").match(rest)
    if hook and not is_placeholder(hook[1]) and _re(r"\d|[a-z][A-Z]").search(hook[1]):
        spans.append((place + hook.start(1), place + hook.end(1), False))
    web = just_before(r"(?i)https?$", text, begin, 10) is not None
    user, colon, password = _before_host(rest, web).partition(":")
    if colon:
        begin = place + len(user) + 1
        password = "" if user.endswith("[") else password  # of an address with a part that may be left out
        known = f"{user}:{password}" == "scott:tiger"  # of manuals, since 1977
        if not known and not is_placeholder(password) and not _re(r"[$%]\{?\w+\}?|\{\{?.*").match(password):
            spans.append((begin, begin + len(password), True))
        if drawn_by_lot(user, 20) and password in ("", "x-oauth-basic"):
            spans.append((place, place + len(user), False))
    elif drawn_by_lot(user):
        spans.append((place, place + len(user), False))
    return spans


def _before_host(rest: str, web: bool) -> str:
    """What stands before the host and its ``@``; passwords hold anything, so the last that a host follows counts."""
    plain = _re(r"[^/?#]*(?=@)").match(rest)
    if plain and web:
        return plain[0]
    if _re(r"[^:/@]*:\d{1,5}(?:[/?#]|$)").match(rest) or (web and not _re(r"[^/?#]*:").match(rest)):
        return ""
    hosts = list(
        _re(r"@(?=(?:[\w.-]+|\[[\da-fA-F:]+\]|\$\{?\w+\}?|\{\w+\}|tcp\(|unix\()(?:[:/?,;#)\]}(]|$))").finditer(rest)
    )
    return rest[: hosts[-1].start()] if hosts else plain[0] if plain else ""


def option(text: str, begin: int, end: int) -> list[Span]:
    """A password behind an option: one whose name says so, or a short one of a program that is known to take it so."""
    name = text[begin:end]
    spans, _ = behind(text, begin, end)
    if spans:
        return spans
    before = text[line_begin(text, begin - 1, 500) : begin].lower()
    for program, pattern in table("options", "\t"):
        told = _re(pattern.replace("{V}", f"(?!-){_VALUE}")).match(text, begin - 1) if program in before else None
        if spans := _held(told):
            return spans
    if name[1] in "pPwak":
        least = 6 if _re(r"\s(?:-[uUDl]|--user(?:name)?|--login)\b").search(before) else 8 if name == "-p" else 99
        match = _re(r"[ =]?[\"']?((?=\S*\d\S*\d)(?=\S*[A-Za-z])[^\s\"'/.:,;=]{6,64})[\"']?(?=\s|$)").match(
            text, begin + 2
        )
        return _held(match) if match and len(match[1]) >= least and not _re(_NO_PASSWORDS).search(before) else []
    if name in ("-u", "--user"):
        pair = r"[ =]+[\"']?[A-Za-z][\w.@-]{0,40}:(?=[^\s\"']*\d)(?=[^\s\"']*[A-Za-z])([^\s\"']{4,})"
        return _held(_re(pair).match(text, end))
    return []


def listed(text: str, begin: int, end: int) -> list[Span]:
    """The password of ``user:password`` behind an option of curl, as code gives it words; ``end`` is behind a quote."""
    if "curl" not in text[line_begin(text, begin, 300) : begin]:
        return []
    return _held(_re(rf"[^:\"'\n]*:([^{text[end - 1]}\n]{{4,200}}){text[end - 1]}").match(text, end))


_NO_PASSWORDS = r"\b(?:compose|git|tsc|mkdir|cp|nmap|pytest|lsof|run)\b"  # programs for which -p is something else


@cache
def _sayings() -> dict[str, tuple[str, str]]:
    return {
        literal.lstrip("="): (before, pattern.replace("{V}", _VALUE))
        for literal, before, pattern in table("sayings", "\t")
    }


@cache
def _with_names() -> dict[str, list[tuple[int, str]]]:
    """For parts of names the literals that hold them, and where."""
    literals = [row[0][1:] for row in table("sayings", "\t") if row[0][0] == "="]
    return {name: [(s.index(name), s) for s in literals if name in s] for name in words("names")}


def at_name(text: str, begin: int, end: int) -> list[Span]:
    """What is said in words of which a secret's name is a part, the one at a place."""
    for offset, literal in _with_names().get(text[begin:end].lower(), ()):
        first = begin - offset
        if first >= 0 and text[first : first + len(literal)].lower() == literal:
            return statement(text, first, first + len(literal))
    return []


def statement(text: str, begin: int, end: int) -> list[Span]:
    """What databases, brokers, routers and programs are told in words of their own."""
    before, pattern = _sayings()[text[begin:end].lower()]
    if before != "-" and not _re(before).search(text, line_begin(text, begin, 200), begin):
        return []
    return _held(_re(pattern).match(text, end))


def piped(text: str, place: int, _end: int) -> list[Span]:
    """``echo PASSWORD | sudo -S``, ``echo user:PASSWORD | chpasswd``, ``echo TOKEN | login --password-stdin``."""
    match = _re(
        r"""(?:echo|printf)\s+(?:-\w+\s+)?(?:'%s\\?n?'\s+)?["']?(?:[\w.-]+:(?=[^\s"'|]+["']?\s*\|[^|]*chpasswd))?([^\s"'|]+)["']?\s*\|[^|\n]*$"""
    ).search(text, line_begin(text, place, 400), place)
    return _held(match)


def bearer_or_basic(text: str, _begin: int, place: int) -> list[Span]:
    """The token behind ``Bearer``, the encoded name and password behind ``Basic``; ``place`` is behind the word."""
    match = _re(r"[ \t:]+[\"'\\]{0,3}([A-Za-z0-9._~+/-]{8,4096}=*)").match(text, place)
    if match is None or is_placeholder(match[1]):
        return []
    value = match[1].rstrip(".")
    if text[place - 1].lower() == "r":
        good = is_secret_value(value, "S", Where(quoted=True)) and not _re(r"[A-Za-z]+[/.-][A-Za-z/.-]+").fullmatch(
            value
        )
    else:
        good = is_pair(value)
    return [(match.start(1), match.start(1) + len(value), False)] if good else []


def before_host(text: str, begin: int, _end: int) -> list[Span]:
    """The password of ``user:password@host:port`` without a scheme, or of ``user:password@tcp(host)``."""
    if text.startswith("@//", begin):
        pattern = r"/([^ \n\"'=`]*)$"
    elif text.startswith(("@tcp(", "@unix("), begin):
        pattern = r":([^ \n\"'=`/]*)$"
    else:
        pattern = r"(?<![\w:@.-])[A-Za-z][\w.-]{0,31}:((?=[^\s:@/\"']*\d)[^\s:@/\"']{4,64})$"
    return _held(just_before(pattern, text, begin, 200))


def crypt(text: str, begin: int, end: int) -> list[Span]:
    """A password's hash, as systems keep it, with the name of its kind."""
    match = _re(r"[^\s\"'`<>;|:\\]{12,400}" if text[end - 1] == "$" else r"[\w+/=$:]{40,400}").match(text, end)
    name = just_before(r"[\w-]+$", text, begin, 24)
    if match is None or "{" in match[0] or "(" in match[0] or not _re(r"\d").search(match[0]):
        return []
    return [(name.start() if name else begin, match.start() + len(match[0].rstrip(",.")), True)]


def hook(text: str, begin: int, end: int) -> list[Span]:
    """What is drawn by lot in the address of a hook."""
    head = just_before(rf"(?:(?!=){_PART})+$", text, begin, 200)
    first = head.start() if head else begin
    word = _re(rf"(?={_PART}*/)(?={_PART}*\.)(?!{_PART}*/commit){_PART}{{8,500}}").match(text, first)
    if word is None:
        return []
    parts = _re(r"(?<=[/=])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w.~%-]{16,})").finditer(
        text, end, word.end()
    )
    found = [m for m in parts if _re(r"[0-9a-f-]{24,}").fullmatch(m[0]) or drawn_by_lot(m[0])]
    before = _re(r"(?<=/)[A-Z0-9]{8,12}/(?:[A-Z0-9]{8,12}/)?$").search(text, end, found[0].start()) if found else None
    return [((before or found[0]).start(), found[-1].end(), False)] if found else []


def signed(text: str, begin: int, _end: int) -> list[Span]:
    """A short signed token, around the dot between its header and its body."""
    head = just_before(r"eyJ[\w-]{5,}$", text, begin, 60)
    match = _re(r"\.eyJ[\w-]{4,}\.[\w-]{6,}").match(text, begin)
    return [(head.start(), match.end(), False)] if head and match else []


def in_pgpass(text: str, place: int, _end: int) -> list[Span]:
    """The password of a line ``host:port:database:user:password``, one of whose colons is at a place."""
    begin, end = line_begin(text, place, 200), line_end(text, place, 400)
    host = r"(?:[\w.*/-]+|\[[\da-fA-F:]+\]|(?:\\:|[\w.])+)"
    line = rf"{host}:(?:\d+|\*):[\w*.-]+:[\w*.@-]+"
    match = _re(rf"\s*{line}:(\S+)\s*").fullmatch(text, begin, end)
    if match is None and ".pgpass" in text[place:end]:  # written by a command
        match = _re(rf"[\"' ]{line}:([^\s\"']+)").search(text, begin, end)
    return _held(match)


def encoded(text: str, begin: int, _end: int) -> list[Span]:
    """A long token in the letters of base64, in which the signs that words end at stand anywhere."""
    match = _re(r"(?<![A-Za-z0-9+/])(?:ABSK|ops_eyJ)[A-Za-z0-9+/]{60,4096}={0,3}").match(text, begin)
    return [(*match.span(), False)] if match and _re(r"\d").search(match[0]) else []


def phrase(text: str, _begin: int, place: int) -> list[Span]:
    """The words of a coin's recovery phrase behind its name; ``place`` is behind the name."""
    match = _rule("shapes.phrase").match(text, place)
    if match is None or _re(r"\b(?:the|and|with|for|are|not|your|from|which|should|must)\b").search(match[1]):
        return []
    return [(*match.span(1), True)]


def after_access_key(text: str, end: int) -> list[Span]:
    """The secret half that stands right behind an access key's id."""
    match = _re(r"[ \t,;:|\"'/\\]{1,4}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])").match(text, end)
    return [(*match.span(1), False)] if match and drawn_by_lot(match[1]) else []


def key_block(text: str, place: int) -> tuple[list[Span], bool]:
    """The body of a private key that begins at a place, as far as its line goes; whether it goes on after that."""
    if text.startswith("Private-Lines", place):
        return [], True
    head = _re(r"-{4,5} ?BEGIN (?:[A-Z0-9]+ )*(?:PRIVATE|SECRET) KEY(?: BLOCK)?(?: FILE)? ?-{4,5}").match(text, place)
    if head is None:
        return [], False
    end = line_end(text, head.end())
    foot = _re(r"-{4,5} ?END ").search(text, head.end(), end)
    if foot:
        return [(head.end(), foot.start(), True)], False
    body = _re(r"[ \\\r\tnr]*[^\"'<`\n \\\r\tnr][^\"'<`\n]*").match(text, head.end())
    return ([(head.end(), body.end(), True)], body.end() == end) if body else ([], True)


def key_line(text: str, begin: int, end: int) -> tuple[list[Span], bool]:
    """What is secret of the next line of a private key; whether the key goes on after it."""
    foot = _re(r"-{4,5} ?END ").search(text, begin, end)
    if foot:
        match = _re(r"[A-Za-z0-9+/=\\]{4,}(?=[\s\\n]*$)").search(text, begin, foot.start())
        return ([(*match.span(), True)] if match else []), False
    line = text[begin:end].strip(" \t\r\"'+,;\\|>#*")
    if not line or _re(r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):.*|[\w-]+:[ ].{0,80}").fullmatch(line):
        return [], True
    match = _re(
        r"((?:[A-Za-z0-9+/=]|\\(?=\S)){16,}|(?:(?<=[\s>|+#\"'*:])|^)[A-Za-z0-9+/=]{1,80})(?:\\[nr])*[\s\"'+,;\\]*$"
    ).search(text, begin, end)
    if match is None or (" " in line and len(match[1]) < 16):
        return [], False
    return [(*match.span(1), True)], True
