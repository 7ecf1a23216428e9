"""What must not be remembered: text that orders the model about, leaks secrets or hides from the reader.

A pattern list is help, not a boundary: the policy point and taint are the boundary. It keeps the common attacks out
of a text that every later session starts with.
"""

import re
from functools import cache

from hermes_core.patterns import pattern

_INVISIBLE = pattern(
    "[\u00ad\u180e\u200b\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)

_ORDERS = (
    r"(ignore|disregard|forget|override)\s+(\w+\s+){0,3}(previous|prior|above|earlier|system|your)\s+(\w+\s+)?(instructions?|prompts?|rules|messages|guidelines|directions)",
    r"\byou\s+are\s+(now|no\s+longer)\s+(an?\b|in\b|the\b|bound|restricted|unrestricted|free)",
    r"\b(act|behave|respond)\s+as\s+(if|though)\s+you\s+(have|had)\s+no\s+(rules|limits|restrictions|guidelines)",
    r"\b(do\s+not|don'?t|never)\s+(tell|inform|mention\s+(this|it)\s+to|warn|alert|show\s+(this|it)\s+to)\s+the\s+(user|person|owner)",
    r"\b(new|updated|real|actual)\s+system\s+(prompt|message|instructions?)\b",
    r"\bsystem\s+prompt\s+override\b|\bdeveloper\s+mode\s+(on|enabled)\b",
    r"\b(answer|say|reply)\s+yes\b|\b(approve|accept|confirm|allow)\s+(all|any|every\w*)\b",
    r"\b(approv|allow|permit|authori[sz]|consent)\w*\b[^\n]{0,60}\bwithout\s+(ask|confirm|question|approv|permission)",
    r"\b(skip|bypass|disable|turn\s+off|suppress)\w*\s+(\w+\s+){0,2}(approvals?|confirmations?|permission|guard|sandbox)",
    r"<\|?/?(im_start|im_end|system|assistant|endoftext|tool_call|tool_result)\b[^>]*>|\[/?INST\]",
    r"(忽略|无视|無視)[^\n]{0,12}(之前|以上|先前|前面)[^\n]{0,8}(指令|指示|提示|规则|規則)",
    r"(以前|これまで|上記)の[^\n]{0,8}(指示|命令|ルール)を?[^\n]{0,4}(無視|忘れ)",
    r"(이전|앞의|위의|기존)[^\n]{0,8}(지시|명령|규칙|프롬프트)[^\n]{0,6}(무시|잊)",
    r"ignorier\w*\s+(\w+\s+){0,2}(vorherigen|bisherigen|obigen|früheren)\s+(\w+\s+)?(anweisungen|regeln|befehle)",
)
_LEAKS = (
    r"\b(curl|wget|fetch|nc|ncat)\b[^\n]*\$\{?\w*(key|token|secret|passw|credential|api)",
    r"\b(cat|less|head|tail|base64|xxd|scp|cp)\s+[^\n]*(\.env\b|\.netrc\b|\.pgpass\b|id_rsa\b|id_ed25519\b|credentials\b)",
    r"\b(send|post|upload|forward|exfiltrate|leak)\b[^\n]{0,60}\b(api\s?keys?|tokens?|passwords?|secrets?|credentials?|\.env)\b[^\n]{0,60}(https?://|@|\bto\b)",
    r"\b(curl|wget|fetch)\b[^\n|]*\|\s*(sudo\s+)?((ba|z|da|k|fi)?sh|python\d?|perl|node)\b",
    r"\brm\s+(-\w+\s+)*-\w*[rRf]\w*\s+(-\w+\s+)*[\"']?(/|~|\$HOME)",
    r"\b(secrets?|passwords?|tokens?|credentials?)\b[^\n]{0,40}\b(mail|send|sent|post|upload)\w*\b[^\n]{0,60}(://|\S@\S)",
    r"authorized_keys\b|~/\.ssh/|\$HOME/\.ssh/",
    r"!\[[^\]]*\]\(\s*https?://[^)]*[?&][^)]*=",
)


@cache
def _pattern(kind: str) -> "re.Pattern[str]":
    return re.compile("|".join(f"(?:{p})" for p in (_ORDERS if kind == "orders" else _LEAKS)), re.IGNORECASE)


def invisible(text: str) -> str:
    """A complaint about a character that a reader cannot see, or an empty string."""
    found = _INVISIBLE.search(text)
    return f"it holds an invisible character (U+{ord(found[0]):04X})" if found else ""


def objection(text: str) -> str:
    """Why this text must not be kept as a memory, or an empty string."""
    if reason := invisible(text):
        return reason
    if found := _pattern("orders").search(text):
        return f"it gives orders instead of stating a fact ({found[0][:60]!r})"
    if found := _pattern("leaks").search(text):
        return f"it reads like a way to leak or plant secrets ({found[0][:60]!r})"
    return ""
