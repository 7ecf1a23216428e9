"""The tool ``clarify``: one question to the person of this turn, with choices or without."""

import asyncio
import os
from collections.abc import Sequence
from typing import Literal

from attrs import Attribute, field

from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.types import Effect, Question, Session, Verdict
from hermes_core.values import frozen

OTHER = "something else"  # the choice that leads to an answer in the person's own words
WAIT = 3630.0  # seconds a person may take to answer; a chat says after an hour that nobody did
_MOST_CHOICES = 4
_QUESTION = 4_000  # characters
_CHOICE = 200

_REFUSED = Verdict.refused("").reason
_GO_ON = "Decide yourself what is most sensible, and say in your answer what you assumed."


@frozen(kw_only=True)
class Clarify:
    """What the model asks."""

    question: str = field()
    choices: list[str] = field(
        factory=list, metadata={"help": f"up to {_MOST_CHOICES}; a free answer is always offered"}
    )

    @question.validator
    def _one_question(self, _: "Attribute[str]", value: str) -> None:
        if not value.strip() or len(value) > _QUESTION:
            raise ValueError(f"question needs 1 to {_QUESTION:,} characters, got {len(value.strip()):,}")

    @choices.validator
    def _few_choices(self, _: "Attribute[list[str]]", value: list[str]) -> None:
        if len(value) > _MOST_CHOICES:
            raise ValueError(f"there can be at most {_MOST_CHOICES} choices, got {len(value)}")
        if wrong := [number for number, choice in enumerate(value) if not 0 < len(choice.strip()) <= _CHOICE]:
            raise ValueError(f"choices[{wrong[0]}] needs 1 to {_CHOICE} characters")


def _somebody(session: Session) -> str | None:
    """What is missing where an answer is printed and the program ends."""
    return "somebody who can answer: this program prints its answer, and ends" if session.origin == "oneshot" else None


def clarify_tool(*, wait: float = WAIT) -> Tool:
    """The tool; ``wait`` is how many seconds a person may take."""

    # touches stays None: whoever is being asked should not see other work go on beside the question.
    @tool(name="clarify", toolset="clarify", effects=[Effect.ASK], seconds=wait + 60, needs=_somebody)
    async def run(context: ToolContext, wanted: Clarify) -> str:
        """Ask the person when you cannot sensibly go on without their decision. Never for permission."""
        try:
            async with asyncio.timeout(wait) as clock:
                return await _answer(context, wanted)
        except TimeoutError:
            if not clock.expired():
                raise
            return f"Nobody answered within {wait / 60:.0f} minutes. {_GO_ON}"

    return run


async def _answer(context: ToolContext, wanted: Clarify) -> str:
    question = wanted.question.strip()
    offered = _offered(wanted.choices)
    if offered:
        verdict = await _ask(context, "choice", question, (*offered, OTHER))
        picked = verdict.choice.strip()
        if verdict.outcome != "allow" or picked != OTHER:
            return _told(verdict, picked, offered)
        question = f"In your own words: {question}"
    verdict = await _ask(context, "text", question, ())
    return _told(verdict, verdict.choice.strip(), offered)


async def _ask(context: ToolContext, kind: Literal["choice", "text"], subject: str, choices: Sequence[str]) -> Verdict:
    return await context.ask(Question(id=os.urandom(16).hex(), kind=kind, subject=subject, choices=choices))


def _offered(choices: Sequence[str]) -> list[str]:
    """The choices, one line each, every one once; what a model writes for a free answer is ours to offer."""
    lines = {" ".join(choice.split()): None for choice in choices}
    return [line for line in lines if line.casefold().rstrip(".… ") not in (OTHER, "other")]


def _told(verdict: Verdict, said: str, offered: Sequence[str]) -> str:
    """What the model reads: the answer, or that there is none."""
    if verdict.outcome == "allow" and said:
        return f"The person chose: {said}" if said in offered else f"The person answered: {said}"
    if verdict.outcome == "allow" or not verdict.by:
        return f"Nobody is here to answer. {_GO_ON}"
    if verdict.reason and not verdict.reason.startswith(_REFUSED):  # nobody came, or was asked
        return f"There is no answer: {verdict.reason}. {_GO_ON}"
    instead = verdict.reason.removeprefix(_REFUSED)
    return f"The person did not want to answer{instead}. Do not ask this again. {_GO_ON}"
