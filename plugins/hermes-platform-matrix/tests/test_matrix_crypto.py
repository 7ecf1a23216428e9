"""Encryption against whoever cheats: a homeserver in memory that can be told to lie, and two devices of ours."""

import logging
import time
from contextlib import suppress
from urllib.parse import unquote

import pytest

from hermes_platform_matrix.e2ee.account import MEGOLM, OwnDevice
from hermes_platform_matrix.e2ee.attachments import opened, sealed
from hermes_platform_matrix.e2ee.cross_signing import BadRecoveryKey, recovery_key_bytes, unseal
from hermes_platform_matrix.e2ee.machine import Machine, NoKey, Unreadable
from hermes_platform_matrix.e2ee.olm import Secret
from hermes_platform_matrix.e2ee.signing import decoded, encoded, is_signed
from hermes_platform_matrix.homeserver import Cut
from hermes_platform_matrix.store import AccountStore

RULES = {"algorithm": MEGOLM}
LOG = logging.getLogger("hermes.matrix")
PEOPLE = ["@ada:s", "@bot:s"]


class Keys:
    """What a homeserver does for encryption."""

    def __init__(self) -> None:
        self.devices: dict = {}
        self.once: dict = {}
        self.boxes: dict = {}
        self.away: set = set()
        self.cut = False

    def of(self, user: str, device: str) -> "Line":
        return Line(self, user, device)


class Line:
    """The homeserver as one device sees it."""

    def __init__(self, keys: Keys, user: str, device: str) -> None:
        self.keys, self.user, self.device = keys, user, device

    async def ask(self, method, where, body=None, **_):
        if self.keys.cut:
            raise Cut("away", asked=True)
        where = unquote(where)
        if where.endswith("/keys/upload"):
            if "device_keys" in body:
                self.keys.devices.setdefault(self.user, {})[self.device] = body["device_keys"]
            store = self.keys.once.setdefault((self.user, self.device), {})
            store.update(body.get("one_time_keys", {}) | body.get("fallback_keys", {}))
            return {}
        if where.endswith("/keys/query"):
            away = {u.partition(":")[2]: {} for u in body["device_keys"] if u in self.keys.away}
            there = {u: self.keys.devices.get(u, {}) for u in body["device_keys"]}
            return {"device_keys": there, "failures": away}
        if where.endswith("/keys/claim"):
            given: dict = {}
            for user, devices in body["one_time_keys"].items():
                for device in devices:
                    store = self.keys.once.get((user, device), {})
                    if store:
                        name = next(iter(store))
                        given.setdefault(user, {})[device] = {name: store.pop(name)}
            return {"one_time_keys": given}
        kind = where.split("/sendToDevice/")[1].split("/")[0]
        for user, devices in body["messages"].items():
            for device, content in devices.items():
                for name in self.keys.devices.get(user, {}) if device == "*" else [device]:
                    event = {"type": kind, "sender": self.user, "content": content}
                    self.keys.boxes.setdefault((user, name), []).append(event)
        return {}


class Side:
    """A device with its machine."""

    def __init__(self, keys: Keys, folder, user: str, device: str, **options) -> None:
        self.store = AccountStore(folder / f"{device}.db")
        self.own = OwnDevice(self.store, device, bytes(32), user, device)
        self.keys, self.user = keys, user
        self.machine = Machine(self.own, keys.of(user, device), LOG, **options)

    async def sync(self, **more) -> set:
        events = self.keys.boxes.pop((self.user, self.own.device), [])
        counts = {"signed_curve25519": len(self.keys.once.get((self.user, self.own.device), {}))}
        news = {"to_device": {"events": events}, "device_one_time_keys_count": counts}
        return await self.machine.take(news | {"device_unused_fallback_key_types": []} | more)

    async def write(self, text: str, room: str = "!r", rules=RULES, people=PEOPLE) -> dict:
        content = await self.machine.encrypt(room, people, rules, "m.room.message", {"body": text})
        return {"sender": self.user, "event_id": f"${text}", "type": "m.room.encrypted", "content": content}

    async def read(self, event: dict, room: str = "!r") -> str:
        return (await self.machine.decrypt(room, event)).content["body"]


@pytest.fixture
async def sides(tmp_path):
    keys = Keys()
    both = Side(keys, tmp_path, "@ada:s", "ADA"), Side(keys, tmp_path, "@bot:s", "BOT")
    for side in both:
        await side.sync()
    yield both
    for side in both:
        side.store.close()


async def test_two_devices_understand_each_other(sides):
    ada, bot = sides
    event = await ada.write("hello")
    with pytest.raises(NoKey):
        await bot.read(event)
    assert await bot.sync() == {("!r", event["content"]["session_id"])}
    assert await bot.read(event) == "hello"
    assert await bot.read(event) == "hello", "an event that comes again reads the same"
    answer = await bot.write("good morning")
    await ada.sync()
    assert await ada.read(answer) == "good morning"


async def test_a_homeserver_cannot_change_who_wrote_what_where_or_how_often(sides):
    ada, bot = sides
    event = await ada.write("pay eve")
    await bot.sync()
    assert await bot.read(event) == "pay eve"
    with pytest.raises(Unreadable, match="played again"):
        await bot.read(event | {"event_id": "$again"})
    with pytest.raises(Unreadable, match="somebody else"):
        await bot.read(event | {"sender": "@eve:s"})
    with pytest.raises(NoKey):
        await bot.read(event, room="!other")
    for broken in ("", "AAAA", event["content"]["ciphertext"][:-4] + "AAAA"):
        with pytest.raises(Unreadable):
            await bot.read(event | {"content": event["content"] | {"ciphertext": broken}})
    with pytest.raises(Unreadable, match="unknown here"):
        await bot.read(event | {"content": {"algorithm": "rot13"}})


async def test_a_message_of_another_room_is_not_read_in_this_one(sides):
    """Whoever shares one room key for two rooms could move words between them."""
    ada, bot = sides
    event = await ada.write("yes", room="!one")
    await bot.sync()
    name = event["content"]["session_id"]
    space = f"{bot.own.space}/in"
    bot.store.put(space, f"!two {name}", bot.store.get(space, f"!one {name}"))
    with pytest.raises(Unreadable, match="another room"):
        await bot.read(event, room="!two")


async def test_a_key_is_believed_only_of_who_it_comes_from(sides):
    ada, bot = sides
    event = await ada.write("hello")
    (message,) = bot.keys.boxes[("@bot:s", "BOT")]
    bot.keys.boxes[("@bot:s", "BOT")] = [message | {"sender": "@eve:s"}]
    assert await bot.sync() == set()
    with pytest.raises(NoKey):
        await bot.read(event)
    odd = [{"type": "m.room.encrypted", "sender": "@eve:s", "content": c} for c in ({}, {"ciphertext": 3})]
    open_ = [{"type": "m.room_key", "sender": "@eve:s", "content": {"room_id": "!r"}}]
    assert await bot.sync(to_device={"events": [*odd, *open_]}) == set()


def secret(kind: str, content: dict, sender: str = "@ada:s") -> Secret:
    return Secret(type=kind, content=content, sender=sender, curve25519="c", ed25519="e")


async def test_a_forwarded_key_counts_only_if_it_was_asked_for(sides):
    ada, bot = sides
    event = await ada.write("hello")
    await bot.sync()
    name = event["content"]["session_id"]
    kept = bot.store.get(f"{bot.own.space}/in", f"!r {name}")
    from vodozemac import InboundGroupSession

    exported = InboundGroupSession.from_pickle(kept["pickle"], bytes(32)).export_at(0).to_base64()
    bot.store.drop(f"{bot.own.space}/in", f"!r {name}")
    content = {"algorithm": MEGOLM, "room_id": "!r", "session_id": name, "session_key": exported}
    take, forwarded = bot.machine._take, "m.forwarded_room_key"
    assert take(secret(forwarded, content)) is None
    await bot.machine.request("!r", event, name)
    await bot.machine.request("!r", event, name)
    assert [e["type"] for e in bot.keys.boxes[("@ada:s", "ADA")]] == ["m.room_key_request"], "asked once"
    assert take(secret(forwarded, content, "@eve:s")) is None
    assert take(secret("m.dummy", {})) is None
    with pytest.raises(Unreadable):
        take(secret(forwarded, content | {"session_key": "AAAA"}))
    assert take(secret(forwarded, content)) == ("!r", name)
    assert await bot.read(event) == "hello"
    for wrong in ({"session_key": "AAAA"}, {"algorithm": "x", "session_key": exported}):
        with pytest.raises(Unreadable):
            take(secret("m.room_key", content | wrong))


async def test_a_broken_session_is_begun_anew_once(sides):
    ada, bot = sides
    await ada.write("one")
    await bot.sync()
    bot.store.put(f"{bot.own.space}/olm", ada.own.curve25519, [])  # the store went back in time
    answer = await bot.write("hi")
    await ada.sync()
    assert await ada.read(answer) == "hi"
    ada.store.put(f"{ada.own.space}/olm", bot.own.curve25519, [])
    ada.store.put(f"{ada.own.space}/mended", bot.own.curve25519, 0)
    ada.keys.boxes[("@ada:s", "ADA")] = [
        {"type": "m.room.encrypted", "sender": "@bot:s", "content": {"algorithm": "m.olm.v1.curve25519-aes-sha2"}
         | {"sender_key": bot.own.curve25519, "ciphertext": {ada.own.curve25519: {"type": 1, "body": "AAAA"}}}}
    ] * 2  # fmt: skip
    await ada.sync()
    assert len(bot.keys.boxes[("@bot:s", "BOT")]) == 1
    assert ada.store.get(f"{ada.own.space}/mended", bot.own.curve25519) > time.time() - 60
    await bot.sync()
    again = await ada.write("two", rules=RULES | {"rotation_period_msgs": 1})
    await bot.sync()
    assert await bot.read(again) == "two"


async def test_a_room_key_is_used_up(sides):
    ada, bot = sides
    used = [
        (await ada.write(str(n), rules=RULES | {"rotation_period_msgs": 2}))["content"]["session_id"] for n in range(5)
    ]
    assert [used.count(u) for u in dict.fromkeys(used)] == [2, 2, 1]
    kept = ada.store.get(f"{ada.own.space}/out", "!r")
    ada.store.put(f"{ada.own.space}/out", "!r", kept | {"made": time.time() - 8 * 86_400})
    assert (await ada.write("next week"))["content"]["session_id"] != used[-1]
    with pytest.raises(Unreadable, match="unknown here"):
        await ada.write("x", rules={"algorithm": "rot13"})
    assert bot.own.published


async def test_keys_that_change_under_a_device_are_not_believed(sides, tmp_path):
    ada, bot = sides
    await bot.write("first")
    (tmp_path / "eve").mkdir()
    eve = Side(bot.keys, tmp_path / "eve", "@ada:s", "ADA")  # the same name, other keys
    await eve.sync()
    bot.machine.devices.changed({"changed": ["@ada:s"]})
    event = await bot.write("second")
    assert [d.curve25519 for d in bot.machine.devices.of(["@ada:s"])] == [ada.own.curve25519]
    await eve.sync()
    with pytest.raises(NoKey):
        await eve.read(event)
    eve.store.close()


@pytest.mark.parametrize("change", [{"user_id": "@eve:s"}, {"algorithms": []}, {"signatures": {}}, {"keys": {}}])
async def test_a_device_that_is_not_what_it_says_gets_nothing(sides, change):
    ada, bot = sides
    ada.keys.devices["@ada:s"]["ADA"] = ada.own.device_keys | change
    await bot.write("hello")
    assert bot.machine.devices.of(["@ada:s"]) == []
    assert ("@ada:s", "ADA") not in bot.keys.boxes


async def test_a_one_time_key_of_somebody_else_is_not_used(sides):
    ada, bot = sides
    for key in ada.keys.once[("@ada:s", "ADA")].values():
        key["key"] = bot.own.curve25519
    await bot.write("hello")
    assert ("@ada:s", "ADA") not in bot.keys.boxes


async def test_what_cannot_be_asked_now_is_asked_again(sides):
    ada, bot = sides
    bot.keys.cut = True
    with pytest.raises(Cut):
        await bot.write("hello")
    bot.keys.cut, bot.keys.away = False, {"@ada:s"}
    await bot.write("to nobody yet")
    bot.keys.away = set()
    event = await bot.write("to ada")
    await ada.sync()
    assert await ada.read(event) == "to ada"
    bot.machine.devices.changed({"left": ["@ada:s", "@stranger:s"]})
    await bot.machine.devices.refresh(bot.machine._server, ["@ada:s"])


async def test_who_is_strict_reads_only_signed_devices(sides, tmp_path):
    ada, bot = sides
    event = await ada.write("hello")
    await bot.sync()
    strict = Machine(bot.own, bot.keys.of("@bot:s", "BOT"), LOG, only_owned=True)
    with pytest.raises(Unreadable, match="not signed"):
        await strict.decrypt("!r", event)
    devices = bot.store.get(f"{bot.own.space}/devices", "@ada:s")
    devices["devices"]["ADA"]["owned"] = True
    bot.store.put(f"{bot.own.space}/devices", "@ada:s", devices)
    assert (await strict.decrypt("!r", event)).content["body"] == "hello"


def test_what_was_sealed_with_another_key_is_not_opened(tmp_path):
    store = AccountStore(tmp_path / "x.db")
    OwnDevice(store, "D", bytes(32), "@a:s", "D")
    with pytest.raises(ValueError, match=r".+"):
        OwnDevice(store, "D", bytes(31) + b"x", "@a:s", "D")
    with suppress(RuntimeError), store.together():
        store.put("a", "b", 1)
        raise RuntimeError
    assert store.get("a", "b") is None
    store.close()


def test_a_file_that_was_changed_is_refused():
    secret_, file = sealed(b"hello" * 1000)
    assert opened(secret_, file) == b"hello" * 1000
    with pytest.raises(ValueError, match="not the one"):
        opened(secret_[:-1] + bytes([secret_[-1] ^ 1]), file)
    for change in ({"key": {}}, {"key": {"k": "AAAA"}}, {"iv": "AA"}, {"iv": "?"}, {"hashes": {}}, {"key": None}):
        with pytest.raises(ValueError, match=r".+"):
            opened(secret_, file | change)


def test_base64_and_signatures_of_any_kind():
    assert decoded(encoded(b"\xff\xfe", url=True)) == b"\xff\xfe"
    with pytest.raises(ValueError, match=r".+"):
        decoded("ä")
    for value in (None, {}, {"signatures": {"@a:s": {"k": "nonsense"}}}, {"signatures": []}):
        assert not is_signed(value, "@a:s", "k", "also nonsense")


def test_a_recovery_key_is_told_from_a_phrase():
    with pytest.raises(BadRecoveryKey):
        recovery_key_bytes("correct horse")
    with pytest.raises(BadRecoveryKey):
        recovery_key_bytes("EsTj 3yST y93F")
    phrase = {"algorithm": "m.pbkdf2", "salt": "salt", "iterations": 1000}
    assert len(recovery_key_bytes("correct horse", phrase)) == 32
    for wrong in ({"iterations": 0}, {"iterations": 10**9}, {"salt": 1}, {"bits": 128}):
        with pytest.raises(BadRecoveryKey):
            recovery_key_bytes("correct horse", phrase | wrong)
    box = {"iv": encoded(bytes(16)), "ciphertext": encoded(b"x"), "mac": encoded(bytes(32))}
    with pytest.raises(BadRecoveryKey, match="not the recovery key"):
        unseal(bytes(32), "name", box)
    with pytest.raises(BadRecoveryKey, match="cannot be read"):
        unseal(bytes(32), "name", {})
