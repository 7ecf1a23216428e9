"""Questions to the person: what exactly will happen, and one key or line to answer."""

from collections.abc import Mapping

from hermes_core.types import Question, Verdict
from hermes_platform_kit.clean import clean, exact

__all__ = ["Instead", "choice_of", "keys_of", "lines_of", "outcome_line", "verdict_of"]

_MEANS = {
    "once": "this time",
    "session": "for this conversation",
    "always": "from now on",
    "deny": "no",
}


class Instead(str):
    """A no, and what the person wants done instead, in their words; empty before they said it."""

    __slots__ = ()


def lines_of(question: Question) -> list[str]:
    """The question as lines of plain text. Nothing in it is hidden, shortened or able to move the cursor."""
    if question.kind == "approval":
        lines = ["May this run?", *(f"  {line}" for line in exact(question.subject).split("\n"))]
    else:
        lines = clean(question.subject).split("\n")
    if question.risk:
        lines.append(f"Risk: {exact(question.risk)}")
    if question.covers and {"session", "always"} & set(question.choices):
        lasting = " and ".join(choice for choice in question.choices if choice in ("session", "always"))
        lines.append(f"{lasting} would allow: {exact(question.covers)}")
    if question.kind == "text":
        return lines
    named = {key: choice for key, choice in keys_of(question).items() if key.isdigit()}
    if question.kind == "approval" and all(choice in _MEANS for choice in question.choices):
        letters = {choice: key for key, choice in keys_of(question).items() if not key.isdigit()}
        wide = max(map(len, question.choices))
        shown = [f"  {key} {choice.ljust(wide)}  ({letters[choice]}) {_MEANS[choice]}" for key, choice in named.items()]
        return [*lines, *shown, f"    {' ' * wide}  (i) no, and do this instead: …"]
    return lines + [f"  {number} {' '.join(clean(choice).split())}" for number, choice in named.items()]


def keys_of(question: Question) -> Mapping[str, str]:
    """What stands for which choice: its number, and in an approval its first letter where that is its own.

    The letters of other choices are not shown, so they choose nothing: whoever begins to write an answer would choose.
    """
    keys = {str(number): choice for number, choice in enumerate(question.choices, 1)}
    if question.kind != "approval":
        return keys
    letters = [choice[:1].casefold() for choice in question.choices]
    own = {a: c for c, a in zip(question.choices, letters, strict=True) if a.isalpha() and letters.count(a) == 1}
    return {**keys, **own}


def choice_of(question: Question, typed: str) -> str | None:
    """The choice that a typed line means: by its number, as on the screen, or by its name; ``i WORDS`` is Instead."""
    head, _, words = typed.partition(" ")
    if question.kind == "approval" and head.casefold() in ("i", "instead") and words.strip():
        return Instead(words.strip())
    found = keys_of(question).get(typed.casefold())
    return found or (typed if typed in question.choices else None)


def verdict_of(question: Question, answer: str | None, by: str) -> Verdict:
    """What an answer means; None is Ctrl+C or the end of the input, and always a no."""
    if isinstance(answer, Instead):
        return Verdict.refused(by, answer)
    if answer is None or (question.kind == "approval" and answer == "deny"):
        return Verdict.refused(by)
    return Verdict(outcome="allow", by=by, choice=answer)


def outcome_line(question: Question, verdict: Verdict) -> str:
    """How it went, in a few words."""
    if verdict.outcome != "allow":
        instead = verdict.reason.partition(" instead: ")[2]
        refused = f"Refused; instead: {clean(instead)}" if instead else "Refused."
        return refused if question.kind == "approval" else "No answer."
    return f"Allowed: {verdict.choice}." if question.kind == "approval" else f"Answered: {clean(verdict.choice)}"
