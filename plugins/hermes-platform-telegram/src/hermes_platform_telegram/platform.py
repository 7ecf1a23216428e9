"""The platform: a bot, reached by polling or by a webhook."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attrs import evolve

from hermes_core.errors import HermesError
from hermes_core.kinds import Console, Platform
from hermes_core.types import JSON, Chat, Envelope, Event, Feature, Member, Message, Sent, Started, Text
from hermes_platform_telegram.albums import Albums
from hermes_platform_telegram.api import BotApi
from hermes_platform_telegram.config import Config
from hermes_platform_telegram.entities import units
from hermes_platform_telegram.failures import Lost, Refused, as_service
from hermes_platform_telegram.inbound import Inbound
from hermes_platform_telegram.media import Media
from hermes_platform_telegram.menu import Menu
from hermes_platform_telegram.pending import Pending
from hermes_platform_telegram.polling import poll
from hermes_platform_telegram.sending import LIMIT, Sender
from hermes_platform_telegram.unsure import Unsure
from hermes_platform_telegram.updates import ALLOWED, Me
from hermes_platform_telegram.webhook import Webhook

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker
    from hermes_core.context import PluginPaths

__all__ = ["Telegram", "connect"]

_PRESSES = 64  # tasks beside, above which a press is taken and no longer answered: its button shows that for a while


def connect(config: Config, broker: "SecretsBroker") -> BotApi:
    """A client with the bot's token. Raises UserError when there is none."""
    token, proxy = broker.get("TELEGRAM_BOT_TOKEN").strip(), broker.get("TELEGRAM_PROXY").strip()
    return BotApi(token, config.base_url, proxy=proxy, seconds=config.seconds)


class Telegram(Platform):
    """A Telegram bot."""

    name = "telegram"
    features = frozenset(
        {
            Feature.BUTTONS,
            Feature.DELETE,
            Feature.EDIT,
            Feature.LOCATIONS,
            Feature.MEDIA,
            Feature.LEAVE,
            Feature.MEMBERS,
            Feature.POLLS,
            Feature.REACTIONS,
            Feature.THREADS,
            Feature.TYPING,
            Feature.VOICE,
        }
    )
    limit = LIMIT

    def __init__(self, config: Config, broker: "SecretsBroker", paths: "PluginPaths", log: logging.Logger) -> None:
        self._config = config
        self._broker = broker
        self._paths = paths
        self._log = log
        self._api: BotApi | None = None
        self._sender: Sender | None = None
        self._unsure: Unsure | None = None
        self._inbound: Inbound | None = None
        self._webhook: Webhook | None = None
        self._menu = Menu()
        self._tasks: set[asyncio.Task[None]] = set()

    def length(self, text: str) -> int:
        """How long Telegram says a text is: characters beyond U+FFFF count as two."""
        return units(text)

    async def open(self, console: Console) -> None:
        """Ask who the bot is, and say how messages are to come. Raises UserError and HermesError."""
        await self.close()
        self._api = api = connect(self._config, self._broker)
        try:
            found = await api.call("getMe")
            self.account = str(found["username"])
            me = Me(str(int(found["id"])), self.account, frozenset(map(str.lower, self._config.peers)))
            self._take_up(api, me)
            await self._show_menu(api, console)
            await self._listen(api)
        except (Refused, Lost) as error:
            await self.close()
            raise as_service(error) from None
        except (KeyError, TypeError, ValueError):
            await self.close()
            raise HermesError(
                f"What answers at {self._config.base_url} is no Bot API.", hint="It is tried again."
            ) from None
        except BaseException:
            await self.close()
            raise

    async def receive(self) -> AsyncIterator[Envelope]:
        """What people write and press, until close."""
        if not (inbound := self._inbound) or not (api := self._api):
            return
        inbound.recover()
        if not self._webhook:
            self._start(self._polling(api, inbound))
        while (found := await inbound.ready.get()) is not None:
            if isinstance(found, Exception):
                raise found
            if self._unsure:
                self._unsure.knows(found.chat, found.message_id)
            yield self._translated(found)

    async def ack(self, envelope: Envelope) -> None:
        """Telegram may forget it; a pressed button stops to show that it works."""
        press = self._inbound.stored(envelope.event_id) if self._inbound else ""
        if press and self._api and len(self._tasks) < _PRESSES:
            self._start(self._pressed(self._api, press))

    async def send(self, chat: Chat, message: Message, key: str) -> Sent | None:
        """Send text, files and buttons. Telegram has no idempotency keys."""
        sender, unsure = self._open_sender(), self._unsure
        text = "".join(part.text for part in message.parts if isinstance(part, Text)).strip()
        if unsure is None or not all(type(part) is Text for part in message.parts):
            return await sender.send(chat, message)
        with unsure.sending(chat.id, text):
            sent = await sender.send(chat, message)
        if sent is not None:
            unsure.knows(chat.id, sent.message_id)
            if numbers := unsure.doubtful(sent, text):
                self._start(unsure.clear(chat, text, numbers))
        return sent

    async def edit(self, sent: Sent, message: Message) -> None:
        """Replace the text and the buttons of a message."""
        await self._open_sender().edit(sent, message)

    async def delete(self, sent: Sent) -> None:
        """Take a message away; Telegram lets a bot do that for two days."""
        await self._open_sender().delete(sent)

    async def leave(self, chat: Chat) -> None:
        """Leave a group."""
        await self._open_sender().leave(chat)

    async def show(self, chat: Chat, event: Event) -> None:
        """Show that the bot is typing; Telegram shows it for five seconds."""
        if isinstance(event, Started) and self._sender:
            await self._sender.typing(chat)

    async def react(self, chat: Chat, message_id: str, sign: str) -> None:
        """Put an emoji on a message."""
        await self._open_sender().react(chat, message_id, sign)

    async def make_thread(self, chat: Chat, name: str) -> Chat:
        """Begin a topic; only a group with topics has some, in which the bot may manage them."""
        return await self._open_sender().make_topic(chat, name)

    async def members(self, chat: Chat, sender: str = "") -> Sequence[Member]:
        """The admins of a group, which are all that Telegram lists for bots; or whoever is asked for."""
        return await self._open_sender().members(chat, sender)

    async def close(self) -> None:
        """End what runs. A webhook stays set: Telegram keeps messages for a day."""
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._webhook:
            await self._webhook.stop()
        if self._inbound:
            await self._inbound.stop()
            self._inbound.ready.put_nowait(None)
        if self._api:
            await self._api.close()
        self._api = self._sender = self._inbound = self._webhook = None

    def _take_up(self, api: BotApi, me: Me) -> None:
        config = self._config
        media = Media(api, self._paths.cache / "media", self._log, config)
        media.forget()
        albums = Albums(self._paths.data / "albums.json", self._log)
        self._sender = Sender(api, config, self._log)
        if self._unsure is None:
            self._unsure = Unsure(me.id, self._called, self._log)
        self._inbound = Inbound(me, media, albums, Pending(), self._log, config.album_seconds)

    async def _listen(self, api: BotApi) -> None:
        url = self._config.webhook_url
        if not url:
            await api.call("deleteWebhook")
            return
        secret = self._broker.get("TELEGRAM_WEBHOOK_SECRET").strip() or secrets.token_urlsafe(32)
        self._webhook = Webhook(urlsplit(url).path, secret, self._arrived, self._log)
        await self._webhook.start(self._config.webhook_host, self._config.webhook_port)
        await api.call("setWebhook", {"url": url, "secret_token": secret, "allowed_updates": list(ALLOWED)})

    async def _arrived(self, update: Mapping[str, JSON], seconds: float) -> bool:
        """An update at the webhook; whether it is stored."""
        if not (inbound := self._inbound):
            return False
        number = int(update["update_id"])
        inbound.take(update)
        return await inbound.pending.stored(number, seconds)

    async def _polling(self, api: BotApi, inbound: Inbound) -> None:
        try:
            await poll(api, inbound, self._config.poll_seconds, self._log)
        except Exception as error:  # noqa: BLE001 - whatever it is, receive raises it
            inbound.ready.put_nowait(error)

    async def _show_menu(self, api: BotApi, console: Console) -> None:
        """A menu that cannot be set is no reason to be silent."""
        self._menu = Menu(console.commands)
        entries = self._menu.entries(self._config.menu)
        if not entries:
            return
        try:
            await api.call("setMyCommands", {"commands": entries})
        except Refused as refusal:
            if refusal.status in (401, 404):
                raise
            self._log.warning("The menu of commands could not be set: %s", refusal.text)

    async def _pressed(self, api: BotApi, press: str) -> None:
        try:
            await api.call("answerCallbackQuery", {"callback_query_id": press})
        except (
            Refused,
            Lost,
        ) as error:  # after a while it cannot be answered any more, and the press counts all the same
            self._log.debug("A press could not be answered: %s", error)

    def _translated(self, envelope: Envelope) -> Envelope:
        parts = list(envelope.message.parts)
        if parts and isinstance(parts[0], Text) and parts[0].text.startswith("/"):
            parts[0] = Text(text=self._menu.translated(parts[0].text))
            return evolve(envelope, message=evolve(envelope.message, parts=parts))
        return envelope

    async def _called(self, method: str, chat: Chat, given: Mapping[str, JSON]) -> JSON:
        return await self._open_sender().call(method, chat, given)

    def _open_sender(self) -> Sender:
        if self._sender is None:
            raise HermesError("The Telegram bot is not connected.")
        return self._sender

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
