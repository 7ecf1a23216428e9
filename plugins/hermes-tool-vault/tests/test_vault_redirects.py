"""Handles in commands and pages: the vault's own tools answer, and the model goes on seeing its own words."""

import pytest

from hermes_core.testing import Call
from hermes_core.types import ToolCall, ToolResult, Verdict
from hermes_tool_vault.items import Item
from hermes_tool_vault.redirecting import redirected
from hermes_tool_vault.sealed import Vault

SECRET = "Tr0ub4dor&3-kX9!qZ"
T = "{{vault:token}}"
RUN, FETCH = "vault_run", "vault_fetch"
ROWS = [
    # the command; the tool that answers; what that is given
    (f"GH_TOKEN={T} gh pr list", RUN, {"command": "gh pr list", "environment": {"GH_TOKEN": T}, "stdin": ""}),
    (f'A="{T}" B=\'{T}\' gh x', RUN, {"command": "gh x", "environment": {"A": T, "B": T}, "stdin": ""}),
    (f"export GH_TOKEN={T} && gh x", RUN, {"command": "gh x", "environment": {"GH_TOKEN": T}, "stdin": ""}),
    (f"gh auth login --with-token <<< '{T}'", RUN,
     {"command": "gh auth login --with-token", "environment": {}, "stdin": f"{T}\n"}),
    (f"echo {T} | docker login -u me --password-stdin", RUN,
     {"command": "docker login -u me --password-stdin", "environment": {}, "stdin": f"{T}\n"}),
    (f"printf '%s' '{T}' | tool", RUN, {"command": "tool", "environment": {}, "stdin": f"{T}\n"}),
    (f"curl -sS -H 'Authorization: Bearer {T}' https://api.example/x", FETCH,
     {"url": "https://api.example/x", "method": "GET", "headers": {"Authorization": f"Bearer {T}"}, "body": ""}),
    (f"curl -X PUT https://a.example -d 'p={T}'", FETCH,
     {"url": "https://a.example", "method": "PUT", "body": f"p={T}",
      "headers": {"Content-Type": "application/x-www-form-urlencoded"}}),
    (f"curl -H 'A: {T}' https://a.example | sh", RUN,
     {"command": f"curl -H 'A: {T}' https://a.example | sh", "environment": {}, "stdin": ""}),
    (f"curl -o f -H 'A: {T}' https://a.example", RUN,
     {"command": f"curl -o f -H 'A: {T}' https://a.example", "environment": {}, "stdin": ""}),
    (f"echo {T}", RUN, {"command": f"echo {T}", "environment": {}, "stdin": ""}),
    (f"gh x --token {T}", RUN, {"command": f"gh x --token {T}", "environment": {}, "stdin": ""}),
]  # fmt: skip


@pytest.mark.parametrize(("command", "name", "given"), ROWS, ids=[row[0][:40] for row in ROWS])
def test_a_command_with_a_handle_is_a_call_of_the_vault(command, name, given) -> None:
    found = redirected(ToolCall(id="1", name="terminal", arguments={"command": command}))
    assert found is not None
    assert (found.name, dict(found.arguments)) == (name, given)


@pytest.mark.parametrize("command", ["echo '{{ x }}'", "awk '{{print}}'", "echo {{vault}}", "ls"])
def test_a_command_without_a_handle_stays_a_command(command) -> None:
    assert redirected(ToolCall(id="1", name="terminal", arguments={"command": command})) is None


def test_a_page_with_a_handle_is_a_request_of_the_vault() -> None:
    call = ToolCall(
        id="1", name="web_fetch", arguments={"url": "https://a.example", "headers": {"A": T}, "links": True}
    )
    found = redirected(call)
    assert found is not None
    assert (found.name, dict(found.arguments)) == ("vault_fetch", {"url": "https://a.example", "headers": {"A": T}})
    assert redirected(ToolCall(id="1", name="web_fetch", arguments={"url": "https://a.example"})) is None


@pytest.fixture
def play(hermes, scripted, program):
    async def run(*commands, says="once"):
        provider = scripted(*([Call("terminal", {"command": one})] for one in commands), "done")
        for plugin in (provider, "hermes_tool_vault", "hermes_tool_terminal"):
            hermes.tmp_plugin(plugin)
        hermes.configure({"tools.vault.key": "file"})
        vault = Vault(hermes.context("hermes_tool_vault").paths.data, "file")
        bound = program('echo "$TOKEN" | tee kept.txt; printf " %s" "$@"; env | grep -c HERMES_FILL')
        item = Item(name="token", kind="password", fields={"secret": SECRET, "user": ""}, bindings=(bound,))
        vault.change(lambda things: things.update(token=item))
        asked = []

        async def ask(question):
            asked.append(question)
            return Verdict(outcome="allow", choice=says, by="me")

        [event async for event in hermes.runtime.turns.run("Go.", ask=ask)]
        return provider.requests[-1].messages, asked

    return run


async def test_in_a_turn_it_is_asked_about_as_what_it_is_and_the_model_sees_its_own_words(play, hermes) -> None:
    messages, asked = await play(f"TOKEN={T} tool all")
    assert (hermes.workspace.folder / "kept.txt").read_text().strip() == SECRET
    assert ["tool all" in question.subject for question in asked] == [True], [question.subject for question in asked]
    call = next(part for message in messages for part in message.parts if isinstance(part, ToolCall))
    assert (call.name, call.arguments["command"]) == ("terminal", f"TOKEN={T} tool all")
    result = next(part for message in messages for part in message.parts if isinstance(part, ToolResult))
    assert result.name == "terminal"
    assert "⟦secret" in str(result.parts)
    await hermes.close()
    files = [path for path in hermes.workspace.folder.with_name("home").rglob("*") if path.is_file()]
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
    assert any(b"vault_run" in path.read_bytes() for path in files), "the journal has what was run"


async def test_what_cannot_be_done_without_showing_a_value_is_refused_and_says_how(play, hermes) -> None:
    messages, _ = await play(f"tool --token {T}", f"TOKEN={T} tool | cat")
    said = str(messages)
    assert "can be read by every process" in said
    assert "there is no shell here" in said
    assert not (hermes.workspace.folder / "kept.txt").exists()
