"""What is described is what is accepted."""

from pathlib import Path
from typing import Literal

from attrs import NOTHING

from hermes_core.config.paths import Home
from hermes_core.config.schema import Config
from hermes_core.config.settings import get_value, load_settings
from hermes_core.options import Secret, gt, max_len, option, settings
from hermes_core.testing.readme import settings_block
from hermes_shapes.describe import json_schema, settings_rows


@settings
class Poll:
    """A plugin's section."""

    token: Secret = option("The token.")
    seconds: float = option("How long | at most.", default=25.0, validator=gt(0), example=5.0)
    mode: Literal["poll", "webhook"] = option("How.", default="poll")
    names: list[str] = option("Which.", factory=list, validator=max_len(3))
    extra: dict[str, int] = option("More.", factory=dict)
    limit: int | None = option("Most.", default=None)


def test_a_class_becomes_a_json_schema() -> None:
    assert json_schema(Poll) == {
        "type": "object",
        "properties": {
            "token": {"type": "string", "description": "The token."},
            "seconds": {
                "type": "number",
                "exclusiveMinimum": 0,
                "description": "How long | at most.",
                "default": 25.0,
                "examples": [5.0],
            },
            "mode": {"enum": ["poll", "webhook"], "description": "How.", "default": "poll"},
            "names": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 3,
                "description": "Which.",
                "default": [],
            },
            "extra": {
                "type": "object",
                "additionalProperties": {"type": "integer"},
                "description": "More.",
                "default": {},
            },
            "limit": {"type": ["integer", "null"], "description": "Most.", "default": None},
        },
        "required": ["token"],
        "additionalProperties": False,
    }


def test_rows_and_table_list_every_setting() -> None:
    rows = {row.key: row for row in settings_rows(Poll, "platforms.poll")}
    assert list(rows) == [f"platforms.poll.{name}" for name in Poll.__annotations__]
    assert rows["platforms.poll.token"][1:4] == ("Secret", NOTHING, "The token.")
    assert rows["platforms.poll.names"].default == []
    table = settings_block(Poll, "platforms.poll")
    assert "| `platforms.poll.seconds` | number | `25.0` | How long \\| at most. |" in table
    assert "| `platforms.poll.token` | Secret | required | The token. |" in table


def test_every_kernel_setting_has_help() -> None:
    rows = settings_rows(Config, named=True)
    assert [row.key for row in rows if not row.help.endswith(".")] == []
    assert {"model.provider", "providers.NAME.base_url", "agent.max_calls"} <= {row.key for row in rows}


def test_a_row_holds_what_is_in_force_when_nothing_is_written(tmp_path: Path) -> None:
    loaded = load_settings(Home(tmp_path))
    assert [row.key for row in settings_rows(Config) if get_value(loaded, row.key) != row.default] == []
