"""Mistakes by which one person would know that another is there, each as small as they come: a byte, a count, a line.

A mistake is a patch of the product, and what two people do one after the other so that it shows. Who spoke in a house
so far is in ``HEARD``.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import people_crowd
from attrs import evolve
from people_script import Step

from hermes_core.errors import UserError
from hermes_core.types import Principal
from hermes_core.values import frozen

__all__ = ["GIVEN_AWAY", "MUTANTS", "SPEAKERS", "Leak", "Mutant", "script"]

HEARD: set[str] = set()
SPEAKERS = ("ben", "ann")  # ann is judged, and comes after him
Leak = Callable[[], AbstractContextManager[object]]
Steps = tuple[tuple[str, str], ...]  # of each the kind, and the words or the way


@frozen
class Mutant:
    """A mistake. ``steps`` are what both do, ``first`` what ben does instead, ``more`` is set up for it."""

    name: str
    leak: Leak
    steps: Steps
    first: Steps = ()
    more: str = ""


def script(who: str, steps: Steps, *, begin: int = 1, place: str = "dm") -> list[Step]:
    """What somebody does, step by step; TAG in it is the step's name."""
    made = []
    for number, (kind, words) in enumerate(steps, begin):
        tag = f"{who}-{number}"
        text = words.replace("TAG", tag) if kind == "command" else f"{tag}. canary"
        if kind == "order":
            text += f"\nORDER {words.replace('TAG', tag)}"
        answer = words if kind in ("api", "file") else ""
        made.append(Step(kind=kind, place=place, tag=tag, text=text, answer=answer))
    return made


# --- how things leak ----------------------------------------------------------------------------------------------


def _several() -> bool:
    """Whether more than one person spoke so far."""
    return len(HEARD) > 1


@contextmanager
def _heard() -> Iterator[None]:
    """Note who speaks, anew in each house, whatever door they come by."""
    from hermes_core.agent.session_state import OpenSessions

    take, begun = OpenSessions._take, people_crowd.near

    async def taken(self: Any, new: Any, system: str) -> Any:
        HEARD.add(new.owner.person)
        return await take(self, new, system)

    def anew(*given: Any, **more: Any) -> Any:
        HEARD.clear()
        return begun(*given, **more)

    with patch.object(OpenSessions, "_take", taken), patch.object(people_crowd, "near", anew):
        yield


def _also(*leaks: AbstractContextManager[object]) -> AbstractContextManager[object]:
    """Patches that need to know who spoke."""
    stack = ExitStack()
    stack.enter_context(_heard())
    for one in leaks:
        stack.enter_context(one)
    return stack


def _byte(place: str, name: str, more: str = ".") -> Leak:
    """What a function says has a byte more once several spoke."""

    def leak() -> AbstractContextManager[object]:
        module = __import__(place, fromlist=[name])
        real = getattr(module, name)
        return _also(patch.object(module, name, lambda text: real(f"{text}{more}" if _several() else text)))

    return leak


def _first_guest(place: str) -> Leak:
    """Somebody's rows are taken for those of the first guest who came."""

    def number(tx: Any, owner: Principal) -> int:
        guests = [row["person"] for row in tx.rows("owners_all") if row["person"] in SPEAKERS]
        wanted = guests[0] if guests and owner.person in SPEAKERS else owner.person
        row = tx.row("owner_find", profile=owner.profile, person=wanted)
        return int(row["id"]) if row else -1

    return lambda: patch(f"hermes_core.store.{place}.owner_number", number)


def _one_mark() -> AbstractContextManager[object]:
    return patch("hermes_tool_message.tool._mark", lambda folder, session: folder / "with-chats" / "all")


def _one_memory() -> AbstractContextManager[object]:
    from hermes_memory_files.memory import FilesMemory, MemoryStore

    def store(self: Any, owner: Principal) -> MemoryStore:
        return MemoryStore(folder=self._folder / "all", limits=self._limits)

    return patch.object(FilesMemory, "store", store)


def _one_folder() -> AbstractContextManager[object]:
    from hermes_core.agent.policy.guests import Guests

    return patch.object(Guests, "folder", lambda self, owner: self.people / "all-0" / "work")


def _one_limit() -> AbstractContextManager[object]:
    from hermes_platform_gateway.limits import Limits

    real = Limits._of
    return patch.object(Limits, "_of", lambda self, person: real(self, "all"))


def _one_choice() -> AbstractContextManager[object]:
    from hermes_platform_gateway.conversations import ChatConversation

    made, chose, kept = ChatConversation.__init__, ChatConversation.choose, dict[str, str]()

    def begin(self: Any, *given: Any) -> None:
        made(self, *given)
        self.overrides |= kept if _several() else {}

    async def choose(self: Any, **overrides: str) -> None:
        kept.update(overrides)
        await chose(self, **overrides)

    return _also(patch.object(ChatConversation, "__init__", begin), patch.object(ChatConversation, "choose", choose))


def _one_title() -> AbstractContextManager[object]:
    from hermes_core.store.sessions import Sessions

    real, taken = Sessions.rename, dict[str, str]()

    async def rename(self: Any, session_id: str, title: str, owner: Principal) -> Any:
        if _several() and taken.setdefault(title, owner.person) != owner.person:
            raise UserError("Another session has this title already.")
        taken[title] = owner.person
        return await real(self, session_id, title, owner)

    return _also(patch.object(Sessions, "rename", rename))


def _number_of_all_rows() -> AbstractContextManager[object]:
    return patch("hermes_core.store.history._number", lambda tx, session_id, row: row)


def _all_chats() -> AbstractContextManager[object]:
    from hermes_platform_gateway.rows.chats import Chats

    real = Chats.list_chats

    async def listed(self: Any, owner: Any, **more: Any) -> Any:
        found = await real(self, owner, **more)
        theirs = [one for one in await real(self, None, **more) if one.owner.person in SPEAKERS and one not in found]
        return [*found, *theirs]

    return patch.object(Chats, "list_chats", listed)


def _busy_for_all() -> AbstractContextManager[object]:
    from hermes_platform_gateway.turns import Turns

    real = Turns.busy

    async def busy(self: Any, session_id: str, owner: Principal) -> bool:
        return await real(self, session_id, owner) or _several()

    return _also(patch.object(Turns, "busy", busy))


def _other_order_of_tools() -> AbstractContextManager[object]:
    from hermes_core.agent import session_state

    real = session_state.offered

    async def offered(*given: Any) -> Any:
        offer = await real(*given)
        return evolve(offer, tools=tuple(reversed(offer.tools))) if _several() else offer

    return _also(patch.object(session_state, "offered", offered))


def _one_field_more() -> AbstractContextManager[object]:
    from hermes_openai_wire import chat

    real = chat.chat_body
    field = lambda: {"seed": len(HEARD)} if _several() else {}  # noqa: E731
    return _also(patch.object(chat, "chat_body", lambda *given, **more: {**real(*given, **more), **field()}))


def _one_header_more() -> AbstractContextManager[object]:
    from hermes_openai_wire.line import Line

    real = Line.request_headers
    field = lambda: {"x-people": str(len(HEARD))} if _several() else {}  # noqa: E731
    return _also(patch.object(Line, "request_headers", lambda self: {**real(self), **field()}))


def _one_token_more() -> AbstractContextManager[object]:
    from hermes_platform_api import chat

    real = chat.tokens

    def tokens(*given: Any, **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = real(*given, **more)
        return {**found, "total_tokens": found["total_tokens"] + 1} if _several() else found

    return _also(patch.object(chat, "tokens", tokens))


def _counted_ids() -> AbstractContextManager[object]:
    from hermes_platform_api import turn_request

    count = iter(range(1, 1_000))

    class Counted:
        urandom = staticmethod(lambda size: next(count).to_bytes(size, "big"))

    return patch.object(turn_request, "os", Counted)


def _count_in_an_error() -> AbstractContextManager[object]:
    from hermes_platform_gateway import inbound

    real = inbound.refusal
    more = lambda: f" ({len(HEARD)})" if _several() else ""  # noqa: E731
    return _also(patch.object(inbound, "refusal", lambda *given: real(*given) + more()))


def _one_personality() -> AbstractContextManager[object]:
    from hermes_tool_persona.overlay import Overlays

    real, last = Overlays.get, dict[str, Any]()

    async def get(self: Any, session_id: str) -> Any:
        found = await real(self, session_id)
        if found is None and _several():
            return last.get("told")
        last["told"] = evolve(found, told=False) if found else last.get("told")
        return found

    return _also(patch.object(Overlays, "get", get))


def _one_list_of_pins() -> AbstractContextManager[object]:
    from hermes_memory_compressor.pins import Pins

    real, kept = Pins.read, list[str]()

    async def read(self: Any, session: Any) -> tuple[str, ...]:
        found = tuple(await real(self, session))
        kept.extend(one for one in found if one not in kept)
        return tuple(kept) if _several() else found

    return _also(patch.object(Pins, "read", read))


def _one_plan() -> AbstractContextManager[object]:
    from hermes_tool_todo.store import Plans

    real, kept = Plans.read, dict[str, Any]()

    async def read(self: Any, session: Any) -> Any:
        found = await real(self, session)
        theirs = kept.setdefault("plan", found) if found else kept.get("plan", ())
        return theirs if _several() else found

    return _also(patch.object(Plans, "read", read))


def _a_name_in_a_row() -> AbstractContextManager[object]:
    from hermes_platform_gateway.rows.chats import Chats

    real = Chats.remember_chat

    async def remember(self: Any, owner: Principal, envelope: Any, *others: Principal) -> Any:
        return await real(self, owner, evolve(envelope, chat_name=f"{len(HEARD)}") if _several() else envelope, *others)

    return _also(patch.object(Chats, "remember_chat", remember))


def _a_row_more() -> AbstractContextManager[object]:
    from hermes_platform_gateway.rows.chats import Chats

    real = Chats.remember_chat

    async def remember(self: Any, owner: Principal, envelope: Any, *others: Principal) -> Any:
        await real(self, owner, envelope, *others)
        if _several():
            await real(self, owner, evolve(envelope, chat="9"))

    return _also(patch.object(Chats, "remember_chat", remember))


def _said_twice() -> AbstractContextManager[object]:
    """An answer is sent once more, under another key."""
    from hermes_platform_gateway.rows.outbox import Outbox

    real = Outbox.sending

    async def sending(self: Any, messages: Any) -> Any:
        again = [evolve(one, key=f"{one.key}:again") for one in messages] if _several() else []
        return await real(self, [*messages, *again])

    return _also(patch.object(Outbox, "sending", sending))


def _fewer_sessions() -> AbstractContextManager[object]:
    """Of a list with all people's sessions in it, one's own are what is left: a limit counts over everybody."""
    from hermes_core.store.sessions import Sessions

    real = Sessions.list

    async def listed(self: Any, owner: Principal, **more: Any) -> Any:
        found = await real(self, owner, **more)
        return found[: -len(HEARD)] if _several() else found

    return _also(patch.object(Sessions, "list", listed))


_SAY = ("say", "")
_WRITES = ("order", 'write_file {"path": "TAG.txt", "content": "TAG"}')

MUTANTS = [
    Mutant("titles of another in /sessions", _first_guest("sessions"), (_SAY, ("command", "/title Title TAG"), ("command", "/sessions"))),  # noqa: E501
    Mutant("another's words in recall", _first_guest("history"), (_SAY, ("command", "/new --once"), ("order", 'recall {"query": "canary"}'))),  # noqa: E501
    Mutant("another's spending in /insights", _first_guest("spending"), (_SAY, ("command", "/insights")), first=(_SAY, _SAY)),  # noqa: E501
    Mutant("another's message in /why", _first_guest("traces"), (_SAY, ("command", "/why"))),
    Mutant("the tool message, as another wrote in a chat", _one_mark, (("api", "chat"),), first=(_SAY,)),
    Mutant("how full another's memory is", _one_memory, (("order", 'memory {"text": "TAG. likes canaries"}'),)),
    Mutant("another's file in a list", _one_folder, (_WRITES, ("order", "list_files {}"))),
    Mutant("a limit that counts over all", _one_limit, (("file", "any"),), more="limits: {files: 1}"),
    Mutant("what another chose for a chat", _one_choice, (_SAY, ("command", "/reasoning")), first=(_SAY, ("command", "/reasoning low"))),  # noqa: E501
    Mutant("a title that another took", _one_title, (_SAY, ("command", "/title Our plan"))),
    Mutant("the number of a row", _number_of_all_rows, (_SAY, ("command", "/new --once"), ("order", 'recall {"query": "canary"}'))),  # noqa: E501
    Mutant("another's chat among targets", _all_chats, (("order", 'message {"action": "targets"}'),)),
    Mutant("a place in a queue", _busy_for_all, (_SAY,)),
    Mutant("a byte of an answer", _byte("hermes_platform_gateway.inbound", "said"), (("command", "/version"),)),
    Mutant("a byte of the prompt", lambda: _prompt(), (_SAY,)),
    Mutant("the order of tools", _other_order_of_tools, (_SAY,)),
    Mutant("a field of a request", _one_field_more, (_SAY,)),
    Mutant("a header of a request", _one_header_more, (_SAY,)),
    Mutant("a number in an answer of the API", _one_token_more, (("api", "chat"),)),
    Mutant("an id that counts", _counted_ids, (("api", "chat"),)),
    Mutant("a count in an error", _count_in_an_error, (_SAY, ("command", "/resume nothing"))),
    Mutant("another's personality", _one_personality, (_SAY,), first=(_SAY, ("command", "/personality pirate"), _SAY)),
    Mutant("another's pin", _one_list_of_pins, (_SAY, ("command", "/pin TAG is pinned"), ("command", "/pin"))),
    Mutant("another's plan", _one_plan, (_SAY, ("command", "/todo")), first=(("order", 'todo {"todos": [{"id": "1", "content": "work", "status": "completed"}]}'), ("command", "/todo"))),  # noqa: E501
    Mutant("a name in a row", _a_name_in_a_row, (_SAY,)),
    Mutant("a row more", _a_row_more, (_SAY,)),
    Mutant("an answer that is sent twice", _said_twice, (("command", "/version"),)),
    Mutant("a limit of a list", _fewer_sessions, (_SAY, ("command", "/sessions"))),
]  # fmt: skip


def _prompt() -> AbstractContextManager[object]:
    from hermes_core.agent import session_state

    real = session_state.prompt_text
    return _also(patch.object(session_state, "prompt_text", lambda prompt: real(prompt) + (" " if _several() else "")))


# --- what an attempt would come to ---------------------------------------------------------------------------------


def _any_session() -> AbstractContextManager[object]:
    """A session is given to whoever says its id."""
    from hermes_core.store import history, sessions

    real = sessions.get_session

    def get(tx: Any, session_id: str, owner: Principal) -> Any:
        row = tx.row("session_owner", id=session_id)
        return real(tx, session_id, Principal(profile=row["profile"], person=row["person"]) if row else owner)

    stack = ExitStack()
    for module in (sessions, history):
        stack.enter_context(patch.object(module, "get_session", get))
    return stack


def _any_chat() -> AbstractContextManager[object]:
    """A message goes to any chat that is known."""
    from hermes_platform_gateway.rows.chats import Chats

    real = Chats.list_chats
    return patch.object(Chats, "list_chats", lambda self, owner, **more: real(self, None, **more))


def _any_result() -> AbstractContextManager[object]:
    """A turn that waits for its client goes on with what anybody sends."""
    from hermes_platform_api.client_tools import HeldTurns

    def waiting(self: Any, person: str, ids: Any) -> Any:
        return next((turn for turn in self._held.values() if turn.handed.keys() & {*ids}), None)

    return patch.object(HeldTurns, "waiting", waiting)


def _any_press() -> AbstractContextManager[object]:
    """A question is answered by whoever presses its button."""
    from hermes_platform_gateway.commands.answers import Answers

    return patch.object(Answers, "_may", staticmethod(lambda here, me, put: True))


GIVEN_AWAY: dict[str, Leak] = {
    "API: read messages of ann": _any_session,
    "API: rename of ann": _any_session,
    "API: fork of ann": _any_session,
    "message to a chat of ann in dm": _any_chat,
    "API: a result for a call of ann by chat": _any_result,
    "a press to the question of ann in group": _any_press,
}
