"""Something of everything, an app to put screens over, and the screens as people see them."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any

from attrs import evolve
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from hermes_core.control import ModelsBroker
from hermes_core.errors import AuthError, UserError
from hermes_core.kinds import LoginPrompt, SetupField, SetupStep
from hermes_core.records import Record
from hermes_core.testing import FakeConsole, FakeSessions
from hermes_core.testing.fake_settings import FakeSettings
from hermes_core.types import (
    Feature,
    Hit,
    Job,
    Message,
    Model,
    ModelRow,
    Price,
    Principal,
    ProviderRow,
    Question,
    Session,
    SessionRow,
    Setting,
    SlashCommand,
    Text,
    Usage,
    UsageRow,
)
from hermes_platform_tui.screens.palette import Entry, EverythingProvider
from hermes_platform_tui.screens.work import WorkPanel

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp()
HOSTILE = (
    "\x1b[31mred\x1b]0;own\x07 \u202edrowssap\u202c [bold]x[/] [@click=app.quit]go[/] \x9b2J a\u200bb \ud800 [/no] \\["
)
"""What nobody should ever be able to do to a terminal, or to Textual's markup."""


def now() -> float:
    return NOW


def message(role: Any, text: str) -> Message:
    return Message(role=role, parts=(Text(text=text),))


class Sessions:
    """Sessions that know more than the fake ones: when they were used, what was asked first."""

    def __init__(self, inner: Any, rows: Iterable[SessionRow]) -> None:
        self.inner, self.known_rows = inner, {row.session.id: row for row in rows}
        self.hits: list[Hit] = []
        self.asked: list[int] = []
        self.wrong: Exception | None = None
        for row in self.known_rows.values():
            said = [message("user", row.preview), message("assistant", f"About {row.session.title}: *done*.")]
            inner.known[row.session.id] = (row.session, said)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def rows(self, owner: Principal, *, limit: int = 20) -> Sequence[SessionRow]:
        self.asked.append(limit)
        if self.wrong:
            raise self.wrong
        found = []
        for ident, (session, _) in self.inner.known.items():
            row = self.known_rows.get(ident) or evolve(
                next(iter(self.known_rows.values())), session=session, preview=""
            )
            found.append(evolve(row, session=session))
        return found[:limit]

    async def search(self, owner: Principal, words: str, *, limit: int = 20) -> Sequence[Hit]:
        return [hit for hit in self.hits if words in hit.snippet][:limit]


TITLES = (
    ("Mend the flaky gateway test", "The test test_reconnect fails one time in ten, can you look?", "idle", 180.0),
    ("Release notes for 1.4", "Write the release notes from the commits since v1.3", "running", 20.0),
    ("", "why is my docker build so slow when nothing changed at all in the layers before", "idle", 7200.0),
    ("Plan a holiday in Norway", "Two weeks in June, by train, with a child of four", "interrupted", 86400.0 * 2),
    ("日本語のメモをまとめる", "このフォルダーのメモを一つにまとめてください", "idle", 86400.0 * 20),
    ("Old thing", "", "idle", 86400.0 * 500),
)


def session_rows() -> list[SessionRow]:
    rows = []
    for number, (title, preview, state, past) in enumerate(TITLES, 1):
        session = Session(
            id=f"s{number}", origin="cli", title=title, model="gpt-5-mini" if number % 2 else "claude-opus-5"
        )
        usage = Usage(input=52_000 * number, output=900, calls=number, cost=0.031 * number, priced="estimated")
        if number == 3:
            usage = evolve(usage, priced="", cost=0.0)
        if number == 4:
            usage = evolve(usage, priced="actual", cost=0.0)
        count = 0 if title == "Old thing" else number * 7
        rows.append(
            SessionRow(
                session=session,
                messages=count,
                tool_calls=2,
                updated=NOW - past,
                usage=usage,
                preview=preview,
                state=state,
            )
        )
    return rows


def settings_rows() -> list[Setting]:
    def row(key: str, kind: str, schema: Any, default: Any, value: Any, said: str, **more: Any) -> Setting:
        return Setting(key=key, type=kind, schema=schema, default=default, value=value, help=said, **more)

    text, number = {"type": "string"}, {"type": "integer", "minimum": 1, "maximum": 100}
    modes = {"enum": ["ask", "smart", "off"]}
    listed = {"type": "array", "items": {"type": "string"}, "examples": [["terminal(rm *)"]]}
    flag = {"type": "boolean"}
    return [
        row("model.default", "text", text, "", "gpt-5-mini", "The model's name; empty takes its own.", written=True),
        row("model.api_key", "Secret", text, "", "env:OPENAI_API_KEY", "The key, or a reference to it.", secret=True),
        row("model.temperature", "number or empty", {"type": ["number", "null"], "minimum": 0}, None, None, "Freedom."),
        row("agent.max_calls", "whole number", number, 90, 90, "Model calls in one turn at most."),
        row("policy.mode", "ask, smart, off", modes, "ask", "ask", "Who decides what is risky."),
        row("policy.deny", "list of text", listed, [], ["terminal(rm *)"], "Calls always refused.", written=True),
        row("security.redact_secrets", "true or false", flag, True, True, "Mask secrets.", locked="hermes"),
        row("gateway.streaming", "true or false", {"type": "boolean"}, True, False, "While written.", written=True),
        row("gateway.health.port", "whole number", {"type": "integer"}, 0, 0, "The port; 0: nobody is listened to."),
        row("platforms.tui.mouse", "true or false", {"type": "boolean"}, True, True, "Take the mouse."),
        row("platforms.tui.skin", "text", text, "auto", "auto", "Colours: a built-in skin, or a file in skins/."),
        row("providers", "section", {"type": "object"}, {}, {"x": {"api_key": "[secret]"}}, "Endpoints.", written=True),
        row("toolsets", "list of text", listed, [], [], "The toolsets on offer; empty: all."),
    ]


class Settings(FakeSettings):
    """Reads what is written as the kernel does."""

    def _keep(self, key: str, value: object, *, written: bool) -> Setting:
        import yaml

        read = yaml.safe_load(f"x: {value}")["x"] if isinstance(value, str) and written else value
        return super()._keep(key, "" if read is None and value == "" else read, written=written)


class Models(ModelsBroker):
    """Those that a test put in."""

    def __init__(self, given: "Given") -> None:
        self._given = given

    async def providers(self) -> Sequence[ProviderRow]:
        return await self._given.known_providers()

    async def list(self, provider: str = "") -> Sequence[ModelRow]:
        return await self._given.models_of(provider)


class Station(SetupStep):
    """A step with a field of every kind. ``asked`` holds what its test was given."""

    name = "station"
    summary = f"A weather station; {HOSTILE}"
    login_label = "with the code on its display"
    fields = (
        SetupField("place", "Where it stands", "station.place"),
        SetupField("port", "Port", "station.port", required=False),
        SetupField("units", "Units", "station.units", default="celsius", choices=("celsius", "kelvin")),
        SetupField("key", "Key", "STATION_KEY", secret=True, check=lambda t: "" if t.isdigit() else "Digits only."),
    )

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []

    async def login(self, show: Any) -> dict[str, str]:
        await show(LoginPrompt("Look at it.", scan="station:1"))
        shown = LoginPrompt("Read the display.", url="https://station.example/login", code="AB-12", paste=True)
        return {"key": await show(shown)}

    async def test(self, values: Any) -> str:
        self.asked.append(dict(values))
        if values["key"] != "12345":
            raise UserError(f"The station does not know {values['key']}.", hint="It stands on its back.")
        return f"The station in {values['place']} answers to {values['key']}."


def station_rows() -> Sequence[Setting]:
    text, number = {"type": "string"}, {"type": "integer", "minimum": 1, "maximum": 9}
    return [
        Setting(key="station.place", type="text", schema=text, default="", value="", help="Where."),
        Setting(key="station.port", type="number", schema=number, default=1, value=1, help="Port."),
        Setting(key="station.units", type="text", schema=text, default="celsius", value="celsius", help="Units."),
    ]


class Recorded:
    """What manifests say of setup steps."""

    def __init__(self) -> None:
        self.steps: Sequence[Record] = ()

    def records(self, table: str) -> Sequence[Record]:
        return self.steps if table == "setup" else ()


class Given(FakeConsole):
    """A console that is a context too, as far as screens use one. The models of ``acme`` cannot be asked."""

    def __init__(self, commands: Sequence[SlashCommand] = ()) -> None:
        super().__init__(commands)
        self.owner, self.models = Principal(), Models(self)
        self.sessions: Any = FakeSessions()
        self.settings: Any = FakeSettings()
        self.plugins = Recorded()
        self.provider_rows: Sequence[ProviderRow] = (ProviderRow(name="scripted", ready=True, kind="hosted"),)
        self.model_rows: Sequence[ModelRow] = ()

    def set_up(self, settings: Any, *steps: SetupStep) -> None:
        """Settings with these steps, and what a manifest would say of each."""
        self.settings = settings
        self.plugins.steps = [Record(one.name, one.summary) for one in steps]

    async def known_providers(self) -> Sequence[ProviderRow]:
        return self.provider_rows

    async def models_of(self, provider: str) -> Sequence[ModelRow]:
        if provider == "acme":
            raise AuthError("acme does not take this key.", hint="Set another: hermes config set ACME_API_KEY …")
        return [row for row in self.model_rows if provider in ("", row.provider)]


def given_all() -> Given:
    made = Given(commands())
    made.sessions = Sessions(made.sessions, session_rows())
    made.set_up(Settings(settings_rows(), steps=[Station()]), Station())
    made.provider_rows = (
        ProviderRow(name="echo", ready=True, kind="rules"),
        ProviderRow(name="anthropic", ready=False, kind="hosted"),
        ProviderRow(name="openai", ready=True, kind="hosted"),
        ProviderRow(name="acme", ready=True, kind="hosted"),
        ProviderRow(name="ollama", ready=True, kind="local"),
    )
    every = frozenset({Feature.TOOLS, Feature.REASONING, Feature.IMAGES})
    made.model_rows = (
        ModelRow(
            provider="openai",
            model=Model(name="gpt-5", context=400_000, features=every),
            price=Price(input=1.25, output=10),
        ),
        ModelRow(provider="openai", model=Model(name="gpt-5-mini", context=400_000), price=Price(input=0.25, output=2)),
        ModelRow(provider="openai", model=Model(name="o9-preview")),
        ModelRow(provider="ollama", model=Model(name="qwen3:8b", context=32_768), price=Price(input=0, output=0)),
        ModelRow(provider="echo", model=Model(name="echo")),
    )
    made.job_rows = (
        Job(id="a1", kind="agent", title="Read the docs of pluggy", since=NOW - 185, last="Reading hooks.md\n"),
        Job(
            id="a2",
            kind="agent",
            title="Compare three parsers",
            since=NOW - 65,
            usage=Usage(input=48_000, output=2100, calls=4, cost=0.0312, priced="estimated"),
            last="→ run_command: pytest -q",
        ),
        Job(id="p1", kind="process", title="npm run dev", since=NOW - 7500, last="GET /index.html 200 in 3ms"),
        Job(id="p2", kind="process", title="make world", since=NOW - 30, state="failed", last="[all] Error 2"),
    )
    made.job_texts = {"p1": "".join(f"GET /page/{n} 200 in {n % 9} ms\n" for n in range(200))}
    made.sessions.inner.usage_rows = usage_rows()
    return made


TODAY = date(2026, 11, 20)


def usage_rows() -> list[UsageRow]:
    rows = []
    for back in range(30):
        day = date.fromordinal(TODAY.toordinal() - back)
        if day.weekday() == 6:
            continue
        size = (back * 7919) % 13 + 1
        used = Usage(
            input=40_000 * size,
            output=1_500 * size,
            cache_read=22_000 * size,
            cost=0.05 * size,
            calls=size,
            priced="estimated",
        )
        rows.append(
            UsageRow(
                day=day.isoformat(),
                provider="openai",
                model="gpt-5",
                task="",
                turns=size,
                usage=used,
                estimated=used.cost,
                unpriced=0,
            )
        )
        if back % 4 == 0:
            free = Usage(input=9_000, output=400, calls=2)
            rows.append(
                UsageRow(
                    day=day.isoformat(),
                    provider="ollama",
                    model="qwen3:8b",
                    task="title",
                    turns=2,
                    usage=free,
                    estimated=0.0,
                    unpriced=2 if back == 0 else 0,
                )
            )
    return rows


async def _nothing(session: Session, rest: str) -> str:
    return ""


def commands() -> list[SlashCommand]:
    given = (
        ("model", "Choose who answers.", "[NAME]", ()),
        ("new", "Begin another conversation.", "", ("reset",)),
        ("usage", "What this conversation used.", "", ()),
        ("skin", "Choose how it looks.", "[NAME]", ("theme",)),
        ("compress", "Make room: sum up what was said.", "", ()),
    )
    return [SlashCommand(name=n, summary=s, run=_nothing, usage=u, aliases=a) for n, s, u, a in given]


KEYS = (
    ("Enter", "Send what is written", "Writing"),
    ("Shift+Enter, Ctrl+J", "A new line", "Writing"),
    ("Ctrl+E", "Write in an editor of your own", "Writing"),
    ("Esc", "Stop the running turn", "Conversation"),
    ("Ctrl+P", "Everything there is", "Conversation"),
    ("F1", "This help", "Conversation"),
)


def question(**given: Any) -> Question:
    said: dict[str, Any] = {
        "id": "q1",
        "kind": "approval",
        "subject": "terminal\n  rm -rf build/ && git push --force origin main",
        "risk": "deletes files and rewrites what others have",
        "covers": "every call of terminal that begins with: rm -rf build/",
    }
    return Question(**(said | given))


def skins() -> list[tuple[str, str]]:
    return [("hermes", "Gold on black."), ("paper", "Ink on paper."), ("slate", "Quiet blue."), ("mono", "No colours.")]


class Host(App[None]):
    """An app with something in it, over which a screen is put. ``result`` is what it ended with."""

    COMMANDS = {EverythingProvider}

    def __init__(self, *screens: Screen[Any], entries: Iterable[Entry] = ()) -> None:
        super().__init__()
        self.screens, self.entries = screens, entries
        self.result: Any = "not yet"
        self.themes: list[str] = []

    def compose(self) -> ComposeResult:
        yield Static("A line of the conversation.", markup=False)

    def on_mount(self) -> None:
        for screen in self.screens:
            self.push_screen(screen, self.ended)

    def ended(self, result: Any) -> None:
        self.result = result

    def palette_entries(self) -> Iterable[Entry]:
        return self.entries


class PanelHost(App[None]):
    """The work panel beside a conversation."""

    CSS = "#talk { width: 1fr; }"

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Static("A conversation.", id="talk", markup=False)
            yield WorkPanel(given_all(), "chat", now=now)


def setting(key: str) -> Setting:
    return next(row for row in settings_rows() if row.key == key)


BIG = "terminal\n" + "\n".join(f"echo step {n} of a long script that somebody wants to run" for n in range(60))


def drawn(app: App[Any]) -> str:
    """What is on the screen now, as text."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def clickable(app: App[Any]) -> set[str]:
    """The actions that something on the screen runs when it is clicked."""
    styles = (segment.style for strip in app.screen._compositor.render_strips() for segment in strip)
    return {str(style.meta["@click"]) for style in styles if style is not None and "@click" in style.meta}


async def settled(pilot: Pilot[Any]) -> None:
    """Wait until nobody works any more, and what they found is shown."""
    for _ in range(2):
        await pilot.pause()
        await pilot.app.workers.wait_for_complete()
    await pilot.pause()


async def until(pilot: Pilot[Any], true: Callable[[], object]) -> None:
    """Wait for a condition; a test that waits for ever is ended by its runner."""
    for _ in range(500):
        if true():
            return
        await pilot.pause(0.01)
    raise AssertionError(f"it never came:\n{drawn(pilot.app)}")


async def ended(pilot: Pilot[Any], screen: Screen[Any], *keys: str) -> Any:
    """What a screen over a running host ends with after these keys; it is gone then, also when it does not end."""
    app = pilot.app
    assert isinstance(app, Host)
    app.result = "not yet"
    app.push_screen(screen, app.ended)
    await settled(pilot)
    await pilot.press(*keys)
    await settled(pilot)
    result = app.result
    while len(app.screen_stack) > 1:
        await app.pop_screen()
    return result
