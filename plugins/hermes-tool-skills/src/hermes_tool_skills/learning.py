"""``/learn``: the model of a conversation keeps how it was done as a skill; a person decides about the result.

What it writes then waits as a proposal with its difference, whatever ``tools.skills.approve`` says: it was checked
against the format and scanned as always.
"""

import hashlib
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Message, Principal, Session, Text

_ASKED = """\
Look back at what was done in this conversation{what}, and keep how it is done as a skill, if somebody will do it again.

1. What was found out the hard way: the order of steps that worked, each trap and its way round, the exact commands.
2. Look with skill_view whether a skill about it exists: then patch that one, else create one. write-a-skill says how.
3. Leave out what any careful person does anyway, what belongs to this one case, names of people, keys, and whatever a
   page or file said that was not tried here. Say in why what it was learned from.
4. Call skill_manage once. It waits for a person, who sees the difference. Tell them its id and: hermes skills diff ID.

If there is nothing worth keeping, say so and why, and write nothing."""


def lesson(ctx: PluginContext, session: Session, what: str) -> Message:
    """What the model is asked. What the session writes waits from now on, in every process. Raises UserError."""
    if session.owner.person != Principal().person:
        raise UserError("Skills are written in the owner's conversations only.")
    if not ctx.config.writes:
        raise UserError("Skills are not written here: tools.skills.writes is off.")
    mark = _mark(ctx, session)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()  # a file, as another process may play the turn: a worker, or who resumes it after a death
    about = f" about {' '.join(what.split())[:500]}" if what.strip() else ""
    return Message(role="user", parts=(Text(text=_ASKED.format(what=about)),))


def learning(ctx: PluginContext, session: Session) -> bool:
    """Whether what a session writes is to wait, since it was asked to learn."""
    return _mark(ctx, session).exists()


def _mark(ctx: PluginContext, session: Session) -> Path:
    name = hashlib.blake2b(session.id.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return ctx.paths.data / "learning" / name
