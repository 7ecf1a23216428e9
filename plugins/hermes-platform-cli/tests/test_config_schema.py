"""The JSON Schema of the settings' file: what is accepted is described, of plugins too."""

from hermes_core.config.schema import Config
from hermes_core.options import option, settings
from hermes_core.types import Setting
from hermes_platform_cli.commands.schema import whole_schema
from hermes_shapes.describe import settings_rows


@settings
class Poll:
    """A plugin's section."""

    seconds: float = option("How long.", default=25.0)


def rows(cls: type, path: str = "") -> list[Setting]:
    return [
        Setting(key=one.key, type=one.type, schema=one.schema, default=None, value=None, help=one.help)
        for one in settings_rows(cls, path)
    ]


def test_it_knows_plugins_sections_and_other_spellings() -> None:
    schema = whole_schema([*rows(Config), *rows(Poll, "platforms.poll"), *rows(Poll, "providers.mine")])
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["additionalProperties"] is False
    properties = schema["properties"]
    poll, ours = properties["platforms"]["properties"]["poll"], properties["platforms"]["additionalProperties"]
    assert poll["properties"].keys() == {*ours["properties"], "seconds"}
    assert poll["additionalProperties"] is False
    assert ours["properties"]["allowed_users"]["items"] == {"type": ["string", "integer"]}
    assert properties["tools"]["additionalProperties"] is True
    model, endpoint = properties["model"]["anyOf"], properties["providers"]["additionalProperties"]
    assert model[0] == {"type": "string"}
    assert model[1]["properties"]["model"] == model[1]["properties"]["default"]
    assert "api_mode" in endpoint["properties"]
    assert {"base_url", "seconds"} <= properties["providers"]["properties"]["mine"]["properties"].keys()
    task = properties["auxiliary"]["additionalProperties"]["anyOf"]
    for texts in (
        task,
        task[1]["properties"]["fallback"]["items"]["anyOf"],
        properties["fallback_providers"]["items"]["anyOf"],
    ):
        assert texts[0] == {"type": "string"}
    assert properties["workers"]["properties"]["engine"] == properties["workers"]["properties"]["queue"]
    for section in (properties["policy"], model[1], endpoint, poll):
        assert section["type"] == ["object", "null"]
