"""The vault's file: sealed, whole, and clear about what is wrong with it."""

import os
import stat

import keyring
import pytest
from attrs import evolve
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

from hermes_core.errors import UserError
from hermes_tool_vault.items import Item, code, origin_of, read_name, totp_fields
from hermes_tool_vault.sealed import Vault

SECRET = "Tr0ub4dor&3-kX9!qZ"


def put(name, secret=SECRET):
    return lambda things: things.update({name: Item(name=name, kind="password", fields={"secret": secret})})


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "vault"


class Memory(KeyringBackend):
    """A keyring that lasts as long as the test."""

    priority = 1
    locked = False

    def __init__(self):
        self.kept = {}

    def get_password(self, service, username):
        if self.locked:
            raise KeyringLocked("it is locked")
        return self.kept.get((service, username))

    def set_password(self, service, username, password):
        self.kept[service, username] = password

    def delete_password(self, service, username):
        del self.kept[service, username]


@pytest.fixture
def ring():
    before = keyring.get_keyring()
    made = Memory()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


def test_what_is_kept_is_there_in_another_process_and_sealed(folder):
    Vault(folder, "file").change(put("token"))
    assert Vault(folder, "file").get("token").value() == SECRET
    for path in folder.iterdir():
        assert SECRET.encode() not in path.read_bytes()
        assert b"token" not in path.read_bytes()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_each_write_has_a_nonce_of_its_own(folder):
    vault, seen = Vault(folder, "file"), set()
    for _ in range(5):
        vault.change(put("token"))
        seen.add((folder / "vault").read_bytes().partition(b"\n")[2][:12])
    assert len(seen) == 5


def test_without_a_vault_there_is_nothing_and_nothing_is_made(folder):
    vault = Vault(folder, "file")
    assert vault.read() == {}
    with pytest.raises(UserError, match="It is empty"):
        vault.get("token")
    assert not folder.exists()


@pytest.mark.parametrize("at", [0, 5, 14, 20, 36, 40, 60, -1])
def test_a_file_that_was_changed_is_one_clear_error(folder, at):
    Vault(folder, "file").change(put("token"))
    path = folder / "vault"
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    with pytest.raises(UserError) as refused:
        Vault(folder, "file").read()
    assert str(path) in str(refused.value)
    assert refused.value.hint
    before = path.read_bytes()
    with pytest.raises(UserError):
        Vault(folder, "file").change(put("other"))
    assert path.read_bytes() == before


@pytest.mark.parametrize("size", [0, 10, 33, 40, 50, 90])
def test_a_file_that_was_cut_off_is_one_clear_error(folder, size):
    Vault(folder, "file").change(put("token"))
    os.truncate(folder / "vault", size)
    with pytest.raises(UserError, match="vault"):
        Vault(folder, "file").read()


@pytest.mark.parametrize("key", [None, b"", b"not base64!", b"c2hvcnQ=", b"A" * 43 + b"="])
def test_a_wrong_key_is_one_clear_error_and_no_new_one_is_made(folder, key):
    Vault(folder, "file").change(put("token"))
    path = folder / "key"
    path.unlink()
    if key is not None:
        path.write_bytes(key)
    for _ in range(2):
        with pytest.raises(UserError, match="key"):
            Vault(folder, "file").change(put("other"))
    assert path.exists() == (key is not None)


def test_a_newer_format_is_left_alone(folder):
    Vault(folder, "file").change(put("token"))
    path = folder / "vault"
    path.write_bytes(path.read_bytes().replace(b"hermes-vault 1", b"hermes-vault 2"))
    with pytest.raises(UserError, match="newer version"):
        Vault(folder, "file").read()


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("call", ["fdopen", "fsync", "replace", "open"])
def test_a_death_at_any_point_leaves_the_old_vault_or_the_new_one(folder, monkeypatch, call, first):
    """The process is killed at each call that changes the disk; the next one finds a vault that opens."""
    if not first:
        Vault(folder, "file").change(put("old"))
    for number in range(8):
        if (child := os.fork()) == 0:
            left = iter(range(number))
            where = __import__("pathlib").Path if call == "replace" else os
            real = getattr(where, call)

            def dying(*words, **more):
                if next(left, None) is None:  # noqa: B023
                    os._exit(9)
                return real(*words, **more)  # noqa: B023

            setattr(where, call, dying)
            try:
                Vault(folder, "file").change(put("new"))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        found = set(Vault(folder, "file").read())
        assert found in ([{"new"}, set()] if first else [{"old"}, {"old", "new"}])
    Vault(folder, "file").change(put("after"))
    assert {"after", "new"} <= set(Vault(folder, "file").read())


def test_two_processes_lose_nothing(folder):
    children = []
    for one in range(4):
        if (child := os.fork()) == 0:
            try:
                for number in range(5):
                    Vault(folder, "file").change(put(f"n{one}-{number}"))
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    assert len(Vault(folder, "file").read()) == 20


def test_what_another_process_wrote_is_seen(folder):
    one, two = Vault(folder, "file"), Vault(folder, "file")
    one.change(put("token"))
    assert two.get("token").value() == SECRET
    one.change(put("token", "another-secret"))
    assert two.get("token").value() == "another-secret"


def test_the_key_is_in_the_keyring_where_there_is_one(folder, ring):
    Vault(folder).change(put("token"))
    assert not (folder / "key").exists()
    assert len(ring.kept) == 1
    assert Vault(folder, "file").get("token").value() == SECRET, "the vault says where its key is"
    ring.locked = True
    with pytest.raises(UserError, match="it is locked"):
        Vault(folder).read()


def test_without_a_keyring_the_key_is_a_file_and_one_that_is_wanted_is_missed(folder):
    Vault(folder).change(put("token"))
    assert (folder / "key").exists()
    with pytest.raises(UserError, match="no keyring"):
        Vault(folder / "second", "keyring").change(put("token"))


# RFC 6238, appendix B: the seed in ASCII, the moment, the code of eight digits.
@pytest.mark.parametrize(
    ("algorithm", "seed", "moment", "wanted"),
    [
        ("SHA1", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 59, "94287082"),
        ("SHA1", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 1111111109, "07081804"),
        ("SHA1", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", 20000000000, "65353130"),
        ("SHA256", "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQGEZA====", 59, "46119246"),
        (
            "SHA512",
            "GEZDGNBVGY3TQOJQ" * 6 + "GEZDGNA=",
            59,
            "90693936",
        ),
    ],
)
def test_codes_are_those_of_the_standard(algorithm, seed, moment, wanted):
    address = f"otpauth://totp/Bank:ann?secret={seed.rstrip('=')}&algorithm={algorithm}&digits=8&issuer=Bank"
    assert code(totp_fields(address), moment) == wanted


@pytest.mark.parametrize(
    "text", ["", "not base32 1890", "otpauth://hotp/x?secret=GEZDGNBV", "otpauth://totp/x?secret=GEZDGNBV&digits=9"]
)
def test_what_gives_no_codes_is_refused(text):
    with pytest.raises(UserError):
        totp_fields(text)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("https://Example.COM", "https://example.com:443"),
        ("https://example.com:8443/path?x", "https://example.com:8443"),
        ("http://127.0.0.1:80", "http://127.0.0.1:80"),
        ("https://[::1]:5", "https://[::1]:5"),
        ("https://bücher.example", "https://xn--bcher-kva.example:443"),
    ],
)
def test_origins(given, wanted):
    assert origin_of(given) == wanted


@pytest.mark.parametrize(
    "given", ["", "example.com", "ftp://x", "https://", "https://a@b", "https://*.x", "https://x:y"]
)
def test_what_is_no_origin_is_refused(given):
    with pytest.raises(UserError, match="no origin"):
        origin_of(given)


@pytest.mark.parametrize("name", ["", "A", "a b", "../x", "a.b", "-a", "a" * 65, "a}}"])
def test_names(name):
    with pytest.raises(UserError):
        read_name(name)


def test_an_item_does_not_print_itself():
    item = Item(name="token", kind="password", fields={"secret": SECRET})
    assert SECRET not in repr(item)
    assert SECRET not in str(evolve(item, name="other"))
