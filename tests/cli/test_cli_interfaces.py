"""Which platform a conversation opens on."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
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


def test_a_platform_that_closes_standard_input_at_its_end_is_left_in_peace(tmp_path: Path) -> None:
    lines = Path(__file__).parents[2] / "docs/hello/platform/src/hermes_platform_lines"
    shutil.copytree(lines, tmp_path / "plugins" / "lines")
    environment = {**os.environ, "HERMES_HOME": str(tmp_path)}

    def hermes(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "hermes_core", *words]
        more = {"capture_output": True, "text": True, "env": environment, "cwd": tmp_path}
        return subprocess.run(command, input="hello\n", check=False, **more)  # type: ignore[call-overload, no-any-return]

    assert hermes("plugins", "enable", "lines", "--yes").returncode == 0
    done = hermes("--interface", "lines")
    assert (done.returncode, "failed" in done.stderr, "Hello!" in done.stdout) == (0, False, True), done.stderr
