"""``hermes api`` killed in the middle of a turn: the request that is repeated finishes it, once."""

import asyncio
import os
import re
import sqlite3
import sys
from pathlib import Path
from typing import Any

import openai
import pytest

KEY = "owners-key-0123456789"
RUN = "import sys; sys.argv = ['hermes', 'api', '--port', '0']; from hermes_core.__main__ import main; main()"


async def started(home: Path, **env: str) -> tuple[Any, str]:
    known = {**os.environ, "HERMES_HOME": str(home), "API_SERVER_KEY": KEY, **env}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", RUN, env=known, stdout=pipe, stderr=pipe)
    assert process.stderr
    while line := (await process.stderr.readline()).decode():
        if found := re.search(r"listens on (http\S+)/v1", line):
            return process, found[1]
    raise AssertionError("it did not start")


@pytest.mark.parametrize("point", ["journaled", "replied", "answered"])
async def test_a_repeat_finishes_what_a_kill_cut(tmp_path: Path, point: str) -> None:
    (tmp_path / "config.yaml").write_text("model: {provider: offline}\n")
    headers = {"authorization": f"Bearer {KEY}", "idempotency-key": "once"}
    body = {"messages": [{"role": "user", "content": "hello"}]}
    process, url = await started(tmp_path, HERMES_DIE_AT=point, HERMES_TESTING="1")
    async with openai.DefaultAsyncHttpxClient(timeout=60) as http:
        cut = await asyncio.gather(
            http.post(f"{url}/v1/chat/completions", json=body, headers=headers), return_exceptions=True
        )
        assert isinstance(cut[0], Exception)
        assert await process.wait() != 0
        process, url = await started(tmp_path)
        try:
            answer = await http.post(f"{url}/v1/chat/completions", json=body, headers=headers)
            again = await http.post(f"{url}/v1/chat/completions", json=body, headers=headers)
        finally:
            process.terminate()
            await process.communicate()
    assert answer.status_code == 200, answer.text
    said = answer.json()["choices"][0]["message"]["content"]
    assert said == again.json()["choices"][0]["message"]["content"] != ""
    assert process.returncode == 0
    rows = sqlite3.connect(tmp_path / "state.db")
    assert rows.execute("select role from messages order by id").fetchall() == [("user",), ("assistant",)]
    assert rows.execute("select state from turns").fetchall() == [("done",)]
