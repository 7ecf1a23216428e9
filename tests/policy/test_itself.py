"""Nothing but a person widens the policy: no tool reaches what guards it, in any mode, by any name of it."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from hermes_core.agent.policy import itself
from hermes_core.agent.policy.itself import run_by_tool, widens
from hermes_core.cli.main import _status
from hermes_core.distribution import HERMES, Distribution
from hermes_core.embed import Hermes
from hermes_core.environment import LOCKS
from hermes_core.types import Protected, Returned, Text
from hermes_tool_guard.hardblocks import blocked_command

PLANNED = Path(__file__).parents[1] / "children" / "planned.py"
OWN = (
    "hermes-backend-local",
    "hermes-tool-terminal",
    "hermes-tool-files",
    "hermes-tool-guard",
    "hermes-memory-files",
)
FEW = Distribution(name="hermes", own=OWN)
ACME = Distribution(name="acme-bot", own=OWN)
KEPT = ("config.yaml", ".env", "plugins.lock", "plugins", "profiles/other/config.yaml")


class House:
    """A home in which nothing is asked, and a model that wants to change that."""

    def __init__(self, folder: Path, distribution: Distribution = FEW) -> None:
        self.distribution = distribution
        self.home, self.work = folder / "home", folder / "work"
        (self.home / "plugins").mkdir(parents=True)
        (self.home / "profiles" / "other").mkdir(parents=True)
        (self.home / "cache").mkdir()
        self.work.mkdir()
        (self.home / "config.yaml").write_text("policy: {mode: ask}\n")
        (self.home / ".env").write_text("SECRET_KEY=hunter2\n")
        (self.home / "profiles" / "other" / "config.yaml").write_text("policy: {mode: ask}\n")
        shutil.copy(PLANNED, self.home / "plugins" / "planned.py")
        home = distribution.home(None, self.home)
        distribution.consent(home).enable(distribution.installed(home).get("provider/planned"))
        (self.work / "link").symlink_to(self.home / "config.yaml")
        (self.work / "folder").symlink_to(self.home)
        os.link(self.home / "config.yaml", self.work / "twin")
        os.link(self.home / ".env", self.work / "secret")
        self.before = self.state()

    def state(self) -> dict[str, object]:
        """Everything that guards the agent, as it is."""
        found: dict[str, object] = {}
        for name in KEPT:
            path = self.home / name
            found[name] = (
                sorted(p.name for p in path.iterdir() if p.suffix == ".py") if path.is_dir() else path.read_text()
            )
        with sqlite3.connect(self.home / "state.db") as db:
            tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
            found["grants"] = db.execute("SELECT * FROM grants").fetchall() if "grants" in tables else []
        db.close()
        return found

    async def run(self, *calls, **config) -> list[str]:
        """The results of calls, made side by side in mode off."""
        config = {"policy.mode": "off", "terminal.cwd": str(self.work), **config}
        async with Hermes(self.distribution, home=self.home, provider="planned", config=config) as hermes:
            events = [e async for e in hermes.turn(json.dumps([list(calls), "done"]), session="s")]
        results = [e.result for e in events if isinstance(e, Returned)]
        assert len(results) == len(calls)
        return ["".join(p.text for p in r.parts if isinstance(p, Text)) for r in results]


COMMANDS = [
    "echo x >> {home}/config.yaml",
    "echo x >> ../home/config.yaml",
    "echo x >> ./../home/./config.yaml",
    "echo x >> link",
    "echo x >>link",
    "echo x | tee -a twin",
    "echo x >> twin",
    "cat secret",
    "cat folder/../home/.env",
    "grep -r hunter folder/../home",
    "grep -r hunter .. && grep -r hunter {home}",
    "echo x >> folder/config.yaml",
    "cd folder && echo x >> config.yaml",
    "cd {home}; echo x >> config.yaml",
    "cd ..; cd home; echo x > .env",
    "pushd {home} && echo x > plugins.lock",
    "echo x >> $HERMES_HOME/config.yaml",
    'echo x >> "$HERMES_HOME"/config.yaml',
    "echo x >> ~/home/config.yaml",
    "D={home}; echo x >> $D/config.yaml",
    "echo x >> {home}/con$NOT_SET''fig.yaml",
    "echo x >> {home}/confi?.yaml",
    "cp /etc/passwd {home}/{{config.yaml,x}}",
    "cp /etc/passwd {home}/plugins/evil.py",
    "cp /etc/passwd {home}/profiles/other/config.yaml",
    "cp /etc/passwd {home}/cache/config.json",
    "cp -r . {home}",
    "sed -i s/ask/off/ {home}/config.yaml",
    "dd if=/etc/passwd of={home}/config.yaml",
    "truncate -s 0 {home}/plugins.lock",
    "ln -sf /etc/passwd {home}/config.yaml",
    "ln {home}/config.yaml other && echo x >> other",
    "mv {home} {home}2",
    "mv {home}/config.yaml .",
    "rm -rf {home}",
    "find {home} -name '*.yaml' -exec sed -i s/ask/off/ {{}} +",
    "mount --bind . {home}",
    "tar -xf x.tar -C {home}",
    "git clone x {home}/plugins/evil",
    "sqlite3 {home}/state.db 'delete from grants'",
    "cd {home} && sqlite3 state.db 'delete from grants'",
    "python3 -c \"open('{home}/config.yaml', 'a').write('x')\"",
    "python3 - <<'X'\nopen('{home}/config.yaml', 'a').write('x')\nX",
    "sh -c 'echo x >> {home}/config.yaml'",
    "bash <<< 'echo x >> {home}/config.yaml'",
    "echo $(echo x >> {home}/config.yaml)",
    "hermes config set policy.mode off",
    "hermes -p other config set policy.mode off",
    "HERMES_HOME={home} hermes config set policy.mode off",
    "env -u HERMES_RUN hermes approvals allow abc",
    "hermes approvals allow abc --always",
    "hermes grants forget 1",
    "hermes plugins enable tool/evil --yes",
    "hermes plugins install evil",
    "hermes --yolo -z 'echo'",
    "python3 -m hermes_core config set policy.mode off",
    "{python} -m hermes_core config set policy.mode off",
    "uv run hermes config set policy.mode off",
]


@pytest.mark.parametrize("judged", [False, True], ids=["by words", "by words and meaning"])
async def test_no_command_reaches_what_guards_the_agent(tmp_path, monkeypatch, judged) -> None:
    async def silent(*_: object) -> None:
        return None

    if not judged:
        monkeypatch.setattr("hermes_tool_guard.gate.judge", silent)
    house = House(tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(house.home))
    monkeypatch.setenv("HOME", str(tmp_path))
    lines = [command.format(home=house.home, python=sys.executable) for command in COMMANDS]
    results = await house.run(*(["terminal", {"command": line}] for line in lines))
    said = dict(zip(lines, results, strict=True))
    assert [line for line, result in said.items() if "never allowed, in any mode" not in result] == []
    assert [line for line, result in said.items() if "hunter2" in result] == []
    assert house.state() == house.before


PLACES = [
    "{home}/config.yaml", "../home/config.yaml", "link", "./link", "twin", "folder/config.yaml", "~/home/.env",
    "{home}/plugins/evil.py", "{home}/plugins.lock", "{home}/state.db", "{home}/profiles/other/config.yaml",
    "{home}/cache/config.json", "{home}//config.yaml", "{home}/./config.yaml", "secret",
]  # fmt: skip


async def test_no_file_tool_reaches_it(tmp_path, monkeypatch) -> None:
    house = House(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    calls = [
        call
        for path in (place.format(home=house.home) for place in PLACES)
        for call in (
            ["read_file", {"path": path}],
            ["write_file", {"path": path, "content": "x"}],
            ["edit_file", {"path": path, "old": "ask", "new": "off"}],
        )
    ]
    results = await house.run(*calls)
    assert [
        (call, result) for call, result in zip(calls, results, strict=True) if "closed to tools" not in result
    ] == []
    assert "hunter2" not in "".join(results)
    assert house.state() == house.before


async def test_no_tool_searches_it(tmp_path) -> None:
    house = House(tmp_path)
    folders = [folder.format(home=house.home) for folder in ("{home}", "folder", "../home/.", "{home}/plugins")]
    found = await house.run(*(["search_files", {"path": path, "pattern": "hunter"}] for path in folders))
    listed = await house.run(*(["list_files", {"path": path}] for path in folders))
    assert "hunter2" not in "".join(found + listed)
    assert [path for path, one in zip(folders, listed, strict=True) if "closed to tools" not in one] == []


async def test_no_child_reaches_it(tmp_path) -> None:
    house = House(tmp_path)
    goal = json.dumps(
        [
            {
                "terminal": {"command": f"echo x >> {house.home}/config.yaml"},
                "write_file": {"path": "link", "content": "x"},
            },
            "done",
        ]
    )
    await house.run(["hand", {"goals": [goal]}])
    assert house.state() == house.before


WIDENING = [
    ("config", "set", "policy.mode", "off"), ("config", "unset", "policy.mode"), ("approvals", "allow", "x"),
    ("approvals", "deny", "x"), ("grants", "forget", "1"), ("plugins", "enable", "x"), ("profile", "use", "other"),
    ("tools", "enable", "x"), ("model", "choose", "offline"), ("--yolo", "-z", "hello"),
    ("chat", "--yolo", "-q", "hello"), ("-p", "other", "config", "set", "policy.mode", "off"),
]  # fmt: skip


def test_the_command_line_refuses_a_tool(tmp_path, monkeypatch, capsys) -> None:
    house = House(tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(house.home))
    monkeypatch.setenv("HERMES_RUN", "1")
    told = {}
    for words in WIDENING:
        status = _status(None, list(words))
        told[words] = (status, "started by a tool of hermes" in capsys.readouterr().err)
    assert told == dict.fromkeys(WIDENING, (2, True))
    assert house.state() == house.before
    known = house.distribution.installed(house.distribution.home(None, house.home)).commands
    assert all(widens(words, known) for words in WIDENING)


def test_it_is_noticed_when_the_mark_is_taken_away(tmp_path) -> None:
    house = House(tmp_path)
    script = f"{sys.executable} -m hermes_core config set policy.mode off; true"
    words = ["sh", "-c", f"env -u HERMES_RUN sh -c '{script}'; true"]
    environ = {**os.environ, "HERMES_HOME": str(house.home), "HERMES_RUN": "1"}
    done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert "started by a tool" in done.stderr
    assert house.state() == house.before


class Processes:
    """A table of processes that is read instead of the system's. Each is told by its environment."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        monkeypatch.delenv("HERMES_RUN", raising=False)
        monkeypatch.setattr(itself, "Path", self.path)
        monkeypatch.setattr(os, "getppid", lambda: 900)

    def path(self, first: str, *more: str) -> Path:
        return Path(first.replace("/proc", str(self.root), 1) if first.startswith("/proc") else first, *more)

    def add(self, pid: int, above: int, env: str = "A=1", name: str = "sh") -> Path:
        place = self.root / str(pid)
        place.mkdir(parents=True)
        place.joinpath("stat").write_text(f"{pid} ({name}) S {above} 7 8")
        place.joinpath("environ").write_bytes("\0".join(env.split(" ")).encode())
        return place


def test_a_mark_above_tells_whatever_else_is_there(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HERMES_RUN", "1")
    assert run_by_tool()
    rows = [
        # the environment of what is two above, what stands between, whether it is a tool's
        ("A=1 HERMES_RUN=1 B=2", "sh", True), ("HERMES_RUN=", "sh", True), ("HERMES_RUNS=1", "sh", False),
        ("X=HERMES_RUN=1", "sh", False), ("A=1", "sh", False), ("HERMES_RUN=1", "a) S 1 (b", True),
    ]  # fmt: skip
    for number, (env, name, ours) in enumerate(rows):
        processes = Processes(tmp_path / str(number), monkeypatch)
        processes.add(900, 901, name=name)
        processes.add(901, 902)
        processes.add(902, 1, env=env)
        processes.add(1, 0, env="HERMES_RUN=1")
        assert run_by_tool() is ours, env


def test_of_a_process_that_cannot_be_read_those_above_it_tell(tmp_path, monkeypatch) -> None:
    processes = Processes(tmp_path / "1", monkeypatch)
    (processes.add(900, 901) / "environ").unlink()
    processes.add(901, 1, env="HERMES_RUN=1")
    assert run_by_tool()
    processes = Processes(tmp_path / "2", monkeypatch)
    assert not run_by_tool(), "a system without such a table"
    for number, stat in enumerate(("", "no number", "900 (sh) S")):
        processes = Processes(tmp_path / f"3{number}", monkeypatch)
        (processes.add(900, 901) / "stat").write_text(stat)
        assert not run_by_tool()


SCRIPT = Path(sysconfig.get_path("scripts"), "hermes")
SET = f"{sys.executable} -m hermes_core config set policy.mode smart"


def below(house: House, *words: str, **env: str) -> str:
    """What stderr says of a command that a person starts."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("HERMES_")}
    environ |= {"HERMES_HOME": str(house.home), **env}
    done = subprocess.run(words, env=environ, cwd=house.home, capture_output=True, text=True, timeout=60, check=False)
    return done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        ("timeout", "50", str(SCRIPT), "config", "set", "policy.mode", "smart"),
        ("env", "-i", "HERMES_HOME=.", "nice", str(SCRIPT), "config", "set", "policy.mode", "smart"),
        ("sh", "-c", f"{SET}; true", "sh", "/src/hermes"),
        ("bash", "./hermes"),
        (sys.executable, "./hermes.d/hermes"),
        (sys.executable, "-c", f"import os; os.system({SET!r})", "hermes", "hermes_core"),
    ],
)  # fmt: skip
def test_a_person_below_another_program_is_no_tool(tmp_path, words) -> None:
    """Its name among the words of a wrapper, an editor or a script of the person's proves nothing."""
    house = House(tmp_path)
    (house.home / "hermes").write_text(f"{SET}; true")
    (house.home / "hermes.d").mkdir()
    (house.home / "hermes.d" / "hermes").write_text(f"import os; os.system({SET!r})")
    assert "started by a tool" not in below(house, *words)
    assert "smart" in (house.home / "config.yaml").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")
def test_who_left_mark_and_ancestors_behind_still_has_the_limit(tmp_path) -> None:
    house = House(tmp_path)
    lowered = f"ulimit -x {LOCKS}; (setsid env -i HERMES_HOME=. {SET} 2>told &); sleep 0.1; true"
    below(house, "bash", "-c", f"{lowered}; for n in $(seq 300); do [ -s told ] && break; sleep 0.1; done")
    assert "started by a tool" in (house.home / "told").read_text()
    assert "smart" not in (house.home / "config.yaml").read_text()


@pytest.mark.parametrize(
    "words",
    ["config get policy.mode", "approvals list", "grants", "plugins list", "sessions list", "doctor", "--version"],
)
def test_what_only_looks_is_left_alone(words) -> None:
    assert not widens(words.split())
    assert not blocked_command(f"hermes {words}", "/work", Protected(reserved=widens))


async def test_a_product_of_another_name_knows_its_own(tmp_path) -> None:
    house = House(tmp_path, ACME)
    results = await house.run(
        ["terminal", {"command": "acme-bot config set policy.mode off"}],
        ["terminal", {"command": "python3 -m acme_bot grants forget 1"}],
        ["terminal", {"command": "echo acme-bot config set"}],
    )
    assert ["never allowed" in result for result in results] == [True, True, False]


def test_which_commands_widen_what_may_be_done(tmp_path) -> None:
    wide = ["approvals deny", "gateway install", "gateway uninstall", "gateway pair approve", "gateway pair revoke"]
    wide += ["plugins sync", "setup --provider x", "tools --platform cli disable x", "-p x --json config set"]
    wide += [
        "plugins disable x",
        "plugins remove",
        "profile create",
        "profile delete",
        "setup",
        "tools",
        "tools disable",
    ]
    wide += ["config edit", "--verbose config set", "x --yolo", "tools --platform cli"]
    known = HERMES.installed(HERMES.home(None, tmp_path)).commands
    assert [one for one in wide if not widens(one.split(), known)] == []
    narrow = ["tools list", "gateway pair list", "config get", "", "set", "yolo", "deny", "profile", "chat -q"]
    narrow += ["sessions search setup", "sessions search config set", "approvals", "approvals show x", "grants list"]
    assert [one for one in narrow if widens(one.split(), known)] == []


CARRIED = [
    "find . -maxdepth 0 -exec acme-bot config set policy.mode off ';'",
    "echo config set policy.mode off | xargs acme-bot",
    "python3 -c \"import os; os.system('acme-bot config set policy.mode off')\"",
    "ssh localhost acme-bot config set policy.mode off",
    "script -qc 'acme-bot --yolo -z hello' /dev/null",
    "find . -maxdepth 0 -exec python3 -m hermes_core config set policy.mode off ';'",
    "find . -maxdepth 0 -exec uv run acme-bot config unset policy.mode ';'",
]


@pytest.mark.parametrize("command", CARRIED)
async def test_what_carries_it_is_refused_by_the_same_words(tmp_path, command: str) -> None:
    """A guard that looks further into a line learns from the kernel which words are a person's."""
    [result] = await House(tmp_path, ACME).run(["terminal", {"command": command}])
    assert "a person's to change" in result


WITH_THEIRS = Distribution(name="hermes", own=(*OWN, "hermes-tool-skills", "hermes-tool-workshop"))
THEIRS = [
    "skills enable evil --yes", "skills --json approve 1", "workshop accept own_evil", "workshop enable own_evil",
    "-p other workshop rollback own_evil 1",
]  # fmt: skip


async def test_what_plugins_keep_for_a_person_is_refused_to_a_tool_as_well(tmp_path, monkeypatch, capsys) -> None:
    house = House(tmp_path, WITH_THEIRS)
    lines = [*(f"hermes {words}" for words in THEIRS), "uv run hermes skills enable evil"]
    lines += ["env -u HERMES_RUN python3 -m hermes_core workshop accept own_evil", "sh -c 'hermes skills enable evil'"]
    results = await house.run(*(["terminal", {"command": line}] for line in lines))
    said = dict(zip(lines, results, strict=True))
    assert [line for line, one in said.items() if "may do is a person's to change" not in one] == []
    monkeypatch.setenv("HERMES_HOME", str(house.home))
    monkeypatch.setenv("HERMES_RUN", "1")
    for words in THEIRS[:-1]:
        assert _status(WITH_THEIRS, words.split()) == 2
        assert "started by a tool of hermes" in capsys.readouterr().err, words
    for words in ("skills list", "workshop list"):
        assert _status(WITH_THEIRS, words.split()) == 0
        assert "started by a tool" not in capsys.readouterr().err


PERSONS = """
approvals allow, approvals deny, attach, backup, backup create, backup list, backup restore, backup verify, checkpoints
prune, config edit, cron, cron accept, cron add, cron create, cron daemon, cron dismiss, cron edit, cron pause, cron
remove, cron resume, cron rm, cron run, cron tick, cron use, curator backup, curator restore, curator rollback, curator
run, gateway dead send, gateway install, gateway pair approve, gateway pair revoke, gateway uninstall, goal, goal clear,
goal done, goal edit, goal pause, goal resume, goal run, goal set, grants forget, host run, kanban, kanban approve,
kanban archive, kanban assign, kanban attach, kanban block, kanban boards, kanban claim, kanban comment, kanban
complete, kanban create, kanban daemon, kanban decompose, kanban dispatch, kanban edit, kanban gc, kanban link, kanban
promote, kanban reclaim, kanban reject, kanban release, kanban reopen, kanban schedule, kanban swarm, kanban unblock,
kanban unlink, learned add, learned approve, learned erase, learned export, learned freeze, learned reject, learned
restore, learned revert, learned review, learned weeks, memory approve, memory erase, memory export, memory forget,
memory list, memory pending, memory reject, memory tidy, migrate, migrate claude-code, migrate codex, migrate
hermes-agent, migrate openclaw, model, model choose, model refresh, ollama pull, people, people block, people erase,
people export, people invite, people list, people mute, people quiet, people show, people unblock, plugins install,
plugins remove, plugins sync, profile alias, profile clone, profile create, profile delete, profile export, profile
import, profile rename, profile use, secrets, secrets check, secrets list, send, sessions import, setup, shared, shared
end, skills approve, skills disable, skills enable, skills install, skills new, skills pin, skills publish, skills
reject, skills remove, skills rollback, skills secrets, skills update, store, store check, store compact, store
downgrade, store erase, store move, store rebuild, store reindex, store repair, tools, tools disable, tools enable,
trust add, trust forget, update, user, user add, user edit, user forget, vault add, vault bind, vault remove, vault
show, vault unbind, workshop accept, workshop enable, workshop restore, workshop rollback
"""


@pytest.mark.long
def test_each_command_of_our_plugins_that_is_a_persons_is_refused_below_a_tool(tmp_path, monkeypatch, capsys) -> None:
    """By one point, before the plugin is imported; with options before it, too."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.setenv("HERMES_RUN", "1")
    monkeypatch.setattr("hermes_core.cli.plugin_commands.find_command", lambda *_: pytest.fail("it was imported"))
    records = HERMES.installed(HERMES.home(None, tmp_path)).commands
    # Those of others are commands once they are enabled.
    on = {name.removeprefix("hermes-").replace("-", "/", 1) for name in HERMES.own}
    theirs = {one.words for one in records if one.owner in on and one.who == "person"}
    assert theirs == {" ".join(one.split()) for one in PERSONS.split(",")}
    for words in sorted(theirs):
        for before in ([], ["-m", "x"], ["--safe-mode"]):
            assert _status(HERMES, [*before, *words.split()]) == 2
            assert "started by a tool of hermes" in capsys.readouterr().err, words


BELOW = [
    "sh -c '{hermes} config set policy.mode off'", "env A=1 {hermes} config set policy.mode off",
    "{python} -m hermes_core config set policy.mode off", "{hermes} -p x config set policy.mode off",
    "cp {hermes} tool; ./tool config set policy.mode off", "ln -s {hermes} tool; ./tool plugins enable x",
    "cp {hermes} tool; env -u HERMES_RUN ./tool config unset policy.mode",
    "cp {hermes} tool; env -i ./tool config set policy.mode off",
    "printf '%s\\n' '{hermes} config set policy.mode off' > run.sh; sh run.sh",
    "printf 'x:\\n\\t{hermes} config set policy.mode off\\n' | make -sf - x",
    "h={hermes}; $h config set policy.mode off",
    "{python} -c 'import sys; sys.argv[1:] = [\"--yolo\"]; import hermes_core.__main__ as it; it.main()'",
]  # fmt: skip


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the limit is one of Linux")
@pytest.mark.parametrize("line", BELOW)
async def test_below_a_tool_nothing_widens_in_any_spelling(tmp_path, line: str) -> None:
    """In mode off, without a wall: what the guard does not see, the program itself refuses as it starts."""
    house = House(tmp_path)
    command = line.format(hermes=SCRIPT, python=sys.executable)
    [result] = await house.run(["terminal", {"command": command}], **{"backends.local.wall": "none"})
    assert "never allowed" in result or "started by a tool of" in result, result
    assert house.state() == house.before


async def test_a_plugin_from_elsewhere_keeps_its_own_for_a_person(tmp_path) -> None:
    house = House(tmp_path)
    about = ["api = 1", 'name = "chores"', 'kind = "tool"', 'summary = "Jobs."']
    about += ['[commands."chores run"]', 'summary = "Run one."', 'who = "person"']
    about += ['[commands."chores list"]', 'summary = "List them."']
    (house.home / "plugins" / "chores.py").write_text(
        "\n".join(("# /// hermes", *(f"# {one}" for one in about), "# ///"))
    )
    results = await house.run(*(["terminal", {"command": f"hermes chores {word}"}] for word in ("run 1", "list")))
    assert ["never allowed" in result for result in results] == [True, False]


async def test_a_person_who_is_a_tool_is_none(tmp_path, monkeypatch) -> None:
    """A conversation that a tool holds with this program is nobody's yes."""
    from hermes_core.agent.slash.registry import Registry
    from hermes_core.testing.typist import Typist

    house = House(tmp_path)
    async with Hermes(house.distribution, home=house.home, provider="planned") as hermes:
        monkeypatch.setenv("HERMES_RUN", "1")
        typist = Typist(hermes.runtime)
        here = Registry(hermes.runtime).conversation(typist, await typist.take_up())
        with pytest.raises(Exception, match="started by a tool"):
            here.need_person()
        with pytest.raises(Exception, match="started by a tool"):
            here.mode("off")
        assert here.mode() == "ask"
