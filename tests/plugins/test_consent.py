"""What may run: asked once, pinned to who asked for what."""

import json
import subprocess
import sys

import pytest

from hermes_core.errors import PluginError, UserError
from hermes_core.plugins.consent import Consent, asked, disclosed, enforced
from hermes_core.plugins.index import Index, load_index

SMALL = {"permissions": {"secrets": ["A_TOKEN"]}, "contributes": {"tools": ["one"]}}
LARGE = {
    "permissions": {"secrets": ["A_TOKEN", "B_TOKEN"], "processes": ["chromium"], "kernel": ["messages.send"]},
    "contributes": {"tools": ["one", "two"]},
    "hooks": {"use": ["admit"]},
}


@pytest.fixture
def look(site):
    return lambda: load_index(site.cache, site.user)


def change(site, label, tables):
    folder = site.packages / ("hermes_" + label.replace("/", "_"))
    (folder / "hermes-plugin.toml").write_text(site.text(label, tables))


def test_installed_is_not_enabled(site, look):
    site.package("tool/board")
    consent = Consent(site.lock)
    state = consent.state(look().get("tool/board"))
    assert state == "never_asked"
    assert not state.usable


def test_what_was_enabled_stays_enabled_at_the_next_start(site, look):
    site.package("tool/board", tables=SMALL)
    Consent(site.lock).enable(look().get("tool/board"))
    assert Consent(site.lock).state(look().get("tool/board")) == "enabled"
    row = json.loads(site.lock.read_text())["plugins"]["tool/board"]
    assert row["owner"] == "hermes-tool-board"
    assert row["granted"] == ["secrets:A_TOKEN", "tools:one"]
    assert site.lock.stat().st_mode & 0o777 == 0o600


def test_what_becomes_public_is_asked_about_and_shown(site, look):
    site.package("tool/board", tables={"contributes": {"routes": ["page", "hook"]}})
    Consent(site.lock).enable(look().get("tool/board"))
    public = {"permissions": {"public": ["hook"]}, "contributes": {"routes": ["page", "hook"]}}
    change(site, "tool/board", public)
    found = look().get("tool/board")
    words = "answer anybody on the network, without a key, at hook"
    assert Consent(site.lock).state(found).difference == (words,)
    assert words in enforced(found.manifest)


def test_routes_of_two_plugins_may_have_one_name(site, look):
    for label in ("tool/board", "tool/card"):
        site.package(label, tables={"contributes": {"routes": ["page"]}})
    assert not look().faults


def test_growth_asks_again_and_says_what_is_new(site, look):
    site.package("tool/board", tables=SMALL)
    Consent(site.lock).enable(look().get("tool/board"))
    change(site, "tool/board", LARGE)
    index, consent = look(), Consent(site.lock)
    state = consent.state(index.get("tool/board"))
    assert state == "changed"
    new = ("read the secret B_TOKEN", "send messages as you", "starts chromium", "take part in admit", "add tools two")
    assert state.difference == new
    (fault,) = consent.faults(index)
    assert (fault.phase, fault.hint) == ("consent", "hermes plugins enable tool/board")
    assert "starts chromium" in fault.error
    consent.enable(index.get("tool/board"))
    assert consent.state(index.get("tool/board")) == "enabled"


def test_shrinking_is_silent(site, look):
    site.package("tool/board", tables=LARGE)
    Consent(site.lock).enable(look().get("tool/board"))
    change(site, "tool/board", SMALL)
    assert Consent(site.lock).state(look().get("tool/board")) == "enabled"


def test_another_distribution_does_not_inherit_the_name(site, look):
    site.package("tool/board", distribution="zeta-board")
    Consent(site.lock).enable(look().get("tool/board"))
    site.package("tool/board", distribution="alpha-board")
    consent = Consent(site.lock)
    index = load_index(site.cache, site.user)
    assert index.get("tool/board").distribution == "alpha-board"
    assert consent.state(index.get("tool/board")) == "foreign"
    kept = load_index(site.cache, site.user, first=consent.preferred())
    assert consent.state(kept.get("tool/board")) == "enabled"


def test_a_file_is_pinned_to_its_path(site, look):
    path = site.file("tool/note")
    Consent(site.lock).enable(look().get("tool/note"))
    assert Consent(site.lock).state(look().get("tool/note")) == "enabled"
    path.rename(path.with_name("other.py"))
    assert Consent(site.lock).state(look().get("tool/note")) == "foreign"


def test_our_own_are_not_asked_about_and_can_be_disabled_unless_required(site, look):
    site.package("tool/ours", distribution="acme-tool-ours")
    site.package("tool/policy", distribution="acme-tool-policy")
    index = look()
    consent = Consent(site.lock, builtin=["acme-*"], required=["acme-tool-policy"])
    assert consent.state(index.get("tool/ours")) == "builtin"
    consent.disable(index.get("tool/ours"))
    assert consent.state(index.get("tool/ours")) == "disabled"
    consent.enable(index.get("tool/ours"))
    assert consent.state(index.get("tool/ours")) == "builtin"
    assert consent.state(index.get("tool/policy")) == "builtin"
    with pytest.raises(UserError, match="cannot be disabled"):
        consent.disable(index.get("tool/policy"))


def test_a_file_is_never_one_of_our_own(site, look):
    site.file("tool/note")
    assert Consent(site.lock, builtin=["*"]).state(look().get("tool/note")) == "never_asked"


def test_safe_mode_keeps_only_our_own(site, look):
    site.package("tool/ours")
    site.package("tool/board", distribution="board")
    Consent(site.lock).enable(look().get("tool/board"))
    consent = Consent(site.lock, builtin=["hermes-tool-ours"], safe_mode=True)
    assert consent.state(look().get("tool/board")).reason == "safe mode"
    assert consent.state(look().get("tool/ours")) == "builtin"


def test_a_program_may_bound_what_can_be_enabled(site, look):
    site.package("tool/board")
    consent = Consent(site.lock, allowed=["acme-*"])
    with pytest.raises(UserError, match="does not allow hermes-tool-board"):
        consent.enable(look().get("tool/board"))
    assert not consent.state(look().get("tool/board")).usable
    assert not site.lock.exists()


def test_what_cannot_be_used_cannot_be_enabled(site, look):
    site.package("tool/future", api=9)
    with pytest.raises(PluginError, match="needs a newer hermes-core"):
        Consent(site.lock).enable(look().get("tool/future"))
    assert not site.lock.exists()


def test_enabled_but_gone_says_how_to_get_it_back(site, look):
    site.package("tool/board")
    consent = Consent(site.lock)
    consent.enable(look().get("tool/board"))
    nothing = Index(())
    assert consent.faults(nothing)[0].hint == "hermes plugins install hermes-tool-board"
    consent.remember_request("hermes-tool-board", {"requirement": "hermes-tool-board>=1"})
    (fault,) = Consent(site.lock).faults(nothing)
    assert (fault.plugin, fault.phase, fault.hint) == ("tool/board", "discover", "hermes plugins sync")
    assert Consent(site.lock).wanted() == {"hermes-tool-board": {"requirement": "hermes-tool-board>=1"}}
    consent.forget("hermes-tool-board")
    assert Consent(site.lock).faults(nothing) == []
    assert Consent(site.lock).wanted() == {}


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"plugins": {"a": 1}}', '{"plugins": {"tool/a": {}}}', '{"plugins": 1}']
)
def test_a_broken_lock_file_enables_nothing_and_is_not_overwritten(site, look, content):
    site.package("tool/board")
    site.lock.write_text(content)
    consent = Consent(site.lock)
    assert consent.state(look().get("tool/board")) == "never_asked"
    assert consent.faults(look())[0].plugin == "plugins.lock"
    with pytest.raises(UserError, match="nothing was changed"):
        consent.enable(look().get("tool/board"))
    assert site.lock.read_text() == content


def test_two_processes_do_not_lose_each_others_answers(site, look):
    site.package("tool/a")
    site.package("tool/b")
    first, second = Consent(site.lock), Consent(site.lock)
    first.enable(look().get("tool/a"))
    second.enable(look().get("tool/b"))
    assert set(json.loads(site.lock.read_text())["plugins"]) == {"tool/a", "tool/b"}


def test_what_is_enforced_and_what_is_only_disclosed_are_shown_apart(site, look):
    site.package("tool/board", tables=LARGE)
    site.package("tool/plain")
    manifest = look().get("tool/board").manifest
    assert enforced(manifest)[-2:] == ["send messages as you", "take part in admit"]
    assert disclosed(manifest) == ["connects to nothing", "starts chromium", "opens no files of yours"]
    assert asked(look().get("tool/plain").manifest) == {}


def test_asking_what_is_enabled_imports_neither_attrs_nor_pluggy(site):
    site.package("tool/board")
    code = (
        "import sys; from pathlib import Path; from hermes_core.plugins.index import load_index;"
        "from hermes_core.plugins.consent import Consent;"
        f"found = load_index(Path({str(site.cache)!r}), None); consent = Consent(Path({str(site.lock)!r}));"
        "print([str(consent.state(p)) for p in found.plugins], {'attrs', 'attr', 'pluggy'} & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == "['never_asked'] set()"


def test_where_the_lock_file_cannot_be_written_nothing_is_granted(site, look):
    site.package("tool/board")
    board = look().get("tool/board")
    (site.lock.parent / "a file").write_text("")
    consent = Consent(site.lock.parent / "a file" / "plugins.lock")
    with pytest.raises(UserError, match=r"Cannot write .*a file stands where a folder is needed"):
        consent.enable(board)
    assert consent.state(board) == "never_asked"


def test_every_permission_is_said_in_words() -> None:
    from hermes_core.context import KERNEL_PERMISSIONS
    from hermes_core.plugins import consent

    assert set(consent.ENFORCED) >= set(KERNEL_PERMISSIONS)
