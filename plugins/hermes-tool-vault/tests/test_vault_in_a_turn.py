"""Whole turns: what the store, the log and the model hold afterwards; and who may use the commands."""

import logging

import pytest
from click.testing import CliRunner

from hermes_core.errors import UserError
from hermes_core.testing import Call
from hermes_core.types import Verdict
from hermes_tool_vault.commands import commands
from hermes_tool_vault.items import Binding, Item
from hermes_tool_vault.sealed import Vault

SECRET = "Tr0ub4dor&3-kX9!qZ"
HANDLE = "{{vault:token}}"


@pytest.fixture
def play(hermes, scripted, tmp_path, program):
    """Let a model make calls in a session of a home with a vault; what it was told at last, and who was asked what."""
    asked = []

    async def run(*calls, mode="ask", says="allow", settings=(), binding=None):
        provider = scripted([*calls], "done")
        hermes.tmp_plugin(provider)
        hermes.tmp_plugin("hermes_tool_vault")
        hermes.tmp_plugin("hermes_tool_files")
        hermes.configure({"tools.vault.key": "file", "policy.mode": mode, **dict(settings)})
        vault = Vault(hermes.context("hermes_tool_vault").paths.data, "file")
        found = binding or program('echo "$TOKEN" | tee kept.txt; echo "$TOKEN" | rev; env')
        item = Item(name="token", kind="password", fields={"secret": SECRET, "user": ""}, bindings=(found,))
        vault.change(lambda things: things.update(token=item))

        async def ask(question):
            asked.append(question)
            return Verdict(outcome="allow" if says == "allow" else "deny", choice="once", by="me")

        events = [event async for event in hermes.runtime.turns.run("Go.", ask=ask if says else None)]
        told = "".join(part.text for part in provider.requests[-1].messages[-1].parts[0].parts)
        return told, asked, events

    return run


async def test_nothing_of_it_is_in_the_store_the_log_or_what_the_model_was_told(play, hermes, caplog):
    caplog.set_level(logging.DEBUG)
    call = Call("vault_run", {"command": "tool", "environment": {"TOKEN": HANDLE}})
    told, asked, events = await play(call)
    assert "⟦secret" in told
    assert SECRET in (hermes.workspace.folder / "kept.txt").read_text()
    assert len(asked) == 1, "the yes to the policy counts"
    assert HANDLE in asked[0].subject
    await hermes.close()
    seen = [told, repr(events), repr(asked), caplog.text]
    files = [path for path in hermes.workspace.folder.with_name("home").rglob("*") if path.is_file()]
    assert any(HANDLE.encode() in path.read_bytes() for path in files), "the store keeps the handle"
    for way in (SECRET, SECRET[::-1]):
        assert not [text for text in seen if way in text]
        assert not [path for path in files if way.encode() in path.read_bytes()]


async def test_with_the_guard_and_a_real_place_it_is_the_same(play, hermes):
    hermes.tmp_plugin("hermes_tool_guard")
    hermes.tmp_plugin("hermes_backend_local")
    call = Call("vault_run", {"command": "tool --all 'two words'", "environment": {"TOKEN": HANDLE}, "stdin": HANDLE})
    shown = [str(hermes.workspace.folder.with_name("bin"))]
    folder = str(hermes.workspace.folder)
    settings = {"terminal.backend": "local", "terminal.cwd": folder, "backends.local.readable": shown}
    told, asked, _ = await play(call, settings=settings.items())
    assert "⟦secret" in told
    assert SECRET not in told
    assert SECRET[::-1] not in told
    assert len(asked) == 1


async def test_another_tool_that_reads_what_the_program_wrote_shows_no_value(play, hermes):
    (hermes.workspace.folder / "kept.txt").write_text(f"it is {SECRET}\n")
    told, _, _ = await play(Call("read_file", {"path": "kept.txt"}))
    assert "it is" in told
    assert SECRET not in told


@pytest.mark.parametrize("name", ["vault", "key"])
async def test_no_tool_reads_the_vault_or_its_key(play, hermes, name):
    path = hermes.workspace.folder.with_name("home") / "data" / "tool-vault" / name
    told, _, _ = await play(Call("read_file", {"path": str(path)}), mode="off")
    assert "never allowed" in told


@pytest.mark.parametrize("mode", ["ask", "smart", "off"])
async def test_nobody_there_is_a_no_in_every_mode(play, hermes, mode):
    call = Call("vault_run", {"command": "tool", "environment": {"TOKEN": HANDLE}})
    told, _, _ = await play(call, mode=mode, says="")
    assert "not run" in told or "Not done" in told
    assert not (hermes.workspace.folder / "kept.txt").exists()


async def test_in_mode_off_the_person_is_still_asked(play, hermes):
    call = Call("vault_run", {"command": "tool", "environment": {"TOKEN": HANDLE}})
    _, asked, _ = await play(call, mode="off")
    assert "`token`" in asked[0].risk
    assert (hermes.workspace.folder / "kept.txt").exists()


async def test_a_request_is_asked_about_once_and_its_answer_comes_from_outside(play, site):
    call = Call("vault_fetch", {"url": f"{site.url}/me", "headers": {"Authorization": f"Bearer {HANDLE}"}})
    site.answer = lambda headers, body: (200, {}, b"hello " + headers["Authorization"].encode())
    told, asked, _ = await play(
        call, settings={"security.allow_private_urls": True}.items(), binding=Binding(kind="header", target=site.url)
    )
    assert len(asked) == 1
    assert "hello Bearer ⟦secret⟧" in told
    assert "untrusted" in told


@pytest.fixture
def shell(ctx):
    """Run a command of the vault as a person would, with what is on its standard input."""
    made = {command.name.removeprefix("vault "): command.build() for command in commands(ctx)}

    def run(name, *words, stdin=""):
        done = CliRunner().invoke(made[name], [*words], input=stdin)
        if isinstance(done.exception, UserError):
            raise done.exception
        assert done.exception is None, done.output
        return done.output

    return run


def test_a_thing_is_kept_bound_listed_and_forgotten(shell, vault, program):
    assert "bound to nothing" in shell("add", "token", "--user", "ann", "-", stdin=f"{SECRET}\n")
    assert vault.get("token").value() == SECRET
    said = shell("bind", "token", "--command", program("env").path, "--header", "api.example.com:8443")
    assert "https://api.example.com:8443" in said
    assert [binding.kind for binding in vault.get("token").bindings] == ["header", "command"]
    shell("bind", "token", "--header", "api.example.com:8443", "--unattended")
    assert [binding.unattended for binding in vault.get("token").bindings] == [False, True]
    shell("add", "token", "--replace", "-", stdin="another-secret")
    assert vault.get("token").value() == "another-secret"
    assert len(vault.get("token").bindings) == 2
    for listed in (shell("list"), shell("list", "--json"), said):
        assert "token" in listed
        assert SECRET not in listed
    assert "nothing yet" in shell("unbind", "token")
    shell("remove", "token")
    assert not vault.read()
    assert "empty" in shell("list")


@pytest.mark.parametrize(
    ("words", "stdin", "why"),
    [
        (["add", "token", SECRET], "", "history"),
        (["add", "token"], SECRET, "Nobody can be asked"),
        (["add", "token", "-"], "short", "cannot be hidden"),
        (["add", "Token", "-"], SECRET, "no name"),
        (["add", "visa", "--kind", "card", "-"], "4111111111111112", "do not add up"),
        (["add", "visa", "--kind", "card", "-"], "", "do not add up"),
        (["add", "bank", "--kind", "totp", "-"], "!", "base32"),
        (["add", "known", "-"], SECRET, "already"),
        (["show", "known"], "", "at a terminal only"),
        (["show", "unknown"], "", "nothing named"),
        (["bind", "known"], "", "Say where"),
        (["bind", "known", "--origin", "example.com"], "", "no origin"),
        (["bind", "known", "--command", "no-such-program"], "", "no program"),
        *((["bind", "known", "--command", one], "", "whatever it is told") for one in ("sh", "python3", "env", "cat")),
        (["bind", "unknown", "--origin", "https://x.example"], "", "nothing named"),
        (["unbind", "unknown"], "", "nothing named"),
        (["remove", "unknown"], "", "nothing named"),
    ],
)
def test_what_a_person_is_told_when_it_does_not_work(shell, keep, vault, words, stdin, why):
    keep("known")
    with pytest.raises(UserError, match=why):
        shell(*words, stdin=stdin)
    assert set(vault.read()) == {"known"}
    assert not vault.get("known").bindings


def test_a_link_to_a_shell_is_a_shell(shell, keep, tmp_path):
    keep("known")
    link = tmp_path / "harmless"
    link.symlink_to("/bin/sh")
    with pytest.raises(UserError, match="whatever it is told"):
        shell("bind", "known", "--command", str(link))
    assert "harmless" in shell("bind", "known", "--command", str(link), "--anyway")


def test_a_card_and_a_key_of_codes_are_kept(shell, vault):
    shell("add", "visa", "--kind", "card", "-", stdin="4111 1111 1111 1111\n12/31\n987\nAnn Example\n")
    assert vault.get("visa").value("number") == "4111111111111111"
    assert vault.get("visa").value("cvc") == "987"
    shell("add", "bank", "--kind", "totp", "-", stdin="otpauth://totp/Bank?secret=GEZDGNBVGY3TQOJQ&digits=8\n")
    assert len(vault.get("bank").value()) == 8
