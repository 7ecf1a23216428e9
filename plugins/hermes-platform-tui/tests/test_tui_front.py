"""A screen that knows a host alone: what it imports before its first frame, what is typed meanwhile, what it asks."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import asdict
from textual.pilot import Pilot

from hermes_core.errors import HermesError, UnknownName
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import FakeConsole, FakeSessions, plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_core.types import Message, Principal, Text
from hermes_platform_kit.front import Ways
from hermes_platform_tui.config import Config
from hermes_platform_tui.distant import Distant
from hermes_platform_tui.front import Screen
from hermes_platform_tui.told import told

PROBE = """
import asyncio, sys
from hermes_platform_cli.console import front
from hermes_platform_kit.front import Ways
from hermes_platform_tui.front import Screen
from hermes_platform_tui.config import Config
from hermes_platform_tui.distant import Distant

async def main():
    around = Distant(Ways({"home": sys.argv[1], "data": sys.argv[1], "services": []}, {}, None, None))
    screen = Screen(Config(), around, headless=True, size=(80, 24))
    read = sys.modules
    drawn = asyncio.ensure_future(screen.draw({"session": "", "cwd": "/"}))
    from hermes_platform_tui.app import HermesApp
    furnish = HermesApp._first_frame
    async def seen(self):
        print("MODULES", *sorted(sys.modules), flush=True)
        await furnish(self)
    HermesApp._first_frame = seen
    await drawn

asyncio.run(main())
"""


def test_a_first_frame_imports_nothing_of_a_kernel(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(tmp_path)], capture_output=True, text=True, check=True, env={**os.environ}
    )
    loaded = set(next(x for x in done.stdout.splitlines() if x.startswith("MODULES ")).split()[1:])
    assert "hermes_platform_tui.composer.field" in loaded, "and the probe saw it drawn"
    few = {"errors", "options", "patterns", "values", "modes", "environment"}
    kernel = {one.split(".")[1] for one in loaded if one.startswith("hermes_core.")}
    assert kernel <= few
    assert not {"sqlalchemy", "cattrs", "click", "yaml", "markdown_it", "pygments"} & loaded


def ways(home: Path, answers: Mapping[str, Any] | None = None, **more: Any) -> Ways:
    async def ask(what: str, given: Mapping[str, Any]) -> Any:
        return (answers or {})[what]

    async def nowhere() -> Any:
        raise HermesError("No kernel is opened here.")

    shown = {"home": str(home), "data": str(home), "services": ["board"]}
    return Ways(shown, {"profile": "default", "person": "owner"}, more.get("ask", ask), more.get("open", nowhere))


async def test_what_is_typed_before_anybody_carries_it_is_kept(tmp_path: Path) -> None:
    screen = Screen(Config(history=False), Distant(ways(tmp_path)), headless=True, size=(80, 24))
    await screen.draw({"session": "", "cwd": "/somewhere"})
    platform = screen.platform()
    pilot: Pilot[int] = Pilot(platform.app)
    await pilot.press("h", "i", "enter", "y", "o")
    console = FakeConsole()
    await platform.open(console)
    heard = platform.receive()
    envelope = await anext(heard)
    assert "".join(part.text for part in envelope.message.parts if isinstance(part, Text)) == "hi"
    async with asyncio.timeout(15):
        await platform.app.caught_up.wait()
    assert platform.app.view.composer.text == "yo"
    assert platform.app.talks.status("main") == console.status("main")
    await heard.aclose()  # type: ignore[attr-defined]  # it is a generator
    await platform.close()


@pytest.mark.parametrize("fails", [True, False])
async def test_words_that_may_be_a_screen_of_a_plugin_are_said_where_the_host_tells_of_none(
    tmp_path: Path, fails: bool
) -> None:
    asked = asyncio.Event()

    async def ask(what: str, given: Mapping[str, Any]) -> Any:
        assert (what, given) == ("screens", {"service": "board"})
        asked.set()
        if fails:
            raise HermesError("The plugin is broken.")
        await asyncio.Event().wait()

    screen = Screen(Config(history=False), Distant(ways(tmp_path, ask=ask)), headless=True, size=(80, 24))
    await screen.draw({"session": "", "cwd": "/somewhere"})
    platform = screen.platform()
    await platform.open(FakeConsole())
    heard = platform.receive()
    platform.app.view.say("/board view")
    await asked.wait()
    if not fails:
        platform.app.overlays._begin(asyncio.Event().wait)  # type: ignore[arg-type]  # another screen, meanwhile
    envelope = await anext(heard)
    assert "".join(part.text for part in envelope.message.parts if isinstance(part, Text)) == "/board view"
    await heard.aclose()  # type: ignore[attr-defined]  # it is a generator
    await platform.close()


async def test_past_conversations_come_as_they_are(tmp_path: Path) -> None:
    manifest = read_manifest(manifest_path("hermes_platform_tui"))
    sessions, owner = FakeSessions(manifest), Principal()
    ctx = plugin_context(manifest, tmp_path, sessions=sessions)

    async def ask(what: str, given: Mapping[str, Any]) -> Any:
        return json.loads(json.dumps(await told(ctx, what, json.loads(json.dumps(given)))))

    far = Distant(ways(tmp_path, ask=ask)).sessions
    history = [Message(role="user", parts=(Text(text=f"train {n}"),)) for n in range(5)]
    made = await sessions.create(owner, title="Trains", history=history)
    assert (await far.get(owner, made.id)).title == "Trains"
    assert await far.read(owner, made.id, window=3) == list(await sessions.read(owner, made.id, window=3))
    assert [asdict(row.usage) for row in await far.rows(owner)] == [asdict(r.usage) for r in await sessions.rows(owner)]
    assert [row.session.id for row in await far.rows(owner)] == [made.id]
    assert list(await far.search(owner, "train", limit=2)) == list(await sessions.search(owner, "train", limit=2))
    assert list(await far.usage(owner)) == list(await sessions.usage(owner))
    assert (await far.rename(owner, made.id, "Boats")).title == "Boats"
    other = await far.fork(owner, made.id)
    await far.delete(owner, made.id)
    for gone in (far.get(owner, made.id), far.read(owner, made.id)):
        with pytest.raises(UnknownName):
            await gone
    assert [row.session.id for row in await sessions.rows(owner)] == [other.id]
    for what, given in (("read", {"session": other.id}), ("rows", {"limit": "many"}), ("nonsense", {})):
        with pytest.raises(HermesError):
            await told(ctx, what, given)


async def test_what_is_too_large_for_the_way_is_read_here(tmp_path: Path) -> None:
    manifest = read_manifest(manifest_path("hermes_platform_tui"))
    sessions, owner = FakeSessions(manifest), Principal()
    ctx = plugin_context(manifest, tmp_path, sessions=sessions)
    large = await sessions.create(owner, history=[Message(role="user", parts=(Text(text="x" * (5 << 20)),))])
    opened: list[bool] = []

    async def ask(what: str, given: Mapping[str, Any]) -> Any:
        return await told(ctx, what, given)

    async def kernel() -> Any:
        opened.append(True)
        return ctx

    found = await Distant(ways(tmp_path, ask=ask, open=kernel)).sessions.read(owner, large.id)
    assert (len(found), opened) == (1, [True])
