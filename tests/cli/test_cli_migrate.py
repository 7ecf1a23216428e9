"""``hermes migrate``: what other agents keep comes along once, with a word for what does not."""

import json
import sqlite3
from pathlib import Path

import pytest

KEY = "sk-or-v1-" + "Zq8vT2mW5rYx1LbN7cKd3HfJ6gPs9aUe"
SKILL = "---\nname: {0}\ndescription: How to make {0}.\n---\nBoil water.\n"


def write(folder: Path, files: dict[str, object]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list):
            path.write_text("".join(json.dumps(one) + "\n" for one in content))
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content))


REFERENCE = f"""\
_config_version: 33
model: {{provider: openrouter, default: some/model, api_mode: chat_completions}}
custom_providers: [{{name: My Box, base_url: "http://127.0.0.1:8000/v1", api_key: {KEY}x}}]
agent: {{max_turns: 12, api_max_retries: 3}}
approvals: {{mode: off, deny: ["rm -rf *"]}}
command_allowlist: ["git status", "a; b"]
mcp_servers: {{linear: {{command: npx, args: [linear], env: {{LINEAR: {KEY}}}}}}}
terminal: {{backend: modal, cwd: /srv}}
telegram: {{require_mention: false}}
display: {{skin: ares}}
secrets:
  bitwarden: {{enabled: true}}
  onepassword: {{enabled: true, env: {{GROQ_API_KEY: "op://Private/Groq/key", XAI_API_KEY: plain}}}}
"""


def hermes_agent(folder: Path) -> None:
    """A home of Hermes Agent."""
    write(folder, {
        "config.yaml": REFERENCE,
        ".env": f"OPENROUTER_API_KEY={KEY}\nTELEGRAM_ALLOWED_USERS=11,22\nTELEGRAM_HOME_CHANNEL=11\n"
                "DISCORD_ALLOWED_USERS=5\nGATEWAY_ALLOW_ALL_USERS=true\n",
        "memories/MEMORY.md": "Olga likes tea.\n§\nThe server is called Ada.", "memories/USER.md": "Her name is Olga.",
        "SOUL.md": "Be kind.\n", "skills/kitchen/tea/SKILL.md": SKILL.format("tea"),
        "cron/jobs.json": {"jobs": [{"id": "j", "prompt": "weather"}]}, "auth.json": "{}",
    })  # fmt: skip
    connection = sqlite3.connect(folder / "state.db")
    connection.executescript("""
        CREATE TABLE schema_version (version INTEGER);
        CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT, title TEXT, started_at REAL);
        CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT,
            tool_calls TEXT, tool_name TEXT, active INTEGER DEFAULT 1, compacted INTEGER DEFAULT 0);
    """)
    calls = json.dumps([{"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"a": 1}'}}])
    rows = [("s1", "user", "Where is the teapot?", None, None, 1), ("s1", "assistant", "", None, calls, 1),
            ("s1", "tool", "on the shelf", "c1", None, 1), ("s1", "assistant", "On the shelf.", None, None, 1),
            ("s1", "user", "undone words", None, None, 0), ("s2", "assistant", "nobody spoke", None, None, 1),
            ]  # fmt: skip
    with connection:
        connection.executemany("INSERT INTO sessions VALUES (?, 'cli', ?, 1751328000.0)", [("s1", "Tea"), ("s2", None)])
        connection.executemany(
            "INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, active) VALUES (?,?,?,?,?,?)",
            rows,
        )
    connection.close()


def openclaw(folder: Path) -> None:
    """A folder of OpenClaw, its settings as people write them."""
    write(folder, {
        "openclaw.json": f"""{{
            // comments, names without quotes, a comma too many
            agents: {{defaults: {{model: {{primary: "anthropic/claude-sonnet-4-6", fallbacks: ['nowhere/x',]}},}}}},
            env: {{OPENROUTER_API_KEY: '{KEY}', HTTP_PROXY: "http://a"}},
            channels: {{telegram: {{botToken: "123:abcdefghijklmnop", allowFrom: ["tg:11", 22],
                groups: {{"-100": {{requireMention: true}}}}}}, discord: {{token: "x"}},}},
            mcp: {{servers: {{docs: {{url: "https://mcp.example.org", headers: {{A: "{KEY}"}}}}}}}},
            gateway: {{port:18789}}, /* and more */
        }}""",
        "credentials/telegram-allowFrom.json": {"version": 1, "allowFrom": ["33"]},
        "agents/main/agent/auth-profiles.json": {"profiles": {
            "anthropic:default": {"type": "api_key", "provider": "anthropic", "key": KEY + "a"},
            "openai:me": {"type": "oauth", "provider": "openai", "access": "x"}}},
        "workspace/SOUL.md": "Be kind.\n", "workspace/USER.md": "# Who\n\nHer name is Olga.\n",
        "workspace/MEMORY.md": "# Kitchen\n\nOlga likes tea.\n\n- The server is called Ada.\n",
        "workspace/AGENTS.md": "Be brief.", "workspace/skills/tea/SKILL.md": SKILL.format("tea"),
        "cron/jobs.json": {"jobs": []},
        "agents/main/sessions/sessions.json": {},
        "agents/main/sessions/s1.jsonl": [
            {"type": "session", "id": "s1", "timestamp": "2026-05-01T09:00:00Z", "cwd": "/x"},
            {"type": "message", "id": "a", "message": {"role": "user", "content": [
                {"type": "text", "text": "Where is the teapot?"}]}},
            {"type": "message", "id": "b", "message": {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm"}, {"type": "toolCall", "id": "c1", "name": "exec",
                 "arguments": {"command": "ls"}}]}},
            {"type": "message", "id": "c", "message": {"role": "toolResult", "toolCallId": "c1", "toolName": "exec",
             "content": [{"type": "text", "text": "on the shelf"}], "isError": False}},
            {"type": "message", "id": "d", "message": {"role": "assistant", "content": [
                {"type": "text", "text": "On the shelf."}]}},
            {"type": "compaction", "id": "e", "summary": "tea"},
        ],
    })  # fmt: skip


def claude_code(folder: Path) -> None:
    """The folder of Claude Code, and the file beside it."""
    spoken = {"isSidechain": False, "sessionId": "s1", "timestamp": "2026-05-01T09:00:00Z"}
    write(folder, {
        "settings.json": {
            "model": "claude-opus-4-6", "env": {"OPENROUTER_API_KEY": KEY, "EDITOR": "vi"}, "hooks": {"Stop": []},
            "permissions": {"allow": ["Bash(git status)", "Bash(npm run test:*)", "Bash(*)", "Read(~/x)"],
                            "deny": ["Bash(rm -rf *)"], "defaultMode": "bypassPermissions"}},
        "CLAUDE.md": "Olga likes tea.\n\nHer name is Olga.\n", "skills/tea/SKILL.md": SKILL.format("tea"),
        "commands/go.md": "go", ".credentials.json": "{}", "projects/-x/memory/MEMORY.md": "notes",
        "projects/-x/s1.jsonl": [
            {"type": "summary", "summary": "Tea", "leafUuid": "u"},
            {**spoken, "type": "user", "isMeta": True, "message": {"role": "user", "content": "Caveat: not said"}},
            {**spoken, "type": "user", "message": {"role": "user", "content": "Where is the teapot?"}},
            {**spoken, "type": "assistant", "message": {"role": "assistant", "content": [
                {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}]}},
            {**spoken, "type": "user", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "on the shelf"}]}},
            {**spoken, "type": "assistant", "isSidechain": True, "message": {"role": "assistant", "content": [
                {"type": "text", "text": "a helper's words"}]}},
            {**spoken, "type": "assistant", "message": {"role": "assistant", "content": [
                {"type": "text", "text": "On the shelf."},
                {"type": "tool_use", "id": "cut", "name": "x", "input": {}}]}},
        ],
    })  # fmt: skip
    server = {"mcpServers": {"docs": {"command": "npx", "args": ["docs"], "env": {"A": KEY}}}}
    write(folder.parent, {f"{folder.name}.json": {"projects": {"/x": server}}})


def codex(folder: Path) -> None:
    """The folder of Codex."""

    def item(**payload):
        return {"timestamp": "2026-05-01T09:00:00Z", "type": "response_item", "payload": payload}

    write(folder, {
        "config.toml": 'model = "gpt-5.2"\nmodel_provider = "box"\nmodel_reasoning_effort = "high"\n'
                       'approval_policy = "never"\nsandbox_mode = "read-only"\n[model_providers.box]\n'
                       'base_url = "http://127.0.0.1:8000/v1"\nenv_key = "BOX_API_KEY"\nwire_api = "responses"\n'
                       f'[mcp_servers.docs]\ncommand = "npx"\nargs = ["docs"]\n[mcp_servers.docs.env]\nA = "{KEY}"\n',
        "auth.json": {"OPENAI_API_KEY": KEY, "tokens": {"access_token": "x"}},
        "AGENTS.md": "Olga likes tea.\n\nHer name is Olga.\n", "skills/tea/SKILL.md": SKILL.format("tea"),
        "skills/.system/own/SKILL.md": SKILL.format("own"),
        "sessions/2026/05/01/rollout-2026-05-01T09-00-00-s1.jsonl": [
            {"timestamp": "2026-05-01T09:00:00Z", "type": "session_meta", "payload": {"id": "s1", "cwd": "/x"}},
            item(type="message", role="developer", content=[{"type": "input_text", "text": "not said"}]),
            item(type="message", role="user", content=[
                {"type": "input_text", "text": "<environment_context>x</environment_context>"}]),
            item(type="message", role="user", content=[{"type": "input_text", "text": "Where is the teapot?"}]),
            {"timestamp": "2026", "type": "event_msg", "payload": {"type": "user_message", "message": "twice"}},
            item(type="reasoning", summary=[], encrypted_content="x"),
            item(type="function_call", name="shell", arguments='{"command": ["ls"]}', call_id="c1"),
            item(type="function_call_output", call_id="c1", output="on the shelf"),
            item(type="message", role="assistant", content=[{"type": "output_text", "text": "On the shelf."}]),
        ],
    })  # fmt: skip


AGENTS = {"hermes-agent": hermes_agent, "openclaw": openclaw, "claude-code": claude_code, "codex": codex}


@pytest.fixture
def cli(cli):
    (cli.home / "config.yaml").unlink()
    return cli


@pytest.fixture(params=AGENTS)
def source(request, cli, tmp_path):
    """Each agent, with its folder filled."""
    AGENTS[request.param](tmp_path / "old" / "folder")
    return request.param, str(tmp_path / "old" / "folder")


def tree(folder: Path) -> dict[str, bytes]:
    """All files but the store, what passes, and the caches."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith("state.db") and not {"cache", "logs"} & set(path.parts)
    }


def everything(folder: Path) -> dict[str, bytes | None]:
    """All files and folders of a home but for caches, whose settings are kept once they are old enough."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
    return {
        name: path.read_bytes() if path.is_file() else None
        for name, path in found.items()
        if name.partition("/")[0] != "cache"
    }


def states(done) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in done.rows:
        found.setdefault(row["state"], set()).add(f"{row['what']} {row['name']}")
    return found


def test_a_dry_run_tells_and_changes_nothing(cli, source):
    before = everything(cli.home)
    told = cli("migrate", *source, "--dry-run", "--json", "--keys")
    assert told.status == 0, told.err
    assert everything(cli.home) == before
    really = cli("migrate", *source, "--json", "--keys")
    assert states(really) == states(told)
    after = everything(cli.home)
    again = cli("migrate", *source, "--dry-run", "--json", "--keys")
    assert "session 1" in states(again)["there"], "what came before is known, and the store is not touched for it"
    assert everything(cli.home) == after


def test_what_was_said_comes_along_with_its_calls_and_is_found(cli, source):
    old = tree(Path(source[1]))
    assert cli("migrate", *source).status == 0
    assert tree(Path(source[1])) == old  # nothing of the other agent changed
    (row,) = cli("sessions", "list", "--json").rows
    assert row["id"] == f"{source[0]}-s1"
    shapes = cli("sessions", "export", row["id"]).rows
    assert [(one["role"], one["content"]) for one in shapes if one["role"] != "system"] == [
        ("user", "Where is the teapot?"), ("assistant", None), ("tool", "on the shelf"), ("assistant", "On the shelf."),
    ]  # fmt: skip
    assert [one["tool_calls"][0]["id"] for one in shapes if one.get("tool_calls")] == ["c1"]
    assert cli("sessions", "search", "teapot", "--json").row["session_id"] == row["id"]
    gone_on = cli("--provider", "offline", "-r", row["id"], "-z", "and now?")
    assert gone_on.status == 0, gone_on.err


def test_what_is_remembered_comes_along(cli, source):
    cli("migrate", *source)
    kept = "".join(path.read_text() for path in (cli.home / "memories").glob("*.md"))
    assert "Olga likes tea." in kept
    assert "Her name is Olga." in kept
    assert cli("skills", "list", "--json").status == 0
    tea = next(row for row in cli("skills", "list", "--json").rows if row["skill"] == "tea")
    assert "new" in tea["state"]  # nobody has looked at it yet
    assert (cli.home / "skills" / "tea" / "SKILL.md").read_text() == SKILL.format("tea")
    assert not (cli.home / "skills" / "own").exists()


def test_a_second_run_brings_nothing_twice(cli, source):
    first = cli("migrate", *source, "--json", "--keys")
    assert states(first)["came"]
    before = tree(cli.home)
    second = cli("migrate", *source, "--json", "--keys")
    assert "came" not in states(second)
    assert tree(cli.home) == before
    assert len(cli("sessions", "list", "--json").rows) == 1


def test_no_key_comes_without_a_word(cli, source):
    done = cli("migrate", *source)
    assert done.status == 0
    assert KEY not in done.out + done.err
    assert all(KEY not in content.decode(errors="replace") for content in tree(cli.home).values())
    assert states(cli("migrate", *source, "--json"))["asks"]
    cli("migrate", *source, "--keys")
    assert KEY in (cli.home / ".env").read_text()
    assert all(KEY.encode() not in content for name, content in tree(cli.home).items() if name != ".env")


def test_at_a_terminal_the_keys_are_asked_for(cli, source):
    asked = cli("migrate", *source, typed="n\n")
    assert "Bring these keys along" in asked.err
    assert not (cli.home / ".env").exists()
    cli("migrate", *source, typed="y\n")
    assert KEY in (cli.home / ".env").read_text()


def test_nothing_of_yours_is_replaced(cli, source):
    cli.configure("model: {provider: offline}\npolicy: {allow: [terminal(date)]}\nterminal: {cwd: /tmp}\n")
    write(cli.home, {"SOUL.md": "Be brief.\n", "skills/tea/SKILL.md": SKILL.format("green tea"),
                     "memories/USER.md": "I am Ada."})  # fmt: skip
    cli("migrate", *source)
    assert cli("config", "get", "model.provider").out == "offline\n"
    assert json.loads(cli("config", "get", "policy.allow", "--json").out)[0] == "terminal(date)"
    assert cli("config", "get", "terminal.cwd").out == "/tmp\n"
    assert (cli.home / "SOUL.md").read_text() == "Be brief.\n"
    assert (cli.home / "skills/tea/SKILL.md").read_text() == SKILL.format("green tea")
    assert (cli.home / "memories/USER.md").read_text().startswith("I am Ada.")


def test_what_would_ask_less_does_not_come(cli, source):
    done = cli("migrate", *source)
    assert cli("config", "get", "policy.mode").out == "ask\n"
    rules = json.loads(cli("config", "get", "policy.allow", "--json").out)
    assert not {"terminal", "terminal(*)", "terminal(a; b)"} & set(rules)
    assert source[0] == "openclaw" or "policy.mode" in done.out
    assert cli("config", "check").status == 0


def test_servers_are_kept_aside_without_what_they_are_given(cli, source):
    cli("migrate", *source, "--keys")
    (kept,) = json.loads((cli.home / "data" / "tool-migrate" / source[0] / "mcp-servers.json").read_text()).values()
    assert KEY not in json.dumps(kept)
    assert kept.get("args") or kept["url"] == "https://mcp.example.org"


def test_settings_come_under_our_names(cli, tmp_path):
    hermes_agent(tmp_path / "old")
    done = cli("migrate", "hermes-agent", str(tmp_path / "old"), "--keys", "--json")
    got = {row["setting"]: row["value"] for row in cli("config", "show", "--json").rows}
    assert got["model.provider"] == '"openrouter"'
    assert got["model.protocol"] == '"chat"'
    assert got["agent.max_calls"] == "12"
    assert "agent.model_tries" not in got  # its default says nothing of the person
    assert got["policy.deny"] == '["terminal(rm -rf *)"]'
    assert got["policy.allow"] == '["terminal(git status)"]'
    assert got["terminal.cwd"] == '"/srv"'
    assert got["secrets.bulk"] == '["bws"]'
    text = (cli.home / "config.yaml").read_text()
    assert "my-box" in text
    assert "MY_BOX_API_KEY" in text
    assert "GROQ_API_KEY: op://Private/Groq/key" in text
    assert "allowed_users: ['11', '22']" in text
    left = {row["name"] for row in done.rows if row["state"] == "left"}
    assert {"TELEGRAM_HOME_CHANNEL: 11", "DISCORD_ALLOWED_USERS", "auth.json", "display: skin"} <= left
    assert "secrets.onepassword.env.XAI_API_KEY" in left
    assert any(name.startswith("terminal.backend: modal") for name in left)
    assert next(row["why"] for row in done.rows if row["name"] == "GATEWAY_ALLOW_ALL_USERS").startswith("say yourself")
    assert json.loads((cli.home / "data/tool-migrate/hermes-agent/cron-jobs.json").read_text())["jobs"][0]["id"] == "j"


def test_who_may_talk_comes_from_settings_and_from_who_was_let_in(cli, tmp_path):
    openclaw(tmp_path / "old")
    done = cli("migrate", "openclaw", str(tmp_path / "old"), "--keys", "--json")
    assert all(who in (cli.home / "config.yaml").read_text() for who in ("11", "22", "33"))
    env = (cli.home / ".env").read_text()
    assert "TELEGRAM_BOT_TOKEN=123:abcdefghijklmnop" in env
    assert "ANTHROPIC_API_KEY" in env
    assert "HTTP_PROXY" not in env
    assert cli("config", "get", "model.default").out == "claude-sonnet-4-6\n"
    left = {row["name"] for row in done.rows if row["state"] == "left"}
    assert {"channels.telegram.groups: -100", "channels.discord", "login openai:me", "gateway"} <= left
    assert (cli.home / "data/tool-migrate/openclaw/AGENTS.md").read_text() == "Be brief."


def test_rules_and_addresses_of_the_others(cli, tmp_path):
    claude_code(tmp_path / "c" / ".claude")
    cli("migrate", "claude-code", str(tmp_path / "c" / ".claude"))
    rules = json.loads(cli("config", "get", "policy.allow", "--json").out)
    assert rules == ["terminal(git status)", "terminal(npm run test*)"]
    assert json.loads(cli("config", "get", "policy.deny", "--json").out) == ["terminal(rm -rf *)"]
    codex(tmp_path / "x")
    cli("migrate", "codex", str(tmp_path / "x"))
    assert json.loads(cli("config", "get", "providers.box", "--json").out)["key_env"] == "BOX_API_KEY"


def test_the_home_of_hermes_agent_itself_becomes_ours(cli):
    hermes_agent(cli.home)
    assert "migrate hermes-agent" in cli("status").err
    before = tree(cli.home)
    dry = cli("migrate", "hermes-agent", str(cli.home), "--dry-run", "--json")
    assert tree(cli.home) == before
    done = cli("migrate", "hermes-agent", str(cli.home), "--json")
    assert states(done) == states(dry)
    aside = cli.home / "data" / "tool-migrate" / "hermes-agent"
    assert (aside / "config.yaml").read_text() == REFERENCE
    assert (aside / "state.db").exists()
    assert cli("config", "check").status == 0
    assert cli("config", "get", "agent.max_calls").out == "12\n"
    assert cli("sessions", "list", "--json").row["title"] == "Tea"
    assert (cli.home / ".env").read_text() == before[".env"].decode()
    assert "came" not in states(cli("migrate", "hermes-agent", str(cli.home), "--json"))


def test_a_run_that_was_cut_off_goes_on(cli):
    hermes_agent(cli.home)
    aside = cli.home / "data" / "tool-migrate" / "hermes-agent"
    aside.mkdir(parents=True)
    for name in ("config.yaml", "state.db"):
        (cli.home / name).rename(aside / name)
    cli("migrate", "hermes-agent", str(cli.home))
    assert cli("config", "get", "agent.max_calls").out == "12\n"
    assert cli("sessions", "list", "--json").row["title"] == "Tea"


def test_a_full_memory_takes_what_fits_and_the_rest_is_kept_aside(cli, tmp_path):
    write(tmp_path / "x", {"AGENTS.md": "First.\n\n" + "long " * 400 + "\n\nLast.", "config.toml": ""})
    done = cli("migrate", "codex", str(tmp_path / "x"), "--json")
    assert (cli.home / "memories/USER.md").read_text() == "First.\n§\nLast."
    assert "long long" in (cli.home / "data/tool-migrate/codex/USER.md").read_text()
    assert {row["state"] for row in done.rows} == {"came", "aside"}


@pytest.mark.parametrize("name", AGENTS)
def test_damage_is_told_and_the_rest_comes(cli, tmp_path, name):
    AGENTS[name](tmp_path / "old")
    for file in ("config.yaml", "openclaw.json", "settings.json", "config.toml"):
        if (tmp_path / "old" / file).exists():
            (tmp_path / "old" / file).write_text("{[[ not this")
    for path in (tmp_path / "old").rglob("*.jsonl"):
        path.write_text(path.read_text() + '{"cut off')
    done = cli("migrate", name, str(tmp_path / "old"), "--json")
    assert done.status == 0, done.err
    assert any("cannot be read" in row["why"] for row in done.rows)
    assert len(cli("sessions", "list", "--json").rows) == 1


def test_what_cannot_be_is_told_in_a_line(cli, tmp_path):
    done = cli("migrate", "codex", str(tmp_path / "nowhere"))
    assert done.status == 2
    assert "There is no folder" in done.err
    (tmp_path / "empty").mkdir()
    assert "Nothing of Codex was found there." in cli("migrate", "codex", str(tmp_path / "empty")).err
    assert "sessions" not in str(
        states(cli("migrate", "codex", str(tmp_path / "empty"), "--json", "--skip", "sessions"))
    )


def test_a_link_in_a_skill_is_not_followed(cli, tmp_path):
    codex(tmp_path / "x")
    (tmp_path / "secret").write_text(KEY)
    (tmp_path / "x/skills/tea/notes.md").symlink_to(tmp_path / "secret")
    cli("migrate", "codex", str(tmp_path / "x"))
    assert not (cli.home / "skills/tea/notes.md").exists()


def test_a_tool_may_not_run_it(cli, monkeypatch):
    monkeypatch.setenv("HERMES_RUN", "x")
    assert cli("migrate", "codex").status == 2
