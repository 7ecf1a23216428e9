"""A person on another client (matrix-nio), and what stands between the bot and its homeserver."""

import asyncio
import logging
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Self

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import nio
    from nio.crypto.attachments import decrypt_attachment

from hermes_core.testing import FakeService
from hermes_core.testing.witness import off_the_record
from hermes_platform_matrix.config import Config
from hermes_platform_matrix.outgoing import POLL
from hermes_platform_matrix.platform import Matrix

LOG = logging.getLogger("hermes.matrix")
MEGOLM = {"type": "m.room.encryption", "state_key": "", "content": {"algorithm": "m.megolm.v1.aes-sha2"}}


class Person:
    """Somebody who writes and reads with matrix-nio."""

    def __init__(self, url: str, user: str, folder) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        config = nio.AsyncClientConfig(encryption_enabled=True, max_timeouts=3)
        self.client = nio.AsyncClient(url, user, store_path=str(folder), config=config)
        self.user = user
        self.events: list[tuple[str, nio.Event]] = []
        self.typing: list[tuple[str, Sequence[str]]] = []
        self.receipts: list[tuple[str, str, str]] = []

    async def login(self) -> "Person":
        answer = await self.client.login("pw")
        assert isinstance(answer, nio.LoginResponse), answer
        self.client.add_event_callback(self._heard, nio.Event)
        self.client.add_ephemeral_callback(self._ephemeral, (nio.TypingNoticeEvent, nio.ReceiptEvent))
        await self.sync()
        return self

    async def _heard(self, room, event) -> None:
        self.events.append((room.room_id, event))

    async def _ephemeral(self, room, event) -> None:
        if isinstance(event, nio.TypingNoticeEvent):
            self.typing.append((room.room_id, event.users))
        else:
            self.receipts += [(room.room_id, r.event_id, r.user_id) for r in event.receipts]

    async def sync(self, timeout: int = 0) -> bool:
        """One sync with all that encryption wants; whether it brought events."""
        before = len(self.events)
        answer = await self.client.sync(timeout=timeout)
        assert isinstance(answer, nio.SyncResponse), answer
        if self.client.should_upload_keys:
            await self.client.keys_upload()
        if self.client.should_query_keys:
            await self.client.keys_query()
        return len(self.events) > before

    async def quiet(self) -> None:
        while await self.sync():
            pass

    async def until(self, condition, seconds: float = 20.0) -> None:
        """Sync until something is true."""
        async with asyncio.timeout(seconds):
            while not condition():
                await self.sync(timeout=500)

    async def room(self, *invite: str, encrypted: bool = False, direct: bool = True, name: str | None = None) -> str:
        """A new room with others invited."""
        answer = await self.client.room_create(
            invite=list(invite), is_direct=direct, name=name, initial_state=[MEGOLM] if encrypted else []
        )
        assert isinstance(answer, nio.RoomCreateResponse), answer
        await self.sync()
        return answer.room_id

    async def joined(self, room: str, user: str) -> None:
        """Wait until somebody is in a room."""

        def there() -> bool:
            known = self.client.rooms.get(room)
            return known is not None and user in known.users and user not in known.invited_users

        await self.until(there)

    async def send(self, room: str, content: Mapping, kind: str = "m.room.message") -> str:
        answer = await self.client.room_send(room, kind, dict(content), ignore_unverified_devices=True)
        assert isinstance(answer, nio.RoomSendResponse), answer
        return answer.event_id

    async def say(self, room: str, text: str, **more) -> str:
        return await self.send(room, {"msgtype": "m.text", "body": text, **more})

    def heard(self, user: str, room: str | None = None) -> list[dict]:
        """The messages of somebody, decrypted."""
        found = [(r, e) for r, e in self.events if e.sender == user and (room is None or r == room)]
        return [{**e.source, "event_id": e.event_id} for _, e in found if e.source.get("type") == "m.room.message"]

    def sources(self, user: str, kind: str) -> list[dict]:
        """What somebody put into events of a kind, decrypted."""
        found = [e.source for _, e in self.events if e.sender == user]
        return [source["content"] for source in found if source.get("type") == kind]

    def gone(self) -> set[str]:
        """The events that somebody took back."""
        return {e.redacts for _, e in self.events if isinstance(e, nio.RedactionEvent)}

    async def file(self, content: Mapping) -> bytes:
        """The bytes of a file in a message."""
        answer = await self.client.download(content["file"]["url"] if "file" in content else content["url"])
        assert isinstance(answer, nio.DownloadResponse | nio.FileResponse), answer
        if "file" not in content:
            return answer.body
        file = content["file"]
        return decrypt_attachment(answer.body, file["key"]["k"], file["hashes"]["sha256"], file["iv"])

    async def close(self) -> None:
        await self.client.close()


class Wire:
    """A TCP proxy that can be cut."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task] = set()
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        self.cut()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader, writer) -> None:
        there, beyond = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers |= {writer, beyond}
        both = {asyncio.ensure_future(self._carry(reader, beyond)), asyncio.ensure_future(self._carry(there, writer))}
        self._tasks |= both
        await asyncio.gather(*both)
        self._writers -= {writer, beyond}
        self._tasks -= both

    async def _carry(self, reader, writer) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()


class SynapseService(FakeService):
    """The far end for the kit: people write to the bot in chats of two, plain or encrypted."""

    def __init__(self, synapse, bot: str, wire: Wire, folder, *, encrypted: bool) -> None:
        self._synapse, self._bot, self._wire, self._folder, self._encrypted = synapse, bot, wire, folder, encrypted
        self.people: dict[str, tuple[Person, str]] = {}

    async def say(self, text: str, *, sender: str = "someone") -> None:
        with off_the_record():
            await self._come(sender)
            person, room = self.people[sender]
            await person.say(room, text)

    async def _come(self, sender: str) -> None:
        """Somebody is there, in a chat of two with the bot."""
        if sender not in self.people:
            person = Person(self._synapse.url, self._synapse.register(sender), self._folder / sender)
            await person.login()
            room = await person.room(self._bot, encrypted=self._encrypted)
            await person.joined(room, self._bot)
            self.people[sender] = person, room

    async def seen(self) -> Sequence[str]:
        texts: dict[str, str] = {}
        for message in await self._messages():
            content = message["content"]
            relation = content.get("m.relates_to", {})
            if relation.get("rel_type") == "m.replace":
                texts[relation["event_id"]] = content["m.new_content"]["body"]
            elif content.get("msgtype") == "m.text":
                texts[message["event_id"]] = content["body"]
        gone = set[str]().union(*(person.gone() for person, _ in self.people.values()))
        return [text for event, text in texts.items() if event not in gone]

    async def say_as_bot(self, text: str) -> None:
        with off_the_record():
            token = self._synapse.login(self._bot)["access_token"]
            for _, room in self.people.values():
                body = {"msgtype": "m.text", "body": text}
                self._synapse.ask("PUT", f"rooms/{room}/send/m.room.message/as-bot", token, body)

    async def typing(self) -> int:
        await self._messages()
        return sum(self._bot in users for person, _ in self.people.values() for _, users in person.typing)

    async def media(self) -> Sequence[bytes]:
        found = [m["content"] for m in await self._messages() if m["content"].get("msgtype") == "m.file"]
        person = next(iter(self.people.values()))[0]
        with off_the_record():
            return [await person.file(content) for content in found]

    async def polls(self) -> Sequence[tuple[str, Sequence[str]]]:
        await self._messages()
        found = [person.sources(self._bot, POLL) for person, _ in self.people.values()]
        starts = [content[POLL] for contents in found for content in contents]
        text = "org.matrix.msc1767.text"
        return [(one["question"][text], tuple(answer[text] for answer in one["answers"])) for one in starts]

    async def places(self) -> Sequence[tuple[float, float]]:
        uris = [m["content"]["geo_uri"] for m in await self._messages() if m["content"].get("msgtype") == "m.location"]
        return [tuple(float(number) for number in uri.removeprefix("geo:").split(",")) for uri in uris]

    async def gather(self) -> str:
        with off_the_record():
            await self._come("someone")
            person, _ = self.people["someone"]
            others = []
            for name in ("third", "fourth"):
                await self._come(name)
                others.append(self.people[name][0])
            room = await person.room(self._bot, *(one.user for one in others), encrypted=False, direct=False)
            await person.joined(room, self._bot)
            for other in others:
                await other.client.join(room)
                await person.joined(room, other.user)
            await person.say(room, "Hello all.")
        return room

    async def inside(self, chat: str) -> bool:
        with off_the_record():
            person, _ = self.people["someone"]
            await person.quiet()
            answer = await person.client.joined_members(chat)
            return self._bot in {one.user_id for one in answer.members}

    async def put_out(self, chat: str) -> None:
        with off_the_record():
            answer = await self.people["someone"][0].client.room_kick(chat, self._bot, "enough")
            assert isinstance(answer, nio.RoomKickResponse), answer

    async def drop(self) -> bool:
        self._wire.cut()
        return True

    async def _messages(self) -> list[dict]:
        found: list[dict] = []
        with off_the_record():
            for person, room in self.people.values():
                await person.quiet()
                found += person.heard(self._bot, room)
        return found

    async def close(self) -> None:
        for person, _ in self.people.values():
            await person.close()


def bot_for(url: str, user: str, folder, **settings) -> Matrix:
    """The platform, logging in with its password."""
    settings = {"homeserver": url, "user": user, "sync_seconds": 5.0, **settings}
    secrets = {"env:MATRIX_PASSWORD": "pw"}
    return Matrix(Config(**settings), lambda value: secrets.get(value, ""), folder, LOG)
