"""Whole turns of a model that tries to get at what guards it, with nobody asked: only the rules hold."""

import os

import pytest

from hermes_core.config.paths import Home
from hermes_core.testing import Call


@pytest.fixture
def told(hermes, scripted, tmp_path):
    async def ask(name, **arguments):
        home = Home(tmp_path / "home")
        work = tmp_path / "project"
        work.mkdir()
        home.create()
        home.env_file.write_text("ACME_API_KEY=hunter22secret\n")
        (work / "link").symlink_to(home.env_file)
        os.link(home.env_file, work / "hard")
        os.mkfifo(work / "fifo")
        arguments = {key: value.format(home=home.root) for key, value in arguments.items()}
        provider = scripted([Call(name, arguments)], "done")
        hermes.tmp_plugin(provider)
        hermes.tmp_plugin("hermes_tool_files")
        hermes.tmp_plugin("hermes_backend_local")
        hermes.configure({"policy.mode": "off", "terminal.backend": "local", "terminal.cwd": str(work)})
        async for _ in hermes.turn("go", session="s1"):
            pass
        assert home.env_file.read_text() == "ACME_API_KEY=hunter22secret\n"
        (result,) = provider.requests[-1].messages[-1].parts
        return "".join(part.text for part in result.parts)

    return ask


@pytest.mark.parametrize("path", ["{home}/.env", "link", "./link", "hard", "{home}/../home/.env", "{home}/.ENV"])
@pytest.mark.parametrize("name", ["read_file", "write_file"])
async def test_secrets_are_neither_read_nor_replaced_under_any_name(told, name, path):
    more = {"content": "x"} if name == "write_file" else {}
    answer = await told(name, path=path, **more)
    assert "hunter22secret" not in answer
    assert "closed to tools" in answer


async def test_a_search_of_the_home_leaves_them_out(told):
    answer = await told("search_files", pattern="hunter22", path="{home}")
    assert "hunter22secret" not in answer
    assert "closed to tools" in answer


@pytest.mark.parametrize("path", ["fifo", "/dev/zero", "/proc/self/environ"])
async def test_what_never_ends_is_refused(told, path):
    assert "was not opened" in await told("read_file", path=path)
