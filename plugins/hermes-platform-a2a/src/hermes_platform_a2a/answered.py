"""What the words of a client mean, as the answer to a question."""

from hermes_core.types import Question, Verdict
from hermes_platform_kit.asking import choice_of, verdict_of

__all__ = ["verdict"]

_BY = "an A2A client"
_YES = ("yes", "y", "once", "allow", "approve", "ok", "1")
_NO = ("no", "n", "deny", "2")


def verdict(question: Question, words: str) -> Verdict:
    """Return the answer. A yes is for once; what is no yes is a no, with what is wanted instead."""
    if question.kind != "approval":
        return verdict_of(question, choice_of(question, words) or words, _BY)
    word = words.strip().rstrip(".!").casefold()
    if word in _YES:
        return Verdict(outcome="allow", choice="once", by=_BY)
    return Verdict.refused(_BY, "" if word in _NO else words)
