"""Encrypted rooms, with matrix-nio as the other side: devices, keys that are late, signatures."""

import asyncio
import json
import secrets
from hashlib import sha256

import httpx2
import pytest
from Crypto.Cipher import AES
from Crypto.Hash import HMAC, SHA256
from Crypto.Protocol.KDF import HKDF
from matrix_people import Person
from matrix_stage import said, text_of

from hermes_core.errors import Undeliverable, UserError
from hermes_core.testing import FakeConsole
from hermes_core.types import Chat
from hermes_platform_matrix.e2ee.cross_signing import _ALPHABET, _key_object, _public, _signer
from hermes_platform_matrix.e2ee.signing import encoded, is_signed, signed

pytestmark = pytest.mark.real


def body_of(event: dict) -> str:
    return event["content"]["body"]


async def test_a_restart_keeps_the_device_and_its_keys(stage):
    ada = await stage.person()
    async with stage.listening() as ears:
        room = await stage.room(ears, ada, encrypted=True)
        device, key = ears.bot._connection.machine.own.device, ears.bot._connection.machine.own.ed25519
        await ears.bot.send(Chat(room), said("before"), "1")
    await ada.say(room, "with the same key")  # its room key was given to the bot before the restart
    async with stage.listening() as ears:
        assert await ears.texts(1) == ["with the same key"]
        own = ears.bot._connection.machine.own
        assert (own.device, own.ed25519) == (device, key)
        await ears.bot.send(Chat(room), said("after"), "2")
    await ada.quiet()
    assert [body_of(m) for m in ada.heard(stage.user, room)] == ["before", "after"]
    folder = stage.folder / "data"
    assert {p.name: oct(p.stat().st_mode)[-3:] for p in folder.glob("*.json")} == {"credentials.json": "600"}
    assert {oct(p.stat().st_mode)[-3:] for p in folder.glob("*.db")} == {"600"}


async def test_nothing_readable_reaches_the_homeserver(stage):
    ada = await stage.person()
    async with stage.listening() as ears:
        room = await stage.room(ears, ada, encrypted=True)
        sent = await ears.bot.send(Chat(room), said("**a secret**"), "1")
        await ears.bot.edit(sent, said("another secret"))
        events = stage.synapse.ask("GET", f"rooms/{room}/messages?dir=b&limit=50", ada.client.access_token)["chunk"]
    assert len([e for e in events if e["sender"] == stage.user and e["type"] == "m.room.encrypted"]) == 2
    assert "secret" not in json.dumps(events)
    await ada.quiet()
    assert [body_of(m) for m in ada.heard(stage.user, room)] == ["**a secret**", "* another secret"]


async def test_a_new_device_reads_what_comes_after_it(stage):
    ada = await stage.person()
    async with stage.listening() as ears:
        room = await stage.room(ears, ada, encrypted=True)
        await ears.bot.send(Chat(room), said("one"), "1")
        phone = Person(stage.synapse.url, ada.user, stage.folder / "phone")
        await phone.login()
        await ada.say(room, "I have a phone now")
        await ears.next()
        await ears.bot.send(Chat(room), said("two"), "2")
        await phone.quiet()
        assert "two" in [body_of(m) for m in phone.heard(stage.user, room)]
        await phone.close()


async def test_who_left_gets_no_more_keys(stage):
    ada, ben = await stage.person("ada"), await stage.person("ben")
    async with stage.listening() as ears:
        room = await stage.room(ears, ada, ben, encrypted=True, direct=False)
        await ears.bot.send(Chat(room), said("for both"), "1")
        await ben.quiet()
        await ada.client.room_kick(room, ben.user)
        await ada.say(room, "he is gone", **{"m.mentions": {"user_ids": [stage.user]}})
        await ears.next()
        await ears.bot.send(Chat(room), said("for one"), "2")
        events = stage.synapse.ask("GET", f"rooms/{room}/messages?dir=b&limit=50", ada.client.access_token)["chunk"]
        used = {
            e["content"]["session_id"] for e in events if e["sender"] == stage.user and "session_id" in e["content"]
        }
        await ben.quiet()
    known = {s for per in ben.client.olm.inbound_group_store._entries.get(room, {}).values() for s in per}
    assert len(used) == 2
    assert len(used & known) == 1


async def test_a_key_that_is_late_is_asked_for_told_of_once_and_used(stage):
    ada = await stage.person()
    async with stage.listening() as ears:
        room = await stage.room(ears, ada, encrypted=True)
        ada.client.invalidate_outbound_session(room)
        machine, late = ears.bot._connection.machine, []
        ears.bot._receiver.key_seconds = 0.0
        taken = machine.take

        async def without_keys(sync):
            late.extend(sync.get("to_device", {}).pop("events", ()))
            return await taken(sync)

        machine.take = without_keys
        first = await ada.say(room, "can you read this?")
        second = await ada.say(room, "and this?")
        hearing = asyncio.ensure_future(ears.next())
        await ada.until(lambda: ada.heard(stage.user, room))
        await ada.quiet()
        assert [m["content"]["msgtype"] for m in ada.heard(stage.user, room)] == ["m.notice"]
        assert "cannot decrypt" in body_of(ada.heard(stage.user, room)[0])
        assert not hearing.done()
        hearing.cancel()
        await asyncio.gather(hearing, return_exceptions=True)
    async with stage.listening() as ears:  # what waits, waits over a restart
        machine = ears.bot._connection.machine
        taken, done = machine.take, []

        async def with_keys(sync):
            if not done:
                done.append(sync.setdefault("to_device", {}).setdefault("events", []).extend(late))
            return await taken(sync)

        machine.take = with_keys
        await ada.say(room, "a third")
        heard = [await ears.next() for _ in range(3)]
    assert {(e.event_id, text_of(e.message)) for e in heard} >= {(first, "can you read this?"), (second, "and this?")}


async def test_without_encryption_who_writes_is_told(stage):
    ada = await stage.person()
    async with stage.listening(encryption=False) as ears:
        hearing = asyncio.ensure_future(ears.next(seconds=60))
        room = await ada.room(stage.user, encrypted=True)
        await ada.joined(room, stage.user)
        await ada.say(room, "can you read this?")
        await ada.until(lambda: ada.heard(stage.user, room))
        with pytest.raises(Undeliverable, match="switched off"):
            await ears.bot.send(Chat(room), said("in the open"), "1")
        hearing.cancel()
        await asyncio.gather(hearing, return_exceptions=True)
    told = [body_of(m) for m in ada.heard(stage.user, room)]
    assert told == ["I cannot read a message here: encryption is switched off here."]


async def test_an_account_without_an_identity_gets_one_and_signs_its_device(stage):
    async with stage.listening() as ears:
        own = ears.bot._connection.machine.own
        token = ears.bot._connection.server.token
        keys = stage.synapse.ask("POST", "keys/query", token, {"device_keys": {stage.user: []}})
    master, own_key = keys["master_keys"][stage.user], keys["self_signing_keys"][stage.user]
    (root,), (vouching,) = master["keys"].values(), own_key["keys"].values()
    assert is_signed(own_key, stage.user, f"ed25519:{root}", root)
    assert is_signed(keys["device_keys"][stage.user][own.device], stage.user, f"ed25519:{vouching}", vouching)
    assert own.store is not None
    async with stage.listening() as ears:  # a second start leaves it as it is
        again = stage.synapse.ask("POST", "keys/query", token, {"device_keys": {stage.user: []}})
    assert again["master_keys"] == keys["master_keys"]


def identity(stage, recovery: bytes) -> str:
    """What another client leaves behind: an identity, its keys in secret storage. Gives the self-signing key."""
    token = stage.synapse.login(stage.user)["access_token"]
    seeds = {usage: secrets.token_bytes(32) for usage in ("master", "self_signing", "user_signing")}
    by = f"ed25519:{_public(seeds['master'])}"
    objects = {
        u: signed(_key_object(stage.user, u, s), stage.user, by, _signer(seeds["master"])) for u, s in seeds.items()
    }
    body = {f"{usage}_key": value for usage, value in objects.items()}
    url = f"{stage.synapse.url}/_matrix/client/v3/keys/device_signing/upload"
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx2.post(url, json=body, headers=headers)
    if answer.status_code == 401:
        auth = {"type": "m.login.password", "identifier": {"type": "m.id.user", "user": stage.user}, "password": "pw"}
        answer = httpx2.post(url, json={**body, "auth": auth | {"session": answer.json()["session"]}}, headers=headers)
    assert answer.status_code == 200, answer.text
    name = "m.cross_signing.self_signing"
    sealing, proving = HKDF(recovery, 32, bytes(32), SHA256, num_keys=2, context=name.encode())
    start = secrets.token_bytes(8) + bytes(8)
    sealed = AES.new(sealing, AES.MODE_CTR, nonce=b"", initial_value=start).encrypt(
        encoded(seeds["self_signing"]).encode()
    )
    mac = HMAC.new(proving, sealed, SHA256).digest()
    box = {"iv": encoded(start), "ciphertext": encoded(sealed), "mac": encoded(mac)}
    where = f"user/{stage.user}/account_data"
    stage.synapse.ask("PUT", f"{where}/m.secret_storage.default_key", token, {"key": "mine"})
    kind = {"algorithm": "m.secret_storage.v1.aes-hmac-sha2"}
    stage.synapse.ask("PUT", f"{where}/m.secret_storage.key.mine", token, kind)
    stage.synapse.ask("PUT", f"{where}/{name}", token, {"encrypted": {"mine": box}})
    return _public(seeds["self_signing"])


def as_people_write_it(key: bytes) -> str:
    data = b"\x8b\x01" + key
    parity = 0
    for byte in data:
        parity ^= byte
    number, text = int.from_bytes(data + bytes([parity]), "big"), ""
    while number:
        number, rest = divmod(number, 58)
        text = _ALPHABET[rest] + text
    return " ".join(text[i : i + 4] for i in range(0, len(text), 4))


async def test_a_recovery_key_signs_the_device(stage, caplog):
    recovery = sha256(b"some key").digest()
    vouching = identity(stage, recovery)
    async with stage.listening() as ears:  # without the key it works, and says what is missing
        own = ears.bot._connection.machine.own
        assert "no recovery key" in own.store.get(own.device, "unsigned")
    bot = stage.bot()
    resolved = bot._resolve
    bot._resolve = lambda value: as_people_write_it(recovery) if "RECOVERY" in value else resolved(value)
    await bot.open(FakeConsole())
    own, token = bot._connection.machine.own, bot._connection.server.token
    keys = stage.synapse.ask("POST", "keys/query", token, {"device_keys": {stage.user: []}})
    await bot.close()
    assert is_signed(keys["device_keys"][stage.user][own.device], stage.user, f"ed25519:{vouching}", vouching)
    assert as_people_write_it(recovery) not in caplog.text


async def test_devices_that_nobody_signed_can_be_left_out(stage):
    ada = await stage.person()  # matrix-nio signs no devices
    async with stage.listening() as ears:
        room = await stage.room(ears, ada, encrypted=True)
    async with stage.listening(exclude_unsigned_devices=True) as ears:
        await ears.bot.send(Chat(room), said("only for signed ones"), "1")
        await ada.quiet()
        assert ada.heard(stage.user, room) == []


async def test_a_store_that_is_lost_is_not_papered_over(stage):
    async with stage.listening() as ears:
        device = ears.bot._connection.machine.own.device
    token = stage.synapse.login(stage.user, device)["access_token"]
    lost = stage.bot(access_token=token)
    lost._folder = stage.folder / "elsewhere"
    lost._resolve = lambda value: value if value == token else ""
    with pytest.raises(UserError, match="other encryption keys"):
        await lost.open(FakeConsole())
