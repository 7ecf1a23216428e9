"""A home whose tables are real, and services that sign what they send to it."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve

import hermes_platform_webhook
from hermes_core.brokers import MessagesBroker
from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context, serve
from hermes_core.types import JSON, Message, Principal, Rights, Session, Target
from hermes_platform_webhook import register_migrations, register_routes
from hermes_platform_webhook.config import Config
from hermes_platform_webhook.ordering import Ordering
from hermes_platform_webhook.rows import Rows
from hermes_platform_webhook.sealed import KEY, make_key, seal
from hermes_platform_webhook.signatures import sign
from hermes_platform_webhook.values import Delivery, Subscription

SECRET = {"standard": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}


class Chats(MessagesBroker):
    """The owner's chat. What is sent twice with one key is sent once. While ``away``, nobody can be reached."""

    def __init__(self) -> None:
        self.sent: dict[str, tuple[str, Message]] = {}
        self.away = False

    async def targets(self, owner: Principal) -> list[Target]:
        return [Target(address="pager:me")]

    async def find(self, owner: Principal, target: str, session: Session | None = None) -> list[Target]:
        if self.away or target != "pager":
            raise UserError(f"{target} cannot be reached.")
        return await self.targets(owner)

    async def send(
        self, owner: Principal, target: str, message: Message, session: Session | None = None, key: str = ""
    ) -> list[Target]:
        found = await self.find(owner, target)
        self.sent.setdefault(key, (owner.person, message))
        return found


class Home:
    """The plugin in a home of its own."""

    def __init__(self, root: Path, config: Config) -> None:
        manifest = read_manifest(Path(hermes_platform_webhook.__file__).with_name("hermes-plugin.toml"))
        self.chats, self.people = Chats(), {"owner": Rights(), "anna": Rights(role="member")}

        async def rights(owner: Principal, speaker: object = None) -> Rights:
            return self.people.get(owner.person, Rights(role="", refused="Nobody knows them."))

        self.ctx: PluginContext = plugin_context(
            manifest,
            root,
            config=config,
            messages=self.chats,
            migrations=lambda: list(register_migrations(None)),
            host=SimpleNamespace(rights=rights),  # type: ignore[arg-type]
        )
        make_key(self.ctx)
        (self.route,) = register_routes(self.ctx)
        self.rows = Rows(self.ctx.store)
        self.service = Ordering(self.ctx)

    @property
    def turns(self) -> Any:
        """Those that were ordered."""
        return self.ctx.turns

    async def subscribe(self, name: str = "ci", **given: Any) -> Subscription:
        """A subscription, with the secret that services of its kind sign with here."""
        wanted = Subscription(name=name, **{"kind": "github", "prompt": "Say what happened.", **given})
        wanted = evolve(wanted, sealed=seal(self.ctx, name, self.secret(wanted.kind)))
        await self.rows.subscribe(wanted)
        return wanted

    async def post(
        self,
        payload: JSON,
        *,
        to: str = "ci",
        kind: Any = "github",
        delivery: str = "d-1",
        event: str = "push",
        headers: Mapping[str, str] | None = None,
        at: float = 0.0,
    ) -> tuple[int, str]:
        """Post something as a service does; the status, and what it says."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        signed = sign(kind, self.secret(kind), body, now=at or time.time(), delivery=delivery, event=event)
        return await self.raw(body, {**signed, **(headers or {})}, to)

    async def raw(self, body: bytes, headers: Mapping[str, str], to: str = "ci") -> tuple[int, str]:
        """Post something as it is."""
        answer = await serve(self.route, "POST", f"/{to}", body=body, headers=headers)
        return answer.status, next(iter(json.loads(answer.body).values()))

    def secret(self, kind: str) -> str:
        """What services of a kind sign with here."""
        return SECRET.get(kind, "a secret that both know")

    async def log(self) -> list[Delivery]:
        """What is written down, oldest first."""
        return list(reversed(await self.rows.log(most=10_000)))


@pytest.fixture
def config() -> Config:
    """The settings of a test."""
    return Config()


@pytest.fixture
def home(tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home with nothing in it."""
    monkeypatch.setenv(KEY, "")
    return Home(tmp_path, config)
