"""Telegram with people in it: private chats, a group with topics, files, buttons, quotes; and what each sees."""

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "word"))

from word_telegram import TOKEN, Telegram, number_of

sys.path.insert(0, str(Path(__file__).parents[2] / "plugins" / "hermes-platform-telegram" / "tests"))

from telegram_service import NAME, BotApiServer

__all__ = ["GROUP", "NAME", "PLACES", "TOKEN", "TOPIC", "Phones", "number_of"]

GROUP = -1001234567
TOPIC = 5
PLACES = ("dm", "group", "thread")
_CLUB = {"id": GROUP, "type": "supergroup", "title": "Club", "is_forum": True}


class Phones(Telegram):
    """Its people by name. A place is ``dm``, ``group`` or ``thread``."""

    def __init__(self) -> None:
        super().__init__([], 0)
        self._service = BotApiServer()
        self._service.forums.add(GROUP)
        self._wrote: dict[tuple[int, int], str] = {}  # chat and message: who

    def say(self, who: str, place: str, text: str, **more: Any) -> dict[str, Any]:
        """Write a message, with whatever fields of Telegram; as ``caption`` where there is a file."""
        files = more.keys() & {"document", "photo", "voice", "media_group_id"}
        where = self._chat(who, place)
        if where and (title := more.pop("title", "")):  # what the group is called from now on
            where = {**where, "title": title}
        key, entities = ("caption", "caption_entities") if files else ("text", "entities")
        if place != "dm" and text and not more.pop("unaddressed", False):
            text, more[entities] = _addressed(text)
        elif text.startswith("/"):
            more[entities] = [{"type": "bot_command", "offset": 0, "length": len(text.split()[0])}]

        async def write() -> dict[str, Any]:
            made = self._service.message(sender=who, chat=where, **{key: text}, **_topic(place), **more)
            self._wrote[made["chat"]["id"], made["message_id"]] = who
            self._service.post("message", made)
            return made

        return self._do(write)

    def write_raw(self, kind: str, message: dict[str, Any], who: str = "") -> None:
        """Let Telegram tell an update that has any form."""

        async def post() -> None:
            if who and kind == "message":
                self._wrote[message["chat"]["id"], message["message_id"]] = who
            self._service.post(kind, message)

        self._do(post)

    def message(self, who: str, place: str, **more: Any) -> dict[str, Any]:
        """A message that was not sent yet, or is quoted in another one."""

        async def made() -> dict[str, Any]:
            return self._service.message(sender=who, chat=self._chat(who, place), **_topic(place), **more)

        return self._do(made)

    def file(self, content: bytes, name: str, kind: str = "text/plain") -> dict[str, Any]:
        """A file on Telegram's server, as a message names it."""

        async def keep() -> dict[str, Any]:
            return self._service.keep(content, file_name=name, mime_type=kind)

        return self._do(keep)

    def press(self, who: str, message: dict[str, Any], data: str) -> None:
        """Press a button, or send what looks as if one was pressed."""

        async def post() -> None:
            where = message["chat"]
            if where["id"] == GROUP:
                where = _CLUB
            shown = {
                **message,
                "chat": where,
                **({"is_topic_message": True} if message.get("message_thread_id") else {}),
            }
            self._wrote[where["id"], message["message_id"]] = who  # what is said of a press answers the buttons
            self._service.press(data, message=shown, sender=who)

        self._do(post)

    def shown(self, who: str, place: str) -> list[dict[str, Any]]:
        """The bot's messages to somebody there, oldest first: in a group those that answer something of theirs."""

        async def read() -> list[dict[str, Any]]:
            chat = number_of(who) if place == "dm" else GROUP
            found = []
            for at in sorted(self._service.chats[chat]):
                one = self._service.chats[chat][at]
                answers = (one.get("reply_parameters") or {}).get("message_id")
                here = place == "dm" or (place == "thread") == bool(one.get("message_thread_id"))
                if here and (place == "dm" or self._wrote.get((chat, answers)) == who):
                    found.append(dict(one))
            return found

        return self._do(read)

    def everything(self) -> list[tuple[int, dict[str, Any]]]:
        """All messages of the bot, with the chat."""

        async def read() -> list[tuple[int, dict[str, Any]]]:
            return [(chat, dict(one)) for chat, held in self._service.chats.items() for one in held.values()]

        return self._do(read)

    def files_sent(self) -> list[bytes]:
        """All files that the bot sent."""

        async def read() -> list[bytes]:
            return list(self._service.uploads)

        return self._do(read)

    def menu(self) -> list[dict[str, Any]]:
        """The commands that the bot offers, once it is there."""
        return list(self._service.menu)

    def heard(self, seconds: float = 10.0) -> None:
        """Wait until Telegram may forget everything that was written so far."""

        async def last() -> bool:
            return not self._service.queue

        deadline = time.monotonic() + seconds
        while not self._do(last):
            assert time.monotonic() < deadline, "messages are not fetched"
            time.sleep(0.01)

    def _chat(self, who: str, place: str) -> dict[str, Any] | None:
        return None if place == "dm" else _CLUB


def said(message: dict[str, Any]) -> str:
    """What a message shows."""
    return str(message.get("text") or message.get("caption") or "")


def buttons(message: dict[str, Any]) -> list[str]:
    """What its buttons say when they are pressed."""
    rows = (message.get("reply_markup") or {}).get("inline_keyboard") or []
    return [key["callback_data"] for row in rows for key in row]


def _addressed(text: str) -> tuple[str, list[dict[str, Any]]]:
    """The same, to the bot, as a group needs it."""
    if text.startswith("/"):
        name, _, rest = text.partition(" ")
        name = f"{name}@{NAME}"
        return f"{name} {rest}".rstrip(), [{"type": "bot_command", "offset": 0, "length": len(name)}]
    return f"@{NAME} {text}", [{"type": "mention", "offset": 0, "length": len(NAME) + 1}]


def _topic(place: str) -> dict[str, Any]:
    return {"message_thread_id": TOPIC, "is_topic_message": True} if place == "thread" else {}
