"""``hermes update`` where pipx installed it: forward and back, and pipx still knows the environment."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .test_update_real import NEWER, OLDER, WANTED, Place, closure, newer, project, wheels_of

pytestmark = [pytest.mark.real, pytest.mark.long, pytest.mark.timeout(900)]


class PipxPlace(Place):
    """What ``pipx install hermes-core`` and ``pipx inject`` of the plugins leave behind, in a home of its own."""

    def __init__(self, folder: Path, wheels: Path) -> None:
        self.home, self.tools = folder / "home", folder / "tools"
        (folder / "tmp").mkdir()
        self.home.mkdir()
        (self.home / "config.yaml").write_text("model: {provider: offline}\n")
        pip = [self.tools / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "pipx"]
        self.environ = {
            "PATH": f"{folder / 'bin'}:{self.tools / 'bin'}:/usr/bin:/bin", "HOME": str(folder),
            "TMPDIR": str(folder / "tmp"), "HERMES_HOME": str(self.home), "HERMES_TRUST": "1",
            "PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin"),
        }  # fmt: skip
        self.environ |= {name: value for name, value in os.environ.items() if name in ("PIP_CERT", "SSL_CERT_FILE")}
        # pip asks a rustc on the path for its version, and rustup's makes a folder in the home it is given.
        subprocess.run([sys.executable, "-m", "venv", str(self.tools)], env=self.environ, check=True)
        subprocess.run(pip, env=self.environ, check=True)
        self.prefix = folder / "pipx" / "venvs" / "hermes-core"
        others = {one for name in closure() for one in project(name)["dependencies"] if not one.startswith("hermes-")}
        fetched = [*pip[:1], "download", *pip[2:-1], "-d", str(folder / "others"), *sorted(others)]
        subprocess.run(
            fetched, env=self.environ, check=True
        )  # of ours nothing comes from an index: there the names are other people's
        self.pipx("upgrade-shared")
        only = f"--pip-args=--no-index --find-links {wheels} --find-links {folder / 'others'}"
        self.pipx("install", "--python", sys.executable, only, f"hermes-core=={OLDER}")
        self.pipx("inject", only, "hermes-core", *WANTED)
        self.packages = next(self.prefix.glob("lib/python*/site-packages"))

    def pipx(self, *words: str) -> str:
        done = subprocess.run(
            [self.tools / "bin" / "pipx", *words],
            env=self.environ, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def exposed(self, *words: str) -> str:
        """What the program says that pipx put on the path."""
        return subprocess.run(
            ["hermes", *words], env=self.environ, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
            executable=str(Path(self.environ["PIPX_BIN_DIR"]) / "hermes"),
        ).stdout.strip()  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> PipxPlace:
    """One for all tests here, each of which leaves it as it was."""
    folder = tmp_path_factory.mktemp("pipx")
    return PipxPlace(folder, wheels_of(folder / "wheels", OLDER, {}))


def test_pipx_puts_it_on_the_path(place):
    assert place.exposed("--version") == f"hermes {OLDER}"
    assert place.hermes("-z", "remember the teapot").returncode == 0


def test_an_environment_of_pipx_goes_forward_and_back(place, tmp_path):
    was, new = place.tree(), newer(tmp_path, tmp_path / "new", {})
    told = place.hermes("update", "--check", "--json", "--from", str(new))
    assert told.returncode == 0, told.stderr
    assert {row["new"] for row in map(json.loads, told.stdout.splitlines())} == {NEWER}
    done = place.hermes("update", "--yes", "--from", str(new))
    assert done.returncode == 0, done.stderr
    assert "before-update" in done.stderr
    assert place.exposed("--version") == f"hermes {NEWER}"
    known = json.loads(place.pipx("list", "--json"))["venvs"]["hermes-core"]["metadata"]
    assert {"hermes-platform-cli", "hermes-tool-backup"} <= set(known["injected_packages"]), "pipx knows what is in it"
    assert place.hermes("sessions", "search", "teapot", "--json").stdout
    assert place.hermes("update", "--back", "--yes").returncode == 0
    assert place.exposed("--version") == f"hermes {OLDER}"
    assert place.tree() == was


def test_it_goes_back_by_itself(place, tmp_path):
    was = place.tree()
    broken = {"hermes_core/__main__.py": "raise SystemExit('this version is broken')\n"}
    failed = place.hermes("update", "--yes", "--from", str(newer(tmp_path, tmp_path / "bad", broken)))
    assert failed.returncode == 1, failed.stderr
    assert "no longer answers" in failed.stderr
    assert place.exposed("--version") == f"hermes {OLDER}"
    assert place.tree() == was
