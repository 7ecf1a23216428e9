# ruff: noqa: E501 - a table; a variant is a line
"""Plugins that break their contract, each in one way: the hello-world plugin of a kind, with one passage changed.

``VARIANTS`` maps each contract test to the variants that it must catch.
"""

from pathlib import Path

from attrs import Factory, frozen

HELLO = Path(__file__).parents[2] / "docs" / "hello"
SOURCES = {
    kind: next((HELLO / kind).glob("src/*/__init__.py")) for kind in ("provider", "tool", "source", "backend", "memory")
}


@frozen(kw_only=True)
class Broken:
    """What is changed in the module, in the manifest, and what the contract class says."""

    kind: str
    test: str
    module: tuple[str, str] = ("", "")
    manifest: tuple[str, str] = ("", "")
    body: str = ""
    source: str = ""
    also: dict[str, str] = Factory(dict)  # other files, by name

    def files(self, name: str) -> dict[str, str]:
        """The plugin and its contract class, under a module name."""
        hello = SOURCES[self.kind]
        source = self.source or _changed(hello.read_text(), self.module)
        manifest = _changed(hello.with_name("hermes-plugin.toml").read_text(), self.manifest)
        block = "".join(f"# {line}".rstrip() + "\n" for line in manifest.splitlines())
        return {f"{name}.py": f"# /// hermes\n{block}# ///\n{source}", **self.also}

    def contract(self, name: str) -> str:
        """The contract class."""
        base = "ToolSourceContract" if self.kind == "source" else f"{self.kind.capitalize()}Contract"
        body = self.body.replace("MODULE", name)
        return f"class Test_{name}({base}):\n    module = {name!r}\n{body}\n"


def _changed(text: str, change: tuple[str, str]) -> str:
    old, new = change
    assert old in text, f"{old!r} is not in the hello-world plugin any more; mend the table"
    return text.replace(old, new) if old else text


def provider(test: str, old: str = "", new: str = "", **more: object) -> Broken:
    return Broken(kind="provider", test=test, module=(old, new), **more)  # type: ignore[arg-type]


def tool(test: str, old: str = "", new: str = "", **more: object) -> Broken:
    return Broken(kind="tool", test=test, module=(old, new), **more)  # type: ignore[arg-type]


def source(test: str, old: str = "", new: str = "") -> Broken:
    return Broken(kind="source", test=test, module=(old, new))


def backend(test: str, old: str = "", new: str = "", **more: object) -> Broken:
    return Broken(kind="backend", test=test, module=(old, new), body="    patience = 0.3", **more)  # type: ignore[arg-type]


def memory(test: str, old: str = "", new: str = "", **more: object) -> Broken:
    return Broken(kind="memory", test=test, module=(old, new), **more)  # type: ignore[arg-type]


def platform(test: str, methods: str = "    pass\n", people: str = "    pass\n") -> Broken:
    """A FakePlatform with other methods, or with other people on it."""
    source = f"""
import asyncio
from hermes_core import hookimpl
from hermes_core.testing import FakePeople, FakePlatform
from hermes_core.types import *
class People(FakePeople):
{people}
class Service(FakePlatform):
    def __init__(self, **options):
        super().__init__(**options)
        self.service = People(self)
{methods}
@hookimpl
def register_platforms():
    return [Service(name="fake")]
"""
    body = """
    patience = 0.1
    @pytest.fixture
    def platform(self):
        import MODULE
        return MODULE.Service(name="fake", limit=60)
    @pytest.fixture
    def service(self, platform):
        return platform.service
"""
    return Broken(kind="platform", test=test, source=source, body=body)


SOURCES["platform"] = next((HELLO / "platform").glob("src/*/__init__.py"))
FAILING = """
    @pytest.fixture
    def failing(self, provider):
        return lambda status, body: provider
"""
SECTION = ("[contributes]", '[config]\nsection = "providers.echo"\nclass = "MODULE:Config"\n\n[contributes]')
CLASS = "@settings\nclass Config:\n    '''C.'''\n    speed: float = {}\n\n\nclass Echo(Provider):"

COMMAND = '''
@hookimpl
def register_cli_commands():
    import click
    from hermes_core.types import Command

    @click.command()
    def x():
        """Do it."""

    return [Command(name="x", build=lambda: x)]


@hookimpl'''
SERVICE = """
@hookimpl
def register_services():
    import asyncio
    from hermes_core.kinds import Service

    class Deaf(Service):
        name = "deaf"

        async def run(self):
            for _ in range(40):
                try:
                    await asyncio.sleep(0.1)
                except asyncio.CancelledError:
                    pass

    return [Deaf()]


@hookimpl"""
RESOURCE = """
@hookimpl
def register_resources():
    import asyncio
    from hermes_core.kinds import Resource

    class Lamp(Resource):
        name = "lamp"

        async def open(self, session, workspace):
            {open}
            return asyncio.create_task(asyncio.sleep(60))

        async def close(self, thing):
            {close}

    return [Lamp()]


@hookimpl"""
LAMP = ("[contributes]", '[contributes]\nresources = ["lamp"]')
CLAIMED = """    from hermes_core.types import Feature
    features = frozenset({Feature.EMBED})

    async def models"""
UNCLAIMED = """    async def draw(self, request):
        return None

    async def models"""
MIGRATION = """
@hookimpl
def register_migrations():
    from pathlib import Path
    from hermes_core.types import Migration

    folder = Path(__file__).with_name("migrations")
    folder.mkdir(exist_ok=True)
    (folder / "0001_first.py").write_text(
        "import sqlalchemy as sa\\nfrom alembic import op\\nrevision, down_revision = '0001', None\\n"
        "def upgrade():\\n    op.create_table('mine', sa.Column('x', sa.Text))\\n"
    )
    return [Migration(folder=folder, head="0001")]


@hookimpl"""
SLASH = """from hermes_core.types import SlashCommand


async def run(session, rest):
    return rest


@hookimpl
def register_slash_commands():
    return [SlashCommand(name="x", run=run)]


@hookimpl"""
DESCRIBED = "[commands.x]\nsummary = 'Do it.'\n\n[contributes]"

BASE = [
    provider("test_the_manifest_is_valid", manifest=('kind = "provider"', 'kind = "tool"')),
    provider("test_the_manifest_is_valid", manifest=("api = 1", "api = 1\nkindd = 1")),
    provider("test_it_contributes_exactly_what_it_declares", manifest=('["echo"]', '["echo", "other"]')),
    provider("test_it_contributes_exactly_what_it_declares", "return [Echo()]", "return []"),
    provider("test_it_contributes_exactly_what_it_declares", "class Echo(Provider)", "class Echo"),
    provider("test_importing_it_is_light", "from hermes_core import", "import yaml\nfrom hermes_core import"),
    provider(
        "test_importing_it_is_light", "from hermes_core import", "import hermes_core.cli\nfrom hermes_core import"
    ),
    provider("test_registering_it_does_no_io", "return [Echo()]", "open('x', 'w').close()\n    return [Echo()]"),
    provider(
        "test_registering_it_does_no_io",
        "return [Echo()]",
        "import subprocess\n    subprocess.run(['true'])\n    return [Echo()]",
    ),
    provider("test_every_hook_matches_its_spec", "def register_providers()", "def register_providers(kernel)"),
    provider("test_every_hook_matches_its_spec", "@hookimpl", "@hookimpl\ndef on_faults():\n    pass\n\n\n@hookimpl"),
    provider(
        "test_every_hook_matches_its_spec",
        "@hookimpl",
        "@hookimpl\ndef on_fault(fault):\n    pass\n\n\n@hookimpl",
        manifest=("[contributes]", '[hooks]\nuse = ["on_fault"]\n\n[contributes]'),
    ),
    provider(
        "test_every_hook_matches_its_spec", "@hookimpl", "@hookimpl\nasync def on_fault():\n    pass\n\n\n@hookimpl"
    ),
    provider(
        "test_its_commands_explain_themselves",
        "@hookimpl",
        COMMAND,
        manifest=("[contributes]", "[contributes]\ncommands = ['x']"),
    ),
    provider(
        "test_its_commands_explain_themselves",
        "@hookimpl",
        COMMAND.replace('"""Do it."""', "pass"),
        manifest=("[contributes]", DESCRIBED),
    ),
    provider(
        "test_its_commands_explain_themselves",
        "@hookimpl",
        COMMAND.replace("build=lambda: x", "build=lambda: None"),
        manifest=("[contributes]", DESCRIBED),
    ),
    provider(
        "test_its_commands_explain_themselves",
        "@hookimpl",
        COMMAND.replace("click.command()", "click.group()").replace("def x", "async def x"),
        manifest=("[contributes]", DESCRIBED),
    ),
    provider(
        "test_its_commands_explain_themselves",
        "@hookimpl",
        COMMAND,
        manifest=("[contributes]", DESCRIBED.replace("\n[contributes]", "default = true\n[contributes]")),
    ),
    provider(
        "test_what_people_see_has_records",
        "@hookimpl",
        SLASH,
        manifest=("[contributes]", "[contributes]\nslash = ['x']"),
    ),
    provider(
        "test_what_people_see_has_records",
        "@hookimpl",
        SLASH.replace("run=run", "run=run, confirm=str"),
        manifest=("[contributes]", "[slash.x]\nsummary = 'Do it.'\n[contributes]"),
    ),
    provider(
        "test_its_settings_are_sound",
        "class Echo(Provider):",
        "from hermes_core import settings\n" + CLASS.format("1.0"),
        manifest=SECTION,
    ),
    provider(
        "test_its_services_end_when_they_are_stopped",
        "@hookimpl",
        SERVICE,
        manifest=("[contributes]", '[contributes]\nservices = ["deaf"]'),
    ),
    *(
        provider(
            "test_its_resources_are_opened_and_closed",
            "@hookimpl",
            RESOURCE.format(open=opened, close=closed),
            manifest=LAMP,
        )
        for opened, closed in (
            ("pass", "pass"),
            ("pass", "raise RuntimeError(thing.cancel())"),
            ("raise RuntimeError('no oil')", "pass"),
            ("self.stray = asyncio.create_task(asyncio.sleep(60)); await asyncio.sleep(0)", "thing.cancel()"),
        )
    ),
    provider(
        "test_its_tables_are_its_own",
        "@hookimpl",
        MIGRATION,
        manifest=("[contributes]", '[permissions]\nkernel = ["store.tables"]\n\n[contributes]'),
    ),
    provider("test_its_tables_are_its_own", "@hookimpl", MIGRATION),
    provider(
        "test_its_readme_is_up_to_date",
        "class Echo(Provider):",
        "from hermes_core import option, settings\n" + CLASS.format("option('How fast.', default=1.0)"),
        manifest=SECTION,
        also={"README.md": "<!-- settings: generated, do not edit -->\nold\n<!-- end of settings -->\n"},
    ),
    provider("test_media_is_real_or_refused", "    async def models", CLAIMED),
    provider("test_media_is_real_or_refused", "    async def models", UNCLAIMED),
    provider(
        "test_it_leaves_nothing_behind",
        "words = [",
        "import asyncio\n        self.task = asyncio.create_task(asyncio.sleep(60))\n        words = [",
    ),
    provider(
        "test_it_leaves_nothing_behind",
        "words = [",
        "import socket\n        self.socket = socket.socket()\n        words = [",
    ),
]

BODY = """    async def body(self, request):
        import json
        names = [*request.tools[0].schema["properties"]]
        return json.dumps({"tools": [{"properties": names}]}).encode()

    async def stream("""

PROVIDER = [
    provider("test_a_schema_is_sent_as_it_is", "    async def stream(", BODY),
    provider("test_it_offers_a_model", 'return [Model(name="echo-1", context=4096, features=frozenset())]', "return []"),
    provider("test_a_stream_ends_with_exactly_one_done", 'yield Done(reason="stop")', "pass"),
    provider("test_a_stream_ends_with_exactly_one_done", "yield TextDelta", "yield Done(reason='stop')\n        yield TextDelta"),
    provider("test_usage_is_reported", "yield UsageDelta", "UsageDelta"),
    provider("test_tool_calls_round_trip", ", features=frozenset()", ""),
    provider("test_a_cancelled_stream_leaves_the_provider_usable", "words = [", """\
assert not getattr(self, "busy", False)
        self.busy = True
        import asyncio
        await asyncio.sleep(0)
        yield TextDelta(text="x")
        self.busy = False
        words = ["""),
    provider("test_what_it_does_not_know_is_tolerated", " if isinstance(part, Text)", ""),
    provider("test_failures_become_the_right_error", body=FAILING),
    provider("test_a_conversation_that_does_not_fit_is_told_apart", body=FAILING),
]  # fmt: skip

NOW = "async def now(where: Where) -> str:"
SAY = "return datetime.now("
MAY_ORDER = ('tools = ["now"]', 'tools = ["now"]\n\n[permissions]\nkernel = ["turns.run"]')
ORDERS = """
from hermes_core import hookimpl, tool
from hermes_core.kinds import ToolContext


@hookimpl
def register_tools(ctx):
    @tool
    async def now(context: ToolContext) -> str:
        \"\"\"Have another agent say the current time.\"\"\"
        return " ".join([str(event) async for event in ctx.turns.run("What time is it?", call=context)])

    return [now]
"""
TOOL = [
    tool("test_it_is_described_for_a_model", "Say the current time at an offset from UTC.", "Time."),
    tool("test_it_is_described_for_a_model", "@tool", "@tool(name='what time')"),
    tool("test_its_schema_is_valid_and_minimal", "hours: float", "hours: __import__('typing').Any"),
    tool("test_bad_arguments_never_reach_run", "return [now]", "import attrs\n    return [attrs.evolve(now, params=dict)]"),
    tool("test_a_call_gives_text_or_parts", SAY, "return 42\n    return datetime.now("),
    tool("test_a_call_gives_text_or_parts", SAY, "return [42]\n    return datetime.now("),
    tool("test_its_output_is_bounded", SAY, "return 'x' * 5_000_000\n    return datetime.now(", body="    greedy_arguments = {}"),
    tool("test_a_failure_is_text_a_model_can_act_on", SAY, "raise KeyError(1)\n    return datetime.now(", body="    failing_arguments = {}"),
    tool("test_a_failure_is_text_a_model_can_act_on", body="    failing_arguments = {}"),
    tool("test_a_cancelled_call_leaves_nothing_behind", SAY, """\
import asyncio
    global task
    task = asyncio.create_task(asyncio.sleep(60))
    return datetime.now("""),
    tool("test_a_cancelled_call_leaves_nothing_behind", SAY, """\
import asyncio
    process = await asyncio.create_subprocess_exec("sleep", "5")
    await process.wait()
    return datetime.now("""),
    tool("test_it_does_only_what_its_effects_say", SAY, "open('x', 'w').close()\n    return datetime.now("),
    tool("test_it_does_only_what_its_effects_say", "@tool", "@tool(effects={'write'})"),
    tool("test_it_does_only_what_its_effects_say", source=ORDERS, manifest=MAY_ORDER),
    tool("test_its_resource_keys_are_text", "@tool", "@tool(touches=lambda where: 'process')"),
    tool("test_its_resource_keys_are_text", "@tool", "@tool(needs=lambda session: '')"),
]  # fmt: skip

FEATURES = (
    "from hermes_core.types import Feature\n\n\nclass Here(Workspace):\n    features = frozenset({{Feature.{}}})\n"
)
KILL = "            with suppress(ProcessLookupError):\n                os.killpg(process.pid, SIGKILL)\n            await process.wait()"
ONLY = "            with suppress(ProcessLookupError):\n                process.kill()"
FURTHER = """\
from hermes_core.types import Feature
    features = frozenset({Feature.FOLDERS})

    async def open(self, key, also=()):
        place = Here(key)
        place.also = also
        return place

    async def closed(self, key):"""
PAPER = "from hermes_core.types import Wall\n\n\nclass Here(Workspace):\n    wall = Wall(name='paper')\n"
BACKEND = [
    backend("test_the_status_of_a_command_is_told", "128 - status if status < 0 else status", "status"),
    backend("test_a_command_that_is_not_there_is_told", "except OSError", "except KeyError"),
    backend("test_arguments_arrive_as_they_are", "(*request.argv,", '("sh", "-c", " ".join(request.argv),'),
    backend("test_stdin_arrives_and_ends", "process.stdin.write(request.stdin)", "process.stdin.write(request.stdin[:9])"),
    backend("test_both_streams_are_joined", "stderr=STDOUT", "stderr=PIPE"),
    backend("test_both_streams_are_joined", "output += piece", "output += piece.decode(errors='replace').encode()"),
    backend("test_long_output_keeps_head_and_tail", "output[:half] + output[-half:]", "output[: 2 * half]"),
    backend("test_long_output_keeps_head_and_tail", "truncated=len(kept) < len(output)", "truncated=False"),
    backend("test_output_is_shown_as_it_comes", "request.on_output(piece)", "pass"),
    backend("test_a_time_out_ends_the_whole_tree", KILL, ONLY),
    backend("test_a_time_out_ends_the_whole_tree", "// 2, 124", "// 2, 1"),
    backend("test_a_cancelled_command_leaves_the_workspace_usable", KILL, ONLY),
    backend("test_folder_and_variables_are_those_asked_for", "request.environment", "dict(os.environ)"),
    backend("test_folder_and_variables_are_those_asked_for", "request.cwd or self.cwd", "self.cwd"),
    backend("test_each_command_bears_its_mark", "request.environment", '{**request.environment, "HERMES_RUN": "1"}'),
    backend("test_secrets_of_hermes_stay_with_it", "request.environment", "{**os.environ, **request.env}"),
    backend("test_the_shell_lasts_if_claimed", "class Here(Workspace):\n", FEATURES.format("PERSISTENT_SHELL")),
    backend("test_two_workspaces_do_not_see_each_other", "return Here(key)", "return Here(os.path.dirname(key))"),
    backend("test_what_is_written_is_read", "async def run", """\
async def read(self, path):
        return (await super().read(path)).strip()

    async def run"""),
    backend("test_a_missing_file_is_a_tool_error", "async def run", """\
async def read(self, path):
        return b""

    async def run"""),
    backend("test_background_commands_work_if_claimed", "class Here(Workspace):\n", FEATURES.format("BACKGROUND")),
    backend("test_closing_ends_what_runs", "async def run", """\
async def close(self):
        import shutil
        shutil.rmtree(self.cwd, ignore_errors=True)

    async def run"""),
    backend("test_it_says_what_can_be_had", "return True", 'return "yes"'),
    backend("test_further_folders_are_reached_if_claimed", "async def open(self, key):", FURTHER),
    backend("test_what_is_read_in_further_folders_is_told", "async def open(self, key):", FURTHER),
    backend("test_nothing_that_runs_by_itself_stays_in_further_folders", "async def open(self, key):", FURTHER),
    backend("test_its_wall_is_said_beforehand", "class Here(Workspace):\n", PAPER),
    backend("test_its_wall_holds", "class Here(Workspace):\n", PAPER),
    backend("test_isolation_is_real_if_claimed", "class Here(Workspace):\n", FEATURES.format("ISOLATED")),
    backend("test_its_files_are_here_if_claimed", "class Here(Workspace):\n", FEATURES.format("LOCAL") + """\

    async def write(self, path, data):
        await super().write(f"elsewhere/{path}", data)

    async def read(self, path):
        return await super().read(f"elsewhere/{path}")
"""),
]  # fmt: skip

CLAIMS = "    features = property(lambda self: frozenset({{Feature.{}}}), lambda self, _: None)\n"
PLATFORM = [
    platform("test_what_a_person_writes_is_received", people="""\
    async def say(self, text, **more):
        await super().say(text, event_id="1")
"""),
    platform("test_an_answer_reaches_the_person", people="""\
    async def seen(self):
        return [s.replace("&amp;", "&") for s in await super().seen()]
"""),
    platform("test_long_messages_are_whole_or_refused", """\
    async def send(self, chat, message, key):
        return await super().send(chat, Message(role="assistant", parts=[Text(text=message.parts[0].text[:60])]), key)
"""),
    platform("test_strangers_are_let_through_to_the_kernel", people="""\
    async def say(self, text, *, sender="someone"):
        if sender != "stranger":
            await super().say(text, sender=sender)
"""),
    platform("test_it_never_answers_itself", people="""\
    async def say_as_bot(self, text):
        await super().say(text, sender="bot")
"""),
    platform("test_receive_ends_on_close", """\
    async def close(self):
        pass
"""),
    platform("test_it_comes_back_after_a_lost_connection", people="""\
    async def drop(self):
        await self.leave()
        return True
"""),
    platform("test_editing_is_real_or_refused", """\
    async def edit(self, sent, message):
        pass
"""),
    platform("test_deleting_is_real_or_refused", """\
    async def delete(self, sent):
        pass
"""),
    platform("test_typing_is_seen_if_claimed", """\
    async def show(self, chat, event):
        pass
"""),
    platform("test_files_arrive_if_claimed", people="""\
    async def media(self):
        return []
"""),
    platform("test_polls_and_places_arrive_or_are_told", """\
    async def send(self, chat, message, key):
        parts = [part for part in message.parts if type(part) is Text]
        return await super().send(chat, Message(role="assistant", parts=parts), key)
"""),
    platform("test_a_thread_is_begun_or_refused", """\
    async def make_thread(self, chat, name):
        return chat
"""),
    platform("test_members_are_told_if_claimed", """\
    async def members(self, chat, sender=""):
        return []
"""),
    platform("test_a_group_is_left_or_that_is_refused", """\
    async def leave(self, chat):
        pass
"""),
    platform("test_being_put_out_of_a_group_is_told_if_claimed", CLAIMS.format("LEAVE"), """\
    async def gather(self):
        await self.say("Hello all.", sender="club")
        return "club"

    async def put_out(self, chat):
        await self.say("You are out.", sender=chat)
"""),
    platform("test_a_press_says_that_it_is_one", CLAIMS.format("BUTTONS"), """\
    async def press_first(self):
        await self.say("tea-1 yes")
"""),
    platform("test_what_it_does_not_know_is_tolerated", """\
    async def show(self, chat, event):
        {Started: 1, Said: 1, Failed: 1, Ended: 1}[type(event)]
"""),
]  # fmt: skip

MEMORY = [
    memory("test_what_is_added_is_found", "wanted in m.text.casefold()", "wanted == m.text.casefold()"),
    memory("test_what_is_forgotten_is_gone", "self._memos.pop((owner, memo_id), None)", "pass"),
    memory("test_forgetting_twice_is_quiet", "self._memos.pop((owner, memo_id), None)", "del self._memos[owner, memo_id]"),
    memory("test_search_is_bounded", "return hits[:limit]", "return hits"),
    memory("test_two_owners_do_not_mix", "who == owner and ", ""),
    memory("test_two_owners_do_not_mix", "who == owner and ", "who.person == owner.person and "),
    memory("test_text_from_outside_comes_back_marked", "source=source", "source=type(source)(by='list')"),
    memory("test_the_same_text_twice_is_one_memo", "uuid5(NAMESPACE_OID, text)", "__import__('uuid').uuid4()"),
    memory("test_every_script_is_kept_and_found", "text=text", "text=text.encode('latin-1', 'replace').decode('latin-1')"),
    memory("test_the_brief_is_text", "async def forget", """\
async def brief(self, session):
        self.asked = getattr(self, "asked", 0) + 1
        return f"Asked {self.asked} times."

    async def forget"""),
    memory("test_all_of_an_owner_is_given_out_and_erased", "async def forget", """\
async def erase(self, owner):
        gone, self._memos = len(await self.export(owner)), {}
        return gone

    async def forget"""),
    memory("test_what_is_fetched_for_a_message_is_the_owners_own", "async def forget", """\
async def prefetch(self, session, message):
        return [*self._memos.values()][:3]

    async def forget"""),
]  # fmt: skip

GLOB = 'return [read(path) for path in ctx.paths.data.glob("*.json")]'
NAMED = "return [Tool(name={}, toolset={}, description='', run=None)] * {}"
SOURCE = [
    source("test_what_it_has_are_tools_of_its_own", GLOB, "return ['canned_x']"),
    source("test_what_it_has_are_tools_of_its_own", GLOB, NAMED.format("'canned_x'", "'canned'", 2)),
    source("test_what_it_has_are_tools_of_its_own", GLOB, NAMED.format("'x'", "'canned'", 1)),
    source("test_what_it_has_are_tools_of_its_own", GLOB, NAMED.format("'canned_x'", "'other'", 1)),
    source("test_asking_it_is_quick_and_changes_nothing", GLOB, f"open('x', 'w').close()\n        {GLOB}"),
    source(
        "test_asking_it_is_quick_and_changes_nothing",
        GLOB,
        NAMED.format("'canned_%s' % __import__('uuid').uuid4()", "'canned'", 1),
    ),
]

VARIANTS = [*BASE, *PROVIDER, *TOOL, *SOURCE, *BACKEND, *PLATFORM, *MEMORY]
