"""Whether a turn may end while the plan that it changed has items open."""

from hermes_core.types import Session, Verdict
from hermes_tool_todo.config import Config
from hermes_tool_todo.plan import Plan
from hermes_tool_todo.store import Plans

__all__ = ["unfinished"]

_QUESTION = ("?", "\uff1f", "\u061f", "\u037e")  # Latin, full width, Arabic, Greek
_AROUND = " \t\n*_`'\")]>\u201d\u2019\u00bb\u300d"  # what may stand behind the mark
_MOST = 3_000  # characters of what is told


async def unfinished(plans: Plans, config: Config, session: Session, answer: str) -> Verdict | None:
    """Send the model on, once a turn, with the items that are open; None where the turn may end."""
    wanted = config.finish == "always" or (config.finish == "unattended" and not session.attended)
    if not wanted or answer.rstrip(_AROUND).endswith(_QUESTION):
        return None
    left = await plans.send_on(session)
    return Verdict(outcome="deny", reason=_words(left)) if left else None


def _words(left: Plan) -> str:
    many = "1 item of your plan is" if len(left) == 1 else f"{len(left)} items of your plan are"
    items = [f"- {item.id}: {' '.join(item.content.split())}" for item in left]
    told = "\n".join(items)
    if len(told) > _MOST:
        told = f"{told[:_MOST].rpartition(chr(10))[0]}\n- and others, which the plan shows"
    return (
        f"{many} open. Finish what is left, or mark as cancelled what is not to be done, and say why it is not.\n{told}"
    )
