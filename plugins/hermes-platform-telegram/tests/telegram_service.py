"""A Bot API server for tests: what it accepts, refuses and forgets is as documented; faults are scripted.

It speaks HTTP on loopback. ``script`` makes the next calls of a method fail; everything that was accepted is in
``calls`` and, as people see it, in ``chats``.
"""

import asyncio
import email
import email.policy
import json
import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import h11
from telegram_grammar import problems

from hermes_core.testing import FakeService

TOKEN = "123456789:AAfake_token-for-tests-only-0000000"
BOT = 123456789
NAME = "hermes_test_bot"
REACTIONS = set("👍👎❤🔥👏🤔🎉👌👀✍😨😐🤣")


@dataclass
class Fault:
    """``after``: the call is done before it fails. ``cut`` breaks the connection, ``hang`` never answers."""

    status: int = 0
    description: str = ""
    parameters: dict = field(default_factory=dict)
    body: bytes | None = None
    after: bool = False
    cut: bool = False
    hang: bool = False


class Refusal(Exception):
    def __init__(self, status, description, **parameters):
        super().__init__(description)
        self.status, self.description, self.parameters = status, description, parameters


def refused(status, description, **parameters):
    return Fault(status=status, description=description, parameters=parameters)


def number(sender):
    return 1000 + zlib.crc32(sender.encode()) % 100_000_000


class BotApiServer(FakeService):
    def __init__(self):
        self.url = ""
        self.token = TOKEN
        self.me = {"id": BOT, "is_bot": True, "first_name": "Hermes", "username": NAME}
        self.calls: list[tuple[str, dict]] = []
        self.faults: dict[str, list[Fault]] = defaultdict(list)
        self.chats: dict[int, dict[int, dict]] = defaultdict(dict)
        self.uploads: list[bytes] = []
        self.files: dict[str, bytes] = {}
        self.queue: list[dict] = []
        self.confirmed: list[int] = []
        self.webhook: dict[str, Any] = {}
        self.gone: dict[int, Refusal] = {}
        self.answered: list[str] = []
        self.reactions: dict[tuple[int, int], list] = {}
        self.menu: list[dict] = []
        self.typed = 0
        self.forums: set[int] = set()
        self.people: dict[int, dict] = {}  # of groups
        self.proxied: list[str] = []
        self.groups = 0
        self.update_id = 900
        self.message_id = 10
        self._news = asyncio.Event()
        self._poller: asyncio.Future | None = None
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task] = set()

    async def start(self):
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def stop(self):
        self._server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    # --- what a test does -------------------------------------------------------------------------------------------

    def script(self, method, *faults):
        """The next calls of a method fail so, one each."""
        self.faults[method] += faults

    def made(self, method):
        """What the calls of a method carried."""
        return [given for name, given in self.calls if name == method]

    async def say(self, text, *, sender="someone"):
        self.write(text=text, sender=sender)

    async def seen(self):
        return [m.get("text") or m.get("caption", "") for c in self.chats.values() for m in c.values() if _said(m)]

    async def gather(self):
        self.groups += 1
        group = {"id": -100_555_000 - self.groups, "type": "supergroup", "title": "The club"}
        self.write(text="Hello all.", chat=group)
        return str(group["id"])

    async def inside(self, chat):
        return int(chat) not in self.gone

    async def put_out(self, chat):
        self.gone[int(chat)] = Refusal(403, "Forbidden: bot was kicked from the supergroup chat")
        self.changed(int(chat), "kicked")

    async def press_first(self, sender="someone"):
        message = max((m for c in self.chats.values() for m in c.values()), key=lambda m: m["message_id"])
        data = message["reply_markup"]["inline_keyboard"][0][0]["callback_data"]
        self.press(data, message=message, sender=sender)

    def changed(self, chat, status, by=None):
        """The bot's own membership of a group is another now."""
        where = {"id": chat, "type": "supergroup", "title": "The club"}
        person = by or {"id": number("someone"), "is_bot": False, "first_name": "Someone"}
        old, new = ({"user": self.me, "status": one} for one in ("member", status))
        change = {"chat": where, "from": person, "date": 1_760_000_000}
        return self.post("my_chat_member", {**change, "old_chat_member": old, "new_chat_member": new})

    async def say_as_bot(self, text):
        self.post("message", self.message(text=text, sender="someone", **{"from": self.me}))

    async def typing(self):
        return self.typed

    async def media(self):
        return self.uploads

    async def drop(self):
        for task in list(self._tasks):
            task.cancel()
        return True

    def message(self, *, sender="someone", chat=None, **fields):
        """A message as Telegram tells it; by default in the chat with its sender."""
        self.message_id += 1
        person = {"id": number(sender), "is_bot": False, "first_name": sender.title(), "username": sender}
        where = chat or {"id": person["id"], "type": "private", "first_name": sender.title()}
        return {"message_id": self.message_id, "date": 1_760_000_000, "chat": where, "from": person, **fields}

    def write(self, **fields):
        """A person writes; the update's number."""
        return self.post("message", self.message(**fields))

    def press(self, data, *, message, sender="someone"):
        """A person presses a button below a message."""
        person = {"id": number(sender), "is_bot": False, "first_name": sender.title()}
        self.message_id += 1
        return self.post(
            "callback_query", {"id": f"q{self.message_id}", "from": person, "message": message, "data": data}
        )

    def post(self, kind, value):
        self.update_id += 1
        self.queue.append({"update_id": self.update_id, kind: value})
        self._news.set()
        return self.update_id

    def keep(self, content, **fields):
        """A file on the server, as a message names it."""
        name = f"F{len(self.files)}"
        self.files[name] = content
        return {"file_id": name, "file_unique_id": f"u{name}", "file_size": len(content), **fields}

    # --- HTTP -------------------------------------------------------------------------------------------------------

    async def _accept(self, reader, writer):
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, asyncio.CancelledError, h11.RemoteProtocolError):
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _serve(self, reader, writer):
        connection = h11.Connection(h11.SERVER)
        while True:
            request, body = await self._request(connection, reader)
            if request is None:
                return
            status, content = await self._route(request, body)
            if status is None:
                return
            headers = [("content-length", str(len(content))), ("content-type", "application/json")]
            for event in (
                h11.Response(status_code=status, headers=headers),
                h11.Data(data=content),
                h11.EndOfMessage(),
            ):
                writer.write(connection.send(event))
            await writer.drain()
            connection.start_next_cycle()

    async def _request(self, connection, reader):
        request, body = None, b""
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(await reader.read(65536))
            elif isinstance(event, h11.Request):
                request = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                return request, body
            else:
                return None, b""

    async def _route(self, request, body):
        path = request.target.decode()
        if path.startswith("http://"):  # we are the proxy, and whoever is meant as well
            self.proxied.append(path.split("/")[2])
            path = "/" + path.split("/", 3)[3]
        if path.startswith("/file/bot"):
            token, _, name = path.removeprefix("/file/bot").partition("/")
            if self.faults["file"]:
                return await self._fail(self.faults["file"].pop(0))
            known = token == self.token and name.removeprefix("files/") in self.files
            return (200, self.files[name.removeprefix("files/")]) if known else (404, b"{}")
        token, _, method = path.removeprefix("/bot").partition("/")
        if token != self.token:
            return _error(401, "Unauthorized")
        given = _given(request, body)
        fault = self.faults[method].pop(0) if self.faults[method] else None
        if fault and not fault.after:
            return await self._fail(fault)
        try:
            result = await self._do(method, given)
        except Refusal as refusal:
            return _error(refusal.status, refusal.description, **refusal.parameters)
        return await self._fail(fault) if fault else (200, json.dumps({"ok": True, "result": result}).encode())

    async def _fail(self, fault):
        if fault.hang:
            await asyncio.sleep(3600)
        if fault.cut:
            return None, b""
        if fault.body is not None:
            return fault.status or 200, fault.body
        return _error(fault.status, fault.description, **fault.parameters)

    async def _do(self, method, given):
        if method != "getUpdates":
            self.calls.append((method, given))
        handler = getattr(self, f"_{method}", None)
        if handler is None:
            raise Refusal(404, "Not Found: method not found")
        found = handler(given)
        return await found if asyncio.iscoroutine(found) else found

    # --- methods ----------------------------------------------------------------------------------------------------

    def _getMe(self, given):
        return self.me

    def _setMyCommands(self, given):
        names = [c["command"] for c in given["commands"]]
        good = all(1 <= len(n) <= 32 and n.isascii() and n == n.lower() and n.replace("_", "").isalnum() for n in names)
        if not good or len(names) > 100 or not all(1 <= len(c["description"]) <= 256 for c in given["commands"]):
            raise Refusal(400, "Bad Request: BOT_COMMAND_INVALID")
        self.menu = given["commands"]
        return True

    def _deleteWebhook(self, given):
        self.webhook = {}
        return True

    def _setWebhook(self, given):
        self.webhook = given
        return True

    def _getWebhookInfo(self, given):
        return {"url": self.webhook.get("url", ""), "pending_update_count": len(self.queue)}

    async def _getUpdates(self, given):
        if self.webhook:
            raise Refusal(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook first")
        if self._poller and not self._poller.done():
            self._poller.set_result(None)
        self._poller = mine = asyncio.get_running_loop().create_future()
        if offset := given.get("offset"):
            self.confirmed += [u["update_id"] for u in self.queue if u["update_id"] < offset]
            self.queue = [u for u in self.queue if u["update_id"] >= offset]
        deadline = asyncio.get_running_loop().time() + given.get("timeout", 0)
        while not self.queue and (left := deadline - asyncio.get_running_loop().time()) > 0:
            self._news.clear()
            news = asyncio.ensure_future(self._news.wait())
            await asyncio.wait({news, mine}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            news.cancel()
            if mine.done():
                raise Refusal(409, "Conflict: terminated by other getUpdates request")
        return self.queue[: given.get("limit", 100)]

    async def polls(self):
        kept = [m["poll"] for c in self.chats.values() for m in c.values() if "poll" in m]
        return [(poll["question"], tuple(one["text"] for one in poll["options"])) for poll in kept]

    async def places(self):
        kept = [m["location"] for c in self.chats.values() for m in c.values() if "location" in m]
        return [(place["latitude"], place["longitude"]) for place in kept]

    def _sendPoll(self, given):
        options = given["options"]
        if not 1 <= len(given["question"]) <= 300 or not 2 <= len(options) <= 10:
            raise Refusal(400, "Bad Request: POLL_OPTIONS_INVALID")
        if not all(1 <= len(one["text"]) <= 100 for one in options):
            raise Refusal(400, "Bad Request: POLL_OPTION_INVALID")
        more = {"allows_multiple_answers": given.get("allows_multiple_answers", False)}
        return self._put(given, poll={"id": "1", "question": given["question"], "options": options, **more})

    def _sendLocation(self, given):
        return self._put(given, location={k: given[k] for k in ("latitude", "longitude")})

    def _sendVenue(self, given):
        if not given["title"] or not given["address"]:
            raise Refusal(400, "Bad Request: VENUE_ADDRESS_EMPTY")
        venue = {k: given[k] for k in ("title", "address")}
        return self._put(given, location={k: given[k] for k in ("latitude", "longitude")}, venue=venue)

    def _createForumTopic(self, given):
        if self._there(given) not in self.forums:
            raise Refusal(400, "Bad Request: the chat is not a forum")
        if not 1 <= len(given["name"]) <= 128:
            raise Refusal(400, "Bad Request: TOPIC_TITLE_EMPTY")
        self.message_id += 1
        return {"message_thread_id": self.message_id, "name": given["name"], "icon_color": 7322096}

    def _getChatMember(self, given):
        if given["user_id"] not in self.people and given["user_id"] != self._there(given):
            raise Refusal(400, "Bad Request: member not found")
        return self.people.get(given["user_id"]) or member_of(given["user_id"], "member", "Someone")

    def _getChatAdministrators(self, given):
        if self._there(given) > 0:
            raise Refusal(400, "Bad Request: there are no administrators in the private chat")
        return [one for one in self.people.values() if one["status"] in ("creator", "administrator")]

    def _getFile(self, given):
        content = self.files.get(given["file_id"])
        if content is None:
            raise Refusal(400, "Bad Request: wrong file_id or the file is temporarily unavailable")
        if len(content) > 20_000_000:
            raise Refusal(400, "Bad Request: file is too big")
        return {"file_id": given["file_id"], "file_unique_id": "u", "file_path": f"files/{given['file_id']}"}

    def _sendMessage(self, given):
        self._check(given["text"], given.get("entities", []), 4096)
        return self._put(given, text=given["text"], entities=given.get("entities", []))

    def _sendDocument(self, given):
        return self._file(given, "document")

    def _sendPhoto(self, given):
        if not given["photo"]["content"].startswith((b"\xff\xd8", b"\x89PNG")):
            raise Refusal(400, "Bad Request: IMAGE_PROCESS_FAILED")
        return self._file(given, "photo")

    def _sendVoice(self, given):
        return self._file(given, "voice")

    def _sendAudio(self, given):
        return self._file(given, "audio")

    def _sendVideo(self, given):
        return self._file(given, "video")

    def _sendAnimation(self, given):
        return self._file(given, "animation")

    def _file(self, given, kind):
        if not given[kind]["content"]:
            raise Refusal(400, "Bad Request: file must be non-empty")
        if given.get("caption"):
            self._check(given["caption"], given.get("caption_entities", []), 1024)
        made = self._put(given, caption=given.get("caption", ""), **{kind: {"file_name": given[kind]["name"]}})
        self.uploads.append(given[kind]["content"])
        return made

    def _editMessageText(self, given):
        message = self._mine(given)
        if "text" not in message:
            raise Refusal(400, "Bad Request: there is no text in the message to edit")
        self._check(given["text"], given.get("entities", []), 4096)
        return self._change(message, given, text=given["text"], entities=given.get("entities", []))

    def _editMessageCaption(self, given):
        message = self._mine(given)
        self._check(given["caption"], given.get("caption_entities", []), 1024)
        return self._change(message, given, caption=given["caption"])

    def _forwardMessage(self, given):
        message = self.chats[int(given["from_chat_id"])].get(given["message_id"])
        if message is None:
            raise Refusal(400, "Bad Request: message to forward not found")
        kept = {k: message[k] for k in ("text", "entities", "photo", "caption") if k in message}
        return self._put(given, forward_origin={"type": "user", "sender_user": message.get("from", self.me)}, **kept)

    def _deleteMessage(self, given):
        messages = self.chats[self._there(given)]
        if given["message_id"] not in messages:
            raise Refusal(400, "Bad Request: message to delete not found")
        if messages[given["message_id"]].get("old"):
            raise Refusal(400, "Bad Request: message can't be deleted for everyone")
        del messages[given["message_id"]]
        return True

    def _leaveChat(self, given):
        chat = self._there(given)
        self.changed(chat, "left", by=self.me)
        self.gone[chat] = Refusal(403, "Forbidden: bot is not a member of the supergroup chat")
        return True

    def _sendChatAction(self, given):
        self._there(given)
        self.typed += 1
        return True

    def _answerCallbackQuery(self, given):
        self.answered.append(given["callback_query_id"])
        return True

    def _setMessageReaction(self, given):
        if not all(r["emoji"] in REACTIONS for r in given["reaction"]):
            raise Refusal(400, "Bad Request: REACTION_INVALID")
        self.reactions[self._there(given), given["message_id"]] = [r["emoji"] for r in given["reaction"]]
        return True

    def _there(self, given):
        chat = int(given["chat_id"])
        if chat in self.gone:
            raise self.gone[chat]
        return chat

    def _check(self, text, entities, limit):
        if len(text.encode("utf-16-le", "replace")) // 2 > limit:
            raise Refusal(400, "Bad Request: message is too long")
        if wrong := problems(text, entities):
            raise Refusal(400, f"Bad Request: can't parse entities: {wrong[0]}")

    def _put(self, given, **content):
        chat = self._there(given)
        for key in (k for row in given.get("reply_markup", {}).get("inline_keyboard", []) for k in row):
            if not 1 <= len(key["callback_data"].encode()) <= 64 or not key["text"]:
                raise Refusal(400, "Bad Request: BUTTON_DATA_INVALID")
        self.message_id += 1
        kind = "supergroup" if chat < 0 else "private"
        made = {"message_id": self.message_id, "chat": {"id": chat, "type": kind}, **content}
        more = {k: given[k] for k in ("reply_markup", "message_thread_id", "reply_parameters") if k in given}
        more |= {"is_topic_message": True} if "message_thread_id" in given else {}
        self.chats[chat][self.message_id] = {**made, **more}
        return made

    def _mine(self, given):
        message = self.chats[self._there(given)].get(given["message_id"])
        if message is None:
            raise Refusal(400, "Bad Request: message to edit not found")
        return message

    def _change(self, message, given, **content):
        after = {**{k: v for k, v in message.items() if k != "reply_markup"}, **content}
        after |= {k: given[k] for k in ("reply_markup",) if k in given}
        if after == message:
            raise Refusal(
                400, "Bad Request: message is not modified: specified new message content and reply markup are exactly "
                "the same as a current content and reply markup of the message",
            )  # fmt: skip
        message.clear()
        message.update(after)
        return message


def _said(message):
    return message.get("text") or message.get("caption")


def member_of(number, status, name):
    return {"status": status, "user": {"id": number, "is_bot": False, "first_name": name}}


def _error(status, description, **parameters):
    answer = {"ok": False, "error_code": status, "description": description}
    return status, json.dumps({**answer, **({"parameters": parameters} if parameters else {})}).encode()


def _given(request, body):
    kind = dict(request.headers).get(b"content-type", b"").decode()
    if not kind.startswith("multipart/"):
        return json.loads(body or b"{}")
    message = email.message_from_bytes(f"content-type: {kind}\r\n\r\n".encode() + body, policy=email.policy.HTTP)
    given = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if part.get_filename() is not None:
            given[name] = {"name": part.get_filename(), "content": content, "type": part.get_content_type()}
            continue
        text = content.decode()
        try:
            given[name] = text if name == "caption" else json.loads(text)
        except ValueError:
            given[name] = text
    return given
