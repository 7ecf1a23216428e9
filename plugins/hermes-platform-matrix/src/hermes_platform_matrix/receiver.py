"""Listens: hands over envelopes, waits for missing keys, accepts invitations, tells that messages came."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any

from hermes_core.errors import HermesError
from hermes_core.types import Envelope, Message
from hermes_platform_matrix.config import Config
from hermes_platform_matrix.connection import Connection, secure
from hermes_platform_matrix.e2ee.machine import Unreadable
from hermes_platform_matrix.feed import Feed, Marks, News
from hermes_platform_matrix.homeserver import Cut, Refused, path
from hermes_platform_matrix.reader import Locked, Reader
from hermes_platform_matrix.sender import Sender

__all__ = ["Receiver"]

_TRIES = 4
_KEY_SECONDS = 10.0  # a key that is not here after this long is told to be missing; it is used all the same if it comes


class Receiver:
    """Listens for one account. ``inbox`` gets envelopes, then the error that ended it."""

    def __init__(
        self, connection: Connection, config: Config, reader: Reader, sender: Sender, log: logging.Logger
    ) -> None:
        self._connection, self._config, self._log = connection, config, log
        self._reader, self._sender = reader, sender
        self._store = connection.store
        self._marks = Marks(self._store)
        self._seen: dict[str, str] = {}  # room -> the last event that was acknowledged
        self._to_tell = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.key_seconds = _KEY_SECONDS
        self.inbox: asyncio.Queue[Envelope | Exception | None] = asyncio.Queue(maxsize=100)

    async def listen(self) -> None:
        """Listen until cancelled. What ends it otherwise goes into the inbox."""
        try:
            await self._listen()
        except Exception as error:  # noqa: BLE001 - it is raised again in receive
            await self.inbox.put(error)

    async def _listen(self) -> None:
        connection = self._connection
        if connection.machine:
            connection.machine.own.reload()
        feed = Feed(
            connection.server,
            self._store,
            connection.rooms,
            connection.machine,
            connection.user,
            self._log,
            self._config.sync_seconds,
        )
        if self._config.receipts:
            self._later(self._receipts())
        for room, inviter in self._store.all("invited"):
            self._later(self._answer_invitation(room, inviter))
        start = News(token=str(self._store.get("sync", "since") or ""))
        if start.token:
            await self._hand_over(start, {(w["room"], w["session"]) for _, w in self._store.all("waiting")})
        while True:
            try:
                news = await feed.next()
            except Refused as refused:
                if not refused.unknown_token:
                    raise
                await self._enter_again()
                continue
            await self._hand_over(news, news.keys)
            for room, inviter in news.invites:
                self._later(self._answer_invitation(room, inviter))

    async def _enter_again(self) -> None:
        """Log in once more as the same device. Raises UserError when a person has to."""
        connection, config = self._connection, self._config
        self._log.warning("matrix: the access token is not valid any more; logging in again.")
        connection.login.forget_token()
        await connection.login.enter(connection.server)
        if connection.machine:
            resolve = connection.login.resolve
            keys = resolve(config.recovery_key), resolve(config.password)
            await secure(connection.machine.own, connection.server, *keys, self._log)

    async def _hand_over(self, news: News, keys: set[tuple[str, str]]) -> None:
        """Put what news say into the inbox: first what waited for the keys that came."""
        self._marks.begin(news)
        for _, waiting in self._store.all("waiting") if keys else ():
            if (waiting["room"], waiting["session"]) in keys:
                await self._one(waiting["room"], waiting["event"])
        for room_id, event in news.events:
            await self._one(room_id, event)
        for room_id, event in news.put_out:
            self._marks.expect(str(event["event_id"]))
            await self.inbox.put(self._put_out(room_id, event))
        self._marks.end()

    def _put_out(self, room_id: str, event: Mapping[str, Any]) -> Envelope:
        return Envelope(
            platform="matrix",
            account=self._connection.user,
            event_id=str(event["event_id"]),
            chat=room_id,
            sender=str(event["sender"]),
            message=Message(role="user", parts=()),
            kind="group",
            what="removed",
        )

    async def _one(self, room_id: str, event: Mapping[str, Any]) -> None:
        found = await self._patiently(room_id, event)
        if isinstance(found, Locked):
            await self._wait_for_key(found)
        elif found is not None:
            self._marks.expect(found.event_id)
            await self.inbox.put(found)
        else:
            self._store.drop("waiting", str(event.get("event_id")))

    async def _patiently(self, room_id: str, event: Mapping[str, Any]) -> Envelope | Locked | None:
        """Read an event, through short failures of the homeserver. Raises Refused, Cut when they last."""
        for number in range(_TRIES):
            try:
                return await self._reader.read(room_id, event)
            except (Refused, Cut) as error:
                asked = error.retry_after if isinstance(error, Refused) else None
                if isinstance(error, Refused) and not error.limited and error.status < 500:
                    if error.unknown_token:
                        raise
                    self._log.warning("matrix: %s is left out: %s", event.get("event_id"), error)
                    return None
                if number == _TRIES - 1:
                    raise
                await asyncio.sleep(asked or 2.0**number)
            except Exception:  # noqa: BLE001 - one odd event must not stop all that come after it
                self._log.exception("matrix: %s is left out: it cannot be understood.", event.get("event_id"))
                return None
        return None

    def acknowledge(self, envelope: Envelope) -> None:
        """The kernel has stored it."""
        self._store.drop("waiting", envelope.event_id)
        self._marks.done(envelope.event_id)
        self._seen[envelope.chat] = envelope.event_id
        self._to_tell.set()

    # --- messages without a key

    async def _wait_for_key(self, locked: Locked) -> None:
        event_id = str(locked.event.get("event_id"))
        if not locked.session:
            self._log.warning("matrix: %s cannot be read: %s", event_id, locked.why)
            self._later(self._tell(locked, f"I cannot read a message here: {locked.why}."))
            return
        row = {"room": locked.room, "event": dict(locked.event), "session": locked.session}
        self._store.put("waiting", event_id, row)
        if self._connection.machine:
            try:
                await self._connection.machine.request(locked.room, locked.event, locked.session)
            except (Refused, Cut) as error:
                self._log.warning("matrix: the key of %s was not asked for: %s", event_id, error)
        self._later(self._tell_if_it_lasts(locked, event_id))

    async def _tell_if_it_lasts(self, locked: Locked, event_id: str) -> None:
        await asyncio.sleep(self.key_seconds)
        if self._store.get("waiting", event_id) is not None:
            self._log.warning("matrix: the key of %s has not come.", event_id)
            text = "I got a message that I cannot decrypt: its key has not come. I have asked for it, and read the"
            await self._tell(locked, f"{text} message when it comes. To be sure, send it again.")

    async def _tell(self, locked: Locked, text: str) -> None:
        """Say it in the room, once for each key."""
        about = f"{locked.room} {locked.session or locked.why}"
        if self._store.get("told", about):
            return
        self._store.put("told", about, True)
        try:
            await self._sender.notice(locked.room, text, about)
        except (HermesError, Unreadable) as error:
            self._log.warning("matrix: nobody could be told of a message that cannot be read: %s", error)

    # --- invitations and receipts

    async def _answer_invitation(self, room_id: str, inviter: str) -> None:
        """Join, if the settings say so. An invitation that is left open can be accepted later."""
        welcome = any(fnmatchcase(inviter, pattern) for pattern in self._config.inviters)
        if self._config.join != "invited" or not welcome:
            self._log.info("matrix: the invitation of %s to %s is left open, as the settings say.", inviter, room_id)
            return
        for number in range(_TRIES):
            try:
                await self._connection.server.ask("POST", path("v3", "join", room_id), {}, seconds=120.0)
            except Refused as refused:
                if refused.limited or refused.status >= 500:
                    await asyncio.sleep(refused.retry_after or 2.0**number)
                    continue
                self._log.warning("matrix: the invitation to %s could not be accepted: %s", room_id, refused)
            except Cut:
                await asyncio.sleep(2.0**number)
                continue
            self._store.drop("invited", room_id)
            return
        self._log.warning(
            "matrix: the invitation to %s could not be accepted now; tried again at the next start.", room_id
        )

    async def _receipts(self) -> None:
        """Tell people how far was read; the last one of a room says it for all before."""
        while True:
            await self._to_tell.wait()
            self._to_tell.clear()
            seen, self._seen = self._seen, {}
            for room_id, event_id in seen.items():
                where = path("v3", "rooms", room_id, "receipt", "m.read", event_id)
                with suppress(Refused, Cut):  # a receipt is a courtesy
                    await self._connection.server.ask("POST", where, {}, seconds=10.0)

    def _later(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """End what runs beside, and ``receive``."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        while not self.inbox.empty():  # none of it is acknowledged: it comes again
            self.inbox.get_nowait()
        self.inbox.put_nowait(None)
