"""A login in a whole turn: the vault fills the browser that another plugin keeps, and the store holds the handle."""

import logging

import pytest

from hermes_core.testing import Call, ScriptedProvider
from hermes_core.types import Returned, Verdict
from hermes_tool_vault.items import Binding, Item, origin_of
from hermes_tool_vault.sealed import Vault

from .test_in_a_turn_real import ref, text

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]

SECRET = "Tr0ub4dor&3-kX9!qZ"
WORD = "{{vault:shop}}"


@pytest.mark.parametrize("mode", ["ask", "off"])
async def test_the_person_is_asked_once_with_the_site_and_nothing_keeps_the_value(hermes, tmp_path, site, caplog, mode):
    caplog.set_level(logging.DEBUG)
    place, asked = tmp_path / "place", []
    place.mkdir()
    site.got.clear()
    steps = (
        Call("browser_navigate", {"url": f"{site.url}/echoes"}),
        lambda request: Call("browser_type", {"ref": ref(request, 'textbox "Password"'), "text": WORD}),
        Call("browser_snapshot", {}),
        Call("browser_console", {}),
    )
    hermes.tmp_plugin(ScriptedProvider([*steps, "done"]))
    hermes.tmp_plugin("hermes_tool_browser")
    hermes.tmp_plugin("hermes_tool_vault")
    hermes.configure({"terminal.cwd": str(place), "security.allow_private_urls": True, "policy.mode": mode})
    hermes.configure({"tools.vault.key": "file"})
    vault = Vault(hermes.context("hermes_tool_vault").paths.data, "file")
    bound = (Binding(kind="origin", target=origin_of(site.url)),)
    item = Item(name="shop", kind="password", fields={"secret": SECRET, "user": "ada"}, bindings=bound)
    vault.change(lambda things: things.update(shop=item))

    async def ask(question):
        asked.append(question)
        return Verdict(outcome="allow", choice="once", by="me")

    said = f"Look at {site.url}/echoes"
    events = [event async for event in hermes.runtime.turns.run(said, session="s", ask=ask)]
    _, filled, snapshot, console = [event for event in events if isinstance(event, Returned)]
    assert not filled.result.failed, text(filled)
    assert "You typed ⟦secret⟧" in text(snapshot)
    assert "typed ⟦secret⟧" in text(console)
    assert filled.result.untrusted
    (question,) = asked
    assert f"to the field “Password” on {origin_of(site.url)}" in question.risk
    assert "text from outside" in question.risk
    await hermes.close()
    for seen in (repr(events), caplog.text):
        assert SECRET not in seen
    kept = [path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert any(WORD.encode() in data for data in kept), "the store keeps the handle"
    assert not any(SECRET.encode() in data for data in kept)
