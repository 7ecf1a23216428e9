"""Two packages in an environment of their own are a bot: built, installed and asked as a new user would."""

import asyncio
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from telegram_service import TOKEN

ROOT = Path(__file__).parents[3]
PATIENCE = 60.0  # seconds; only a failure takes so long

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]


def run(*words, **given):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **given)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def uv():
    found = ROOT / ".uv" / "bin" / "uv"
    found = str(found) if found.exists() else shutil.which("uv")
    assert found, "uv builds the packages"
    return found


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory):
    """What uv keeps goes with the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UV_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="module")
def wheels(uv, tmp_path_factory):
    """Every distribution of the repository, as an index would have it."""
    folder = tmp_path_factory.mktemp("wheels")
    run(uv, "build", "-q", "--wheel", "--all-packages", "-o", folder, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def installed(uv, wheels, tmp_path_factory):
    """``installed(NAME, …)``: the ``hermes`` of an environment that has these and what they need."""

    def make(*names):
        folder = tmp_path_factory.mktemp("environment")
        run(uv, "venv", "-q", "--python", sys.executable, folder / "venv")
        run(uv, "pip", "install", "-q", "--python", folder / "venv", "--find-links", wheels, *names)
        return folder / "venv" / "bin" / "hermes"

    return make


async def test_it_answers_once_it_has_a_token(installed, service, tmp_path):
    hermes, home = installed("hermes-core", "hermes-platform-telegram"), tmp_path / "home"
    env = {"HERMES_HOME": str(home), "PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    for setting in ((f"TELEGRAM_BOT_TOKEN={TOKEN}"), f"platforms.telegram.base_url={service.url}"):
        await asyncio.to_thread(run, hermes, "config", "set", *setting.split("=", 1), env=env)
    await asyncio.to_thread(run, hermes, "config", "set", "platforms.telegram.allow_all_users", "true", env=env)
    with (tmp_path / "said").open("wb") as said:
        gateway = await asyncio.create_subprocess_exec(
            str(hermes), "gateway", "run", env=env, cwd=tmp_path, stdout=said, stderr=said
        )
        try:
            await service.say("What can you do?")
            async with asyncio.timeout(PATIENCE):
                while not (told := [text for text in await service.seen() if "small set of rules" in text]):
                    assert gateway.returncode is None, (tmp_path / "said").read_text()
                    await asyncio.sleep(0.1)
        finally:
            with suppress(ProcessLookupError):
                gateway.terminate()
            await asyncio.wait_for(gateway.wait(), PATIENCE)
    assert len(told) == 1
    assert gateway.returncode == 0
    assert TOKEN not in (tmp_path / "said").read_text()


def test_the_kernel_alone_says_what_to_install(installed, tmp_path):
    hermes = installed("hermes-core")
    env = {"HERMES_HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    for words in (["-z", "hello"], [], ["chat", "-q", "hi"], ["setup"], ["model"]):
        done = subprocess.run([hermes, *words], env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stdout == ""
        assert "pip install 'hermes-core[standard]'" in done.stderr, words
    doctor = subprocess.run([hermes, "doctor"], env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert doctor.returncode != 0
    assert "All is well" not in doctor.stdout
    assert "pip install 'hermes-core[standard]'" in doctor.stdout
