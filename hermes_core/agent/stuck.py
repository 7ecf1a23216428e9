"""What to do about a model that goes round in circles: a person decides, where there is one."""

import os

from hermes_core.agent.asking import Asker
from hermes_core.agent.loops import Circle
from hermes_core.agent.policy.rules import subject_of
from hermes_core.types import Question, Session

__all__ = ["ask_what_now"]

_GO_ON, _STOP, _SAY = "go on", "stop", "say something else"


async def ask_what_now(circle: Circle, asker: Asker, session: Session) -> tuple[str, str]:
    """How the turn ends (empty: it goes on), and what the person wants to say instead."""
    happened = f"{circle.call.name}({subject_of(circle.call)[:300]})"
    how = "failed" if circle.failed else "gave the same result"
    happened = f"The same call {how} {circle.times} times in a row: {happened}\n{circle.text[:500].strip()}"
    question = Question(id=_id(), kind="choice", subject=f"{happened}\nWhat now?", choices=(_GO_ON, _STOP, _SAY))
    verdict = await asker.ask(session, question)
    picked = verdict.choice if verdict and verdict.outcome == "allow" else _STOP
    if picked == _GO_ON:
        return "", ""
    if picked == _SAY:
        asked = Question(id=_id(), kind="text", subject="What should the model do instead?", choices=())
        verdict = await asker.ask(session, asked)
        picked = verdict.choice if verdict and verdict.outcome == "allow" else _STOP
    return f"I stopped, as I went round in circles. {happened}", "" if picked == _STOP else picked


def _id() -> str:
    return os.urandom(16).hex()
