"""Values that stand behind the name of a secret: settings, fields, headers, parameters, options, and plain sentences."""

import re
from functools import cache

from hermes_core.redaction.look import Where, is_placeholder, is_secret_value
from hermes_core.redaction.names import strength

__all__ = ["Found", "behind", "is_named_secret", "next_line", "pair_value"]

Found = tuple[list[tuple[int, int, bool]], str]  # spans, and the strength of a value that the next line holds

_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
_LONGEST = 4096  # characters of one value
_MARK = r"""(?:\\*(?:["'`]|&quot;|&\#3[49];|&apos;)|%2[27])"""
# What stands between a name and its value.
_BETWEEN = rf"""(?x)
  [ ]?(?:\((?:[^()\n]{{1,30}})\))?  \]? (?P<mark>{_MARK})? [!?]? [ ]{{0,20}} (?:</[a-z]+>\s?)? \]? \)?
  (?:
    (?P<sign> \t*[ ]*(?:=>|:=|\?=|\+=|={{1,3}}|!==?|:(?!:)|%3[AaDd]|(?:-|=)>)[ \t]* (?:\\[ \t]*(?=\r?\n))? )
      (?: (?:Optional\[\w+\]|str|string|String|&(?:'static\s)?str|SecretStr|Final|text|bytes|any|Secret\w*)(?:[ ]?\|[ ]?\w+|\?)?[ ]*=[ ]* )?
      (?: \[?\{{\s*{_MARK}?(?:value|S|sensitive_value|stringValue|plain|plaintext|plainText|secret|after|new|current)\b{_MARK}?[ ]*[:=][ \t]* )?
      (?: \[[ \t]* )?
  | (?P<comma> [ ]?,[ \t]{{0,8}} (?:value\s*[:=]\s*)? (?=(?:b|r|u|f)?\\*["'`]) )
  | (?P<xml> (?:[ ][^<>\n]{{0,80}})?>(?:<string>|<value>|<!\[CDATA\[|[ ]{{0,3}})? | </key>[ \t]*(?:<string>|(?=\r?\n|$)) )
  | (?P<call> \((?=\\*["']) )
  | (?P<attribute> [ ,;|]+(?:\{{[ ]*(?:type[ ]*=[ ]*\w+[,; ]+)?)?{_MARK}?(?:value|val|content|default|defaultValue|password|secret)\b{_MARK}?[ ]*[:=][ ]* )
  | (?P<words> [ \t]+(?:is|was|are|=|to|as|becomes|changed\sto|set\sto|reset\sto)(?:\s(?:now|currently|still|set\sto|changed\sto|going\sto\sbe|actually|just))?[ \t:]+ )
  | (?P<about> [ ](?:for|of)[ ][^\n:=]{{1,60}}[:=][ ] )
  | (?P<blank> [ \t]+ )
  )
  (?P<scheme> (?:{_MARK})?(?:Bearer|bearer|BEARER|Basic|basic|Token|token|ApiKey|Apikey|Api-Key|Bot|SSWS|GenieKey|Key|OAuth|Negotiate|Splunk|JWT|Digest)[ ]+ (?=\S) )?
  (?: (?:await[ ])?(?:SecretStr|Secret|pydantic\.SecretStr|Buffer\.from|bytes|str|String|Some|new[ ]\w+|\w+\.new|\w*[Ss]ecure\w*|t?to\w+)\((?=\\*["'`b]) )?
  (?: [rbfuRBFU]{{1,2}}(?=\\*["']) | @(?=") )?
"""
_PLAIN_END = r"""(?:[^\s"'`<>,;&\\]|\\(?![nrt"'\\/]|\s|$)|&(?![\w.\[\]-]{1,40}=|amp;|quot;|&|\s|$)|,(?![\s"'`}\])\\]|[\w.-]{1,40}\s?[=:]|$)|;(?!\s|[\w .-]{1,40}=|$))"""
_PLAIN = rf"{_PLAIN_END}{{1,{_LONGEST}}}"
_LINE_START = r"(?i)(?:^|[\n\r{(])[ \t]*(?:[-+*|>#$%~]+[ \t]+|[\w.@~/-]*[$#>][ \t]+)?(?:(?:export|set|setx|env|arg|declare -x|local|-e|--env|run|sudo|-D|--set)[ \t]+|\$env:|\$|-D|let |const |var )*$"
_PAIR = rf"""(?x)(?:ame|AME|ey|eader|ield|ariable|arameter){_MARK}?[ \t]*[:=][ \t]*{_MARK}?([\w.:-]{{2,60}}){_MARK}?[\s,;}}]*
  (?:{_MARK}?(?:type|enabled|sensitive|disabled|slot|kind|secure|masked|protected){_MARK}?[ \t]*[:=][ \t]*{_MARK}?\w+{_MARK}?[\s,]*)*
  (?:-\s+)?{_MARK}?$"""
_AUTH = frozenset(
    {"authorization", "proxy-authorization", "proxy_authorization", "http_authorization", "x-authorization"}
)
_SECOND = frozenset(
    ["key", "keys", "Key", "Keys", "KEY", "token", "Token", "TOKEN", "phrase", "code", "Code", "pin"]
)  # of a name of two words
_LEAST = {"W": 16, "H": 16, "S": 8}  # characters
_SCHEMES = [
    "bearer",
    "basic",
    "token",
    "apikey",
    "api-key",
    "bot",
    "ssws",
    "geniekey",
    "key",
    "oauth",
    "negotiate",
    "splunk",
    "jwt",
    "digest",
]


@cache
def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def name_around(text: str, begin: int, end: int) -> tuple[int, int]:
    """The whole name around a word in it."""
    before = text[max(0, begin - 48) : begin]
    after = text[end : end + 48]
    first = begin - len(before) + len(before.rstrip(_NAME))
    return first, end + len(after) - len(after.lstrip(_NAME))


def behind(text: str, begin: int, end: int) -> Found:
    """What is secret behind the name around ``text[begin:end]``."""
    first, last = name_around(text, begin, end)
    while last > end and text[last - 1] in ".-":
        last -= 1
    if text[first - 1 : first] == "\\" and text[first : first + 1] in "nrt" and first:
        first += 1
    name = text[first:last]
    if name in _SECOND and (
        word := _re(
            r"(?i)\b(?:api|secret|access|private|auth|signing|encryption|licen[sc]e|master|account|seed|recovery|verification|security)[ ]$"
        ).search(text, max(0, first - 14), first)
    ):
        name = f"{word[0].strip()}_{name}"
    kind = strength(name)
    if not kind:
        return [], ""
    if kind in _LEAST and text[last : last + 2] in ('":', "':"):  # as most JSON is written
        place = last + 2 + (text[last + 2 : last + 3] == " ")
        if _short(text, place, _LEAST[kind]):
            return [], ""
    gap = _re(_BETWEEN).match(text, last)
    if gap is None:
        return [], ""
    if kind == "C":
        return _cookies(text, gap, name), ""
    return _value(text, first, last, name, kind, gap)


def is_named_secret(name: str, value: str) -> bool:
    """Whether the value of a field is a secret, by the field's name."""
    kind = strength(name)
    return kind not in ("", "C") and is_secret_value(value, kind, Where(quoted=True))


def _value(text: str, first: int, last: int, name: str, kind: str, gap: re.Match[str]) -> Found:
    place, flag = gap.end(), text[first : first + 1] == "-" or text[first - 2 : first] == "--"
    sign = gap["sign"]
    if (
        kind in _LEAST
        and not gap["scheme"]
        and _short(text, place, _LEAST[kind])
        and text[place : place + 1] not in ("", "|", ">", "\n")
    ):
        return [], ""  # most values of most names
    if name.lower() in _AUTH and sign:
        return _authorization(text, place if not gap["scheme"] else gap.start("scheme"), gap), ""
    if gap["scheme"] and name.lower() in _SCHEMES and not sign:
        return [], ""
    where = Where(
        env=bool(sign) and not any(c.islower() for c in name) and " " not in name,
        prose=bool(gap["words"] or gap["about"]),
    )
    if text[first - 2 : first] == "${":
        return [], ""
    if gap["blank"] and not _blank_will_do(text, first, last, name, flag):
        return [], ""
    if gap["comma"] and not gap["mark"]:
        return [], ""
    if gap["xml"] is not None and "<" not in text[max(0, first - 60) : first]:
        return [], ""
    if (
        sign
        and text[place : place + 1] in ("", "\n", "\r", "|", ">")
        and _re(r"(?:[|>][+-]?\d?)?[ \t]*\r?(?:\n|$)").match(text, place)
    ):
        return [], (kind if (sign.strip() == ":" or "\\" in sign) else "")
    if gap["blank"] and text[place : place + 1] == "\\":
        return [], (kind if flag else "")
    quoted = _quoted(text, place)
    if quoted:
        return _in_quotes(text, quoted, kind, where, gap, name), ""
    return _bare(text, first, place, kind, where, gap, flag), ""


def _short(text: str, place: int, least: int) -> bool:
    """Whether a plainly quoted value is shorter than a secret of its kind."""
    mark = text[place : place + 1]
    return (
        mark in ("'", '"') and text.find(mark, place + 1, place + 1 + least) >= 0 and "[" not in text[place - 2 : place]
    )


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
            rf"(?:{'|'.join(_SCHEMES)})[ ]+(?=\S)",
        ).match(value.lower())
        if inner and kind != "P":
            begin += inner.end()
            value = text[begin:end]
        if ("=" in value and name.lower() in ("auth",)) or (comma and not _looks_single(value)):
            break
        if is_secret_value(value, kind, where) and not (comma and value.isalpha()):
            spans.append((begin, end, kind == "P"))
        more = _re(r"""\\*["'`][ \t]{0,4}(?:,|->|=>)[ \t]{0,20}(?=\\*["'`])""").match(text, end)
        if more is None or (
            text[more.end() - 1] != ">" and "->" not in more[0] and "=>" not in more[0] and "[" not in gap[0]
        ):
            break
        again = _quoted(text, more.end())
        if again is None:
            break
        begin, end = again
    return spans


def _looks_single(value: str) -> bool:
    return not _re(r"[a-z]+(?:[_ -][a-z]+)*").fullmatch(value)


def _bare(
    text: str, first: int, place: int, kind: str, where: Where, gap: re.Match[str], flag: bool
) -> list[tuple[int, int, bool]]:
    if gap["comma"] is not None:
        return []
    if gap["xml"] is not None:
        match = _re(r"[^<\n]{1,4096}").match(text, place)
        where.quoted = True
        return (
            _judged(text, place, match.end(), kind, where)
            if match and text[match.end() : match.end() + 1] == "<"
            else []
        )
    sign = (gap["sign"] or "").strip(" \t")
    spaced = bool(gap["sign"]) and sign != gap["sign"] and "=" in sign
    where.code = spaced or sign in (":=", "=>") or "==" in sign
    line = text.rfind("\n", max(0, first - 120), first)
    lone = (
        bool(sign)
        and bool(_re(_LINE_START).search(text, max(line, first - 120, 0), first))
        and (line >= 0 or first < 120)
    )
    before = text[first - 1 : first]
    if "==" in sign or "!=" in gap[0]:
        return []
    if lone and sign == "=" and not spaced and before not in ("?", "&"):
        match = _re(r"[^\s\"'`]\S{0,4095}").match(text, place)
        end = match.end() if match else place
        if (match and text[end - 1] in "\"'`;,)]}" and not where.env) or (
            match and ("&" in match[0] and _re(r"&[\w.-]+=").search(match[0]))
        ):
            match = None
        if match:
            where.env = where.env or text[first:place].islower() is False or kind == "P"
            return _judged(text, place, end, kind, where)
    if sign == ":" and lone and kind == "P":
        line = _re(r"[^\n\r]{1,4096}").match(text, place)
        value = _re(r"[ \t]+(?:\#|//).*$|[ \t]+$").sub("", line[0]) if line else ""
        if " " in value and not value.startswith(("{", "[", "(")) and not is_secret_value(value, "P", Where()):
            word = value.split()[0]
            where.prose = True
            return _judged(text, place, place + len(word), kind, where)
    match = _re(_PLAIN).match(text, place)
    if match is None:
        return []
    end = _trimmed(text, place, match.end())
    if sign and not lone and "=" in sign and before not in "?&" and text[end : end + 1] in (",", ")") and not where.env:
        where.code = where.code or not _re(r"\d|[^\w]").search(text[place:end])
    if (flag and not sign) or gap["blank"]:
        where.env = True
    if where.prose or (
        sign == ":"
        and kind == "P"
        and _re(r"[ \t]+[A-Za-z]+").match(text, end)
        and not _re(r"[ \t]+\w+[=:]").match(text, end)
    ):
        where.prose = True
        end = (
            len(text[place:end].rstrip(".,;:!?" if not _re(r"[\w][!?]+$").search(text[place:end]) else ".,;:")) + place
        )
    return _judged(text, place, end, kind, where)


def _judged(text: str, begin: int, end: int, kind: str, where: Where) -> list[tuple[int, int, bool]]:
    return [(begin, end, kind == "P")] if is_secret_value(text[begin:end], kind, where) else []


def _trimmed(text: str, begin: int, end: int) -> int:
    """Without closing brackets that were not opened in the value, and without what only ends a sentence."""
    while end > begin and (c := text[end - 1]) in ")]}.\\":
        if c in ")]}" and text.count("([{"[")]}".index(c)], begin, end) >= text.count(c, begin, end):
            break
        end -= 1
    return end


def _blank_will_do(text: str, first: int, last: int, name: str, flag: bool) -> bool:
    """Whether a blank may stand between this name and its value: after an option, in .netrc, and alone on a line."""
    if (
        _re(r"""[ \t]+(["'])(?=[^"'\n]*[\d!@#$%])[^"'\n ]{4,100}\1""").match(text, last)
        and not text[first - 1 : first] == "."
    ):
        return True
    if strength(name) == "P" and _re(
        r"[ \t]+(?![v#(]?\d+\b)(?=[^\s]{0,40}\d)(?=[^\s]{0,40}[A-Za-z])[^\s\"'<>=:/(),]{6,64}(?:\s|$)"
    ).match(text, last):
        return True
    if name.lower() == "secret" and text[max(0, first - 7) : first].lower() == "enable ":
        return True
    if flag:
        return name.lstrip("-") != "p" and text[last : last + 2] != " -"
    line = text[max(text.rfind("\n", 0, first) + 1, first - 300) : first]
    if name.lower() in ("password", "account", "passwd", "requirepass", "masterauth") or name == "bearer":
        if _re(r"[ \t]+(?:for|is|of|to|in|from|with|was|and|or|by|on|at|must|field|has|reset|hash)\b").match(
            text, last
        ):
            return False
        return bool(
            _re(
                r"(?i)\blogin\s+\S+\s*$|\bmachine\b|\bset\s+$|^\s*$|\bidentified\s+by\s+|\buser\s+\S+\s+(?:with\s+)?(?:encrypted\s+)?$|\bwith\s+(?:encrypted\s+)?$|\brole\b"
            ).search(line)
        ) and not _re(r"[ \t]+[a-z]+(?:[ \t]+[a-z]+|[ \t]*$)").match(text, last)
    return bool(
        _re(
            r"(?i)(?:\bset|\bsetx|\bsetenv|\benv|\barg|export -x|set-item|set -x|set -gx|set -ux|secrets? (?:put|set|create|add)|config set|config:set|env set|env add)\s+(?:-\w+\s+)*(?:[\w:-]+\.)?[\"']?(?://[\w./:-]+)?$"
        ).search(line)
    ) or (name.isupper() and _re(r"[ \t]+([A-Za-z0-9_-]{20,})(?:\s|$)").match(text, last) is not None)


def _quoted(text: str, place: int) -> tuple[int, int] | None:
    """Begin and end of what is in quotes at a place; quotes may be escaped, several times, or entities."""
    mark = _re(_MARK).match(text, place)
    if mark is None:
        return None
    begin, sign = mark.end(), mark[0]
    if len(sign) == 1:
        if text.startswith(sign * 2, begin):  # three quotes
            begin += 2
        if text.startswith(sign, begin):
            return begin, begin
        body = _re(rf"(?:[^{sign}\\\n]|\\.){{0,{_LONGEST}}}").match(text, begin)
        return begin, body.end() if body else begin
    end = text.find(sign, begin, begin + _LONGEST)
    line = text.find("\n", begin, begin + _LONGEST)
    if end < 0 or 0 <= line < end:
        end = line if line >= 0 else min(len(text), begin + _LONGEST)
    return begin, end


def _authorization(text: str, place: int, gap: re.Match[str]) -> list[tuple[int, int, bool]]:
    """A header's value: what follows the scheme."""
    quoted = _quoted(text, place)
    begin, end = quoted or (place, place)
    if quoted is None:
        match = _re(r"[^\n\r\"'`<>\\,}]{1,4096}").match(text, place)
        if match is None:
            return []
        end = match.end()
    value = text[begin:end]
    scheme = _re(
        r"(?i)(?:bearer|basic|token|apikey|api-key|bot|ssws|geniekey|key|oauth|negotiate|splunk|jwt|ntlm|secret|pveapitoken=|zoho-oauthtoken|discogs token=)[ :]*(?:token=|api_key=)?[\"\\]*"
    ).match(value)
    if scheme:
        begin += scheme.end()
        value = text[begin:end]
    word = _re(r"\S+").match(value)
    if word is None or ("=" in word[0].rstrip("=")[:24] and not scheme):
        return []
    if is_placeholder(word[0]) or (not scheme and not is_secret_value(word[0], "S", Where(env=True))):
        return []
    if _re(r"[a-z]+|[A-Z][a-z]+").fullmatch(word[0]) or not _re(r"[\w+/=.~:|!@#$%^&*-]{4,}").match(word[0]):
        return []
    rest = value[word.end() :].strip()
    return [(begin, begin + word.end(), False)] if not rest or quoted is None or not scheme else [(begin, end, False)]


def _cookies(text: str, gap: re.Match[str], name: str) -> list[tuple[int, int, bool]]:
    """The values of a cookie header; what says where and how long one holds stays."""
    if not (gap["sign"] and ":" in gap["sign"]) and not gap["comma"]:
        return []
    quoted = _quoted(text, gap.end())
    begin, end = quoted or (gap.end(), gap.end())
    if quoted is None:
        match = _re(r"[^\n\r\"'`]{1,4096}").match(text, begin)
        end = match.end() if match else begin
    spans = []
    for pair in _re(r"([^\s=;,]{1,100})=(\"?)([^;\s\"]{1,4096})").finditer(text, begin, end):
        if pair[1].lower() in ("path", "domain", "expires", "max-age", "samesite", "priority", "version"):
            continue
        value = pair[3]
        if not is_placeholder(value) and not _re(
            r"[A-Za-z_-]{1,14}|\d{1,6}|[a-z]{2}[-_][A-Za-z]{2}|\d{1,4}([.x/-]\d{1,4})+"
        ).fullmatch(value):
            spans.append((pair.start(3), pair.end(3), False))
    return spans


def next_line(text: str, place: int, kind: str) -> list[tuple[int, int, bool]]:
    """The value of a name that ended the line before."""
    match = _re(r"""[ \t]*(?:-[ \t]+)?(\\*["'])?([^\s"',]{4,4096})\1?,?[ \t]*\\?\r?(?:\n|$)""").match(text, place)
    if match is None or _re(r"[\w.-]+:$").fullmatch(match[2]):
        return []
    where = Where(quoted=match[1] is not None, env=False)
    if match[1] is None and _re(r"[a-z]+:.*|[\w-]+").fullmatch(match[2]) and not _re(r"\d").search(match[2]):
        return []
    return _judged(text, match.start(2), match.end(2), kind, where)


def pair_value(text: str, begin: int, end: int) -> list[tuple[int, int, bool]]:
    """``value:`` behind or before the name it belongs to: ``name: TOKEN, value: …``."""
    gap = _re(rf"{_MARK}?\s*[:=]\s*").match(text, end)
    if gap is None:
        return []
    first = text.rfind("{", max(0, begin - 300), begin) + 1 or max(0, begin - 300)
    match = _name_before(text, first, begin)
    quoted = _quoted(text, gap.end())
    if match is None and quoted:
        later = _re(rf"\\*[\"']\s*,\s*{_MARK}?(?:name|key){_MARK}?\s*[:=]\s*{_MARK}?([\w.-]{{2,60}})").match(
            text, quoted[1]
        )
        match = later
    name = (
        "api_key"
        if match and match[1] == "value" and "apikey" in text[max(0, first - 30) : first]
        else match[1]
        if match
        else ""
    )
    if match is None or not (kind := strength(name)):
        return []
    if quoted is None:
        plain = _re(_PLAIN).match(text, gap.end())
        return (
            _judged(text, plain.start(), _trimmed(text, plain.start(), plain.end()), kind, Where(env=True))
            if plain
            else []
        )
    if match[1].lower() in _AUTH:
        return _authorization(text, gap.end(), gap)
    if kind == "C":
        return _cookies_in(text, quoted)
    return _judged(text, *quoted, kind, Where(quoted=True, env=True))


def _name_before(text: str, first: int, begin: int) -> re.Match[str] | None:
    """The last ``name: TOKEN`` between two places, when nothing of weight stands behind it."""
    for word in ("ame", "AME", "ey", "eader", "ield", "ariable", "arameter"):
        at = text.rfind(word, first, begin)
        if at >= 0 and (match := _re(_PAIR).match(text, at, begin)):
            return match
    return None


def _cookies_in(text: str, quoted: tuple[int, int]) -> list[tuple[int, int, bool]]:
    spans = [(p.start(1), p.end(1), False) for p in _re(r"=([^;\s\"]{8,4096})").finditer(text, *quoted)]
    return [s for s in spans if not is_placeholder(text[s[0] : s[1]])] or (
        [(*quoted, False)] if is_secret_value(text[quoted[0] : quoted[1]], "S", Where(quoted=True)) else []
    )
