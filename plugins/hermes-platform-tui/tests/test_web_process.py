"""`hermes web` as a process: it ends with all its children, and tells its token to nobody else."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest

pytestmark = [pytest.mark.long, pytest.mark.real_time]
TOKEN = "t" * 40
HERE = Path(__file__).parent


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def until(seen: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not seen():
            await asyncio.sleep(0.02)


async def read(page: aiohttp.ClientWebSocketResponse, wanted: bytes) -> None:
    text = b""
    async with asyncio.timeout(20):
        while wanted not in text:
            text += await page.receive_bytes()


def started(folder: Path, *words: str, **environ: str) -> tuple[subprocess.Popen[str], dict[str, object]]:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import web_scope as t; t.main(sys.argv[2], sys.argv[3:])"
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(HERE), str(folder), *words],
        stdout=subprocess.PIPE,
        text=True,
        env={**{k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}, **environ},
    )
    assert process.stdout
    return process, json.loads(process.stdout.readline())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
async def test_processes_end_with_the_server(tmp_path: Path, number: signal.Signals) -> None:
    process, told = started(tmp_path, "--port", "0", "--json", HERMES_WEB_TOKEN=TOKEN)
    try:
        assert told["pid"] == process.pid
        assert str(told["url"]).endswith(f"/?token={TOKEN}")
        base = f"http://127.0.0.1:{told['port']}"
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
            async with client.get(str(told["url"])) as response:
                assert response.status == 200
            page = await client.ws_connect(base + "/ws", headers={"Origin": base})
            await read(page, b"hello from")
            [visitor] = [int(path.name[4:]) for path in tmp_path.glob("pid-*")]
            for one in (visitor, process.pid):
                assert TOKEN not in Path(f"/proc/{one}/cmdline").read_text()
            assert TOKEN not in Path(f"/proc/{visitor}/environ").read_text()
            process.send_signal(number)
            await until(lambda: process.poll() is not None)
            await until(lambda: not alive(visitor))
        assert process.returncode == (-number if number is signal.SIGKILL else 0)
        assert process.stdout
        assert TOKEN not in process.stdout.read()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


async def test_a_browser_is_led_by_a_file_that_only_the_owner_reads(tmp_path: Path) -> None:
    """A program's arguments can be read by everybody on the machine."""
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/opened\n')
    browser.chmod(0o755)
    process, told = started(tmp_path, "--port", "0", "--json", "--open", BROWSER=str(browser))
    try:
        await until(lambda: (tmp_path / "opened").exists() and (tmp_path / "opened").read_text().strip())
        opened = (tmp_path / "opened").read_text().strip()
        token = str(told["url"]).partition("token=")[2]
        assert token not in opened
        file = Path(opened.removeprefix("file://"))
        assert file.stat().st_mode & 0o777 == 0o600
        assert token in file.read_text()
        process.send_signal(signal.SIGTERM)
        await until(lambda: process.poll() is not None)
        assert not file.exists()
    finally:
        process.kill()
        process.wait()
        assert process.stdout
        process.stdout.close()
