"""One broken plugin each: its fault costs its own feature only, it is named, and the end comes soon."""

import re
import time

import pytest

HEAD = """
import asyncio, os, sys, time
from attrs import evolve
from hermes_core import hookimpl
from hermes_core.kinds import tool
from hermes_core.types import Verdict
"""
SWALLOW = """
    while True:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            pass
"""


@pytest.fixture
def asked(cli, monkeypatch):
    """Put in a plugin with these hooks or tools, ask for something, and say what came out."""

    def ask(code, words="list the files here", **tables):
        cli.plugin("tool/bad", HEAD + code, **tables)
        cli("plugins", "enable", "bad", "--yes")  # which tells of some of it
        return cli.process("-z", words)

    return ask


def hook(name, body, arguments="ctx"):
    return f"@hookimpl\nasync def {name}({arguments}):\n{body}\n"


def tools(body, decorator="@tool"):
    return f"""
{decorator}
async def bad_one() -> str:
    "Does something."
{body}

@hookimpl
def register_tools():
    return [bad_one]
"""


@pytest.mark.long
@pytest.mark.parametrize("name", ["on_turn_end", "on_session_end", "post_tool_call", "transform_prompt"])
def test_a_hook_that_swallows_its_cancellation_keeps_no_process_alive(asked, name):
    done = asked(hook(name, SWALLOW), hooks={"use": [name]})
    assert done.status == 0
    assert done.out
    assert "tool/bad failed" in done.err


@pytest.mark.long
def test_a_tool_that_swallows_its_cancellation_keeps_no_process_alive(asked, cli):
    done = asked(tools(SWALLOW, "@tool(seconds=0.2)"), "use the tool bad_one", contributes={"tools": ["bad_one"]})
    assert "cannot be stopped" in done.out
    assert "Plugin tool/bad failed (call): bad_one did not end within 0.2 s, and cannot be stopped" in done.err
    assert re.search(r"fault +tool/bad", cli("doctor").out)


@pytest.mark.parametrize("way", ["sys.exit(3)", "os._exit(3)", "raise KeyError('x')"])
@pytest.mark.few(1)
def test_what_ends_in_a_tool_costs_that_call_only(asked, cli, way):
    done = asked(tools(f"    {way}"), "use the tool bad_one", contributes={"tools": ["bad_one"]})
    assert done.status == 0
    assert "bad_one" in done.out
    assert "Plugin tool/bad failed" in done.err
    assert re.search(r"fault +tool/bad", cli("doctor").out)


def test_os_exit_in_a_hook_is_named(asked):
    done = asked(hook("on_turn_start", "    os._exit(5)"), hooks={"use": ["on_turn_start"]})
    assert done.status == 0
    assert "called os._exit(5)" in done.err


def test_os_exit_at_import_is_named_at_the_first_start(asked, cli):
    cli.plugin("tool/bad", "import os\nos._exit(9)\n", hooks={"use": ["on_turn_start"]})
    assert cli("plugins", "enable", "bad", "--yes").status != 9
    done = cli.process("-z", "hello")
    assert done.status == 0
    assert done.out


@pytest.mark.long
@pytest.mark.parametrize("needs", ["lambda session: 1 / 0", "lambda: None", "lambda session: 5"])
def test_needs_that_is_unsound_hides_its_own_tool_only(asked, needs):
    done = asked(tools("    return 'x'", f"@tool(needs={needs})"), contributes={"tools": ["bad_one"]})
    assert done.status == 0
    assert done.out


@pytest.mark.long
@pytest.mark.parametrize(
    "bad",
    [
        "offer, tools=None",
        "offer, tools=(s for s in offer.tools)",
        "offer, tools=[None]",
        "offer, why=5",
        "offer, tools=[evolve(s, description=None) for s in offer.tools]",
    ],
)
def test_a_value_with_nonsense_inside_is_dropped_and_nobody_else_is_blamed(asked, bad):
    done = asked(hook("offer_tools", f"    return evolve({bad})", "offer"), hooks={"use": ["offer_tools"]})
    assert done.status == 0
    assert done.out
    assert [line.split()[1] for line in done.err.splitlines() if line.startswith("Plugin ")] == ["tool/bad"]


@pytest.mark.parametrize(
    ("name", "value", "bad"),
    [
        ("transform_prompt", "prompt", "blocks=7"),
        ("transform_incoming", "envelope", "message=None"),
        ("transform_tool_result", "result", "parts=[5]"),
        ("pre_llm_call", "request", "messages=None"),
    ],
)
@pytest.mark.long
def test_the_value_before_stands(asked, name, value, bad):
    done = asked(hook(name, f"    return evolve({value}, {bad})", value), hooks={"use": [name]})
    assert done.status == 0
    assert done.out
    assert f"Plugin tool/bad failed (call): what {name} gave back was not used" in done.err


def test_a_gate_with_nonsense_inside_lets_the_turn_end(asked):
    done = asked(hook("may_end", '    return Verdict(outcome="deny", reason=7)'), hooks={"use": ["may_end"]})
    assert done.status == 0
    assert "tool/bad failed" in done.err


def test_builtins_that_are_replaced_are_put_back(asked):
    code = "import builtins\ndef no(*a, **k): raise RuntimeError\nbuiltins.print = builtins.open = no\n"
    done = asked(f"{code}{hook('on_turn_start', '    pass')}", hooks={"use": ["on_turn_start"]})
    assert done.status == 0
    assert done.out
    assert "replaces Python's own open, print when it is imported" in done.err


@pytest.mark.parametrize("name", ["on_turn_end", "on_session_end"])
@pytest.mark.few(1)
def test_who_holds_up_everything_after_the_answer_is_named_and_left_behind(cli, name):
    cli.plugin("tool/bad", HEAD + hook(name, "    time.sleep(30)"), hooks={"use": [name]})
    cli("plugins", "enable", "bad", "--yes")
    began = time.monotonic()
    done = cli.process("-z", "hello")
    assert time.monotonic() - began < 6  # two after the answer, and what a start takes here
    assert (done.status, bool(done.out)) == (0, True)
    failed = [line for line in done.err.splitlines() if line.startswith("Plugin ")]
    said = "held everything up after the answer, and nobody waited for it"
    assert failed == [f"Plugin tool/bad failed (call): {said}. See `hermes doctor`."], "and nobody else is blamed"
    assert re.search(f"fault +tool/bad +call: {name}:? .*{said}", cli("doctor").out), cli("doctor").out


@pytest.mark.long
def test_who_holds_up_everything_before_the_answer_is_named_alone(asked):
    done = asked(hook("on_turn_start", "    time.sleep(5.2)"), hooks={"use": ["on_turn_start"]})
    assert done.out
    failed = [line for line in done.err.splitlines() if line.startswith("Plugin ")]
    assert failed == ["Plugin tool/bad failed (call): held everything up for 5 s. See `hermes doctor`."]


@pytest.mark.long
@pytest.mark.parametrize("name", ["on_turn_end", "on_session_end"])
def test_a_fault_after_the_answer_is_told(asked, name):
    done = asked(hook(name, '    raise RuntimeError("boom")'), hooks={"use": [name]})
    assert "Plugin tool/bad failed (call): RuntimeError: boom" in done.err


@pytest.mark.long
def test_a_masker_that_hangs_hides_the_text(asked):
    code = """
from hermes_core.kinds import Masker
class M(Masker):
    name = "m"
    def spans(self, text): time.sleep(1000)
@hookimpl
def register_maskers(): return [M()]
"""
    done = asked(code, contributes={"maskers": ["m"]})
    assert done.out
    assert "tool/bad" in done.err


@pytest.mark.parametrize("error", ["asyncio.CancelledError", "GeneratorExit", "KeyError('x')"])
@pytest.mark.few(1)
def test_a_command_that_fails_names_its_plugin_without_a_traceback(cli, error):
    code = f"""
import click
from hermes_core.types import Command
@click.command()
async def cc():
    raise {error}
@hookimpl
def register_cli_commands(): return [Command(name="cc", build=lambda: cc)]
"""
    cli.plugin("tool/bad", HEAD + code, **{"commands.cc": {"summary": "C."}})
    assert cli("plugins", "enable", "bad", "--yes").status == 0
    done = cli.process("cc")
    assert done.status == 3
    assert "Plugin tool/bad: its command cc failed" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("words", [("-z", "hello"), ("chat", "-q", "hello"), ("--cli", "chat")])
@pytest.mark.few(1)
def test_what_falls_over_an_answer_is_told_once_wherever_one_talks(cli, words):
    cli.plugin("tool/bad", HEAD + hook("transform_outgoing", "    1 / 0"), hooks={"use": ["transform_outgoing"]})
    cli("plugins", "enable", "bad", "--yes")
    done = cli.process(*words, input="hello\nhello\n")
    said = [line for line in (done.out + done.err).splitlines() if "tool/bad" in line]
    assert len(said) == 1, said
    assert "did not change the answer: ZeroDivisionError" in said[0]


def test_a_tool_that_lacks_something_is_hidden_and_doctor_says_why(cli):
    needs = '@tool(needs=lambda session: "there is no rope")'
    cli.plugin("tool/bad", HEAD + tools("    return 'x'", needs), contributes={"tools": ["bad_one"]})
    cli("plugins", "enable", "bad", "--yes")
    assert re.search("idle +tools +bad_one is hidden: there is no rope", cli("doctor").out)


def test_what_a_service_did_last_is_told_by_doctor(cli):
    code = """
from hermes_core.kinds import Service
class Ticks(Service):
    name = "ticks"
    async def run(self): pass
    async def status(self): return "ticked at noon"
@hookimpl
def register_services(): return [Ticks()]
"""
    cli.plugin("tool/bad", HEAD + code, contributes={"services": ["ticks"]})
    cli("plugins", "enable", "bad", "--yes")
    assert re.search("ok +tool/bad +service ticks: ticked at noon", cli("doctor").out)


BACKEND = """
from hermes_core import Backend, Workspace
from hermes_core.types import ExecResult
class Place(Workspace):
    def __init__(self, folder):
        self.cwd = folder
    async def run(self, request):
        environ = {ENVIRON}
        pipe = asyncio.subprocess.PIPE
        child = await asyncio.create_subprocess_exec(*request.argv, cwd=self.cwd, env=environ, stdin=pipe, stdout=pipe)
        output, _ = await child.communicate(request.stdin)
        return ExecResult(status=child.returncode, output=output)
class Bad(Backend):
    name = "bad"
    async def open(self, key):
        return Place(key)
@hookimpl
def register_backends():
    return [Bad()]
"""
SEES, LACKS = "its commands see the secrets of this process", "its commands lack HERMES_RUN"


@pytest.mark.parametrize(
    ("environ", "said"),
    [("{**os.environ, **request.env}", SEES), ("{'PATH': os.environ['PATH']}", LACKS), ("request.environment", "")],
)
@pytest.mark.few(1)
def test_a_backend_that_passes_a_wrong_environment_is_named_and_not_used(cli, monkeypatch, environ, said):
    monkeypatch.setenv("FOO_API_KEY", "planted-for-nobody-123")
    cli.plugin("backend/bad", HEAD + BACKEND.replace("{ENVIRON}", environ), contributes={"backends": ["bad"]})
    cli("plugins", "enable", "bad", "--yes")
    cli("config", "set", "terminal.backend", "bad")
    done = cli.process("chat", "-q", "list the files here", "--yolo")
    if said:
        assert f"Plugin backend/bad failed (call): {said}" in done.err
        assert "Its commands are not run" in done.out + done.err
        assert said in cli("doctor").out
    else:
        assert "failed" not in done.err


def test_a_backend_that_never_says_it_is_ready_is_named(cli):
    cli.plugin(
        "backend/bad", HEAD + BACKEND.replace("{ENVIRON}", "request.environment"), contributes={"backends": ["bad"]}
    )
    cli("plugins", "enable", "bad", "--yes")
    done = cli("doctor", "--plugin", "backend/bad")
    assert re.search("fault +backend/bad +the backend bad is not ready", done.out), done.out
    assert "Its author has to define ready()." in done.out


@pytest.mark.parametrize("name", ["on_turn_end", "on_session_end", "post_llm_call"])
@pytest.mark.few(1)
def test_an_observer_that_will_not_end_is_named_and_holds_nobody_up(cli, name):
    cli.plugin("tool/bad", HEAD + hook(name, SWALLOW), hooks={"use": [name]})
    cli("plugins", "enable", "bad", "--yes")
    began = time.monotonic()
    done = cli.process("-z", "hello")
    assert time.monotonic() - began < 5  # two after the answer, and what a start takes here
    assert done.out
    assert "Plugin tool/bad failed (call): was still at work 1.5 s after the end, and was stopped" in done.err
    assert re.search(r"fault +tool/bad +call: observers", cli("doctor").out)


def test_a_slash_command_or_alias_that_lost_its_name_is_told_by_doctor_and_beside_an_answer(cli):
    code = """
from hermes_core.types import SlashCommand
@hookimpl
def register_slash_commands():
    async def run(session, rest): return "mine"
    return [SlashCommand(name="{0}", summary="Mine.", run=run, who="everyone", aliases=("halt",))]
"""
    cli.plugin("tool/able", HEAD + code.format("aaa"), contributes={"slash": ["aaa", "halt"]})
    cli.plugin("tool/bad", HEAD + code.format("zzz"), contributes={"slash": ["zzz", "halt"]})
    cli("plugins", "enable", "able", "--yes")
    lost = r"\S*able.py and \S*bad.py both add 'halt'; \S*able.py is used"
    assert not re.search(rf"Plugin tool/bad failed \(discover\): {lost}", cli.process("-z", "hello").err), "it is off"
    cli("plugins", "enable", "bad", "--yes")
    assert re.search(f"fault +tool/bad +discover: {lost}", cli("doctor").out)
    done = cli.process("-z", "hello")
    assert (done.status, done.out.strip() != "") == (0, True)
    assert re.search(rf"Plugin tool/bad failed \(discover\): {lost}\. See `hermes doctor`\.", done.err)


def test_a_command_that_cannot_be_built_names_its_plugin(cli):
    code = """
from hermes_core.types import Command
def build(): raise ValueError("no such card")
@hookimpl
def register_cli_commands(): return [Command(name="cc", build=build)]
"""
    cli.plugin("tool/bad", HEAD + code, **{"commands.cc": {"summary": "C."}})
    assert cli("plugins", "enable", "bad", "--yes").status == 0
    done = cli.process("cc")
    assert done.status == 3
    assert "Plugin tool/bad: its command cc cannot be built: ValueError: no such card" in done.err
    assert "Traceback" not in done.err


PROVIDER = """
from hermes_core.kinds import Provider
from hermes_core.types import Model, TextDelta
class P(Provider):
    name = "badly"
    async def models(self): return [Model(name="m")]
    async def stream(self, request):
        BODY
    async def close(self):
        CLOSE
@hookimpl
def register_providers(): return [P()]
"""


def answered(cli, body, close="pass"):
    code = PROVIDER.replace("BODY", body).replace("CLOSE", close)
    cli.plugin("provider/bad", HEAD + code, contributes={"providers": ["badly"]})
    cli("plugins", "enable", "provider/bad", "--yes")
    cli.configure("model: {provider: badly}\n")
    return cli.process("-z", "hello")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('no card'); yield", "ValueError: no card"),
        ("sys.exit(3); yield", "called sys.exit(3)"),
        ("return; yield", "its reply ended without a word, and without Done"),
        ("yield 42", "its reply ended without a word, and without Done"),
    ],
)
@pytest.mark.few(1)
def test_a_provider_that_breaks_its_contract_is_named(cli, body, said):
    done = answered(cli, body)
    assert done.status == 1
    assert f"Plugin provider/bad failed (call): {said}" in done.err
    assert "Traceback" not in done.err
    assert re.search(r"fault +provider/bad +call: stream", cli("doctor").out)


def test_a_provider_whose_reply_has_no_end_is_named(cli):
    done = answered(cli, "yield TextDelta(text='Well')")
    assert "cut off before its end" in done.err
    assert "provider/bad does not end its replies" in done.err


def test_a_provider_that_will_not_close_holds_nobody_up(cli):
    began = time.monotonic()
    done = answered(cli, "raise ValueError('no'); yield", "await asyncio.sleep(1000)")
    assert time.monotonic() - began < 15
    assert re.search(r"fault +provider/bad +call: close .*no answer within 1.5 s", cli("doctor").out), done.err


def routed(cli, attempts):
    code = f"""
from hermes_core.kinds import Attempt, Router
class R(Router):
    name = "winding"
    async def attempts(self, call):
        mine = Attempt(route=call.route, request=call.request)
        {attempts}
@hookimpl
def register_routers(): return [R()]
"""
    may = {"contributes": {"routers": ["winding"]}, "permissions": {"kernel": ["models.route"]}}
    cli.plugin("tool/bad", HEAD + code, **may)
    cli("plugins", "enable", "bad", "--yes")
    cli.configure("model: {provider: offline}\nplugins: {order: [tool/bad]}\n")
    return cli.process("-z", "hello")


@pytest.mark.parametrize(
    ("attempts", "said"),
    [
        ("return; yield", "tried nothing, so the first choice was asked"),
        ("time.sleep(5.2); yield mine", "held everything up for 5 s"),
        ("yield mine\n" + SWALLOW.replace("\n", "\n    "), "no answer within 1.5 s"),
        (
            "while True:\n            try: yield mine\n            except BaseException: pass",
            "RuntimeError: async generator",
        ),
    ],
)
@pytest.mark.few(1)
def test_a_router_that_breaks_its_contract_is_named_and_the_answer_comes(cli, attempts, said):
    done = routed(cli, attempts)
    assert done.status == 0
    assert done.out
    assert f"Plugin tool/bad failed (call): {said}" in done.err
    assert "Traceback" not in done.err


def test_a_thread_that_will_not_end_is_named_and_holds_nobody_up(cli):
    body = "    asyncio.create_task(asyncio.to_thread(time.sleep, 1000))"
    cli.plugin("tool/bad", HEAD + hook("on_turn_end", body), hooks={"use": ["on_turn_end"]})
    cli("plugins", "enable", "bad", "--yes")
    began = time.monotonic()
    done = cli.process("-z", "hello")
    assert time.monotonic() - began < 15
    assert done.out
    assert "Plugin tool/bad failed (call): left a thread that was still at work 1.5 s after the end" in done.err
    assert re.search(r"fault +tool/bad +call: on_turn_end", cli("doctor").out)


def test_a_memory_that_never_ends_its_look_is_named_and_holds_nobody_up(cli):
    code = f"""
from hermes_core.kinds import Memory
class M(Memory):
    name = "slow"
    async def add(self, owner, text, source): pass
    async def search(self, owner, query, limit): return []
    async def forget(self, owner, memo_id): pass
    async def learn(self, session, messages):{SWALLOW.replace(chr(10), chr(10) + "    ")}
@hookimpl
def register_memories(): return [M()]
"""
    cli.plugin("memory/bad", HEAD + code, contributes={"memories": ["slow"]})
    cli("plugins", "enable", "memory/bad", "--yes")
    cli.configure("model: {provider: offline}\nmemory: {provider: slow}\n")
    began = time.monotonic()
    done = cli.process("-z", "hello")
    assert time.monotonic() - began < 15
    session = cli.process("sessions", "list", "--json").rows[0]["id"]
    assert (
        f"Plugin memory/bad failed (call): was not done 1.5 s after the end: it looks at session {session}" in done.err
    )


def test_a_hook_that_raises_what_ctrl_c_raises_is_named_and_the_answer_comes(asked):
    done = asked(hook("on_turn_start", "    raise KeyboardInterrupt"), hooks={"use": ["on_turn_start"]})
    assert done.status == 0
    assert done.out
    assert "Plugin tool/bad failed (call): KeyboardInterrupt" in done.err
    assert "Traceback" not in done.err


def masked_by(asked, spans):
    code = f"""
from hermes_core.kinds import Masker
class M(Masker):
    name = "m"
    def spans(self, text):
        {spans}
        return []
@hookimpl
def register_maskers(): return [M()]
"""
    return asked(code, contributes={"maskers": ["m"]})


@pytest.mark.long
def test_a_slow_masker_is_blamed_and_not_who_waits_for_it(asked):
    done = masked_by(asked, "time.sleep(0.5)")
    assert done.out
    assert [line.split()[1] for line in done.err.splitlines() if line.startswith("Plugin ")] == ["tool/bad"]


@pytest.mark.long
def test_what_is_told_of_a_masker_that_hangs_can_be_read(asked):
    done = masked_by(asked, "time.sleep(1000)")
    assert "Plugin tool/bad failed (call): gave no answer within 5 s, so every text is hidden" in done.err


def test_a_tool_that_gives_far_too_much_is_cut_before_anybody_looks_at_it(asked, cli):
    done = asked(tools("    return 'x' * 200_000_000"), "use the tool bad_one", contributes={"tools": ["bad_one"]})
    assert done.status == 0
    assert done.out
    (kept,) = (cli.home / "cache" / "outputs").rglob("*output.txt")
    assert kept.stat().st_size < 5_000_000
    assert "196,000,000 characters were not kept" in kept.read_text()
