"""The library: an Agent for scripts, a Hermes for programs, a Distribution for products."""

import asyncio
import contextlib
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import hermes_core
from hermes_core import Agent, Distribution, Hermes
from hermes_core.cli.main import _status
from hermes_core.embed import HERMES, Allow, Answer
from hermes_core.errors import ConfigError, HermesError, UnknownName, UserError
from hermes_core.kinds import tool
from hermes_core.types import Called, Effect, Ended, Message, Principal, Returned, Said, Started, Text, Verdict


def count_words(path: str) -> str:
    """Count the words of a text file."""
    return f"{len(Path(path).read_text(encoding='utf-8').split())} words"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder to work in, and homes that are not the real ones."""
    for name in os.environ:
        if name.startswith(("HERMES_", "ACME_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    (work / "notes.md").write_text("The train to Oslo leaves at nine.\n")
    return work


def agent(**options):
    return Agent(**{"home": "state", "provider": "offline", **options})


# --- Agent ------------------------------------------------------------------------------------------------------------


def test_an_agent_uses_a_registered_function_and_remembers_the_call():
    with agent(name="helper") as helper:
        made = helper.register_tool(count_words, effects={Effect.READ_FILES})
        assert (made.name, made.description) == ("count_words", "Count the words of a text file.")
        assert made.effects == {Effect.READ_FILES}
        answer = helper.run("use the tool count_words with path=notes.md")
        assert "7 words" in str(answer)
        assert "7 words" in answer.text
        assert answer.reason == "done"
        (call,) = helper.state.tool_history
    assert (call.name, dict(call.arguments), call.output) == ("count_words", {"path": "notes.md"}, "7 words")
    assert call.outcome == "ok"
    assert call.seconds > 0
    assert call.session_id == answer.session


def test_history_is_that_of_the_agents_session_oldest_first():
    with agent(toolsets=["files"]) as other:
        other.run("list the files here")
    with agent(toolsets=["files"]) as helper:
        assert helper.state.tool_history == []
        helper.run("list the files here")
        helper.run("read notes.md")
        helper.run("read notes.md")
        assert [h.name for h in helper.state.tool_history] == ["list_files", "read_file", "read_file"]
        assert [h.repeats for h in helper.state.tool_history] == [0, 0, 1]


def test_an_agent_has_no_tools_but_its_own():
    with agent() as helper:
        helper.run("list the files here")
        assert [h.outcome for h in helper.state.tool_history] == ["refused"]


def test_all_runs_of_an_agent_are_one_session_which_another_may_go_on_with():
    with agent() as first:
        assert first.run("hello").session == first.run("hello again").session == first.session
    with agent(session=first.session) as second:
        assert second.run("hello").session == first.session
    again = asyncio.run(messages("state", first.session))
    assert [m.role for m in again] == ["user", "assistant"] * 3


async def messages(home, session):
    async with Hermes(home=home) as hermes:
        return await (await hermes.runtime.store()).history.load(session)


def test_a_tool_may_be_async_have_defaults_and_return_any_value():
    async def area(width: float, *, height: float = 2.0) -> float:
        """Multiply."""
        await asyncio.sleep(0)
        return width * height

    with agent() as helper:
        helper.register_tool(area)
        helper.run("use the tool area with width=4")
        (call,) = helper.state.tool_history
        assert call.output == "8.0"


def test_a_tool_of_a_program_may_be_a_tool_value():
    @tool
    async def shout() -> str:
        """Shout."""
        return "HEY"

    with agent() as helper:
        assert helper.register_tool(shout) is shout
        assert "HEY" in helper.run("use the tool shout").text
    with agent(tools=[shout]) as helper:
        assert "HEY" in helper.run("use the tool shout").text


def test_own_tools_are_offered_beside_the_chosen_toolsets():
    with agent(toolsets=["files"]) as helper:
        helper.register_tool(count_words)
        assert "7 words" in helper.run("use the tool count_words with path=notes.md").text
        helper.run("run `echo hi`")
        assert [h.name for h in helper.state.tool_history] == ["count_words"]


def test_a_tool_that_raises_is_told_and_the_agent_goes_on():
    with agent() as helper:
        helper.register_tool(count_words)
        assert "nosuch.md" in helper.run("use the tool count_words with path=nosuch.md").text
        assert helper.state.tool_history[0].outcome == "failed"
        assert "7 words" in helper.run("use the tool count_words with path=notes.md").text


def test_effects_are_asked_about_and_ask_decides():
    seen = []

    async def ask(question):
        seen.append(question.subject)
        return Verdict(outcome="allow", by="the program")

    def launch(target: str) -> str:
        """Launch."""
        return f"launched {target}"

    with agent() as helper:
        helper.register_tool(launch, effects=[Effect.EXECUTE])
        helper.run("use the tool launch with target=moon")
        assert helper.state.tool_history[0].outcome == "refused"
    with agent(ask=ask) as helper:
        helper.register_tool(launch, effects=[Effect.EXECUTE])
        assert "launched moon" in helper.run("use the tool launch with target=moon").text
    assert seen == ["launch(target=moon)"]
    with agent(yolo=True) as helper:
        helper.register_tool(launch, effects=[Effect.EXECUTE])
        assert "launched moon" in helper.run("use the tool launch with target=moon").text


def undocumented(path: str) -> str:
    return path


def greedy(*paths: str) -> str:
    """Take any."""
    return ""


@pytest.mark.parametrize(("function", "said"), [(undocumented, "docstring"), (greedy, "paths")])
def test_a_function_the_model_could_not_use_is_refused(function, said):
    with pytest.raises(UserError, match=said):
        agent().register_tool(function)


def test_tools_come_before_the_first_run():
    with agent() as helper:
        helper.run("hello")
        with pytest.raises(UserError, match="before the first run"):
            helper.register_tool(count_words)


def test_a_closed_agent_may_run_again():
    helper = agent()
    helper.close()
    first = helper.run("hello")
    helper.close()
    helper.close()
    assert helper.run("hello").session == first.session
    helper.close()


def test_a_failure_is_raised_with_its_hint():
    with agent(provider="nosuch") as helper, pytest.raises(HermesError, match="'nosuch'") as caught:
        helper.run("hello")
    assert caught.value.hint


# --- Hermes -----------------------------------------------------------------------------------------------------------


async def test_a_turn_is_events_with_an_ended_last():
    async with Hermes(home="state", provider="offline") as hermes:
        events = [e async for e in hermes.turn("list the files here", session="demo")]
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Ended)
    assert {Called, Returned, Said} <= {type(e) for e in events}
    assert {e.session_id for e in (events[0], events[-1])} == {"demo"}
    assert events[-1].answer == "".join(e.text for e in events if isinstance(e, Said))


async def test_a_message_may_have_parts():
    message = Message(role="user", parts=(Text(text="list the files here"),))
    async with Hermes(home="state", provider="offline") as hermes:
        answer = await hermes.run(message)
    assert "notes.md" in answer.text
    assert isinstance(answer, Answer)


async def test_leaving_a_turn_early_leaves_the_session_usable():
    async with Hermes(home="state", provider="offline", yolo=True) as hermes:
        async with contextlib.aclosing(hermes.turn("run `sleep 30`", session="s")) as turn:
            async for event in turn:
                if isinstance(event, Called):
                    break
        assert (await hermes.run("hello", session="s")).session == "s"


async def test_settings_of_the_program_beat_those_of_the_file(place):
    (place / "state").mkdir()
    (place / "state" / "config.yaml").write_text("agent: {max_calls: 3, tool_workers: 2}\nmodel: nosuch:x\n")
    config = {"agent.max_calls": 5, "model.provider": "offline", "model.default": ""}
    async with Hermes(home="state", config=config) as hermes:
        agent = hermes.runtime.settings.config.agent
        assert (agent.max_calls, agent.tool_workers) == (5, 2)
        await hermes.run("hello")
    with pytest.raises(ConfigError, match="max_cals"):
        await Hermes(home="state", config={"agent.max_cals": 5}).__aenter__()


async def test_what_a_person_allows_for_good_is_written_down(place):
    asked = []

    async def always(question):
        asked.append(question)
        return Verdict(outcome="allow", choice="always", by="you")

    Path("state").mkdir()
    Path("state", "config.yaml").write_text("backends: {local: {wall: none}}\n")
    async with Hermes(home="state", provider="offline", ask=always) as hermes:
        await hermes.run("run `eval $NOTHING echo ready`")
        await hermes.run("run `chmod a+w .`")
    here = os.path.realpath(place)
    assert [(q.covers, "always" in q.choices) for q in asked] == [
        (f"exactly `eval $NOTHING echo ready` in {here}", False),  # what it runs is only known when it runs
        (f"exactly `chmod a+w .` in {here}", True),
    ]
    async with Hermes(home="state", provider="offline") as hermes:
        assert hermes.runtime.settings.config.policy.allow == []
        store = await hermes.runtime.store()
        assert [g.words for g in await store.approvals.grants(hermes.runtime.owner)] == [
            f"exactly `chmod a+w .` in {here}"
        ]
        assert "ran and printed nothing" in (await hermes.run("run `chmod a+w .`")).text
        assert "Nobody is here to ask" in (await hermes.run("run `chmod o+w .`")).text


async def test_sessions_belong_to_their_owner():
    async with Hermes(home="state", provider="offline", owner=Principal(person="ann")) as hermes:
        await hermes.run("hello", session="s")
    async with Hermes(home="state", provider="offline", owner=Principal(person="bob")) as hermes:
        store = await hermes.runtime.store()
        assert await store.sessions.list(hermes.runtime.owner) == []
        with pytest.raises(HermesError):
            await hermes.run("hello", session="s")


async def test_two_in_one_process_do_not_meet(place):
    red = Hermes(home="red", provider="offline", config={"policy.mode": "off"})
    blue = Hermes(home="blue", provider="offline", toolsets=["files"])
    async with red, blue:
        told = await asyncio.gather(red.run("run `echo ready`"), blue.run("run `echo ready`"))
        assert "ready\n" in told[0].text
        rows = [await (await h.runtime.store()).sessions.list(h.runtime.owner) for h in (red, blue)]
        assert [[r.session.id for r in found] for found in rows] == [[told[0].session], [told[1].session]]
        assert [len(await (await h.runtime.store()).history.tool_calls(h.runtime.owner)) for h in (red, blue)] == [1, 0]
    assert (place / "red" / "state.db").is_file()
    assert (place / "blue" / "state.db").is_file()


def test_importing_the_library_is_light():
    program = "import sys, hermes_core; print([m for m in ('attrs', 'asyncio', 'pluggy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_public_name_is_there():
    for name in hermes_core.__all__:
        assert getattr(hermes_core, name) is not None
    with pytest.raises(AttributeError, match="nosuch"):
        hermes_core.nosuch  # noqa: B018


# --- Distribution -----------------------------------------------------------------------------------------------------

ACME = Distribution(
    name="acme-bot",
    version="2.1",
    plugins=Allow(
        "hermes-provider-offline",
        "hermes-backend-local",
        "hermes-tool-files",
        "hermes-tool-terminal",
        "hermes-platform-cli",
    ),
    own=("hermes-provider-*", "hermes-tool-files", "hermes-platform-cli"),
    builtin=("hermes-backend-local",),
    defaults={"model.provider": "offline", "memory.provider": "", "agent.max_calls": 7},
    locked={"policy.mode": "ask"},
    user_plugins=False,
)


@pytest.fixture
def acme(capsys, tmp_path):
    def run(*words):
        capsys.readouterr()
        return _status(ACME, list(words)), *capsys.readouterr()

    run.home = tmp_path / ".acme-bot"
    return run


def test_a_product_has_its_own_name_and_home(acme, monkeypatch, tmp_path):
    assert acme("--version") == (0, "acme-bot 2.1\n", "")
    assert acme("config", "path")[1] == f"{acme.home}/config.yaml\n"
    assert acme("--help")[1].startswith("Usage: acme-bot ")
    assert "_ACME_BOT_COMPLETE" in acme("completion", "bash")[1]
    monkeypatch.setenv("ACME_BOT_HOME", str(tmp_path / "else"))
    assert acme("config", "path")[1] == f"{tmp_path}/else/config.yaml\n"
    (tmp_path / "else" / "profiles" / "work").mkdir(parents=True)
    monkeypatch.setenv("ACME_BOT_PROFILE", "work")
    assert acme("config", "path")[1] == f"{tmp_path}/else/profiles/work/config.yaml\n"


def test_a_product_uses_only_what_it_allows(acme):
    status, out, _ = acme("plugins", "list")
    states = {line.split()[0]: line.split()[2] for line in out.splitlines()[1:]}
    assert status == 0
    assert states["tool/files"] == "builtin"
    assert states["provider/offline"] == "builtin"
    assert states["backend/local"] == "builtin"
    assert states["tool/terminal"] == "never_asked"
    assert states["tool/recall"] == "disabled"
    assert acme("plugins", "enable", "tool/recall", "--yes")[0] == 2


def test_what_is_built_in_cannot_be_disabled_and_what_is_own_can(acme):
    assert acme("plugins", "disable", "backend/local")[0] == 2
    assert acme("plugins", "disable", "tool/files")[0] == 0
    status, out, err = acme("tools", "list")
    assert (status, "tool/files" in err, "read_file" in out) == (0, True, False)
    assert acme("plugins", "enable", "tool/files", "--yes")[0] == 0
    assert "read_file" in acme("tools", "list")[1]


def test_defaults_may_be_changed_and_locks_not(acme):
    assert acme("config", "get", "agent.max_calls")[1] == "7\n"
    acme("config", "set", "agent.max_calls", "9")
    acme("config", "set", "policy.mode", "off")
    assert acme("config", "get", "agent.max_calls")[1] == "9\n"
    assert acme("config", "get", "policy.mode")[1] == "ask\n"


def test_files_of_the_user_are_no_plugins_of_this_product(acme):
    folder = acme.home / "plugins"
    folder.mkdir(parents=True)
    (folder / "mine.py").write_text(
        '# /// hermes\n# api = 1\n# name = "mine"\n# kind = "tool"\n# summary = "x"\n# ///\n'
    )
    assert "mine" not in acme("plugins", "list")[1]


@pytest.mark.long
def test_a_product_answers_and_its_doctor_is_its_own(acme):
    status, out, _ = acme("-z", "list the files here")
    assert (status, out) == (0, "`.` holds 1 file:\n- notes.md\n")
    status, out, _ = acme("doctor", "--deep")
    assert status == 0, out
    assert str(acme.home) in out
    assert "imported in" in out
    acme("plugins", "enable", "tool/terminal", "--yes")
    status, out, _ = acme("doctor", "--plugin", "tool/terminal")
    assert (status, "imported in" in out) == (0, True)


async def test_a_product_is_a_library_too(tmp_path):
    async with Hermes(ACME, config={"agent.max_calls": 8}) as hermes:
        assert hermes.runtime.settings.config.agent.max_calls == 8
        assert hermes.runtime.home.root == tmp_path / ".acme-bot"
        assert "notes.md" in (await hermes.run("list the files here")).text
    async with Hermes(ACME, home=tmp_path / "else", config={"policy.mode": "off"}) as hermes:
        assert hermes.runtime.policy.mode() == "ask"
        assert hermes.runtime.home.root == tmp_path / "else"


async def test_a_profile_is_chosen_by_the_program(tmp_path):
    with pytest.raises(UnknownName, match="work"):
        await Hermes(home=tmp_path, profile="work").__aenter__()
    (tmp_path / "profiles" / "work").mkdir(parents=True)
    async with Hermes(home=tmp_path, profile="work", provider="offline") as hermes:
        await hermes.run("hello")
    assert (tmp_path / "profiles" / "work" / "state.db").is_file()


def test_ours_is_nothing_special():
    assert isinstance(HERMES, Distribution)
    assert HERMES.name == "hermes"
    assert [*HERMES.locked, *HERMES.defaults, *HERMES.builtin] == []


def test_a_console_script_of_a_product_exits_with_the_status(tmp_path):
    program = textwrap.dedent("""
        import sys
        from hermes_core import Distribution
        Distribution(name="acme", own=("hermes-*",)).cli()
    """)
    for words, status in ((["--version"], 0), (["sessions", "show", "nosuch"], 2)):
        env = {**os.environ, "HOME": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", program, *words], env=env, capture_output=True, check=False)
        assert done.returncode == status


async def test_a_turn_that_is_broken_off_is_an_error_in_words(tmp_path: Path) -> None:
    class Broken(Hermes):
        async def turn(self, *_: object, **__: object):
            return
            yield

    async with Broken(home=tmp_path) as hermes:
        with pytest.raises(HermesError, match="ended without an answer"):
            await hermes.run("Hello.")
