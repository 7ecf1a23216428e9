"""What the workshop says before a call: no to code that cannot be kept, and to a person what they are asked about."""

from collections.abc import Mapping

from hermes_core.errors import HermesError, UserError
from hermes_core.types import JSON, Effect, Session, ToolCall, Verdict
from hermes_tool_workshop.draft import Draft, draft_of
from hermes_tool_workshop.made import Workshop, effects
from hermes_tool_workshop.offer import Example, May, Write
from hermes_tool_workshop.shape import PREFIX
from hermes_tool_workshop.store import Damaged, ToolStore
from hermes_tool_workshop.walls import held
from hermes_tool_workshop.words import difference, may, patch, permission_change
from hermes_tool_workshop.writing import known_name


def verdict(shop: Workshop, session: Session, call: ToolCall) -> Verdict | None:
    """What to say to a call; None where it is none of the workshop's. Blocks for as long as the disk takes."""
    store = shop.store(session)
    try:
        if call.name == "tool_write":
            return _writing(shop, store, call.arguments)
        if call.name == "own_rollback":
            return Verdict(outcome="ask", reason=_going_back(store, call.arguments))
        if call.name.startswith(PREFIX):
            return _approved(store, call.name)
    except (HermesError, Damaged) as error:
        return Verdict(outcome="deny", reason=str(error))
    return None


def _approved(store: ToolStore, name: str) -> Verdict | None:
    """Yes to the very code that was approved. Raises ToolError when it is another one."""
    if name not in store.names():
        return None  # somebody else's tool, whose name begins with the same letters
    _, version = store.approved(name)
    return Verdict(outcome="allow", reason=f"version {version.number} was approved when it was written")


def _writing(shop: Workshop, store: ToolStore, given: Mapping[str, JSON]) -> Verdict:
    """A question, with what a person should know of a new version. Raises ToolError when it cannot be kept as it is."""
    examples = [Example(**example) for example in given.get("examples", ())]
    may_do = May(**given.get("may", {}))
    draft = draft_of(Write(**{**given, "examples": examples, "may": may_do}), shop.home, shop.config.seconds)
    # Its examples do what the tool may do; only of one that starts programs nobody can say what that is.
    known = not draft.permissions.programs
    does = effects(draft.permissions) | {Effect.CONFIGURE} if known else None
    return Verdict(outcome="ask", reason=_told(store, draft), effects=does)


def _told(store: ToolStore, draft: Draft) -> str:
    """The new version in words, or how it differs from the one in force."""
    try:
        ledger = store.ledger(draft.name)
        before = store.version(draft.name, ledger.version)
    except UserError:
        lines = [
            f"keeps {draft.name}, a tool that the agent wrote for itself, and runs it whenever it is called.",
            *_end(draft),
        ]
        return "\n".join(lines)
    change = permission_change(before.label.permissions, draft.permissions)
    code = patch(before.code, draft.code, f"version {before.number}", "new version") or "The code stays the same."
    head = f"replaces version {before.number} of {draft.name}, a tool that the agent wrote for itself."
    return "\n".join(filter(None, (head, *_end(draft), change, "", code)))


def _end(draft: Draft) -> list[str]:
    why = [f'The agent says why: "{draft.why}"'] if draft.why else []
    watched = [] if held() else ["This machine has nothing to make a wall of: that is watched, and not held."]
    return [*why, f"It may, each time for at most {draft.seconds} s:", may(draft.permissions), *watched]


def _going_back(store: ToolStore, given: Mapping[str, JSON]) -> str:
    name, number = known_name(str(given["name"])), int(given["version"])
    now, then = store.version(name, store.ledger(name).version), store.version(name, number)
    head = f"puts version {number} of {name} in force again; now it is version {now.number}."
    return f"{head}\n{difference(name, now, then)}"
