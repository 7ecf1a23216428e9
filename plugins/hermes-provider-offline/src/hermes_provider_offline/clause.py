"""Taking a text apart into single requests, with quoted pieces kept whole."""

import re
from collections.abc import Callable, Sequence

from hermes_core.values import frozen

_OPEN, _CLOSE = "\ue000", "\ue001"
TOKEN = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_QUOTED = re.compile(
    r"```[^\n`]*\n(?P<fence>.*?)\n?```"
    r"|`(?P<code>[^`\n]+)`"
    r"|\"(?P<double>[^\"\n]+)\"|“(?P<curly>[^”\n]+)”|„(?P<low>[^“”\n]+)[“”]|«\s*(?P<guillemet>[^»\n]+?)\s*»"
    r"|「(?P<corner>[^」\n]+)」|『(?P<white>[^』\n]+)』|(?<![^\s(:=])'(?P<single>[^'\n]+)'(?![^\s.,;:!?)])",
    re.DOTALL,
)
_STRONG = re.compile(
    r"\n\s*(?:\d{1,2}[.)]|[-*•])\s+|\s*;\s*(?:(?:and\s+)?then\b,?\s*)?|[,.]?\s+(?:and\s+)?then\b[,:]?\s+"
    r"|[,.]?\s+(?:and\s+)?after\s+(?:that|this)\b,?\s+"
    r"|[,.]?\s+afterwards,?\s+|[,.]?\s+(?:und\s+)?(?:dann|danach)\s+|[,.]?\s+(?:y\s+)?luego\s+"
    r"|[,.]?\s+(?:et\s+)?(?:puis|ensuite)\s+"
    r"|[,，、]?\s*(?:然后|然後|接着)\s*|[、。]?\s*(?:それから|その後)[、]?\s*|[,.]?\s*(?:그리고 나서|그"
    r" ?다음에?|그런 다음)\s*",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"(?:[,，]\s*(?:and\s+)?|\s+(?:and|und|y|et)\s+|(?<!\d)[.!?]\s+|[。！？]\s*|(?<!:)\n+\s*)(?=\S)", re.IGNORECASE
)
_SENTENCE = re.compile(r"[.!?。！？\n]")
_PLACES = 40  # commas and the like in one part; a text with more is prose, not a list of requests
GREEDY = frozenset({"remember"})
_LEAD = re.compile(
    r"^(?:\s|(?:\d{1,2}[.)]|[-*•])\s|(?:please|pls|kindly|now|also|and|next|first|finally|ok(?:ay)?|so"
    r"|well|bitte|por favor|请|請|まず)\b[,:]?"
    r"|(?:hey|hi|hello)[,]?\s+hermes\b[,:!]?|hermes[,:]|(?:can|could|would|will)\s+you\b(?:\s+(?:please"
    r"|kindly))?|i(?:'d like| want| need)\s+you\s+to\b"
    r"|i(?:'d like| want)\s+to\b|let'?s\b|(?:kannst|könntest)\s+du\b)+",
    re.IGNORECASE,
)
_TAIL = re.compile(r"(?:\s|[.!?。！？,]|\b(?:please|for me|thanks|thank you|bitte)\b)+$", re.IGNORECASE)


@frozen(kw_only=True)
class Clause:
    """One request. ``text`` has a token for each quoted piece; ``pieces`` holds what the tokens stand for."""

    text: str
    pieces: Sequence[tuple[str, str]] = ()

    def match(self, pattern: str) -> "re.Match[str] | None":
        """The pattern at the beginning of the clause."""
        return re.match(pattern, self.text, re.IGNORECASE | re.DOTALL)

    def search(self, pattern: str) -> "re.Match[str] | None":
        """The pattern anywhere in the clause."""
        return re.search(pattern, self.text, re.IGNORECASE)

    @property
    def plain(self) -> str:
        """The words with the quoted pieces put back."""
        return self.show(self.text)

    def show(self, text: str) -> str:
        """Some of the words with the quoted pieces put back, without their quotes when that is all there is."""
        if whole := TOKEN.fullmatch(text.strip()):
            return self._piece(whole)[1]
        return TOKEN.sub(lambda found: self._quoted(*self._piece(found)), text)

    def bare(self, text: str) -> str:
        """Some of the words, every quoted piece without its quotes."""
        return TOKEN.sub(lambda found: self._piece(found)[1], text)

    def quoted(self, *kinds: str) -> list[str]:
        """The quoted pieces of this clause; of some kinds only: ``code``, ``fence``, ``quote``."""
        found = [self._piece(token) for token in TOKEN.finditer(self.text)]
        return [text for kind, text in found if not kinds or kind in kinds]

    def _piece(self, token: "re.Match[str]") -> tuple[str, str]:
        number = int(token[1])
        return self.pieces[number] if number < len(self.pieces) else ("quote", "")

    @staticmethod
    def _quoted(kind: str, text: str) -> str:
        return {"code": f"`{text}`", "fence": text}.get(kind, f'"{text}"')


def clause_of(text: str, pieces: Sequence[tuple[str, str]] = ()) -> Clause:
    """A clause without politeness at its ends."""
    stripped = _LEAD.sub("", text)
    stripped = _TAIL.sub("", stripped) or stripped
    return Clause(text=stripped.strip(), pieces=pieces)


def mask(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The text with a token for every quoted piece, and the pieces."""
    pieces: list[tuple[str, str]] = []

    def keep(found: "re.Match[str]") -> str:
        name = found.lastgroup or "quote"
        pieces.append((name if name in ("code", "fence") else "quote", found[name]))
        return f"{_OPEN}{len(pieces) - 1}{_CLOSE}"

    return _QUOTED.sub(keep, text.replace(_OPEN, "").replace(_CLOSE, "")), pieces


def split(text: str, understood: Callable[[Clause], str]) -> list[Clause]:
    """The requests of a text, in order.

    ``then``, ``;`` and list items always part two requests. A comma, ``and`` or a sentence's end does so only where
    what follows is a request by itself: ``understood`` names a clause's rule, or gives an empty string.
    """
    masked, pieces = mask(keep_body(text))
    clauses: list[Clause] = []
    for part in _strong(masked):
        clauses.extend(_weak(part, pieces, understood))
    return [clause for clause in clauses if clause.text]


def _strong(masked: str) -> list[str]:
    parts = [""]
    at = 0
    for found in _STRONG.finditer(masked):
        parts[-1] += masked[at : found.start()]
        parts.append("")
        at = found.end()
    parts[-1] += masked[at:]
    return parts


def _weak(part: str, pieces: Sequence[tuple[str, str]], understood: Callable[[Clause], str]) -> list[Clause]:
    """Walk over the places where a request may end, and end it there when both sides can stand alone."""
    clauses: list[Clause] = []
    current, joint, at = "", "", 0
    places = list(_WEAK.finditer(part))
    for found in [*(places if len(places) <= _PLACES else ()), None]:
        piece = part[at : found.start() if found else len(part)]
        if current and _ends(clause_of(current, pieces), joint, clause_of(piece, pieces), understood):
            clauses.append(clause_of(current, pieces))
            current = piece
        else:
            current += joint + piece
        if found:
            joint, at = found[0], found.end()
    return [*clauses, clause_of(current, pieces)]


def _ends(current: Clause, joint: str, following: Clause, understood: Callable[[Clause], str]) -> bool:
    """Whether a new request begins after ``joint``. What is to be kept goes on to the end of its sentence."""
    sentence = bool(_SENTENCE.search(joint))
    kind = understood(current)
    if kind in GREEDY and not sentence:
        return False
    return bool(understood(following)) and (bool(kind) or sentence)


_BODY = re.compile(
    r"^(?P<head>[^\n]*\b(?:write|save|create|put|append|add)\b[^\n]*[^\n`]):[ \t]*\n(?!\s*```)(?P<body>.+)$",
    re.IGNORECASE | re.DOTALL,
)


def keep_body(text: str) -> str:
    """``write to a.txt:`` and what follows on the next lines: all of it is content."""
    found = _BODY.match(text)
    if not found or "```" in found["body"]:
        return text
    return f"{found['head']}: ```\n{found['body'].rstrip()}\n```"
