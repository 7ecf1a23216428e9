"""The tool ``message``: to send something to a chat that did not ask for it, and to see which chats there are."""

import hashlib
import posixpath
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from attrs import field

from hermes_core.brokers import MessagesBroker
from hermes_core.context import PluginPaths
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.types import Blob, Effect, Feature, Message, Part, Principal, Session, Target, Text
from hermes_core.values import frozen
from hermes_paths.places import PathRules, check_path, spell

_LONGEST = 20_000  # characters of a text
_MOST_FILES = 10
_LARGEST = 10_000_000  # bytes of all files of a message: they lie in the store until it is sent
_SHOWN = 50  # targets in a list
_HERE = frozenset({"cli", "oneshot", "embed", "api", "child"})  # where sessions come from that are no chats


@frozen(kw_only=True)
class Sending:
    """What the model wants."""

    action: Literal["send", "targets"] = "send"
    target: str = field(
        default="", metadata={"help": "a target of the list, its name, PLATFORM (home there), all, or origin"}
    )
    text: str = field(default="", metadata={"help": "markdown"})
    files: list[str] = field(factory=list, metadata={"help": "paths"})

    @text.validator
    def _bounded(self, _: object, value: str) -> None:
        if len(value) > _LONGEST:
            raise ValueError(f"text has {len(value):,} characters; {_LONGEST:,} are the most: send a file")

    @files.validator
    def _few(self, _: object, value: list[str]) -> None:
        if len(value) > _MOST_FILES:
            raise ValueError(f"there can be at most {_MOST_FILES} files, got {len(value)}")


def message_tool(messages: MessagesBroker, paths: PluginPaths) -> Tool:
    """The tool; ``paths`` are the plugin's."""

    def touches(wanted: Sending) -> Iterable[str]:
        if wanted.action == "targets":
            return []
        return [f"chat:{wanted.target.strip() or '?'}", *(f"file:{posixpath.normpath(path)}" for path in wanted.files)]

    def needs(session: Session) -> str | None:
        if session.origin not in _HERE:
            # Observers hear of a session a moment later; whoever was answered in a chat has the tool elsewhere at once.
            with suppress(OSError):
                note_chat(paths.data, session)
            return None
        return None if _mark(paths.data, session.owner).exists() else "nobody has written from a chat yet"

    # Running it again sends nothing twice: the call is the key.
    @tool(
        name="message",
        toolset="message",
        effects=[Effect.SEND, Effect.READ_FILES],
        touches=touches,
        needs=needs,
        idempotent=True,
    )
    async def run(context: ToolContext, wanted: Sending) -> str:
        """Send a message to another chat of this person, or list targets. Not for your answer: that is sent anyway."""
        try:
            if wanted.action == "targets":
                return _listed(await _chats(messages, context))
            return await _send(messages, paths, context, wanted)
        except UserError as error:
            await _chats(messages, context)  # the error names some
            raise ToolError(error.text, hint=error.hint) from error

    return run


def note_chat(folder: Path, session: Session) -> None:
    """Remember that its person has chats, when a session comes from one."""
    if session.origin not in _HERE:
        note_person(folder, session.owner)


def note_person(folder: Path, owner: Principal) -> None:
    """Remember that somebody has something to send to."""
    if not (mark := _mark(folder, owner)).exists():
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()


def forget_chat(folder: Path, session: Session) -> None:
    """Forget that its person has chats: nothing of them is to stay. Their next message from one says it again."""
    _mark(folder, session.owner).unlink(missing_ok=True)


def _mark(folder: Path, owner: Principal) -> Path:
    """The file that says of a person that they have chats: what is offered to one does not tell of another."""
    return folder / "with-chats" / hashlib.sha256(owner.person.encode()).hexdigest()[:32]


async def _chats(messages: MessagesBroker, context: ToolContext) -> Sequence[Target]:
    """The chats of who asks. What a group is called, somebody else chose; what is no chat they named themselves."""
    chats = await messages.targets(context.session.owner)
    if any(chat.kind not in ("dm", "address") and chat.name for chat in chats):
        context.from_outside()
    return chats


async def _send(messages: MessagesBroker, paths: PluginPaths, context: ToolContext, wanted: Sending) -> str:
    session, target = context.session, wanted.target.strip()
    if not target:
        raise ToolError("Say the target.", hint="action=targets lists them.")
    if not wanted.text.strip() and not wanted.files:
        raise ToolError("Say a text or files.")
    await messages.find(session.owner, target, session)  # before any file is read
    parts: list[Part] = [Text(text=wanted.text)] if wanted.text.strip() else []
    parts += await _files(context, paths, wanted.files)
    key = f"{session.id}:{session.turn}:{context.call_id}"
    sent = await messages.send(session.owner, target, Message(role="assistant", parts=tuple(parts)), session, key)
    if not sent:
        return "Nothing was sent: this target is here, where your answer is seen."
    return "\n".join(_told(chat) for chat in sent)


async def _files(context: ToolContext, paths: PluginPaths, names: Sequence[str]) -> list[Blob]:
    """The files of a message as they are now. Raises ToolError, OutOfReach."""
    import mimetypes

    found, size, place = [], 0, context.workspace
    for name in names:
        full = spell(name, place.cwd)
        if Feature.LOCAL in place.features:
            check_path(full, PathRules(cwd=place.cwd, guarded=tuple(paths.guarded), spelled=True))
        data = await place.read(full)
        size += len(data)
        if size > _LARGEST:
            raise ToolError(
                f"The files have more than {_LARGEST // 1_000_000} MB.", hint="Send fewer, or smaller ones."
            )
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        found.append(Blob(media_type=kind, data=data, name=posixpath.basename(full)))
    return found


def _told(chat: Target) -> str:
    called = f"{chat.address} ({chat.name})" if chat.name else chat.address
    if chat.served:
        return f"On its way to {called}."
    return f"Written down for {called}: it is sent as soon as a gateway is connected with it; none is now."


def _listed(chats: Sequence[Target]) -> str:
    if not chats:
        return "There is no chat of this person. One is known once they have written there."
    lines = [_line(chat) for chat in chats[:_SHOWN]]
    more = len(chats) - len(lines)
    return "\n".join([*lines, *([f"… and {more} more, not used for longer"] if more else [])])


def _line(chat: Target) -> str:
    notes = [chat.kind, *(["home"] if chat.home else []), *([f"cannot be reached: {chat.dead}"] if chat.dead else [])]
    return f"{chat.address}  {chat.name}  [{', '.join(notes)}]"


__all__ = ["Sending", "message_tool", "note_chat", "note_person"]
