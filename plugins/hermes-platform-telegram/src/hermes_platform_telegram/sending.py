"""From messages to calls of the Bot API, and from its answers to what the kernel knows of delivery."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, NamedTuple

from hermes_core.errors import DeliveryError, HermesError, Undeliverable, UserError
from hermes_core.types import JSON, Blob, Button, Buttons, Chat, Location, Member, Message, Poll, Sent, Text
from hermes_platform_telegram.api import BotApi, Upload
from hermes_platform_telegram.config import Config
from hermes_platform_telegram.entities import Formatted, clean, cut, units
from hermes_platform_telegram.failures import Lost, Refused, as_delivery
from hermes_platform_telegram.formatting import formatted
from hermes_platform_telegram.reactions import reaction

__all__ = ["LIMIT", "Sender"]

LIMIT = 4096  # units of a message
_CAPTION = 1024  # units of the text below a file
_QUESTION, _CHOICE, _CHOICES = 300, 100, 10  # units of a poll's question and of a choice; how many it has at most
_PRESS = 64  # bytes that a button can carry
_PATIENCE = 60.0  # seconds of a pause in the middle of a message, which must go on or is broken
_UPLOAD = 3.0  # seconds for each megabyte, on top of the usual
_BYTES = {"photo": 10_000_000, "": 50_000_000}  # Telegram's own limits for what a bot sends
_PLAIN = ("can't parse", "entit")  # what a refusal of formatting says
_WAYS = {
    "image/jpeg": "photo", "image/png": "photo", "image/webp": "photo", "image/gif": "animation",
    "audio/ogg": "voice", "audio/opus": "voice", "audio/mpeg": "audio", "audio/mp4": "audio", "audio/x-m4a": "audio",
    "video/mp4": "video",
}  # fmt: skip


class _Content(NamedTuple):
    """What Telegram knows of a message's parts."""

    text: str
    files: Sequence[Blob]
    buttons: Sequence[Button]
    others: "Sequence[Poll | Location]" = ()


class Sender:
    """Sends, edits and reacts. Raises NotSent, Undeliverable and DeliveryError as a platform does."""

    def __init__(self, api: BotApi, config: Config, log: logging.Logger) -> None:
        self._api = api
        self._config = config
        self._log = log
        self._moved: dict[str, str] = {}  # groups that became supergroups have another id

    async def send(self, chat: Chat, message: Message) -> Sent | None:
        """Send text, files and buttons; where the text can be found again, or the first file when there is none.

        A text that fits below a single file goes there. What takes several calls and breaks off is a DeliveryError:
        a part of it is there. A file that Telegram does not take after a text is told in its place.
        """
        content = _content(message)
        self._check(content.files)
        sent: Sent | None = None
        for call in self._calls(chat, content):
            try:
                sent = await (call.run(self) if sent is None else self._go_on(call, sent))
            except (Refused, Lost) as error:
                told = as_delivery(error)
                raise told if sent is None else DeliveryError(f"A part was not sent. {told.text}") from None
        return sent

    async def edit(self, sent: Sent, message: Message) -> None:
        """Replace a message's text and buttons. Files cannot be added: send them."""
        content = _content(message)
        text = self._formatted(content.text)
        if units(text.text) > LIMIT:
            raise Undeliverable(f"Telegram takes at most {LIMIT} characters, and the text has {units(text.text)}.")
        where = {"message_id": _number(sent.message_id), **_keyboard(content.buttons)}
        target = Chat(sent.chat)
        try:
            try:
                await self._say("editMessageText", target, {**where, **self._previews()}, text, content.text)
            except Refused as refusal:
                if not refusal.says("no text in the message"):
                    raise
                await self._say("editMessageCaption", target, where, text, content.text, field="caption")
        except Refused as refusal:
            if not refusal.says("message is not modified"):
                raise as_delivery(refusal) from None
        except Lost as lost:
            raise as_delivery(lost) from None

    async def delete(self, sent: Sent) -> None:
        """Take a message away. One that is not there any more is no error."""
        try:
            await self.call("deleteMessage", Chat(sent.chat), {"message_id": _number(sent.message_id)})
        except Refused as refusal:
            if not refusal.says("message to delete not found"):
                raise as_delivery(refusal) from None
        except Lost as lost:
            raise as_delivery(lost) from None

    async def leave(self, chat: Chat) -> None:
        """Leave a group. One that the bot is not in any more is no error."""
        try:
            await self.call("leaveChat", chat, {})
        except Refused as refusal:
            if not refusal.says("not a member", "was kicked", "chat not found"):
                raise as_delivery(refusal) from None
        except Lost as lost:
            raise as_delivery(lost) from None

    async def react(self, chat: Chat, message_id: str, sign: str) -> None:
        """Put an emoji on a message; an empty one takes ours away. One that Telegram lacks becomes the nearest."""
        found = reaction(sign)
        if sign and not found:
            raise Undeliverable(f"Telegram has no reaction like {sign}.")
        signs = [{"type": "emoji", "emoji": found}] if found else []
        try:
            await self.call("setMessageReaction", chat, {"message_id": _number(message_id), "reaction": signs})
        except (Refused, Lost) as error:
            raise as_delivery(error) from None

    async def make_topic(self, chat: Chat, name: str) -> Chat:
        """Begin a topic in a group. Raises UserError where there are none, or the bot may not."""
        try:
            made = await self.call("createForumTopic", chat, {"name": clean(name)[:128] or "…"})
            return Chat(chat.id, str(int(made["message_thread_id"])))
        except Refused as refusal:
            if refusal.status in (400, 403) and not refusal.says("chat not found"):
                hint = "A group with topics is needed, in which the bot may manage them."
                raise UserError(f"Telegram begins no topic here: {refusal.text}.", hint=hint) from None
            raise as_delivery(refusal) from None
        except Lost as lost:
            raise as_delivery(lost) from None
        except (KeyError, TypeError, ValueError):
            raise DeliveryError("Telegram did not say which topic it made.") from None

    async def members(self, chat: Chat, sender: str) -> Sequence[Member]:
        """The admins of a group, or one person of a chat; nobody where they are not there."""
        if (sender and not sender.isdigit()) or (not sender and chat.id.isdigit()):  # a private chat has no admins
            return ()
        method, given = ("getChatMember", {"user_id": int(sender)}) if sender else ("getChatAdministrators", {})
        try:
            found = await self.call(method, chat, given)
        except Refused as refusal:
            if refusal.status == 400 and refusal.says("user not found", "participant_id_invalid", "member not found"):
                return ()
            if refusal.status == 400 and refusal.says("private chat"):  # which has no admins
                return ()
            raise as_delivery(refusal) from None
        except Lost as lost:
            raise as_delivery(lost) from None
        rows = found if isinstance(found, list) else [found]
        return [member(row) for row in rows if row.get("status") not in ("left", "kicked")]

    async def typing(self, chat: Chat) -> None:
        """Show that the bot is typing. That it could not be shown hurts nobody."""
        try:
            await self.call("sendChatAction", chat, {"action": "typing", **_thread(chat)})
        except (Refused, Lost, HermesError) as error:
            self._log.debug("Typing could not be shown: %s", error)

    def _calls(self, chat: Chat, content: _Content) -> "Sequence[_Call]":
        text = self._formatted(content.text)
        keyboard = _keyboard(content.buttons)
        if len(content.files) == 1 and units(text.text) <= _CAPTION:
            return [_FileCall(chat, content.files[0], text, keyboard, content.text)]
        texts = cut(text, LIMIT) if text.text.strip() else []
        plain = content.text if len(texts) == 1 else ""
        calls: list[_Call] = []
        for number, piece in enumerate(texts):
            last = number == len(texts) - 1
            answers = chat if number == 0 else Chat(chat.id, chat.thread)
            calls.append(_TextCall(answers, piece, keyboard if last else {}, plain or piece.text))
        after = Chat(chat.id, chat.thread) if calls else chat
        calls += [_FileCall(after, file, Formatted(""), {}, "") for file in content.files]
        calls += [_OtherCall(after if calls or number else chat, part) for number, part in enumerate(content.others)]
        return calls

    async def _go_on(self, call: "_Call", sent: Sent) -> Sent:
        """A later call of one message: a short pause that Telegram wants is kept here. What was sent first is given."""
        while True:
            try:
                await call.run(self)
            except Refused as refusal:
                if refusal.status == 429 and 0 <= (refusal.retry_after or 1.0) <= _PATIENCE:
                    await asyncio.sleep(refusal.retry_after or 1.0)
                    continue
                if refusal.status != 400 or not isinstance(call, _FileCall):
                    raise
                name = call.blob.name or call.blob.media_type
                call = _TextCall(call.chat, Formatted(f"({name} could not be sent: {refusal.text}.)"), {}, "")
                continue
            return sent

    def _check(self, files: Sequence[Blob]) -> None:
        """Look at all files before anything is sent. Raises Undeliverable."""
        for blob in files:
            with ExitStack() as opened:
                _, size = _open(blob, opened)
            if size > _BYTES[""] and self._remote:
                raise Undeliverable(f"Telegram takes files of at most 50 MB from a bot; this one has {size / 1e6:.0f}.")

    async def text(self, chat: Chat, text: Formatted, more: Mapping[str, JSON], plain: str) -> Sent:
        """One text message."""
        given = {**_answering(chat), **_thread(chat), **more, **self._previews(), **self._silence()}
        return _sent(chat, await self._say("sendMessage", chat, given, text, plain))

    async def file(self, chat: Chat, blob: Blob, text: Formatted, more: Mapping[str, JSON], plain: str) -> Sent:
        """One file, with a text below it. What Telegram does not take as a picture or voice goes as a document."""
        way = _WAYS.get(blob.media_type.partition(";")[0].strip().lower(), "document")
        given = {**_answering(chat), **_thread(chat), **more, **self._silence()}
        with ExitStack() as opened:
            content, size = _open(blob, opened)
            if size > _BYTES.get(way, _BYTES[""]) and self._remote:
                way = "document"
            try:
                return await self._upload(way, chat, given, text, plain, blob, content, size)
            except Refused as refusal:
                if way == "document" or refusal.status != 400 or refusal.moved or refusal.says("chat", "thread"):
                    raise
            return await self._upload("document", chat, given, text, plain, blob, content, size)

    async def other(self, chat: Chat, part: Poll | Location) -> Sent:
        """A poll or a place. What Telegram takes for no poll goes as the words that it is."""
        given = {**_answering(chat), **_thread(chat), **self._silence()}
        if isinstance(part, Location):
            place = {"latitude": part.latitude, "longitude": part.longitude}
            if not part.title:
                return _sent(chat, await self.call("sendLocation", chat, {**given, **place}))
            venue = {**place, "title": clean(part.title)[:255], "address": f"{part.latitude:.5f}, {part.longitude:.5f}"}
            return _sent(chat, await self.call("sendVenue", chat, {**given, **venue}))
        choices = [clean(choice) for choice in part.choices]
        question, fits = clean(part.question), all(0 < units(choice) <= _CHOICE for choice in choices)
        if not (fits and 2 <= len(choices) <= _CHOICES and 0 < units(question) <= _QUESTION):
            return await self.text(chat, self._formatted(part.text), {}, part.text)
        poll = {"question": question, "options": [{"text": choice} for choice in choices], "is_anonymous": False}
        return _sent(
            chat, await self.call("sendPoll", chat, {**given, **poll, "allows_multiple_answers": part.several})
        )

    @property
    def _remote(self) -> bool:
        return self._config.base_url.rstrip("/") == "https://api.telegram.org"

    async def _upload(
        self, way: str, chat: Chat, given: Mapping[str, JSON], text: Formatted, plain: str, blob: Blob,
        content: "bytes | IO[bytes]", size: int,
    ) -> Sent:  # fmt: skip
        name = blob.name or (Path(blob.path).name if blob.path else "") or way
        files = {way: Upload(name, content, blob.media_type or "application/octet-stream")}
        method = f"send{way.capitalize()}"
        seconds = size / 1e6 * _UPLOAD
        if not text.text:
            return _sent(chat, await self.call(method, chat, given, files, seconds=seconds))
        return _sent(chat, await self._say(method, chat, given, text, plain, "caption", files, seconds))

    async def _say(
        self, method: str, chat: Chat, given: Mapping[str, JSON], text: Formatted, plain: str, field: str = "text",
        files: Mapping[str, Upload] | None = None, seconds: float = 0.0,
    ) -> JSON:  # fmt: skip
        """Call with a text; when Telegram refuses its formatting, with the text as it was written."""
        entities = [entity.to_json() for entity in text.entities]
        name = "entities" if field == "text" else "caption_entities"
        try:
            with_text = {**given, field: text.text, **({name: entities} if entities else {})}
            return await self.call(method, chat, with_text, files, seconds=seconds)
        except Refused as refusal:
            if not entities or refusal.status != 400 or not refusal.says(*_PLAIN):
                raise
            self._log.warning("Telegram refused the formatting of a message, which goes out without: %s", refusal.text)
        most = LIMIT if field == "text" else _CAPTION
        bare = plain if units(plain) <= most else text.text
        return await self.call(method, chat, {**given, field: bare}, files, seconds=seconds)

    async def call(
        self, method: str, chat: Chat, given: Mapping[str, JSON], files: Mapping[str, Upload] | None = None, *,
        seconds: float = 0.0,
    ) -> JSON:  # fmt: skip
        """Call for a chat, under its new id when it has one."""
        for upload in (files or {}).values():
            if not isinstance(upload.content, bytes):
                upload.content.seek(0)
        target = self._moved.get(chat.id, chat.id)
        try:
            return await self._api.call(method, {"chat_id": target, **given}, files, seconds=seconds)
        except Refused as refusal:
            if not refusal.moved or chat.id in self._moved:
                raise
            self._moved[chat.id] = refusal.moved
        return await self.call(method, chat, given, files, seconds=seconds)

    def _formatted(self, text: str) -> Formatted:
        return formatted(text, limit=LIMIT) if self._config.markdown else Formatted(clean(text))

    def _previews(self) -> Mapping[str, JSON]:
        return {} if self._config.link_previews else {"link_preview_options": {"is_disabled": True}}

    def _silence(self) -> Mapping[str, JSON]:
        return {"disable_notification": True} if self._config.silent else {}


class _OtherCall(NamedTuple):
    chat: Chat
    part: Poll | Location

    async def run(self, sender: Sender) -> Sent:
        return await sender.other(self.chat, self.part)


class _TextCall(NamedTuple):
    chat: Chat
    text: Formatted
    more: Mapping[str, JSON]
    plain: str

    async def run(self, sender: Sender) -> Sent:
        return await sender.text(self.chat, self.text, self.more, self.plain)


class _FileCall(NamedTuple):
    chat: Chat
    blob: Blob
    text: Formatted
    more: Mapping[str, JSON]
    plain: str

    async def run(self, sender: Sender) -> Sent:
        return await sender.file(self.chat, self.blob, self.text, self.more, self.plain)


_Call = _TextCall | _FileCall | _OtherCall


def _content(message: Message) -> _Content:
    others = [p for p in message.parts if isinstance(p, Poll | Location)]
    texts = [p.text for p in message.parts if isinstance(p, Text) and p not in others]
    files = [p for p in message.parts if isinstance(p, Blob)]
    return _Content(
        "\n".join(texts), files, [b for p in message.parts if isinstance(p, Buttons) for b in p.buttons], others
    )


def _keyboard(buttons: Sequence[Button]) -> Mapping[str, JSON]:
    """Two buttons in a row where they are short. Raises Undeliverable for what a button cannot carry."""
    if not buttons:
        return {}
    if any(not 1 <= len(b.says.encode()) <= _PRESS for b in buttons):
        raise Undeliverable(f"A button of Telegram carries 1 to {_PRESS} bytes.")
    wide = max(len(b.label) for b in buttons) > 16
    step = 1 if wide else 2
    keys = [{"text": clean(b.label)[:100] or b.says, "callback_data": b.says} for b in buttons]
    return {"reply_markup": {"inline_keyboard": [keys[n : n + step] for n in range(0, len(keys), step)]}}


def _answering(chat: Chat) -> Mapping[str, JSON]:
    if not chat.reply_to.isdigit():
        return {}
    return {"reply_parameters": {"message_id": int(chat.reply_to), "allow_sending_without_reply": True}}


def _thread(chat: Chat) -> Mapping[str, JSON]:
    return {"message_thread_id": int(chat.thread)} if chat.thread.isdigit() else {}


def member(row: Mapping[str, JSON]) -> Member:
    """Somebody as Telegram tells of them in a chat."""
    person = row["user"]
    name = " ".join(str(person[key]) for key in ("first_name", "last_name") if person.get(key))
    admin = row.get("status") in ("creator", "administrator")
    return Member(id=str(int(person["id"])), name=name[:200], admin=admin)


def _number(message_id: str) -> int:
    if not message_id.isdigit():
        raise Undeliverable(f"{message_id!r} is no message of Telegram.")
    return int(message_id)


def _sent(chat: Chat, result: JSON) -> Sent:
    """Where the message can be found. The chat is told as it was asked for: the new id is known by the old one."""
    try:
        return Sent(chat=chat.id, message_id=str(int(result["message_id"])))
    except (KeyError, TypeError, ValueError):
        raise Lost("Telegram did not say which message it made.", maybe=True) from None


def _open(blob: Blob, opened: ExitStack) -> "tuple[bytes | IO[bytes], int]":
    """What to upload, and its size in bytes. Raises Undeliverable when the file is gone."""
    if blob.data is not None:
        return blob.data, len(blob.data)
    try:
        file = opened.enter_context(Path(blob.path or "").open("rb"))  # noqa: SIM115 - closed with the stack
        return file, file.seek(0, 2)
    except OSError as error:
        raise Undeliverable(f"The file {blob.name or blob.path} cannot be read: {error.strerror}.") from error
