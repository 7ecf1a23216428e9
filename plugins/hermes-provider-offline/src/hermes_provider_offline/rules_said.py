"""Rules, in English, about commands, memory and past conversations."""

import re

from hermes_provider_offline.clause import TOKEN, Clause
from hermes_provider_offline.names import files_in
from hermes_provider_offline.step import Step


def tool_rule(clause: Clause) -> Step | None:
    """Use any tool by its name: ``use the tool add with a=2, b=3``."""
    found = clause.match(
        r"(?:use|call|invoke)\s+(?:the\s+)?(?:tool\s+(?P<name>[\w-]+|\ue000\d+\ue001)|(?P<name2>[\w-]+"
        r"|\ue000\d+\ue001)\s+tool)\b\s*(?:(?:to|with|on|for)\b|:)?\s*(?P<rest>.*)"
    )
    if not found:
        return None
    rest = found["rest"]
    quoted = [clause.bare(token[0]) for token in TOKEN.finditer(rest)]
    return Step(kind="tool", text=clause.bare(found["name"] or found["name2"]), other=clause.show(rest), words=quoted)


def run_rule(clause: Clause) -> Step | None:
    """Run a command: ``$ ls``, a lone ``code`` piece, or ``run`` and the command."""
    if found := clause.match(r"[$!]\s+(?P<command>\S.*)"):
        return Step(kind="run", text=clause.bare(found["command"]))
    if clause.match(
        r"(?:git|pwd|whoami|uname|python3?|pip3?|npm|node|docker|curl|echo|wc|df|du|ps|uptime|cargo|pytest"
        r"|uv|ruff)\b(?!\s+(?:files?|scripts?|is|are)\b)"
    ):
        return Step(kind="run", text=clause.show(clause.text))
    code = clause.quoted("code")
    if code and TOKEN.fullmatch(clause.text):
        return None if files_in(clause) else Step(kind="run", text=code[0])
    found = clause.match(
        r"(?:run|execute|launch|exec|start|try)\b(?:\s+(?:the\s+)?(?:following\s+)?(?:shell\s+"
        r"|terminal\s+)?command\b)?:?\s*(?P<rest>.*)"
    )
    if not found:
        return None
    if (quoted := clause.quoted()) and TOKEN.match(found["rest"]):
        return Step(kind="run", text=quoted[0])
    rest = re.sub(
        r"\s+and\s+(?:tell|show|give|explain|report|let)\b.*", "", clause.show(found["rest"]), flags=re.IGNORECASE
    ).strip()
    if not rest or re.match(r"(?:the|a|an|my|all|some|it|this|that|your)\b", rest, re.IGNORECASE):
        return Step(kind="run_unclear", text=rest) if rest else None
    return Step(kind="run", text=rest)


def remember_rule(clause: Clause) -> Step | None:
    """Keep a fact: what follows ``remember that``."""
    found = clause.match(
        r"(?:remember|memori[sz]e|keep in mind|bear in mind|don'?t forget|do not forget|make a note|take a"
        r" note|note down|note|write down)"
        r"\b(?:\s+(?:that|this|of)\b|\s*:)*\s*(?P<fact>.+)"
    )
    if not found or re.match(r"(?:what|when|who|how|where|why|which)\b", found["fact"], re.IGNORECASE):
        return None
    if re.match(r"note|write", clause.text, re.IGNORECASE) and not clause.match(
        r"(?:note|write)\s+(?:down\s+)?(?:that\b|this\b|:)|note:"
    ):
        return None
    return Step(kind="remember", text=clause.bare(found["fact"]).strip(" :"))


def forget_rule(clause: Clause) -> Step | None:
    """Remove a fact."""
    found = clause.match(
        r"(?:forget|stop remembering|remove from (?:your )?memory|delete from (?:your"
        r" )?memory)\b(?:\s+(?:about|that|what I (?:said|told you) about)\b|:)*\s*(?P<fact>.+)"
    )
    return Step(kind="forget", text=clause.bare(found["fact"])) if found else None


def sessions_rule(clause: Clause) -> Step | None:
    """Look into past conversations."""
    said = clause.match(
        r"(?:what|when|did|have|where)\b.*\b(?:we|i|you)\b.*\b(?:say|said|talk(?:ed)?|discuss(?:ed)?"
        r"|mention(?:ed)?|decide[d]?|spoke|speak|chat(?:ted)?|agree[d]?)\b(?P<rest>.*)"
    )
    if said and not clause.search(r"\btold? you\b|\btell you\b"):
        return Step(kind="sessions", text=_about(clause.bare(said["rest"])))
    found = clause.match(
        r"(?:search|look|find|check|browse|go)\b.*\b(?:sessions?|conversations?|chats?|history)\b\s*(?:for"
        r"|about|on|where|mentioning)?\s*(?P<rest>.*)"
    ) or clause.match(r"recall\s+(?P<rest>.+)")
    if found:
        return Step(kind="sessions", text=_about(clause.bare(found["rest"])))
    if clause.match(
        r"(?:list|show|what are|which)\b.*\b(?:sessions|conversations|chats)\b|what did we do\b|where"
        r" (?:did|were) we\b"
    ):
        return Step(kind="sessions")
    return None


def _about(rest: str) -> str:
    words = re.sub(r"^.*?\b(?:about|on|regarding|of|concerning)\s+", "", rest.strip(), flags=re.IGNORECASE)
    return re.sub(
        r"\b(?:last|this|past|previous|earlier|some|the other|an?|two|three|few)?\s*(?:yesterday|today"
        r"|recently|before|ago|earlier|(?:week|month|year|time|day|night|session"
        r"|conversation)s?(?:\s+ago)?)\b|[?.!]",
        " ",
        words,
        flags=re.IGNORECASE,
    ).strip()


def question_rule(clause: Clause) -> Step | None:
    """Ask for something that was told before."""
    asked = clause.match(
        r"(?:what|who|where|when|which|how|whose)(?:'s|\b).*\b(?:my|mine|me|i|our)\b"
        r"|(?:do|can) you (?:still )?(?:remember|recall|know)\b|what do you (?:know|remember)\b"
        r"|(?:did|have) i (?:ever )?(?:tell|told)\b|(?:is|are|was|do|does|am) (?:my|i|our)\b"
    )
    if not asked or files_in(clause):
        return None
    if clause.match(r"(?:what|who)\b.*\b(?:know|remember)\b(?:\s+about\s+me)?$"):
        return Step(kind="known")
    return Step(kind="question", text=clause.bare(clause.text))


def statement_rule(clause: Clause) -> Step | None:
    """What a person says of themselves is not a request; they are told how to have it kept."""
    said = clause.match(
        r"(?:my|our)\s+[\w' -]+?\s+(?:is|are|was|were|has|have|likes?|loves?|hates?|lives?|works?)\b.+"
        r"|i(?:'m| am| was| have| like| love| hate| live| work| prefer| own)\b.+|call me \S+$"
    )
    return Step(kind="statement", text=clause.plain) if said and not files_in(clause) else None
