"""Every screen, with something in it."""

from collections.abc import Callable
from typing import Any

from plugin_cases import Chores
from screens_cases import BIG, HOSTILE, KEYS, TODAY, Station, commands, given_all, now, question, setting, skins
from textual.screen import Screen

from hermes_core.types import Usage
from hermes_platform_tui.screens.confirm import ConfirmDialog
from hermes_platform_tui.screens.error import ErrorScreen
from hermes_platform_tui.screens.help import HelpScreen
from hermes_platform_tui.screens.insights import InsightsScreen
from hermes_platform_tui.screens.models import ModelPicker
from hermes_platform_tui.screens.plugin import PluginScreen
from hermes_platform_tui.screens.prompt import PromptDialog
from hermes_platform_tui.screens.question import QuestionDialog
from hermes_platform_tui.screens.sessions import SessionPicker
from hermes_platform_tui.screens.settings import SettingsScreen
from hermes_platform_tui.screens.setup import SetupDialog, SetupPicker
from hermes_platform_tui.screens.skins import SkinPicker
from hermes_platform_tui.screens.usage import UsageScreen
from hermes_platform_tui.screens.value import ValueDialog
from hermes_platform_tui.screens.work import OutputScreen, WorkScreen


async def _saved(key: str, text: str | None) -> str:
    return ""


SCREENS: dict[str, Callable[[], Screen[Any]]] = {
    "question": lambda: QuestionDialog(question(), person="owner", waiting=2, quiet=0),
    "question_long": lambda: QuestionDialog(question(subject=BIG), person="owner", quiet=0),
    "question_hostile": lambda: QuestionDialog(question(subject=HOSTILE, risk=HOSTILE), person="owner", quiet=0),
    "question_choice": lambda: QuestionDialog(
        question(kind="choice", subject="Which database?", risk="", covers="", choices=("SQLite", "PostgreSQL")),
        person="owner",
        quiet=0,
    ),
    "question_text": lambda: QuestionDialog(
        question(kind="text", subject="What is the name of the branch?", risk="", covers="", choices=()),
        person="owner",
        quiet=0,
    ),
    "sessions": lambda: SessionPicker(given_all(), current="s2", now=now),
    "models": lambda: ModelPicker(given_all(), "openai:gpt-5-mini"),
    "settings": lambda: SettingsScreen(given_all()),
    "setup": lambda: SetupPicker(given_all()),
    "setup_step": lambda: SetupDialog(given_all(), Station()),
    "value_choice": lambda: ValueDialog(setting("policy.mode"), _saved),
    "value_line": lambda: ValueDialog(setting("model.default"), _saved),
    "value_yaml": lambda: ValueDialog(setting("policy.deny"), _saved),
    "value_secret": lambda: ValueDialog(setting("model.api_key"), _saved),
    "help": lambda: HelpScreen(commands(), KEYS),
    "work": lambda: WorkScreen(given_all(), "chat", now=now),
    "output": lambda: OutputScreen(given_all(), "chat", given_all().job_rows[2]),
    "insights": lambda: InsightsScreen(given_all(), today=lambda: TODAY),
    "usage": lambda: UsageScreen(
        Usage(input=182_340, output=9_120, cache_read=120_000, calls=14, cost=0.4231, priced="estimated"),
        context=62_000,
        window=200_000,
        parts={"system prompt": 6_100, "tools": 9_400, "memory": 1_200},
        model="openai:gpt-5",
        seconds=341,
        turns=6,
    ),
    "skins": lambda: SkinPicker(skins(), "paper"),
    "confirm": lambda: ConfirmDialog("Clear the conversation? What was said is kept in the session."),
    "error": lambda: ErrorScreen(
        "No provider is ready: the key of openai was refused.",
        "Set another one: hermes config set OPENAI_API_KEY sk-…\nOr choose another provider: hermes model",
        "AuthError: 401 from https://api.openai.com/v1/responses\nrequest id req_123",
    ),
    "plugin": lambda: PluginScreen(Chores()),
    "prompt": lambda: PromptDialog("Rename", text="It is shown in the list.", value="Release notes for 1.4"),
}
