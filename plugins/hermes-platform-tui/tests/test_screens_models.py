"""The models: each provider asked for itself, prices as far as anybody knows, one key to take one."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from hermes_core.errors import HermesError
from hermes_core.types import Model, ModelRow, Price, ProviderRow
from hermes_platform_tui.screens.models import ModelChoice, ModelPicker, price
from hermes_platform_tui.screens.rows import Rows

sys.path.insert(0, str(Path(__file__).parent))
from screens_cases import HOSTILE, Given, Host, clickable, drawn, ended, given_all, settled, until

pytestmark = pytest.mark.long


def current(app: Host) -> str | None:
    row = app.screen.query_one("#rows", Rows).current
    return row.id if row else None


ENDS = {
    "enter": ModelChoice("openai:gpt-5-mini", "session"),
    "ctrl+s": ModelChoice("openai:gpt-5-mini", "global"),
    "up enter": ModelChoice("openai:gpt-5", "session"),
    "tab down space": ModelChoice("openai:o9-preview", "session"),
    "q w e n enter": ModelChoice("ollama:qwen3:8b", "session"),
    "escape": None,
}


async def test_keys_that_end_it(subtests: pytest.Subtests) -> None:
    async with Host().run_test() as pilot:
        for keys, result in ENDS.items():
            with subtests.test(keys=keys):
                assert await ended(pilot, ModelPicker(given_all(), "openai:gpt-5-mini"), *keys.split()) == result


async def test_where_nothing_can_be_written_nothing_is_offered() -> None:
    app = Host(ModelPicker(given_all(), "openai:gpt-5", scopes=("session",)))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert "use from now on" not in drawn(app)
        await pilot.press("ctrl+s")
        await settled(pilot)
        assert app.result == "not yet"


async def test_what_is_known_of_a_model() -> None:
    app = Host(ModelPicker(given_all(), "openai:gpt-5-mini"))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        lines = {line.split("│")[1].strip().split("  ")[0]: line for line in drawn(app).split("\n") if "│" in line}
        assert "400k" in lines["gpt-5"]
        assert "1.25 / 10.00" in lines["gpt-5"]
        assert "images, reasoning, to" in lines["gpt-5"]
        assert lines["o9-preview"].count("unknown") == 2  # neither window nor price
        assert "free" in lines["qwen3:8b"]
        assert "• in use" in drawn(app)
        assert "! acme does not take this key." in drawn(app)
        assert "not set up" in lines["anthropic"]


async def test_in_little_room_the_price_of_the_current_one_is_told() -> None:
    app = Host(ModelPicker(given_all(), "openai:gpt-5"))
    async with app.run_test(size=(40, 12)) as pilot:
        await settled(pilot)
        assert "$ 1.25 / 10.00 per M" in drawn(app)
        await pilot.press("down")
        await settled(pilot)
        assert "$ 0.25 / 2.00 per M · tools" in drawn(app)


def test_prices() -> None:
    assert price(None) == "unknown"
    assert price(Price(input=0, output=0)) == "free"
    assert price(Price(input=0, output=2)) == "0.00 / 2.00"
    assert price(Price(input=0.004, output=0.02)) == "0.004 / 0.02"


async def test_ready_ones_come_first_and_rules_after_models() -> None:
    app = Host(ModelPicker(given_all(), "ollama:qwen3:8b"))
    async with app.run_test(size=(80, 60)) as pilot:
        await settled(pilot)
        rows = app.screen.query_one("#rows", Rows).shown
        heads = [row.id.partition(" ")[2] for row in rows if row.id.startswith("provider ")]
        assert heads == ["ollama", "openai", "acme", "echo", "anthropic"]
        assert current(app) == "ollama:qwen3:8b"


class Slow(Given):
    """Answers when it is let; ``asked`` are those who were asked."""

    def __init__(self) -> None:
        super().__init__()
        self.let = asyncio.Event()
        self.asked: list[str] = []

    async def models_of(self, provider: str) -> Any:
        self.asked.append(provider)
        if provider == "openai":
            await self.let.wait()
        return await super().models_of(provider)


async def test_one_that_is_slow_keeps_nobody_waiting() -> None:
    slow, made = Slow(), given_all()
    slow.provider_rows, slow.model_rows = made.provider_rows, made.model_rows
    app = Host(ModelPicker(slow, "openai:gpt-5"))
    async with app.run_test(size=(80, 60)) as pilot:
        await until(pilot, lambda: "qwen3:8b" in drawn(app))
        assert "asking" in drawn(app)
        assert "anthropic" not in slow.asked  # it is not set up
        slow.let.set()
        await until(pilot, lambda: "asking" not in drawn(app))
        assert current(app) == "openai:gpt-5"


async def test_the_cursor_stays_where_it_was_put() -> None:
    slow, made = Slow(), given_all()
    slow.provider_rows, slow.model_rows = made.provider_rows, made.model_rows
    app = Host(ModelPicker(slow, "openai:gpt-5"))
    async with app.run_test(size=(80, 60)) as pilot:
        await until(pilot, lambda: "qwen3:8b" in drawn(app))
        await pilot.press("down")
        put = current(app)
        slow.let.set()
        await until(pilot, lambda: "o9-preview" in drawn(app))
        assert current(app) == put


async def test_one_that_is_not_set_up_is_asked_on_wish() -> None:
    app = Host(ModelPicker(given := given_all(), "openai:gpt-5"))
    given.model_rows = (*given.model_rows, ModelRow(provider="anthropic", model=Model(name="claude-opus-5")))
    async with app.run_test(size=(80, 60)) as pilot:
        await settled(pilot)
        assert "claude-opus-5" not in drawn(app)
        await pilot.press(*"anthropic", "enter")
        await settled(pilot)
        assert "claude-opus-5" in drawn(app)
        assert app.result == "not yet"


async def test_one_that_failed_is_asked_again() -> None:
    app = Host(ModelPicker(given := given_all(), "openai:gpt-5"))
    async with app.run_test(size=(80, 60)) as pilot:
        await settled(pilot)
        given.provider_rows = (ProviderRow(name="ollama", ready=True, kind="local"),)
        await pilot.press("f5")
        await settled(pilot)
        assert "acme" not in drawn(app)
        assert current(app) == "ollama:qwen3:8b"


class Broken(Given):
    """Knows nobody."""

    async def known_providers(self) -> Any:
        raise HermesError("The plugins cannot be read.", hint="hermes doctor")


async def test_when_nobody_can_be_asked() -> None:
    app = Host(ModelPicker(Broken()))
    async with app.run_test() as pilot:
        await settled(pilot)
        assert "! The plugins cannot be read." in drawn(app)
        await pilot.press("enter", "ctrl+s")
        assert app.result == "not yet"


async def test_names_of_strangers_are_shown_safely() -> None:
    given = given_all()
    given.provider_rows = (ProviderRow(name=HOSTILE, ready=True, kind="hosted"),)
    given.model_rows = (ModelRow(provider=HOSTILE, model=Model(name=HOSTILE)),)
    app = Host(ModelPicker(given))
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        shown = drawn(app)
        assert shown.count("[bold]x[/]") == 2
        assert all(character.isprintable() or character == "\n" for character in shown)
        assert not any("quit" in action for action in clickable(app))
        await pilot.press("enter")
        await settled(pilot)
        assert app.result.model == f"{HOSTILE}:{HOSTILE}"
