"""Whether a value that stands where secrets stand is one: not a placeholder, a reference, a type, code or prose."""

from functools import lru_cache

from hermes_core.redaction.patterns import compiled as _re

__all__ = ["Where", "drawn_by_lot", "is_pair", "is_placeholder", "is_secret_value"]

# What people write in the place of a secret.
_PLACEHOLDER = r"""(?ix)
  [\s"'`]*(?:
    | [*x•.\#_?~=-]{3,} .{0,3} | [*x•.…]+ | (.)\1{3,}
    | [A-Za-z ]{3,40}:[ ]* | .{0,12}\*{3,}.{0,6} | .*… .* | .*\.\.\.$ | .*(?:xxxxx|\*\*\*\*|redacted|placeholder|●●●|••••).*
    | change[\s_-]?(?:me|it|this)\w{0,4} | replace[\s_-]?(?:me|this|with).* | to[\s_-]?be[\s_-].* | tbd | todo | fixme
    | (?:your|insert|enter|put|paste|replace|example|dummy|fake|sample|placeholder)[\s_-].*
    | <.*>? | \[.*\] | \{.*\} | \(.*\) | %\(?\w+\)?[s%d]? | %\{.*\} | @\w*@ | __\w+__ | @\{.*
    | \$\w*[{(\[].* | \$\$?[A-Za-z_]\w*(?:[./:\\].*)? | \#\{.* | \\?\$\{.* | !\w+(?:\s.*)? | &\w+ | \*\w+
    | (?:env|file|vault|secret|secrets|ssm|op|bws|sops|keyring|ref|doppler|infisical|awssm|gcpsm|akv|aws-?sm|gsm)(?:[:+]//?.*|:[A-Za-z_][\w/.:\#-]*)
    | arn:aws[\w-]*:.* | projects/[\w-]+/secrets/.* | enc\[.* | \{\{.* | \{%.* | data\..* | (?:var|local|module|each)\.[\w.\[\]"-]+
    | (?:os|process|import\.meta|System)\.?(?:env|environ|getenv).* | ENV\[.* | (?:/|\./|\.\./|~/)(?:[\w.@-]+/)*[\w.@-]*
    | (?:/run/secrets|/etc|/var|/tmp|/opt|/home|/usr|~|[A-Z]:\\).* | https?://[^\s:@]*
    | null|nil|none|true|false|yes|no|on|off|undefined|nan|n/?a|empty|unset|missing|unknown|default|hidden|masked
    | required|optional|invalid|expired|incorrect|wrong|revoked|valid|present|absent|sensitive|encrypted|hashed|ok|set
    | not[\s_-]?(?:set|given|found|provided|configured|required|needed|applicable|available).* | blank | disabled|enabled
    | \(?(?:sensitive|known\safter|hidden|redacted|masked|secret|omitted|filtered|removed)\b.{0,24}
    | string|str|int|integer|bool|boolean|bytes|text|object|any|char|number|varchar.*|void|auto|self|this|async|await|len
    | passwort|kennwort|contrase[nñ]a|senha|wachtwoord|mot\sde\spasse|lösenord|hasło|пароль|parola|salasana|heslo|密码|パスワード
    | prompt|ask|input|user|username|name|email|login|file|keyring|keychain|stdin|env|environment|interactive|manual
    | foo|bar|baz|foobar|qux|abc|abcd|asdf|test(?:ing)?|example|sample|dummy|fake|mock|demo|tbd
  )[\s"'`;,.]*"""
# What is put together of these only, with one of the second kind, is a hole to fill: MY_API_TOKEN, your-key-here.
_WORD = (
    "your|my|the|an?|some|insert|enter|put|add|paste|replace|set|use|change|fill|todo|fixme|dummy|fake|sample|mock|example|demo"
    "|test|new|old|this|random|secure|strong|valid|actual|real|any|with|own|secrets?|api|auth|access|private|client|user|admin"
    "|db|database|bot|bearer|session|refresh|service|openai|anthropic|github|gitlab|slack|stripe|google|aws|azure|app|root|here"
    "|values?|jwt|login|mysql|postgres|redis|smtp|account|id|personal|registry|npm|hf|telegram|discord|in|env|is|keys?|tokens?"
    "|passwords?|passwd|pass|passphrase|pwd|credentials?|creds|string|me|it|placeholder|code|later|hash|goes|go|hidden|removed"
    "|needed|not|super|very|top|x|field|name|default|of|to|and|or|from|random|generated|long|32|64|chars?|characters|bytes|hex|ant"
    "|proj|live|sk|pat|api03|v1|only|please|abc|key1|key2|project|org|organization|model|provider|production|staging|dev|prod"
)
_HOLE = r"(?i)(?=.*(?:your|my|key|token|secret|pass|cred|value|here|placeholder|example|string|dummy|fake|sample|code|hash))(?:(?:{})[\s_.-]*+)+"
# A type, a call, an attribute or a formula, as they stand to the right of a name in code.
_CODE = r"""(?x)
  [a-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*\s*[(\[].* | [A-Z][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*\s*[(\[<{].*
  | [&*]?(?:mut\s|const\s|dyn\s)?(?:std::)?[A-Za-z_]\w*\s*(?:\[|<|\|).* | (?:[a-z_$][\w$]*(?:\.|->|::|\?\.))+[A-Za-z_$][\w$]*[!?;,)]*
  | [A-Z][a-z]+(?:[A-Z][a-z0-9]*)*\??[;,)=]* | (?:[A-Z]\w*|[a-z]\w*)(?:(?:\.|::)[A-Z]\w*)+[;,)]*
  | (?:new|await|async|lambda|function|not|if|yield|return|typeof|throw|raise|fn|func|def|let|const|var)\b.*
  | [rbfu]{1,2}["'].* | @[\w.]+ | :[a-z]\w* | &[a-z]\w*(?:\.\w+)* | [A-Z]+(?:_[A-Z]+)+[;,)]* | \w+\?\?.* | \.\.\.\w*
"""
_PROSE = (
    r"(?i)\b(?:the|is|are|was|be|must|should|your|you|please|enter|for|least|characters?|and|or|with|to|of|not|has|in|"
    r"an?|forgot|reset|confirm|invalid|required|at|new|no|on|this|that|cannot|can|will|using|password|field)\b"
)
_WORDS = r"(?:[A-Za-z]?[a-z]+|[A-Z]+|\d{1,3}|v\d+|20\d\d)(?:[-_. /:][A-Za-z]?[a-z]+|[-_. /:][A-Z]+|[-_. /:]v?\d{1,4})*"
_NUMBER = r"[-+]?[\d,._]+(?:[a-z%]{0,2}|e[-+]?\d+)"
_DATE = r"\d{4}-\d\d-\d\d(?:[T ][\d:.,Z+-]*)?"


class Where:
    """How a value stood: in quotes, with blanks around ``=``, behind an upper-case name as in environments, in prose."""

    __slots__ = ("code", "env", "prose", "quoted")

    def __init__(self, *, quoted: bool = False, code: bool = False, env: bool = False, prose: bool = False) -> None:
        self.quoted, self.code, self.env, self.prose = quoted, code, env, prose


@lru_cache(2048)
def is_placeholder(value: str) -> bool:
    """Whether a value only stands for a secret: a hole to fill, a reference, a type's or a state's name."""
    if len(value) <= 80 and _re(_HOLE.format(_WORD)).fullmatch(value.strip()):
        return True
    return _re(_PLACEHOLDER).fullmatch(value[:300]) is not None


def drawn_by_lot(value: str, least: int = 16) -> bool:
    """Whether a value looks random: long, of several kinds of characters that keep changing, and not made of words."""
    size = len(value)
    if size < least or _re(_WORDS).fullmatch(value) or _re(_DATE).match(value):
        return False
    kinds = bool(_re("[a-z]").search(value)) + bool(_re("[A-Z]").search(value)) + bool(_re(r"\d").search(value))
    if kinds < 2:
        return False
    if kinds == 3 and sum(map(len, _re(r"[A-Z]?[a-z]{3,}").findall(value))) * 2 > size:  # names, as in code
        return False
    if size >= 24 and kinds == 3 and len(set(value)) >= 14:
        turns = len(_re(r"[a-z][A-Z0-9]|[A-Z]{2}[a-z0-9]|\d[A-Za-z]").findall(value))
        return turns * 8 >= size
    digits = len(_re(r"\d").findall(value))
    turns = len(_re(r"[A-Za-z]\d|\d[A-Za-z]").findall(value))
    return (digits >= 2 and turns >= 2 and len(set(value)) >= 8) or (kinds == 3 and turns >= 2)


def is_pair(value: str) -> bool:
    """Whether a word is the encoded name and password of a person, as in ``Basic``."""
    import base64

    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except ValueError:
        return False
    return ":" in plain and plain.isprintable()


def is_secret_value(value: str, strength: str, where: Where) -> bool:
    """Whether the value of a name is a secret. ``strength``: P passwords, S tokens and keys, W names that are often
    something else."""
    size = len(value)
    if strength == "N":
        return bool(_re(r"\d{4,8}|\d{3}[ -]\d{3}").fullmatch(value)) and not where.code
    if strength == "R":
        return bool(
            _re(r"(?=.*\d)[A-Za-z0-9]{4,8}(?:[- ][A-Za-z0-9]{4,8}){1,7}|\d{6,12}|(?=.*\d)[A-Za-z0-9]{8,16}").fullmatch(
                value
            )
        )
    if size < 3 or is_placeholder(value):
        return False
    code = not where.quoted and not where.env and _re(_CODE).fullmatch(value)
    if code and not (drawn_by_lot(value, 14) and not _re(r"[(\[<]|^\D+\.|\.\D+$").search(value)):
        return strength == "P" and not where.code and bool(_re(r"[A-Za-z]+\d[\w]*|\w*[@!$]\w*").fullmatch(value))
    if strength == "P":
        return _is_password(value, where)
    if strength in "WH":
        plain = strength == "W" and _re(r"[0-9a-fA-F]{8,}(?:-[0-9a-fA-F]+)*").fullmatch(value)
        if strength == "H" and size >= 16 and is_pair(value):
            return True
        return not plain and drawn_by_lot(_re(r"\b[0-9a-f]{32,}\b").sub("", value) if strength == "W" else value)
    return _is_token(value, where)


def _is_password(value: str, where: Where) -> bool:
    if " " in value.strip():
        if _re(_PROSE).search(value) or value.strip()[0] in "{}=<>|&":
            return False
        return bool(
            _re(r"\d|[^\w\s.,:;!?'()-]").search(value) or _re(r"[a-z]{3,10}(?: [a-z]{3,10}){3,9}").fullmatch(value)
        )
    if _re(r"\d+").fullmatch(value):
        return len(value) >= 4
    if where.prose:
        return bool(_re(r"\d|[^\w.,;:!?')-]").search(value)) and not _re(_DATE).match(value)
    if where.code and _re(r"[a-z_]+[\w]*").fullmatch(value) and not _re(r"[a-z]+\d+\w*").fullmatch(value):
        return False
    return len(value) >= 4 or where.quoted or where.env


def _is_token(value: str, where: Where) -> bool:
    size = len(value)
    if size < 8 or " " in value.strip() or _re(_NUMBER).fullmatch(value):
        return bool(size >= 16 and _re(r"\d+").fullmatch(value))
    if _re(_DATE).match(value) or _re(r"[\w.-]+\.(?:json|ya?ml|py|js|ts|txt|pem|key|crt|toml|env|go|rs|md)").fullmatch(
        value
    ):
        return False
    if _re(r"[A-Za-z]+").fullmatch(value):
        return where.env or size >= 20 or (size >= 12 and len(_re("[a-z][A-Z]").findall(value)) >= 3)
    if _re(_WORDS).fullmatch(value):
        return (where.env and bool(_re(r"\d").search(value))) or (size >= 28 and bool(_re(r"\d\d").search(value)))
    return bool(_re(r"\d").search(value)) or (
        size >= 16 and bool(_re(r"[A-Z]").search(value) and _re(r"[a-z]").search(value))
    )
