"""Which platform a conversation opens on."""

from typing import Any

import pytest

from hermes_core import hookimpl
from hermes_core.errors import ConfigError, UnknownName, UserError
from hermes_core.testing import Bench
from hermes_core.testing.fakes import FakePlatform


async def test_a_platform_that_does_not_fit_is_passed_over(hermes: Bench) -> None:
    from hermes_platform_cli.commands.interfaces import fitting

    class Wide(FakePlatform):
        def unfit(self) -> str:
            return "the terminal is too small"

    hermes.tmp_plugin(Wide(name="tui"))
    hermes.tmp_plugin(FakePlatform(name="cli"))
    ctx = hermes.context("hermes_platform_cli")
    assert fitting(ctx).name == "cli"
    with pytest.raises(UserError, match="too small"):
        fitting(ctx, "tui")


async def test_a_platform_whose_settings_are_wrong_says_so(hermes: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    from hermes_platform_cli.commands.interfaces import fitting

    @hookimpl
    def register_platforms(ctx: Any) -> list[FakePlatform]:
        raise ConfigError(["mouse: must be true or false"])

    hermes.tmp_plugin(register_platforms, manifest={"contributes": {"platforms": ["tui"]}})
    hermes.tmp_plugin(FakePlatform(name="cli"))
    ctx = hermes.context("hermes_platform_cli")
    with pytest.raises(UserError, match="mouse: must be"):
        fitting(ctx, "tui")
    assert fitting(ctx).name == "cli"
    assert "mouse: must be" in capsys.readouterr().err


async def test_one_that_is_not_installed_is_named_with_its_package(hermes: Bench) -> None:
    from hermes_platform_cli.commands.interfaces import fitting

    ctx = hermes.context("hermes_platform_cli")
    with pytest.raises(UnknownName) as raised:
        fitting(ctx, "tui")
    assert "pip install hermes-platform-tui" in raised.value.hint
    with pytest.raises(UnknownName) as raised:
        fitting(ctx, "telegraph")
    assert "pip install" not in raised.value.hint
