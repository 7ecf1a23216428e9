"""The unit that keeps the gateway running: what it says, and that systemd reads it."""

import os
import pwd
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_platform_gateway.cli.systemd import make_install, make_uninstall
from hermes_platform_gateway.cli.unit import Service, unit

MANIFEST = read_manifest(manifest_path("hermes_platform_gateway"))
ANALYZE = shutil.which("systemd-analyze")
MINE = Service(
    name="hermes-gateway",
    brand="hermes",
    program=("/opt/hermes/bin/hermes",),
    environment={"HERMES_HOME": "/home/mia/.hermes", "PATH": "/usr/local/bin:/usr/bin"},
)


def verified(text: str, folder: Path, *, user: bool) -> str:
    """What systemd has to say about a unit; nothing when it takes it whole."""
    if not ANALYZE:
        if os.environ.get("CI"):
            pytest.fail("systemd-analyze is missing; install systemd. In CI nothing real is skipped.")
        pytest.skip("systemd-analyze is missing (apt install systemd)")
    file = folder / "hermes-gateway.service"
    file.write_text(text)
    command = [ANALYZE, "--user" if user else "--system", "--man=no", "verify", str(file)]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "HOME": str(folder)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    said = [line for line in (done.stdout + done.stderr).splitlines() if file.name in line]
    return "\n".join(said)


def test_the_unit_of_a_person(snapshot):
    assert unit(MINE) == snapshot


def test_the_unit_of_a_machine(snapshot):
    of = Service(
        name="hermes-gateway-work", brand="hermes", program=(sys.prefix, "-P"), environment=MINE.environment,
        profile="work", run_as="mia",
    )  # fmt: skip
    assert unit(of).replace(sys.prefix, "/opt/hermes/bin/python") == snapshot


def program(folder: Path) -> str:
    """Something that can be run, at a place as awkward as places get."""
    file = folder / "a b 100% $HOME ü" / "hermes"
    file.parent.mkdir()
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return str(file)


@pytest.mark.real
@pytest.mark.parametrize("run_as", ["", "daemon"])
def test_systemd_understands_every_line(tmp_path: Path, run_as: str):
    of = Service(
        name="hermes-gateway", brand="hermes", program=(program(tmp_path), "-P", "$PATH 5%"), run_as=run_as,
        environment={"HERMES_HOME": "/home/a \"b\" 100%/.hermes\\", "PATH": "/bin"},
    )  # fmt: skip
    text = unit(of)
    assert verified(text, tmp_path, user=not run_as) == ""
    assert "hermes-gateway.service" in verified(text + "Nonsense=1\n[Strange]\n", tmp_path, user=not run_as)


def test_secrets_are_not_in_it_and_control_characters_cannot_be():
    assert "EnvironmentFile" not in unit(MINE)
    with pytest.raises(UserError, match="control character"):
        unit(Service(name="x", brand="hermes", program=("/x",), environment={"A": "1\nExecStartPre=/bin/evil"}))
    with pytest.raises(UserError, match="quotes or backslashes"):
        unit(Service(name="x", brand="hermes", program=("/it's here/hermes",), environment={}))


class Machine:
    """A machine with a systemctl that notes what it is told, and does as ``fails`` says."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.told_file = root / "told"
        self.units = root / "config" / "systemd" / "user"
        bin_ = root / "bin"
        bin_.mkdir()
        script = bin_ / "systemctl"
        script.write_text(
            f'#!/bin/sh\necho "$@" >> {self.told_file}\n[ ! -e {root}/fails ] || {{ cat {root}/fails >&2; exit 1; }}\n'
        )
        script.chmod(0o755)
        self.fails = root / "fails"
        self.home = root / "home"
        self.home.mkdir()
        for name, value in {
            "PATH": f"{bin_}:relative:/usr/bin:/bin", "XDG_CONFIG_HOME": str(root / "config"),
            "HERMES_HOME": str(root / "home"),
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("SUDO_USER", raising=False)

    @property
    def told(self) -> list[str]:
        return self.told_file.read_text().splitlines() if self.told_file.exists() else []

    def run(self, make: Callable[[PluginContext], click.Command], *words: str) -> str:
        done = CliRunner().invoke(make(plugin_context(MANIFEST, self.home)), words, standalone_mode=False)
        if done.exception:
            raise done.exception
        return done.output


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def test_install_writes_the_unit_and_starts_it(machine: Machine, tmp_path: Path):
    said = machine.run(make_install)
    file = machine.units / "hermes-gateway.service"
    text = file.read_text()
    assert f"Environment=HERMES_HOME={tmp_path}/home" in text
    assert f"Environment=PATH={tmp_path}/bin:/usr/bin:/bin" in text  # nothing relative
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert machine.told == [
        "--user daemon-reload", "--user enable hermes-gateway.service", "--user restart hermes-gateway.service",
    ]  # fmt: skip
    assert "systemctl --user status hermes-gateway" in said
    first = text.split("ExecStart=", 1)[1].split()[0]
    assert os.access(first, os.X_OK)
    assert "enable-linger" in said


def test_what_install_prints_is_what_it_writes(machine: Machine):
    shown = machine.run(make_install, "--print")
    assert machine.told == []
    assert not machine.units.exists()
    machine.run(make_install, "--no-start")
    assert (machine.units / "hermes-gateway.service").read_text() == shown
    assert machine.told == ["--user daemon-reload"]


def test_a_systemctl_that_fails_is_quoted(machine: Machine):
    machine.fails.write_text("Failed to connect to bus: No medium found\n")
    with pytest.raises(UserError, match=r"`systemctl --user daemon-reload` failed: Failed to connect to bus"):
        machine.run(make_install)


def test_uninstall_stops_it_and_leaves_the_home_alone(machine: Machine, tmp_path: Path):
    machine.run(make_install)
    machine.run(make_uninstall)
    assert machine.told[3:] == ["--user disable --now hermes-gateway.service", "--user daemon-reload"]
    assert not (machine.units / "hermes-gateway.service").exists()
    assert (tmp_path / "home").exists()
    with pytest.raises(UserError, match="There is no such service"):
        machine.run(make_uninstall)


def test_a_service_of_the_machine_is_never_roots(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    for words in (("--system",), ("--system", "--run-as", "root")):
        with pytest.raises(UserError, match="not root's"):
            machine.run(make_install, *words, "--print")
    with pytest.raises(UserError, match="no account 'nobody-of-ours'"):
        machine.run(make_install, "--run-as", "nobody-of-ours", "--print")
    somebody = next(one.pw_name for one in pwd.getpwall() if one.pw_uid)
    monkeypatch.setenv("SUDO_USER", somebody)
    assert f"User={somebody}" in machine.run(make_install, "--system", "--print")


def test_another_account_has_a_home_of_its_own(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    somebody = next(one for one in pwd.getpwall() if one.pw_uid and one.pw_uid != os.geteuid())
    monkeypatch.delenv("HERMES_HOME")
    monkeypatch.setenv("HOME", str(machine.units.parent))
    shown = machine.run(make_install, "--run-as", somebody.pw_name, "--print")
    assert f"HERMES_HOME={Path(somebody.pw_dir)}/.hermes" in shown


def test_without_systemd_it_says_what_to_run(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match="no systemd on this machine") as refused:
        machine.run(make_install)
    assert "hermes gateway run" in refused.value.hint


def hermes(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The program itself, as a person or a tool starts it."""
    command = [sys.executable, "-P", "-m", "hermes_core", *words]
    outside = {name: value for name, value in os.environ.items() if name != "HERMES_RUN"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=outside | environment)


def test_a_tool_installs_and_removes_nothing(machine: Machine):
    for words in (("gateway", "install"), ("-p", "default", "gateway", "uninstall", "--system")):
        done = hermes(*words, HERMES_RUN="1")
        assert done.returncode == 2
        assert "started by a tool" in done.stderr
    assert machine.told == []
    assert not machine.units.exists()


def test_each_profile_has_a_service_of_its_own(machine: Machine):
    (machine.home / "profiles" / "work").mkdir(parents=True)
    done = hermes("-p", "work", "gateway", "install", "--no-start")
    assert done.returncode == 0, done.stderr
    text = (machine.units / "hermes-gateway-work.service").read_text()
    assert "-p work gateway run" in text
    assert f"Environment=HERMES_HOME={machine.home}\n" in text
    with pytest.raises(UserError, match="There is no such service"):
        machine.run(make_uninstall)


def test_a_unit_is_replaced_where_it_is_kept_and_whole_or_not_at_all(machine: Machine, tmp_path: Path):
    kept = tmp_path / "dotfiles" / "unit"
    kept.parent.mkdir()
    kept.write_text("before")
    machine.units.mkdir(parents=True)
    link = machine.units / "hermes-gateway.service"
    link.symlink_to(kept)
    machine.run(make_install, "--no-start")
    assert link.is_symlink()
    assert kept.read_text().startswith("[Unit]")
    assert [one.name for one in kept.parent.iterdir()] == ["unit"]
    kept.unlink()
    kept.mkdir()
    with pytest.raises(UserError, match="Cannot write the unit"):
        machine.run(make_install, "--no-start")
    assert [one.name for one in kept.parent.iterdir()] == ["unit"]
